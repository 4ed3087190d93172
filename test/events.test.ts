// Alerts: the transaction that reaches a threshold of a limit stores an event, and the lists of alerts show it (docs/api.md, "Alerts").
import { asc, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { events } from '../src/db/schema.ts';
import { purgeAll } from '../src/purge.ts';
import { answerOf, granted, invalid } from './answers.ts';
import { NEW_BUSINESS } from './routes.ts';
import {
  type Business,
  call,
  databases,
  type Home,
  homes,
  NOW,
  newBusiness,
  newKey,
  newLimitedBusiness,
  newSession,
  OPERATOR,
  STAMP,
  setCount,
  TODAY,
  withBatch,
} from './support.ts';

type Fields = {
  daily_limit?: number | null;
  monthly_limit?: number | null;
  alert_at?: unknown;
  overage?: number | null;
};
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const change = ({ id }: Pick<Business, 'id'>, fields: object, at = NOW) =>
  call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: fields, at });
const record = ({ usage, key }: Business, body?: object, at = NOW) => call('POST', usage, { as: key, body, at });
const list = (business: Business, days: Record<string, number>, at = NOW, as = OPERATOR.full) => {
  const uses = Object.entries(days).map(([day, quantity]) => ({ id: crypto.randomUUID(), at: day, quantity }));
  return call('POST', business.usage, { as, body: { uses }, at });
};
/** The period, first day, limit, threshold and uses of each of a business's events, by period and limit. */
async function stored({ db, id }: Pick<Business, 'db' | 'id'>) {
  const { period, starts_on, limit, threshold } = events;
  const rows = await db
    .select()
    .from(events)
    .where(eq(events.business_id, id))
    .orderBy(asc(period), asc(starts_on), asc(limit), asc(threshold));
  return rows.map(({ period, starts_on, limit, threshold, used }) => [period, starts_on, limit, threshold, used]);
}
const limitsOf = async ({ id }: Pick<Business, 'id'>) =>
  (await call('GET', `/api/v1/business/${id}`, { as: OPERATOR.full })).body.data.limits;

describe('alert_at', () => {
  const LIST_RULE = 'must be a list of 1 to 5 percentages in ascending order, such as [50,80,100]';
  const PERCENT_RULE = 'must be a whole percentage from 1 to 1000, such as 80';
  let user_id = 996_000;
  const create = (fields: Fields) =>
    call('POST', '/api/v1/business', { as: OPERATOR.full, body: { ...NEW_BUSINESS, user_id: user_id++, ...fields } });

  test.each<[string, unknown, string, string]>([
    ['an empty list', [], 'alert_at', LIST_RULE],
    ['six percentages', [1, 2, 3, 4, 5, 6], 'alert_at', LIST_RULE],
    ['a list that descends at its end', [50, 80, 79], 'alert_at', LIST_RULE],
    ['duplicates', [80, 80], 'alert_at', LIST_RULE],
    ['null', null, 'alert_at', LIST_RULE],
    ['an object', { 0: 80 }, 'alert_at', LIST_RULE],
    ['0', [0], 'alert_at.0', PERCENT_RULE],
    ['1001', [100, 1001], 'alert_at.1', PERCENT_RULE],
    ['a fraction', [1.5], 'alert_at.0', PERCENT_RULE],
    ['a string in a list', [50, '80'], 'alert_at.1', PERCENT_RULE],
  ])('cannot be %s, and a refusal changes nothing', async (_, alert_at, field, rule) => {
    const business = await newLimitedBusiness({ daily_limit: 10, alert_at: '[7]' });
    const refused = invalid(field, `${field} ${rule}`);
    expect(answerOf(await change(business, { alert_at, daily_limit: 5 }))).toEqual(refused);
    expect(answerOf(await create({ alert_at }))).toEqual(refused);
    expect(await limitsOf(business)).toMatchObject({ daily: 10, alert_at: [7] });
  });
});

