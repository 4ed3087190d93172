// Sums of counts are exact up to 2^53 - 1, like JSON numbers, and capped there.
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_COUNT } from '../src/core/limits.ts';
import { addDays } from '../src/core/time.ts';
import { businesses, dailyUsage } from '../src/db/schema.ts';
import { type Business, call, homes, newBusiness, OPERATOR } from './support.ts';

const as = OPERATOR.full;

/** Stores the same count for consecutive days. */
async function count({ id, db }: Business, from: string, days: number, count: number) {
  for (let first = 0; first < days; first += 25) {
    const part = Array.from({ length: Math.min(25, days - first) }, (_, index) => addDays(from, first + index));
    await db.insert(dailyUsage).values(part.map((day) => ({ business_id: id, day, count })));
  }
}

describe('a report on all businesses', () => {
  const BILLION = 999_999_999_999_999;
  /** The first day, the number of days and each day's count, for one business per database. */
  const COUNTS = [
    ['1990-01-01', 9, BILLION],
    ['1991-01-01', 11, BILLION],
    ['1992-01-01', 1, MAX_COUNT],
    ['1993-01-01', 1830, MAX_COUNT], // makes SQLite's sum() overflow
  ] as const;
  let made: Business[];
  beforeAll(async () => {
    const all: Business[] = [];
    for (const [from, days, each] of COUNTS) {
      for (const _ of homes) {
        const business = await newBusiness();
        await count(business, from, days, each);
        all.push(business);
      }
    }
    made = all.sort((a, b) => a.id - b.id);
  }, 60_000);
  const hasCounts = (index: number) => (_: Business, position: number) => position % COUNTS.length === index;

  const read = (from: string, to: string, Accept = 'application/json') =>
    call('GET', `/api/v1/usage?from=${from}&to=${to}`, { as, headers: { Accept } });

  test.each([
    ['1990-01-01', '1990-01-09', 0, '8999999999999991'],
    ['1991-01-01', '1991-01-09', 1, '8999999999999991'],
    ['1992-01-01', '1992-12-31', 2, '9007199254740991'],
    ['1994-01-01', '1994-01-01', 3, '9007199254740991'],
    ['1991-01-01', '1991-01-10', 1, '9007199254740991'], // capped, like the next one
    ['1993-01-01', '1998-01-04', 3, '9007199254740991'],
  ])('is exact to the last digit, up to 2^53 - 1, from %s to %s', async (from, to, index, total) => {
    const sumOf = (position: number) => (hasCounts(index)({} as Business, position) ? total : '0');
    const ofFirst = made.slice(0, COUNTS.length);
    const lines = ofFirst.map(({ id, user_id, name }, position) => `${id},${user_id},${name},${sumOf(position)}\r\n`);
    expect((await read(from, to, 'text/csv')).text).toBe(`business_id,user_id,name,count\r\n${lines.join('')}`);
    const objects = ofFirst.map(
      ({ id, user_id, name }, position) =>
        `{"business_id":${id},"user_id":${user_id},"name":"${name}","count":${sumOf(position)}}`,
    );
    expect((await read(from, to)).text).toContain(`"usage":[${objects}]`);
  });
});

describe('the monthly uses shown with a limit', () => {
  test.each([
    [14, 643_371_375_338_642, 9_007_199_254_740_988],
    [15, MAX_COUNT, MAX_COUNT],
  ])('for %i days with %i uses each are %i', async (days, each, month) => {
    const business = await newBusiness();
    await count(business, '2026-03-01', days, each);
    await business.db.update(businesses).set({ monthly_limit: 1000 }).where(eq(businesses.id, business.id));
    const limits = { monthly: 1000, month, remaining: 0, today: null };
    const path = `/api/v1/business/${business.id}`;
    expect((await call('GET', path, { as: business.key })).body.data.limits).toMatchObject(limits);
    const [listed] = (await call('GET', '/api/v1/business', { as: business.key })).body.data.businesses;
    expect(listed.limits).toMatchObject(limits);
    await call('PATCH', path, { as: OPERATOR.full, body: { monthly_limit: 999 } });
    const { alerts } = (await call('GET', `${path}/alerts`, { as: business.key })).body.data;
    expect(alerts).toMatchObject([{ period: 'month', threshold: 100, used: month }]);
  });
});
