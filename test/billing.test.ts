// The month of a limit, which begins on the billing day, and what responses say of limits (docs/api.md, "Limits").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf } from './answers.ts';
import { type Business, call, NOW, newBusiness, OPERATOR, setCount, TODAY } from './support.ts';

type Fields = { daily_limit?: number | null; monthly_limit?: number | null; billing_day?: number };

const change = ({ id }: { id: number }, fields: object) =>
  call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: fields });
async function limited(fields: Fields) {
  const business = await newBusiness();
  expect((await change(business, fields)).status).toBe(200);
  return business;
}

/** What both the business and the list say of its limits. */
async function limitsOf({ id, key, user_id }: Business, at = NOW) {
  const alone = await call('GET', `/api/v1/business/${id}`, { as: key, at });
  const listed = await call('GET', '/api/v1/business', { as: key, at });
  const [found] = listed.body.data.businesses;
  const ofOperator = await call('GET', `/api/v1/business?user_id=${user_id}`, { as: OPERATOR.full, at });
  expect(found.limits).toEqual(alone.body.data.limits);
  expect(ofOperator.body.data.businesses[0].limits).toEqual(alone.body.data.limits);
  return alone.body.data.limits;
}

describe('the limits of a business, alone and in lists', () => {
  test('are null without any, and also with a billing day alone', async () => {
    expect(await limitsOf(await newBusiness())).toBeNull();
    expect(await limitsOf(await limited({ billing_day: 15 }))).toBeNull();
  });

  test('have what is used of them, what is left, and when their periods end', async () => {
    const business = await limited({ daily_limit: 1000, monthly_limit: 5000, billing_day: 10 });
    for (const [day, count] of [
      [TODAY, 4],
      ['2026-03-10', 50],
      ['2026-03-09', 600],
      ['2026-02-20', 7000],
    ] as const)
      await setCount(business.id, day, count);
    expect(await limitsOf(business)).toEqual({
      ...{
        daily: 1000,
        monthly: 5000,
        billing_day: 10,
        overage: 0,
        alert_at: [80, 100],
        today: 4,
        month: 54,
        remaining: 996,
      },
      ...{ day_ends: '2026-03-16T00:00:00.000000Z', month_ends: '2026-04-10T00:00:00.000000Z' },
    });
  });

  test('have null for what belongs to a limit that is not set', async () => {
    const business = await limited({ daily_limit: 10 });
    await setCount(business.id, TODAY, 12);
    expect(await limitsOf(business)).toEqual({
      ...{
        daily: 10,
        monthly: null,
        billing_day: 1,
        overage: 0,
        alert_at: [80, 100],
        today: 12,
        month: null,
        remaining: 0,
      },
      ...{ day_ends: '2026-03-16T00:00:00.000000Z', month_ends: null },
    });
    await change(business, { daily_limit: null, monthly_limit: 20, billing_day: 28 });
    expect(await limitsOf(business)).toEqual({
      ...{
        daily: null,
        monthly: 20,
        billing_day: 28,
        overage: 0,
        alert_at: [80, 100],
        today: null,
        month: 12,
        remaining: 8,
      },
      ...{ day_ends: null, month_ends: '2026-03-28T00:00:00.000000Z' },
    });
    await change(business, { monthly_limit: null });
    expect(await limitsOf(business)).toBeNull();
  });
});

