// Daily and monthly limits are exact under concurrency, and cost few rows. The simulator (test/sim) checks the rest of their rules.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { MAX_COUNT } from '../src/core/limits.ts';
import { addDays } from '../src/core/time.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { limitRefusals } from '../src/db/schema.ts';
import { recordLimitRefusal } from '../src/limits/refusals.ts';
import { answerOf, granted } from './answers.ts';
import { NEW_BUSINESS } from './routes.ts';
import {
  type Business,
  type CallOptions,
  call,
  countsByDay,
  databases,
  inBatches,
  later,
  NOW,
  newBusiness,
  newKey,
  newLimitedBusiness,
  OPERATOR,
  STAMP,
  setCount,
  TODAY,
} from './support.ts';

type Limits = { daily_limit?: number | null; monthly_limit?: number | null };

const use = (business: Business, options: CallOptions = {}) =>
  call('POST', business.usage, { as: business.key, ...options });

test('of 1,000 concurrent uses around midnight, exactly 700 are counted with a limit of 700 a month', {
  tags: 'slow',
}, async () => {
  const business = await newLimitedBusiness({ monthly_limit: 700 });
  const days = [new Date('2026-03-15T23:59:59.999Z'), new Date('2026-03-16T00:00:00.000Z')] as const;
  await call('GET', business.usage, { as: business.key, at: days[1] }); // marks the key as used, so that the uses do not have to
  const sent = Array.from({ length: 1000 }, (_, index) => ({
    at: days[index % 4 < 2 ? 0 : 1],
    headers: index % 2 === 0 ? undefined : { 'Idempotency-Key': `order-${index}` },
  }));
  const answers = await inBatches(sent, (options) => use(business, options));
  const counted = answers.filter(({ status }) => status === 200).map(({ body }) => body.data);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(300);
  // `remaining` counts down without gaps or duplicates.
  expect(counted.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual([...Array(700).keys()]);
  const counts = await countsByDay(business);
  for (const [day, count] of Object.entries(counts))
    expect(counted.filter(({ date }) => date === day)).toHaveLength(count);
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(700);
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
  const ROWS = [10, 8, 10, 10, 10];
  const WRITTEN = [1, 1, 2, 2, 0];
  /** Returns the expected costs if each use reads `rows` additional rows. A retry reads the limits only once. */
  const more = (rows: number, ofRetry: number) =>
    ROWS.map((read, index) => [read + (index === 4 ? ofRetry : rows), WRITTEN[index]]);

  test('and reads no extra rows without a limit', { tags: 'slow' }, async () => {
    expect(await costsOf({})).toEqual(more(0, 0));
  });

  // To decide, to respond, and to store the thresholds that the use reaches.
  test('and reads six more rows with a daily limit', { tags: 'slow' }, async () => {
    expect(await costsOf({ daily_limit: 100 })).toEqual(more(6, 1));
  });

  test('and reads three more rows per day of the month so far with a monthly limit', { tags: 'slow' }, async () => {
    expect(await costsOf({ monthly_limit: 100 })).toEqual(more(3 * 15 + 3, 15));
    expect(await costsOf({ daily_limit: 100, monthly_limit: 100 })).toEqual(more(3 * 15 + 6, 16));
  });

  test('and writes no rows if it is refused', { tags: 'slow' }, async () => {
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

const YESTERDAY = '2026-03-14';
const [BOTH, MONTHLY] = [{ daily_limit: 3, monthly_limit: 4 }, { monthly_limit: 3 }];
test.each<[string, Limits & { overage?: number | null; page_overage?: number }, object, number]>([
  ['a use now', MONTHLY, {}, 3],
  ['a use with the time of now', MONTHLY, { at: NOW.toISOString() }, 3],
  ['a use of yesterday', MONTHLY, { at: `${YESTERDAY}T23:59:59Z` }, 3],
  ['a use of last month', MONTHLY, { at: '2026-02-20T12:00:00Z' }, 3],
  ['a use in two minutes', { daily_limit: 3 }, { at: later(120_000).toISOString() }, 3],
  ['a label', MONTHLY, { label: 'sms' }, 3],
  ['a label and a time', MONTHLY, { label: 'sms', at: NOW.toISOString() }, 3],
  ['a quantity', MONTHLY, { quantity: 3 }, 3],
  ['a quantity with a time', MONTHLY, { quantity: 3, at: NOW.toISOString() }, 3],
  ['a quantity of yesterday', { daily_limit: 3 }, { quantity: 2, at: `${YESTERDAY}T01:00:00Z` }, 2],
  ['a use with a time, of a day and a month', BOTH, { at: NOW.toISOString() }, 3],
  ['a use with a time, with an overage', { ...MONTHLY, overage: 2 }, { at: NOW.toISOString() }, 5],
  ['a use with a time, with page_overage', { ...MONTHLY, overage: 2, page_overage: 1 }, { at: NOW.toISOString() }, 5],
  ['a use with a time, with an unlimited overage', { ...MONTHLY, overage: null }, { at: NOW.toISOString() }, 7],
  ['a use with a time and a limit of 0', { daily_limit: 0 }, { at: NOW.toISOString() }, 0],
])('%s of an operator stops at %j, and only a list goes beyond', async (_, limits, body, counted) => {
  for (const as of [OPERATOR.full, OPERATOR.record]) {
    const business = await newLimitedBusiness(limits);
    const { quantity = 1, at = STAMP } = body as { quantity?: number; at?: string };
    const day = at.slice(0, 10);
    const send = async (id: number) =>
      (await use(business, { as, body, headers: { 'Idempotency-Key': `order-${id}` } })).status;
    const [statuses, permitted] = [[] as number[], counted / quantity];
    for (let id = 0; id < permitted; id++) statuses.push(await send(id));
    // At the same time, so that the refused uses are stored together.
    const others = Array.from({ length: 7 - permitted }, (_, index) => send(permitted + index));
    expect([...statuses, ...(await Promise.all(others))]).toEqual([
      ...[...Array(permitted).fill(200), ...Array(7 - permitted).fill(429)],
    ]);
    expect(await countsByDay(business)).toEqual(counted === 0 ? {} : { [day]: counted });
    const list = await use(business, { as, body: { uses: [{ id: 'listed', ...body, at }] } });
    expect(answerOf(list)).toEqual(granted({ recorded: 1, duplicates: 0 }));
    expect(await countsByDay(business)).toEqual({ [day]: counted + quantity });
  }
});

test('uses with a time that an operator may not record store no alert, and those that count store one', async () => {
  const business = await newLimitedBusiness({ monthly_limit: 3 });
  const at = NOW.toISOString();
  const send = (id: string) => use(business, { as: OPERATOR.full, body: { at }, headers: { 'Idempotency-Key': id } });
  for (const id of ['a', 'b', 'c', 'd', 'e']) await send(id);
  // A retry of a use that counted is not refused.
  expect((await send('a')).body.data).toEqual({ date: TODAY, count: 3, duplicate: true, remaining: 0 });
  const { body } = await call('GET', `/api/v1/business/${business.id}/alerts`, { as: business.key });
  expect(body.data.alerts).toMatchObject([{ threshold: 100, limit: 3, used: 3 }]);
});

test('uses that a limit refused are all counted, with few writes', async () => {
  const business = await newLimitedBusiness({ daily_limit: 0 });
  const cost = noCost();
  const bindings = databases((d1) => metered(d1, cost));
  const refuse = () => use(business, { as: business.key, bindings });
  const counted = async () => (await call('GET', `/api/v1/business/${business.id}`, { as: business.key })).body.data;
  await Promise.all(Array.from({ length: 60 }, refuse));
  expect((await counted()).refused_by_limit).toBe(60);
  expect(cost.rows_written).toBe(2);
  await refuse();
  expect((await counted()).refused_by_limit).toBe(61);
});

test('refused uses are reported by day, as JSON and CSV, whatever may read usage except a token', async () => {
  const business = await newLimitedBusiness({ daily_limit: 0 });
  const { home, id } = business;
  const [old, yesterday] = [addDays(TODAY, -400), addDays(TODAY, -1)];
  for (const [day, uses] of [
    [old, 5],
    [yesterday, 2],
    [yesterday, 3],
    [TODAY, 60],
  ] as const)
    await recordLimitRefusal(home.d1, id, day, uses);
  const path = `/api/v1/business/${id}/refusals`;
  const { key: record } = await newKey(business, { role: 'record' });
  for (const as of [business.key, record, OPERATOR.full, OPERATOR.record]) {
    const answer = await call('GET', `${path}?from=${addDays(TODAY, -2)}`, { as });
    const refused = [addDays(TODAY, -2), yesterday, TODAY].map((date, day) => ({ date, by_limit: [0, 5, 60][day] }));
    expect(answerOf(answer)).toEqual(granted({ refused }));
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(answer.cost.rows_read).toBeLessThanOrEqual(2 + 4); // the days with refused uses, and the permission
  }
  const { body } = await call('GET', path, { as: business.key });
  expect(body.data.refused).toHaveLength(30);
  const csv = await call('GET', `${path}?from=${old}&to=${old}`, { as: business.key, headers: { Accept: 'text/csv' } });
  expect([csv.status, csv.text, csv.headers.get('Content-Disposition')]).toEqual([
    ...[200, `date,by_limit\r\n${old},5\r\n`, `attachment; filename="refusals-${id}-${old}-${old}.csv"`],
  ]);
  expect((await call('GET', path, { as: business.token })).headers.get('Error-Code')).toBe('token_not_allowed');
});

test('a day’s refused uses stop at the highest count', async () => {
  const { home, id, key } = await newBusiness();
  for (let turn = 0; turn < 2; turn++) await recordLimitRefusal(home.d1, id, TODAY, 1e16);
  const { body } = await call('GET', `/api/v1/business/${id}/refusals?from=${TODAY}`, { as: key });
  expect(body.data.refused).toEqual([{ date: TODAY, by_limit: MAX_COUNT }]);
});

test('uses that a limit refuses in one burst write one row, however many are sent with a copied token, and store one row a day', {
  tags: 'slow',
}, async () => {
  const business = await newLimitedBusiness({ daily_limit: 0 });
  const cost = noCost();
  const bindings = databases((d1) => metered(d1, cost));
  const refuse = () =>
    use(business, { as: business.token, bindings, headers: { 'Idempotency-Key': crypto.randomUUID() } });
  await Promise.all(Array.from({ length: 300 }, refuse));
  expect(cost.rows_written).toBe(1);
  const ofBusiness = eq(limitRefusals.business_id, business.id);
  expect(await business.db.select().from(limitRefusals).where(ofBusiness)).toMatchObject([{ day: TODAY, count: 300 }]);
});

test('uses that a limit refused are not counted for a business that is gone', async () => {
  const { id, home, db } = await newBusiness();
  await recordLimitRefusal(home.d1, id + 1, TODAY, 1);
  expect(await db.$count(limitRefusals, eq(limitRefusals.business_id, id + 1))).toBe(0);
});

test.each<[string[], string, boolean]>([
  [['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:3000'], 'http://localhost:3000', false],
  [['http://*.localhost:*', 'http://192.168.1.20', 'http://0.0.0.0:3000', 'http://router'], 'http://router', false],
  [['capacitor://localhost', 'app://shop', `chrome-extension://${'a'.repeat(32)}`], 'capacitor://localhost', false],
  [['http://localhost:*', 'https://*.shop.example'], 'http://localhost:3000', true],
  [['https://127.5gram.com'], 'https://127.5gram.com', true],
])(
  'with page_overage, while %j are registered, a use of %s beyond the limit counts: %s',
  async (sites, origin, isCounted) => {
    const limits = { daily_limit: 1, monthly_limit: 9, overage: 2, page_overage: 1 };
    const business = await newLimitedBusiness(limits);
    // The service decides when it stores them, one at a time or together with the business.
    for (const site of sites)
      expect((await call('POST', business.access, { as: business.key, body: { sites: [site] } })).status).toBe(200);
    const fields = { ...NEW_BUSINESS, user_id: business.user_id, sites, ...limits, page_overage: true };
    const created = (await call('POST', '/api/v1/business', { as: OPERATOR.full, body: fields })).body.data;
    for (const { id, token } of [business, created]) {
      const visit = async () => (await call('POST', `/api/v1/business/usage/${id}`, { as: token, origin })).status;
      expect([await visit(), await visit()]).toEqual([200, isCounted ? 200 : 429]);
    }
    const read = async (path: string) =>
      (await call('GET', `/api/v1/business${path}`, { as: OPERATOR.full })).body.data;
    const { businesses } = await read(`?user_id=${business.user_id}`);
    const shown = [...businesses, await read(`/${created.id}`)].map(({ limits }) => limits.refuses);
    expect(shown).toEqual(Array(3).fill(isCounted ? 'nobody' : 'pages'));
  },
);

test('a site that visitors can reach must stay registered for page_overage, and takes effect with the next use', async () => {
  const business = await newLimitedBusiness({ daily_limit: 0, overage: 5, page_overage: 1 });
  const visit = async () => (await use(business, { as: business.token, origin: 'http://router' })).status;
  const sites = ['http://router', 'https://shop.example'];
  const { body } = await call('POST', business.access, { as: business.key, body: { sites } });
  expect(Object.keys(body.data.access_list[0]).sort()).toEqual([
    'business_id',
    'created_at',
    'id',
    'site',
    'updated_at',
  ]);
  expect(await visit()).toBe(200);
  await call('DELETE', `${business.access}/${body.data.access_list[1].id}`, { as: business.key });
  expect(await visit()).toBe(429);
});

test('page_overage reads a row more for a use or an entry of the list, however many sites visitors cannot reach', async () => {
  const origin = 'https://a.example';
  const local = Array.from({ length: 100 }, (_, index) => `http://s${index}.local`);
  const cost = async (page_overage: number, sites: string[]) => {
    const business = await newLimitedBusiness({ daily_limit: 9, overage: 2, page_overage }, { sites });
    await use(business, { as: business.token, origin });
    const listed = await call('GET', '/api/v1/business', { as: business.key });
    return [(await use(business, { as: business.token, origin })).cost.rows_read, listed.cost.rows_read];
  };
  const [plain, paged, beside] = [await cost(0, [origin]), await cost(1, [origin]), await cost(1, [...local, origin])];
  const more = (rows: number[]) => rows.map((read, index) => read - (plain[index] ?? 0));
  for (const [ofUse = 0, ofEntry = 0] of [more(paged), more(beside)]) {
    expect(ofUse).toBeLessThanOrEqual(2);
    expect(ofEntry).toBeLessThanOrEqual(1);
  }
});

test('a list of uses costs as many round trips as without limits, and reads five more rows if the overage is unlimited', {
  tags: 'slow',
}, async () => {
  const list = (name: string) => Array.from({ length: 100 }, (_, index) => ({ id: `${name}-${index}` }));
  const costOf = async (business: Business) => {
    await use(business, { body: { uses: list('first') } });
    const { cost } = await use(business, { body: { uses: list('then') } });
    return [cost.round_trips, cost.rows_read, cost.rows_written];
  };
  const [trips, read, written] = await costOf(await newBusiness());
  const limits = await costOf(await newLimitedBusiness({ daily_limit: 1000, monthly_limit: 1000 }));
  const free = await costOf(await newLimitedBusiness({ daily_limit: 1000, monthly_limit: 1000, overage: null }));
  expect(free).toEqual([trips, Number(read) + 5, written]);
  expect([limits[0], limits[2]]).toEqual([trips, written]);
  expect(limits[1]).toBeLessThanOrEqual(Number(read) + 4 * 100 + 25);
});
