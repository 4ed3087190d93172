// Daily and monthly limits, which are exact under concurrency.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { recordLimitRefusal } from '../src/db/limit-refusals.ts';
import { businesses, ledger, limitRefusals } from '../src/db/schema.ts';
import { answerOf, granted, invalid, refused } from './answers.ts';
import {
  type Business,
  type CallOptions,
  call,
  countsByDay,
  dumpAll,
  inBatches,
  NOW,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

type Limits = { daily_limit?: number | null; monthly_limit?: number | null };

const setLimits = ({ db, id }: Business, limits: Limits) =>
  db.update(businesses).set(limits).where(eq(businesses.id, id));

const use = (business: Business, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, ...options });
const keyed = (business: Business, id: string, options: CallOptions = {}) =>
  use(business, { ...options, headers: { 'Idempotency-Key': id } });
const report = (business: Business, ids: string[], at?: string) =>
  use(business, { body: { uses: ids.map((id) => (at === undefined ? { id } : { id, at })) } });

const remembered = ({ db, id }: Business) => db.$count(ledger, eq(ledger.business_id, id));

const refusal = (limit: number, period: 'today' | 'this month') => {
  const none = `This business has a limit of 0 uses a ${period === 'today' ? 'day' : 'month'}.`;
  const message = limit === 0 ? none : `This business has used its ${limit} uses for ${period}.`;
  return { status: 429, body: { status: false, message } };
};

describe('concurrent uses', () => {
  /** Sends 1,000 uses. Every second use has an id. The uses alternate in pairs between the two days in `days`. */
  async function thousand(business: Business, days: [Date, Date]) {
    await call('GET', business.usage, { as: business.key, at: days[1] }); // marks the key as used, so that the uses do not have to
    const sent = Array.from({ length: 1000 }, (_, index) => {
      const at = days[index % 4 < 2 ? 0 : 1];
      return index % 2 === 0 ? { at } : { at, id: `order-${index}` };
    });
    const one = ({ at, id }: { at: Date; id?: string }) =>
      id === undefined ? use(business, { at }) : keyed(business, id, { at });
    const answers = await inBatches(sent, async (what) => ({ ...what, ...(await one(what)) }));
    const counted = answers.filter(({ status }) => status === 200);
    return { counted, others: answers.filter(({ status }) => status !== 200) };
  }

  const MIDNIGHT = [new Date('2026-03-15T23:59:59.999Z'), new Date('2026-03-16T00:00:00.000Z')];
  test.each([
    ['day', { daily_limit: 700 }, [NOW, NOW], 'today'],
    ['month, across midnight,', { monthly_limit: 700 }, MIDNIGHT, 'this month'],
  ] as [string, Limits, [Date, Date], 'today' | 'this month'][])(
    'with a limit of 700 per %s are counted exactly 700 times out of 1,000',
    { tags: 'slow' },
    async (_, limits, days, period) => {
      const business = await newLimitedBusiness(limits);
      const { counted, others } = await thousand(business, days);
      expect([counted.length, others.length]).toEqual([700, 300]);
      for (const answer of others) expect(answerOf(answer)).toEqual(refusal(700, period));
      const counts = await countsByDay(business);
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(700);
      const expected = counted.map(({ at }) => at.toISOString().slice(0, 10));
      for (const [day, count] of Object.entries(counts))
        expect(expected.filter((one) => one === day).length).toBe(count);
      // `remaining` counts down without gaps or duplicates.
      const left = counted.map(({ body }) => body.data.remaining as number).sort((a, b) => a - b);
      expect(left).toEqual(Array.from({ length: 700 }, (_, index) => index));

      const known = counted.flatMap(({ id }) => id ?? []);
      const unknown = others.flatMap(({ id }) => id ?? []);
      expect([known.length > 0, unknown.length > 0]).toEqual([true, true]);
      expect(await remembered(business)).toBe(known.length);
      for (const id of known.slice(0, 20)) {
        const repeat = await keyed(business, id, { at: days[1] });
        const date = counted.find((answer) => answer.id === id)?.body.data.date;
        expect(answerOf(repeat)).toEqual(granted({ date, count: counts[date], duplicate: true, remaining: 0 }));
      }
      expect(await countsByDay(business)).toEqual(counts);

      // The id of a refused use is not stored. After the limit is raised, the use counts exactly once.
      await setLimits(business, Object.fromEntries(Object.keys(limits).map((name) => [name, 702])));
      const [first = '', second = '', third = ''] = unknown;
      const today = days[1].toISOString().slice(0, 10);
      const count = counts[today] ?? 0;
      const send = async (id: string) => answerOf(await keyed(business, id, { at: days[1] }));
      expect(await send(first)).toEqual(granted({ date: today, count: count + 1, remaining: 1 }));
      expect(await send(first)).toEqual(granted({ date: today, count: count + 1, duplicate: true, remaining: 1 }));
      expect(await send(second)).toEqual(granted({ date: today, count: count + 2, remaining: 0 }));
      expect(await send(third)).toEqual(refusal(702, period));
    },
  );

  test('with the same id, sent a hundred times, consume the last remaining use once', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => keyed(business, 'order-1')));
    const counted = { date: TODAY, count: 1, remaining: 0 };
    expect(answers.filter(({ body }) => body.data.duplicate === undefined).map(answerOf)).toEqual([granted(counted)]);
    for (const answer of answers) expect(answer.body.data).toMatchObject(counted);
    expect(await countsByDay(business)).toEqual({ [TODAY]: 1 });
  });
});