describe('a month of a limit', () => {
  /** The first and the last day by another way than the service goes: day by day. */
  function monthAround(day: string, billing_day: number) {
    const begins = (day: string) => Number(day.slice(8)) === billing_day;
    let [first, next] = [day, addDays(day, 1)];
    while (!begins(first)) first = addDays(first, -1);
    while (!begins(next)) next = addDays(next, 1);
    return { first, last: addDays(next, -1), next };
  }
  const DAYS = [
    ...['2026-01-01', '2026-01-31', '2026-02-28', '2026-03-01', '2026-03-14', '2026-03-15', '2026-12-31'],
    ...['2028-02-27', '2028-02-28', '2028-02-29'],
  ];

  test.each([1, 15, 28])('that begins on day %i is from that day to the day before it', async (billing_day) => {
    for (const day of DAYS) {
      const business = await limited({ monthly_limit: 1000, billing_day });
      const { first, last, next } = monthAround(day, billing_day);
      const counts = { [addDays(first, -1)]: 500, [first]: 20, [day]: 30, [last]: 40, [next]: 500 };
      for (const [on, count] of Object.entries(counts)) await setCount(business.id, on, count);
      const used = Object.entries(counts).reduce((sum, [on, n]) => (on >= first && on <= last ? sum + n : sum), 0);
      const at = new Date(`${day}T23:59:30Z`);
      const limits = await limitsOf(business, at);
      expect({ day, month: limits.month, ends: limits.month_ends }).toEqual({
        ...{ day, month: used, ends: `${next}T00:00:00.000000Z` },
      });
      const fitting = { as: business.key, at, body: { quantity: 1000 - used } };
      const one = await call('POST', business.usage, { ...fitting, body: { quantity: 1001 - used } });
      expect([one.status, one.headers.get('Retry-After')]).toEqual([
        429,
        `${(Date.parse(next) - at.getTime()) / 1000}`,
      ]);
      const exact = await call('POST', business.usage, fitting);
      expect([exact.status, exact.body.data?.remaining]).toEqual([200, 0]);
      const later = await call('POST', business.usage, { as: business.key, at: new Date(`${next}T00:00:00Z`) });
      expect([later.status, later.body.data?.remaining]).toEqual([200, 499]);
    }
  });

  test('begins anew with another billing day', async () => {
    const business = await limited({ monthly_limit: 100 });
    await setCount(business.id, '2026-03-10', 100);
    expect((await call('POST', business.usage, { as: business.key })).status).toBe(429);
    await change(business, { billing_day: 11 });
    expect((await call('POST', business.usage, { as: business.key })).body.data).toEqual({
      ...{ date: TODAY, count: 1, remaining: 99 },
    });
    await change(business, { billing_day: 10 });
    expect((await call('POST', business.usage, { as: business.key })).status).toBe(429);
  });

  test('is not that of reports', async () => {
    const business = await limited({ monthly_limit: 100, billing_day: 20 });
    const before = await call('GET', `${business.usage}?from=2026-03-01&to=2026-03-31`, { as: business.key });
    expect(before.body.data.used).toHaveLength(31);
    expect(before.body.data.used[0].date).toBe('2026-03-01');
  });
});

describe('a billing day', () => {
  const RULE = 'billing_day must be a day of the month from 1 to 28';
  test.each([0, 29, -1, 1.5, '1', '', null, true, 2 ** 53])(
    '%j is refused, and nothing changes',
    async (billing_day) => {
      const business = await limited({ monthly_limit: 100, billing_day: 7 });
      const refused = { status: 422, body: { status: false, message: RULE, errors: { billing_day: [RULE] } } };
      expect(answerOf(await change(business, { billing_day, daily_limit: 5 }))).toEqual(refused);
      const body = {
        ...{ user_id: 990_000, name: 'A', main_domain: 'a.example', site: 'https://a.example', country_id: 1 },
        ...{ business_size: 'small', billing_day },
      };
      expect(answerOf(await call('POST', '/api/v1/business', { as: OPERATOR.full, body }))).toEqual(refused);
      expect(await limitsOf(business)).toMatchObject({ daily: null, billing_day: 7 });
    },
  );

  test('is given when a business is created, and is 1 unless told', async () => {
    const fields = {
      name: 'A',
      main_domain: 'a.example',
      site: 'https://a.example',
      country_id: 1,
      business_size: 's',
    };
    for (const [given, stored] of [
      [{ billing_day: 15 }, 15],
      [{}, 1],
    ] as const) {
      const body = { user_id: 991_000, ...fields, monthly_limit: 10, ...given };
      const { id } = (await call('POST', '/api/v1/business', { as: OPERATOR.full, body })).body.data;
      const { limits } = (await call('GET', `/api/v1/business/${id}`, { as: OPERATOR.full })).body.data;
      expect(limits).toMatchObject({ monthly: 10, billing_day: stored });
    }
  });

  test('stands in the list of changes', async () => {
    const business = await limited({ monthly_limit: 100 });
    await change(business, { billing_day: 15 });
    await change(business, { billing_day: 15 });
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body.data;
    expect(changes.map(({ before, after }: { before: object; after: object }) => [before, after]).slice(0, 2)).toEqual([
      [{ billing_day: 1 }, { billing_day: 15 }],
      [{ monthly_limit: null }, { monthly_limit: 100 }],
    ]);
  });
});