describe('an event is stored by the request that reaches a threshold:', () => {
  test('its row is complete, and it is due at once', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 5, billing_day: 20 });
    expect((await record(business, { quantity: 4 })).status).toBe(200);
    const [row] = await business.db.select().from(events).where(eq(events.business_id, business.id));
    expect(row).toEqual({
      ...{ id: expect.stringMatching(UUID), business_id: business.id, period: 'month', starts_on: '2026-02-20' },
      ...{
        ends_on: '2026-03-19',
        limit: 5,
        threshold: 80,
        used: 4,
        at: STAMP,
        due_at: STAMP,
        attempts: 0,
        sent_at: null,
      },
    });
  });

  test.each<[number, number, number | null]>([
    [1000, 799, null],
    [1000, 800, 80],
    [1000, 999, 80],
    [1000, 1000, 100],
    [6, 4, null],
    [6, 5, 80],
    [1, 1, 100],
    [4, 3, null],
    [1e12, 8e11 - 1, null],
    [1e12, 8e11, 80],
    [Number.MAX_SAFE_INTEGER, 7_205_759_403_792_792, null],
    [Number.MAX_SAFE_INTEGER, 7_205_759_403_792_793, 80],
  ])('of a limit of %i, %i uses reach the threshold %j', async (daily_limit, count, threshold) => {
    const business = await newLimitedBusiness({ daily_limit });
    if (count > 1) await setCount(business.id, TODAY, count - 1);
    await record(business);
    expect(await stored(business)).toEqual(threshold === null ? [] : [['day', TODAY, daily_limit, threshold, count]]);
  });

  test.each<[string, Fields]>([
    ['no limit', {}],
    ['a limit of 0', { daily_limit: 0, monthly_limit: 0, overage: null }],
  ])('none with %s', async (_, limits) => {
    const business = await newLimitedBusiness(limits as object);
    for (const body of [undefined, { quantity: 3 }]) await call('POST', business.usage, { as: business.key, body });
    await list(business, { [STAMP]: 5 });
    await change(business, { alert_at: [1] });
    expect(await stored(business)).toEqual([]);
  });

  test.each<[string, Fields, number]>([
    ['no limit', {}, 2],
    ['a daily limit', { daily_limit: 1e9 }, 6],
    ['a monthly limit', { monthly_limit: 1e9 }, 15 + 5],
    ['both', { daily_limit: 1e9, monthly_limit: 1e9 }, 15 + 6],
  ])('and for a business with %s, that statement reads few rows on day 15 of a month', async (_, limits, rows) => {
    const business = await newLimitedBusiness(limits as object);
    for (let day = 1; day <= 15; day++) await setCount(business.id, `2026-03-${`${day}`.padStart(2, '0')}`, 1);
    await record(business); // the key's first use today costs more
    const counted = async (body: object | undefined, without: number) => {
      const cost = noCost();
      const bindings = databases((d1) => {
        const measured = metered(d1, cost);
        return withBatch(
          measured,
          (_, statements) => measured.batch(statements.slice(0, statements.length - without)),
          (sql) => measured.prepare(sql),
        );
      });
      expect((await call('POST', business.usage, { as: business.key, body, bindings })).status).toBe(200);
      return cost.rows_read;
    };
    expect((await counted(undefined, 0)) - (await counted(undefined, 1))).toBe(rows);
    const list = (id: string) => ({ uses: [{ id }] });
    expect((await counted(list('a'), 0)) - (await counted(list('b'), 1))).toBe(rows);
  });
});

