// What the tests share: the service at a fixed time, calls that tell what they cost, and makers of businesses and keys.
import { createExecutionContext, type D1Migration, waitOnExecutionContext } from 'cloudflare:test';
import { env as provided } from 'cloudflare:workers';
import { eq, inArray } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { createApp } from '../src/app.ts';
import { createBusiness } from '../src/cli/businesses.ts';
import { Databases } from '../src/cli/databases.ts';
import { claimToken } from '../src/cli/homes.ts';
import { createKey } from '../src/cli/keys.ts';
import { hashOf, newCredential } from '../src/core/credential.ts';
import { databaseOfId } from '../src/core/database.ts';
import { timestampOf } from '../src/core/time.ts';
import { type Cost, noCost } from '../src/db/batch.ts';
import { access, apiKeys, businesses, changes, dailyUsage } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { expectAskable, expectDescribed } from './contract.ts';

/** ONE, a database without tables, is only there with several (vitest.config.ts). */
export const env = provided as unknown as Bindings & { MIGRATIONS: D1Migration[]; ONE: D1Database };
export const NOW = new Date('2026-03-15T12:00:00.000Z');
export const TODAY = '2026-03-15';
export const BASE = 'https://service.example';

/** The databases of this run: one, or three (vitest.config.ts). Users take turns. */
export const homes = (['DB', 'DB_1', 'DB_2'] as const).flatMap((binding, number) => {
  const d1 = env[binding];
  return d1 === undefined ? [] : [{ number, binding, name: binding, d1, db: drizzle(d1) }];
});
type Home = (typeof homes)[number];
/** The database in which a business, key or entry with this id is. */
export const homeWith = (id: number) => homes[databaseOfId(id)] as Home;
const homeOfUser = (user_id: number) => homes[user_id % homes.length] as Home;

/** The databases as the Worker gets them, or what a test puts in front of each. */
export const databases = (wrap = (d1: D1Database) => d1) =>
  Object.fromEntries(homes.map(({ binding, d1 }) => [binding, wrap(d1)])) as Pick<Bindings, 'DB' | 'DB_1' | 'DB_2'>;

/** The service at a fixed time, all of whose answers are as openapi.json says, and the lines it logs: of requests, and of its own failures. */
export function newApp(at: Date = NOW) {
  const lines: object[] = [];
  const errors: object[] = [];
  const app = createApp(() => at, {
    log: (line) => lines.push(line),
    error: (line) => errors.push(line),
  });
  const { fetch } = app;
  /** With the bindings that a test is about. */
  async function described(
    request: Request,
    bindings: Partial<Bindings>,
    context = createExecutionContext(),
  ): Promise<Response> {
    const answer = await fetch(request, bindings as Bindings, context);
    const { pathname, search } = new URL(request.url);
    const { status, headers } = answer;
    expectDescribed({
      method: request.method,
      path: pathname + search,
      answer: { status, headers, text: await answer.clone().text() },
    });
    return answer;
  }
  return { app: { ...app, fetch: described }, lines, errors };
}

export type CallOptions = {
  /** An API key or a token. */
  as?: string;
  origin?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string, which is sent as it is. */
  body?: unknown;
  /** When the request begins; NOW unless told. */
  at?: Date;
};

/** A database, with what it is asked added to `cost`. */
export function counted(d1: D1Database, cost: Cost): D1Database {
  const added = <R extends D1Result[]>(results: R): R => {
    cost.round_trips += 1;
    for (const { meta } of results) {
      cost.rows_read += meta.rows_read;
      cost.rows_written += meta.rows_written;
    }
    return results;
  };
  type Bound = { bound: D1PreparedStatement };
  const bind = (bound: D1PreparedStatement) => ({
    bound,
    run: async () => added([await bound.run()])[0],
    all: async () => added([await bound.all()])[0],
  });
  const counting = {
    prepare: (sql: string) => ({
      ...bind(d1.prepare(sql)),
      bind: (...values: unknown[]) => bind(d1.prepare(sql).bind(...values)),
    }),
    batch: async (statements: Bound[]) => added(await d1.batch(statements.map(({ bound }) => bound))),
  };
  return counting as unknown as D1Database;
}

