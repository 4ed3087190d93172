// What invoices are made of: usage totals and the invoice run (docs/api.md, "Invoices"). The simulator (test/sim) checks what they contain,
// and billing months.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { businesses } from '../src/db/schema.ts';
import {
  type Business,
  type CallOptions,
  call,
  failingWith,
  homes,
  newKey,
  newLimitedBusiness,
  OPERATOR,
  setCount,
} from './support.ts';

const read = (query: string, options: CallOptions = {}) =>
  call('GET', `/api/v1/usage?${query}`, { as: OPERATOR.record, ...options });
const CREATED = '2025-01-01T00:00:00.000000Z';
/** Creates a business that existed before all the months in these tests. */
const oldBusiness: typeof newLimitedBusiness = (limits, fields) =>
  newLimitedBusiness({ created_at: CREATED, ...limits }, fields);
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const changeOn = (business: Business, day: string, billing_day: number) =>
  call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { billing_day }, at: noonOf(day) });

test('pages of totals get 503 instead of being skipped if their database is down', async () => {
  for (const down of homes) {
    const bindings = failingWith('D1_ERROR: Network connection lost.', 'before', down);
    for (const { number } of homes) {
      const { status } = await read(number === 0 ? '' : `after=${number * 1e9}`, { bindings });
      expect({ number, status }).toEqual({ number, status: number === down.number ? 503 : 200 });
    }
  }
});

test('a count is final a minute after midnight, when no earlier request can still be running', async () => {
  const { user_id } = await oldBusiness({ billing_day: 14 });
  for (const [time, final] of [
    ['00:00:59', false],
    ['00:01:00', true],
  ] as const) {
    const { body } = await read(`ended=2026-03-13&user_id=${user_id}`, { at: new Date(`2026-04-23T${time}Z`) });
    expect(body.data.usage).toMatchObject([{ final }]);
  }
});

test('a month is listed once, even if the billing day is later changed back', async () => {
  const business = await oldBusiness({ billing_day: 5 });
  await changeOn(business, '2026-01-20', 10);
  await changeOn(business, '2026-02-20', 5);
  const ofDay = async (day: string) => {
    const { number } = business.home;
    const after = number === 0 ? '' : `&after=${number * 1e9}`;
    const { body } = await read(`ended=${day}${after}`, { at: noonOf('2026-06-01') });
    const own = body.data.usage.filter(({ business_id }: { business_id: number }) => business_id === business.id);
    return own.map(({ starts_on, ends_on }: { starts_on: string; ends_on: string }) => `${starts_on} to ${ends_on}`);
  };
  expect(await ofDay('2026-02-04')).toEqual(['2026-01-05 to 2026-02-04']);
  expect(await ofDay('2026-03-09')).toEqual(['2026-02-05 to 2026-03-09']);
});

test.each([
  ['=1', "'=1"],
  ['A;=1', "A;'=1"],
  ['A, -1', `"A,' -1"`],
  ['＝1', "'＝1"],
  ['A=1; B', 'A=1; B'],
  ['=1+"a",b', `"'=1+""a"",b"`],
])('the business name %s becomes %s in CSV', async (name, cell) => {
  const business = await oldBusiness({ billing_day: 17, name });
  const csv = { headers: { Accept: 'text/csv' }, at: noonOf('2026-03-20') };
  const { text } = await read(`ended=2026-03-16&user_id=${business.user_id}`, csv);
  expect(text.split('\r\n')[1]).toBe(
    `${business.id},${business.user_id},${cell},${CREATED},2026-02-17,2026-03-16,0,,0,false`,
  );
});

test('a wrong day of an invoice run hides the errors of a range, and a range is named before a day that has not ended', async () => {
  const fieldsOf = async (query: string) => {
    const { status, body } = await read(query, { at: noonOf('2026-03-15') });
    return [status, ...Object.keys(body.errors)];
  };
  expect(await fieldsOf('ended=x&from=2026-03-02&to=2026-03-01')).toEqual([422, 'ended']);
  expect(await fieldsOf('ended=2026-03-15&from=2026-03-02')).toEqual([422, 'from', 'ended']);
});

test('a count in an invoice run is at most the largest exact JSON number, so that no business stops the run', async () => {
  const { id, user_id } = await oldBusiness({ billing_day: 18 });
  for (const day of ['2025-02-18', '2025-02-19']) await setCount(id, day, Number.MAX_SAFE_INTEGER);
  const { body } = await read(`ended=2025-03-17&user_id=${user_id}`);
  expect(body.data.usage).toMatchObject([{ count: Number.MAX_SAFE_INTEGER }]);
});

