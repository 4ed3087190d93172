// The forecast for a monthly limit, and the days that are taken from a report. console-figures.test.ts compares the other figures with an
// oracle.
import { expect, test } from 'vitest';
import { addDays, DAY_MS } from '../../src/core/time.ts';
import { daysOf } from '../../src/page/owner/loaded-days.ts';
import { type Month, type Pace, paceOf } from '../../src/page/owner/pace.ts';
import type { Day } from '../../src/page/scale.ts';

const start = (day: string) => Date.parse(`${day}T00:00:00Z`);
const counted = (first: string, ...counts: number[]) =>
  counts.map((count, index) => ({ date: addDays(first, index), count }));

/** Returns the forecast, whose course must begin with the uses now and end where the forecast says. */
function paceIn(month: Month, days: Day[], now: number): Pace | null {
  const forecast = paceOf(month, days, now);
  if (forecast === null) return null;
  const { course, ...pace } = forecast;
  if (pace.is === 'reached') expect(course).toEqual([]);
  else expect(course[0]).toEqual([now, month.used]);
  if (pace.is === 'reaching') expect(course.at(-1)).toEqual([pace.at, month.limit]);
  if (pace.is === 'below') expect(course.at(-1)).toEqual([month.ends, pace.expected]);
  return pace;
}

const MONTH = { limit: 10_000, used: 7000, ends: start('2026-12-01') };
const TODAY = start('2026-11-22');
test.each<[string, Partial<typeof MONTH>, perDay: number, now: number, Pace | null]>([
  ['stays below its limit', {}, 100, TODAY, { is: 'below', expected: 7900 }],
  ['stays below its limit without further uses', {}, 0, TODAY, { is: 'below', expected: 7000 }],
  ['will reach its limit', {}, 600, TODAY, { is: 'reaching', at: start('2026-11-27') }],
  ['will reach its limit later today', {}, 600, TODAY + 1, { is: 'reaching', at: start('2026-11-27') + 1 }],
  ['reaches its limit exactly at its end', { used: 9100 }, 100, TODAY, { is: 'below', expected: 10_000 }],
  ['has reached its limit', { used: 10_000 }, 0, TODAY, { is: 'reached' }],
  ['has a limit of 0', { limit: 0, used: 0 }, 0, TODAY, { is: 'reached' }],
  ['has already ended', {}, 100, start('2026-12-01'), null],
])('the last seven full days forecast a month that %s', (_, month, perDay, now, pace) => {
  expect(paceIn({ ...MONTH, ...month }, counted('2026-11-15', ...Array(7).fill(perDay), 50 * perDay), now)).toEqual(
    pace,
  );
});

test.each<[string, counts: number[], used: number, Pace | null]>([
  // Today is a Sunday, and the business rests on weekends.
  ['does not reach its limit on a weekend', [0, 100, 100, 100, 100, 100, 0, 0], 9500, { is: 'reaching', at: start('2026-11-28') }],
  ['reaches it on the next workday', [0, 100, 100, 100, 100, 100, 0, 0], 9510, { is: 'reaching', at: start('2026-11-27') + 0.9 * DAY_MS }],
  ['stays below its limit by a weekend', [0, 100, 100, 100, 100, 100, 0, 0], 9200, { is: 'below', expected: 9800 }],
  ['has the mean of its days while it is younger than a week', [0, 0, 0, 0, 0, 100, 300, 7], 7000, { is: 'below', expected: 8800 }],
  ['has no forecast on its first day', [0, 0, 0, 0, 0, 0, 0, 7], 7, null],
])('a month %s', (_, counts, used, pace) => {
  const before = counts[1] === 0 ? Array(7).fill(0) : counts.slice(0, 7);
  expect(paceIn({ ...MONTH, used }, counted('2026-11-08', ...before, ...counts), TODAY)).toEqual(pace);
}); // biome-ignore format: one row per line

test('the days of a range are taken from a report, or are null if the report lacks any of them', () => {
  const loaded = counted('2026-03-01', 1, 2, 3);
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-03' })).toEqual(counted('2026-03-02', 2, 3));
  expect(daysOf(loaded, { from: '2026-02-28', to: '2026-03-02' })).toBeNull();
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
  expect(daysOf([], { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
});
