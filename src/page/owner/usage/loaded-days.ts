// Picks the days to show from those that one request has read.
import { daysIn, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';

/** Consecutive days. `at`: when they were read, in milliseconds since 1970. Null: they came with the list. */
export type LoadedDays = { days: readonly Day[]; at: number | null };

/** Returns the days of `range`, or null unless all of them are loaded. */
export function daysOf({ days }: LoadedDays, { from, to }: Range): Day[] | null {
  const first = days[0]?.date;
  const last = days.at(-1)?.date;
  if (first === undefined || last === undefined || from < first || to > last) return null;
  const start = daysIn({ from: first, to: from }) - 1;
  return days.slice(start, start + daysIn({ from, to }));
}

/** Returns one range over the shown and the compared days. */
export const withCompared = (range: Range, compared: Range | null): Range => ({
  from: compared?.from ?? range.from,
  to: range.to,
});
