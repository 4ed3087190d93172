// alert_at: the percentages of a business's limits that trigger alerts (docs/api.md, "Limits" and "Alerts").
import { asc, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_ALERT_AT, MAX_COUNT, thresholdOf } from '../src/core/limits.ts';
import { storeMissingAlerts, sweep } from '../src/db/alerts.ts';
import { leaseNextMessage } from '../src/db/messages.ts';
import { alerts, businesses, dailyUsage, messages } from '../src/db/schema.ts';
import { answerOf, invalid } from './answers.ts';
import { NEW_BUSINESS } from './routes.ts';
import { type Business, call, NOW, newBusiness, OPERATOR, STAMP, TODAY } from './support.ts';

type Fields = {
  daily_limit?: number | null;
  monthly_limit?: number | null;
  alert_at?: unknown;
  overage?: number | null;
};

const change = ({ id }: Pick<Business, 'id'>, fields: object) =>
  call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: fields });
async function limited(fields: Fields) {
  const business = await newBusiness();
  expect((await change(business, fields)).status).toBe(200);
  return business;
}
let user_id = 996_000;
const create = (fields: Fields) =>
  call('POST', '/api/v1/business', {
    as: OPERATOR.full,
    body: { ...NEW_BUSINESS, user_id: user_id++, ...fields },
  });
const limitsOf = async ({ id }: Pick<Business, 'id'>) =>
  (await call('GET', `/api/v1/business/${id}`, { as: OPERATOR.full })).body.data.limits;
const record = (business: Business, body?: object) => call('POST', business.usage, { as: business.key, body });
/** Sets a daily count. */
const used = ({ db, id }: Business, day: string, count: number) =>
  db
    .insert(dailyUsage)
    .values({ business_id: id, day, count })
    .onConflictDoUpdate({ target: [dailyUsage.business_id, dailyUsage.day], set: { count } });
const written = async ({ db, id }: Business) => {
  const rows = await db.select().from(alerts).where(eq(alerts.business_id, id)).orderBy(asc(alerts.id));
  return rows.map(({ limit, threshold, used }) => [limit, threshold, used]);
};

