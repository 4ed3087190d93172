// The changes in the table of sources.
import { expect, test } from 'vitest';
import { withToday } from '../../src/page/owner/source-uses.ts';
import { areAlike, rowsOf } from '../../src/page/owner/usage/source-rows.ts';

/** Returns uses of one source, and uses without one. */
const uses = (named: number, unnamed: number) =>
  [
    { source: 'https://a.example', count: named },
    { source: null, count: unnamed },
  ].map((one) => ({ ...one, last_day: '2026-11-01' }));

test.each([
  ['most uses of both periods have a source', uses(90, 10), uses(51, 49), true],
  ['most uses of neither period have a source', uses(10, 90), uses(49, 51), true],
  ['the earlier days were imported', uses(90, 10), uses(5, 95), false],
  ['sources ended', uses(5, 95), uses(90, 10), false],
  ['there were no uses before', uses(90, 10), [], true],
])('when %s', (_, now, before, expected) => {
  expect(areAlike(now, before)).toBe(expected);
});

test('today is beside the full days, and in no total or share', () => {
  const of = (source: string, count: number, last_day: string) => ({ source, count, last_day });
  const uses = withToday(
    [of('a', 30, '2026-11-01'), of('b', 10, '2026-11-02')],
    [of('new', 500, '2026-11-03'), of('b', 7, '2026-11-03')],
  );
  expect(rowsOf(uses, [of('a', 20, '2026-10-01')], ['c'])).toEqual([
    { source: 'a', count: 30, share: 0.75, today: 0, last_day: '2026-11-01', before: 20 },
    { source: 'b', count: 10, share: 0.25, today: 7, last_day: '2026-11-03', before: 0 },
    { source: 'new', count: 0, share: 0, today: 500, last_day: '2026-11-03', before: 0 },
    { source: 'c', count: 0, share: 0, today: 0, last_day: null, before: 0 },
  ]);
});
