// The figures of a report. They cover the full days, which end before `today` (UTC).
import { type Day, summaryOf } from '../../scale.ts';

/** `peak`: the first day with the most uses, or null if there are no uses. */
export type Figures = { fullDays: number; total: number; soFar: number; peak: Day | null };

export function figuresOf(used: readonly Day[], today: string): Figures {
  const { full, total, soFar } = summaryOf(used, [], today);
  const peak = full.reduce<Day | null>((most, day) => (day.count > (most?.count ?? 0) ? day : most), null);
  return { fullDays: full.length, total, soFar, peak };
}