describe('alert_at', () => {
  const LIST_RULE = 'must be a list of 1 to 5 percentages in ascending order, such as [50,80,100]';
  const PERCENT_RULE = 'must be a whole percentage from 1 to 1000, such as 80';

  test.each<[string, unknown, string, string]>([
    ['an empty list', [], 'alert_at', LIST_RULE],
    ['six percentages', [1, 2, 3, 4, 5, 6], 'alert_at', LIST_RULE],
    ['a descending list', [100, 80], 'alert_at', LIST_RULE],
    ['a list that descends at its end', [50, 80, 79], 'alert_at', LIST_RULE],
    ['duplicates', [80, 80], 'alert_at', LIST_RULE],
    ['null', null, 'alert_at', LIST_RULE],
    ['a number', 80, 'alert_at', LIST_RULE],
    ['a string', '80', 'alert_at', LIST_RULE],
    ['an object', { 0: 80 }, 'alert_at', LIST_RULE],
    ['0', [0], 'alert_at.0', PERCENT_RULE],
    ['a negative number', [-1, 80], 'alert_at.0', PERCENT_RULE],
    ['1001', [100, 1001], 'alert_at.1', PERCENT_RULE],
    ['a fraction', [1.5], 'alert_at.0', PERCENT_RULE],
    ['a string in a list', [50, '80'], 'alert_at.1', PERCENT_RULE],
    ['null in a list', [null], 'alert_at.0', PERCENT_RULE],
    ['a list in a list', [[80]], 'alert_at.0', PERCENT_RULE],
  ])('cannot be %s, and a refusal changes nothing', async (_, alert_at, field, rule) => {
    const business = await limited({ daily_limit: 10, alert_at: [7] });
    const refused = invalid(field, `${field} ${rule}`);
    expect(answerOf(await change(business, { alert_at, daily_limit: 5 }))).toEqual(refused);
    expect(answerOf(await create({ alert_at }))).toEqual(refused);
    expect(await limitsOf(business)).toMatchObject({ daily: 10, alert_at: [7] });
  });

  const VALID = [[1], [1000], [80], [1, 2, 3, 4, 5], [50, 80, 100, 150, 1000]].map((alert_at) => ({ alert_at }));
  test.each(VALID)('can be $alert_at, both at creation and in a change', async ({ alert_at }) => {
    const { id } = (await create({ monthly_limit: 10, alert_at })).body.data;
    expect(await limitsOf({ id })).toMatchObject({ monthly: 10, alert_at });
    expect(await limitsOf(await limited({ daily_limit: 10, alert_at }))).toMatchObject({ daily: 10, alert_at });
  });

  test('defaults to 80 and 100 and appears in the list of businesses', async () => {
    const { id } = (await create({ monthly_limit: 10 })).body.data;
    expect(await limitsOf({ id })).toMatchObject({ alert_at: [80, 100] });
    const business = await limited({ daily_limit: 10 });
    expect(await limitsOf(business)).toMatchObject({ alert_at: [80, 100] });
    await change(business, { alert_at: [10, 200] });
    const listed = (await call('GET', '/api/v1/business', { as: business.key })).body.data.businesses;
    expect(listed).toMatchObject([{ limits: { alert_at: [10, 200] } }]);
  });

  test('is stored but not shown while the business has no limit', async () => {
    const business = await limited({ alert_at: [30] });
    expect(await limitsOf(business)).toBeNull();
    await change(business, { monthly_limit: 5 });
    expect(await limitsOf(business)).toMatchObject({ alert_at: [30] });
  });

  test('appears as a list in the changes only if it changed', async () => {
    const business = await newBusiness();
    for (const alert_at of [[80, 100], [50, 80], [50, 80], [100]]) await change(business, { alert_at });
    await change(business, { name: 'B "quoted"', daily_limit: 5, alert_at: [80, 100] });
    await change(business, { daily_limit: null });
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body.data;
    expect(changes.map(({ before, after }: { before: object; after: object }) => [before, after])).toEqual([
      [{ daily_limit: 5 }, { daily_limit: null }],
      [
        { name: business.name, daily_limit: null, alert_at: [100] },
        { name: 'B "quoted"', daily_limit: 5, alert_at: [80, 100] },
      ],
      [{ alert_at: [50, 80] }, { alert_at: [100] }],
      [{ alert_at: [80, 100] }, { alert_at: [50, 80] }],
    ]);
  });

  test('must be the same when an Idempotency-Key is repeated', async () => {
    const send = (alert_at: number[]) =>
      call('POST', '/api/v1/business', {
        as: OPERATOR.full,
        headers: { 'Idempotency-Key': 'signup' },
        body: { ...NEW_BUSINESS, user_id: 996_900, alert_at },
      });
    const [first, same, other] = [await send([50]), await send([50]), await send([60])];
    expect([first.status, same.body.data.id, other.status]).toEqual([200, first.body.data.id, 422]);
  });
});

describe('each threshold of a limit', () => {
  const alert_at = [1, 34, 50, 100, 250];

  test('causes at most one alert, at the first single use that reaches it', async () => {
    const business = await limited({ daily_limit: 6, alert_at });
    for (let use = 0; use < 7; use++) await record(business);
    expect(await written(business)).toEqual([
      [6, 1, 1],
      [6, 50, 3], // 34 % of 6 also rounds up to 3 uses
      [6, 100, 6],
    ]);
  });

  test('causes one alert if it is the highest threshold that a quantity reaches', async () => {
    const business = await limited({ daily_limit: 100, alert_at });
    for (const quantity of [33, 1, 10, 50, 6]) await record(business, { quantity });
    expect(await written(business)).toEqual([
      [100, 1, 33],
      [100, 34, 34],
      [100, 50, 94],
      [100, 100, 100],
    ]);
  });

  test('causes one alert if it is the highest threshold that a list reaches, even in the overage', async () => {
    const business = await limited({ daily_limit: 100, alert_at, overage: null });
    for (const [index, quantity] of [33, 1, 66, 149, 1, 500].entries())
      await record(business, { uses: [{ id: `order-${index}`, quantity }] });
    expect(await written(business)).toEqual([
      [100, 1, 33],
      [100, 34, 34],
      [100, 100, 100],
      [100, 250, 250],
    ]);
  });

  test('causes one alert even if repeated sweeps find it', async () => {
    const business = await limited({ daily_limit: 100, alert_at });
    for (const count of [1, 33, 34, 49, 50, 99, 100, 249, 250, 100]) {
      await used(business, TODAY, count);
      for (let round = 0; round < 2; round++) await storeMissingAlerts(business.home.d1, business.id, NOW);
    }
    expect(await written(business)).toEqual([
      [100, 1, 1],
      [100, 34, 34],
      [100, 50, 50],
      [100, 100, 100],
      [100, 250, 250],
    ]);
  });

  test('causes one alert for the daily limit and one for the monthly limit', async () => {
    const business = await limited({ daily_limit: 10, monthly_limit: 20, alert_at: [50] });
    await record(business, { quantity: 5 });
    await record(business, { quantity: 5 });
    expect(await written(business)).toEqual([
      [10, 50, 5],
      [20, 50, 10],
    ]);
  });

  test('causes no alert for a use, list or sweep if a higher threshold was reached before the count was lowered', async () => {
    const business = await limited({ monthly_limit: 100, alert_at: [50, 100] });
    await used(business, '2026-03-01', 99);
    await record(business);
    await used(business, '2026-03-01', 48);
    await record(business);
    await record(business, { uses: [{ id: 'order-1' }] });
    await storeMissingAlerts(business.home.d1, business.id, NOW);
    expect(await written(business)).toEqual([[100, 100, 100]]);
  });

  test('causes an alert in the next sweep if it is set below the current count', async () => {
    const business = await limited({ daily_limit: 100 });
    await record(business, { quantity: 60 });
    await change(business, { alert_at: [40, 90] });
    expect(await written(business)).toEqual([]);
    await storeMissingAlerts(business.home.d1, business.id, NOW);
    expect(await written(business)).toEqual([[100, 40, 60]]);
  });

  test('causes no alert for a period that ended before alert_at was changed', async () => {
    const business = await limited({ daily_limit: 10 });
    const { db, id } = business;
    await db.update(businesses).set({ limits_at: '2026-01-01T00:00:00.000000Z' }).where(eq(businesses.id, id));
    await used(business, '2026-03-14', 6);
    await change(business, { alert_at: [50] });
    await storeMissingAlerts(business.home.d1, id, NOW);
    expect(await written(business)).toEqual([]);
  });
});

