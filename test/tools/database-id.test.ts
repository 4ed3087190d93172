// writeDatabaseId inserts a new database's id into a hand-written configuration.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/tools/configuration.ts';
import { writeDatabaseId } from '../../src/tools/database-id.ts';
import { ROOT } from '../cli/support.ts';
import { openDatabases } from '../node/local.ts';
import { newFolder } from '../node/state.ts';

const ID = '9f3c5a52-8a3e-4a3b-9d7e-0c6a1c1b2d3e';
const ID_LINE = `database_id = "${ID}"`;
const HEAD = 'name = "usage"\ncompatibility_date = "2026-10-01"\n';

function fileWith(toml: string): string {
  const file = join(newFolder(), 'wrangler.toml');
  writeFileSync(file, toml);
  return file;
}

/** The inserted lines. In the files, `@` marks their position. */
const ADDED = `\n${ID_LINE}\npreview_database_id = "DB_1"`;
const BLOCK = '[[d1_databases]]\nbinding = "DB_1"\ndatabase_name = "one"@\n';
const OTHER = '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "zero"\ndatabase_id = "a"\n';
const files: Record<string, { toml: string; added?: string; env?: string }> = {
  'one block': { toml: HEAD + BLOCK },
  'no newline at the end': { toml: `${HEAD}${BLOCK.trimEnd()}` },
  'the name before the binding': { toml: `${HEAD}[[d1_databases]]\ndatabase_name = "one"\nbinding = "DB_1"@\n` },
  'no database_name': {
    toml: `${HEAD}[[d1_databases]]\nmigrations_dir = "migrations"\nbinding = "DB_1"@\nremote = false\n`,
  },
  'other databases before and after': { toml: HEAD + OTHER + BLOCK + OTHER.replace('"DB"', '"DB_10"') },
  'comments everywhere': {
    toml: `# [[d1_databases]]\n${HEAD}[[d1_databases]] # binding = "DB"\n# binding = "DB_2"\nbinding = "DB_1" # the second\n# why\ndatabase_name = "one" # "two"@\n# end\n`,
  },
  'literal strings': { toml: `${HEAD}[[d1_databases]]\nbinding = 'DB_1'\ndatabase_name = 'one'@\n` },
  'quoted keys': { toml: `${HEAD}[["d1_databases"]]\n"binding" = "DB_1"\n'database_name' = "one"@\n` },
  'spaces and tabs': {
    toml: `${HEAD}  [[ d1_databases ]]\n\tbinding="DB_1"\n\tdatabase_name  =  "one"  @\n`,
    added: ADDED.replaceAll('\n', '\n\t'),
  },
  'CRLF line endings': { toml: (HEAD + OTHER + BLOCK).replaceAll('\n', '\r\n'), added: ADDED.replaceAll('\n', '\r\n') },
  'CRLF line endings but no newline at the end': {
    toml: (HEAD + BLOCK).trimEnd().replaceAll('\n', '\r\n'),
    added: ADDED.replaceAll('\n', '\r\n'),
  },
  'empty lines within the block': {
    toml: `${HEAD}[[d1_databases]]\n\nbinding = "DB_1"\n\ndatabase_name = "one"@\n\n\n[dev]\nport = 1\n`,
  },
  'a preview id that equals the binding': {
    toml: `${HEAD}${BLOCK}preview_database_id = "DB_1"\n`,
    added: `\n${ID_LINE}`,
  },
  'a preview id that differs from the binding': {
    toml: `${HEAD}${BLOCK}preview_database_id = "local"\n`,
    added: `\n${ID_LINE}`,
  },
  'an environment with the same binding': {
    toml: `${HEAD}${BLOCK}[env.staging]\n[[env.staging.d1_databases]]\nbinding = "DB_1"\ndatabase_name = "s"\n`,
  },
  'a block in an environment': {
    toml: `${HEAD}${BLOCK.replace('@', '')}[[env.staging.d1_databases]]\nbinding = "DB_1"\ndatabase_name = "s"@\n`,
    env: 'staging',
  },
  'a block in an environment with a quoted name': {
    toml: `${HEAD}[[env."my.stage".d1_databases]]\nbinding = "DB_1"\ndatabase_name = "s"@\n`,
    env: 'my.stage',
  },
  'an environment whose name is the prefix of another': {
    toml: `${HEAD}[[env.staging-2.d1_databases]]\nbinding = "DB_1"\ndatabase_name = "t"\n[[env.staging.d1_databases]]\nbinding = "DB_1"\ndatabase_name = "s"@\n`,
    env: 'staging',
  },
  'non-ASCII characters': { toml: `# é 中 😀\n${HEAD}${BLOCK.replace('"one"', '"öne"')}# ß\n` },
  'other tables with the same keys': {
    toml: `${HEAD}[vars]\nbinding = "DB_1"\ndatabase_name = "one"\n${BLOCK}[[kv_namespaces]]\nbinding = "DB_1"\nid = "x"\n`,
  },
};

test.each(Object.entries(files))(
  'writeDatabaseId adds the id, and a missing preview id, to a file with %s, and changes nothing else',
  (_, { toml, env, added = ADDED }) => {
    const file = fileWith(toml.replace('@', ''));
    expect(writeDatabaseId(file, env, 'DB_1', ID)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(toml.replace('@', added));
  },
);

describe('writeDatabaseId leaves unchanged a file that contains', () => {
  test.each([
    ['no block for this binding', HEAD + OTHER],
    ['an inline table', `d1_databases = [{ binding = "DB_1", database_name = "one" }]\n${HEAD}`],
    [
      'the binding only in another environment',
      `${HEAD}[[env.staging.d1_databases]]\nbinding = "DB_1"\ndatabase_name = "s"\n`,
    ],
    ['an escape sequence in the binding', HEAD + BLOCK.replace('"DB_1"', '"DB\\u005f1"').replace('@', '')],
    ['a string that looks like a block', `note = """\n${BLOCK.replace('@', '')}"""\n${HEAD}${BLOCK.replace('@', '')}`],
    ['a multi-line database_name', `${HEAD}[[d1_databases]]\nbinding = "DB_1"\ndatabase_name = """one\n"""\n`],
    ['no tables', HEAD],
  ])('%s', (_, toml) => {
    const file = fileWith(toml);
    expect(writeDatabaseId(file, undefined, 'DB_1', ID)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(toml);
  });
});

test("writeDatabaseId adds one line to the project's wrangler.toml", () => {
  const file = join(newFolder(), 'wrangler.toml');
  copyFileSync(join(ROOT, 'wrangler.toml'), file);
  const before = readFileSync(file, 'utf8');
  expect(writeDatabaseId(file, undefined, 'DB', ID)).toBe(true);
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.filter((line) => line !== ID_LINE).join('\n')).toBe(before);
  expect(readConfiguration(file).databases).toMatchObject([{ binding: 'DB', id: ID }]);
});

test('local data remains accessible after writeDatabaseId', { tags: 'slow' }, async () => {
  const folder = newFolder();
  const file = fileWith(`${HEAD}[[d1_databases]]\nbinding = "DB"\ndatabase_name = "zero"\n`);
  const where = { 'persist-to': folder, config: file };
  const before = await openDatabases(where);
  await before.databases.first.db.run(sql`create table kept (id integer)`);
  await before.close();
  expect(writeDatabaseId(file, undefined, 'DB', ID)).toBe(true);
  const after = await openDatabases(where);
  expect(await after.databases.first.db.all(sql`select * from kept`)).toEqual([]);
  await after.close();
});
