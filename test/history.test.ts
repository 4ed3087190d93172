// PUT /api/v1/business/{business_id}/history: imports daily counts from another system. An import stores either all of the counts or none.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { changes, dailyUsage } from '../src/db/schema.ts';
import { answerOf, granted } from './answers.ts';
import { type Business, type CallOptions, call, dumpAll, newBusiness, OPERATOR, setCount, TODAY } from './support.ts';

type Day = { date: string; count: number };
const MOST = Number.MAX_SAFE_INTEGER;

/** Returns the `length` days before today with these counts. */
const history = (length: number, count = (index: number) => index + 1): Day[] =>
  Array.from({ length }, (_, index) => ({ date: addDays(TODAY, index - length), count: count(index) }));
const put = ({ id }: Business, body: unknown, options: CallOptions = {}) =>
  call('PUT', `/api/v1/business/${id}/history`, { as: OPERATOR.full, body, ...options });
const stored = async ({ id, db }: Business): Promise<Day[]> =>
  db
    .select({ date: dailyUsage.day, count: dailyUsage.count })
    .from(dailyUsage)
    .where(eq(dailyUsage.business_id, id))
    .orderBy(dailyUsage.day);
const recorded = async ({ id, db }: Business) => {
  const rows = await db.select().from(changes).where(eq(changes.subject_id, id)).orderBy(changes.id);
  return rows.map(({ actor, action, before, after }) => {
    return { actor, action, before: before && JSON.parse(before), after: after && JSON.parse(after) };
  });
};
const imported = (before: object | null, after: object) => ({
  ...{ actor: 'operator (…ffff)', action: 'import_usage', before, after },
});
/** Returns the body of a refusal with these errors. The first error is also the message. */
const refusal = (errors: Record<string, string>) => ({
  status: false,
  message: Object.values(errors)[0],
  errors: Object.fromEntries(Object.entries(errors).map(([field, error]) => [field, [error]])),
});
const taken = (index: number, date: string, count: number) =>
  `days.${index} ${date} already has a count of ${count}: send "replace": true to overwrite it`;

test('an import of five years is stored in one round trip as one change, and repeating it has no effect', async () => {
  const business = await newBusiness();
  const days = history(1830);
  const total = { days: 1830, uses: (1830 * 1831) / 2 };
  // The import writes one more row for each of the last 41 days, because uses on those days could otherwise still be lowered.
  for (const written of [1830 + 41 + 4, 0, 0]) {
    const answer = await put(business, { days });
    expect(answerOf(answer)).toEqual(granted(total));
    expect(answer.cost.round_trips).toBe(1);
    expect(answer.cost.rows_written).toBeLessThanOrEqual(written);
  }
  expect((await put(business, { days, replace: true })).cost.rows_written).toBe(0);
  expect(await stored(business)).toEqual(days);
  expect(await recorded(business)).toEqual([imported(null, total)]);
});

test('an import of 1,830 days with an invalid entry is rejected, and the error names each invalid entry', {
  tags: 'slow',
}, async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-03-13', 5);
  const before = await dumpAll();
  const wrong: [Partial<Record<keyof Day, unknown>>, string, string][] = [
    [{ date: '2026-02-30' }, 'date', 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
    [{ date: '2026-1-3' }, 'date', 'must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD'],
    [
      { date: undefined },
      'date',
      'is required, and must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD',
    ],
    [{ count: -1 }, 'count', `must be a whole number from 0 to ${MOST}`],
    [{ count: 1.5 }, 'count', `must be a whole number from 0 to ${MOST}`],
    [{ count: '5' }, 'count', `must be a whole number from 0 to ${MOST}`],
    [{ count: 2 ** 53 }, 'count', `must be a whole number from 0 to ${MOST}`],
    [{ date: TODAY }, 'date', 'must be a date before today (2026-03-15, UTC)'],
    [{ date: '2026-03-16' }, 'date', 'must be a date before today (2026-03-15, UTC)'],
    [{ date: '2026-03-14' }, 'date', 'must not repeat days.99'],
  ];
  for (const [change, member, rule] of wrong) {
    const days: unknown[] = history(1830).toReversed();
    days[99] = days[0];
    days[0] = { date: '1999-12-31', count: 1 };
    const field = `days.1829.${member}`;
    days[1829] = { date: '1999-12-30', count: 1, ...change };
    const answer = await put(business, { days, replace: true });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual(refusal({ [field]: `${field} ${rule}` }));
  }
  const days = [
    { date: '2026-03-12', count: 1 },
    { date: '2026-03-13', count: 6 },
    { date: '2026-03-12', count: 1 },
    { date: TODAY, count: 1 },
  ];
  expect((await put(business, { days })).body).toEqual(
    refusal({
      'days.1': taken(1, '2026-03-13', 5),
      'days.2.date': 'days.2.date must not repeat days.0',
      'days.3.date': 'days.3.date must be a date before today (2026-03-15, UTC)',
    }),
  );
  const malformed = days.map((day) => ({ ...day, count: -day.count }));
  expect(Object.keys((await put(business, { days: malformed })).body.errors)).toEqual([
    ...days.map((_, index) => `days.${index}.count`),
    'days.2.date',
    'days.3.date',
  ]);
  expect(await dumpAll()).toBe(before);
});

test.each([
  ['an empty body', '', 'body'],
  ['a list as its body', [], 'body'],
  ['no days', { days: [] }, 'days'],
  ['too many days', { days: history(1831) }, 'days'],
  ['an unknown member', { days: history(1), overwrite: true }, 'overwrite'],
  ['an unknown member of a day', { days: [{ ...history(1)[0], uses: 1 }] }, 'days.0.uses'],
  ['a non-boolean `replace`', { days: history(1), replace: 'yes' }, 'replace'],
  ['an inexact sum of uses', { days: history(2, (index) => (index === 0 ? MOST : 1)) }, 'days'],
])('an import with %s is rejected', async (_, body, field) => {
  const business = await newBusiness();
  const answer = await put(business, body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  expect(await stored(business)).toEqual([]);
});

test('the largest counts are exact, and a larger sum of replaced counts is capped', async () => {
  const business = await newBusiness();
  const days = history(2, (index) => (index === 0 ? MOST - 1 : 1));
  expect((await put(business, { days })).body.data).toEqual({ days: 2, uses: MOST });
  expect(await stored(business)).toEqual(days);
  // The sum of 1,100 such counts exceeds SQLite's largest integer.
  const all = history(1100, () => MOST);
  const insert = `insert into daily_usage (business_id, day, count) select ?, value ->> 'date', value ->> 'count' from json_each(?)`;
  await business.home.d1
    .prepare(insert)
    .bind(business.id, JSON.stringify(all.slice(0, -2)))
    .run();
  const fewer = history(1100, () => 1);
  expect((await put(business, { days: fewer, replace: true })).status).toBe(200);
  expect((await recorded(business)).map(({ before, after }) => [before, after])).toEqual([
    [null, { days: 2, uses: MOST }],
    [
      { days: 1100, uses: MOST },
      { days: 1100, uses: 1100 },
    ],
  ]);
  const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key });
  expect(body.data.changes[0].before).toEqual({ days: 1100, uses: MOST });
});
