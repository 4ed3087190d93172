// What the tests share: the service at a fixed time, calls that tell what they cost, and makers of businesses and keys.
import type { D1Migration } from 'cloudflare:test';
import { env as provided } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { createApp } from '../src/app.ts';
import { createBusiness } from '../src/cli/businesses.ts';
import { createKey } from '../src/cli/keys.ts';
import { type Cost, noCost } from '../src/db/batch.ts';
import { access, businesses, dailyUsage } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { expectAskable, expectDescribed } from './contract.ts';

export const env = provided as unknown as { DB: D1Database; ASSETS: Fetcher; MIGRATIONS: D1Migration[] };
export const NOW = new Date('2026-03-15T12:00:00.000Z');
export const TODAY = '2026-03-15';
export const BASE = 'https://service.example';
export const db = drizzle(env.DB);

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
  async function described(request: Request, bindings: Partial<Bindings>): Promise<Response> {
    const answer = await fetch(request, bindings as Bindings);
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

/** The database, with what it is asked added to `cost`. What is prepared here has no way to run but `batch`. */
export function counted(cost: Cost): D1Database {
  const counting = {
    prepare: (sql: string) => ({ bind: (...values: unknown[]) => ({ bound: env.DB.prepare(sql).bind(...values) }) }),
    async batch(statements: { bound: D1PreparedStatement }[]) {
      cost.round_trips += 1;
      const results = await env.DB.batch(statements.map(({ bound }) => bound));
      for (const { meta } of results) {
        cost.rows_read += meta.rows_read;
        cost.rows_written += meta.rows_written;
      }
      return results;
    },
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
  const response = await app.fetch(new Request(BASE + path, init), { ASSETS: env.ASSETS, DB: counted(cost) });
  const text = await response.text();
  if (response.status === 200) expectAskable({ method, path, headers, body: (init.body ?? '') as string });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
    cost,
    lines,
  };
}

let user = 1000;

/** A business of a user of its own, with an API key of that user. `sites` are stored as they are given. */
export async function newBusiness(
  fields: { status?: string; sites?: string[]; token?: string; user_id?: number } = {},
) {
  const user_id = fields.user_id ?? ++user;
  const made = await createBusiness(
    db,
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
  const { api_key } = await createKey(db, { user_id, name: 'test', expires_on: null }, NOW);
  const path = `/api/v1/business/usage/${made.id}`;
  return { ...made, key: api_key, usage: path, access: `/api/v1/business/${made.id}/access` };
}

/** Stores a site as it is given; the id of its entry. */
export async function addSite(business_id: number, site: string): Promise<number> {
  const stamp = '2026-01-01T00:00:00.000000Z';
  const row = { business_id, site, created_at: stamp, updated_at: stamp };
  const [made] = await db.insert(access).values(row).returning({ id: access.id });
  return made?.id ?? 0;
}

export async function setCount(business_id: number, day: string, count: number) {
  await db.insert(dailyUsage).values({ business_id, day, count });
}

/** Everything that is stored: equal before and after a refused request. */
export async function everything(): Promise<string> {
  const tables = await env.DB.prepare(
    `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'd1_%' and name not like '_cf_%'`,
  ).all<{ name: string }>();
  const dumps = await env.DB.batch(tables.results.map(({ name }) => env.DB.prepare(`select * from "${name}"`)));
  return JSON.stringify(dumps.map(({ results }) => results));
}
