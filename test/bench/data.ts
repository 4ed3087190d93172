// Creates the measured databases with the real migrations, and fills them with generated rows.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');
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

export type Size = {
  businesses: number;
  /** Days up to today, per business. */
  days: number;
  /** Sites of the requested business. Other businesses have two. */
  sites: number;
  /** API keys of the requested business's owner. Other owners have one. */
  keys: number;
  /** Uses of the requested business in the ledger. */
  uses: number;
};

export const SMALL: Size = { businesses: 1, days: 31, sites: 1, keys: 1, uses: 10 };

/** Creates and fills the tables. `today` is the last day with counts. */
export async function fill(db: D1Database, size: Size, today: string): Promise<void> {
  for (const name of readdirSync(MIGRATIONS).sort()) {
    const statements = statementsOf(readFileSync(join(MIGRATIONS, name), 'utf8'));
    await db.batch(statements.map((one) => db.prepare(one)));
  }
  const { businesses, days, sites, keys, uses } = size;
  const site = 'access (business_id, site, created_at, updated_at)';
  const key = 'api_keys (user_id, name, hash, last_four, role, created_at)';
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
    [
      keys - 1 + businesses - 1,
      `${key} select max(1, i - ${keys - 2}), 'key', printf('%064x', i), '0000', 'full', '${STAMP}' from n`,
    ],
    [
      1,
      `${key} select 1, 'key', '${createHash('sha256').update(BUSINESS.key).digest('hex')}', '0001', 'full', '${STAMP}'`,
    ],
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