describe('a use beyond a limit', () => {
  test.each([
    ['per day', { daily_limit: 700 }, 'today', '43200'],
    ['per month', { monthly_limit: 700 }, 'this month', `${16.5 * 86_400}`],
    ['per day, below the monthly limit,', { daily_limit: 700, monthly_limit: 701 }, 'today', '43200'],
    ['per day and month, both equal,', { daily_limit: 700, monthly_limit: 700 }, 'this month', `${16.5 * 86_400}`],
    [
      'per day and month, with the lower one per day,',
      { daily_limit: 3, monthly_limit: 700 },
      'this month',
      `${16.5 * 86_400}`,
    ],
  ] as [string, Limits, 'today' | 'this month', string][])(
    '%s gets 429 with Retry-After and a message that names the limit, and writes nothing',
    async (_, limits, period, after) => {
      const business = await newLimitedBusiness(limits);
      await setCount(business.id, TODAY, 700);
      const before = await dumpAll();
      const limit = period === 'today' ? limits.daily_limit : limits.monthly_limit;
      for (const as of [business.key, business.token]) {
        for (const answer of [await use(business, { as }), await keyed(business, 'order-1', { as })]) {
          const text = `{"status":false,"message":"This business has used its ${limit} uses for ${period}."}`;
          expect([answer.status, answer.text]).toEqual([429, text]);
          expect(answer.headers.get('Retry-After')).toBe(after);
          expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
          expect(answer.lines).toMatchObject([
            { operation: 'record_use', status: 429, refusal: 'limit_reached', business_id: business.id },
          ]);
        }
      }
      expect(await dumpAll()).toBe(before);
    },
  );

  test.each([
    [{ daily_limit: 1 }, 'This business has used its 1 use for today.'],
    [{ monthly_limit: 1 }, 'This business has used its 1 use for this month.'],
  ] as [Limits, string][])('is refused with a message about “1 use” if the limit is 1: %j', async (limits, message) => {
    const business = await newLimitedBusiness(limits);
    await use(business);
    expect(answerOf(await use(business))).toEqual({ status: 429, body: { status: false, message } });
  });

  test.each([
    ['2026-03-15T00:00:00.000Z', 86_400, 17 * 86_400],
    ['2026-03-15T23:59:59.999Z', 1, 16 * 86_400 + 1],
    ['2026-02-28T12:00:00.001Z', 43_200, 43_200],
    ['2028-02-28T12:00:00.000Z', 43_200, 129_600],
    ['2026-12-31T23:59:00.000Z', 60, 60],
    ['2026-12-01T00:00:00.000Z', 86_400, 31 * 86_400],
  ])('at %s may be retried after %i seconds with a daily limit or %i with a monthly one', async (at, day, month) => {
    const business = await newLimitedBusiness({ daily_limit: 1 });
    await use(business, { at: new Date(at) });
    const seconds = async () => (await use(business, { at: new Date(at) })).headers.get('Retry-After');
    expect(await seconds()).toBe(`${day}`);
    await setLimits(business, { daily_limit: null, monthly_limit: 1 });
    expect(await seconds()).toBe(`${month}`);
  });

  test.each([
    ['daily_limit' as const, 'today' as const],
    ['monthly_limit' as const, 'this month' as const],
  ])('is refused without a Retry-After header if the %s is 0', async (name, period) => {
    const business = await newLimitedBusiness({ [name]: 0 });
    expect((await use(business)).headers.get('Retry-After')).toBeNull();
    expect(answerOf(await use(business))).toEqual(refusal(0, period));
    expect(answerOf(await keyed(business, 'order-1'))).toEqual(refusal(0, period));
    expect(await countsByDay(business)).toEqual({});
  });

  test('is accepted the next day with a daily limit, and the next month with a monthly limit', async () => {
    const business = await newLimitedBusiness({ daily_limit: 1 });
    const at = (time: string) => ({ at: new Date(time) });
    await use(business, at('2026-12-31T23:59:59.999Z'));
    expect((await use(business, at('2026-12-31T23:59:59.999Z'))).status).toBe(429);
    const next = await use(business, at('2027-01-01T00:00:00.000Z'));
    expect(answerOf(next)).toEqual(granted({ date: '2027-01-01', count: 1, remaining: 0 }));
    await setLimits(business, { daily_limit: null, monthly_limit: 1 });
    expect((await use(business, at('2027-01-31T23:59:59.999Z'))).status).toBe(429);
    const later = await use(business, at('2027-02-01T00:00:00.000Z'));
    expect(answerOf(later)).toEqual(granted({ date: '2027-02-01', count: 1, remaining: 0 }));
  });

  test('does not affect reports or sites', async () => {
    const business = await newLimitedBusiness({ daily_limit: 0, monthly_limit: 0 });
    expect((await call('GET', business.usage, { as: business.token })).status).toBe(200);
    const added = await call('POST', business.access, { as: business.key, body: { sites: ['https://a.example'] } });
    expect(added.status).toBe(200);
  });
});

