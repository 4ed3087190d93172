// Alerts and the list of alerts. An alert is stored when uses reach a threshold of a limit, either after a response or by a sweep.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_ALERT_AT,
  type Limits,
  type LimitUsage,
  type ReachedThreshold,
  thresholdOf,
  thresholdsReachedBy,
} from '../src/core/limits.ts';
import { addDays } from '../src/core/time.ts';
import { storeMissingAlerts, storeReachedAlerts, sweep } from '../src/db/alerts.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { alerts, businesses, dailyUsage, messages } from '../src/db/schema.ts';
import { granted } from './answers.ts';
import {
  type Business,
  call,
  homeOfId,
  homes,
  inBatches,
  monthAround,
  NOW,
  newBusiness,
  newKey,
  newSession,
  OPERATOR,
  STAMP,
  setCount,
  TODAY,
} from './support.ts';

type Set = Partial<Limits> & { billing_day?: number; limits_at?: string | null };

const LONG_AGO = '2020-01-01T00:00:00.000000Z';
const setLimits = ({ db, id }: Pick<Business, 'db' | 'id'>, limits: Set) =>
  db.update(businesses).set(limits).where(eq(businesses.id, id));

/** Creates a business with limits. `limits_at` defaults to a date long ago. */
async function limited(limits: Set, fields: Parameters<typeof newBusiness>[0] = {}) {
  const business = await newBusiness(fields);
  await setLimits(business, { limits_at: LONG_AGO, ...limits });
  return business;
}
/** Sets a day's count. */
const used = ({ db, id }: Business, day: string, count: number) =>
  db
    .insert(dailyUsage)
    .values({ business_id: id, day, count })
    .onConflictDoUpdate({ target: [dailyUsage.business_id, dailyUsage.day], set: { count } });

/** Returns a business's alerts in insertion order, without ids. */
async function alertsOf({ db, id }: Pick<Business, 'db' | 'id'>) {
  const rows = await db.select().from(alerts).where(eq(alerts.business_id, id)).orderBy(alerts.id);
  return rows.map(({ id: _, business_id: __, ...row }) => row);
}
/** Returns only the period, limit and threshold of each alert. */
const briefly = async (business: Business) =>
  (await alertsOf(business)).map(({ period, starts_on, limit, threshold }) => [period, starts_on, limit, threshold]);

/**
 * Stores a business's missing alerts, as a sweep does, and as a request with a list of uses does. `hour` is in the format 2026-03-15T12.
 */
const lookIn = ({ home, id }: Business, hour: string) => storeMissingAlerts(home.d1, id, new Date(`${hour}:00:00Z`));
const look = ({ home, id }: Business, at = NOW) => storeMissingAlerts(home.d1, id, at);

describe('the thresholds that uses reach', () => {
  const usage = (fields: Partial<LimitUsage>): LimitUsage => ({
    ...{ daily_limit: null, monthly_limit: null, overage: 0, alert_at: null, today: null },
    ...{ month: null, month_starts_on: null, month_ends_on: null },
    ...fields,
  });
  const thresholds = (daily_limit: number, before: number, after: number) =>
    thresholdsReachedBy(usage({ daily_limit, today: before }), after - before, TODAY).map(({ threshold }) => threshold);

  test.each<[number, number, number, number[]]>([
    [1000, 0, 799, []],
    [1000, 799, 800, [80]],
    [1000, 800, 801, []],
    [1000, 800, 999, []],
    [1000, 999, 1000, [100]],
    [1000, 1000, 1001, []],
    [1000, 799, 1000, [100]],
    [1000, 0, 2000, [100]],
    [6, 3, 4, []],
    [6, 4, 5, [80]],
    [5, 3, 4, [80]],
    [4, 2, 3, []],
    [4, 3, 4, [100]],
    [2, 0, 1, []],
    [1, 0, 1, [100]],
    [1, 1, 2, []],
    [0, 0, 1, []],
    [1e12, 8e11 - 2, 8e11 - 1, []],
    [1e12, 8e11 - 1, 8e11, [80]],
    [1e12, 1e12 - 1, 1e12, [100]],
  ])('with a limit of %i and uses rising from %i to %i are %j', (limit, before, after, expected) => {
    expect(thresholds(limit, before, after)).toEqual(expected);
  });

  test('are computed for each limit in its own period', () => {
    const month = { month_starts_on: '2026-02-20', month_ends_on: '2026-03-19' };
    const limits = { daily_limit: 10, monthly_limit: 100, ...month };
    const before = usage({ ...limits, today: 7, month: 79 });
    expect(thresholdsReachedBy(before, 3, TODAY)).toEqual([
      { period: 'month', limit: 100, threshold: 80, used: 82, starts_on: '2026-02-20', ends_on: '2026-03-19' },
      { period: 'day', limit: 10, threshold: 100, used: 10, starts_on: TODAY, ends_on: TODAY },
    ]);
    expect(thresholdsReachedBy(usage({ ...limits, today: 8, month: 82 }), 1, TODAY)).toEqual([]);
    expect(thresholdsReachedBy(usage({}), 1, TODAY)).toEqual([]);
  });
});

