// The usage view's figures and the forecast for a monthly limit, compared with an oracle that counts day by day.
import { describe, expect, test } from 'vitest';
import { addDays, DAY_MS, dayOf, daysIn, MAX_RANGE_DAYS } from '../../src/core/time.ts';
import { type Figures, figuresOf } from '../../src/page/owner/usage/figures.ts';
import { daysOf, type LoadedDays, withCompared } from '../../src/page/owner/usage/loaded-days.ts';
import { type Pace, paceDays, paceOf } from '../../src/page/owner/usage/pace.ts';
import { comparedDays } from '../../src/page/owner/usage/ranges.ts';

const HOUR_MS = DAY_MS / 24;
const start = (day: string) => Date.parse(`${day}T00:00:00Z`);
const counted = (first: string, ...counts: number[]) =>
  counts.map((count, index) => ({ date: addDays(first, index), count }));

describe('the figures', () => {
  const used = counted('2026-03-01', 30, 10, 30, 5);
  const before = counted('2026-02-22', 20, 20, 10, 500);

  test('count whole days only', () => {
    expect(figuresOf(used, before, '2026-03-04')).toEqual({
      wholeDays: 3,
      mean: 70 / 3,
      peak: { date: '2026-03-01', count: 30 },
      compared: { used: 70, before: 50, days: { from: '2026-02-22', to: '2026-02-24' } },
    });
  });
  test('include today in the peak', () => {
    expect(figuresOf(counted('2026-03-01', 3, 4), null, '2026-03-02').peak).toEqual({ date: '2026-03-02', count: 4 });
    expect(figuresOf(counted('2026-03-01', 0, 0), null, '2026-03-02').peak).toBeNull();
  });
  test('include neither a mean nor a change until a day is over', () => {
    expect(figuresOf(counted('2026-03-01', 5), counted('2026-02-22', 9), '2026-03-01')).toEqual({
      wholeDays: 0,
      mean: null,
      peak: { date: '2026-03-01', count: 5 },
      compared: null,
    });
  });
  test('include both sums if the compared days had no uses', () => {
    const days = { from: '2026-02-22', to: '2026-02-22' };
    const { compared } = figuresOf(counted('2026-03-01', 5, 1), counted('2026-02-22', 0, 9), '2026-03-02');
    expect(compared).toEqual({ used: 5, before: 0, days });
  });
  test('include no comparison if the compared days were not loaded', () => {
    expect(figuresOf(used, null, '2026-03-04').compared).toBeNull();
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
  const loaded: LoadedDays = { days: counted('2026-03-01', 1, 2, 3), at: 0 };
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-03' })).toEqual(counted('2026-03-02', 2, 3));
  expect(daysOf(loaded, { from: '2026-03-01', to: '2026-03-03' })).toEqual(loaded.days);
  expect(daysOf(loaded, { from: '2026-02-28', to: '2026-03-02' })).toBeNull();
  expect(daysOf(loaded, { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
  expect(daysOf({ days: [], at: 0 }, { from: '2026-03-02', to: '2026-03-04' })).toBeNull();
});

/** Returns a generator of pseudorandom numbers, the same in each run. */
function* numbers(): Generator<number, never> {
  for (let state = 20_261_122; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

/** Seven times of day, in milliseconds since midnight. */
const TIMES = [0, 1, HOUR_MS, 6.5 * HOUR_MS, 12 * HOUR_MS, 23 * HOUR_MS, DAY_MS - 1];

test('figures and forecasts for 200 histories, ranges and months agree with an oracle at seven times of day', {
  tags: 'slow',
}, () => {
  const random = numbers();
  const below = (most: number) => random.next().value % most;
  const seen = { changes: 0, isNew: 0, reaching: 0, below: 0, reached: 0 };
  for (let round = 0; round < 200; round++) {
    const today = addDays('2019-01-01', below(4000));
    const range = { from: addDays(today, -below(round % 3 === 0 ? 900 : 40)), to: today };
    range.to = addDays(range.from, below(daysIn(range) + 3)); // may be after today
    const history = new Map<string, number>();
    const scale = [1, 3, 50, 4000][round % 4] as number;
    const begin = round % 5 === 0 ? addDays(range.from, -below(10)) : addDays(today, -2500); // the business may be new
    for (let day = begin; day <= today; day = addDays(day, 1)) if (below(4) > 0) history.set(day, below(scale + 1));
    const count = (day: string) => history.get(day) ?? 0;
    const readBy = (from: string, to: string) => {
      const days = [];
      for (let day = from; day <= to; day = addDays(day, 1)) days.push({ date: day, count: count(day) });
      return days;
    };
    const comparison = (['previous', 'year'] as const)[round % 2] as 'previous' | 'year';
    const compared = comparedDays(range, comparison);
    const asked = withCompared(range, compared);
    expect(daysIn(asked)).toBeLessThanOrEqual(MAX_RANGE_DAYS);
    const loaded: LoadedDays = { days: readBy(asked.from, asked.to), at: 0 };
    const used = daysOf(loaded, range);
    const before = compared && daysOf(loaded, compared);
    const month = { limit: 1 + below(scale * 40), used: below(scale * 30), ends: start(addDays(today, 1 + below(31))) };

    for (const time of TIMES) {
      const now = start(today) + time;
      const shown = figuresOf(used ?? [], before, dayOf(new Date(now)));
      // The oracle goes through the days one by one. It finds the counterpart of each day by subtracting whole weeks, enough of them that
      // all counterparts are before the range.
      let [whole, total, earlier, most, peak, first, last] = [0, 0, 0, 0, '', '', ''];
      let weeks = comparison === 'year' ? 52 : 0;
      while (comparison === 'previous' && start(range.to) - weeks * 7 * DAY_MS >= start(range.from)) weeks += 1;
      for (let day = range.from; day <= range.to; day = addDays(day, 1)) {
        if (count(day) > most) [most, peak] = [count(day), day];
        if (start(day) + DAY_MS > now) continue;
        const counterpart = addDays(day, -7 * weeks);
        [first, last] = [first || counterpart, counterpart];
        whole += 1;
        total += count(day);
        earlier += count(counterpart);
      }
      const expected: Figures = {
        wholeDays: whole,
        mean: whole === 0 ? null : total / whole,
        peak: most === 0 ? null : { date: peak, count: most },
        compared:
          compared === null || whole === 0 ? null : { used: total, before: earlier, days: { from: first, to: last } },
      };
      expect(shown, `${round}`).toEqual(expected);
      if (expected.compared?.before === 0) seen.isNew += 1;
      else if (expected.compared) seen.changes += 1;

      // The oracle adds the mean for each day until the month ends or the limit is reached.
      let week = 0;
      for (let back = 1; back <= 7; back++) week += count(addDays(today, -back));
      const { from, to } = paceDays(today);
      const pace = paceOf(month, readBy(from, to), now) as Pace;
      const days = (month.ends - now) / DAY_MS;
      seen[pace.is] += 1;
      if (month.used >= month.limit) expect(pace).toEqual({ is: 'reached' });
      else if (month.used + (week / 7) * days > month.limit + 1e-6) {
        const at = pace.is === 'reaching' ? pace.at : 0;
        expect(month.used + (week / 7) * ((at - now) / DAY_MS)).toBeCloseTo(month.limit, 5);
      } else {
        const { expected } = pace as Extract<Pace, { is: 'below' }>;
        expect(expected).toBeCloseTo(month.used + (week / 7) * days, 5);
      }
    }
  }
  // Each outcome occurs often.
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20);
});
