// The rows of the table of sources.
import { addDays, daysIn, type Range } from '../../../core/time.ts';
import type { SourceUses } from '../../../usage/description.ts';
import { MAX_DAYS_BY_SOURCE } from '../../../usage/rules.ts';
import type { Uses } from '../source-uses.ts';

/** The part of the full days that the table covers: the last ones. */
export const coveredBy = ({ from, to }: Range): Range => {
  const first = addDays(to, 1 - MAX_DAYS_BY_SOURCE);
  return { from: from < first ? first : from, to };
};

/** The days with which full days are compared. Null if there are none, or if either are too many for one report. */
export function comparedBySource(full: Range, compared: Range | null): Range | null {
  const isShort = (days: Range) => daysIn(days) <= MAX_DAYS_BY_SOURCE;
  return compared !== null && isShort(full) && isShort(compared) ? compared : null;
}

/** `share` is a part of all uses, from 0 to 1. `before` counts the compared days. Null without a comparison. */
export type SourceRow = {
  source: string | null;
  count: number;
  share: number;
  today: number;
  last_day: string | null;
  before: number | null;
};

/** Whether more than half of the uses have no source, as in imported history. */
const isMostlyUnnamed = (uses: readonly SourceUses[]): boolean =>
  uses.reduce((sum, { source, count }) => sum + (source === null ? count : -count), 0) > 0;

/** Whether uses have sources in both periods or in neither. Otherwise, a change would only show that sources began or ended. */
export const areAlike = (now: readonly SourceUses[], before: readonly SourceUses[]): boolean =>
  isMostlyUnnamed(now) === isMostlyUnnamed(before);

/** Returns a row for each source, most uses first, then those that had uses only before, then the sites without uses. */
export function rowsOf(uses: Uses[], before: SourceUses[] | null, sites: readonly string[]): SourceRow[] {
  const total = uses.reduce((sum, { count }) => sum + count, 0);
  const named = new Set([...uses, ...(before ?? [])].map(({ source }) => source));
  for (const site of sites) named.add(site);
  return [...named].map((source) => {
    const { count, today, last_day } = uses.find((one) => one.source === source) ?? {
      count: 0,
      today: 0,
      last_day: null,
    };
    return {
      ...{ source, count, today, last_day },
      share: total === 0 ? 0 : count / total,
      before: before && (before.find((one) => one.source === source)?.count ?? 0),
    };
  });
}
