// The rows of the table of sources.
import { addDays, daysIn, type Range } from '../../../core/time.ts';
import type { SourceUses } from '../../../usage/description.ts';
import { MAX_DAYS_BY_SOURCE } from '../../../usage/rules.ts';
import { fullDays } from '../ranges.ts';

/** The part of a range that the table covers: its last days. */
export const coveredBy = ({ from, to }: Range): Range => {
  const first = addDays(to, 1 - MAX_DAYS_BY_SOURCE);
  return { from: from < first ? first : from, to };
};

/** The full days of a range, and the days they are compared with. Null if there are none, or too many. */
export function comparedParts(range: Range, before: Range | null, today: string): { now: Range; before: Range } | null {
  const now = fullDays(range, today);
  const isShort = (days: Range) => daysIn(days) <= MAX_DAYS_BY_SOURCE;
  return now !== null && before !== null && isShort(now) && isShort(before) ? { now, before } : null;
}

/** `share` is a part of all uses, from 0 to 1. `change` has the uses of the compared full days. Null without a comparison. */
export type SourceRow = {
  source: string | null;
  count: number;
  share: number;
  last_day: string | null;
  change: { now: number; before: number } | null;
};
/** Full days, and the days they are compared with. */
type Parts = { now: SourceUses[]; before: SourceUses[] };

/** Whether more than half of the uses have no source, as in imported history. */
const isMostlyUnnamed = (uses: readonly SourceUses[]): boolean =>
  uses.reduce((sum, { source, count }) => sum + (source === null ? count : -count), 0) > 0;

/** Whether uses have sources in both periods or in neither. Otherwise, a change would only show that sources began or ended. */
export const areAlike = ({ now, before }: Parts): boolean => isMostlyUnnamed(now) === isMostlyUnnamed(before);

/** Returns a row for each source, most uses first, then those that had uses only before, then the sites without uses. */
export function rowsOf(uses: SourceUses[], parts: Parts | null, sites: readonly string[]): SourceRow[] {
  const total = uses.reduce((sum, { count }) => sum + count, 0);
  const countOf = (list: SourceUses[], source: string | null) => list.find((one) => one.source === source)?.count ?? 0;
  const named = new Set([...uses, ...(parts?.before ?? [])].map(({ source }) => source));
  for (const site of sites) named.add(site);
  return [...named].map((source) => {
    const count = countOf(uses, source);
    return {
      source,
      count,
      share: total === 0 ? 0 : count / total,
      last_day: uses.find((one) => one.source === source)?.last_day ?? null,
      change: parts && { now: countOf(parts.now, source), before: countOf(parts.before, source) },
    };
  });
}