describe('the alert for a threshold that a request reached', () => {
  const reached: ReachedThreshold = {
    ...{ period: 'month', starts_on: '2026-03-01', ends_on: '2026-03-31' },
    ...{ limit: 100, threshold: 80, used: 81 },
  };
  const at = STAMP;

  test('is stored once, with the count from the first response', async () => {
    const business = await limited({ monthly_limit: 100 });
    const day: ReachedThreshold = {
      ...reached,
      ...{ period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 50, threshold: 100, used: 50 },
    };
    await storeReachedAlerts(business.home.d1, business.id, [reached, day], NOW);
    await storeReachedAlerts(
      business.home.d1,
      business.id,
      [{ ...reached, used: 82 }, day],
      new Date(NOW.getTime() + 1),
    );
    expect(await alertsOf(business)).toEqual([
      { ...reached, at },
      { ...day, at },
    ]);
  });

  test('is stored once per threshold, limit value and period', async () => {
    const business = await limited({ monthly_limit: 100 });
    const others: Partial<ReachedThreshold>[] = [{}, { threshold: 100 }, { limit: 101 }, { starts_on: '2026-04-01' }];
    for (let round = 0; round < 2; round++) {
      for (const other of others)
        await storeReachedAlerts(business.home.d1, business.id, [{ ...reached, ...other }], NOW);
    }
    expect(await alertsOf(business)).toEqual(others.map((other) => ({ ...reached, ...other, at })));
  });

  test('is stored once, even if a sweep stores it concurrently', async () => {
    const business = await limited({ monthly_limit: 100 });
    await used(business, TODAY, 81);
    const { d1 } = business.home;
    await Promise.all([
      look(business),
      storeReachedAlerts(d1, business.id, [reached], NOW),
      look(business),
      storeReachedAlerts(d1, business.id, [reached], NOW),
    ]);
    expect(await alertsOf(business)).toEqual([{ ...reached, at }]);
  });

  test('is not stored for a business that is deleted or was created by npm run verify', async () => {
    const checked = [9_000_000_000, 9_000_000_009].map((user_id) => limited({ monthly_limit: 100 }, { user_id }));
    const beside = [8_999_999_999, 9_000_000_010].map((user_id) => limited({ monthly_limit: 100 }, { user_id }));
    for (const { home, id } of await Promise.all(checked)) {
      await storeReachedAlerts(home.d1, id, [reached], NOW);
      expect(await alertsOf({ ...home, id })).toEqual([]);
    }
    for (const { home, id } of await Promise.all(beside)) {
      await storeReachedAlerts(home.d1, id, [reached], NOW);
      expect(await alertsOf({ ...home, id })).toHaveLength(1);
    }
    const [home] = homes;
    await storeReachedAlerts(home?.d1 as D1Database, 999_999_999, [reached], NOW);
    expect(await home?.db.$count(alerts, eq(alerts.business_id, 999_999_999))).toBe(0);
  });
});

