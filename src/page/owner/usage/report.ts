// Reads the days that the tab shows, unless they were read within the last minute.
import { useRef } from 'preact/hooks';
import { dayOf, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';
import type { Api } from '../api.ts';
import { now } from '../clock.ts';
import { type Query, useQuery } from '../query.ts';
import { daysOf, type LoadedDays } from './loaded-days.ts';
import { paceDays } from './pace.ts';

const FRESH_MS = 60_000;

type ReportData = LoadedDays & { revision: number | null; source: string | null };
/** While `busy` is true, `data` can contain days other than the ones to show. */
export type Report = Query<ReportData>;

/** `listed`: the days from the list, shown until the report has been read. `source`: the only source to report, or null for all uses. */
export const useReport = (
  api: Api,
  id: number,
  wanted: Range,
  revision: number,
  listed: readonly Day[] | null,
  source: string | null,
): Report =>
  useQuery<ReportData>(
    `${wanted.from} ${wanted.to} ${revision} ${source}`,
    (_, last) => {
      const isFresh =
        last?.revision === revision && last.source === source && last.at !== null && now() - last.at < FRESH_MS;
      if (isFresh && daysOf(last, wanted)) return null;
      return api.report(id, wanted, source).then((days) => ({ days, at: now(), revision, source }));
    },
    listed && { days: listed, at: null, revision: null, source: null },
  );

const endsOn = (days: readonly Day[]) => days.at(-1)?.date;

type PaceSources = { report: Report; listed: readonly Day[] | null; revision: number; today: string };
type PaceDays = { key: string; days: readonly Day[] };

/** Returns the days for the pace from the report, the list, or a new request. `days` is null until they are known. */
export function usePaceDays(api: Api, id: number, isWanted: boolean, sources: PaceSources) {
  const { report, listed, revision, today } = sources;
  const key = `${today} ${revision}`;
  const wanted = paceDays(today);
  const known = useRef<PaceDays | null>(null);

  // Days read before today may end with a partial day. The list ends with the day on which it was read.
  const loaded = report.data;
  const isWhole = loaded !== null && (loaded.at === null ? endsOn(loaded.days) : dayOf(new Date(loaded.at))) === today;
  const found =
    (isWhole ? daysOf(loaded, wanted) : null) ??
    (listed && revision === 0 && endsOn(listed) === today ? daysOf({ days: listed, at: null }, wanted) : null);
  if (found) known.current = { key, days: found };

  const isMissing = isWanted && known.current?.key !== key && !report.busy && report.failure === null;
  const own = useQuery<PaceDays>(isMissing ? key : '', (_, last) =>
    isMissing && last?.key !== key ? api.report(id, wanted).then((days) => ({ key, days })) : null,
  );
  const days = [known.current, own.data].find((one) => one?.key === key)?.days ?? null;
  return { days, isUnknown: days === null && own.failure !== null };
}
