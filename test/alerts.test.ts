// The alerts of thresholds that are reached: what storing them costs, and how the lists of alerts show them (docs/api.md, "Alerts"). The
// simulator (test/sim) checks which are stored.
import { asc, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { alerts } from '../src/db/schema.ts';
import { purgeAll } from '../src/purge.ts';
import { answerOf, granted, invalid } from './answers.ts';
import {
  type Business,
  call,
  databases,
  type Home,
  homeOfId,
  homes,
  later,
  NOW,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  STAMP,
  setCount,
  TODAY,
  withBatch,
} from './support.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const record = ({ usage, key }: Business, body?: object, at = NOW) => call('POST', usage, { as: key, body, at });

test('an import into the first days of the longest billing month, 59 days, reaches the limit of that month', async () => {
  const business = await newLimitedBusiness({ monthly_limit: 10, billing_day: 1, has_billing_changes: 1 });
  const { id, home, key } = business;
  const month = `insert into billing_changes values (${id}, '2026-01-20', '2026-03-20', 20)`;
  await home.d1.prepare(month).run();
  const days = [{ date: '2026-01-20', count: 8 }];
  await call('PUT', `/api/v1/business/${id}/history`, {
    as: OPERATOR.full,
    body: { days },
    at: new Date('2026-03-19T12:00:00Z'),
  });
  const { body } = await call('GET', `/api/v1/business/${id}/alerts`, { as: key });
  const reached = { period: 'month', starts_on: '2026-01-20', ends_on: '2026-03-19', threshold: 80, used: 8 };
  expect(body.data.alerts).toMatchObject([reached]);
});

test.each([
  ['no limit', {}, 2],
  ['a daily limit', { daily_limit: 1e9 }, 6],
  ['a monthly limit', { monthly_limit: 1e9 }, 15 + 5],
  ['both', { daily_limit: 1e9, monthly_limit: 1e9 }, 15 + 6],
])('for a business with %s, looking for thresholds reads few rows on day 15 of a month', async (_, limits, rows) => {
  const business = await newLimitedBusiness(limits);
  for (let day = 1; day <= 15; day++) await setCount(business.id, `2026-03-${`${day}`.padStart(2, '0')}`, 1);
  await record(business); // the key's first use today costs more
  /** Omits a statement, counted from the end of the batch. */
  const counted = async (body: object | undefined, without: number) => {
    const cost = noCost();
    const bindings = databases((d1) => {
      const measured = metered(d1, cost);
      return withBatch(
        measured,
        (_, statements) => measured.batch(statements.filter((_, index) => index !== statements.length - without)),
        (sql) => measured.prepare(sql),
      );
    });
    expect((await call('POST', business.usage, { as: business.key, body, bindings })).status).toBe(200);
    return cost.rows_read;
  };
  expect((await counted(undefined, 0)) - (await counted(undefined, 1))).toBe(rows);
  const list = (id: string) => ({ uses: [{ id }] });
  await counted(list('first'), 0); // stores what the owner has spent
  expect((await counted(list('a'), 0)) - (await counted(list('b'), 2))).toBe(rows); // the last statement spends the list's price
});

test('a check of the businesses reports a threshold without an alert, and stores none', async () => {
  const business = await newLimitedBusiness({ daily_limit: 2, monthly_limit: 1000 });
  const turn = new Date('2026-03-15T12:16:00.000Z');
  const lines = async (scheduled: Date) => {
    const errors: { business_id?: number }[] = [];
    await purgeAll(databases(), { scheduled, log: { error: (line) => errors.push(line) }, cost: noCost() });
    return errors.filter(({ business_id }) => business_id === business.id);
  };
  await record(business, { quantity: 2 });
  expect(await lines(turn)).toEqual([]);
  await business.db.delete(alerts).where(eq(alerts.business_id, business.id));
  expect(await lines(new Date('2026-03-15T12:18:00.000Z'))).toEqual([]);
  const missing = { business_id: business.id, period: 'day', limit: 2, threshold: 100, used: 2 };
  const line = { operation: 'check_alerts', database: business.home.binding };
  expect(await lines(turn)).toEqual([{ ...line, ...missing, error: 'no alert was stored for this threshold' }]);
  expect(await business.db.$count(alerts, eq(alerts.business_id, business.id))).toBe(0);
});

describe('the list of alerts', () => {
  type Alert = { id: string; business_id: number; at: string; state: string };
  type Page = { alerts: Alert[]; next: string | null };
  const ALL = '/api/v1/alerts';
  const of = ({ id }: Business) => `/api/v1/business/${id}/alerts`;
  const get = async (path: string, query: Record<string, string | number> = {}, as = OPERATOR.full) => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, `${value}`]));
    const { status, body, cost } = await call('GET', `${path}?${text}`, { as });
    expect({ status, body }).toEqual(granted(expect.any(Object)));
    return { ...(body.data as Page), cost };
  };
  /** Reads all pages. */
  async function pages(path: string, query: Record<string, string | number>, as = OPERATOR.full) {
    const read: Alert[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await get(path, { ...query, ...(cursor && { cursor }) }, as);
      read.push(page.alerts);
      cursor = page.next;
      expect(read.length).toBeLessThan(100);
    }
    return read;
  }
  /** Stores alerts of these businesses in turn, three at a time with the same `at`. Returns them, newest first. */
  async function made(businesses: Business[], count: number) {
    const rows = Array.from({ length: count }, (_, index) => {
      const business_id = businesses[index % businesses.length]?.id ?? 0;
      const day = {
        period: 'day' as const,
        starts_on: TODAY,
        ends_on: TODAY,
        limit: index + 1,
        threshold: 80,
        used: 8,
      };
      const at = `2026-03-15T12:00:${`${Math.floor(index / 3)}`.padStart(2, '0')}.000000Z`;
      return { id: crypto.randomUUID() as string, business_id, ...day, at };
    });
    for (const row of rows) await homeOfId(row.business_id).db.insert(alerts).values(row);
    return rows.toSorted((a, b) => (a.at + a.id < b.at + b.id ? 1 : -1));
  }
  const idsOf = (alerts: { id: string }[]) => alerts.map(({ id }) => id);
  beforeEach(async () => {
    for (const { db } of homes) await db.delete(alerts);
  });

  test('shows complete alerts, newest first, with their states', async () => {
    const business = await newLimitedBusiness({ daily_limit: 10 });
    await record(business, { quantity: 8 });
    await record(business, { quantity: 1 });
    await record(business, { quantity: 1 }, later(1000));
    const [first] = await business.db.select().from(alerts).orderBy(asc(alerts.at));
    expect(first).toMatchObject({ due_at: STAMP, attempts: 0 });
    const shared = { business_id: business.id, period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 10 };
    const last = { threshold: 100, used: 10, at: '2026-03-15T12:00:01.000000Z', sent_at: null, state: 'open' };
    for (const [due_at, sent_at, state] of [
      [STAMP, null, 'open'],
      [null, STAMP, 'sent'],
      [null, null, 'given_up'],
    ] as const) {
      const isFirst = eq(alerts.id, `${first?.id}`);
      await business.db.update(alerts).set({ due_at, sent_at }).where(isFirst);
      const shown = [
        { id: expect.stringMatching(UUID), ...shared, ...last },
        { id: first?.id, ...shared, threshold: 80, used: 8, at: STAMP, sent_at, state },
      ];
      expect(await get(of(business), {}, business.key)).toMatchObject({ alerts: shown, next: null });
      expect((await pages(ALL, {})).flat()).toEqual(shown);
    }
  });

  test.each([1, 4])('has each alert once with %i per page, even if several have the same time', async (limit) => {
    const businesses = await Promise.all([...homes, ...homes].map(() => newBusiness()));
    const all = await made(businesses, 24);
    const read = await pages(ALL, { limit });
    const ofHome = ({ number }: Home) => all.filter(({ business_id }) => Math.floor(business_id / 1e9) === number);
    expect(idsOf(read.flat())).toEqual(idsOf(homes.flatMap(ofHome)));
    expect(read).toHaveLength(homes.length * Math.ceil(24 / homes.length / limit));
    const [one] = businesses as [Business];
    const own = (await pages(of(one), { limit }, one.key)).flat();
    expect(idsOf(own)).toEqual(idsOf(all.filter(({ business_id }) => business_id === one.id)));
  });

  test('begins with the alerts stored at or after `since`', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    const ids = idsOf(await made([business, other], 6));
    const listed = async (since: string) => idsOf((await pages(ALL, { limit: 1, since })).flat()).toSorted();
    expect(await listed('2026-03-15T12:00:00Z')).toEqual(ids.toSorted());
    expect(await listed('2026-03-15T13:00:01.0+01:00')).toEqual(ids.slice(0, 3).toSorted());
    expect(await listed('2026-03-15T12:00:01.001Z')).toEqual([]);
    expect(await listed('9999-12-31T23:59:59-01:00')).toEqual([]);
  });

  test('continues past a gap in the database numbers', async () => {
    const [, { d1 }] = homes as [Home, Home]; // No owner's home is DB_3.
    const bindings = { DB: d1, DB_1: undefined, DB_2: undefined, DB_3: d1 };
    const { body } = await call('GET', ALL, { as: OPERATOR.full, bindings });
    expect(body).toEqual({ status: true, data: { alerts: [], next: '3' } });
  });

  test('rejects an invalid cursor, and that of a business the cursor of another database', async () => {
    const message = 'cursor must be the value of next from the previous page, and must appear only once';
    const position = `${STAMP}${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
    const wrong = [
      '',
      '-',
      '1-',
      '00',
      '017',
      'z',
      `z${position}`,
      `0${position}0`,
      `0${position.slice(1)}`,
      `é${position}`,
    ];
    for (const cursor of [...wrong, '0&cursor=0'])
      expect(answerOf(await call('GET', `${ALL}?cursor=${cursor}`, { as: OPERATOR.full }))).toEqual(
        invalid('cursor', message),
      );
    const business = await newBusiness();
    const other = (business.home.number + 1) % homes.length;
    expect((await call('GET', `${of(business)}?cursor=${other}`, { as: business.key })).status).toBe(422);
    expect((await get(of(business), { cursor: business.home.number }, business.key)).alerts).toEqual([]);
  });

  test('reads a row for each alert of a page, or two for each alert of a business', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    await made([business], 120);
    for (const limit of [1, 20, 100]) {
      const { cost } = await get(ALL, { limit, cursor: business.home.number });
      expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(cost.rows_read).toBeLessThanOrEqual(limit + 3); // DB also reads which databases have owners
      expect((await get(of(business), { limit })).cost).toMatchObject({ round_trips: 1, rows_read: 241 });
    }
  });
});
