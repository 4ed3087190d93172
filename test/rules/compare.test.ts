// The earlier days that the chart and the console use for a comparison, and the percentage change.
import { expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { type Compare, changeIn, comparedWith, summaryOf } from '../../src/page/scale.ts';
import { wordsIn } from '../../src/page/words.ts';

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

test('each of 200 ranges is compared with an equally long one on the same weekdays, the nearest before it or 52 weeks earlier', {
  tags: 'slow',
}, () => {
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

test('the total and what it is compared with cover only full days, not today or future days', () => {
  const used = counted('2026-03-01', 30, 30, 5, 0);
  const before = counted('2026-02-22', 20, 20, 500, 500);
  const on = (today: string) => {
    const { compared, ...sums } = summaryOf(used, before, today);
    return { ...sums, days: compared.length };
  };
  expect(on('2026-03-03')).toEqual({ fullDays: 2, to: '2026-03-02', total: 60, soFar: 5, earlier: 40, days: 2 });
  expect(on('2026-03-02')).toEqual({ fullDays: 1, to: '2026-03-01', total: 30, soFar: 35, earlier: 20, days: 1 });
  expect(on('2030-01-01')).toEqual({ fullDays: 4, to: '2026-03-04', total: 65, soFar: 0, earlier: 1040, days: 4 });
  expect(on('2026-03-01')).toEqual({ fullDays: 0, to: '2026-03-04', total: 65, soFar: 0, earlier: 0, days: 0 });
});

test('once every day is over, all of the compared days count, because calendar months differ in length', () => {
  const [february, january] = [
    counted('2026-02-01', ...Array(28).fill(1)),
    counted('2026-01-01', ...Array(31).fill(1)),
  ];
  expect(summaryOf(february, january, '2026-03-01')).toMatchObject({ total: 28, earlier: 31 });
  expect(summaryOf(february, january, '2026-02-28')).toMatchObject({ total: 27, earlier: 27 });
});

test.each([
  [143, 100, '+43%'],
  [50, 100, '−50%'],
  [100, 100, '0%'],
  [999, 100, '+899%'],
  [1000, 100, '×10'],
  [1199, 100, '×11'],
  [0, 100, '−100%'],
  [100, 0, ''],
  [0, 0, ''],
])('the change of %i compared with %i is “%s”', (now, before, words) => {
  expect(
    changeIn(
      now,
      before,
      wordsIn('en', () => null),
    ),
  ).toBe(words);
});