describe('a sweep', () => {
  const HOUR = '2026-03-15T13';
  const at = '2026-03-15T13:00:00.000000Z';

  test('stores the missing alerts for each limit, with the total uses in the period', async () => {
    const business = await limited({ daily_limit: 50, monthly_limit: 100 });
    await used(business, '2026-02-28', 1000);
    await used(business, '2026-03-01', 40);
    await used(business, TODAY, 41);
    await lookIn(business, HOUR);
    const expected = [
      {
        ...{ period: 'day', starts_on: TODAY, ends_on: TODAY },
        ...{ limit: 50, threshold: 80, used: 41, at },
      },
      {
        ...{ period: 'month', starts_on: '2026-02-01', ends_on: '2026-02-28' },
        ...{ limit: 100, threshold: 100, used: 1000, at },
      },
      {
        ...{ period: 'month', starts_on: '2026-03-01', ends_on: '2026-03-31' },
        ...{ limit: 100, threshold: 80, used: 81, at },
      },
    ];
    const written = (await alertsOf(business)).sort((a, b) => `${a.starts_on}`.localeCompare(b.starts_on));
    expect(written).toHaveLength(3);
    expect(written).toEqual(expect.arrayContaining(expected));
  });

  test('stores each alert once, even if two sweeps run concurrently', async () => {
    const business = await limited({ daily_limit: 10 });
    await used(business, TODAY, 8);
    await Promise.all([lookIn(business, HOUR), lookIn(business, HOUR)]);
    await used(business, TODAY, 9);
    await lookIn(business, '2026-03-15T14');
    expect(await alertsOf(business)).toMatchObject([{ threshold: 80, used: 8, at }]);
  });

  test('stores an alert only for the highest threshold reached, and only if no higher one is stored', async () => {
    const business = await limited({ daily_limit: 10 });
    await used(business, TODAY, 10);
    await lookIn(business, HOUR);
    await used(business, TODAY, 8); // an import can lower a count
    await lookIn(business, HOUR);
    expect(await briefly(business)).toEqual([['day', TODAY, 10, 100]]);
    const gradual = await limited({ daily_limit: 10 });
    for (const count of [7, 8, 9, 10, 11]) {
      await used(gradual, TODAY, count);
      await lookIn(gradual, HOUR);
    }
    expect(await alertsOf(gradual)).toMatchObject([
      { threshold: 80, used: 8 },
      { threshold: 100, used: 10 },
    ]);
  });

  test('stores no alert if the limit is 0 or not set', async () => {
    const none = await limited({ daily_limit: 0, monthly_limit: 0 });
    const unlimited = await limited({});
    const one = await limited({ daily_limit: 1 });
    for (const business of [none, unlimited, one]) {
      await lookIn(business, HOUR);
      expect(await briefly(business)).toEqual([]);
      await used(business, TODAY, 1);
      await lookIn(business, HOUR);
    }
    expect(await Promise.all([none, unlimited, one].map(briefly))).toEqual([[], [], [['day', TODAY, 1, 100]]]);
  });

  test.each([
    ['a day', { daily_limit: 1 }, '2026-03-15', ['2026-03-16T00', '2026-03-16T23'], '2026-03-17T00'],
    ['a month', { monthly_limit: 1 }, '2026-03-01', ['2026-04-01T00', '2026-04-30T23'], '2026-05-01T00'],
    [
      'a month that starts on the 20th',
      { monthly_limit: 1, billing_day: 20 },
      '2026-02-20',
      ['2026-03-20T00', '2026-04-19T23'],
      '2026-04-20T00',
    ],
  ])(
    'finds a threshold reached in the last millisecond of %s, but only until the next period ends',
    async (_, limits, starts_on, found, tooLate) => {
      const [first] = found;
      const last = new Date(Date.parse(`${first}:00:00.000Z`) - 1);
      /** Records a use and deletes its alert, as if the Worker had stopped before storing it. */
      const lastUse = async (business: Business) => {
        expect((await call('POST', business.usage, { as: business.key, at: last })).status).toBe(200);
        await business.db.delete(alerts).where(eq(alerts.business_id, business.id));
      };
      for (const hour of found) {
        const business = await limited(limits);
        await lastUse(business);
        await lookIn(business, hour);
        expect(await briefly(business)).toEqual([['daily_limit' in limits ? 'day' : 'month', starts_on, 1, 100]]);
      }
      const missed = await limited(limits);
      await lastUse(missed);
      await lookIn(missed, tooLate);
      expect(await briefly(missed)).toEqual([]);
    },
  );

  test('finds thresholds that a list of past uses reached in the current and previous periods', async () => {
    const business = await limited({ daily_limit: 3, monthly_limit: 5 });
    const days = ['2026-03-15', '2026-03-14', '2026-03-13', '2026-03-01', '2026-02-28', '2026-02-09'];
    const uses = days.flatMap((day) => [1, 2, 3].map((number) => ({ id: `${day}-${number}`, at: `${day}T00:00:00Z` })));
    const { status } = await call('POST', business.usage, { as: OPERATOR.record, body: { uses } });
    expect(status).toBe(200);
    await lookIn(business, HOUR);
    expect((await briefly(business)).sort()).toEqual([
      ['day', '2026-03-14', 3, 100],
      ['day', '2026-03-15', 3, 100],
      ['month', '2026-02-01', 5, 100],
      ['month', '2026-03-01', 5, 100],
    ]);
  });

  test('finds thresholds that an import reached', async () => {
    const business = await limited({ daily_limit: 100, monthly_limit: 200 });
    const days = Object.entries({ '2026-02-27': 90, '2026-02-28': 85, '2026-03-13': 100, '2026-03-14': 90 });
    await call('PUT', `/api/v1/business/${business.id}/history`, {
      as: OPERATOR.full,
      body: { days: days.map(([date, count]) => ({ date, count })) },
    });
    await lookIn(business, HOUR);
    expect((await briefly(business)).sort()).toEqual([
      ['day', '2026-03-14', 100, 80],
      ['month', '2026-02-01', 200, 80],
      ['month', '2026-03-01', 200, 80],
    ]);
  });

  test.each([
    [null, []],
    ['2026-03-15T08:00:00.000000Z', []],
    ['2026-03-15T00:00:00.000000Z', []],
    ['2026-03-14T23:59:59.999000Z', ['2026-03-14']],
    ['2026-03-02T00:00:00.000000Z', ['2026-03-14']],
    ['2026-03-01T00:00:00.000000Z', ['2026-03-14']],
    ['2026-02-28T23:59:59.999000Z', ['2026-02-01', '2026-03-14']],
    ['2026-01-31T23:59:59.999000Z', ['2026-02-01', '2026-03-14']],
  ])('of a business whose limits_at is %s stores alerts for these ended periods: %j', async (limits_at, ended) => {
    const business = await limited({ daily_limit: 1, monthly_limit: 10, limits_at });
    for (const [day, count] of [['2026-02-28', 10] as const, ['2026-03-14', 5] as const, [TODAY, 5] as const])
      await used(business, day, count);
    await lookIn(business, HOUR);
    const days = (await briefly(business)).map(([, starts_on]) => starts_on);
    // The current day and month are always included.
    expect(days.sort()).toEqual([...ended, TODAY, '2026-03-01'].sort());
  });

  test('stores at most one alert for each value of a limit that is repeatedly raised and lowered', async () => {
    const business = await limited({ daily_limit: 10 });
    await used(business, TODAY, 10);
    for (const daily_limit of [10, 20, 10, 12, 20, 10, 5, 12]) {
      await setLimits(business, { daily_limit });
      await lookIn(business, HOUR);
    }
    expect(await briefly(business)).toEqual([
      ['day', TODAY, 10, 100],
      ['day', TODAY, 12, 80],
      ['day', TODAY, 5, 100],
    ]);
  });

  test('includes inactive businesses but not those created by npm run verify', async () => {
    const suspended = await limited({ daily_limit: 1 }, { status: 'suspended' });
    const checked = await limited({ daily_limit: 1 }, { user_id: 9_000_000_003 });
    for (const business of [suspended, checked]) {
      await used(business, TODAY, 1);
      await lookIn(business, HOUR);
    }
    expect(await Promise.all([suspended, checked].map(briefly))).toEqual([[['day', TODAY, 1, 100]], []]);
  });
});

