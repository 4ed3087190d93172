// What one owner does to hold up the others, and the crowded database in which that happens. The victim is user 2.
import { createHash } from 'node:crypto';
import { addDays, dayOf } from '../../src/core/time.ts';
import { fill } from './data.ts';

const STAMP = '2026-01-01T00:00:00.000000Z';
const FOREVER = '2099-01-01T00:00:00.000000Z';
/**
 * User 1 has one business, with 100,000 ids and long changes. The others have 50 each: with 500 sites and a refused origin, without sites,
 * and with as many days, refused origins and days of refused uses as a page can read.
 */
export const [LISTS, SITES, DAYS, LARGE] = [1, 3, 4, 5] as const;
const ATTACKERS = [LISTS, SITES, DAYS, LARGE];
const BUSINESSES_EACH = 50;
/** The ids of the first businesses of the users with many. */
export const FIRST = { [SITES]: 3, [DAYS]: 3 + BUSINESSES_EACH, [LARGE]: 3 + 2 * BUSINESSES_EACH };
const ADDED_SITES = 100;

/** An owner has 11 keys and 10 sessions with all rights, and a key that can only record. */
export const [CREDENTIALS, RECORD_KEY] = [21, 21];
const KEYS = 11;
export const keyOf = (user: number, index: number): string => `bua_sk_0${`${user}k${index}`.padStart(33, '0')}`;
/** More keys of user 1, which are each used once. */
export const FRESH = Array.from({ length: 100 }, (_, index) => 1000 + index);

type Sent = { method: string; path: string; body?: object; accept?: string };
export type Attack = {
  name: string;
  user: number;
  /** The credentials that are used, by index. All if absent. */
  credentials?: number[];
  /** Calls a second. If absent, 40 are in flight. */
  rate?: number;
  /** True if ten sessions are used, and each is replaced before every ten calls. */
  renews?: true;
  /** The request of a caller's step. */
  request: (caller: number, step: number) => Sent;
};

let last = 0;
export const uses = (count: number): object => ({ uses: Array.from({ length: count }, () => ({ id: `u${++last}` })) });
const LONG = ['a', 'b', 'c'].map((letter) => letter.repeat(60)).join('.');
export const sites = (count: number): object => ({
  sites: Array.from({ length: count }, () => `https://${`s${++last}`.padEnd(50, 'x')}.${LONG}.example`),
});

const list = (): Sent => ({ method: 'POST', path: `/api/v1/business/usage/${LISTS}`, body: uses(1000) });
const page = (limit: number) => (): Sent => ({ method: 'GET', path: `/api/v1/business?limit=${limit}` });

const today = dayOf(new Date());
const report = (days: number): string =>
  `/api/v1/business/usage/${FIRST[LARGE]}?from=${addDays(today, -days)}&to=${addDays(today, -1)}`;
/** A label of the first business of this user. */
export const LABEL = '1'.padStart(64, '0');

/** Adds 100 long sites five times, and removes them. Each caller has a business. */
function addAndRemove(caller: number, step: number): Sent {
  const path = `/api/v1/business/${FIRST[DAYS] + caller}/access`;
  if (step % 6 === 5) return { method: 'DELETE', path };
  return { method: 'POST', path, body: sites(ADDED_SITES) };
}

/** The first three are floors: workerd is slowed down by requests that query no database, too, and single uses are never refused. */
export const ATTACKS: Attack[] = [
  { name: 'floor: requests without a credential', user: 0, request: page(50) },
  { name: 'floor: lists of 1,000 uses, unknown keys', user: 9, request: list },
  {
    name: 'floor: single uses',
    user: LISTS,
    request: () => ({ method: 'POST', path: `/api/v1/business/usage/${LISTS}` }),
  },
  { name: 'lists of 1,000 uses, 1 key, 4 a second', user: LISTS, credentials: [0], rate: 4, request: list },
  { name: 'lists of 1,000 uses', user: LISTS, request: list },
  { name: 'lists, and a new session before every ten', user: LISTS, renews: true, request: list },
  {
    name: 'pages of changes, searched',
    user: LISTS,
    request: () => ({ method: 'GET', path: `/api/v1/business/${LISTS}/changes?limit=100&search=zz` }),
  },
  { name: '50 businesses × 500 sites and a refused origin', user: SITES, request: page(50) },
  {
    name: 'reports of 92 days by 120 of 1,200 sources, as CSV',
    user: LARGE,
    request: () => ({ method: 'GET', path: `${report(92)}&by=source`, accept: 'text/csv' }),
  },
  {
    name: 'reports of 1,830 days, of one of 120 sources',
    user: LARGE,
    request: () => ({ method: 'GET', path: `${report(1830)}&source=${LABEL}` }),
  },
  { name: 'reports of 1,830 days', user: LARGE, request: () => ({ method: 'GET', path: report(1830) }) },
  { name: '50 businesses × 56 days, 100 a second', user: DAYS, rate: 100, request: page(50) },
  { name: 'five additions of 100 long sites, one removal', user: DAYS, request: addAndRemove },
  {
    name: 'additions of a site beyond 1,000',
    user: LARGE,
    request: () => ({ method: 'POST', path: `/api/v1/business/${FIRST[LARGE]}/access`, body: sites(1) }),
  },
  { name: 'lists of a `record` key, 4 a second', user: LISTS, credentials: [RECORD_KEY], rate: 4, request: list },
];

