// What invoices are made of: usage totals, billing months, and the invoice run (docs/api.md, "Invoices").
import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import {
  type Business,
  type CallOptions,
  call,
  failingWith,
  homes,
  inBatches,
  later,
  NOW,
  newBusiness,
  newLimitedBusiness,
  OPERATOR,
  setCount,
  TODAY,
} from './support.ts';

type Month = {
  business_id: number;
  user_id: number;
  name: string;
  created_at: string;
  starts_on: string;
  ends_on: string;
  count: number;
  monthly_limit: number | null;
  final: boolean;
};
const read = (query: string, options: CallOptions = {}) =>
  call('GET', `/api/v1/usage?${query}`, { as: OPERATOR.record, ...options });
const CREATED = '2025-01-01T00:00:00.000000Z';
/** Creates a business that existed before all the months in these tests. */
const oldBusiness: typeof newLimitedBusiness = (limits, fields) =>
  newLimitedBusiness({ created_at: CREATED, ...limits }, fields);
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const changeOn = (business: Business, day: string, billing_day: number) =>
  call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { billing_day }, at: noonOf(day) });

/** Reads all pages of a run. */
async function run(ended: string, at = NOW, query = ''): Promise<Month[]> {
  const months: Month[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { status, body } = await read(`ended=${ended}${query}${after === 0 ? '' : `&after=${after}`}`, { at });
    expect(status).toBe(200);
    months.push(...body.data.usage);
    after = body.data.next;
  }
  return months;
}
const monthsOf = async (business: Business, ended: string, at?: Date) =>
  (await run(ended, at)).filter(({ business_id }) => business_id === business.id);

describe('usage totals', () => {
  /** Two businesses per database, by id: an active business with uses around March 2026, and a suspended business without uses. */
  let made: Business[];
  beforeAll(async () => {
    const all: Business[] = [];
    for (const _ of homes) {
      const used = await newBusiness();
      const counts = { '2026-02-28': 1000, '2026-03-01': 2, '2026-03-10': 30, '2026-03-31': 400, '2026-04-01': 5000 };
      for (const [day, count] of Object.entries(counts)) await setCount(used.id, day, count);
      all.push(used, await newBusiness({ user_id: used.user_id, status: 'suspended' }));
    }
    made = all.sort((a, b) => a.id - b.id);
  });
  const expected = (...counts: [number, number]) =>
    made.map(({ id, user_id, name, status }) => ({
      ...{ business_id: id, user_id, name },
      count: counts[status === 'active' ? 0 : 1],
    }));

  const PATH = '/api/v1/usage';
  const totalsOf = (query: string, options: CallOptions = {}) =>
    call('GET', PATH + query, { as: OPERATOR.record, ...options });

  test('both operator roles get byte-identical totals', async () => {
    const [first] = expected(432, 0);
    for (const role of [OPERATOR.full, OPERATOR.record]) {
      const answer = await totalsOf('?from=2026-03-01&to=2026-03-31&limit=1', { as: role });
      expect(answer.status).toBe(200);
      const { business_id, user_id, name } = first as NonNullable<typeof first>;
      expect(answer.text).toBe(
        `{"status":true,"data":{"usage":[{"business_id":${business_id},"user_id":${user_id},"name":"${name}","count":432}],"next":${business_id}}}`,
      );
      expect(answer.headers.get('Vary')).toBe('Accept');
      expect(answer.headers.get('Link')).toBeNull();
      expect(answer.lines).toMatchObject([{ operation: 'read_all_usage', status: 200, business_id: null }]);
    }
  });

  test('pages of totals get 503 instead of being skipped if their database is down', async () => {
    for (const down of homes) {
      const bindings = failingWith('D1_ERROR: Network connection lost.', 'before', down);
      for (const { number } of homes) {
        const { status } = await totalsOf(number === 0 ? '' : `?after=${number * 1e9}`, { bindings });
        expect({ number, status }).toEqual({ number, status: number === down.number ? 503 : 200 });
      }
    }
  });

  test('a CSV page of totals links to the next page for the same range, even on a later day', async () => {
    const rows: string[] = [];
    const names = new Set<string>();
    let path: string | undefined = `${PATH}?limit=1`;
    for (let day = 0; path !== undefined; day++) {
      const at = later(day * 86_400_000);
      const { text, headers } = await call('GET', path, { as: OPERATOR.record, headers: { Accept: 'text/csv' }, at });
      const [header, ...page] = text.trimEnd().split('\r\n');
      expect(header).toBe('business_id,user_id,name,count');
      rows.push(...page);
      names.add(headers.get('Content-Disposition') ?? '');
      const link = headers.get('Link');
      path = link === null ? undefined : /^<https:\/\/service\.example(\/.*)>; rel="next"$/.exec(link)?.[1];
      if (link !== null) expect(path).toContain(`?from=${addDays(TODAY, -29)}&to=${TODAY}&limit=1&after=`);
      expect(names.size).toBe(day + 1);
    }
    expect(rows).toEqual(expected(1032, 0).map((total) => Object.values(total).join(',')));
  });
});

