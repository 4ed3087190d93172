// Reading the days that a view shows: one request at a time counts, and days that were just read are not read again.
import { useEffect, useRef, useState } from 'preact/hooks';
import { dayOf, type Range } from '../../../core/time.ts';
import type { Day } from '../../scale.ts';
import type { Api, Failure } from '../api.ts';
import { now } from '../clock.ts';
import { failureOf, useLatest } from '../query.ts';
import { daysOf, type Reading } from './days-read.ts';
import { paceDays } from './pace.ts';

/** What was read so lately is shown for other days, too. */
const FRESH_MS = 60_000;

type State = {
  /** What was read last. It may be of other days than those that are shown. */
  reading: Reading | null;
  /** What `failure` and `busy` are about. */
  asked: string;
  failure: Failure | null;
  busy: boolean;
};
/** `failure` stays while the same days are tried again. */
export type Report = Omit<State, 'asked'> & { retry: () => void };

/**
 * Reads `wanted` when the component appears, and when the days or `revision` change. The answer to a request that another one overtook
 * is dropped. `listed` are days that are shown until the report is there.
 */
export function useReport(
  api: Api,
  id: number,
  wanted: Range,
  revision: number,
  listed: readonly Day[] | null,
): Report {
  const key = `${wanted.from} ${wanted.to} ${revision}`;
  const [state, setState] = useState<State>({
    reading: listed && { days: listed, at: null },
    asked: '',
    failure: null,
    busy: true,
  });
  const { reading } = state;
  const begin = useLatest();
  const readRevision = useRef<number | null>(null);

  function read(failure: Failure | null): void {
    const isLatest = begin();
    const settle = (change: Partial<State>) =>
      isLatest() && setState((last) => ({ ...last, asked: key, failure: null, busy: false, ...change }));
    settle({ failure, busy: true });
    api.report(id, wanted).then(
      (days) => {
        if (isLatest()) readRevision.current = revision;
        settle({ reading: { days, at: now() } });
      },
      (error) => settle({ failure: failureOf(error) }),
    );
  }
  useEffect(() => {
    const isFresh = reading?.at && revision === readRevision.current && now() - reading.at < FRESH_MS;
    if (isFresh && daysOf(reading, wanted)) {
      begin(); // what is on its way is of other days
      setState({ reading, asked: key, failure: null, busy: false });
    } else read(null);
  }, [key]);

  const isCurrent = state.asked === key;
  const retry = () => read(state.failure);
  return { reading, failure: isCurrent ? state.failure : null, busy: !isCurrent || state.busy, retry };
}

const endsOn = (days: readonly Day[]) => days.at(-1)?.date;

type PaceAsked = { report: Report; listed: readonly Day[] | null; revision: number; today: string };

/** The days of the pace: from what was read or listed, else by a request of their own. Null: not known, or not wanted. */
export function usePaceDays(api: Api, id: number, isWanted: boolean, asked: PaceAsked) {
  const { report, listed, revision, today } = asked;
  const key = `${today} ${revision}`;
  const wanted = paceDays(today);
  const kept = useRef<{ key: string; days: Day[] } | null>(null);
  const started = useRef<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [, draw] = useState('');

  // Days that were read before the last of them was over are no whole days. A list ends with the day on which it was read.
  const { reading } = report;
  const isWhole =
    reading !== null && (reading.at === null ? endsOn(reading.days) : dayOf(new Date(reading.at))) === today;
  const found =
    (isWhole ? daysOf(reading, wanted) : null) ??
    (listed && revision === 0 && endsOn(listed) === today ? daysOf({ days: listed, at: null }, wanted) : null);
  if (found) kept.current = { key, days: found };
  const days = kept.current?.key === key ? kept.current.days : null;
  const isMissing = isWanted && days === null && !report.busy && report.failure === null;

  useEffect(() => {
    if (!isMissing || started.current === key) return;
    started.current = key;
    api.report(id, wanted).then(
      (read) => {
        if (started.current !== key) return;
        kept.current = { key, days: read };
        draw(key);
      },
      () => started.current === key && setFailed(key),
    );
  }, [isMissing, key]);
  return { days, isUnknown: days === null && failed === key };
}
