// The cumulative uses of a billing month: so far, as the forecast expects them, and those of the month before.
import { addDays, addMonths, DAY_MS, dayOf, daysIn, type Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';
import { monthDays, number } from '../formats.ts';
import { daysOf } from '../loaded-days.ts';
import { type Forecast, type Point, paceWords } from '../pace.ts';
import type { Period } from '../periods.ts';
import { recordedFrom, withData } from '../ranges.ts';

/** A line of the drawing, and its words in the legend. */
export type Line = [is: 'limit' | 'used' | 'expected' | 'earlier', points: Point[], words: string];

/** The month before, by the calendar. The service does not say when it began, which differs after a change of the billing day. */
export const monthBefore = ({ from }: Range): Range => ({ from: addMonths(from, -1), to: addDays(from, -1) });

/**
 * `loaded` are days up to today. Without all full days of the month, there are no lines, and without all days of the month before, or data
 * of them, only those of this month. The month before is drawn beside this one, day by day, as far as this one lasts.
 */
export function linesOf(
  month: Period,
  loaded: readonly Day[],
  created_at: string,
  pace: Forecast | null,
  now: number,
): Line[] {
  const { days, limit, used, ends } = month;
  const starts = Date.parse(days.from);
  const at = Math.min(now, ends);
  const yesterday = dayOf(new Date(at - DAY_MS));
  const past = daysOf(loaded, { from: days.from, to: yesterday });
  if (past === null) return [];
  /** The uses at the start of the first day, and at the end of each. */
  const cumulated = (counted: readonly Day[]): Point[] =>
    [0, ...counted].map((_, index) => [starts + index * DAY_MS, sum(counted.slice(0, index))]);
  const level: Point[] = [
    [starts, limit],
    [ends, limit],
  ];
  const lines: Line[] = [
    ['limit', level, `Limit: ${number(limit)}`],
    ['used', [...cumulated(past), [at, used]], `This month: ${number(used)} so far`],
  ];
  if (pace && pace.is !== 'reached') {
    lines.push(['expected', pace.course, `Forecast: ${paceWords(pace, month)}`]);
  }
  const before = withData(monthBefore(days), recordedFrom(created_at, loaded));
  const earlier = before && daysOf(loaded, before);
  if (before && earlier) {
    const same = earlier.slice(0, past.length);
    const last = same.at(-1);
    const more = sum(past) - sum(same);
    const difference = more === 0 ? 'as many' : `${number(Math.abs(more))} ${more < 0 ? 'fewer' : 'more'}`;
    const compared = last
      ? `, ${number(sum(same))} by ${monthDays(last.date)}; this month has ${difference} by ${monthDays(yesterday)}`
      : '';
    const words = `${monthDays(before.from, before.to)}: ${number(sum(earlier))} in all${compared}`;
    lines.push(['earlier', cumulated(earlier.slice(0, daysIn(days))), words]);
  }
  return lines;
}
