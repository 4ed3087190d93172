// The invoice run: the billing months that ended on a given day (docs/api.md, "The invoice run").
import { describe, expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { answerOf, granted, invalid } from './answers.ts';
import {
  type Business,
  type CallOptions,
  call,
  homes,
  inBatches,
  NOW,
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

describe('an invoice run lists', () => {
  test('each billing month that ended on the given day, ordered by business id', async () => {
    const ids: number[] = [];
    for (const _ of homes) {
      const business = await oldBusiness({ billing_day: 10, monthly_limit: 100 });
      await oldBusiness({ billing_day: 11 });
      const suspended = await oldBusiness({ billing_day: 10, status: 'suspended' }, { user_id: business.user_id });
      for (const [day, count] of [
        ['2026-02-09', 1],
        ['2026-02-10', 20],
        ['2026-03-09', 300],
        ['2026-03-10', 4000],
      ] as const)
        await setCount(business.id, day, count);
      ids.push(business.id, suspended.id);
    }
    const months = await run('2026-03-09');
    expect(months.map(({ business_id }) => business_id)).toEqual(ids.sort((a, b) => a - b));
    const shared = { starts_on: '2026-02-10', ends_on: '2026-03-09', final: false };
    expect(months[0]).toEqual({
      ...{ business_id: ids[0], user_id: expect.any(Number), name: expect.stringMatching(/^Business of \d+$/) },
      created_at: CREATED,
      ...{ ...shared, count: 320, monthly_limit: 100 },
    });
    expect(months[1]).toMatchObject({ business_id: ids[1], count: 0, monthly_limit: null });
    expect((await run('2026-03-09', NOW, '&limit=1')).map(({ business_id }) => business_id)).toEqual(ids);
  });

  test('each month once before, during and after a change of the billing day, even if an earlier billing day is set again', {
    tags: 'slow',
  }, async () => {
    const business = await oldBusiness({});
    await changeOn(business, '2026-03-10', 15);
    await changeOn(business, '2026-06-20', 1);
    await changeOn(business, '2026-09-05', 15);
    const at = noonOf('2026-12-31');
    const found: [string, string][] = [];
    for (let day = '2026-02-01'; day < '2026-12-20'; day = addDays(day, 1))
      for (const { starts_on, ends_on } of await monthsOf(business, day, at)) found.push([starts_on, ends_on]);
    expect(found).toEqual([
      ['2026-02-01', '2026-02-28'],
      ['2026-03-01', '2026-03-31'],
      ['2026-04-01', '2026-05-14'],
      ['2026-05-15', '2026-06-14'],
      ['2026-06-15', '2026-07-14'],
      ['2026-07-15', '2026-08-31'],
      ['2026-09-01', '2026-09-30'],
      ['2026-10-01', '2026-11-14'],
      ['2026-11-15', '2026-12-14'],
    ]);
  });

  test('the months of one user’s businesses, in two round trips', async () => {
    const business = await oldBusiness({ billing_day: 12 });
    const other = await oldBusiness({ billing_day: 12 }, { user_id: business.user_id });
    const last = await oldBusiness({ billing_day: 13 }, { user_id: business.user_id });
    for (let day = '2026-02-20'; day <= '2026-03-11'; day = addDays(day, 1)) await setCount(last.id, day, 5);
    await oldBusiness({ billing_day: 12 });
    const answer = await read(`ended=2026-03-11&user_id=${business.user_id}`);
    expect(answer.body.data.usage.map(({ business_id }: Month) => business_id)).toEqual([business.id, other.id]);
    expect(answer.body.data.next).toBeNull();
    expect(answer.cost.round_trips).toBe(2);
    const second = await read(`ended=2026-03-11&user_id=${business.user_id}&limit=1&after=${business.id}`);
    expect(second.body.data).toMatchObject({ usage: [{ business_id: other.id }], next: other.id });
    // A page examines at most `limit` businesses, including those whose month did not end on that day, but reads no counts of the latter.
    const third = await read(`ended=2026-03-11&user_id=${business.user_id}&limit=1&after=${other.id}`);
    expect(third.body.data).toEqual({ usage: [], next: last.id });
    expect(third.cost.rows_read).toBeLessThanOrEqual(10);
    expect(answerOf(await read('ended=2026-03-11&user_id=999999999'))).toEqual(granted({ usage: [], next: null }));
  });

  test('a month’s count as final from 41 days after the month’s last day', async () => {
    const business = await oldBusiness({ billing_day: 14 });
    for (const [days, final] of [
      [1, false],
      [40, false],
      [41, true],
    ] as const)
      expect(await monthsOf(business, '2026-03-13', noonOf(addDays('2026-03-13', days)))).toMatchObject([{ final }]);
  });
});

describe('a month that ended before the business was created', () => {
  const [at, day, created_at] = [noonOf('2026-07-21'), '2026-02-18', '2026-02-19T00:00:00.000000Z'];

  test('is omitted, and the month of the creation is listed', async () => {
    const user_id = 4_000_000;
    const [before, during] = [
      await oldBusiness({ billing_day: 19, created_at }, { user_id }),
      await oldBusiness({ billing_day: 19, created_at: '2026-02-18T23:59:59.999999Z' }, { user_id }),
    ];
    for (const query of ['', `&user_id=${user_id}`]) {
      const months = await run(day, at, query);
      expect(months.map(({ business_id }) => business_id)).toEqual([during.id]);
    }
    expect(await monthsOf(before, '2026-03-18', at)).toMatchObject([{ created_at, count: 0 }]);
    const omitted = await read(`ended=${day}&user_id=${user_id}&limit=1`, { at });
    expect(omitted.body.data).toEqual({ usage: [], next: before.id });
  });

  test('is listed if days in it were imported, or uses in it were recorded late', async () => {
    const [imported, late] = [
      await oldBusiness({ billing_day: 19, created_at }),
      await oldBusiness({ billing_day: 19, created_at }),
    ];
    const days = [{ date: day, count: 7 }];
    const path = `/api/v1/business/${imported.id}/history`;
    expect((await call('PUT', path, { as: OPERATOR.full, body: { days }, at })).status).toBe(200);
    const uses = [{ id: 'a', at: `${day}T12:00:00Z` }];
    const recorded = await call('POST', late.usage, { as: late.key, body: { uses }, at: noonOf('2026-03-01') });
    expect(recorded.body.data.recorded).toBe(1);
    expect(await monthsOf(imported, day, at)).toMatchObject([{ starts_on: '2026-01-19', created_at, count: 7 }]);
    expect(await monthsOf(late, day, at)).toMatchObject([{ count: 1 }]);
    expect([...(await monthsOf(imported, '2026-01-18', at)), ...(await monthsOf(late, '2026-01-18', at))]).toEqual([]);
  });
});

test('a final count cannot be changed by recording or lowering a use', async () => {
  const business = await oldBusiness({});
  const [day, last] = ['2026-02-28', '2026-02-28T23:59:59Z'];
  const at = (days: number) => new Date(`${addDays(day, days)}T23:59:59Z`);
  const record = (id: string, days: number) =>
    call('POST', business.usage, { as: OPERATOR.full, body: { uses: [{ id, at: last, quantity: 9 }] }, at: at(days) });
  const lower = (days: number, quantity: number) =>
    call('PATCH', business.usage, { as: OPERATOR.full, body: { uses: [{ id: 'a', quantity }] }, at: at(days) });
  expect([(await record('a', 35)).status, (await record('b', 36)).status]).toEqual([200, 422]);
  expect((await lower(40, 5)).body.data.lowered).toBe(1);
  expect(await monthsOf(business, day, at(40))).toMatchObject([{ count: 5, final: false }]);
  expect((await lower(41, 1)).body.data.unknown).toBe(1);
  expect(await monthsOf(business, day, at(41))).toMatchObject([{ count: 5, final: true }]);
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

test.each<[string, string, string]>([
  [`ended=${TODAY}`, 'ended', `must be a date before today (${TODAY}, UTC)`],
  ['ended=2026-03-16', 'ended', `must be a date before today (${TODAY}, UTC)`],
  ['ended=2026-02-30', 'ended', 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
  ['ended=2026-02-28&from=2026-02-01', 'from', 'must not be combined with ended'],
  ['ended=2026-02-28&to=2026-02-28', 'to', 'must not be combined with ended'],
  ['ended=2026-02-28&user_id=x', 'user_id', 'must be the id of a user, such as 7, and must appear only once'],
])('an invoice run with %s is rejected', async (query, field, rule) => {
  expect(answerOf(await read(query))).toEqual(invalid(field, `${field} ${rule}`));
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

  test('any 28 days contain at most two monthly limits of uses, the same maximum as without changes', {
    tags: 'slow',
    timeout: 300_000,
  }, async () => {
    const chance = random(39);
    await inBatches(
      Array.from({ length: 8 }, (_, index) => index),
      async () => {
        const business = await oldBusiness({ monthly_limit: 100, billing_day: 1 + Math.floor(chance() * 28) });
        const used: number[] = [];
        for (const day of days(FIRST, addDays(FIRST, 180))) {
          if (chance() < 0.4) await changeOn(business, day, 1 + Math.floor(chance() * 28));
          const path = `/api/v1/business/${business.id}`;
          const { limits } = (await call('GET', path, { as: business.key, at: noonOf(day) })).body.data;
          // Sometimes uses everything that remains of the limit. In the worst case, one month's limit is used up late in the month and the
          // next month's limit early.
          const quantity = chance() < 0.3 ? limits.remaining : 0;
          if (quantity > 0) {
            const answer = await call('POST', business.usage, {
              as: business.key,
              body: { quantity },
              at: noonOf(day),
            });
            expect(answer.status).toBe(200);
          }
          used.push(quantity);
        }
        for (let end = 28; end <= used.length; end++)
          expect(used.slice(end - 28, end).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(200);
      },
    );
  });
});
