// Billing months, and `limits` in responses (docs/api.md, "Limits").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf } from './answers.ts';
import {
  type Business,
  call,
  monthAround,
  NOW,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

const change = ({ id }: { id: number }, fields: object) =>
  call('PATCH', `/api/v1/business/${id}`, { as: OPERATOR.full, body: fields });

/** Returns a business's `limits`. Asserts that lists of businesses show the same limits. */
async function limitsOf({ id, key, user_id }: Business, at = NOW) {
  const alone = await call('GET', `/api/v1/business/${id}`, { as: key, at });
  const listed = await call('GET', '/api/v1/business', { as: key, at });
  const [found] = listed.body.data.businesses;
  const ofOperator = await call('GET', `/api/v1/business?user_id=${user_id}`, { as: OPERATOR.full, at });
  expect(found.limits).toEqual(alone.body.data.limits);
  expect(ofOperator.body.data.businesses[0].limits).toEqual(alone.body.data.limits);
  return alone.body.data.limits;
}

describe('a business’s limits, read alone or in a list,', () => {
  test('are null if no limit is set, even with a billing day', async () => {
    expect(await limitsOf(await newBusiness())).toBeNull();
    expect(await limitsOf(await newLimitedBusiness({ billing_day: 15 }))).toBeNull();
  });

  test('show the used and remaining quantities and the times at which the periods end', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1000, monthly_limit: 5000, billing_day: 10 });
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
        next_billing_day: null,
        from: null,
        overage: 0,
        page_overage: false,
        alert_at: [80, 100],
        today: 4,
        month: 54,
        remaining: 996,
      },
      ...{ day_ends: '2026-03-16T00:00:00.000000Z', month_ends: '2026-04-10T00:00:00.000000Z' },
    });
  });

  test('contain null for a limit that is not set', async () => {
    const business = await newLimitedBusiness({ daily_limit: 10 });
    await setCount(business.id, TODAY, 12);
    expect(await limitsOf(business)).toEqual({
      ...{
        daily: 10,
        monthly: null,
        billing_day: 1,
        next_billing_day: null,
        from: null,
        overage: 0,
        page_overage: false,
        alert_at: [80, 100],
        today: 12,
        month: null,
        remaining: 0,
      },
      ...{ day_ends: '2026-03-16T00:00:00.000000Z', month_ends: null },
    });
    await change(business, { daily_limit: null, monthly_limit: 20 });
    expect(await limitsOf(business)).toEqual({
      ...{
        daily: null,
        monthly: 20,
        billing_day: 1,
        next_billing_day: null,
        from: null,
        overage: 0,
        page_overage: false,
        alert_at: [80, 100],
        today: null,
        month: 12,
        remaining: 8,
      },
      ...{ day_ends: null, month_ends: '2026-04-01T00:00:00.000000Z' },
    });
    await change(business, { monthly_limit: null });
    expect(await limitsOf(business)).toBeNull();
  });
});

describe('a billing month', () => {
  const DAYS = [
    ...['2026-01-01', '2026-01-31', '2026-02-28', '2026-03-01', '2026-03-14', '2026-03-15', '2026-12-31'],
    ...['2028-02-27', '2028-02-28', '2028-02-29'],
  ];

  test.each([1, 15, 28])('with billing day %i ends on the day before the next billing day', async (billing_day) => {
    for (const day of DAYS) {
      const business = await newLimitedBusiness({ monthly_limit: 1000, billing_day });
      const { starts_on: first, ends_on: last } = monthAround(day, billing_day);
      const next = addDays(last, 1);
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

  test('does not affect reports', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100, billing_day: 20 });
    const before = await call('GET', `${business.usage}?from=2026-03-01&to=2026-03-31`, { as: business.key });
    expect(before.body.data.used).toHaveLength(31);
    expect(before.body.data.used[0].date).toBe('2026-03-01');
  });
});

