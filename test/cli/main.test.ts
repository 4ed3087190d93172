import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withDatabases } from '../../src/cli/open.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { admin, node, ROOT } from './support.ts';

describe.concurrent('the command line', () => {
  test('prints help on stdout and ends with 0', async () => {
    const { code, stdout, stderr } = await admin('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^npm run admin -- <command> /);
    const usage = 'npm run admin -- key revoke ID\nrevokes a key, from the next request on\n';
    expect(await admin('key', 'revoke', '--help')).toEqual({ code: 0, stdout: usage, stderr: '' });
  });

  test('prints help and refuses a wrong call at once: neither loads a package', { tags: 'slow' }, async () => {
    const copy = newFolder();
    for (const name of ['src', 'package.json']) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    const script = join(copy, 'src/cli/main.ts');
    expect(await node(script, '--help')).toMatchObject({ code: 0, stderr: '' });
    expect(await node(script, 'key', 'create')).toMatchObject({ code: 2, stderr: 'key create needs --user 7\n' });
    const { code, stderr } = await node(script, 'business', 'list');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Cannot find package /) });
  });

  test('prints the result as one line of JSON on stdout and ends with 0, and a refusal on stderr with 1', {
    tags: 'slow',
  }, async () => {
    const command = ['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'];
    const more = ['--site', 'https://acme.example', '--country', '1', '--size', 'small', `--token=${'x'.repeat(24)}`];
    const create = () => admin(...command, ...more, '--persist-to', state);
    const state = newDatabase();
    const { code, stdout, stderr } = await create();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const answer = JSON.parse(stdout);
    expect(stdout).toBe(`${JSON.stringify(answer)}\n`);
    expect(answer).toEqual({
      business: expect.objectContaining({ id: 1, user_id: 7, name: 'Acme', status: 'active' }),
    });
    expect(await create()).toEqual({
      code: 1,
      stdout: '',
      stderr: '--token must be one that no business has or had\n',
    });
  });

  test.each<[string, string[], string]>([
    ['an unknown command', ['business', 'burn'], 'Unknown command: business burn. See npm run admin -- --help'],
    ['a missing option', ['key', 'create'], 'key create needs --user 7'],
    ['an error of several lines', ['business\nburn'], 'Unknown command: business'],
  ])('answers %s with one line on stderr and 2', async (_, args, line) => {
    expect(await admin(...args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  test('refuses a wrong call without making a database', async () => {
    const state = newFolder();
    expect(await admin('business', 'show', '1.0', '--persist-to', state)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'ID must be a positive integer, such as 1\n',
    });
    expect(readdirSync(state)).toEqual([]);
  });

  test('answers a database without tables with one line on stderr and 1', { tags: 'slow' }, async () => {
    const state = newFolder();
    await withDatabases({ 'persist-to': state }, ({ first }) => first.db.$client.exec('select 1'));
    expect(await admin('business', 'list', '--persist-to', state)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'A table is missing. Apply the migrations: npm run dev for the local database, with --persist-to if this command had it; npm run deploy for the deployed one.\n',
    });
  });

  test('answers a folder without databases with one line on stderr and 1, and leaves it as it was', {
    tags: 'slow',
  }, async () => {
    const state = join(newFolder(), 'misspelt');
    const { code, stdout, stderr } = await admin('key', 'create', '--user', '7', '--persist-to', state);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^There are no local databases in .*misspelt\. npm run dev creates some, .*\n$/);
    expect(existsSync(state)).toBe(false);
  });

  test('creates operator keys without a database, each with the secret that the Worker knows it by', async () => {
    const state = join(newFolder(), 'none');
    for (const [role, slot, ...options] of [
      ['full', 1],
      ['record', 2, '--record', '--slot', '2'],
    ] as const) {
      const { code, stdout, stderr } = await admin('operator-key', 'create', ...options, '--persist-to', state);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { operator_key, ...answer } = JSON.parse(stdout);
      expect(operator_key).toMatch(/^bua_op_[0-9A-Za-z]{43}$/);
      const secret = `${role}:${createHash('sha256').update(operator_key).digest('hex')}`;
      expect(answer).toEqual({ role, secret, store: `echo ${secret} | npx wrangler secret put OPERATOR_KEY_${slot}` });
    }
    expect(existsSync(state)).toBe(false);
  });

  test('keeps what wrangler says off stdout', { tags: 'slow' }, async () => {
    const copy = newFolder();
    for (const name of ['src', 'package.json', 'wrangler.toml']) {
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
    writeFileSync(join(copy, '.dev.vars'), 'A=1');
    const script = join(copy, 'src/cli/main.ts');
    const { stdout, stderr } = await node(script, 'business', 'list', '--persist-to', newDatabase());
    expect(stdout).toBe('{"businesses":[]}\n');
    expect(stderr).toMatch(/^Using secrets defined in .*\.dev\.vars\n/);
  });
});