describe('an alert for a month that ended before a change', () => {
  const LIMITS = { monthly_limit: 10, billing_day: 1 };
  const FOUND = [['month', '2026-02-01', 10, 100]];
  let user_id = 995_000;

  test.each<[string, object, unknown[]]>([
    ['is stored if the name changes', { name: 'Other' }, FOUND],
    ['is stored if the limits are set to the same values', LIMITS, FOUND],
    ['is not stored if the monthly limit changes', { monthly_limit: 9 }, []],
    ['is not stored if the daily limit changes', { daily_limit: 5 }, []],
    ['is stored if the billing day changes', { billing_day: 2 }, FOUND],
  ])('%s', async (_, change, found) => {
    const fields = {
      name: 'A',
      main_domain: 'a.example',
      site: 'https://a.example',
      country_id: 1,
      business_size: 's',
    };
    const body = { user_id: user_id++, ...fields, ...LIMITS };
    const at = new Date('2026-01-31T12:00:00Z');
    const { id } = (await call('POST', '/api/v1/business', { as: OPERATOR.full, body, at })).body.data;
    const { db, d1 } = homeOfId(id);
    await setCount(id, '2026-02-28', 10);
    expect((await call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: change })).status).toBe(200);
    await storeMissingAlerts(d1, id, NOW);
    const rows = await alertsOf({ db, id });
    expect(rows.map(({ period, starts_on, limit, threshold }) => [period, starts_on, limit, threshold])).toEqual(found);
  });
});