describe('a billing day', () => {
  const RULE = 'billing_day must be a day of the month from 1 to 28';
  test.each([0, 29, -1, 1.5, '1', '', null, true, 2 ** 53])(
    'is rejected if it is %j, and nothing changes',
    async (billing_day) => {
      const business = await newLimitedBusiness({ monthly_limit: 100, billing_day: 7 });
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

  test('can be set when a business is created, and defaults to 1', async () => {
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
});

describe('changing the billing day', () => {
  const monthOn = async (business: Business, day: string) => {
    const { month, month_ends, billing_day, next_billing_day, from } = await limitsOf(
      business,
      new Date(`${day}T12:00:00Z`),
    );
    return { month, ends: month_ends.slice(0, 10), billing_day, next_billing_day, from };
  };
  const changeOn = (business: Business, day: string, billing_day: number) =>
    call('PATCH', `/api/v1/business/${business.id}`, {
      as: OPERATOR.full,
      body: { billing_day },
      at: new Date(`${day}T12:00:00Z`),
    });
  const NONE = { next_billing_day: null, from: null };

  test('does not move the end of the current month; the next month lasts at least 28 days, until the new billing day', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100 });
    for (const [day, count] of [
      ['2026-03-31', 1],
      ['2026-04-01', 2],
      ['2026-05-14', 4],
      ['2026-05-15', 8],
    ] as const)
      await setCount(business.id, day, count);
    const { body } = await changeOn(business, '2026-03-10', 15);
    expect(body.data.limits).toMatchObject({ billing_day: 1, next_billing_day: 15, from: '2026-05-15' });
    const waits = { billing_day: 1, next_billing_day: 15, from: '2026-05-15' };
    expect(await monthOn(business, '2026-03-10')).toEqual({ month: 1, ends: '2026-04-01', ...waits });
    expect(await monthOn(business, '2026-03-31')).toEqual({ month: 1, ends: '2026-04-01', ...waits });
    expect(await monthOn(business, '2026-04-01')).toEqual({ month: 6, ends: '2026-05-15', ...waits });
    expect(await monthOn(business, '2026-05-14')).toEqual({ month: 6, ends: '2026-05-15', ...waits });
    expect(await monthOn(business, '2026-05-15')).toEqual({ month: 8, ends: '2026-06-15', billing_day: 15, ...NONE });
  });

  test.each([
    [27, '57 days long, because 27 is too short', '2026-03-31', 1, 28, '2026-05-28'],
    [28, 'as short as possible', '2026-02-10', 4, 1, '2026-04-01'],
    [58, 'as long as possible', '2026-01-20', 15, 14, '2026-04-14'],
  ])(
    'to a day %i days after the current month ends makes the next month %s',
    async (_, __, on, before, after, from) => {
      const business = await newLimitedBusiness({ monthly_limit: 100, billing_day: before });
      const { body } = await changeOn(business, on, after);
      expect(body.data.limits).toMatchObject({ billing_day: before, next_billing_day: after, from });
    },
  );

  test('grants no extra quota', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100 });
    await setCount(business.id, '2026-03-10', 100);
    await change(business, { billing_day: 11 });
    const refused = await call('POST', business.usage, { as: business.key });
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([
      429,
      `${(Date.parse('2026-04-01') - NOW.getTime()) / 1000}`,
    ]);
  });

  test('replaces a pending change, or cancels it if the day is the current billing day', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100 });
    await changeOn(business, '2026-03-10', 15);
    await changeOn(business, '2026-03-11', 2);
    const second = { billing_day: 1, next_billing_day: 2, from: '2026-05-02' };
    expect(await monthOn(business, '2026-04-30')).toEqual({ month: 0, ends: '2026-05-02', ...second });
    await changeOn(business, '2026-03-12', 1);
    expect(await monthOn(business, '2026-03-15')).toEqual({ month: 0, ends: '2026-04-01', billing_day: 1, ...NONE });
    const marked = await business.home.d1
      .prepare('select has_billing_changes as mark from businesses where id = ?')
      .bind(business.id)
      .first();
    expect(marked).toEqual({ mark: 0 }); // otherwise requests would read billing_changes
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body.data;
    expect(changes.map(({ before, after }: { before: object; after: object }) => [before, after])).toEqual([
      [{ billing_day: 2 }, { billing_day: 1 }],
      [{ billing_day: 15 }, { billing_day: 2 }],
      [{ billing_day: 1 }, { billing_day: 15 }],
    ]);
  });

  test('has no effect if the day equals the pending one, or the current one while no change is pending', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100 });
    const { home } = business;
    await changeOn(business, '2026-03-10', 1);
    await changeOn(business, '2026-03-10', 15);
    await changeOn(business, '2026-03-11', 15);
    const rows = await home.d1.prepare('select * from changes where subject_id = ?').bind(business.id).all();
    expect(rows.results).toHaveLength(1);
  });

  test('during the longer month that an earlier change caused does not move the end of that month, and lengthens the month after it', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 100 });
    await changeOn(business, '2026-03-10', 15); // from 2026-05-15
    await changeOn(business, '2026-04-20', 20);
    const waits = { next_billing_day: 20, from: '2026-06-20' };
    expect(await monthOn(business, '2026-05-14')).toEqual({ month: 0, ends: '2026-05-15', billing_day: 1, ...waits });
    expect(await monthOn(business, '2026-05-15')).toEqual({ month: 0, ends: '2026-06-20', billing_day: 15, ...waits });
    expect(await monthOn(business, '2026-06-20')).toEqual({ month: 0, ends: '2026-07-20', billing_day: 20, ...NONE });
    await changeOn(business, '2026-06-25', 1);
    expect(await monthOn(business, '2026-03-31')).toMatchObject({ ends: '2026-04-01' });
    expect(await monthOn(business, '2026-04-01')).toMatchObject({ ends: '2026-05-15' });
    expect(await monthOn(business, '2026-06-19')).toMatchObject({ ends: '2026-06-20' });
    expect(await monthOn(business, '2026-07-20')).toMatchObject({ ends: '2026-09-01', billing_day: 20 });
  });
});
