// Tests what docs/restoring.md, "Restoring a database", says to repeat, on local databases. For each event, the test copies the databases,
// makes the event happen, restores the copy, and runs the commands and requests that the document names. Also runs the commands of "Backups"
// on local databases.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scheduler } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { createApp } from '../../src/app.ts';
import { sha256Hex } from '../../src/core/credential.ts';
import { formatSecret } from '../../src/core/operator.ts';
import { SCHEDULES } from '../../src/core/schedule.ts';
import type { Bindings } from '../../src/env.ts';
import { runScheduled } from '../../src/schedule.ts';
import { KEY, printed } from '../cli/stub.ts';
import { ROOT, threeDatabases } from '../cli/support.ts';
import { codesIn, read, tableIn } from '../docs/document.ts';
import { type Databases, type LocalDatabase, openDatabases, type Where, withDatabases } from './local.ts';
import { newDatabase, newFolder } from './state.ts';

const RESTORING = 'docs/restoring.md';
const ROWS = tableIn(RESTORING, 'Since then', 'Repeat').map(([since = '', repeat = '']) => ({ since, repeat }));
/** Returns the first two words of a command, or the method of a request, in the same form as the entries in `played`. */
const headOf = (code: string) => /^[A-Z]+(?= )|^\S+ \S+/.exec(code)?.[0];
/** The commands to run again, which the document lists before the table. */
const AGAIN = codesIn(/Run the commands again,(.*?)Apart from these/s.exec(read(RESTORING))?.[1]).map(headOf);

let opened: Awaited<ReturnType<typeof openDatabases>>;
/** The commands and request methods that ran. */
let played: string[] = [];

const NOW = new Date('2026-03-15T12:00:00.000Z');

const SERVICE = 'https://service.example/api/v1';

/** Runs `npm run admin -- …args` against a service with these databases. */
async function runOn({ all }: Databases, ...args: (string | number)[]) {
  played.push(args.slice(0, 2).join(' '));
  vi.stubGlobal('fetch', (url: URL, init: RequestInit) => serve(all, new Request(url, init)));
  return printed({ API: SERVICE, OPERATOR_KEY: KEY }, ...args.map(String)).finally(() => vi.stubGlobal('fetch', real));
}
const real = globalThis.fetch;
const run = (...args: (string | number)[]) => runOn(opened.databases, ...args);

vi.stubGlobal('scheduler', scheduler); // a global in Workers, and a module in Node
afterAll(() => void vi.unstubAllGlobals());
const log = { log() {}, error: console.error };
const { fetch } = createApp(
  () => NOW,
  log,
  () => new Date(),
);
const secrets = { OPERATOR_KEY_1: formatSecret('full', await sha256Hex(KEY)) };

/** While the events are repeated, this variable admits only the operator. */
let only: { OPERATOR_ONLY?: '1' } = {};

const bound = (all: LocalDatabase[]) => Object.fromEntries(all.map(({ binding, db }) => [binding, db.$client]));

/** Returns the service's response after its `waitUntil` work is done. */
async function serve(all: LocalDatabase[], request: Request): Promise<Response> {
  const bindings = { ...secrets, ...only, ...bound(all) };
  const later: Promise<unknown>[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => later.push(work), passThroughOnException() {}, props: {} };
  const answer = await fetch(request, bindings as unknown as Bindings, context as unknown as ExecutionContext);
  await Promise.all(later);
  return answer;
}

