// The databases that are measured: real migrations, and rows made by SQL inside of them.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');
const ROWS_PER_STATEMENT = 100_000;
const STAMP = '2026-01-01T00:00:00.000000Z';

/** The business that is asked about, and the credentials with which. */
export const BUSINESS = {
  id: 1,
  token: `bua_pk_${'1'.padStart(33, '0')}`,
  key: `bua_sk_${'1'.padStart(33, '0')}`,
  /** The last of its sites. */
  origin: 'https://s1.example',
};

/** How much is stored. */
export type Size = {
  businesses: number;
  /** Up to today, of each business. */
  days: number;
  /** Of the business that is asked about; the others have two. */
  sites: number;
  /** Of its user; the others have one. */
  keys: number;
  /** Uses of it in the ledger. */
  uses: number;
  /** Events of it in the last 31 days, for the usual way. */
  events: number;
};

export const SMALL: Size = { businesses: 1, days: 31, sites: 1, keys: 1, uses: 10, events: 0 };

/** Makes the tables and fills them. `today` is the last day with counts. */
export async function fill(db: D1Database, size: Size, today: string): Promise<void> {
  for (const name of readdirSync(MIGRATIONS).sort()) {
    if (!name.endsWith('.sql')) continue;
    const sql = readFileSync(join(MIGRATIONS, name), 'utf8').replace(/--.*$/gm, '');
    await db.batch(
      sql
        .split(/;\s*$/m)
        .filter((statement) => statement.trim() !== '')
        .map((one) => db.prepare(one)),
    );
  }
  await rows(
    db,
    size.businesses,
    `insert into businesses (id, user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
    select i, i, 'Acme ' || i, 'acme.example', 'https://acme.example', 1, 'small', printf('bua_pk_%033d', i), 'active', '${STAMP}', '${STAMP}' from n`,
  );
  await rows(
    db,
    size.businesses * 2,
    `insert into access (business_id, site, created_at, updated_at)
    select (i + 1) / 2, 'https://s' || (2 - i % 2) || '.example', '${STAMP}', '${STAMP}' from n where i > 2`,
  );
  await rows(
    db,
    size.sites,
    `insert into access (business_id, site, created_at, updated_at)
    select 1, 'https://s' || (${size.sites} - i + 1) || '.example', '${STAMP}', '${STAMP}' from n`,
  );
  const key = 'insert into api_keys (user_id, name, hash, last_four, created_at)';
  await rows(
    db,
    size.keys - 1 + size.businesses - 1,
    `${key}
    select max(1, i - ${size.keys - 2}), 'key', printf('%064x', i), '0000', '${STAMP}' from n`,
  );
  const hash = createHash('sha256').update(BUSINESS.key).digest('hex');
  await db.prepare(`${key} values (1, 'key', ?, '0001', '${STAMP}')`).bind(hash).run();
  await rows(
    db,
    size.businesses * size.days,
    `insert into daily_usage
    select (i - 1) / ${size.days} + 1, date('${today}', ((i - 1) % ${size.days} - ${size.days - 1}) || ' days'), 100 + i % 97 from n`,
  );
  await rows(
    db,
    size.uses,
    `insert into ledger (business_id, digest, day, recorded_on) select 1, unhex(printf('%08x%024x', (i * 2654435761) % 4294967296, i)),
    '${today}', '${today}' from n`,
  );
  if (size.events === 0) return;
  await db
    .prepare('create table events (id integer primary key, business_id integer not null, day text not null)')
    .run();
  await rows(db, size.events, `insert into events select i, 1, date('${today}', -(i % 31) || ' days') from n`);
  await db.prepare('create index events_business_day on events (business_id, day)').run();
}

/** Runs `insert` for n(i), i from 1 to `count`. */
async function rows(db: D1Database, count: number, insert: string): Promise<void> {
  for (let first = 1; first <= count; first += ROWS_PER_STATEMENT) {
    const last = Math.min(count, first + ROWS_PER_STATEMENT - 1);
    const n = `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last})`;
    await db.prepare(insert.startsWith('insert') ? insert.replace(/\bselect\b/, `${n} select`) : insert).run();
  }
}
