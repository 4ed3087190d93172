// The Usage tab's wording for days, figures and limits.
import { FIRST_DAY, MAX_RANGE_DAYS } from '../../../core/time.ts';
import {
  aboutWords,
  compact,
  dayWords,
  meanWords,
  number,
  plural,
  shortDayWords,
  shortInstantWords,
  weekdayTime,
} from '../formats.ts';
import type { Figures } from './figures.ts';
import type { Pace } from './pace.ts';
import type { Comparison, RangeProblem } from './ranges.ts';

const ENDS = { from: 'first', to: 'last' } as const;

/** Explains what is wrong with a range, and how to correct it. */
export function problemWords(problem: RangeProblem, { from, to }: { from: string; to: string }): string {
  if (problem.is === 'not a day') {
    return `The ${ENDS[problem.end]} day is incomplete or before 1970. Choose ${dayWords(FIRST_DAY)}, or later.`;
  }
  if (problem.is === 'reversed') {
    return `The first day, ${dayWords(from)}, is after the last day, ${dayWords(to)}. Choose an earlier first day or a later last day.`;
  }
  const most = `${number(problem.days)} days exceed the report’s maximum of ${number(MAX_RANGE_DAYS)}.`;
  return `${most} To keep this last day, choose ${dayWords(problem.earliest)}, or later as the first day.`;
}

export const COMPARISON_WORDS: Record<Comparison, string> = {
  previous: 'Previous period',
  year: 'Previous year',
  off: 'Off',
};

export const NOT_COMPARED = `Not compared: with the earlier days, the report would exceed ${number(MAX_RANGE_DAYS)} days or begin before 1970.`;

const fullDaysWords = (days: number) => (days === 1 ? 'one full day' : `${number(days)} full days`);

type FigureWords = [name: string, value: string, detail: string];
const NONE = '–';

/** `figures` is null until the report has been read. */
export function figureWords(figures: Figures | null): FigureWords[] {
  if (figures === null) return ['Mean', 'Peak'].map((name) => [name, NONE, '']);
  const { fullDays, total, peak } = figures;
  return [
    fullDays === 0
      ? ['Mean', NONE, 'no full days yet']
      : ['Mean', meanWords(total / fullDays), `a day, over ${fullDaysWords(fullDays)}`],
    peak === null ? ['Peak', NONE, 'no uses'] : ['Peak', compact(peak.count), dayOfPeak(peak.date)],
  ];
}

const dayOfPeak = (date: string) => `on ${shortDayWords(date)}, ${date.slice(0, 4)}`;

/** Formats the time when a limit resets, in UTC and, if different, in local time. */
export function resetWords(at: number): string {
  const here = new Date(at).getTimezoneOffset() === 0 ? '' : ` (${weekdayTime(at)} your time)`;
  return `Resets on ${shortInstantWords(at)}${here}.`;
}

export function paceWords(pace: Pace, limit: number): string {
  if (pace.is === 'reached') return 'The monthly limit has been reached.';
  const from = 'At the pace of the last seven full days,';
  if (pace.is === 'reaching') return `${from} the limit will be reached on ${shortDayWords(pace.at)}.`;
  const expected = aboutWords(pace.expected);
  const share = `${number(limit)} by the end of the month`;
  // Rounding can raise the forecast to the limit.
  const isAlmost = Number(expected.replaceAll(',', '')) >= limit;
  return `${from} ${isAlmost ? `usage will be just under ${share}` : `usage will be about ${expected} of ${share}`}.`;
}

export function leftWords(left: number, overage: number | null): string {
  if (left > 0) return `${plural(left, 'use')} left.`;
  const isRefused = overage !== null && -left >= overage;
  return `${left === 0 ? 'None left' : `${number(-left)} over`}${isRefused ? ': the next use is refused.' : '.'}`;
}