describe('a sweep stores the alerts that responses would have stored', () => {
  test('on the first and last days of a month', { tags: 'slow' }, async () => {
    const days = ['2027-12-31', '2028-01-01', '2028-01-28', '2028-02-01', '2028-02-28', '2028-02-29', '2028-03-01'];
    const cases = days.flatMap((today) =>
      Array.from({ length: 28 }, (_, index) => ({ today, billing_day: index + 1 })),
    );
    await inBatches(cases, async ({ today, billing_day }) => {
      const business = await limited({ monthly_limit: 3, billing_day });
      const current = monthAround(today, billing_day);
      const before = monthAround(addDays(current.starts_on, -1), billing_day);
      // Uses on the days before and after the two periods must not count.
      for (const [day, count] of [
        [addDays(before.starts_on, -1), 100],
        [before.starts_on, 1],
        [before.ends_on, 2],
        [current.starts_on, 3],
        [current.ends_on, 1],
        [addDays(current.ends_on, 1), 100],
      ] as const)
        await setCount(business.id, day, count);
      await look(business, new Date(`${today}T12:00:00Z`));
      const alert = { period: 'month', limit: 3, threshold: 100, at: `${today}T12:00:00.000000Z` };
      const written = (await alertsOf(business)).sort((a, b) => a.starts_on.localeCompare(b.starts_on));
      expect(written).toEqual([
        { ...alert, ...before, used: 3 },
        { ...alert, ...current, used: 4 },
      ]);
    });
  });

  test('for a count exactly at the threshold', async () => {
    const limits = [...Array.from({ length: 12 }, (_, index) => index), 999, 1001, 1e12 - 1, 1e12];
    const cases = limits.flatMap((limit) => {
      const first = Math.ceil(limit * 0.8);
      return [first - 1, first, limit - 1, limit, limit + 1].map((count) => ({ limit, count }));
    });
    await inBatches(
      cases.filter(({ count }) => count > 0),
      async ({ limit, count }) => {
        const business = await limited({ daily_limit: limit });
        await used(business, TODAY, count);
        await look(business);
        const threshold = thresholdOf(limit, count, DEFAULT_ALERT_AT);
        expect(await briefly(business)).toEqual(threshold === null ? [] : [['day', TODAY, limit, threshold]]);
      },
    );
  });
});

