// Shared fixtures: the service at a fixed time, calls that return their cost, and factories for businesses and keys.

import { createExecutionContext, type D1Migration, reset, waitOnExecutionContext } from 'cloudflare:test';
import { env as provided } from 'cloudflare:workers';
import { AsyncLocalStorage } from 'node:async_hooks';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { describe, test } from 'vitest';
import api from '../docs/api.md?raw';
import { createApp } from '../src/app.ts';
import { newCredential, sha256Hex } from '../src/core/credential.ts';
import { databaseOfId } from '../src/core/database.ts';
import { formatSecret } from '../src/core/operator.ts';
import type { Role } from '../src/core/policy.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { apiKeys, businesses, codes, dailyUsage, formerTokens, sites } from '../src/db/schema.ts';
import type { Bindings, Clock, Log } from '../src/env.ts';
import { claimHome } from '../src/homes/homes.ts';
import { listOfSites } from '../src/sites/statements.ts';
import { boundTo } from './ask.ts';
import { SHOP } from './business.ts';
import { expectValidRequest, expectValidResponse } from './contract.ts';
import { logged } from './log-lines.ts';
import type { AnyRoute } from './routes.ts';
import { may } from './sim/model/may.ts';

/** `ONE` is a database without tables (vitest.config.ts). */
export const env = provided as unknown as Bindings & { MIGRATIONS: D1Migration[]; ONE: D1Database };
export const NOW = new Date('2026-03-15T12:00:00.000Z');
export const TODAY = '2026-03-15';
/** NOW as a stored timestamp. */
export const STAMP = '2026-03-15T12:00:00.000000Z';
export const BASE = 'https://service.example';
/** The clock by which databases check deadlines. No test can set it. */
export const databaseClock: Clock = () => new Date();
export const later = (ms: number) => new Date(NOW.getTime() + ms);

/**
 * The only routes that `npm test` covers in tests that otherwise run for every route: one route that reads, one that records, one that
 * changes, and one that only the operator can call.
 */
const QUICK = ['read usage', 'record a use', 'add sites', 'create a business'];
const isQuick = ({ name }: { name: string }) => QUICK.includes(name);
/** The test options for a route: the tag `slow` unless `npm test` runs it. */
export const tagsOf = (route: { name: string }) => (isQuick(route) ? {} : { tags: 'slow' });
/** `describe.each` or `test.each`, with the tags of each route. */
export const eachOf =
  <R extends { name: string }>(kind: typeof describe | typeof test, routes: readonly R[]) =>
  (name: string, run: (route: R) => void | Promise<void>) => {
    const quick = routes.filter(isQuick);
    const others = routes.filter((route) => !isQuick(route));
    (kind as typeof test).each(quick)(name, run);
    (kind as typeof test).each(others)(name, { tags: 'slow' }, run);
  };

/** An operator key for each role, and the Worker's secrets for both. */
export const OPERATOR = {
  full: `bua_op_${'f'.repeat(43)}`,
  record: `bua_op_${'r'.repeat(43)}`,
  read: `bua_op_${'e'.repeat(43)}`,
};
export const OPERATOR_SECRETS = {
  OPERATOR_KEY_1: formatSecret('full', sha256Hex(OPERATOR.full)),
  OPERATOR_KEY_2: formatSecret('record', sha256Hex(OPERATOR.record)),
  OPERATOR_KEY_3: formatSecret('read', sha256Hex(OPERATOR.read)),
};

/** Returns a server's credential for a route: the owner's API key if allowed, otherwise an operator key, otherwise a session key. */
export async function callerOf(
  { operation }: Pick<AnyRoute, 'operation'>,
  owner: { key: string; user_id: number; home: Home },
) {
  if (may('full', operation)) return owner.key;
  return may('operator', operation) ? OPERATOR.full : (await newSession(owner)).key;
}

const bound = (['DB', 'DB_1', 'DB_2'] as const).flatMap((binding, number) => {
  const d1 = env[binding];
  return d1 === undefined ? [] : [{ number, binding, name: binding, d1, db: drizzle(d1) }];
});
export type Home = (typeof bound)[number];
/** The databases of this run: three, or one for the fuzzer (vitest.config.ts). Users are assigned round-robin. */
export const homes = bound as [Home, ...Home[]];
/** The database that stores the business, key or entry with this id. */
export const homeOfId = (id: number) => homes[databaseOfId(id)] as Home;
const homeOfUser = (user_id: number) => homes[user_id % homes.length] as Home;

