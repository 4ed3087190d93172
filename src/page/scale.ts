// Computes positions in a chart from counts, days and pixels.
import { addDays, DAY_MS, daysIn, type Range } from '../core/time.ts';

export type Day = { date: string; count: number };

/** From fine to coarse. */
export const UNITS = ['day', 'week', 'month'] as const;
export type Unit = (typeof UNITS)[number];

type Span = { from: string; to: string; count: number };
/** The days that a bar covers, and the corresponding days of the compared period. */
export type Bar = Span & { whole: boolean; before: Span | undefined };

/** By default, charts and lists show this number of full days. */
export const SHOWN_DAYS = 28;

export const sum = (days: readonly Day[]): number => days.reduce((total, { count }) => total + count, 0);

/** Returns the days of a range that are over. Null if there are none. */
export function fullDays({ from, to }: Range, today: string): Range | null {
  const last = to < today ? to : addDays(today, -1);
  return last < from ? null : { from, to: last };
}

/** Limits `value` to the range from 0 to `most`. */
export const clamp = (value: number, most: number) => Math.max(0, Math.min(value, most));

const span = (days: readonly Day[]): Span => ({
  from: days[0]?.date ?? '',
  to: days.at(-1)?.date ?? '',
  count: sum(days),
});

/** The period to compare with (see `comparedWith`). */
export type Compare = 'previous' | 'year';

/**
 * Shifts a range back by a multiple of seven days, which preserves the weekdays. `previous` uses the smallest shift that avoids an overlap.
 * `year` uses 364 days.
 */
export function comparedWith(range: Range, compare: Compare): Range {
  const earlier = compare === 'year' ? -364 : -7 * Math.ceil(daysIn(range) / 7);
  return { from: addDays(range.from, earlier), to: addDays(range.to, earlier) };
}

/**
 * Sums up a report. The total covers the `full` days, because a partial day would look like a drop. `soFar` is the rest. `compared` contains
 * the days of `before` that the total is compared with: as many as are full, or all of them once every day of `used` is over, because
 * calendar months differ in length.
 */
export function summaryOf(used: readonly Day[], before: readonly Day[], today: string) {
  const full = used.filter(({ date }) => date < today);
  const compared = full.length < used.length ? before.slice(0, full.length) : before;
  const total = sum(full);
  return { full, total, soFar: sum(used) - total, compared, earlier: sum(compared) };
}

type Formats = Record<'percent' | 'number', (value: number) => string>;
/** From this factor on, a change is shown as a factor, such as ×11, because a four-digit percentage is hard to read. */
const MIN_FACTOR = 10;

/** Formats a change. Returns an empty string if there were no uses before: nothing is compared with 0. */
export function changeIn(now: number, before: number, { percent, number }: Formats): string {
  if (before === 0) return '';
  return now < MIN_FACTOR * before
    ? percent(now / before - 1).replace('-', '−')
    : `×${number(Math.floor(now / before))}`;
}

/** Counts weeks from Monday to Sunday. 1970-01-01 was a Thursday. */
const weekOf = (date: string): number => Math.floor((Date.parse(date) / DAY_MS + 3) / 7);

/**
 * Groups days into bars. Weeks begin on Monday, and months are calendar months. A bar is not whole if some of its days are outside the range
 * or not over yet.
 */
export function barsBy(unit: Unit, days: readonly Day[], before: readonly Day[], today: string): Bar[] {
  const keys = days.map(({ date }) => (unit === 'month' ? date.slice(0, 7) : unit === 'week' ? weekOf(date) : date));
  const startsIn = (keys: (string | number)[]) => keys.flatMap((key, i) => (key === keys[i - 1] ? [] : [i]));
  const starts = startsIn(keys);
  // Calendar months are compared with calendar months, which differ in length.
  const areMonths = unit === 'month' && [days[0], before[0]].every((day) => day?.date.endsWith('-01'));
  const earlierStarts = areMonths ? startsIn(before.map(({ date }) => date.slice(0, 7))) : starts;
  const end = areMonths ? before.length : days.length;
  return starts.map((start, i) => {
    const inside = days.slice(start, starts[i + 1]);
    const earlier = before.slice(earlierStarts[i] ?? end, earlierStarts[i + 1] ?? end);
    const { from, to, count } = span(inside);
    const isMonth = from.endsWith('-01') && addDays(to, 1).endsWith('-01');
    const isComplete = unit === 'month' ? isMonth : unit === 'day' || inside.length === 7;
    return {
      from,
      to,
      count,
      whole: isComplete && to < today,
      before: earlier.length > 0 ? span(earlier) : undefined,
    };
  });
}

/** Returns the labels of the vertical axis: evenly spaced integers from 0, at most `most` of them above 0. The last is near `max`. */
export function countTicks(max: number, most: number): number[] {
  const rough = Math.max(1, max / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 3, 4, 5, 10].map((factor) => factor * power);
  const ends = (step: number) => Math.ceil(max / step) * step;
  const fitting = steps.filter((step) => step >= rough && Number.isInteger(step));
  const step = fitting.reduce((best, one) => (ends(one) < ends(best) ? one : best));
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step);
}

const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12];

/** Returns the indexes of the labeled bars: every nth day, counted back from the last, or the first bar of every nth month. */
export function dayTicks(dates: readonly string[], most: number, by: Unit = 'day'): { unit: Unit; at: number[] } {
  const last = dates.length - 1;
  const all = [...dates.keys()];
  const days = by === 'day' && DAY_STEPS.find((days) => last / days < most);
  if (days) return { unit: 'day', at: all.filter((index) => (last - index) % days === 0) };
  const month = (index: number) => Number(dates[index]?.slice(5, 7));
  const firsts = all.filter((i) => by === 'month' || dates[i]?.endsWith('-01') || (i > 0 && month(i) !== month(i - 1)));
  const fitting = MONTH_STEPS.map((step) => firsts.filter((index) => (month(index) - 1) % step === 0));
  const at = fitting.find(({ length }) => length <= most && length > 0) ?? firsts.slice(0, 1);
  return { unit: 'month', at };
}

const MAX_BAR = 72;
const SNAPPED_BAND = 8; // below this width, snapping to pixels would make bars visibly uneven

export function barIn(index: number, band: number): { x: number; width: number } {
  const gap = band >= 2 ? band * 0.25 : 0;
  const width = Math.min(MAX_BAR, band - gap);
  const x = index * band + (band - width) / 2;
  if (band < SNAPPED_BAND) return { x, width };
  return { x: Math.round(x), width: Math.max(1, Math.round(width)) };
}

/** Narrower bars cannot be told apart. */
export const MIN_BAR = 3;
/** Room for the labels of the vertical axis. */
const AXIS = 60;

/** Returns the units whose bars for this number of days are wide enough in a chart of this width. Months always are. */
export const fittingUnits = (days: number, width: number): Unit[] =>
  UNITS.filter((unit) => {
    const bars = unit === 'day' ? days : Math.ceil(days / 7) + 1;
    return unit === 'month' || barIn(0, Math.max(0, width - AXIS) / bars).width >= MIN_BAR;
  });