describe('changing the billing day', () => {
  const monthOn = async (business: Business, day: string) => {
    const { month, month_ends, billing_day, next_billing_day, from } = (
      await call('GET', `/api/v1/business/${business.id}`, { as: business.key, at: noonOf(day) })
    ).body.data.limits;
    return { month, ends: month_ends.slice(0, 10), billing_day, next_billing_day, from };
  };
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
});

test('a count is final a minute after midnight, when no earlier request can still be running', async () => {
  const business = await oldBusiness({ billing_day: 14 });
  for (const [time, final] of [
    ['00:00:59', false],
    ['00:01:00', true],
  ] as const)
    expect(await monthsOf(business, '2026-03-13', new Date(`2026-04-23T${time}Z`))).toMatchObject([{ final }]);
});

test.each([
  ['=1', "'=1"],
  ['A;=1', "A;'=1"],
  ['A, -1', `"A,' -1"`],
  ['＝1', "'＝1"],
  ['A=1; B', 'A=1; B'],
])('the business name %s becomes %s in CSV', async (name, cell) => {
  const business = await oldBusiness({ billing_day: 17, name });
  const csv = { headers: { Accept: 'text/csv' }, at: noonOf('2026-03-20') };
  const { text } = await read(`ended=2026-03-16&user_id=${business.user_id}`, csv);
  expect(text.split('\r\n')[1]).toBe(
    `${business.id},${business.user_id},${cell},${CREATED},2026-02-17,2026-03-16,0,,false`,
  );
});

test('a CSV page of an invoice run contains the same months, escapes formulas, and links to the next page', async () => {
  const business = await oldBusiness({ billing_day: 16, name: '=1+"a",b', monthly_limit: 5 });
  const other = await oldBusiness({ billing_day: 16, name: 'Plain' }, { user_id: business.user_id });
  await setCount(business.id, '2026-03-15', 7);
  const query = `ended=2026-03-15&user_id=${business.user_id}&limit=1`;
  const csv = { headers: { Accept: 'text/csv' }, at: noonOf('2026-03-16') };
  const answer = await read(query, csv);
  const head = 'business_id,user_id,name,created_at,starts_on,ends_on,count,monthly_limit,final\r\n';
  expect(answer.text).toBe(
    `${head}${business.id},${business.user_id},"'=1+""a"",b",${CREATED},2026-02-16,2026-03-15,7,5,false\r\n`,
  );
  expect(answer.headers.get('Content-Disposition')).toBe('attachment; filename="usage-ended-2026-03-15.csv"');
  const next = `https://service.example/api/v1/usage?ended=2026-03-15&user_id=${business.user_id}&limit=1&after=${business.id}`;
  expect(answer.headers.get('Link')).toBe(`<${next}>; rel="next"`);
  const last = await call('GET', next.slice('https://service.example'.length), { as: OPERATOR.record, ...csv });
  expect(last.text).toBe(`${head}${other.id},${business.user_id},Plain,${CREATED},2026-02-16,2026-03-15,0,,false\r\n`);
});