test('the receiver gets each alert exactly once, even if limits and thresholds change forty times', async () => {
  const business = await newBusiness();
  const { home, db } = business;
  await db.delete(messages);
  await db.delete(alerts);
  const lists = [[10, 30], [20, 40, 60, 80, 100], [50], [80, 100], [100, 150, 1000]];
  /** The model: the highest threshold stored for each limit. */
  const highest = new Map<number, number>();
  const expected: number[][] = [];
  const reached = (limit: number, used: number, list: number[]) =>
    Math.max(0, ...list.filter((percent) => used >= (limit * percent) / 100));
  function write(limit: number, threshold: number) {
    if (threshold <= (highest.get(limit) ?? 0)) return;
    highest.set(limit, threshold);
    expected.push([limit, threshold]);
  }
  let used = 0;
  for (let round = 0; round < 40; round++) {
    const daily_limit = 100 * (((round * 5) % 12) + 1);
    const alert_at = lists[round % lists.length] as number[];
    await change(business, { daily_limit, alert_at });
    const before = reached(daily_limit, used, alert_at);
    const { status } = await record(business, { quantity: 7 });
    if (status === 200) {
      used += 7;
      const after = reached(daily_limit, used, alert_at);
      if (after !== before) write(daily_limit, after);
    }
    if (round % 3 === 0) {
      const uses = [{ id: `order-${round}`, quantity: 3 }]; // the operator's list may exceed the limit
      await call('POST', business.usage, { as: OPERATOR.record, body: { uses } });
      used += 3;
      write(daily_limit, reached(daily_limit, used, alert_at));
    }
    if (round % 2 === 1) {
      await storeMissingAlerts(home.d1, business.id, NOW);
      write(daily_limit, reached(daily_limit, used, alert_at));
    }
  }
  const received: { limit: number; threshold: number }[] = [];
  for (let message = await leaseNextMessage(home.db, NOW, null); message !== null; ) {
    received.push(...JSON.parse(message.body).data.alerts);
    message = await leaseNextMessage(home.db, NOW, { message, sentAt: NOW });
  }
  const got = received.map(({ limit, threshold }) => [limit, threshold]);
  expect(got).toEqual(expected);
  expect(new Set(got.map(String)).size).toBe(got.length);
  expect(got.length).toBeGreaterThan(10);
});

