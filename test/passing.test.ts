// The alerts that a request stores after its response when its uses reach 80 or 100 % of a limit (docs/alerts.md).
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { asc, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { alerts } from '../src/db/schema.ts';
import { granted } from './answers.ts';
import {
  BASE,
  type Business,
  type CallOptions,
  call,
  databases,
  newApp,
  newBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

async function limited(limits: { daily_limit?: number; monthly_limit?: number; billing_day?: number; overage?: null }) {
  const business = await newBusiness();
  await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: limits });
  await call('GET', business.usage, { as: business.key });
  return business;
}
const record = (business: Business, body?: unknown, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, body, ...options });
const written = async ({ db, id }: Business) => {
  const rows = await db.select().from(alerts).where(eq(alerts.business_id, id)).orderBy(asc(alerts.id));
  return rows.map(({ period, starts_on, limit, threshold, used }) => [period, starts_on, limit, threshold, used]);
};

describe('a use', () => {
  test('that reaches 80 % or 100 % of a daily limit stores one alert per threshold and day', async () => {
    const business = await limited({ daily_limit: 10 });
    for (let use = 0; use < 12; use++) await record(business);
    expect(await written(business)).toEqual([
      ['day', TODAY, 10, 80, 8],
      ['day', TODAY, 10, 100, 10],
    ]);
    const tomorrow = { at: new Date('2026-03-16T00:00:00Z') };
    await record(business, { quantity: 8 }, tomorrow);
    expect((await written(business)).slice(2)).toEqual([['day', '2026-03-16', 10, 80, 8]]);
  });

  test('stores only the alert for 100 % of a limit if it reaches both thresholds', async () => {
    const business = await limited({ daily_limit: 10, monthly_limit: 11 });
    await record(business, { quantity: 10 });
    expect(await written(business)).toEqual([
      ['month', '2026-03-01', 11, 80, 10],
      ['day', TODAY, 10, 100, 10],
    ]);
  });

  test('stores an alert if it is sent with a token and an Idempotency-Key, and a retry stores no second alert', async () => {
    const business = await limited({ daily_limit: 5 });
    await record(business, { quantity: 3 });
    await record(business, undefined, { as: business.token, headers: { 'Idempotency-Key': 'visit-1' } });
    await record(business, undefined, { as: business.token, headers: { 'Idempotency-Key': 'visit-1' } });
    expect(await written(business)).toEqual([['day', TODAY, 5, 80, 4]]);
  });

  test('writes nothing after its response if it is refused or reaches no threshold', async () => {
    const business = await limited({ daily_limit: 10 });
    await record(business);
    const before = await record(business);
    const passing = await record(business, { quantity: 6 });
    expect(passing.cost.round_trips).toBe(1);
    expect(passing.cost.rows_read).toBe(before.cost.rows_read);
    expect(passing.cost.rows_written).toBe(before.cost.rows_written);
    expect(before.later.round_trips).toBe(0);
    expect(passing.later.round_trips).toBe(1);
    const refused = await record(business, { quantity: 6 });
    expect([refused.status, refused.later.round_trips]).toEqual([429, 0]);
  });
});

describe('a list', () => {
  const uses = (count: number, at?: string) => ({
    uses: Array.from({ length: count }, (_, index) => ({ id: `order-${index}`, ...(at && { at }) })),
  });

  test('stores alerts after the response for the days and months of its uses', async () => {
    const business = await limited({ daily_limit: 10, monthly_limit: 100, overage: null });
    await business.home.d1
      .prepare("update businesses set limits_at = '2026-01-01T00:00:00.000000Z' where id = ?")
      .bind(business.id)
      .run();
    await setCount(business.id, '2026-02-10', 75);
    await record(business, uses(8, '2026-03-14T12:00:00Z'));
    expect(await written(business)).toEqual([['day', '2026-03-14', 10, 80, 8]]);
    await record(business, { uses: [{ id: 'late', at: '2026-02-20T00:00:00Z', quantity: 5 }] });
    expect((await written(business)).slice(1)).toEqual([['month', '2026-02-01', 100, 80, 80]]);
    await record(business, { uses: [{ id: 'now', quantity: 500 }] });
    expect((await written(business)).slice(2)).toEqual(
      expect.arrayContaining([
        ['day', TODAY, 10, 100, 500],
        ['month', '2026-03-01', 100, 100, 508],
      ]),
    );
  });

  test('is not checked for alerts if the business has no limits or the list contains only duplicates', async () => {
    const business = await newBusiness();
    await call('GET', business.usage, { as: business.key });
    expect((await record(business, uses(3))).later.round_trips).toBe(0);
    const other = await limited({ monthly_limit: 100 });
    expect((await record(other, uses(3))).later.round_trips).toBe(1);
    expect((await record(other, uses(3))).later.round_trips).toBe(0);
    const daily = await limited({ daily_limit: 100 });
    expect((await record(daily, uses(3))).later.round_trips).toBe(1);
  });
});

test('a use counts even if its alert cannot be stored, and the failure is logged', async () => {
  const business = await limited({ daily_limit: 1 });
  const { app, lines, errors } = newApp();
  // The database fails between the response and the alert.
  const prepare = (query: string) => {
    if (query.includes('alerts')) throw new Error('D1_ERROR: Network connection lost.');
    return business.home.d1.prepare(query);
  };
  const failing = new Proxy(business.home.d1, {
    get: (d1, name) => (name === 'prepare' ? prepare : Reflect.get(d1, name).bind(d1)),
  });
  const context = createExecutionContext();
  const request = new Request(BASE + business.usage, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.key}` },
  });
  const response = await app.fetch(request, { ...databases(), [business.home.binding]: failing }, context);
  expect({ status: response.status, body: await response.json() }).toEqual(
    granted({ date: TODAY, count: 1, remaining: 0 }),
  );
  await waitOnExecutionContext(context);
  expect(lines).toMatchObject([{ operation: 'record_use', status: 200 }]);
  expect(errors).toEqual([
    {
      ...{ operation: 'write_alerts', database: business.home.binding, request_id: expect.any(String) },
      error: expect.stringContaining('Network connection lost'),
    },
  ]);
  expect(await written(business)).toEqual([]);
});