test('a check of the businesses reports a threshold without an event, and stores none', async () => {
  const business = await newLimitedBusiness({ daily_limit: 2, monthly_limit: 1000 });
  const turn = new Date('2026-03-15T12:16:00.000Z');
  const lines = async (scheduled: Date) => {
    const errors: { business_id?: number }[] = [];
    await purgeAll(databases(), { scheduled, log: { error: (line) => errors.push(line) }, cost: noCost() });
    return errors.filter(({ business_id }) => business_id === business.id);
  };
  await record(business, { quantity: 2 });
  expect(await lines(turn)).toEqual([]);
  await business.db.delete(events).where(eq(events.business_id, business.id));
  expect(await lines(new Date('2026-03-15T12:18:00.000Z'))).toEqual([]);
  const missing = { business_id: business.id, period: 'day', limit: 2, threshold: 100, used: 2 };
  const line = { operation: 'check_alerts', database: business.home.binding };
  expect(await lines(turn)).toEqual([{ ...line, ...missing, error: 'no alert was stored for this threshold' }]);
  expect(await stored(business)).toEqual([]);
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
  /** Stores events of these businesses in turn, three at a time with the same `at`. Returns their ids, newest first. */
  async function made(businesses: Business[], count: number): Promise<string[]> {
    const rows = Array.from({ length: count }, (_, index) => {
      const { id: business_id, db } = businesses[index % businesses.length] as Business;
      const second = `${Math.floor(index / 3)}`.padStart(2, '0');
      const period = {
        period: 'day' as const,
        starts_on: TODAY,
        ends_on: TODAY,
        limit: index + 1,
        threshold: 80,
        used: 8,
      };
      return { db, row: { id: crypto.randomUUID(), business_id, ...period, at: `2026-03-15T12:00:${second}.000000Z` } };
    });
    for (const { db, row } of rows) await db.insert(events).values(row);
    const order = ({ at, id }: { at: string; id: string }) => at + id;
    return rows
      .map(({ row }) => row)
      .toSorted((a, b) => (order(a) < order(b) ? 1 : -1))
      .map(({ id }) => id);
  }
  beforeEach(async () => {
    for (const { db } of homes) await db.delete(events);
  });

  test('shows complete alerts, newest first, with their states', async () => {
    const business = await newLimitedBusiness({ daily_limit: 10 });
    await record(business, { quantity: 8 });
    await record(business, { quantity: 1 });
    await record(business, { quantity: 1 }, new Date(NOW.getTime() + 1000));
    const [first] = await business.db.select({ id: events.id }).from(events).orderBy(asc(events.at));
    const shared = { business_id: business.id, period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 10 };
    const alert = { id: first?.id, ...shared, threshold: 80, used: 8, at: STAMP };
    const last = {
      ...shared,
      threshold: 100,
      used: 10,
      at: '2026-03-15T12:00:01.000000Z',
      sent_at: null,
      state: 'open',
    };
    const { key: reader } = await newKey(business, { role: 'read' });
    const { key: session } = await newSession(business);
    for (const [due_at, sent_at, state] of [
      [STAMP, null, 'open'],
      [null, STAMP, 'sent'],
      [null, null, 'given_up'],
    ] as const) {
      await business.db
        .update(events)
        .set({ due_at, sent_at })
        .where(eq(events.id, `${first?.id}`));
      const alerts = [
        { id: expect.stringMatching(UUID), ...last },
        { ...alert, sent_at, state },
      ];
      for (const as of [business.key, reader, session, OPERATOR.full])
        expect(await get(of(business), {}, as)).toMatchObject({ alerts, next: null });
      expect((await pages(ALL, {})).flat()).toEqual(alerts);
    }
    const other = await newBusiness();
    expect((await get(of(other))).alerts).toEqual([]);
    expect((await call('GET', of(other), { as: business.key })).status).toBe(401);
  });

  test.each([1, 2, 4, 100])(
    'has each alert once with %i per page, even if several have the same time',
    async (limit) => {
      const businesses = await Promise.all([...homes, ...homes].map(() => newBusiness()));
      const ids = await made(businesses, 24);
      const perDatabase = homes.map(({ number }) => number);
      const read = await pages(ALL, { limit });
      const numberOf = ({ business_id }: Alert) => Math.floor(business_id / 1e9);
      const byDatabase = perDatabase.map((number) =>
        read
          .flat()
          .filter((alert) => numberOf(alert) === number)
          .map(({ id }) => id),
      );
      expect(read.flat().map(({ id }) => id)).toEqual(byDatabase.flat());
      for (const listed of byDatabase) expect(listed).toEqual(ids.filter((id) => listed.includes(id)));
      expect(read.flat()).toHaveLength(24);
      expect(read).toHaveLength(homes.length * Math.ceil(24 / homes.length / limit));
      const [one] = businesses as [Business];
      const own = (await pages(of(one), { limit }, one.key)).flat();
      expect(own.map(({ id }) => id)).toEqual(ids.filter((id) => own.some((alert) => alert.id === id)));
      expect(own).toHaveLength(4);
    },
  );

  test('begins with the alerts stored at or after `since`', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    const ids = await made([business, other], 6);
    const listed = async (since: string) =>
      (await pages(ALL, { limit: 1, since }))
        .flat()
        .map(({ id }) => id)
        .toSorted();
    expect(await listed('2026-03-15T12:00:00Z')).toEqual(ids.toSorted());
    expect(await listed('2026-03-15T13:00:01.0+01:00')).toEqual(ids.slice(0, 3).toSorted());
    expect(await listed('2026-03-15T12:00:01.001Z')).toEqual([]);
    expect(await listed('9999-12-31T23:59:59-01:00')).toEqual([]);
    const { status, body } = await call('GET', `${of(business)}?since=2026-03-15`, { as: business.key });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { errors: { since: [expect.stringContaining('since must be an RFC 3339 timestamp')] } },
    });
  });

  test('continues past a gap in the database numbers', async () => {
    const [, { d1 }] = homes as [Home, Home]; // No owner's home is DB_3.
    const bindings = { DB: d1, DB_1: undefined, DB_2: undefined, DB_3: d1 };
    const { body } = await call('GET', ALL, { as: OPERATOR.full, bindings });
    expect(body).toEqual({ status: true, data: { alerts: [], next: '3' } });
  });

  const POSITION = `2026-03-15T12:00:00.000000Z${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
  test.each([
    '',
    '-',
    '1-',
    '00',
    '017',
    'z',
    `z${POSITION}`,
    `0${POSITION}0`,
    `0${POSITION.slice(1)}`,
    `é${POSITION}`,
    `0&cursor=0`,
  ])('rejects an invalid cursor: %s', async (cursor) => {
    const { status, body } = await call('GET', `${ALL}?cursor=${cursor}`, { as: OPERATOR.full });
    const message = 'cursor must be the value of next from the previous page, and must appear only once';
    expect({ status, body }).toEqual(invalid('cursor', message));
  });
  test('of a business rejects the cursor of another database', async () => {
    const business = await newBusiness();
    const cursor = (business.home.number + 1) % homes.length;
    expect((await call('GET', `${of(business)}?cursor=${cursor}`, { as: business.key })).status).toBe(422);
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