describe('the scheduled sweep', () => {
  /** Creates a copy of a business under each of these ids. Each copy has one use today. */
  async function copies({ home, id }: Business, ids: number[]) {
    const columns =
      'user_id, name, main_domain, site, country_id, business_size, status, created_at, updated_at, daily_limit, limits_at';
    await home.d1.batch([
      home.d1
        .prepare(
          `insert into businesses (id, token, ${columns}) select value, printf('token-%030d', value), ${columns}
          from json_each(?) cross join businesses where businesses.id = ?`,
        )
        .bind(JSON.stringify(ids), id),
      home.d1
        .prepare(`insert into daily_usage (business_id, day, count) select value, '${TODAY}', 1 from json_each(?)`)
        .bind(JSON.stringify(ids)),
    ]);
  }
  /** Runs a sweep at this minute of the hour in NOW. Returns the number of alerts stored for each slice. */
  async function turnsIn({ home }: Business, minute: number) {
    await home.db.delete(alerts);
    await sweep(home.db, new Date(NOW.getTime() + minute * 60_000));
    const turn = sql<number>`${alerts.business_id} % 60`;
    const rows = await home.db.select({ turn, count: sql<number>`count(*)` }).from(alerts).groupBy(turn);
    return Object.fromEntries(rows.map(({ turn, count }) => [turn, count]));
  }

  test('covers each limited business every 15 minutes, or hourly if its slice contains 100 businesses', async () => {
    for (const { db } of homes) await db.update(businesses).set({ daily_limit: null, monthly_limit: null });
    const business = await limited({ daily_limit: 1 });
    const base = Math.ceil((business.id + 1000) / 60) * 60;
    const ofTurn = (turn: number, count: number, start = 0) =>
      Array.from({ length: count }, (_, index) => base + turn + 60 * (start + index));
    await copies(business, [...ofTurn(3, 99), ...ofTurn(18, 2), ...ofTurn(33, 1), ...ofTurn(48, 1), ...ofTurn(4, 1)]);
    await setLimits(business, { daily_limit: null });
    const all = { 3: 99, 18: 2, 33: 1, 48: 1 };
    for (const minute of [3, 18, 33, 48]) expect(await turnsIn(business, minute)).toEqual(all);
    for (const minute of [4, 19, 34, 49]) expect(await turnsIn(business, minute)).toEqual({ 4: 1 });
    for (const minute of [0, 2, 5, 59]) expect(await turnsIn(business, minute)).toEqual({});
    await setLimits(business, { daily_limit: 1 });
    await copies(business, ofTurn(3, 1, 99));
    await setLimits(business, { daily_limit: null });
    expect(await turnsIn(business, 3)).toEqual({ 3: 100 });
    expect(await turnsIn(business, 18)).toEqual({ ...all, 3: 100 });
    for (const { db } of homes) await db.update(businesses).set({ daily_limit: null });
  });

  test('covers businesses used in the last two hours, and all businesses once a day', async () => {
    for (const { db } of homes) await db.update(businesses).set({ daily_limit: null, monthly_limit: null });
    const business = await limited({ daily_limit: 1, monthly_limit: 5, limits_at: '2026-01-01T00:00:00.000000Z' });
    const { id, home, db } = business;
    const fullHour = Math.floor(id / 60) % 24;
    /** Runs a sweep at this hour of March 15, in the minute of the business's slice. Returns the alerts that it stores. */
    const sweptIn = async (hour: number) => {
      await db.delete(alerts);
      await sweep(home.db, new Date(Date.UTC(2026, 2, 15, hour, id % 60)));
      return (await briefly(business)).map(([period, starts_on]) => `${period} ${starts_on}`).sort();
    };
    const other = (fullHour + 5) % 24;
    const lastly = new Date(Date.UTC(2026, 2, 15, other - 2, id % 60)).toISOString().replace('Z', '000Z');
    const count = (day: string, counted_at: string) =>
      db.insert(dailyUsage).values({ business_id: id, day, count: 5, counted_at });
    await count('2026-02-27', lastly);
    expect(await sweptIn(other)).toEqual([]);
    expect(await sweptIn(fullHour)).toEqual(['month 2026-02-01']);
    for (const [day, found] of [
      ['2026-03-14', ['day 2026-03-14', 'month 2026-03-01']],
      ['2026-03-15', ['day 2026-03-15', 'month 2026-03-01']],
    ] as const) {
      await count(day, lastly);
      expect(await sweptIn(other)).toEqual(found);
      expect(await sweptIn(fullHour)).toEqual([...found, 'month 2026-02-01'].sort());
      await db
        .update(dailyUsage)
        .set({ counted_at: new Date(Date.parse(lastly) - 1).toISOString().replace('Z', '000Z') });
      expect(await sweptIn(other)).toEqual([]);
      await db.delete(dailyUsage).where(and(eq(dailyUsage.business_id, id), eq(dailyUsage.day, day)));
    }
  });

  test('depends on counted_at, which each use updates, whether sent alone or in a list', async () => {
    const business = await limited({});
    const counted = () =>
      business.db
        .select({ day: dailyUsage.day, counted_at: dailyUsage.counted_at })
        .from(dailyUsage)
        .where(eq(dailyUsage.business_id, business.id))
        .orderBy(dailyUsage.day);
    for (const [minutes, body] of [
      [1, undefined],
      [2, { uses: [{ id: 'late', at: '2026-03-10T12:00:00Z' }] }],
      [3, undefined],
    ] as const)
      await call('POST', business.usage, { as: business.key, body, at: new Date(NOW.getTime() + minutes * 60_000) });
    expect(await counted()).toEqual([
      { day: '2026-03-10', counted_at: '2026-03-15T12:02:00.000000Z' },
      { day: TODAY, counted_at: '2026-03-15T12:03:00.000000Z' },
    ]);
  });

  test('writes no rows for businesses without a limit', async () => {
    const business = await newBusiness();
    const { db } = business.home;
    await db.update(businesses).set({ daily_limit: null, monthly_limit: null });
    await used(business, TODAY, 1000);
    await sweep(db, NOW); // the first insert into a table adds a row to sqlite_sequence
    const cost = noCost();
    for (let minute = 0; minute < 60; minute++)
      await sweep(drizzle(metered(business.home.d1, cost)), new Date(NOW.getTime() + minute * 60_000));
    // Only materialized CTEs, the periods, the slices and SQLite's sequence table are scanned in full.
    expect(cost).toMatchObject({ round_trips: 60, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(60 * 15);
  });
});

/** Returns the query plans and the cost of storing missing alerts. */
async function asked({ home }: Business, look: (d1: D1Database) => Promise<void>) {
  const plans: string[][] = [];
  const cost = noCost();
  const counting = metered(home.d1, cost);
  const recording = {
    prepare: (text: string) => ({
      bind(...values: unknown[]) {
        const plan = home.d1.prepare(`explain query plan ${text}`).bind(...values);
        const bound = counting.prepare(text).bind(...values);
        return {
          async run() {
            plans.push((await plan.all<{ detail: string }>()).results.map(({ detail }) => detail));
            return bound.run();
          },
        };
      },
    }),
  };
  await look(recording as unknown as D1Database);
  return { plans, cost };
}

test('a sweep runs one statement, uses indexes only, and reads the days of two months', async () => {
  for (const { db } of homes) await db.update(businesses).set({ daily_limit: null, monthly_limit: null });
  const [business, other] = [await limited({ daily_limit: 100, monthly_limit: 1000 }), await limited({})];
  for (const { id, home } of [business, other]) {
    const days = `insert into daily_usage (business_id, day, count) with recursive n(i) as (select 0 union all select i + 1 from n where i < 400)
      select ?, date('2026-03-31', '-' || i || ' days'), 1 from n`;
    await home.d1.prepare(days).bind(id).run();
  }
  await look(business, new Date('2026-01-01T12:00:00Z')); // the first insert into a table adds a row to sqlite_sequence
  const last = new Date('2026-03-31T12:00:00Z');
  const inTurn = new Date(last.getTime() + (business.id % 60) * 60_000);
  const searches = [
    'SEARCH daily_usage USING PRIMARY KEY (business_id=? AND day>? AND day<?)',
    'SEARCH alerts USING COVERING INDEX sqlite_autoindex_alerts_1 (business_id=? AND period=? AND starts_on=? AND limit=? AND threshold>?)',
  ];
  // Two lookups each for the current and the previous month.
  const change = 'SEARCH billing_changes USING PRIMARY KEY (business_id=? AND starts_on<?)';
  searches.push(change, change, change, change);
  const wasUsed = 'SEARCH daily_usage USING PRIMARY KEY (business_id=? AND day=?)';
  const one = await asked(business, (d1) => storeMissingAlerts(d1, business.id, last));
  const turn = await asked(business, (d1) => sweep(drizzle(d1) as never, inTurn));
  const byId = 'SEARCH businesses USING INTEGER PRIMARY KEY (rowid=?)';
  const byTurn = 'SEARCH businesses USING INDEX businesses_limited (<expr>=?)';
  for (const [{ plans, cost }, ...found] of [[one, byId] as const, [turn, byTurn, byTurn, wasUsed] as const]) {
    expect(plans).toHaveLength(1);
    const [plan = []] = plans;
    // Only materialized CTEs are scanned in full.
    const scans = plan.filter(
      (line) => line.startsWith('SCAN') && !/^SCAN (CONSTANT ROW|periods|swept|used|json_each|\()/.test(line),
    );
    expect(scans).toEqual([]);
    expect(plan.filter((line) => line.startsWith('SEARCH')).sort()).toEqual([...found, ...searches].sort());
    // The reads cover the 31 days of March and the 28 days of February, two single days, and a few other rows.
    expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(90);
  }
});

test('storing two alerts after a response reads at most 15 rows and writes 9, and a sweep that stores four reads at most 97 and writes 17', async () => {
  const business = await limited({ daily_limit: 1, monthly_limit: 1 });
  const days = `insert into daily_usage (business_id, day, count) with recursive n(i) as (select 0 union all select i + 1 from n where i < 400)
    select ?, date('2026-03-31', '-' || i || ' days'), 1 from n`;
  await business.home.d1.prepare(days).bind(business.id).run();
  const [written, found] = [noCost(), noCost()];
  const period = { starts_on: '2025-01-01', ends_on: '2025-01-01', limit: 1, threshold: 100, used: 1 } as const;
  const two: ReachedThreshold[] = [
    { period: 'month', ...period },
    { period: 'day', ...period },
  ];
  await storeReachedAlerts(metered(business.home.d1, written), business.id, two, NOW);
  expect(written).toMatchObject({ round_trips: 1, rows_written: 9 });
  expect(written.rows_read).toBeLessThanOrEqual(15);
  await storeMissingAlerts(metered(business.home.d1, found), business.id, new Date('2026-03-31T12:00:00Z'));
  expect(await alertsOf(business)).toHaveLength(6);
  expect(found).toMatchObject({ round_trips: 1, rows_written: 17 });
  expect(found.rows_read).toBeLessThanOrEqual(97);
});

test('deleting a business deletes its alerts and no others', async () => {
  const [business, other] = [await limited({ daily_limit: 1 }), await limited({ daily_limit: 1 })];
  for (const each of [business, other]) {
    await used(each, TODAY, 1);
    await look(each);
  }
  const path = `/api/v1/business/${business.id}?name=${encodeURIComponent(business.name)}`;
  expect((await call('DELETE', path, { as: OPERATOR.full })).status).toBe(200);
  expect(await Promise.all([business, other].map(briefly))).toEqual([[], [['day', TODAY, 1, 100]]]);
  await look(business);
  expect(await briefly(business)).toEqual([]);
});

describe('the list of alerts', () => {
  const list = async (business: Business, query = '', as = business.key) => {
    const { status, body, cost } = await call('GET', `/api/v1/business/${business.id}/alerts${query}`, { as });
    expect({ status, body }).toEqual(granted(expect.any(Object)));
    const { alerts, next } = body.data as { alerts: { id: number }[]; next: number | null };
    return { alerts, next, ids: alerts.map(({ id }) => id), cost };
  };
  /** Inserts unsent alerts for consecutive days from 2026-01-01. Returns their ids. */
  async function made({ db, id }: Business, count: number): Promise<number[]> {
    const rows = Array.from({ length: count }, (_, index) => {
      const day = addDays('2026-01-01', index);
      return {
        ...{ business_id: id, period: 'day' as const, starts_on: day, ends_on: day, limit: 10, threshold: 80 as const },
        ...{ used: 8, at: `${day}T12:00:00.000000Z` },
      };
    });
    const ids: number[] = [];
    for (const row of rows)
      ids.push(...(await db.insert(alerts).values(row).returning({ id: alerts.id })).map(({ id }) => id));
    return ids;
  }

  test('returns complete alerts, newest first, to sessions, the operator and keys that may read', async () => {
    const business = await limited({ daily_limit: 10, monthly_limit: 100, billing_day: 20 });
    await used(business, TODAY, 8);
    await look(business);
    await used(business, TODAY, 80);
    await look(business, new Date(NOW.getTime() + 60_000));
    const readers = [
      business.key,
      (await newKey(business, { role: 'read' })).key,
      (await newSession(business)).key,
      OPERATOR.full,
    ];
    for (const as of readers) {
      const { body, status } = await call('GET', `/api/v1/business/${business.id}/alerts`, { as });
      const [{ id: last }, { id: middle }, { id: first }] = body.data.alerts;
      expect([last > middle, middle > first]).toEqual([true, true]);
      const later = { at: '2026-03-15T12:01:00.000000Z', used: 80, sent_at: null };
      const month = { period: 'month', starts_on: '2026-02-20', ends_on: '2026-03-19', limit: 100, threshold: 80 };
      const day = { period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 10 };
      expect({ body, status }).toEqual(
        granted({
          alerts: expect.arrayContaining([
            { id: expect.any(Number), ...month, ...later },
            { id: expect.any(Number), ...day, threshold: 100, ...later },
            { id: first, ...day, threshold: 80, used: 8, at: STAMP, sent_at: null },
          ]),
          next: null,
        }),
      );
      expect(body.data.alerts).toHaveLength(3);
    }
  });

  test('contains no alerts of other businesses', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    await made(other, 2);
    expect(await list(business)).toMatchObject({ alerts: [], next: null });
    expect((await call('GET', `/api/v1/business/${other.id}/alerts`, { as: business.key })).status).toBe(401);
  });

  test('is paginated', async () => {
    const business = await newBusiness();
    const [a, b, c, d, e] = await made(business, 5);
    expect(await list(business, '?limit=2')).toMatchObject({ ids: [e, d], next: d });
    expect(await list(business, `?limit=2&before=${d}`)).toMatchObject({ ids: [c, b], next: b });
    expect(await list(business, `?limit=2&before=${b}`)).toMatchObject({ ids: [a], next: null });
    expect(await list(business, '?limit=5')).toMatchObject({ ids: [e, d, c, b, a], next: null });
    expect(await list(business, `?before=${a}`)).toMatchObject({ ids: [], next: null });
  });

  test('returns 20 alerts per page by default and at most 100, and reads at most 3n + 8 rows for n alerts', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    const ids = (await made(business, 150)).reverse();
    await made(other, 10);
    await sent(business, ids, STAMP);
    expect(await list(business)).toMatchObject({ ids: ids.slice(0, 20), next: ids[19] });
    expect(await list(business, '?limit=100')).toMatchObject({ ids: ids.slice(0, 100), next: ids[99] });
    for (const limit of [1, 20, 100]) {
      const { cost } = await list(business, `?limit=${limit}`);
      expect(cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(cost.rows_read).toBeLessThanOrEqual(3 * limit + 8);
    }
  });

  /** Stores one message for each id. Each message contains the alerts after the previous id, up to and including its own. */
  async function sent({ db }: Business, lastIds: number[], sent_at: string | null) {
    const rows = lastIds.map((last_id) => ({
      ...{ last_id, id: `msg_${last_id}`, body: null, sent_at },
      ...{ created_at: STAMP, leased_until: STAMP },
    }));
    for (let start = 0; start < rows.length; start += 10)
      await db.insert(messages).values(rows.slice(start, start + 10));
  }

  test('returns the time at which each alert was sent, or null if it was not sent', async () => {
    for (const { db } of homes) await db.delete(messages);
    const business = await newBusiness();
    const [, b = 0, c = 0, d = 0] = await made(business, 5);
    const times = async () =>
      (await list(business)).alerts.map((alert) => (alert as unknown as { sent_at: string | null }).sent_at);
    expect(await times()).toEqual([null, null, null, null, null]);
    await sent(business, [b], '2026-03-15T12:01:00.000000Z');
    const first = '2026-03-15T12:01:00.000000Z';
    expect(await times()).toEqual([null, null, null, first, first]);
    await sent(business, [c], null);
    await sent(business, [d], '2026-03-15T12:02:00.000000Z');
    expect(await times()).toEqual([null, '2026-03-15T12:02:00.000000Z', null, first, first]);
  });
});
