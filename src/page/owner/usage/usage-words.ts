// The Usage tab's wording for days, figures and limits.
import { FIRST_DAY, MAX_RANGE_DAYS, type Range } from '../../../core/time.ts';
import type { Unit } from '../../scale.ts';
import { compact, dayWords, meanWords, NONE, number, plural, rangeWords, shortDayWords } from '../formats.ts';
import type { Comparison, RangeProblem } from '../ranges.ts';
import type { Figures } from './figures.ts';
import { periodName } from './limit-words.ts';

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

export const UNIT_WORDS: Record<Unit, string> = { day: 'Day', week: 'Week', month: 'Month' };

export const NOT_COMPARED = `Not compared: with the earlier days, the report would exceed ${number(MAX_RANGE_DAYS)} days or begin before 1970.`;

export const noDataWords = (since: string): string => `Not compared: there is no data before ${dayWords(since)}.`;

const fullDaysWords = (days: number) => (days === 1 ? 'one full day' : `${number(days)} full days`);

/** “Nov 1 – 28, 2026: 57 uses”. Without full days, “57 uses today so far”. */
export const totalWords = ({ total, soFar }: Figures, full: Range | null): string =>
  full === null ? `${plural(soFar, 'use')} today so far` : `${rangeWords(full)}: ${plural(total, 'use')}`;

/** “57 uses on these days and 3 today so far, counting each retry.” */
export function refusedWords({ total, soFar }: Figures): string {
  const counts = [
    ...(total > 0 ? [`${plural(total, 'use')} on these days`] : []),
    ...(soFar > 0 ? [`${number(soFar)} today so far`] : []),
  ];
  return counts.length === 0 ? 'None on these days.' : `${counts.join(' and ')}, counting each retry.`;
}

type FigureWords = [name: string, value: string, detail: string];

/** `figures` is null until the report has been read. */
export function figureWords(figures: Figures | null): FigureWords[] {
  if (figures === null) return ['Mean', 'Peak'].map((name) => [name, NONE, '']);
  const { fullDays, total, peak } = figures;
  if (fullDays === 0) return ['Mean', 'Peak'].map((name) => [name, NONE, 'no full days yet']);
  return [
    ['Mean', meanWords(total / fullDays), `a day, over ${fullDaysWords(fullDays)}`],
    peak === null ? ['Peak', NONE, 'no uses'] : ['Peak', compact(peak.count), dayOfPeak(peak.date)],
  ];
}

const dayOfPeak = (date: string) => `on ${shortDayWords(date)}, ${date.slice(0, 4)}`;

export const billingWords = (billing: Range | null): string =>
  billing === null ? '' : periodName({ is: 'month', days: billing });
