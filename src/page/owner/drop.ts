// Whether a business stopped being used, or is used much less than usual, and what the list and the business's view say about it.
//
// - Full days count, because today is not over. But a use today ends a silence.
// - The last days are compared with the same weekdays of each of the four weeks before them, and the median of these is usual. Weeks from
//   before the first recorded use do not count, and fewer than three are too few to judge.
// - Silent: no uses for at least two days longer than in any pause of these weeks, such as a weekend, though at least ten were usual.
// - Fewer: in the last one to four weeks, at most half of what is usual, less than two thirds of the quietest of the weeks before, and by
//   four times the square root of the usual uses fewer, which is no chance.
//
// So a lower number is news for about a month, and a silence for five weeks.
import { type Day, sum } from '../scale.ts';
import { aboutWords, monthDays, plural } from './formats.ts';

/** `days`: the silent days, or those with fewer uses. `usual`: the uses on as many of the same weekdays. `since`: the day of the last use. */
export type Drop =
  | { is: 'silent'; days: number; usual: number; since: string }
  | { is: 'fewer'; days: number; usual: number; count: number };

const WEEK = 7;
const WEEKS = [1, 2, 3, 4];
const MIN_WEEKS = 3;
const MIN_USUAL = 10;
const LONGER_BY_DAYS = 2;

/** Compares the days from `start` on with the weeks before: the `usual` uses, and those of the `quietest`. Null if there are too few weeks. */
function weeksBefore(days: readonly Day[], start: number): { usual: number; quietest: number } | null {
  const firsts = WEEKS.map((week) => start - WEEK * week).filter((first) => first >= 0);
  if (firsts.length < MIN_WEEKS) return null;
  const sums = firsts
    .map((first) => sum(days.slice(start).flatMap((_, index) => days[first + (index % WEEK)] ?? [])))
    .sort((a, b) => a - b);
  const middle = sums.slice(1, -1); // of three or four
  return { usual: middle.reduce((total, one) => total + one, 0) / middle.length, quietest: Math.min(...sums) };
}

function longestPause(days: readonly Day[]): number {
  let [longest, pause] = [0, 0];
  for (const { count } of days) {
    pause = count > 0 ? 0 : pause + 1;
    longest = Math.max(longest, pause);
  }
  return longest;
}

function silenceIn(days: readonly Day[]): Drop | null {
  const last = days.findLastIndex(({ count }) => count > 0);
  const start = last + 1;
  const silent = days.length - start;
  const since = days[last]?.date;
  const before = weeksBefore(days, start);
  if (since === undefined || before === null || before.usual < MIN_USUAL) return null;
  const pause = longestPause(days.slice(Math.max(0, start - WEEK * WEEKS.length), start));
  return silent < pause + LONGER_BY_DAYS ? null : { is: 'silent', days: silent, usual: before.usual, since };
}

function fewerIn(days: readonly Day[], length: number): Drop | null {
  const start = days.length - length;
  const before = weeksBefore(days, start);
  if (before === null) return null;
  const { usual, quietest } = before;
  const count = sum(days.slice(start));
  const isFar = count <= usual / 2 && count < (quietest * 2) / 3 && usual - count >= 4 * Math.sqrt(usual);
  return isFar ? { is: 'fewer', days: length, usual, count } : null;
}

function findDrop(used: readonly Day[]): Drop | null {
  const first = used.findIndex(({ count }) => count > 0);
  const days = first < 0 ? [] : used.slice(first, -1);
  const isUsedToday = used.at(-1)?.count !== 0;
  const drops = [isUsedToday ? null : silenceIn(days), ...WEEKS.map((week) => fewerIn(days, WEEK * week))];
  return drops.find((drop) => drop !== null) ?? null;
}

/** The list asks for each filter and with each key that is pressed. With 5,000 businesses, finding the drops takes 80 ms. */
const found = new WeakMap<readonly Day[], Drop | null>();

/** `used` ends with today, and must not be changed afterwards. */
export function dropOf(status: string, used: readonly Day[]): Drop | null {
  if (status !== 'active') return null;
  if (!found.has(used)) found.set(used, findDrop(used));
  return found.get(used) ?? null;
}

/** “No uses since Nov 22”, “67% fewer uses than usual” */
export const dropWords = (drop: Drop): string =>
  drop.is === 'silent'
    ? `No uses since ${monthDays(drop.since)}`
    : `${Math.round(100 * (1 - drop.count / drop.usual))}% fewer uses than usual`;

/** The words with the figures. */
export const dropDetails = (drop: Drop): string =>
  drop.is === 'silent'
    ? `${dropWords(drop)}. About ${aboutWords(drop.usual)} are usual on ${drop.days} such days.`
    : `${dropWords(drop)}: ${plural(drop.count, 'use')} in the last ${drop.days} full days, in which about ${aboutWords(drop.usual)} are usual.`;
