// The console's file of the last billing months: which it asks for, and what it says of them.
import { beforeAll, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import { addDays } from '../../src/core/time.ts';
import type { EndedMonths } from '../../src/usage/description.ts';
import { limitsWith, listedBusiness } from '../business.ts';

type Month = EndedMonths['usage'][number];
type Months = (ended: string, after: number) => Promise<EndedMonths>;
let monthsCsv: (api: { months: Months }, businesses: readonly ListedBusiness[]) => Promise<string>;
let Failure: new (status: number, message: string, more: { seconds: number | null }) => Error;
beforeAll(async () => {
  // A computed path hides the modules from the compiler: they need the DOM types, which the tests do not have.
  ({ monthsCsv } = await import(['../../src/page/owner', 'list/ended-months.ts'].join('/')));
  ({ Failure } = await import(['../../src/page/owner', 'api.ts'].join('/')));
});

/** A business whose current month begins on this day. */
const listed = (id: number, starts: string) =>
  listedBusiness({
    ...{ id, name: `B${id}`, main_domain: 'b.example', used: [] },
    limits: limitsWith({ month_starts: `${starts}T00:00:00.000000Z` }),
  });
const monthOf = (business_id: number, ends_on: string, fields: Partial<Month> = {}): Month => ({
  ...{ business_id, user_id: 1, name: `B${business_id}`, created_at: '2025-01-01T00:00:00.000000Z', ends_on },
  ...{ starts_on: addDays(ends_on, -29), count: 0, monthly_limit: null, extra: 0, final: false, ...fields },
});

/** Answers as the service does, two businesses a page. Notes what was asked. */
function serviceOf(all: Month[]) {
  const asked: string[] = [];
  const months: Months = async (ended, after) => {
    asked.push(`${ended} after ${after}`);
    const ids = [...new Set(all.map(({ business_id }) => business_id))].filter((id) => id > after).slice(0, 2);
    const usage = all.filter(({ business_id, ends_on }) => ends_on === ended && ids.includes(business_id));
    return { usage, next: ids.length === 2 ? (ids.at(-1) ?? null) : null };
  };
  return { asked, months };
}
const linesOf = (csv: string) => csv.split('\r\n').slice(1, -1);

test.each<[string, Partial<Month>, cells: string]>([
  ['no limit', { count: 120 }, '120,,0,,no'],
  ['uses below its limit', { count: 99, monthly_limit: 100 }, '99,100,0,0,no'],
  ['uses that its extra includes', { count: 130, monthly_limit: 100, extra: 30 }, '130,100,30,0,no'],
  ['uses beyond its limit and its extra', { count: 135, monthly_limit: 100, extra: 30 }, '135,100,30,5,no'],
  ['a limit of 0, and is final', { count: 2, monthly_limit: 0, final: true }, '2,0,0,2,yes'],
])('a month with %s', async (_, fields, cells) => {
  const csv = await monthsCsv(serviceOf([monthOf(1, '2026-10-31', fields)]), [listed(1, '2026-11-01')]);
  expect(linesOf(csv)).toEqual([`1,B1,2026-10-02,2026-10-31,${cells}`]);
});

test('a name is no formula', async () => {
  const csv = await monthsCsv(serviceOf([monthOf(1, '2026-10-31', { name: '=HYPERLINK("x")' })]), [
    listed(1, '2026-11-01'),
  ]);
  expect(linesOf(csv)[0]).toMatch(/^1,"'=HYPERLINK\(""x""\)",/);
});

test('each business has only its last month, although one of another ended on a day of the same list', async () => {
  // After a change of its billing day, the current month of the second began on October 15.
  const all = [monthOf(1, '2026-10-14'), monthOf(1, '2026-11-14'), monthOf(2, '2026-10-14')];
  const csv = await monthsCsv(serviceOf(all), [listed(1, '2026-11-15'), listed(2, '2026-10-15')]);
  expect(linesOf(csv).map((line) => line.split(',').slice(0, 4).join(' '))).toEqual([
    '1 B1 2026-10-16 2026-11-14',
    '2 B2 2026-09-15 2026-10-14',
  ]);
});

test('all pages that can contain a wanted business are read, and no others, and the rows are in order of the ids', async () => {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8];
  const ends = (id: number) => (id === 5 ? '2026-11-14' : '2026-10-31');
  const service = serviceOf(ids.map((id) => monthOf(id, ends(id))));
  const wanted = [6, 3, 5, 2].map((id) => listed(id, addDays(ends(id), 1)));
  expect(linesOf(await monthsCsv(service, wanted)).map((line) => line.split(',')[0])).toEqual(['2', '3', '5', '6']);
  expect(service.asked).toEqual([
    '2026-10-31 after 1',
    '2026-10-31 after 3',
    '2026-10-31 after 5',
    '2026-11-14 after 4',
  ]);
});

test.each<[string, failure: [status: number, seconds: number | null], reads: number]>([
  ['waits while the allowance is used up', [429, 0.001], 3],
  ['does not wait long', [429, 10], 1],
  ['does not wait without knowing how long', [429, null], 1],
  ['fails with the database', [503, 0.001], 1],
])('the file %s', async (_, [status, seconds], reads) => {
  let count = 0;
  const months: Months = async () => {
    count += 1;
    if (count < 3) throw new Failure(status, 'x', { seconds });
    return { usage: [monthOf(1, '2026-10-31')], next: null };
  };
  const file = monthsCsv({ months }, [listed(1, '2026-11-01')]);
  if (reads === 3) expect(linesOf(await file)).toHaveLength(1);
  else await expect(file).rejects.toThrow('x');
  expect(count).toBe(reads);
});