describe('a limit’s percentage', () => {
  const HUGE = MAX_COUNT;
  const limit = fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: HUGE - 1000, max: HUGE }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: HUGE }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 }) },
  );
  const thresholds = fc
    .uniqueArray(fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 90, max: 110 })), {
      minLength: 1,
      maxLength: 5,
    })
    .map((list) => list.toSorted((a, b) => a - b));
  /** Computes, independently of the service, the first count that reaches a percentage: limit × percent ÷ 100, rounded up. */
  const firstOf = (limit: number, percent: number) => (BigInt(limit) * BigInt(percent) + 99n) / 100n;
  /** A limit, its thresholds, and a count at or next to a threshold. */
  const edge = fc
    .tuple(limit, thresholds, fc.nat(4), fc.constantFrom(-1n, 0n, 1n))
    .map(([limit, alert_at, place, step]) => {
      const count = firstOf(limit, alert_at[place % alert_at.length] as number) + step;
      const used = Number(count < 1n ? 1n : count > BigInt(HUGE) ? BigInt(HUGE) : count);
      return { limit, alert_at, used };
    });
  const exact = ({ limit, alert_at, used }: { limit: number; alert_at: number[]; used: number }) =>
    alert_at.filter((percent) => BigInt(used) >= firstOf(limit, percent)).at(-1) ?? null;

  test.each([
    [HUGE, 80, 7205759403792793],
    [HUGE, 1, 90071992547410],
    [HUGE, 99, 8917127262193582],
    [HUGE, 100, HUGE],
    [HUGE - 1, 33, 2972375754064527],
    [2 ** 52 + 1, 150, 6755399441055746],
    [3, 34, 2],
    [1, 1000, 10],
    [1, 1, 1],
  ])('for the limit %i, %i percent is reached at %i', (limit, percent, first) => {
    expect(Number(firstOf(limit, percent))).toBe(first);
    expect(thresholdOf(limit, first, [percent])).toBe(percent);
    expect(thresholdOf(limit, first - 1, [percent])).toBeNull();
  });

  test('is computed exactly in TypeScript', () => {
    fc.assert(
      fc.property(edge, ({ limit, alert_at, used }) => {
        expect(thresholdOf(limit, used, alert_at)).toBe(exact({ limit, alert_at, used }));
      }),
      { numRuns: 5000 },
    );
  });

  test('is computed exactly in the SQL of a sweep', async () => {
    const { id, home } = await newBusiness();
    await home.d1.batch([
      home.d1.prepare('update businesses set daily_limit = null, monthly_limit = null'),
      home.d1.prepare('delete from alerts'),
    ]);
    const base = (Math.floor(id / 60) + 1000) * 60;
    const cases = [
      ...fc.sample(edge, 600),
      ...[1, 79, 80, 100, 1000].map((percent) => ({ limit: HUGE, alert_at: [percent], used: HUGE })),
    ].map((one, index) => ({ ...one, id: base + 60 * index, list: JSON.stringify(one.alert_at) }));
    const columns = 'user_id, name, main_domain, site, country_id, business_size, status, created_at, updated_at';
    const given = JSON.stringify(cases);
    await home.d1.batch([
      home.d1
        .prepare(
          `insert into businesses (id, token, daily_limit, alert_at, ${columns})
          select value ->> 'id', 'exact-' || printf('%030d', value ->> 'id'), value ->> 'limit', value ->> 'list', ${columns}
          from json_each(?) cross join businesses where businesses.id = ?`,
        )
        .bind(given, id),
      home.d1
        .prepare(
          `insert into daily_usage (business_id, day, count, counted_at)
          select value ->> 'id', '${TODAY}', value ->> 'used', '${STAMP}' from json_each(?)`,
        )
        .bind(given),
    ]);
    await sweep(home.db, NOW); // the sweep in minute 0 includes the businesses whose ids are multiples of 60
    const rows = await home.db.select().from(alerts);
    const found = new Map(rows.map(({ business_id, threshold }) => [business_id, threshold]));
    expect(cases.map((one) => ({ ...one, threshold: found.get(one.id) ?? null }))).toEqual(
      cases.map((one) => ({ ...one, threshold: exact(one) })),
    );
  });
});

test('a use costs the same with custom and default thresholds', async () => {
  const costs = await Promise.all(
    [
      [80, 100],
      [1, 2, 3, 4, 1000],
    ].map(async (alert_at) => {
      const business = await limited({ daily_limit: 1000, monthly_limit: 10_000 });
      if (alert_at.length > 2) await change(business, { alert_at });
      await record(business, { quantity: 60 });
      const { cost } = await record(business);
      const list = await record(business, { uses: [{ id: 'order-1' }] });
      return [cost, list.cost].map(({ rows_read, rows_written }) => [rows_read, rows_written]);
    }),
  );
  expect(costs[1]).toEqual(costs[0]);
  expect(DEFAULT_ALERT_AT).toEqual([80, 100]);
});
