// The figures of a report. Means and changes count only whole days, which are the days before `today` (UTC).
import type { Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';

/** `used`: the uses of a report's whole days. `before`: the uses of the compared days. `days`: the compared days. */
export type Compared = { used: number; before: number; days: Range };
export type Figures = {
  wholeDays: number;
  /** Uses per whole day. Null if none of the days is over yet. */
  mean: number | null;
  /** The first day with the most uses, or null if there are no uses. */
  peak: Day | null;
  /** Null if there is no comparison, or if none of the days is over yet. */
  compared: Compared | null;
};

/** `before` contains the counterpart of each day of `used`, in the same order. */
export function figuresOf(used: readonly Day[], before: readonly Day[] | null, today: string): Figures {
  const whole = used.filter(({ date }) => date < today);
  const total = sum(whole);
  const most = used.reduce<Day | null>((peak, day) => (day.count > (peak?.count ?? 0) ? day : peak), null);
  return {
    wholeDays: whole.length,
    mean: whole.length === 0 ? null : total / whole.length,
    peak: most,
    compared: before && comparedOf(total, before.slice(0, whole.length)),
  };
}

function comparedOf(used: number, before: readonly Day[]): Compared | null {
  const [first, last] = [before[0], before.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { used, before: sum(before), days: { from: first.date, to: last.date } };
}