describe('the limit is checked', () => {
  const FULL = { daily_limit: 0, monthly_limit: 0 };
  const sites = ['https://shop.example'];

  test('after the Idempotency-Key, so an invalid one gets 422', async () => {
    const business = await newLimitedBusiness(FULL);
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces';
    expect(answerOf(await keyed(business, 'two words'))).toEqual(invalid('Idempotency-Key', message));
  });

  test('after the credential and the business, so unknown ones get 401 and 422', async () => {
    const business = await newLimitedBusiness(FULL);
    expect((await use(business, { as: 'q'.repeat(24) })).status).toBe(401);
    const other = await newBusiness();
    const body = { status: false, message: 'business id is not valid' };
    expect(answerOf(await use(business, { as: other.key }))).toEqual({ status: 422, body });
  });

  test.each<[string, Parameters<typeof newBusiness>[0], (business: Business) => CallOptions, string]>([
    [
      'an unauthorized origin',
      { sites },
      ({ token }) => ({ as: token, origin: 'https://evil.example' }),
      'Origin https://evil.example is not authorized for this business.',
    ],
    [
      'a missing origin',
      { sites },
      ({ token }) => ({ as: token }),
      'This business token works only from pages of its registered sites. From a server, use an API key.',
    ],
    ['an inactive business', { status: 'suspended' }, ({ key }) => ({ as: key }), 'This business is not active.'],
  ])('only if the use is not refused with 403 because of %s', async (_, fields, options, message) => {
    const business = await newLimitedBusiness(FULL, fields);
    const answers = [
      await use(business, options(business)),
      await use(business, { ...options(business), headers: { 'Idempotency-Key': 'order-1' } }),
    ];
    for (const answer of answers) expect(answerOf(answer)).toEqual(refused(message));
  });
});

describe('a list of uses', () => {
  test('from the operator is counted beyond the limits, and its response contains no `remaining`', async () => {
    const business = await newLimitedBusiness({ daily_limit: 2, monthly_limit: 2 });
    const list = (...ids: string[]) =>
      use(business, { as: OPERATOR.record, body: { uses: ids.map((id) => ({ id })) } });
    expect(answerOf(await list('a', 'b', 'c', 'd', 'a'))).toEqual(granted({ recorded: 4, duplicates: 1 }));
    expect(answerOf(await list('e', 'a'))).toEqual(granted({ recorded: 1, duplicates: 1 }));
    expect(await countsByDay(business)).toEqual({ [TODAY]: 5 });
    expect(answerOf(await use(business))).toEqual(refusal(2, 'this month'));
    // Beyond the limit, `remaining` is 0, and a use with an id from the list is a duplicate.
    expect(answerOf(await keyed(business, 'a'))).toEqual(
      granted({ date: TODAY, count: 5, duplicate: true, remaining: 0 }),
    );
  });

  test('on past days counts towards the months of those days', async () => {
    const business = await newLimitedBusiness({ monthly_limit: 3 });
    await report(business, ['a', 'b'], '2026-02-28T12:00:00Z');
    await report(business, ['c', 'd'], '2026-03-01T00:00:00Z');
    expect(answerOf(await use(business))).toEqual(granted({ date: TODAY, count: 1, remaining: 0 }));
    expect(answerOf(await use(business))).toEqual(refusal(3, 'this month'));
  });
});

