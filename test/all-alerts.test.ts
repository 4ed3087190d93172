// GET /api/v1/alerts: the alerts of all businesses in all databases.
import { beforeEach, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { alerts, messages } from '../src/db/schema.ts';
import { granted, invalid } from './answers.ts';
import { type Business, call, failingWith, type Home, homes, newBusiness, OPERATOR } from './support.ts';

type Listed = { id: number; business_id: number; state: string; sent_at: string | null };
const PATH = '/api/v1/alerts';
const SENT_AT = '2026-03-15T12:01:00.000000Z';

/** Inserts alerts for consecutive days, assigned to these businesses round-robin. Returns their ids. */
async function made(businesses: Business[], count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index++) {
    const { id, db } = businesses[index % businesses.length] as Business;
    const day = addDays('2026-01-01', index);
    const row = {
      ...{ business_id: id, period: 'day' as const, starts_on: day, ends_on: day, limit: 10, threshold: 80 as const },
      ...{ used: 8, at: `${day}T12:00:00.000000Z` },
    };
    ids.push(...(await db.insert(alerts).values(row).returning({ id: alerts.id })).map(({ id }) => id));
  }
  return ids;
}
const messageOf = (last_id: number, fields: { body: string | null; sent_at: string | null }) => ({
  ...{ last_id, id: `msg_${last_id}`, created_at: SENT_AT, leased_until: SENT_AT, ...fields },
});
const list = async (query = '') => {
  const { status, body, cost } = await call('GET', PATH + query, { as: OPERATOR.full });
  expect({ status, body }).toEqual(granted(expect.any(Object)));
  return { ...(body.data as { alerts: Listed[]; next: string | null }), cost };
};
/** Reads all pages. */
async function all(limit: number) {
  const pages: Listed[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { alerts, next, cost } = await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    expect(cost.round_trips).toBe(1);
    pages.push(alerts);
    cursor = next;
    expect(pages.length).toBeLessThan(100);
  }
  return pages;
}
/** Creates two businesses in each database. */
const spread = () => Promise.all([...homes, ...homes].map(() => newBusiness()));

beforeEach(async () => {
  for (const { db } of homes) await db.batch([db.delete(alerts), db.delete(messages)]);
});

test('the list of all alerts contains complete alerts with their business and state', async () => {
  const business = await newBusiness();
  const [id = 0] = await made([business], 1);
  const alert = {
    ...{ id, period: 'day', starts_on: '2026-01-01', ends_on: '2026-01-01', limit: 10, threshold: 80, used: 8 },
    ...{ at: '2026-01-01T12:00:00.000000Z', business_id: business.id },
  };
  const listed = async () => (await all(100)).flat();
  expect(await listed()).toEqual([{ ...alert, sent_at: null, state: 'open' }]);
  const states = [
    [{ body: '{}', sent_at: null }, 'open'],
    [{ body: null, sent_at: SENT_AT }, 'sent'],
    [{ body: null, sent_at: null }, 'given_up'],
  ] as const;
  for (const [fields, state] of states) {
    await business.db.delete(messages);
    await business.db.insert(messages).values(messageOf(id + 5, fields)); // the message also contains later alerts
    expect(await listed()).toEqual([{ ...alert, sent_at: fields.sent_at, state }]);
  }
  await business.db.delete(messages);
  await business.db.insert(messages).values(messageOf(id - 1, { body: null, sent_at: SENT_AT }));
  expect(await listed()).toEqual([{ ...alert, sent_at: null, state: 'open' }]);
});

test.each([1, 3, 4, 100])(
  'the list of all alerts contains each alert once, newest first in each database, with %i per page',
  async (limit) => {
    const businesses = await spread();
    await made(businesses, 24);
    const pages = await all(limit);
    for (const page of pages)
      expect(new Set(page.map(({ business_id }) => Math.floor(business_id / 1e9))).size).toBeLessThan(2);
    const rows = await Promise.all(homes.map(({ db }) => db.select().from(alerts)));
    const expected = rows.flatMap((rows) => rows.toSorted((a, b) => b.id - a.id));
    expect(pages.flat().map(({ id, business_id }) => [id, business_id])).toEqual(
      expected.map(({ id, business_id }) => [id, business_id]),
    );
    const perDatabase = 24 / homes.length;
    expect(pages).toHaveLength(homes.length * Math.ceil(perDatabase / limit));
  },
);

test('the list of all alerts continues past databases without alerts', async () => {
  const pages = await all(20);
  expect(pages).toEqual(homes.map(() => []));
  const last = (await spread()).filter(({ home }) => home === homes.at(-1));
  const ids = await made(last, 2);
  expect((await all(20)).map((page) => page.map(({ id }) => id))).toEqual([
    ...homes.slice(1).map(() => []),
    ids.toReversed(),
  ]);
});

test('the list of all alerts continues past a gap in the database numbers', async () => {
  const [, { d1 }] = homes as [Home, Home]; // No owner's home is DB_3.
  const bindings = { DB: d1, DB_1: undefined, DB_2: undefined, DB_3: d1 };
  const { body } = await call('GET', PATH, { as: OPERATOR.full, bindings });
  expect(body).toEqual({ status: true, data: { alerts: [], next: '3' } });
});

test.each([
  '',
  '-',
  '1-',
  'x1',
  '00',
  '01x',
  '0-1',
  '01.5',
  '0 1',
  ' 0',
  '09007199254740993',
  'z',
  'z17',
  '017&cursor=017',
  'é',
])('the list of all alerts rejects an invalid cursor: %s', async (cursor) => {
  const { status, body } = await call('GET', `${PATH}?cursor=${cursor}`, { as: OPERATOR.full });
  const message = 'cursor must be the value of next from the previous page, and must appear only once';
  expect({ status, body }).toEqual(invalid('cursor', message));
});

test('the list of all alerts reads at most 4n + 8 rows for n alerts, using indexes only', {
  tags: 'slow',
}, async () => {
  const business = await newBusiness();
  const ids = await made([business], 150);
  for (const id of ids) await business.db.insert(messages).values(messageOf(id, { body: null, sent_at: SENT_AT }));
  const start = '0123'[business.home.number];
  for (const limit of [1, 20, 100]) {
    const { alerts, cost } = await list(`?limit=${limit}&cursor=${start}`);
    expect(alerts).toHaveLength(limit);
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(4 * limit + 8);
  }
});

test.each(homes)(
  'while $binding fails, a request for its page of alerts gets 503, and the pages of other databases are still returned',
  async (home) => {
    const businesses = await spread();
    await made(businesses, 12);
    const bindings = failingWith('D1_ERROR: D1 DB is overloaded.', 'before', home);
    for (const { number } of homes) {
      const { status, headers } = await call('GET', `${PATH}?cursor=${number}`, { as: OPERATOR.full, bindings });
      const expected = number === home.number ? { status: 503, retry: '10' } : { status: 200, retry: null };
      expect({ number, status, retry: headers.get('Retry-After') }).toEqual({ number, ...expected });
    }
  },
);
