// The usage view's wording for an invalid range and the figures.
import { expect, test } from 'vitest';
import { csvOf } from '../../src/core/csv.ts';
import { dayRows } from '../../src/page/owner/day-rows.ts';
import { fileName, rangeName } from '../../src/page/owner/file-name.ts';
import { findRangeProblem, type RangeProblem } from '../../src/page/owner/ranges.ts';
import { figuresOf } from '../../src/page/owner/usage/figures.ts';
import { figureWords, problemWords, refusedWords, totalWords } from '../../src/page/owner/usage/usage-words.ts';

test.each([
  ['2026-03-09', '', 'The last day is incomplete or before 1970. Choose Jan 1, 1970, or later.'],
  [
    '2026-03-09',
    '2026-03-01',
    'The first day, Mar 9, 2026, is after the last day, Mar 1, 2026. Choose an earlier first day or a later last day.',
  ],
  [
    '2020-01-01',
    '2026-01-05',
    '2,197 days exceed the report’s maximum of 1,830. To keep this last day, choose Jan 2, 2021, or later as the first day.',
  ],
])('the usage view explains what is wrong with a range from “%s” to “%s”', (from, to, words) => {
  expect(problemWords(findRangeProblem({ from, to }) as RangeProblem, { from, to })).toBe(words);
});

const range = (from: string, to: string) => ({ from, to });
const days = (first: number, ...counts: number[]) =>
  counts.map((count, index) => ({ date: `2026-03-${`${first + index}`.padStart(2, '0')}`, count }));

test.each([
  ['of full days', figuresOf(days(11, 1100, 900, 5), '2026-03-13'), [['Mean', '1,000', 'a day, over 2 full days'], ['Peak', '1,100', 'on Wed, Mar 11, 2026']]],
  ['of days without uses', figuresOf(days(11, 0, 0), '2026-03-13'), [['Mean', '0', 'a day, over 2 full days'], ['Peak', '–', 'no uses']]],
  ['of today alone', figuresOf(days(11, 3), '2026-03-11'), [['Mean', '–', 'no full days yet'], ['Peak', '–', 'no full days yet']]],
  ['that are still loading', null, [['Mean', '–', ''], ['Peak', '–', '']]],
])('the usage view describes figures %s', (_, figures, words) => {
  expect(figureWords(figures)).toEqual(words);
}); // biome-ignore format: one row per line

test.each([
  ['2026-10-01', '2026-12-31', 'Q4 2026'],
  ['2026-11-01', '2026-11-30', 'November 2026'],
  ['2026-11-01', '2026-11-27', 'Nov 1 – 27, 2026'], // the month is not over
  ['2025-01-01', '2025-12-31', '2025'],
  ['2025-11-01', '2026-10-31', 'Nov 1, 2025 – Oct 31, 2026'],
  ['2026-11-15', '2026-12-14', 'Nov 15 – Dec 14, 2026'],
  ['2026-10-31', '2026-11-27', 'Oct 31 – Nov 27, 2026'],
] as const)('a file of the days %s to %s is named “%s”', (from, to, name) => {
  expect(rangeName({ from, to })).toBe(name);
});

test('the total of days without a full one is that of today so far', () => {
  const full = range('2026-03-11', '2026-03-12');
  expect(totalWords(figuresOf(days(11, 1, 1, 5), '2026-03-13'), full).replaceAll(/\s/g, ' ')).toBe(
    'Mar 11 – 12, 2026: 2 uses',
  );
  expect(totalWords(figuresOf(days(13, 1), '2026-03-13'), null)).toBe('1 use today so far');
});

test.each([
  [[0, 0, 0], 'None on these days.'],
  [[1, 0, 0], '1 use on these days, counting each retry.'],
  [[1, 59, 3], '60 uses on these days and 3 today so far, counting each retry.'],
  [[0, 0, 3], '3 today so far, counting each retry.'],
])('of the days %j, of which the last is today, “%s” was refused', (counts, words) => {
  expect(refusedWords(figuresOf(days(11, ...counts), '2026-03-13'))).toBe(words);
});

test('a file is named after the business and both ranges, and has each day beside the day it is compared with', () => {
  const [q4, before] = [range('2026-10-01', '2026-12-31'), range('2025-10-01', '2025-12-31')];
  expect(fileName('Northwind Coffee', q4, before)).toBe('Northwind Coffee, Q4 2026 vs Q4 2025');
  expect(fileName('Northwind Coffee', q4, null)).toBe('Northwind Coffee, Q4 2026');
  expect(dayRows(days(1, 5, 6), days(8, 7, 0, 9))).toEqual([
    ['date', 'uses', 'compared_date', 'compared_uses'],
    ['2026-03-01', 5, '2026-03-08', 7],
    ['2026-03-02', 6, '2026-03-09', 0],
    [null, null, '2026-03-10', 9], // a longer month
  ]);
  expect(dayRows(days(1, 5), null)).toEqual([
    ['date', 'uses'],
    ['2026-03-01', 5],
  ]);
  expect(csvOf([[1, '=SUM(A1)', 'a "b", c', null]])).toBe(`1,'=SUM(A1),"a ""b"", c",\r\n`);
});
