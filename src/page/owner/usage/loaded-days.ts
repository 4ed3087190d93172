// Selects the days to show from the days that one request returned.
import { daysIn, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';

/** Consecutive days. `at` is the time when they were read, in milliseconds since 1970, or null if they come from the list of businesses. */
export type LoadedDays = { days: readonly Day[]; at: number | null };

/** Returns the days of `range`, or null unless all of them are loaded. */
export function daysOf({ days }: LoadedDays, { from, to }: Range): Day[] | null {
  const first = days[0]?.date;
  const last = days.at(-1)?.date;
  if (first === undefined || last === undefined || from < first || to > last) return null;
  const start = daysIn({ from: first, to: from }) - 1;
  return days.slice(start, start + daysIn({ from, to }));
}

/** Returns the range from the first compared day to the last shown day. */
export const withCompared = (range: Range, compared: Range | null): Range => ({
  from: compared?.from ?? range.from,
  to: range.to,
});
