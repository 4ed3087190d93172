// Where things stand in a chart: pure arithmetic over counts, days and pixels.

export type Day = { date: string; count: number };

/** The labels of the vertical axis: whole numbers from 0, evenly spaced, at most `most` of them above 0. */
export function countTicks(max: number, most: number): number[] {
  if (max === 0) return [0];
  const rough = Math.max(1, max / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step);
}

export type DayTick = { index: number; unit: 'day' | 'month' };

const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12];

/** Which of the days have a name on the horizontal axis: every so many up to the last, or firsts of months. */
export function dayTicks(dates: readonly string[], most: number): DayTick[] {
  const last = dates.length - 1;
  for (const step of DAY_STEPS) {
    if (last / step < most) {
      const first = last % step;
      return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => ({ index: first + i * step, unit: 'day' }));
    }
  }
  const firsts = dates.flatMap((date, index) =>
    date.endsWith('-01') ? [{ index, month: Number(date.slice(5, 7)) }] : [],
  );
  const fitting = MONTH_STEPS.map((step) => firsts.filter(({ month }) => (month - 1) % step === 0));
  const chosen = fitting.find((ticks) => ticks.length <= most && ticks.length > 0) ?? firsts.slice(0, 1);
  return chosen.map(({ index }) => ({ index, unit: 'month' }));
}

const MAX_BAR = 72;
const SNAPPED_BAND = 8; // narrower bars that were snapped to pixels would differ in width visibly

/** The left edge and the width of a bar in its band. */
export function barIn(index: number, band: number): { x: number; width: number } {
  const gap = band >= 6 ? Math.max(2, band * 0.25) : band >= 2 ? band * 0.25 : 0;
  const width = Math.min(MAX_BAR, band - gap);
  const x = index * band + (band - width) / 2;
  if (band < SNAPPED_BAND) return { x, width };
  return { x: Math.round(x), width: Math.max(1, Math.round(width)) };
}