/** Creates and fills the tables. */
export async function crowd(db: D1Database): Promise<void> {
  await fill(db, { businesses: 2 + 3 * BUSINESSES_EACH, days: 56, sites: 1, uses: 100_000 });
  const numbers = (count: number) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const keys = ATTACKERS.flatMap((user) =>
    [...Array(CREDENTIALS + 1).keys(), ...(user === LISTS ? FRESH : [])].map((index) => ({
      user,
      hash: createHash('sha256').update(keyOf(user, index)).digest('hex'),
      role: index === RECORD_KEY ? 'record' : 'full',
      ends: index >= KEYS && index < CREDENTIALS ? FOREVER : null,
    })),
  );
  await db.batch([
    db.prepare(`update businesses set user_id = case when id < ${FIRST[DAYS]} then ${SITES} when id < ${FIRST[LARGE]} then ${DAYS} else ${LARGE} end
      where id >= ${FIRST[SITES]}`),
    db.prepare(`delete from sites where business_id >= ${FIRST[DAYS]}`),
    db.prepare(`insert or ignore into sites (business_id, site, created_at, updated_at) ${numbers(500)}
      select id, 'https://p' || i || '.example', '${STAMP}', '${STAMP}' from businesses, n where user_id = ${SITES}`),
    db.prepare(`insert into seen_origins
      select id, 'https://evil.example', 1, date('now'), date('now'), 0, '["https://evil.example"]' from businesses where user_id = ${SITES}`),
    db.prepare(`insert into seen_origins ${numbers(50)}
      select id, 'https://e' || i || '.example', 1, date('now'), date('now'), 0, '["https://e' || i || '.example"]' from businesses, n
      where user_id = ${LARGE}`),
    db.prepare(`insert into daily_usage (business_id, day, count) ${numbers(87)}
      select id, date('now', (1 - i) || ' days'), 100 from businesses, n where user_id = ${LARGE} and i > 56`),
    db.prepare(`insert into limit_refusals (business_id, day, count) ${numbers(31)}
      select id, date('now', (1 - i) || ' days'), 100 from businesses, n where user_id = ${LARGE}`),
    // As many sources as a report can name, each day with as many as it can have.
    db.prepare(`insert into sources (business_id, name, number) ${numbers(1200)}
      select ${FIRST[LARGE]}, iif(i <= 200, printf('%064d', i), printf('https://${LONG}.%d.example', i)), iif(i <= 200, i, 200 - i) from n`),
    db.prepare(`insert or replace into daily_usage ${numbers(1830)}
      select ${FIRST[LARGE]}, date('now', -i || ' days'), 1000000000, (select json_group_object(number, 1000000) from sources
        where business_id = ${FIRST[LARGE]} and iif(number > 0, (number - 1 + 80 * i) % 200 < 80, (-number - 1 + 40 * i) % 1000 < 40)) from n`),
    db.prepare(`insert into changes (subject, subject_id, id, at, actor, action, before, after) ${numbers(1000)}
      select 'business', ${LISTS}, i, '${STAMP}', 'key 1 (…0001)', 'rotate_token', null, json_object('token', hex(zeroblob(220))) from n`),
    db
      .prepare(`insert into api_keys (user_id, name, hash, last_four, role, created_at, created_by, ends_at)
        select value ->> 'user', 'key', value ->> 'hash', '0000', value ->> 'role', '${STAMP}', 'operator', value ->> 'ends'
        from json_each(?)`)
      .bind(JSON.stringify(keys)),
  ]);
}
