// Where things stand in a chart: pure arithmetic over counts, days and pixels.

export type Day = { date: string; count: number };

export type Unit = 'day' | 'week' | 'month';

type Span = { from: string; to: string; count: number };
/** The days that one bar covers, and their counterparts in the period before. */
export type Bar = Span & { whole: boolean; before: Span | undefined };

export const sum = (days: readonly Day[]): number => days.reduce((total, { count }) => total + count, 0);

/** `value`, or what is nearest to it from 0 to `most`. */
export const clamp = (value: number, most: number) => Math.max(0, Math.min(value, most));

const span = (days: readonly Day[]): Span => ({
  from: days[0]?.date ?? '',
  to: days.at(-1)?.date ?? '',
  count: sum(days),
});

const LENGTH = { day: 1, week: 7, month: 28 };

/**
 * The bars of `days`. A week is seven days, counted back from the last day, so that the last bar is never a partial week; a month
 * is a calendar month. A bar is not whole if it has fewer days than that, or includes today.
 */
export function barsBy(unit: Unit, days: readonly Day[], before: readonly Day[], today: string): Bar[] {
  const keys = days.map(({ date }, i) =>
    unit === 'month' ? date.slice(0, 7) : Math.floor((i - days.length) / LENGTH[unit]),
  );
  const starts = keys.flatMap((key, i) => (key === keys[i - 1] ? [] : [i]));
  return starts.map((start, i) => {
    const inside = days.slice(start, starts[i + 1]);
    return {
      ...span(inside),
      whole: inside.length >= LENGTH[unit] && !inside.some(({ date }) => date === today),
      before: before.length > 0 ? span(before.slice(start, starts[i + 1])) : undefined,
    };
  });
}

/** The labels of the vertical axis: whole numbers from 0, evenly spaced, at most `most` of them above 0. */
export function countTicks(max: number, most: number): number[] {
  const rough = Math.max(1, max / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step);
}

export type DayTick = { index: number; unit: 'day' | 'month' };

const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12];

/** Which bars have a label on the horizontal axis: every nth day back from the last, or the first bar of a month. */
export function dayTicks(dates: readonly string[], most: number, by: Unit = 'day'): DayTick[] {
  const last = dates.length - 1;
  const step = by === 'day' ? DAY_STEPS.find((days) => last / days < most) : undefined;
  if (step) return dates.flatMap((_, index) => ((last - index) % step === 0 ? [{ index, unit: 'day' }] : []));
  const month = (index: number) => dates[index]?.slice(5, 7);
  const firsts = dates.flatMap((date, index) => {
    const starts = by === 'month' || date.endsWith('-01') || (index > 0 && month(index) !== month(index - 1));
    return starts ? [{ index, month: Number(month(index)) }] : [];
  });
  const fitting = MONTH_STEPS.map((step) => firsts.filter(({ month }) => (month - 1) % step === 0));
  const chosen = fitting.find((ticks) => ticks.length <= most && ticks.length > 0) ?? firsts.slice(0, 1);
  return chosen.map(({ index }) => ({ index, unit: 'month' }));
}

const MAX_BAR = 72;
const SNAPPED_BAND = 8; // narrower bars would differ visibly in width if they were snapped to pixels

/** The left edge and the width of a bar in its band. */
export function barIn(index: number, band: number): { x: number; width: number } {
  const gap = band >= 6 ? Math.max(2, band * 0.25) : band >= 2 ? band * 0.25 : 0;
  const width = Math.min(MAX_BAR, band - gap);
  const x = index * band + (band - width) / 2;
  if (band < SNAPPED_BAND) return { x, width };
  return { x: Math.round(x), width: Math.max(1, Math.round(width)) };
}
