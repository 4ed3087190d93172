import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS, type Command, type CommandName, isCommand } from '../../src/cli/commands.ts';
import type { Databases } from '../../src/cli/databases.ts';
import { UsageError } from '../../src/cli/errors.ts';
import { withDatabases } from '../../src/cli/open.ts';
import { RUNS } from '../../src/cli/runs.ts';
import { Conflict } from '../../src/core/conflict.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { businessesIn, insert, open, openFor, resultOf, rowsOf } from './support.ts';

const STATE = newDatabase();
const opened = openFor({ 'persist-to': STATE });

const TOKEN = /^bua_pk_0[0-9A-Za-z]{33}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const STAMP = '2026-03-15T12:00:00.000000Z';
const ACME = {
  id: 1,
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
  token: '-._~+/=0123456789abcdefXYZ',
  status: 'active',
  created_at: STAMP,
  updated_at: STAMP,
};
const OTHER = { ...ACME, id: 2, user_id: 8, token: 'x'.repeat(24) };
/** Keys as they are shown, and their hashes. Only sessions have the other two columns. */
const keysIn = async (databases: Databases) =>
  (await rowsOf(databases, 'api_keys')).map(({ read_only, record_only, ends_at: _, session_of: __, ...row }) => ({
    ...row,
    read_only: read_only === 1,
    role: read_only === 1 ? 'read' : record_only === 1 ? 'record' : 'full',
  }));
const NARROW = { business_id: null, read_only: false, role: 'full', last_used_on: null };
/** A key as it lies in the table. */
const stored = ({ read_only: _, role: __, ...key }: typeof KEY, hash: string) => ({ ...key, hash });
const KEY = {
  ...NARROW,
  id: 1,
  user_id: 7,
  name: 'Billing',
  last_four: 'aaaa',
  created_at: STAMP,
  expires_on: null,
  revoked_at: null as string | null,
};
const MAKE_ACME = [
  ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];

async function withRows(table: string, ...rows: Parameters<typeof insert>[2][]) {
  const databases = opened();
  for (const row of rows) await insert(databases, table, row);
  return databases;
}

describe('business', () => {
  test('create makes an active business with a new token and prints it as the API shows it', async () => {
    const databases = opened();
    const answer = await resultOf(databases, ...MAKE_ACME);
    const { token, created_at } = answer.business;
    expect(token).toMatch(TOKEN);
    expect(created_at).toMatch(INSTANT);
    expect(answer).toEqual({ business: { ...ACME, token, created_at, updated_at: created_at } });
    expect(Object.keys(answer.business)).toEqual(Object.keys(ACME));
    expect(await businessesIn(databases)).toEqual([answer.business]);
  });

  test('create stores values as they are, an imported token and SQL among them', async () => {
    const databases = opened();
    const hostile = {
      name: "Robert'); DROP TABLE businesses;--",
      main_domain: '-- " ` \\ % _ ?1 :name $x \\u0000',
      site: `https://acme.example/?q='";DROP/**/TABLE/**/access;--&ü=👩‍👩‍👧`,
      business_size: '-x',
      token: ACME.token,
    };
    const { business } = await resultOf(
      databases,
      ...['business', 'create', '--user', '7', '--country', '1', '--name', hostile.name, '--site', hostile.site],
      ...[`--main-domain=${hostile.main_domain}`, `--size=${hostile.business_size}`, `--token=${hostile.token}`],
    );
    expect(business).toMatchObject(hostile);
    expect(await businessesIn(databases)).toEqual([business]);
  });

  test('create refuses the token of another business', async () => {
    const databases = await withRows('businesses', ACME);
    const create = resultOf(databases, ...MAKE_ACME, `--token=${ACME.token}`);
    await expect(create).rejects.toThrow(new Conflict('token', 'must be one that no business has or had'));
    expect(await businessesIn(databases)).toEqual([ACME]);
  });

  test('list prints those of one user', async () => {
    const databases = await withRows('businesses', ACME, OTHER);
    expect(await resultOf(databases, 'business', 'list', '--user', '8')).toEqual({ businesses: [OTHER] });
  });

  test('show prints one', async () => {
    const databases = await withRows('businesses', ACME, OTHER);
    expect(await resultOf(databases, 'business', 'show', '2')).toEqual({
      business: OTHER,
      limits: { daily: null, monthly: null, billing_day: 1 },
      former_tokens: [],
    });
  });

  test('update changes the fields given and nothing else', async () => {
    const databases = await withRows('businesses', ACME, OTHER);
    const { business } = await resultOf(databases, 'business', 'update', '1', '--name=-x', '--country', '2');
    expect(business).toEqual({ ...ACME, name: '-x', country_id: 2, updated_at: expect.stringMatching(INSTANT) });
    expect(business.updated_at).not.toBe(STAMP);
    expect(await businessesIn(databases)).toEqual([business, OTHER]);
  });

  test('update refuses to change nothing', async () => {
    const update = RUNS['business update']({} as Databases, { ID: 1 }, new Date(STAMP));
    await expect(update).rejects.toThrow(new UsageError('business update needs a field to change'));
  });

  test.each(['suspended', 'closed', 'active'])('status sets the status %s', async (status) => {
    const databases = await withRows(
      'businesses',
      { ...ACME, status: status === 'active' ? 'closed' : 'active' },
      OTHER,
    );
    const { business } = await resultOf(databases, 'business', 'status', '1', status);
    expect(business).toEqual({ ...ACME, status, updated_at: expect.stringMatching(INSTANT) });
    expect(await businessesIn(databases)).toEqual([business, OTHER]);
  });
});