test('a key reads the ended months of the businesses that its origin may read, and no totals', async () => {
  const ofLimit = (fields?: object) => oldBusiness({ billing_day: 23, monthly_limit: 5 }, fields);
  const first = await ofLimit();
  const { user_id, key } = first;
  const second = await ofLimit({ user_id, sites: ['https://shop.example'] });
  const later = await oldBusiness({ billing_day: 24 }, { user_id });
  await ofLimit(); // another owner's
  const created_at = '2026-02-23T00:00:00.000000Z'; // after the month
  await oldBusiness({ billing_day: 23, created_at }, { user_id });
  const counts = [['2026-01-22', 100], ['2026-01-23', 3], ['2026-02-22', 4], ['2026-02-23', 100]] as const; // biome-ignore format: one line
  for (const [day, count] of counts) await setCount(second.id, day, count);
  const asked = 'ended=2026-02-22';
  const idsOf = async (query: string, options: CallOptions) => {
    const { status, body, cost } = await read(query, options);
    expect({ status, trips: cost.round_trips }).toEqual({ status: 200, trips: 1 });
    return [body.data.usage.map(({ business_id }: { business_id: number }) => business_id), body.data.next];
  };
  expect(await idsOf(asked, { as: key })).toEqual([[first.id, second.id], null]);
  expect(await idsOf(asked, { as: key, origin: 'https://shop.example' })).toEqual([[first.id, second.id], null]);
  expect(await idsOf(asked, { as: key, origin: 'https://other.example' })).toEqual([[first.id], null]);
  // Pages examine businesses whose months ended later, or that the origin may not read.
  expect(await idsOf(`${asked}&limit=1&after=${first.id}`, { as: key, origin: 'https://other.example' })).toEqual([
    [],
    second.id,
  ]);
  expect(await idsOf(`${asked}&after=${second.id}`, { as: key })).toEqual([[], null]);
  expect(await idsOf('ended=2026-02-23', { as: key })).toEqual([[later.id], null]);
  for (const { id } of [first, second]) {
    const { key: narrow } = await newKey(first, { business_id: id });
    expect(await idsOf(asked, { as: narrow })).toEqual([[id], null]);
  }

  const { body } = await read(`${asked}&after=${first.id}`, { as: key });
  const { name } = second;
  expect(body.data.usage).toEqual([
    {
      ...{ business_id: second.id, user_id, name, created_at: CREATED, starts_on: '2026-01-23', ends_on: '2026-02-22' },
      ...{ count: 7, monthly_limit: 5, extra: 0, final: false },
    },
  ]);
  const refusals = [
    await read('from=2026-02-01', { as: key }),
    await read(asked, { as: (await newKey(first, { role: 'record' })).key }),
    await read(asked, { as: first.token }),
    await read(`${asked}&user_id=${user_id}`, { as: key }),
  ];
  expect(refusals.map(({ status, headers }) => [status, headers.get('Error-Code')])).toEqual([
    [403, 'operator_only'],
    [403, 'record_only_key'],
    [403, 'token_not_allowed'],
    [422, 'invalid_input'],
  ]);
  // An inactive business is billed, too.
  await first.db.update(businesses).set({ status: 'suspended' }).where(eq(businesses.id, first.id));
  expect(await idsOf(asked, { as: key })).toEqual([[first.id, second.id], null]);
});

test('an invoice run reads only the businesses that it lists and those whose billing day changed later', async () => {
  const home = homes[0];
  const made = await Promise.all(
    Array.from({ length: 12 }, () => oldBusiness({ billing_day: 21 }, { user_id: 3_000_000 })),
  );
  const insert = `insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at, billing_day)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    select 3000001, 'A', 'a.example', 'https://a.example', 1, 's', printf('other-%030d', i), 'active', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', 22 from n`;
  await home.d1.prepare(insert).run();
  for (const business of made.slice(0, 2)) await changeOn(business, '2026-01-10', 5);
  const answer = await read('ended=2026-02-20&limit=5');
  expect(answer.body.data.usage).toHaveLength(5);
  expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
  expect(answer.cost.rows_read).toBeLessThanOrEqual(5 * 4 + 3 + 2 * 3);
});