/** Deletes all data. `reset` skips databases that have been idle for ten seconds, because they are no longer in memory, so this function
 * queries each database first. */
export async function resetDatabases() {
  const all = [env.ONE, ...homes.map(({ d1 }) => d1)].filter((d1) => d1 !== undefined);
  await Promise.all(all.map((d1) => d1.prepare('select 1').run()));
  await reset();
}

/** The Worker's database bindings, with each database passed through `wrap`. */
export const databases = (wrap = (d1: D1Database) => d1) =>
  Object.fromEntries(homes.map(({ binding, d1 }) => [binding, wrap(d1)])) as Pick<Bindings, 'DB' | 'DB_1' | 'DB_2'>;

/** A database that passes each batch to `run`, which decides whether and when it executes. */
export const withBatch = (
  d1: D1Database,
  run: (batch: () => Promise<D1Result[]>, statements: D1PreparedStatement[]) => Promise<unknown>,
  prepare: (sql: string) => unknown = (sql) => d1.prepare(sql),
) =>
  ({
    prepare,
    batch: (statements: D1PreparedStatement[]) => run(() => d1.batch(statements), statements),
  }) as unknown as D1Database;
/** Databases whose batches fail with this message before or after they run. If `only` is given, no other database fails. */
export const failingWith = (message: string, when: 'before' | 'after' = 'before', only?: Home) =>
  databases((d1) => {
    const failing = withBatch(d1, async (batch) => {
      if (when === 'after') await batch();
      throw new Error(message);
    });
    return only === undefined || only.d1 === d1 ? failing : d1;
  });
/** Databases that append a failing statement to each batch. */
export const failingHalfway = () =>
  databases((d1) => {
    const fault = d1.prepare('insert into daily_usage (business_id, day, count) values (1, 2, -1)');
    return withBatch(d1, (_, statements) => d1.batch([...statements, fault]));
  });
/** Changes an unrelated row after each statement of a batch, so that changes() returns 1 in the next statement. */
export const withNoise = () =>
  databases((d1) => {
    const noise = d1.prepare('update businesses set name = name where id = (select max(id) from businesses)');
    return withBatch(d1, async (_, statements) => {
      const results = await d1.batch(statements.flatMap((statement) => [statement, noise]));
      return results.filter((_, index) => index % 2 === 0);
    });
  });
// What the service stores some seconds after a response, the tests need not wait for.
const wait = scheduler.wait.bind(scheduler);
scheduler.wait = (ms) => wait(Math.min(ms, 20));

/** Binds every database name to one database, and records the statements that it receives. */
export function recordStatements({ d1 }: { d1: D1Database }) {
  const sent: { sql: string; values: unknown[] }[] = [];
  const prepare = (sql: string) => ({
    bind(...values: unknown[]) {
      sent.push({ sql, values });
      return d1.prepare(sql).bind(...values);
    },
  });
  return { sent, bindings: databases(() => withBatch(d1, (batch) => batch(), prepare)) };
}

/** The statuses with their Error-Codes, as in docs/api.md, "Errors". */
const ERRORS = [...api.matchAll(/^\| (\d{3} `\w+`) \|/gm)].map(([, error]) => error);

/** Throws if the response does not match openapi.json, or if docs/api.md does not list its error. */
function expectAnswer({ method, url }: Request, { status, headers }: Response, text: string) {
  const code = headers.get('Error-Code');
  if (code !== null && !ERRORS.includes(`${status} \`${code}\``)) throw new Error(`docs/api.md: no ${status} ${code}`);
  const { pathname, search } = new URL(url);
  expectValidResponse({ method, path: pathname + search, answer: { status, headers, text } });
}

