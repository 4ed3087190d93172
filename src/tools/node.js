// Loaded before every npm script that is written in TypeScript. It is JavaScript, because older versions of Node run it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    'This needs Node 24, which npm ci installs unless npm skips install scripts: run npm rebuild node --ignore-scripts=false\n',
  );
  process.exit(1);
}