describe('key', () => {
  test('create shows the key; only its SHA-256 is stored, and list shows neither', async () => {
    const databases = await withRows('api_keys', stored({ ...KEY, user_id: 8 }, 'a'.repeat(64)));
    const name = "Billing'; --";
    const created = await resultOf(
      databases,
      'key',
      'create',
      '--user',
      '7',
      '--name',
      name,
      '--expires',
      '2096-02-29',
    );
    const { api_key, ...key } = created;
    expect(api_key).toMatch(/^bua_sk_0[0-9A-Za-z]{33}$/);
    const last_four = api_key.slice(-4);
    const created_at = expect.stringMatching(INSTANT);
    expect(key).toEqual({ ...KEY, id: 2, name, last_four, created_at, expires_on: '2096-02-29' });

    const hash = createHash('sha256').update(api_key).digest('hex');
    expect((await keysIn(databases))[1]).toEqual({ ...key, hash });
    for (const file of readdirSync(STATE, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
      expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(api_key);
    }
    expect(await resultOf(databases, 'key', 'list', '--user', '7')).toEqual({ keys: [key] });
  });

  test('revoke revokes the key and no other', async () => {
    const other = { ...KEY, id: 2 };
    const databases = await withRows('api_keys', stored(KEY, 'a'.repeat(64)), stored(other, 'b'.repeat(64)));
    const { key } = await resultOf(databases, 'key', 'revoke', '1');
    expect(key).toEqual({ ...KEY, revoked_at: expect.stringMatching(INSTANT) });
    expect(await keysIn(databases)).toEqual([
      { ...key, hash: 'a'.repeat(64) },
      { ...other, hash: 'b'.repeat(64) },
    ]);
  });

  const NOW = new Date('2026-03-16T12:00:00.000Z');

  test('create names the key, and lets it live, where it is not told otherwise', async () => {
    const created_at = '2026-03-16T12:00:00.000000Z';
    const made = { ...KEY, name: 'API key', created_at, api_key: expect.any(String), last_four: expect.any(String) };
    expect(await RUNS['key create'](opened(), { user_id: 7 }, NOW)).toEqual(made);
  });

  test.each([
    [[], 'full'],
    [['--role', 'full'], 'full'],
    [['--role', 'read'], 'read'],
    [['--role', 'record'], 'record'],
    [['--read-only'], 'read'],
    [['--read-only', '--role', 'read'], 'read'],
  ])('create with %j makes a key of the role %s, and list and revoke print it', async (options, role) => {
    const databases = opened();
    const { api_key: _, ...key } = await resultOf(databases, 'key', 'create', '--user', '7', ...options);
    expect(key).toMatchObject({ role, read_only: role === 'read' });
    const [row] = await rowsOf(databases, 'api_keys');
    expect(row).toMatchObject({ read_only: Number(role === 'read'), record_only: Number(role === 'record') });
    expect(await resultOf(databases, 'key', 'list', '--user', '7')).toEqual({ keys: [key] });
    const revoked_at = expect.stringMatching(INSTANT);
    expect(await resultOf(databases, 'key', 'revoke', '1')).toEqual({ key: { ...key, revoked_at } });
  });

  test.each(['full', 'record'])('create refuses --read-only with --role %s, and makes nothing', async (role) => {
    const databases = opened();
    const create = resultOf(databases, 'key', 'create', '--user', '7', '--read-only', '--role', role);
    await expect(create).rejects.toThrow(new UsageError(`--read-only means --role read: leave out --role ${role}`));
    expect(await rowsOf(databases, 'api_keys')).toEqual([]);
    expect(await rowsOf(databases, 'homes')).toEqual([]);
  });

  test('revoke keeps the moment at which the key was revoked first', async () => {
    const revoked = { ...KEY, revoked_at: STAMP };
    const databases = await withRows('api_keys', stored(revoked, 'a'.repeat(64)));
    expect(await RUNS['key revoke'](databases, { ID: 1 }, NOW)).toEqual({ key: revoked });
    expect(await keysIn(databases)).toEqual([{ ...revoked, hash: 'a'.repeat(64) }]);
  });
});

test('a command that takes an ID refuses one that is unknown', async () => {
  const needsId = ({ arguments: taken, isOptional }: Command) => taken?.ID && !isOptional;
  const names = Object.keys(COMMANDS)
    .filter(isCommand)
    .filter((name) => needsId(COMMANDS[name]));
  expect(names).toHaveLength(10);
  for (const name of names) {
    const unknown = new Error(`There is no ${name === 'key revoke' ? 'key' : 'business'} with that id.`);
    const given = { ID: 1, STATUS: 'active', name: 'x', ORIGIN: 'null', FILE: 'none.csv' };
    const run = RUNS[name](opened(), given, new Date(STAMP));
    await expect(run, name).rejects.toThrow(unknown);
  }
});

describe('a file and an origin', () => {
  test('import stores the lines of a file, and tells which one is wrong', async () => {
    const databases = await withRows('businesses', ACME);
    const file = join(newFolder(), 'history.csv');
    writeFileSync(file, 'date,count\n2026-01-30,120\n2026-01-31,7\n');
    expect(await resultOf(databases, 'usage', 'import', '1', file)).toEqual({ days: 2, uses: 127 });
    await expect(resultOf(databases, 'usage', 'import', '1', file)).rejects.toThrow(
      'line 2: 2026-01-30 already has a count; use --replace to overwrite it',
    );
    expect(await resultOf(databases, 'usage', 'import', '1', file, '--replace')).toEqual({ days: 2, uses: 127 });
    expect(await rowsOf(databases, 'daily_usage')).toEqual([
      { business_id: 1, day: '2026-01-30', count: 120 },
      { business_id: 1, day: '2026-01-31', count: 7 },
    ]);
  });

  test('check tells by which entry an origin would pass', async () => {
    const databases = await withRows('businesses', ACME);
    await insert(databases, 'access', {
      id: 1,
      business_id: 1,
      site: 'https://*.example.com',
      created_at: STAMP,
      updated_at: STAMP,
    });
    expect(await resultOf(databases, 'access', 'check', '1', 'https://a.example.com')).toEqual({
      allowed: true,
      site: 'https://*.example.com',
    });
  });
});

describe('while a dev server holds the database locked', { tags: 'slow' }, () => {
  const LATER = new Date('2026-03-16T12:00:00.000Z');
  const rotated = { ...ACME, token: expect.stringMatching(TOKEN), updated_at: '2026-03-16T12:00:00.000000Z' };
  const made = { api_key: expect.any(String), ...KEY, name: 'API key', last_four: expect.any(String) };

  test.each<[CommandName, Record<string, unknown>, object, object[]]>([
    ['key create', { user_id: 7 }, { ...made, created_at: rotated.updated_at }, [ACME, OTHER]],
    ['business rotate-token', { ID: 1 }, { business: rotated }, [rotated, OTHER]],
    ['business list', {}, { businesses: [ACME, OTHER] }, [ACME, OTHER]],
  ])('%s waits, and is done once', async (name, given, answer, businesses) => {
    const databases = await withRows('businesses', ACME, OTHER);
    const holder = open(STATE);
    let attempts = 0;
    const answered = await withDatabases({ 'persist-to': STATE }, (databases) => {
      attempts += 1;
      if (attempts === 1) holder.exec('begin immediate');
      if (attempts === 3) holder.close();
      return RUNS[name](databases, given, LATER);
    });
    expect(attempts).toBe(3);
    expect(answered).toEqual(answer);
    expect(await businessesIn(databases)).toEqual(businesses);
    expect(await keysIn(databases)).toHaveLength(name === 'key create' ? 1 : 0);
  });
});