/** Creates a service with a fixed clock, whose responses are checked against openapi.json and whose log lines are collected. */
export function newApp(at: Date = NOW) {
  const lines: object[] = [];
  const errors: object[] = [];
  const log: Log = { log: (line) => lines.push(logged(line)), error: (line) => errors.push(logged(line)) };
  const app = createApp(() => at, log, databaseClock);
  /** Sends a request with these bindings. If `given` is omitted, also waits for the work that runs after the response. */
  async function fetch(request: Request, bindings: Partial<Bindings>, given?: ExecutionContext) {
    const context = given ?? createExecutionContext();
    const answer = await app.fetch(request, bindings as Bindings, context);
    if (given === undefined) await waitOnExecutionContext(context);
    expectAnswer(request, answer, await answer.clone().text());
    return answer;
  }
  return { app: { ...app, fetch }, lines, errors };
}

/** Creates a rate limiter that allows each key `allowed` requests. `counts` contains the number of requests for each key. */
export function limiter(allowed: number) {
  const counts = new Map<string, number>();
  const limit = async ({ key }: { key: string }) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return { success: count <= allowed };
  };
  return { binding: { limit } as RateLimit, counts };
}

/** The time and log lines of each call. All calls share one service, which builds its routes once. */
const ofCall = new AsyncLocalStorage<{ at: Date; lines: object[]; errors: object[] }>();
const log: Log = {
  log: (line) => ofCall.getStore()?.lines.push(logged(line)),
  error: (line) => ofCall.getStore()?.errors.push(logged(line)),
};
const shared = createApp(() => ofCall.getStore()?.at ?? NOW, log, databaseClock);

/** Sends a request to the shared service, at `of.at`. Logs to `of.lines` and `of.errors`. */
export const serve = (
  request: Request,
  bindings: Partial<Bindings>,
  context: ExecutionContext,
  of: { at: Date; lines: object[]; errors: object[] },
) => ofCall.run(of, async () => shared.fetch(request, bindings as Bindings, context));

export type CallOptions = {
  /** The credential. */
  as?: string | undefined;
  origin?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Sent as JSON, except a string, which is sent unchanged. */
  body?: unknown;
  /** The time of the request. NOW by default. */
  at?: Date | undefined;
  /** Overrides or extends the service's bindings. */
  bindings?: object | undefined;
};

/** Runs `work` concurrently for 100 items at a time. With thousands of items at a time, workerd is several times slower. */
export async function inBatches<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < all.length; start += 100) {
    results.push(...(await Promise.all(all.slice(start, start + 100).map(work))));
  }
  return results;
}

/** Sends a request through the whole service. Returns the response and its database cost. */
export async function call(method: string, path: string, options: CallOptions = {}) {
  const headers = new Headers(options.headers);
  if (options.as !== undefined) headers.set('Authorization', `Bearer ${options.as}`);
  if (options.origin !== undefined) headers.set('Origin', options.origin);
  const init: RequestInit = { method, headers };
  if (options.body !== undefined) {
    if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    init.body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  }
  const cost = noCost();
  const lines: object[] = [];
  const errors: object[] = [];
  const context = createExecutionContext();
  const bindings = {
    ASSETS: env.ASSETS,
    ...OPERATOR_SECRETS,
    ...databases((d1) => metered(d1, cost)),
    ...options.bindings,
  } as Bindings;
  const request = new Request(BASE + path, init);
  const response = await serve(request, bindings, context, { at: options.at ?? NOW, lines, errors });
  const text = await response.text();
  const costThen = { ...cost };
  await waitOnExecutionContext(context);
  expectAnswer(request, response, text);
  if (response.status === 200) expectValidRequest({ method, path, headers, body: (init.body ?? '') as string });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: response.headers.get('Content-Type') === 'application/json' && text !== '' ? JSON.parse(text) : null,
    cost: costThen,
    /** The cost of the work after the response. */
    later: {
      round_trips: cost.round_trips - costThen.round_trips,
      rows_written: cost.rows_written - costThen.rows_written,
    },
    lines,
    errors,
  };
}

/** Sends a valid request to a route. `options` override its input. */
export const ask = (route: AnyRoute, business: { id: number | string }, options: CallOptions = {}) =>
  call(route.method, route.path(business), {
    body: route.body,
    ...options,
    headers: { ...route.headers, ...options.headers },
  });

