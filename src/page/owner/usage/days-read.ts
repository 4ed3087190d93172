// Which days one request reads, and what of them is shown.
import { daysIn, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';

/** Days that were read, in their order and without a gap. `at`: when, in milliseconds since 1970. Null: they came with the list. */
export type Reading = { days: readonly Day[]; at: number | null };

/** The days of `range` that were read; null if they are not all there. */
export function daysOf({ days }: Reading, { from, to }: Range): Day[] | null {
  const first = days[0]?.date;
  const last = days.at(-1)?.date;
  if (first === undefined || last === undefined || from < first || to > last) return null;
  const start = daysIn({ from: first, to: from }) - 1;
  return days.slice(start, start + daysIn({ from, to }));
}

/** One range with the days that are shown and those that they are compared with. The days between are of no use. */
export const withCompared = (range: Range, compared: Range | null): Range => ({
  from: compared?.from ?? range.from,
  to: range.to,
});
