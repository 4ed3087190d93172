// What the operator reads where the databases cannot be opened: one line, before anything is created.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOGIN } from '../../src/cli/login.ts';
import { boundIn, requireLocal, withDatabases } from '../../src/cli/open.ts';
import { requireRoom } from '../../src/cli/state.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { threeDatabases } from './support.ts';

/** A file with this text. */
function fileOf(name: string, text: string): string {
  const file = join(newFolder(), name);
  writeFileSync(file, text);
  return file;
}

describe('a configuration that is wrong is named', () => {
  test.each<[string, string, string, (file: string) => string]>([
    [
      'TOML',
      'wrangler.toml',
      'name = "x"\n[[d1_databases]\nbinding = "DB"\n',
      (file) => `${file}, line 2: Invalid TOML document: expected end of table array declaration`,
    ],
    ['JSON', 'wrangler.json', '{ "name": "x",\n "d1_databases": [ }\n', (file) => `${file}, line 2: ValueExpected`],
    [
      'a binding',
      'wrangler.toml',
      '[[d1_databases]]\nbinding = 5\n',
      (file) => `${file}: "d1_databases[0]" bindings should have a string "binding" field but got {"binding":5}.`,
    ],
  ])('by its file, and by its line where it cannot be read: %s', (_, name, text, message) => {
    const file = fileOf(name, text);
    for (const read of [() => boundIn(file), () => requireLocal({ config: file })])
      expect(read).toThrow(new Error(message(file)));
  });

  test('where there is none', () => {
    const file = join(newFolder(), 'wrangler.toml');
    expect(() => boundIn(file)).toThrow(new Error(`Could not read file: ${file}`));
  });
});

describe('a folder', () => {
  const none = (folder: string) =>
    new Error(
      `There are no local databases in ${folder}. npm run dev creates some, in another folder with -- --persist-to DIR.`,
    );

  test('that does not exist, such as a misspelt one, is refused and not created', () => {
    const folder = join(newFolder(), 'misspelt');
    expect(() => requireLocal({ 'persist-to': folder })).toThrow(none(folder));
    expect(existsSync(folder)).toBe(false);
  });

  test('without databases is refused and stays as it is; so is a file', () => {
    const folder = newFolder();
    const file = fileOf('state', '');
    for (const state of [folder, file]) expect(() => requireLocal({ 'persist-to': state })).toThrow(none(state));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('without databases is refused beside the configuration, too', () => {
    const file = fileOf('other.toml', '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "other"\n');
    expect(() => requireLocal({ config: file })).toThrow(none(join(file, '../.wrangler/state')));
  });

  test('with databases is as it was', () => {
    const folder = newDatabase();
    const before = readdirSync(folder, { recursive: true });
    requireLocal({ 'persist-to': folder });
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });

  test('of npm run dev is created; one that cannot be is named', () => {
    const folder = join(newFolder(), 'a/b');
    requireRoom(folder);
    expect(readdirSync(folder)).toEqual([]);
    const file = fileOf('state', '');
    expect(() => requireRoom(file)).toThrow(new Error(`${file} cannot be written: file already exists`));
  });
});

describe('--remote', () => {
  /** The error of a command, with a script in place of wrangler. */
  async function failureWith(script: string): Promise<unknown> {
    const { config } = await threeDatabases();
    const folder = newFolder();
    writeFileSync(join(folder, 'wrangler'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${folder}${delimiter}${PATH}`;
    try {
      return await withDatabases({ config, remote: true }, async () => null).catch((error) => error);
    } finally {
      process.env.PATH = PATH;
    }
  }
  const FAILS = 'printf "\\033[31mX [ERROR]\\033[0m A request failed.\\n\\n  more\\n" >&2; exit 1';

  test('without a login says how to log in, as npm run deploy does', async () => {
    const script = `test "$1" = whoami && echo '{ "loggedIn": false }' && exit 1\n${FAILS}`;
    expect(await failureWith(script)).toEqual(new Error(LOGIN));
  });

  test('says in one line why wrangler failed', async () => {
    const script = `test "$1" = whoami && echo '{ "loggedIn": true }' && exit 0\n${FAILS}`;
    expect(await failureWith(script)).toEqual(new Error('wrangler d1 list failed: A request failed.'));
  });
});