let user = 1000;

const insertBusiness = (row: object) =>
  `insert into businesses (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')}) returning id`;
const INSERT_SITES = `insert into sites (business_id, site, is_reachable, created_at, updated_at)
  select businesses.id, value ->> 0, value ->> 1, ?2, ?2 from businesses, json_each(?3) where token = ?1`;
/** Starts a statement that stores changes. `select` follows. */
export const INSERT_CHANGES = 'insert into changes (subject, subject_id, id, at, actor, action, before, after)';
const INSERT_NAMES = `insert into sources (business_id, name, number)
  select (select id from businesses where token = ?), value, -1 - key from json_each(?)`;
const INSERT_HOME = `insert into homes values (?, ?, 0, '2026-01-01T00:00:00.000000Z') on conflict do nothing`;
const INSERT_KEY = `insert into api_keys (user_id, name, hash, last_four, role, created_at, created_by) values (?, 'test', ?, ?, 'full', ?, 'operator')`;

/** Creates a business for a new user with a home and an API key. Stores `sites` unchanged. */
export async function newBusiness(
  fields: { status?: string; sites?: string[]; token?: string; user_id?: number } = {},
) {
  const user_id = fields.user_id ?? ++user;
  const home = homeOfUser(user_id);
  const { d1, db, number } = home;
  if (fields.token !== undefined)
    await claimHome(boundTo(homes, NOW), user_id, { wanted: number, token: fields.token });
  const stamp = formatTimestamp(NOW);
  const row = {
    user_id,
    name: `Business of ${user_id}`,
    ...SHOP,
    token: fields.token ?? newCredential('bua_pk_', number),
    ...(fields.status !== undefined && { status: fields.status }),
    created_at: stamp,
    updated_at: stamp,
  };
  const key = newCredential('bua_sk_', number);
  const claimed = env.DB.prepare(INSERT_HOME).bind(user_id, number).run();
  const [made] = await d1.batch<{ id: number }>([
    d1.prepare(insertBusiness(row)).bind(...Object.values(row)),
    d1.prepare(INSERT_SITES).bind(row.token, '2026-01-01T00:00:00.000000Z', listOfSites(fields.sites ?? [])),
    d1.prepare(INSERT_NAMES).bind(row.token, JSON.stringify(fields.sites ?? [])),
    d1.prepare(INSERT_KEY).bind(user_id, sha256Hex(key), key.slice(-4), stamp),
  ]);
  await claimed;
  const id = made?.results[0]?.id ?? 0;
  const usage = `/api/v1/business/usage/${id}`;
  // `home` and `db` are not enumerable, because tests compare businesses with rows and responses.
  const business = { id, ...row, key, usage, access: `/api/v1/business/${id}/access` };
  return Object.defineProperties(business, { home: { value: home }, db: { value: db } }) as typeof business & {
    home: Home;
    db: Home['db'];
  };
}
export type Business = Awaited<ReturnType<typeof newBusiness>>;

/** A narrow key's restrictions. */
export type Scope = { business_id?: number; role?: Role; expires_on?: string };

/** Creates a key for a business's owner. Returns the key, its id and its name in changes. */
export async function newKey(
  { user_id, home }: { user_id: number; home: Home },
  scope: Scope & { ends_at?: string; can_create_keys?: 1 } = {},
) {
  const key = newCredential('bua_sk_', home.number);
  const last_four = key.slice(-4);
  const row = {
    user_id,
    name: 'narrow',
    hash: sha256Hex(key),
    last_four,
    role: 'full' as Role,
    created_at: formatTimestamp(NOW),
    created_by: scope.ends_at === undefined ? 'operator' : null,
    ...scope,
  };
  const [made] = await home.db.insert(apiKeys).values(row).returning({ id: apiKeys.id });
  const id = made?.id ?? 0;
  return { key, id, actor: `key ${id} (…${last_four})` };
}

/** Creates a session for a business's owner, as a console link does. It expires a day after NOW. */
export const newSession = (owner: { user_id: number; home: Home }) =>
  newKey(owner, { ends_at: formatTimestamp(later(86_400_000)) });

