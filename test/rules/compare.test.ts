// The earlier days that the chart and the console use for a comparison, and the percentage change.
import { expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { type Compare, changeOf, comparedWith } from '../../src/page/scale.ts';

const seconds = (day: string) => new Date(`${day}T00:00:00Z`).getTime() / 1000;
const weekday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay();
const length = ({ from, to }: { from: string; to: string }) => (seconds(to) - seconds(from)) / 86_400 + 1;
const counted = (first: string, ...counts: number[]) =>
  counts.map((count, index) => ({ date: addDays(first, index), count }));

test.each([
  [28, 'previous', '2026-02-01', '2026-02-28'],
  [30, 'previous', '2026-01-25', '2026-02-23'], // 35 days earlier
  [7, 'previous', '2026-02-22', '2026-02-28'],
  [1, 'previous', '2026-02-22', '2026-02-22'],
  [28, 'year', '2025-03-02', '2025-03-29'],
  [1, 'year', '2025-03-02', '2025-03-02'],
] as const)(
  'a range of %i day(s) from Sunday, 1 March 2026, is compared (%s) with the days %s to %s',
  (days, compare, from, to) => {
    const range = { from: '2026-03-01', to: addDays('2026-03-01', days - 1) };
    expect(comparedWith(range, compare)).toEqual({ from, to });
  },
);

/** Returns a generator of pseudorandom numbers, the same in each run. */
function* numbers(): Generator<number, never> {
  for (let state = 20_260_301; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

test('each of 200 ranges is compared with an equally long one on the same weekdays, the nearest before it or 52 weeks earlier', () => {
  const random = numbers();
  for (let round = 0; round < 200; round++) {
    const from = addDays('1996-01-01', random.next().value % 12_000);
    const range = { from, to: addDays(from, random.next().value % (round % 2 ? 1830 : 40)) };
    for (const compare of ['previous', 'year'] satisfies Compare[]) {
      const before = comparedWith(range, compare);
      expect(length(before)).toBe(length(range));
      expect([weekday(before.from), weekday(before.to)]).toEqual([weekday(range.from), weekday(range.to)]);
      // The oracle walks back week by week.
      const back = { ...range };
      let weeks = 0;
      while (compare === 'year' ? weeks < 52 : back.to >= range.from) {
        back.from = addDays(back.from, -7);
        back.to = addDays(back.to, -7);
        weeks += 1;
      }
      expect(before).toEqual(back);
    }
  }
});

test('the change counts only whole days, not today or future days', () => {
  const used = counted('2026-03-01', 30, 30, 5, 0);
  const before = counted('2026-02-22', 20, 20, 500, 500);
  expect(changeOf(used, before, '2026-03-03')).toEqual({ days: 2, used: 60, before: 40, change: 0.5 });
  expect(changeOf(used, before, '2026-03-02')).toEqual({ days: 1, used: 30, before: 20, change: 0.5 });
  expect(changeOf(used, before, '2030-01-01')).toEqual({ days: 4, used: 65, before: 1040, change: 65 / 1040 - 1 });
});

test('the change is null until a day is over, and if the compared days have no uses', () => {
  const used = counted('2026-03-01', 5, 6);
  expect(changeOf(used, counted('2026-02-22', 20, 20), '2026-03-01')).toBeNull();
  expect(changeOf(used, counted('2026-02-22', 0, 20), '2026-03-02')).toBeNull();
  expect(changeOf(used, counted('2026-02-22', 0, 0), '2030-01-01')).toBeNull();
  expect(changeOf(counted('2026-03-01', 0), counted('2026-02-22', 0), '2030-01-01')).toBeNull();
  expect(changeOf(counted('2026-03-01', 0), counted('2026-02-22', 4), '2030-01-01')?.change).toBe(-1);
});

test('200 changes agree with an oracle that adds up days', () => {
  const random = numbers();
  for (let round = 0; round < 200; round++) {
    const days = 1 + (random.next().value % 60);
    const counts = () => Array.from({ length: days }, () => random.next().value % ((round % 5) + 1));
    const used = counted('2026-03-01', ...counts());
    const before = counted('2025-03-02', ...counts());
    const today = addDays('2026-03-01', (random.next().value % 80) - 10);
    let [whole, now, earlier] = [0, 0, 0];
    for (const [index, day] of used.entries()) {
      if (seconds(day.date) >= seconds(today)) continue;
      whole += 1;
      now += day.count;
      earlier += before[index]?.count ?? 0;
    }
    const expected =
      whole === 0 || earlier === 0 ? null : { days: whole, used: now, before: earlier, change: now / earlier - 1 };
    expect(changeOf(used, before, today)).toEqual(expected);
  }
});
