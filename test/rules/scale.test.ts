// The chart's ticks and bars.
import { expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { barIn, barsBy, countTicks, dayTicks } from '../../src/page/scale.ts';

const days = (count: number, first = '2026-03-01') =>
  Array.from({ length: count }, (_, index) => addDays(first, index));

test.each([
  [0, 4, [0]],
  [1, 4, [0, 1]],
  [3, 4, [0, 1, 2, 3]],
  [7, 4, [0, 2, 4, 6, 8]],
  [31, 4, [0, 10, 20, 30, 40]],
  [1000, 4, [0, 250, 500, 750, 1000]],
  [900, 4, [0, 300, 600, 900]],
  [999_999_999, 3, [0, 500_000_000, 1_000_000_000]],
])(
  'an axis for counts up to %i has ticks at round whole numbers that end near it, with at most %i intervals',
  (max, most, ticks) => {
    expect(countTicks(max, most)).toEqual(ticks);
  },
);

test.each([
  [1, 4, ['2026-03-01']],
  [3, 4, ['2026-03-01', '2026-03-02', '2026-03-03']],
  [31, 5, ['2026-03-03', '2026-03-10', '2026-03-17', '2026-03-24', '2026-03-31']],
  [90, 4, ['2026-03-01', '2026-04-01', '2026-05-01']],
  [366, 3, ['2026-07-01', '2027-01-01']],
])('a range of %i days has at most %i labels, at round intervals', (count, most, named) => {
  const dates = days(count);
  expect(dayTicks(dates, most).at.map((index) => dates[index])).toEqual(named);
});

test('every range has at least one date label, and no more labels than fit', { tags: 'slow' }, () => {
  const year = days(366, '2025-11-17');
  for (let count = 1; count <= 366; count++) {
    for (let most = 2; most <= 20; most++) {
      const { length } = dayTicks(year.slice(0, count), most).at;
      expect(length, `labels of ${count} days`).toBeGreaterThan(0);
      expect(length, `labels of ${count} days`).toBeLessThanOrEqual(most);
    }
  }
});

test('bars have a positive width and do not overlap', () => {
  for (const width of [200, 280, 1000]) {
    for (const count of [1, 7, 30, 92, 366]) {
      const band = width / count;
      const bars = Array.from({ length: count }, (_, index) => barIn(index, band));
      for (const [index, bar] of bars.entries()) {
        expect(bar.width, `width of bar ${index} of ${count}`).toBeGreaterThan(0);
        expect(bar.x).toBeGreaterThanOrEqual(0);
        expect(bar.x + bar.width).toBeLessThanOrEqual((bars[index + 1]?.x ?? width) + 0.001);
      }
    }
  }
});

const counted = (count: number, first: string) => days(count, first).map((date, index) => ({ date, count: index + 1 }));

test('bars of a day, a week or a month cover every day of the range, and weeks are counted back from the last day', () => {
  const used = counted(366, '2025-01-01');
  const total = used.reduce((sum, { count }) => sum + count, 0);
  for (const [unit, length, whole] of [
    ['day', 366, 366],
    ['week', 53, 52],
    ['month', 13, 12],
  ] as const) {
    const bars = barsBy(unit, used, [], '2030-01-01');
    const sum = bars.reduce((sum, { count }) => sum + count, 0);
    expect({ bars: bars.length, whole: bars.filter((bar) => bar.whole).length, sum }).toEqual({
      bars: length,
      whole,
      sum: total,
    });
    expect([bars[0]?.from, bars.at(-1)?.to]).toEqual(['2025-01-01', '2026-01-01']);
  }
  expect(barsBy('week', used, [], '2030-01-01').at(-1)?.from).toBe('2025-12-26');
});

test('a bar that includes today is not whole, and a bar’s counterpart is the bar with the same index in the previous period', () => {
  const bars = barsBy('day', counted(3, '2026-03-04'), counted(3, '2026-03-01'), '2026-03-06');
  const day = (date: string, count: number) => ({ from: date, to: date, count });
  expect(bars).toEqual([
    { ...day('2026-03-04', 1), whole: true, before: day('2026-03-01', 1) },
    { ...day('2026-03-05', 2), whole: true, before: day('2026-03-02', 2) },
    { ...day('2026-03-06', 3), whole: false, before: day('2026-03-03', 3) },
  ]);
});

test('a month is whole if the range contains all of its days and the month is over', () => {
  const wholeOf = (first: string, count: number, today: string) =>
    barsBy('month', counted(count, first), [], today).map(({ from, to, whole }) => [from, to, whole]);
  expect(wholeOf('2026-01-02', 58, '2026-03-01')).toEqual([
    ['2026-01-02', '2026-01-31', false], // 30 of 31 days
    ['2026-02-01', '2026-02-28', true],
  ]);
  expect(wholeOf('2026-01-01', 58, '2026-02-28')).toEqual([
    ['2026-01-01', '2026-01-31', true],
    ['2026-02-01', '2026-02-27', false],
  ]);
  expect(wholeOf('2028-02-01', 29, '2028-03-01')).toEqual([['2028-02-01', '2028-02-29', true]]);
  expect(wholeOf('2028-02-01', 29, '2028-02-29')).toEqual([['2028-02-01', '2028-02-29', false]]);
});

test('a week is whole if its seven days are over, even if the range contains no other week', () => {
  const wholeOf = (count: number, today: string) =>
    barsBy('week', counted(count, '2026-03-01'), [], today).map(({ whole }) => whole);
  expect(wholeOf(7, '2026-03-08')).toEqual([true]);
  expect(wholeOf(7, '2026-03-07')).toEqual([false]); // its last day is today
  expect(wholeOf(7, '2026-03-01')).toEqual([false]); // only its first day has begun
  expect(wholeOf(7, '2026-02-20')).toEqual([false]); // the whole week is in the future
  expect(wholeOf(6, '2026-03-08')).toEqual([false]);
  expect(wholeOf(15, '2026-04-01')).toEqual([false, true, true]);
});

test('a bar has no counterpart if the previous period has no bar at the same index', () => {
  const bars = barsBy('day', counted(3, '2026-03-04'), counted(2, '2026-03-01'), '2030-01-01');
  expect(bars.map(({ before }) => before?.from)).toEqual(['2026-03-01', '2026-03-02', undefined]);
});