describe('`remaining`', () => {
  test.each<[string, Limits, number | undefined]>([
    ['is missing without a limit', {}, undefined],
    ['is what remains of the daily limit', { daily_limit: 10 }, 6],
    ['is what remains of the monthly limit', { monthly_limit: 10 }, 3],
    ['is the monthly remainder if it is smaller', { daily_limit: 10, monthly_limit: 10 }, 3],
    ['is the daily remainder if it is smaller', { daily_limit: 5, monthly_limit: 10 }, 1],
    ['is 0 after the last use', { daily_limit: 4 }, 0],
  ])('%s', async (_, limits, remaining) => {
    const business = await newLimitedBusiness(limits);
    await setCount(business.id, '2026-02-28', 100);
    await setCount(business.id, '2026-03-01', 3);
    await setCount(business.id, TODAY, 3);
    const data = { date: TODAY, count: 4, ...(remaining === undefined ? {} : { remaining }) };
    const first = await keyed(business, 'order-1');
    expect(first.text).toBe(JSON.stringify({ status: true, data }));
    expect(answerOf(await keyed(business, 'order-1'))).toEqual(granted({ ...data, duplicate: true }));
    const [token, key] = [business.token, business.key];
    const next =
      remaining === undefined || remaining === 0 ? undefined : { date: TODAY, count: 5, remaining: remaining - 1 };
    if (next !== undefined) expect(answerOf(await use(business, { as: token }))).toEqual(granted(next));
    if (remaining === undefined)
      expect(answerOf(await use(business, { as: key }))).toEqual(granted({ date: TODAY, count: 5 }));
  });

  test('is current in the response to a retry of a use that was counted on another day', async () => {
    const business = await newLimitedBusiness({ daily_limit: 2 });
    await keyed(business, 'order-1', { at: new Date('2026-03-14T12:00:00Z') });
    await use(business);
    const repeat = await keyed(business, 'order-1');
    expect(answerOf(repeat)).toEqual(granted({ date: '2026-03-14', count: 1, duplicate: true, remaining: 1 }));
  });
});

test('the limits are returned in the list of businesses, but not with the list of sites', async () => {
  const business = await newLimitedBusiness({ daily_limit: 10, monthly_limit: 5 });
  await use(business);
  const { key, usage: _, access, ...shown } = business;
  const listed = await call('GET', access, { as: key });
  expect(listed.body).toEqual({ status: true, data: { ...shown, access_list: [] } });
  const added = await call('POST', access, { as: key, body: { sites: ['https://a.example'] } });
  expect(Object.keys(added.body.data)).toEqual([...Object.keys(shown), 'access_list']);
  const limits = async () => (await call('GET', '/api/v1/business', { as: key })).body.data.businesses[0].limits;
  expect(await limits()).toMatchObject({ daily: 10, monthly: 5, remaining: 4 });
  await setLimits(business, { daily_limit: 0, monthly_limit: null });
  expect(await limits()).toMatchObject({ daily: 0, monthly: null, remaining: 0 });
  await setLimits(business, { daily_limit: null });
  expect(await limits()).toBeNull();
});

