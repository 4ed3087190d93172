// The figures of a report: pure arithmetic. Only days that are over, those before `today` (UTC), are in a mean or a change.
import type { Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';

/** Of the whole days of a report. `before` is of their counterparts. */
export type Compared = {
  used: number;
  before: number;
  /** The days that `before` is of. */
  days: Range;
};
export type Figures = {
  wholeDays: number;
  /** A whole day. Null: no day is over. */
  mean: number | null;
  /** The first of the days with most uses. Null: there is no use. */
  peak: Day | null;
  /** Null: nothing was compared, or no day is over. */
  compared: Compared | null;
};

/** The figures of `used`, whose day i is compared with day i of `before`. */
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

/** `before` are the counterparts of the days with `used` uses. */
function comparedOf(used: number, before: readonly Day[]): Compared | null {
  const [first, last] = [before[0], before.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { used, before: sum(before), days: { from: first.date, to: last.date } };
}
