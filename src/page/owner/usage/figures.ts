// The figures of a report. The total covers the full days, which end before `today` (UTC). If there are none, it covers all days.
import { type Day, summaryOf } from '../../scale.ts';

/** `peak`: the first day with the most uses, including today, or null if there are no uses. */
export type Figures = { fullDays: number; total: number; peak: Day | null };

export function figuresOf(used: readonly Day[], today: string): Figures {
  const { fullDays, total } = summaryOf(used, [], today);
  const peak = used.reduce<Day | null>((most, day) => (day.count > (most?.count ?? 0) ? day : most), null);
  return { fullDays, total, peak };
}
