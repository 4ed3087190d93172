// What was released stays as it was: the migrations that deployed databases have, and the database and answers from which every later
// version is tested (test/databases/upgrade.test.ts). `sha256sum MIGRATION >> test/databases/released.sha256` adds one to a release.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const lines = readFileSync('test/databases/released.sha256', 'utf8').trimEnd().split('\n');
const released = lines.map((line) => line.split('  ') as [string, string]);
const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

test('released migrations, and the kept database and answers, are unchanged', () => {
  expect(released.map(([, file]) => [digestOf(file), file])).toEqual(released);
  const kept = readdirSync('test/databases').filter((name) => /\.(sql|ndjson)$/.test(name));
  expect(released.map(([, file]) => file)).toEqual(
    expect.arrayContaining(kept.map((name) => `test/databases/${name}`)),
  );
});

test('migrations are only added after those that were released', () => {
  const names = released.flatMap(([, file]) => /^migrations\/(.*)/.exec(file)?.[1] ?? []);
  expect(names).not.toEqual([]);
  expect(readdirSync('migrations').sort().slice(0, names.length)).toEqual(names);
});

test('the documents name the same first version whose databases are upgraded', () => {
  for (const document of ['CHANGELOG.md', 'docs/deploying.md', 'docs/design.md'])
    expect(readFileSync(document, 'utf8').match(/\b1\.0\.0-rc\.\d+/g), document).toEqual(['1.0.0-rc.1']);
});
