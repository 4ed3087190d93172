// PUT /api/v1/business/{business_id}/history: the longest and the largest imports. The simulator (test/sim) checks the rest.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { dailyUsage } from '../src/db/schema.ts';
import { answerOf, granted, invalid } from './answers.ts';
import { type Business, call, newBusiness, OPERATOR, TODAY } from './support.ts';

type Day = { date: string; count: number };
const MOST = Number.MAX_SAFE_INTEGER;

/** Returns the `length` days before today with these counts. */
const history = (length: number, count = (index: number) => index + 1): Day[] =>
  Array.from({ length }, (_, index) => ({ date: addDays(TODAY, index - length), count: count(index) }));
const put = ({ id }: Business, body: unknown) =>
  call('PUT', `/api/v1/business/${id}/history`, { as: OPERATOR.full, body });
const stored = async ({ id, db }: Business): Promise<Day[]> =>
  db
    .select({ date: dailyUsage.day, count: dailyUsage.count })
    .from(dailyUsage)
    .where(eq(dailyUsage.business_id, id))
    .orderBy(dailyUsage.day);
/** The recorded changes, newest first. */
const recorded = async ({ id, key }: Business) => {
  const { body } = await call('GET', `/api/v1/business/${id}/changes`, { as: key });
  return body.data.changes.map(({ action, before, after }: Record<string, unknown>) => [action, before, after]);
};

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
  expect(await recorded(business)).toEqual([['import_usage', null, total]]);
});

test('an import of 1,830 days is rejected if its last entry is wrong, and one of 1,831 days', {
  tags: 'slow',
}, async () => {
  const business = await newBusiness();
  const days: Partial<Day>[] = history(1830).toReversed();
  const refused = async (last: Partial<Day>, more: Partial<Day>[] = []) => {
    const answer = await put(business, { days: [...days.slice(0, -1), last, ...more], replace: true });
    expect(answer.cost.rows_written).toBe(0);
    return answerOf(answer);
  };
  const field = (name: string, rule: string) => invalid(`days.1829.${name}`, `days.1829.${name} ${rule}`);
  expect(await refused({ date: '1999-12-30', count: -1 })).toEqual(
    field('count', `must be a whole number from 0 to ${MOST}`),
  );
  expect(await refused({ date: '2026-03-14', count: 1 })).toEqual(field('date', 'must not repeat days.0'));
  const tooMany = 'days must be a list of 1 to 1830 days, such as [{"date":"2026-01-31","count":120}]';
  expect(await refused({ date: '1999-12-30', count: 1 }, days.slice(-1))).toEqual(invalid('days', tooMany));
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
  expect(await recorded(business)).toEqual([
    ['import_usage', { days: 1100, uses: MOST }, { days: 1100, uses: 1100 }],
    ['import_usage', null, { days: 2, uses: MOST }],
  ]);
});
