// The days of the Usage tab: which the URL chooses, what they are compared with, and their uses.
import { LISTED_DAYS } from '../../../business/rules.ts';
import { addDays } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';
import type { Api } from '../api.ts';
import { daysOf, withCompared } from '../loaded-days.ts';
import { type Query, useQuery } from '../query.ts';
import { comparedDays, comparisonIn, coversAllDays, recordedFrom, type Shown, withData } from '../ranges.ts';

type Props = {
  api: Api;
  id: number;
  created_at: string | null;
  query: URLSearchParams;
  revision: number;
  /** The uses of the days of the list, which end today. */
  recent: Query<Day[]>;
};

/** Reads the chosen days, unless `recent` has them. */
export function useShownDays({ api, id, created_at, query, revision, recent }: Props, shown: Shown, today: string) {
  const { range } = shown;
  const earlier = comparedDays(shown, comparisonIn(query), today);
  const source = query.get('source');
  const wanted = withCompared(range, earlier);
  // The listed days have been read already. Other days that have been read can contain those that are wanted later, but only for the same
  // source.
  const isRecent = source === null && wanted.from >= addDays(today, 1 - LISTED_DAYS) && wanted.to <= today;
  const other = useQuery(
    isRecent ? null : source === null ? 'all' : `of ${source}`,
    `${wanted.from} ${wanted.to} ${revision}`,
    () => api.report(id, wanted, source),
  );
  const report = isRecent ? recent : other;
  const loaded = report.data;
  const used = loaded && daysOf(loaded, range);
  const since = created_at !== null && loaded ? recordedFrom(created_at, loaded) : null;
  const compared = since === null ? null : withData(earlier, since);
  return {
    /** The days to compare with, even without data. */
    earlier,
    /** The part of them that has data. */
    compared,
    /** Only the uses of this source. Null for all. */
    source,
    report,
    loaded,
    used,
    before: loaded && compared && daysOf(loaded, compared),
    /** The first day that can have uses. */
    since,
    isUnused:
      since !== null &&
      coversAllDays(range, since, today) &&
      source === null &&
      loaded?.every(({ count }) => count === 0),
  };
}
