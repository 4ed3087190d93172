// npm run -s admin -- <command>: prints one JSON object (for an export, JSON lines) to stdout, and messages to stderr. Exits with status 2
// if the command line is invalid, and with status 1 if the command fails.
import { pipeline } from 'node:stream/promises';
import { commandLineOf, UsageError } from './command-line.ts';
import { run } from './run.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

try {
  const commandLine = commandLineOf(process.argv.slice(2));
  if ('help' in commandLine) process.stdout.write(commandLine.help);
  else {
    const result = await run(commandLine, process.env, say);
    if (Symbol.asyncIterator in Object(result)) await pipeline(result, process.stdout, { end: false });
    else process.stdout.write(`${JSON.stringify(result)}\n`);
  }
} catch (error) {
  say((error as Error).message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
