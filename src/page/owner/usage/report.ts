// Reading the days that a view shows: days that were just read are not read again.
import { useRef } from 'preact/hooks';
import { dayOf, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';
import type { Api } from '../api.ts';
import { now } from '../clock.ts';
import { type Query, useQuery } from '../query.ts';
import { daysOf, type Reading } from './days-read.ts';
import { paceDays } from './pace.ts';

/** What was read so lately is shown for other days, too. */
const FRESH_MS = 60_000;

type Answer = Reading & { revision: number | null };
/** The data may be of other days than those that are shown. */
export type Report = Query<Answer>;

/** Reads `wanted`. `listed` are days that are shown until the report is there. */
export const useReport = (
  api: Api,
  id: number,
  wanted: Range,
  revision: number,
  listed: readonly Day[] | null,
): Report =>
  useQuery<Answer>(
    `${wanted.from} ${wanted.to} ${revision}`,
    (_, last) => {
      const isFresh = last?.revision === revision && last.at !== null && now() - last.at < FRESH_MS;
      if (isFresh && daysOf(last, wanted)) return null;
      return api.report(id, wanted).then((days) => ({ days, at: now(), revision }));
    },
    listed && { days: listed, at: null, revision: null },
  );

const endsOn = (days: readonly Day[]) => days.at(-1)?.date;

type PaceAsked = { report: Report; listed: readonly Day[] | null; revision: number; today: string };
type PaceDays = { key: string; days: readonly Day[] };

/** The days of the pace: from what was read or listed, else by a request of their own. Null: not known, or not wanted. */
export function usePaceDays(api: Api, id: number, isWanted: boolean, asked: PaceAsked) {
  const { report, listed, revision, today } = asked;
  const key = `${today} ${revision}`;
  const wanted = paceDays(today);
  const known = useRef<PaceDays | null>(null);

  // Days that were read before the last of them was over are no whole days. A list ends with the day on which it was read.
  const reading = report.data;
  const isWhole =
    reading !== null && (reading.at === null ? endsOn(reading.days) : dayOf(new Date(reading.at))) === today;
  const found =
    (isWhole ? daysOf(reading, wanted) : null) ??
    (listed && revision === 0 && endsOn(listed) === today ? daysOf({ days: listed, at: null }, wanted) : null);
  if (found) known.current = { key, days: found };

  const isMissing = isWanted && known.current?.key !== key && !report.busy && report.failure === null;
  const own = useQuery<PaceDays>(isMissing ? key : '', (_, last) =>
    isMissing && last?.key !== key ? api.report(id, wanted).then((days) => ({ key, days })) : null,
  );
  const days = [known.current, own.data].find((one) => one?.key === key)?.days ?? null;
  return { days, isUnknown: days === null && own.failure !== null };
}