describe('a use takes one round trip', () => {
  const origin = 'https://shop.example';
  /**
   * Returns the rows read and written by each of five requests: a use from a page, a use from a server, the same two with an id, and a
   * retry of the last one.
   */
  async function costsOf(limits: Limits) {
    const business = await newLimitedBusiness(limits, { sites: [origin] });
    for (let day = 1; day <= 15; day++) await setCount(business.id, `2026-03-${String(day).padStart(2, '0')}`, 1);
    for (let day = 1; day <= 28; day++) await setCount(business.id, `2026-02-${String(day).padStart(2, '0')}`, 1);
    const page = { as: business.token, origin };
    const once = { headers: { 'Idempotency-Key': 'order-1' } };
    const answers = [];
    for (const options of [page, {}, { ...page, ...once }, once, once]) answers.push(await use(business, options));
    return answers.map(({ cost }) => {
      expect(cost.round_trips).toBe(1);
      return [cost.rows_read, cost.rows_written];
    });
  }
  // A use from a page also reads its site and the number of that.
  const ROWS = [10, 8, 13, 11, 10];
  const WRITTEN = [1, 1, 2, 2, 0];
  /** Returns the expected costs if each use reads `rows` additional rows. A retry reads the limits only once. */
  const more = (rows: number, ofRetry: number) =>
    ROWS.map((read, index) => [read + (index === 4 ? ofRetry : rows), WRITTEN[index]]);

  test('and reads no extra rows without a limit', async () => {
    expect(await costsOf({})).toEqual(more(0, 0));
  });

  // To decide, to respond, and to store the thresholds that the use reaches.
  test('and reads six more rows with a daily limit', async () => {
    expect(await costsOf({ daily_limit: 100 })).toEqual(more(6, 1));
  });

  test('and reads three more rows per day of the month so far with a monthly limit', async () => {
    expect(await costsOf({ monthly_limit: 100 })).toEqual(more(3 * 15 + 3, 15));
    expect(await costsOf({ daily_limit: 100, monthly_limit: 100 })).toEqual(more(3 * 15 + 6, 16));
  });

  test('and writes no rows if it is refused', async () => {
    expect(await costsOf({ daily_limit: 0 })).toEqual([11, 9, 11, 9, 9].map((read) => [read, 0]));
    expect(await costsOf({ monthly_limit: 0 })).toEqual([39, 37, 39, 37, 37].map((read) => [read, 0]));
  });

  test('and reads no days if it is refused for a reason other than a limit', async () => {
    const without = await newBusiness({ sites: [origin] });
    const full = await newLimitedBusiness({ daily_limit: 5, monthly_limit: 5 }, { sites: [origin] });
    for (let day = 1; day <= 15; day++) await setCount(full.id, `2026-03-${String(day).padStart(2, '0')}`, 1);
    for (const headers of [{}, { 'Idempotency-Key': 'order-1' }]) {
      const evil = { origin: 'https://evil.example', headers };
      const costs = [without, full].map(async (business) => {
        const { status, cost } = await use(business, { as: business.token, ...evil });
        return { status, rows_read: cost.rows_read, rows_written: cost.rows_written };
      });
      const [expected, actual] = await Promise.all(costs);
      expect(actual).toEqual(expected);
      expect(actual).toMatchObject({ status: 403, rows_written: 0 });
    }
  });
});

describe('uses that a limit refused', () => {
  const refusedIn = async (business: Business, at = NOW) => {
    const path = `/api/v1/business/${business.id}`;
    const one = (await call('GET', path, { as: business.key, at })).body.data.refused_by_limit;
    const { businesses } = (await call('GET', '/api/v1/business', { as: business.key, at })).body.data;
    expect(businesses[0].refused_by_limit).toBe(one);
    return one;
  };

  test('are counted by the billing month, with their quantities, and nothing else is stored', async () => {
    const business = await newLimitedBusiness({ daily_limit: 2, overage: 0 }, { sites: ['https://a.example'] });
    await setCount(business.id, TODAY, 2);
    const before = await dumpAll();
    await use(business);
    await use(business, { as: business.token, origin: 'https://a.example' });
    await use(business, { body: { quantity: 5 } });
    await report(business, ['a', 'b', 'a']);
    await keyed(business, 'c', { body: { at: `${TODAY}T01:00:00Z` } });
    expect(await dumpAll()).toBe(before);
    expect(await refusedIn(business)).toBe(9 + 1);
    expect(await refusedIn(business, new Date('2026-04-01T00:00:00Z'))).toBe(0);
  });

  test('are not counted if another rule refuses the request, or for a business that is gone', async () => {
    const business = await newLimitedBusiness({ daily_limit: 0 }, { sites: ['https://a.example'] });
    await use(business, { as: business.token, origin: 'https://b.example' });
    await use(business, { body: { quantity: 0 } });
    expect(await refusedIn(business)).toBe(0);
    await recordLimitRefusal(business.home.d1, business.id + 1, TODAY, 1);
    expect(await business.db.$count(limitRefusals, eq(limitRefusals.business_id, business.id + 1))).toBe(0);
  });

  test('are forgotten when one is refused 92 days later', async () => {
    const business = await newBusiness();
    for (const day of ['2026-01-01', '2026-04-03', '2026-04-04'])
      await recordLimitRefusal(business.home.d1, business.id, day, 1);
    const own = eq(limitRefusals.business_id, business.id);
    const days = await business.db.select({ day: limitRefusals.day }).from(limitRefusals).where(own);
    expect(days.map(({ day }) => day)).toEqual(['2026-04-03', '2026-04-04']);
  });
});
