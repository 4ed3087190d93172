// The measured databases, which have the real tables and generated rows, and the requests to measure.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import type { Call } from './load.ts';

const MIGRATIONS = `${import.meta.dirname}/../../migrations/`;
const ROWS_PER_STATEMENT = 100_000;
const STAMP = '2026-01-01T00:00:00.000000Z';

/** The business in the requests, and its credentials. */
export const BUSINESS = {
  id: 1,
  token: `bua_pk_${'1'.padStart(34, '0')}`,
  key: `bua_sk_${'1'.padStart(34, '0')}`,
  /** The last of the business's sites. */
  origin: 'https://s1.example',
};

/** Businesses, days with counts for each, and the requested business's sites and uses in the ledger. Other businesses have two sites. */
export type Size = { businesses: number; days: number; sites: number; uses: number };
export const SMALL: Size = { businesses: 1, days: 31, sites: 1, uses: 10 };

/** Creates and fills the tables. */
export async function fill(db: D1Database, { businesses, days, sites, uses }: Size): Promise<void> {
  for (const name of readdirSync(MIGRATIONS).sort()) {
    const statements = statementsOf(readFileSync(MIGRATIONS + name, 'utf8'));
    await db.batch(statements.map((one) => db.prepare(one)));
  }
  const today = dayAgo(0);
  const site = 'sites (business_id, site, created_at, updated_at)';
  const hash = createHash('sha256').update(BUSINESS.key).digest('hex');
  const key = 'api_keys (user_id, name, hash, last_four, role, created_at, created_by)';
  // n(i) contains the numbers from 1 to the given count.
  const inserts: [number, string][] = [
    [
      businesses,
      `businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
      select i, i, 'Acme ' || i, 'acme.example', 'https://acme.example', 1, 'small', printf('bua_pk_0%033d', i), 'active', '${STAMP}', '${STAMP}' from n`,
    ],
    [
      businesses * 2,
      `${site} select (i + 1) / 2, 'https://s' || (2 - i % 2) || '.example', '${STAMP}', '${STAMP}' from n where i > 2`,
    ],
    [sites, `${site} select 1, 'https://s' || (${sites} - i + 1) || '.example', '${STAMP}', '${STAMP}' from n`],
    [businesses - 1, `${key} select i + 1, 'key', printf('%064x', i), '0000', 'full', '${STAMP}', 'operator' from n`],
    [1, `${key} select 1, 'key', '${hash}', '0001', 'full', '${STAMP}', 'operator'`],
    [
      businesses * days,
      `daily_usage (business_id, day, count) select (i - 1) / ${days} + 1, date('${today}', ((i - 1) % ${days} - ${days - 1}) || ' days'), 100 + i % 97 from n`,
    ],
    [
      uses,
      `ledger (business_id, digest, day, forget_on, quantity)
      select 1, unhex(printf('%08x%024x', (i * 2654435761) % 4294967296, i)), unixepoch('${today}') / 86400, unixepoch('${today}') / 86400 + 41, 1 from n`,
    ],
  ];
  for (const [count, insert] of inserts) {
    for (let first = 1; first <= count; first += ROWS_PER_STATEMENT) {
      const last = Math.min(count, first + ROWS_PER_STATEMENT - 1);
      const n = `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last})`;
      await db.prepare(`insert into ${insert.replace(/\bselect\b/, `${n} select`)}`).run();
    }
  }
}

/** The day `days` days before today, UTC. */
export const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const pathOf = (id: number) => `/api/v1/business/usage/${id}`;
const path = pathOf(BUSINESS.id);
const page: Record<string, string> = { Authorization: `Bearer ${BUSINESS.token}`, Origin: BUSINESS.origin };
const server = { Authorization: `Bearer ${BUSINESS.key}` };

export const recordOf = (headers: Record<string, string>, id = BUSINESS.id): Call => ({
  method: 'POST',
  path: pathOf(id),
  headers,
});
const asking = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };

/** Uses an hour ago, as a server reports them. */
const at = new Date(Date.now() - 3_600_000).toISOString();
const listed = Array.from({ length: 1000 }, (_, index) => ({ id: `order-${index + 1_000_000}`, at }));

export const CALLS = {
  report: { method: 'GET', path: `${path}?from=${dayAgo(30)}&to=${dayAgo(0)}`, headers: page },
  record: recordOf(page),
  // autocannon replaces [<id>] with a new id in each request.
  recordOnce: recordOf({ ...server, 'Idempotency-Key': '[<id>]' }),
  list: { ...recordOf(server), body: JSON.stringify({ uses: listed }) },
  preflight: { method: 'OPTIONS', path, headers: { Origin: BUSINESS.origin, ...asking }, status: 204 },
  malformed: { method: 'GET', path, headers: { Authorization: 'Bearer bua_pk_short' }, status: 401 },
} satisfies Record<string, Call>;