async function send(as: string, method: string, path: string, { origin, id, body, of = 'business' }: Sent = {}) {
  played.push(method);
  const headers = {
    Authorization: `Bearer ${as}`,
    'Content-Type': 'application/json',
    ...(origin === undefined ? {} : { Origin: origin }),
    ...(id === undefined ? {} : { 'Idempotency-Key': id }),
  };
  const request = new Request(`${SERVICE}/${of}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await serve(opened.databases.all, request);
  return { status: answer.status, data: (await answer.json<{ data?: never }>()).data as never };
}
type Sent = { origin?: string; id?: string; body?: unknown; of?: 'business' | 'session' };

const A = 'https://a.example';
const B = 'https://b.example';
const EVIL = 'https://evil.example';

type Owner = { user: number; id: number; token: string; key: string; keyId: number };
let user = 0;

async function rowsOf({ first }: Databases, table: string): Promise<Record<string, unknown>[]> {
  return (await first.db.$client.prepare(`select * from ${table} order by 1`).all()).results;
}

const FIELDS = ['--main-domain', 'acme.example', '--site', 'https://acme.example', '--country', 1, '--size', 'small'];

async function newOwner(): Promise<Owner> {
  user += 1;
  const business = await run('business', 'create', '--user', user, '--name', 'Acme', ...FIELDS);
  const key = await run('key', 'create', '--user', user);
  return { user, id: business.id, token: business.token, key: key.api_key, keyId: key.id };
}

const sessionOf = async ({ key }: Owner) =>
  ((await send(key, 'POST', '', { of: 'session' })).data as { session_key: string }).session_key;
/** Returns the status of a usage report that a page or a server requests. */
const visit = async ({ id }: Owner, as: string, origin?: string) =>
  (await send(as, 'GET', `/usage/${id}`, origin === undefined ? {} : { origin })).status;
const visits = (owner: Owner, ...credentials: string[]) => Promise.all(credentials.map((as) => visit(owner, as)));
const visitsFrom = (owner: Owner, ...origins: string[]) =>
  Promise.all(origins.map((origin) => visit(owner, owner.token, origin)));
const addSites = ({ id }: Owner, ...sites: string[]) => run('access', 'add', id, ...sites);
type Entries = { access_list: { id: number; site: string }[] };
const entriesOf = async ({ id }: Owner) => ((await run('access', 'list', id)) as Entries).access_list;
const sitesOf = async (owner: Owner) => (await entriesOf(owner)).map(({ site }) => site);
async function removeSite(owner: Owner, site: string) {
  const entry = (await entriesOf(owner)).find((entry) => entry.site === site);
  return run('access', 'remove', owner.id, entry?.id ?? 0);
}
const stopFormer = ({ id }: Owner) => run('business', 'stop-former-tokens', id);
async function countOf({ id, key }: Owner, day = '2026-03-15'): Promise<number> {
  const { data } = await send(key, 'GET', `/usage/${id}?from=${day}&to=${day}`);
  return (data as { used: { count: number }[] }).used[0]?.count ?? 0;
}
const use = ({ id, key }: Owner, name?: string, as = key) =>
  send(as, 'POST', `/usage/${id}`, name === undefined ? {} : { id: name });
async function useTwice(owner: Owner) {
  await use(owner);
  await use(owner);
}
const actionsOf = async ({ id }: Owner) =>
  (await run('changes', 'list', id)).changes.map(({ action }: { action: string }) => action);
const alertsOf = async ({ id }: Owner) =>
  (await run('alerts', 'list', id)).alerts.map(({ threshold }: { threshold: number }) => threshold);
async function refusedOf({ id, key }: Owner): Promise<string[]> {
  const { data } = await send(key, 'GET', `/${id}/access/refused`);
  return (data as { refused: { origin: string }[] }).refused.map(({ origin }) => origin);
}
function importDays({ id }: Owner, csv: string, ...options: string[]) {
  const file = join(newFolder(), 'history.csv');
  writeFileSync(file, csv);
  return run('usage', 'import', id, file, ...options);
}

/** One event. `shown` runs twice: it must return `restored` after the restore, and `right` after the repair. */
type Play<Before, Since> = {
  before?: (owner: Owner) => Promise<Before>;
  since: (owner: Owner, before: Before) => Promise<Since>;
  shown: (owner: Owner, since: Since, before: Before) => Promise<unknown>;
  restored: unknown;
  /** The repair, if it differs from repeating the event. */
  repeat?: (owner: Owner, since: Since, before: Before) => Promise<unknown>;
  /** Events that happen automatically once requests are admitted again. */
  later?: (owner: Owner) => Promise<unknown>;
  right: unknown;
};
const play = <Before, Since>(one: Play<Before, Since>) => one as Play<unknown, unknown>;
const nothing = async () => {};

const PLAYS: Record<string, Play<unknown, unknown>> = {
  'an API key was revoked': play({
    since: ({ keyId, user }) => run('key', 'revoke', keyId, '--user', user),
    shown: (owner) => visit(owner, owner.key),
    restored: 200,
    right: 401,
  }),
  'a token was replaced': play({
    since: async ({ id }) => (await run('business', 'rotate-token', id)).token as string,
    shown: async (owner, lost) => visits(owner, owner.token, lost, (await run('business', 'show', owner.id)).token),
    restored: [200, 401, 200],
    right: [401, 401, 200],
  }),
  'former tokens were stopped': play({
    before: async ({ id, key }) => (await send(key, 'POST', `/${id}/token`, { body: { keep_old: '24h' } })).data,
    since: stopFormer,
    shown: (owner, _, { token }: { token: string }) => visits(owner, owner.token, token),
    restored: [200, 200],
    right: [401, 200],
  }),
  'a site was removed': play({
    before: (owner) => addSites(owner, A, B),
    since: (owner) => removeSite(owner, B),
    shown: (owner) => visitsFrom(owner, A, B),
    restored: [200, 200],
    right: [200, 403],
  }),
  'a site other than the first was added': play({
    before: (owner) => addSites(owner, A),
    since: (owner) => addSites(owner, B),
    shown: (owner) => visitsFrom(owner, B),
    restored: [403],
    right: [200],
  }),
  'the first sites were registered, or all sites were replaced': play({
    before: async () => {
      const replacing = await newOwner();
      await addSites(replacing, A);
      return replacing;
    },
    since: async (owner, replacing) => {
      await addSites(owner, A);
      await addSites(replacing, B);
      await removeSite(replacing, A);
    },
    shown: async (owner, _, replacing) => [
      ...[await visitsFrom(owner, EVIL), await visitsFrom(replacing, A, B)],
      ...[await sitesOf(owner), await sitesOf(replacing)],
    ],
    restored: [[200], [200, 403], [], [A]],
    right: [[403], [403, 200], [A], [B]],
  }),
  'a business was suspended': play({
    since: ({ id }) => run('business', 'status', id, 'suspended'),
    shown: (owner) => visit(owner, owner.token),
    restored: 200,
    right: 401,
  }),
  'a business was set back to active': play({
    before: ({ id }) => run('business', 'status', id, 'suspended'),
    since: ({ id }) => run('business', 'status', id, 'active'),
    shown: (owner) => visit(owner, owner.token),
    restored: 401,
    right: 200,
  }),
  'a business was transferred to another user': play({
    before: newOwner,
    since: ({ id }, other) => run('business', 'update', id, '--user', other.user),
    shown: (owner, _, other) => visits(owner, owner.key, other.key),
    restored: [200, 422],
    right: [422, 200],
  }),
  'another field of a business was changed': play({
    since: ({ id }) => run('business', 'update', id, '--name', 'Acme 2'),
    shown: async ({ id }) => (await run('business', 'show', id)).name,
    restored: 'Acme',
    right: 'Acme 2',
  }),
  'a limit was set, lowered or removed': play({
    before: ({ id }) => run('business', 'update', id, '--monthly-limit', 5),
    since: ({ id }) => run('business', 'update', id, '--daily-limit', 1000, '--monthly-limit', 'none'),
    shown: async ({ id }) => (await run('business', 'show', id)).limits,
    restored: expect.objectContaining({ daily: null, monthly: 5, billing_day: 1 }),
    right: expect.objectContaining({ daily: 1000, monthly: null, billing_day: 1 }),
  }),
  'a user was erased': play({
    before: async ({ user }) => {
      await run('key', 'create', '--user', 1000 + user);
      const longAgo = `'2026-03-15T11:00:00.000000Z' where user_id = ${1000 + user}`;
      const { $client } = opened.databases.first.db;
      for (const column of ['homes set claimed_at', 'api_keys set created_at'])
        await $client.prepare(`update ${column} = ${longAgo}`).run();
    },
    since: ({ user }) => run('user', 'erase', 1000 + user),
    shown: async ({ user }) => (await run('key', 'list', '--user', 1000 + user)).keys.length,
    restored: 1,
    right: 0,
  }),
  'a business was deleted': play({
    before: async (owner) => {
      await use(owner, 'order-1');
      return (await run('key', 'create', '--user', owner.user, '--business', owner.id)).api_key as string;
    },
    since: ({ id }) => run('business', 'delete', id, '--confirm', 'Acme'),
    shown: async (owner, _, narrow) => [
      ...(await visits(owner, owner.token, narrow)),
      await run('business', 'show', owner.id).then(
        () => countOf(owner),
        (error: Error) => error.message,
      ),
    ],
    restored: [200, 200, 1],
    right: [401, 401, expect.stringContaining('Id is not valid')],
  }),
  // No other row creates anything after the copy, so the lost IDs are the next to be assigned.
  'a business or a key was created': play({
    since: newOwner,
    shown: async (_, lost) => {
      const [{ businesses }, { keys }] = [
        await run('business', 'list', '--user', user),
        await run('key', 'list', '--user', user),
      ];
      const isLost = ({ id }: { id: number }) => id === lost.id || id === lost.keyId;
      return [...[businesses.map(isLost), keys.map(isLost)], await visits(lost, lost.token, lost.key)];
    },
    restored: [[], [], [401, 401]],
    right: [[true], [true], [401, 401]],
  }),
  'uses were recorded': play({
    before: async (owner) => {
      await run('business', 'update', owner.id, '--daily-limit', 3);
      await use(owner, 'order-1');
    },
    since: async (owner) => {
      await use(owner, 'order-2');
      await use(owner);
      expect((await use(owner)).status).toBe(429);
    },
    // Returns the count, and the status of one more use.
    shown: async (owner) => [await countOf(owner), (await use(owner)).status],
    restored: [1, 200],
    repeat: async (owner) => {
      for (const id of ['order-1', 'order-2']) expect((await use(owner, id, KEY)).status).toBe(200);
    },
    right: [3, 429], // order-1 is counted once
  }),
  'a history was imported': play({
    before: (owner) => importDays(owner, '2020-01-01,5'),
    since: (owner) => importDays(owner, '2020-01-01,9\n2020-01-02,3', '--replace'),
    shown: async (owner) => [await countOf(owner, '2020-01-01'), await countOf(owner, '2020-01-02')],
    restored: [5, 0],
    right: [9, 3],
  }),
  'changes were stored': play({
    since: async (owner) => {
      await addSites(owner, A);
      return actionsOf(owner);
    },
    shown: async (owner, saved) => [saved, await actionsOf(owner)],
    restored: [['add_sites', 'create_business'], ['create_business']],
    repeat: nothing,
    right: [['add_sites', 'create_business'], ['create_business']],
  }),
  'alerts were stored or sent': play({
    before: ({ id }) => run('business', 'update', id, '--daily-limit', 2),
    since: async (owner) => {
      await useTwice(owner);
      return alertsOf(owner);
    },
    shown: async (owner, saved) => [saved, await alertsOf(owner)],
    restored: [[100], []],
    repeat: nothing,
    later: useTwice,
    right: [[100], [100]],
  }),
  'pages were refused': play({
    before: async (owner) => {
      await addSites(owner, A);
      await visit(owner, owner.token, EVIL);
    },
    since: async (owner) => {
      await send(owner.key, 'DELETE', `/${owner.id}/access/refused`);
      await visit(owner, owner.token, B);
      expect(await refusedOf(owner)).toEqual([B]);
    },
    shown: async (owner) => (await refusedOf(owner)).sort(),
    restored: [EVIL],
    repeat: nothing,
    later: (owner) => visit(owner, owner.token, B),
    right: [B, EVIL],
  }),
  'a session ended, or one began': play({
    before: (owner) => sessionOf(owner),
    since: async (owner, ended) => {
      await send(ended, 'DELETE', '', { of: 'session' });
      const began = await sessionOf(owner);
      expect(await visits(owner, ended, began)).toEqual([401, 200]);
      return began;
    },
    shown: (owner, began, ended) => visits(owner, ended, began),
    restored: [200, 401],
    repeat: ({ keyId, user }) => run('key', 'revoke', keyId, '--user', user),
    right: [401, 401],
  }),
};

/** Rows that concern more than one owner. They have separate tests below. */
const MIGRATION = 'a migration was applied';
const CLAIM = 'an owner was assigned a database, or a token was imported (only if you restore `DB`)';

test('each row of the table in docs/restoring.md is a case', () => {
  const cases = [...Object.keys(PLAYS), MIGRATION, CLAIM];
  expect(cases).toEqual(expect.arrayContaining(ROWS.map(({ since }) => since)));
});

describe('after a restore, the commands in docs/restoring.md', () => {
  type Case = { owner: Owner; before: unknown; since: unknown };
  const cases = new Map<string, Case>();
  /** The commands that repaired what the table does not list. */
  const again = new Set<string>();
  const state = newDatabase();
  const where: Where = { 'persist-to': state };

  beforeAll(async () => {
    opened = await openDatabases(where);
    for (const [row, { before }] of Object.entries(PLAYS)) {
      const owner = await newOwner();
      cases.set(row, { owner, before: await before?.(owner), since: undefined });
    }
    await opened.close();
    const copy = newFolder();
    cpSync(state, copy, { recursive: true });
    opened = await openDatabases(where);
    for (const [row, { since }] of Object.entries(PLAYS)) {
      const one = cases.get(row) as Case;
      one.since = await since(one.owner, one.before);
    }
    await opened.close();
    rmSync(state, { recursive: true });
    cpSync(copy, state, { recursive: true });
    opened = await openDatabases(where);
  }, 120_000);
  afterAll(() => opened.close());

  test.each(Object.entries(PLAYS))(
    'repair the state if %s',
    async (row, { since: happens, repeat, shown, restored, later, right }) => {
      const { owner, before, since } = cases.get(row) as Case;
      expect(await shown(owner, since, before)).toEqual(restored);
      played = [];
      only = { OPERATOR_ONLY: '1' };
      expect([await visit(owner, owner.key), await visit(owner, owner.token, A)]).toEqual([503, 503]);
      await (repeat?.(owner, since, before) ?? happens(owner, before)).finally(() => {
        only = {};
      });
      const inTable = ROWS.find(({ since }) => since === row);
      const changing = played.filter((head) => /^[a-z]/.test(head) && !/ (list|show)$/.test(head));
      if (inTable !== undefined) expect(played).toEqual(expect.arrayContaining(codesIn(inTable.repeat).map(headOf)));
      else for (const head of changing) again.add(head);
      await later?.(owner);
      expect(await shown(owner, since, before)).toEqual(right);
    },
  );

  test('are exactly those that run again', () => {
    expect([...again].sort()).toEqual([...new Set(AGAIN)].sort());
  });
});

test('without the Worker, SQL revokes a key and its sessions, ends sessions, suspends a business, and replaces a token', async () => {
  const [, section = ''] = /### If the Worker does not run\n(.*)/s.exec(read('docs/operating.md')) ?? [];
  const [revoke, suspend, replace] = [...section.matchAll(/--command "\n([^"]*)"/g)].map(([, sql = '']) => sql);
  const [, where = ''] = /The same with `(where [^`]*)`/.exec(section) ?? [];
  const end = revoke?.replace(/where 12.*/s, where);
  opened = await openDatabases({ 'persist-to': newDatabase() });
  const execute = async (sql: string | undefined, owner: Owner) => {
    const d1 = opened.databases.first.db.$client;
    const written =
      sql
        ?.replace(/\b12\b/g, `${owner.keyId}`)
        .replace('user_id = 7', `user_id = ${owner.user}`)
        .replaceAll('id = 5', `id = ${owner.id}`) ?? '';
    return (await d1.batch<{ token: string }>(statementsOf(written).map((one) => d1.prepare(one)))).at(-1)?.results[0];
  };
  const [first, second, third] = [await newOwner(), await newOwner(), await newOwner()];
  const session = await sessionOf(first);
  await send(third.key, 'POST', `/${third.id}/token`, { body: { keep_old: '24h' } });
  await execute(revoke, first);
  expect(await visits(first, first.key, session, first.token)).toEqual([401, 401, 200]);
  const ended = await sessionOf(second);
  await execute(end, second);
  expect(await visits(second, ended, second.key)).toEqual([401, 200]);
  await execute(suspend, second);
  expect(await visits(second, second.token, second.key)).toEqual([401, 200]);
  const { token } = await run('business', 'show', third.id);
  const made = await execute(replace, third);
  expect(await visits(third, third.token, token, made?.token ?? '')).toEqual([401, 401, 200]);
  await opened.close();
});

test(`after a restore, the commands in docs/restoring.md repair the state if ${MIGRATION}`, async () => {
  const state = newFolder();
  const where: Where = { 'persist-to': state };
  const files = globSync('migrations/*.sql', { cwd: ROOT }).sort();
  await withDatabases(where, async ({ first: { db } }) => {
    const queries = [
      'create table d1_migrations (id integer primary key, name text unique, applied_at text)',
      ...files
        .slice(0, -1)
        .flatMap((file) => [
          ...statementsOf(readFileSync(join(ROOT, file), 'utf8')),
          `insert into d1_migrations (name) values ('${file.replace('migrations/', '')}')`,
        ]),
    ];
    await db.$client.batch(queries.map((query) => db.$client.prepare(query)));
  });
  const copy = newFolder();
  cpSync(state, copy, { recursive: true });
  /** The command that npm run deploy runs for each database with --remote. */
  const migrate = () =>
    execFileSync('wrangler', ['d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state], {
      cwd: ROOT,
      env: { ...process.env, CI: 'true', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
      stdio: 'ignore',
    });
  const applied = () =>
    withDatabases(where, async (databases) => (await rowsOf(databases, 'd1_migrations')).map(({ name }) => name));
  const names = files.map((file) => file.replace('migrations/', ''));
  migrate();
  expect(await applied()).toEqual(names);
  rmSync(state, { recursive: true });
  cpSync(copy, state, { recursive: true });
  expect(await applied()).toEqual(names.slice(0, -1));
  migrate();
  expect(await applied()).toEqual(names);
});

test(`after a restore, the commands in docs/restoring.md repair the state if ${CLAIM}`, async () => {
  const where = await threeDatabases();
  const state = where['persist-to'];
  const copy = newFolder();
  cpSync(state, copy, { recursive: true });
  const token = 'Token-of-another-system-1';
  const [save = '', take = ''] = [
    ...read(RESTORING).matchAll(/--command "\n(\s*select 'insert or ignore into homes[^"]*)" \|/g),
  ].map(([, statement]) => statement);
  const [, count = ''] = /--command "\n(\s*update homes set place [^"]*)"$/m.exec(read(RESTORING)) ?? [];
  const linesOf = async ({ db }: Databases['first'], statement: string) =>
    (await db.$client.prepare(statement).all<{ line: string }>()).results.map(({ line }) => line);
  const claims = async (databases: Databases) => ({
    homes: (await rowsOf(databases, 'homes')).map(({ claimed_at: _, ...home }) => home),
    tokens: (await rowsOf(databases, 'imported_tokens')).length,
  });
  const create = [
    ...['business', 'create', '--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
    ...['--site', 'https://acme.example', '--country', '1', '--size', 'small', '--database', '1', '--token', token],
  ];
  const claimed = { homes: [{ user_id: 7, database: 1, place: 1 }], tokens: 1 };
  const saved = await withDatabases(where, async (databases) => {
    await runOn(databases, ...create);
    expect(await claims(databases)).toEqual(claimed);
    return linesOf(databases.first, save);
  });
  // Restores only DB, whose file has the same name as in a state with one database.
  const files = { cwd: newDatabase(), exclude: (name: string) => name.endsWith('metadata.sqlite') };
  const [file = ''] = globSync('v3/d1/*/*.sqlite', files);
  for (const name of globSync(`${file}*`, { cwd: state })) rmSync(join(state, name));
  for (const name of globSync(`${file}*`, { cwd: copy })) cpSync(join(copy, name), join(state, name));
  await withDatabases(where, async (databases) => {
    const run = (...args: (string | number)[]) => runOn(databases, ...args);
    const execute = (sql: string) => databases.first.db.$client.prepare(sql).run();
    expect(await claims(databases)).toEqual({ homes: [], tokens: 0 });
    expect((await run('business', 'list')).businesses).toMatchObject([{ user_id: 7, token }]);
    const taken = (await Promise.all(databases.all.map((database) => linesOf(database, take)))).flat();

    // Proves that creating something first does damage, and that the damage can be repaired.
    const newKey = () => run('key', 'create', '--user', 7);
    const { id: strayKey } = await newKey();
    expect(strayKey).toBe(1); // an ID from DB's range
    const forOther = create.map((word) => ({ 7: '8', 1: '2' })[word] ?? word);
    const stray = await run(...forOther);
    expect(stray).toMatchObject({ user_id: 8, token });
    await run('key', 'revoke', strayKey, '--user', 7);
    await run('business', 'delete', stray.id, '--confirm', 'Acme');
    expect(read(RESTORING)).toContain('`update homes set database = 1 where user_id = 7`');
    await execute('update homes set database = 1 where user_id = 7');
    expect((await newKey()).id).toBe(1_000_000_001);

    for (const [index, lines] of [saved, taken].entries()) {
      await execute('delete from homes');
      await execute('delete from imported_tokens');
      for (const line of lines) await execute(line);
      await execute(count);
      expect(await claims(databases)).toEqual(claimed);
      expect((await newKey()).id).toBe(1_000_000_002 + index);
      const inUse = 'token must not be a current or former token of any business';
      for (const again of [create, forOther]) await expect(run(...again)).rejects.toThrow(inUse);
    }
  });
});

/** The nightly commands and the commands that restore DB, from the section "Backups", with --local. */
const [backUp = '', restore = ''] = (() => {
  const [, section = ''] = read(RESTORING).split('\n## Backups\n');
  return [/- run: \|\n(.*?)\n *env:/s, /(\n *gpg --decrypt .*?)\n *```/s].map((pattern) =>
    (pattern.exec(section)?.[1] ?? '').replaceAll('--remote', '--local'),
  );
})();

/** Replaces gpg and npx: encrypts nothing, and runs this project's wrangler. */
const PROGRAMS = `npx() { "$@"; }
  gpg() { case "$*" in *--decrypt*) cat "\${!#}";; *) cp "\${!#}" "\${!#}.gpg";; esac; }`;
const shellIn = (folder: string, script: string) =>
  execFileSync('bash', ['-ec', `${PROGRAMS}\n${script}`], {
    cwd: folder,
    env: { ...process.env, CI: 'true', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    encoding: 'utf8',
    stdio: 'pipe',
  });

/** Creates a checkout with its databases in wrangler's folder. */
function checkoutOf(config: string) {
  const folder = newFolder();
  const state = join(folder, '.wrangler/state');
  mkdirSync(state, { recursive: true });
  cpSync(config, join(folder, 'wrangler.toml'));
  symlinkSync(join(ROOT, 'migrations'), join(folder, 'migrations'));
  return { folder, where: { config: join(folder, 'wrangler.toml'), 'persist-to': state } };
}

/** Returns all rows by table, and the definitions of tables and indexes. */
async function contentOf({ db: { $client } }: LocalDatabase) {
  const rows = async (query: string) => (await $client.prepare(query).all()).results;
  const schema = await rows(
    `select type, name, tbl_name, sql from sqlite_schema where name not glob '_cf_*' order by 1, 2`,
  );
  const tables = schema.flatMap(({ type, name }) => (type === 'table' ? [`${name}`] : []));
  const content = await Promise.all(tables.map(async (name) => [name, await rows(`select * from "${name}"`)]));
  return { schema, ...(Object.fromEntries(content) as Record<string, unknown[]>) };
}
const contentsOf = ({ all }: Databases) => Promise.all(all.map(contentOf));

test('a restored backup of each database is complete, and the service works with it', async () => {
  const three = await threeDatabases();
  const [old, lost] = [checkoutOf(three.config), checkoutOf(three.config)];
  cpSync(three['persist-to'], old.where['persist-to'], { recursive: true });
  opened = await openDatabases(old.where);
  const { all, first } = opened.databases;
  const execute = (sql: string, ...values: unknown[]) =>
    first.db.$client
      .prepare(sql)
      .bind(...values)
      .run();

  // Fills every table through the service or by SQL.
  const owner = await newOwner();
  const session = await sessionOf(owner);
  const parent = `${'a'.repeat(59)}.`.repeat(4);
  const sites = Array.from({ length: 500 }, (_, index) => `https://${parent}a${index}.test`);
  for (let at = 0; at < sites.length; at += 100) await addSites(owner, ...sites.slice(at, at + 100));
  await run('access', 'clear', owner.id);
  await run('business', 'update', owner.id, '--name', `O'Hara \\n "😀"`, '--daily-limit', 2);
  const { data } = await send(owner.key, 'POST', `/${owner.id}/token`, { body: { keep_old: '24h' } });
  const { token } = data as { token: string };
  await addSites(owner, A);
  await visit(owner, token, EVIL);
  await use(owner, 'order-1');
  await use(owner, 'order-2');
  await run('console-link', 'create', '--user', owner.user);
  const importing = (user: number, database: number, token: string) =>
    run('business', 'create', '--user', user, '--name', 'B', ...FIELDS, '--database', database, '--token', token);
  await importing(owner.user, 0, 'Token-of-another-system-2');
  await importing(900, 1, 'Token-of-another-system-3');
  const receiver = { fetch: async () => new Response(null, { status: 500 }) };
  const bindings = { ALERTS: receiver, ALERT_SECRET: `whsec_${'A'.repeat(32)}`, ...bound(all) } as unknown as Bindings;
  for (const cron of Object.values(SCHEDULES)) {
    await runScheduled({ cron, scheduledTime: NOW.getTime() }, bindings, () => NOW, { log() {}, error() {} });
  }
  await execute('insert into deletions values (12345)');
  await run('business', 'update', owner.id, '--billing-day', 15);
  await execute('insert into imported_days values (?, ?)', owner.id, '2026-03-14');
  await execute('insert into limit_refusals values (?, ?, 5)', owner.id, '2026-03-14');
  const create = () => run('business', 'create', '--user', owner.user, '--name', 'Acme', ...FIELDS);
  const gone = await create();
  await run('business', 'delete', gone.id, '--confirm', 'Acme');

  const shown = async () => [
    await Promise.all([token, owner.token].map((as) => visit(owner, as, A))),
    await visits(owner, owner.key, session, gone.token),
    await run('business', 'show', owner.id),
    await run('business', 'list'),
    await run('changes', 'list', owner.id),
  ];
  const [saw, before] = [await shown(), await contentsOf(opened.databases)];
  expect(Object.entries(before[0] ?? {}).flatMap(([name, rows]) => (rows.length === 0 ? name : []))).toEqual([]);
  await opened.close();

  shellIn(old.folder, backUp);
  const tooLong = readFileSync(join(old.folder, 'DB.sql'), 'utf8').match(/^.{100000,}$/gm) ?? [];
  expect(tooLong.map((line) => /"(\w+)"/.exec(line)?.[1])).toEqual(['changes']);
  for (const { binding } of all) {
    cpSync(join(old.folder, `${binding}.sql.gpg`), join(lost.folder, `${binding}.sql.gpg`));
    const commands = restore.replaceAll('DB', binding);
    if (binding === 'DB') {
      // Proves that the second command is needed.
      expect(() => shellIn(lost.folder, commands.replace('--file DB-cut.sql', '--file DB.sql'))).toThrow('too long');
    }
    shellIn(lost.folder, commands);
  }
  expect(shellIn(lost.folder, 'wrangler d1 migrations list DB --local')).toContain('No migrations to apply');

  opened = await openDatabases(lost.where);
  expect(await contentsOf(opened.databases)).toEqual(before);
  expect(await shown()).toEqual(saw);
  expect((await use(owner, 'order-1')).status).toBe(200);
  expect([await countOf(owner), (await use(owner, 'order-4')).status]).toEqual([2, 429]);
  expect((await create()).id).toBe(gone.id + 1);
  await expect(importing(900, 1, 'Token-of-another-system-3')).rejects.toThrow(
    'token must not be a current or former token of any business',
  );
  await opened.close();
}, 180_000);
