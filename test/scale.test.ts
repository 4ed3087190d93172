// Where things stand in the chart.
import { expect, test } from 'vitest';
import { addDays } from '../src/core/time.ts';
import { barIn, countTicks, dayTicks } from '../src/page/scale.ts';

const days = (count: number, first = '2026-03-01') =>
  Array.from({ length: count }, (_, index) => addDays(first, index));

test.each([
  [0, 4, [0]],
  [1, 4, [0, 1]],
  [3, 4, [0, 1, 2, 3]],
  [7, 4, [0, 2, 4, 6, 8]],
  [31, 4, [0, 10, 20, 30, 40]],
  [1000, 4, [0, 500, 1000]],
  [999_999_999, 3, [0, 500_000_000, 1_000_000_000]],
])('counts up to %i are told at whole and round numbers', (max, most, ticks) => {
  expect(countTicks(max, most)).toEqual(ticks);
});

test.each([
  [1, 4, ['2026-03-01']],
  [3, 4, ['2026-03-01', '2026-03-02', '2026-03-03']],
  [31, 5, ['2026-03-03', '2026-03-10', '2026-03-17', '2026-03-24', '2026-03-31']],
  [90, 4, ['2026-03-01', '2026-04-01', '2026-05-01']],
  [366, 3, ['2026-07-01', '2027-01-01']],
])('of %i days at most %i have a name, the last or firsts of months among them', (count, most, named) => {
  const dates = days(count);
  const ticks = dayTicks(dates, most);
  expect(ticks.map(({ index }) => dates[index])).toEqual(named);
});

test('whatever the range and the place, there is a name, and not too many', () => {
  for (let count = 1; count <= 366; count++) {
    for (let most = 2; most <= 20; most++) {
      const { length } = dayTicks(days(count, '2025-11-17'), most);
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThanOrEqual(most);
    }
  }
});

test('bars stand beside each other, each with some width', () => {
  for (const width of [200, 280, 1000]) {
    for (const count of [1, 7, 30, 92, 366]) {
      const band = width / count;
      const bars = Array.from({ length: count }, (_, index) => barIn(index, band));
      for (const [index, bar] of bars.entries()) {
        expect(bar.width).toBeGreaterThan(0);
        expect(bar.x).toBeGreaterThanOrEqual(0);
        expect(bar.x + bar.width).toBeLessThanOrEqual((bars[index + 1]?.x ?? width) + 0.001);
      }
    }
  }
});