/** Creates a console link's code for a business's owner. By default, it works for two minutes, and its session lasts an hour. */
export async function newCode(
  { user_id, home }: { user_id: number; home: Home },
  fields: Partial<typeof codes.$inferInsert> = {},
  code = newCredential('bua_sk_', home.number).slice('bua_sk_'.length),
): Promise<string> {
  const expires_at = formatTimestamp(later(120_000));
  const row = { hash: sha256Hex(code), user_id, role: 'full' as const, minutes: 60, expires_at, ...fields };
  await home.db.insert(codes).values(row);
  return code;
}

/** Stores a site unchanged. Returns its entry's id. */
export async function addSite(business_id: number, site: string): Promise<number> {
  const stamp = '2026-01-01T00:00:00.000000Z';
  const row = { business_id, site, created_at: stamp, updated_at: stamp };
  const [made] = await homeOfId(business_id).db.insert(sites).values(row).returning({ id: sites.id });
  return made?.id ?? 0;
}

/** Stores a new token as a business's most recent former token. By default, it expires at the end of the next day. */
export async function addFormerToken(
  { id, db, home }: { id: number; db: Home['db']; home: Home },
  expires_at = '2026-03-17T00:00:00.000000Z',
): Promise<string> {
  const token = newCredential('bua_pk_', home.number);
  await db.insert(formerTokens).values({ token, business_id: id, expires_at });
  return token;
}

export async function setCount(business_id: number, day: string, count: number) {
  await homeOfId(business_id).db.insert(dailyUsage).values({ business_id, day, count });
}

/** Creates a business and sets columns of its row, such as limits. */
export async function newLimitedBusiness(
  limits: Partial<typeof businesses.$inferInsert>,
  fields: Parameters<typeof newBusiness>[0] = {},
): Promise<Business> {
  const business = await newBusiness(fields);
  if (Object.keys(limits).length > 0)
    await business.db.update(businesses).set(limits).where(eq(businesses.id, business.id));
  return business;
}
/** A business's stored counts by day. */
export async function countsByDay({ db, id }: Business): Promise<Record<string, number>> {
  const rows = await db.select().from(dailyUsage).where(eq(dailyUsage.business_id, id));
  return Object.fromEntries(rows.map(({ day, count }) => [day, count]));
}

/** Selects the tables, except those that are written only after responses, or for the price of a call. */
export const TABLES = `select name from sqlite_master
  where type = 'table' and name not like 'sqlite_%' and name not like 'd1_%' and name not like '_cf_%'
    and name not in ('seen_origins', 'limit_refusals', 'work')`;
/**
 * Selects the texts of statements that join each table's rows into a few strings of up to 2 MB, for five tables at a time: D1 allows no more
 * in a `union all`. In D1, this is much faster than returning the rows individually, and than a statement for each table.
 */
const DUMPS = `
  select group_concat(dump, ' union all ') as dump
  from (
    select row_number() over () as place, 'select * from (
        select ''' || tables.name || ''' as name, group_concat(row, char(10)) as rows from (
          select row, sum(length(row)) over (rows unbounded preceding) / 500000 as part
          from (select ' || group_concat('quote("' || columns.name || '")', '||'',''||') || ' as row from "' || tables.name || '")
        ) group by part
      )' as dump
    from (${TABLES}) as tables, pragma_table_info(tables.name) as columns
    where columns.name not in ('last_used_on', 'used_from', 'claimed_at')
    group by tables.name
  )
  group by place / 5`;
let statements: Promise<string[]> | undefined;

/**
 * Dumps all stored data, except what is written after responses and the times at which homes were claimed. A refused request must not
 * change the dump.
 */
export async function dumpAll(): Promise<string> {
  statements ??= env.DB.prepare(DUMPS)
    .all<{ dump: string }>()
    .then(({ results }) => results.map(({ dump }) => dump));
  const dumps = await statements;
  const texts = homes.map(async ({ d1 }) => {
    const parts = await d1.batch<{ name: string; rows: string }>(dumps.map((dump) => d1.prepare(dump)));
    return parts.flatMap(({ results }) => results.map(({ name, rows }) => `${name}: ${rows}`));
  });
  return (await Promise.all(texts)).flat().join('\n\n');
}