/** One request, through the whole service: the answer, and what it cost at the database. */
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
  const { app, lines } = newApp(options.at);
  const context = createExecutionContext();
  const bindings = { ASSETS: env.ASSETS, ...databases((d1) => counted(d1, cost)) };
  const response = await app.fetch(new Request(BASE + path, init), bindings, context);
  const costThen = { ...cost };
  await waitOnExecutionContext(context);
  const text = await response.text();
  if (response.status === 200) expectAskable({ method, path, headers, body: (init.body ?? '') as string });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: response.headers.get('Content-Type') === 'application/json' && text !== '' ? JSON.parse(text) : null,
    cost: costThen,
    lines,
  };
}

let user = 1000;

/** A business of a user of its own, with an API key of that user. `sites` are stored as they are given. */
export async function newBusiness(
  fields: { status?: string; sites?: string[]; token?: string; user_id?: number } = {},
) {
  const user_id = fields.user_id ?? ++user;
  const home = homeOfUser(user_id);
  const { db } = home;
  if (fields.token !== undefined) await claimToken(new Databases(homes), fields.token, user_id, NOW);
  const made = await createBusiness(
    home,
    {
      user_id,
      name: `Business of ${user_id}`,
      main_domain: 'acme.example',
      site: 'https://acme.example',
      country_id: 1,
      business_size: 'small',
      token: fields.token,
    },
    NOW,
  );
  if (fields.status !== undefined) {
    await db.update(businesses).set({ status: fields.status }).where(eq(businesses.id, made.id));
  }
  for (const site of fields.sites ?? []) await addSite(made.id, site);
  const { api_key } = await createKey(home, { user_id, name: 'test', expires_on: null }, NOW);
  // Made long ago: tests of changes begin with none.
  await db.delete(changes).where(inArray(changes.subject_id, [made.id, user_id]));
  const path = `/api/v1/business/usage/${made.id}`;
  // Not enumerable: tests compare what a business has with rows and answers.
  const business = { ...made, key: api_key, usage: path, access: `/api/v1/business/${made.id}/access` };
  return Object.defineProperties(business, { home: { value: home }, db: { value: db } }) as typeof business & {
    home: Home;
    db: Home['db'];
  };
}

/** What a key may do less than its owner: for one business, to read only, or both. */
export type Scope = { business_id?: number; read_only?: 0 | 1 };

/** A key of the owner of a business, its id and how changes name it. */
export async function newKey({ user_id, home }: { user_id: number; home: Home }, scope: Scope = {}) {
  const key = newCredential('bua_sk_', home.number);
  const last_four = key.slice(-4);
  const row = { user_id, name: 'narrow', hash: await hashOf(key), last_four, created_at: timestampOf(NOW), ...scope };
  const [made] = await home.db.insert(apiKeys).values(row).returning({ id: apiKeys.id });
  const id = made?.id ?? 0;
  return { key, id, actor: `key ${id} (…${last_four})` };
}

/** Stores a site as it is given; the id of its entry. */
export async function addSite(business_id: number, site: string): Promise<number> {
  const stamp = '2026-01-01T00:00:00.000000Z';
  const row = { business_id, site, created_at: stamp, updated_at: stamp };
  const [made] = await homeWith(business_id).db.insert(access).values(row).returning({ id: access.id });
  return made?.id ?? 0;
}

export async function setCount(business_id: number, day: string, count: number) {
  await homeWith(business_id).db.insert(dailyUsage).values({ business_id, day, count });
}

/** Everything that is stored, except what is written after responses: equal before and after a refused request. */
export async function everything(): Promise<string> {
  const dumps = homes.map(async ({ d1 }) => {
    const tables = await d1
      .prepare(
        `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'd1_%'
          and name not like '_cf_%'`,
      )
      .all<{ name: string }>();
    const names = tables.results.map(({ name }) => name).filter((name) => name !== 'refused_origins');
    const rows = await d1.batch<Record<string, unknown>>(names.map((name) => d1.prepare(`select * from "${name}"`)));
    return rows.map(({ results }) => results.map(({ last_used_on: _, ...row }) => row));
  });
  return JSON.stringify(await Promise.all(dumps));
}
