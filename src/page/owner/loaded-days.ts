// Selects the days to show from the days that one request returned.
import { daysIn, type Range } from '../../core/time.ts';
import type { Day } from '../scale.ts';

/** Returns the days of `range`, or null unless all of them are loaded. The loaded days are consecutive. */
export function daysOf(loaded: readonly Day[], { from, to }: Range): Day[] | null {
  const first = loaded[0]?.date;
  const last = loaded.at(-1)?.date;
  if (first === undefined || last === undefined || from < first || to > last) return null;
  const start = daysIn({ from: first, to: from }) - 1;
  return loaded.slice(start, start + daysIn({ from, to }));
}

/** Returns the range from the first compared day to the last shown day. */
export const withCompared = (range: Range, compared: Range | null): Range => ({
  from: compared?.from ?? range.from,
  to: range.to,
});
