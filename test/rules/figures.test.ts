// The usage view's figures and the forecast for a monthly limit, by example. console-figures.test.ts compares them with an oracle.
import { describe, expect, test } from 'vitest';
import { addDays, DAY_MS } from '../../src/core/time.ts';
import { figuresOf } from '../../src/page/owner/usage/figures.ts';
import { daysOf } from '../../src/page/owner/usage/loaded-days.ts';
import { type Pace, paceDays, paceOf } from '../../src/page/owner/usage/pace.ts';

const HOUR_MS = DAY_MS / 24;
const start = (day: string) => Date.parse(`${day}T00:00:00Z`);
const counted = (first: string, ...counts: number[]) =>
  counts.map((count, index) => ({ date: addDays(first, index), count }));

describe('the figures', () => {
  test('count full days only, except for the peak, which includes today', () => {
    const used = counted('2026-03-01', 30, 10, 30, 55);
    expect(figuresOf(used, '2026-03-04')).toEqual({
      fullDays: 3,
      total: 70,
      peak: { date: '2026-03-04', count: 55 },
    });
    expect(figuresOf(used, '2026-03-05')).toMatchObject({ fullDays: 4, total: 125 });
    expect(figuresOf(counted('2026-03-01', 0, 0), '2026-03-02').peak).toBeNull();
  });
});

describe('the pace', () => {
  const month = { limit: 10_000, used: 7000, ends: start('2026-12-01') };
  const days = counted('2026-11-15', 100, 100, 100, 100, 100, 100, 100);

  test('is the mean of the seven days before today', () => {
    expect(paceDays('2026-11-22')).toEqual({ from: '2026-11-15', to: '2026-11-21' });
  });
  test.each<[string, typeof month, number[], string, Pace | null]>([
    [
      'stays below its limit',
      month,
      [100, 100, 100, 100, 100, 100, 100],
      '2026-11-22',
      { is: 'below', expected: 7900 },
    ],
    [
      'stays below its limit without further uses',
      month,
      [0, 0, 0, 0, 0, 0, 0],
      '2026-11-22',
      { is: 'below', expected: 7000 },
    ],
    [
      'will reach its limit',
      month,
      [600, 600, 600, 600, 600, 600, 600],
      '2026-11-22',
      { is: 'reaching', at: start('2026-11-27') },
    ],
    ['has reached its limit', { ...month, used: 10_000 }, [0, 0, 0, 0, 0, 0, 0], '2026-11-22', { is: 'reached' }],
    ['has exceeded its limit', { ...month, used: 10_001 }, [1, 1, 1, 1, 1, 1, 1], '2026-11-22', { is: 'reached' }],
    ['has a limit of 0', { ...month, limit: 0, used: 0 }, [0, 0, 0, 0, 0, 0, 0], '2026-11-22', { is: 'reached' }],
    [
      'reaches its limit exactly at its end',
      { ...month, used: 9100 },
      [100, 100, 100, 100, 100, 100, 100],
      '2026-11-22',
      { is: 'below', expected: 10_000 },
    ],
    ['has already ended', month, [100, 100, 100, 100, 100, 100, 100], '2026-12-01', null],
  ])('forecasts a month that %s', (_, limited, counts, today, pace) => {
    expect(paceOf(limited, counted('2026-11-15', ...counts), start(today))).toEqual(pace);
  });
  test('gives a forecast that moves continuously with the clock', () => {
    const at = (now: number) => paceOf({ ...month, used: 9500 }, days, now);
    expect(at(start('2026-11-22') + HOUR_MS)).toEqual({ is: 'reaching', at: start('2026-11-27') + HOUR_MS });
    expect(at(start('2026-11-22') + 23 * HOUR_MS)).toEqual({ is: 'reaching', at: start('2026-11-27') + 23 * HOUR_MS });
  });
});

test('the days of a range are taken from a report, or are null if the report lacks any of them', () => {
  const loaded = counted('2026-03-01', 1, 2, 3);
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-03' })).toEqual(counted('2026-03-02', 2, 3));
  expect(daysOf(loaded, { from: '2026-03-01', to: '2026-03-03' })).toEqual(loaded);
  expect(daysOf(loaded, { from: '2026-02-28', to: '2026-03-02' })).toBeNull();
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
  expect(daysOf([], { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
});