test('a count in an invoice run is at most the largest exact JSON number, so that no business stops the run', async () => {
  const business = await oldBusiness({ billing_day: 18 });
  for (const day of ['2025-02-18', '2025-02-19']) await setCount(business.id, day, Number.MAX_SAFE_INTEGER);
  expect(await monthsOf(business, '2025-03-17')).toMatchObject([{ count: Number.MAX_SAFE_INTEGER }]);
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

describe('with random changes of billing days,', () => {
  const [FIRST, LAST] = ['2026-01-01', '2027-12-31'];
  const random = (seed: number) => () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const days = (from: string, to: string) =>
    Array.from({ length: (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1 }, (_, index) => addDays(from, index));
  const countOf = (id: number, day: string) => (id * 7 + Number(day.slice(8)) * 13 + Number(day.slice(5, 7))) % 50;
  const nextOn = (day: string, billing_day: number) => {
    let next = day;
    while (Number(next.slice(8)) !== billing_day) next = addDays(next, 1);
    return next;
  };
  /** Computes the months sequentially and independently of the service. `changes` maps days to the billing day set on them. */
  function monthsFrom(billing_day: number, changes: Map<string, number>) {
    const months: [string, string][] = [];
    let [starts_on, ends_on] = ['2025-12-01', ''];
    starts_on = nextOn(starts_on, billing_day);
    ends_on = addDays(nextOn(addDays(starts_on, 1), billing_day), -1);
    while (ends_on <= LAST) {
      months.push([starts_on, ends_on]);
      const wanted = days(starts_on, ends_on).reduce((day, on) => changes.get(on) ?? day, billing_day);
      starts_on = addDays(ends_on, 1);
      billing_day = wanted;
      ends_on = addDays(nextOn(addDays(starts_on, 28), billing_day), -1);
    }
    return months;
  }

  test('two years of nightly invoice runs cover each day of each of 300 businesses exactly once, and their sums are exact', {
    tags: 'slow',
    timeout: 300_000,
  }, async () => {
    const chance = random(38);
    const pick = () => 1 + Math.floor(chance() * 28);
    const all = await inBatches(Array.from({ length: 300 }, pick), async (billing_day) => {
      const business = await oldBusiness({ billing_day });
      return { business, billing_day, changes: new Map<string, number>() };
    });
    for (const { business } of all) {
      const counts = days('2025-11-01', LAST).map((day) => [day, countOf(business.id, day)]);
      await business.home.d1
        .prepare(
          `insert into daily_usage (business_id, day, count) select ?, value ->> 0, value ->> 1 from json_each(?) where value ->> 1 > 0`,
        )
        .bind(business.id, JSON.stringify(counts))
        .run();
    }
    const lines = new Map<number, Month[]>(all.map(({ business }) => [business.id, []]));
    for (const day of days(addDays(FIRST, 1), addDays(LAST, 1))) {
      for (const month of await run(addDays(day, -1), noonOf(day))) lines.get(month.business_id)?.push(month);
      const changing = all.filter(() => chance() < 1 / 60);
      await inBatches(changing, async ({ business, changes }) => {
        const wanted = pick();
        changes.set(day, wanted);
        expect((await changeOn(business, day, wanted)).status).toBe(200);
      });
    }
    let changed = 0;
    for (const { business, billing_day, changes } of all) {
      changed += changes.size;
      const months = monthsFrom(billing_day, changes).filter(([, ends_on]) => ends_on >= FIRST);
      const billed = lines.get(business.id) ?? [];
      expect(billed.map(({ starts_on, ends_on }) => [starts_on, ends_on])).toEqual(months);
      for (const { starts_on, ends_on, count } of billed) {
        expect(count).toBe(days(starts_on, ends_on).reduce((sum, day) => sum + countOf(business.id, day), 0));
        expect(days(starts_on, ends_on).length).toBeGreaterThanOrEqual(28);
      }
    }
    expect(changed).toBeGreaterThan(3000);
    // Past months do not change, so runs in 2028 return the same months.
    for (const day of days(FIRST, LAST).filter((_, index) => index % 9 === 0)) {
      const again = (await run(day, noonOf('2028-06-01'))).filter(({ business_id }) => lines.has(business_id));
      const then = [...lines.values()].flat().filter(({ ends_on }) => ends_on === day);
      const byId = (months: Month[]) =>
        months.map((month) => ({ ...month, final: true })).sort((a, b) => a.business_id - b.business_id);
      expect(byId(again)).toEqual(byId(then));
    }
  });
});
