// The usage view's wording for an invalid range, the figures, and limits.
import { expect, test } from 'vitest';
import { figuresOf } from '../../src/page/owner/usage/figures.ts';
import type { Pace } from '../../src/page/owner/usage/pace.ts';
import { findRangeProblem, type RangeProblem } from '../../src/page/owner/usage/ranges.ts';
import { figureWords, leftWords, paceWords, problemWords, resetWords } from '../../src/page/owner/usage/usage-words.ts';

test.each([
  ['', '2026-03-09', 'The first day is incomplete or before 1970. Choose Jan 1, 1970, or later.'],
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

const days = (first: number, ...counts: number[]) =>
  counts.map((count, index) => ({ date: `2026-03-${`${first + index}`.padStart(2, '0')}`, count }));

test.each([
  ['of full days', figuresOf(days(11, 1100, 900, 5), '2026-03-13'), [['Mean', '1,000', 'a day, over 2 full days'], ['Peak', '1,100', 'on Wed, Mar 11, 2026']]],
  ['of one full day', figuresOf(days(11, 12, 5), '2026-03-12'), [['Mean', '12', 'a day, over one full day'], ['Peak', '12', 'on Wed, Mar 11, 2026']]],
  ['of days without uses', figuresOf(days(11, 0, 0), '2026-03-13'), [['Mean', '0', 'a day, over 2 full days'], ['Peak', '–', 'no uses']]],
  ['of today alone', figuresOf(days(11, 3), '2026-03-11'), [['Mean', '–', 'no full days yet'], ['Peak', '3', 'on Wed, Mar 11, 2026']]],
  ['that are still loading', null, [['Mean', '–', ''], ['Peak', '–', '']]],
])('the usage view describes figures %s', (_, figures, words) => {
  expect(figureWords(figures)).toEqual(words);
}); // biome-ignore format: one row per line

test.each<[Pace, string]>([
  [{ is: 'reached' }, 'The monthly limit has been reached.'],
  [
    { is: 'reaching', at: Date.parse('2026-11-27T23:59:00Z') },
    'At the pace of the last seven full days, the limit will be reached on Fri, Nov 27.',
  ],
  [
    { is: 'below', expected: 8412.3 },
    'At the pace of the last seven full days, usage will be about 8,400 of 10,000 by the end of the month.',
  ],
  [
    { is: 'below', expected: 9951 },
    'At the pace of the last seven full days, usage will be just under 10,000 by the end of the month.',
  ],
  [
    { is: 'below', expected: 0 },
    'At the pace of the last seven full days, usage will be about 0 of 10,000 by the end of the month.',
  ],
])('the usage view describes the pace %j', (pace, words) => {
  expect(paceWords(pace, 10_000)).toBe(words);
});

test('the usage view says how much of a limit is left and when the limit resets', () => {
  expect(leftWords(0, 0)).toBe('None left: the next use is refused.');
  expect(leftWords(1, 0)).toBe('1 use left.');
  expect(leftWords(1200, null)).toBe('1,200 uses left.');
  expect(leftWords(0, 500)).toBe('None left.');
  expect(leftWords(-240, 500)).toBe('240 over.');
  expect(leftWords(-240, null)).toBe('240 over.');
  expect(leftWords(-500, 500)).toBe('500 over: the next use is refused.');
  expect(resetWords(Date.parse('2026-12-01T00:00:00Z'))).toMatch(
    /^Resets on Tue, Dec 1, 00:00 UTC \(Mon,? 16:00 your time\)\.$/, // browsers and Node disagree on the comma
  );
});
