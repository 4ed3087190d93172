// The forecast of a monthly limit, in the list and in the business's view: each coming day is expected to have the uses of the same weekday
// in the last seven full days.
import type { ListedBusiness } from '../../business/description.ts';
import { DAY_MS, dayOf } from '../../core/time.ts';
import { type Day, sum } from '../scale.ts';
import { aboutWords, monthDays, number } from './formats.ts';
import { monthOf, type Period } from './periods.ts';

const WEEK = 7;

/** How many uses a month has at an instant, in milliseconds since 1970. */
export type Point = [at: number, count: number];

/** `at` is in milliseconds since 1970. `expected` is the forecast of the month's uses. */
export type Pace = { is: 'reached' } | { is: 'reaching'; at: number } | { is: 'below'; expected: number };

/** `course`: the expected uses now and at each coming midnight, until the month ends or reaches its limit. Empty if it has reached it. */
export type Forecast = Pace & { course: Point[] };

/** `ends` is in milliseconds since 1970. */
export type Month = Pick<Period, 'limit' | 'used' | 'ends'>;

/** Returns the last seven full days, or those since the first use. */
function lastDays(days: readonly Day[], today: string): readonly Day[] {
  const full = days.filter(({ date }) => date < today);
  const first = days.findIndex(({ count }) => count > 0);
  return full.slice(Math.max(0, first, full.length - WEEK));
}

/**
 * `days` are at least the last seven full days. Returns null if there is no full day since the first use, or if the month has ended since
 * its uses were read.
 */
export function paceOf({ limit, used, ends }: Month, days: readonly Day[], now: number): Forecast | null {
  const last = lastDays(days, dayOf(new Date(now)));
  if (now >= ends) return null;
  if (used >= limit) return { is: 'reached', course: [] };
  if (last.length === 0) return null;
  const mean = sum(last) / last.length;
  let expected = used;
  const course: Point[] = [[now, used]];
  for (let at = now, ahead = 0; at < ends; ahead++) {
    const midnight = (Math.floor(at / DAY_MS) + 1) * DAY_MS;
    const perDay = last.length < WEEK ? mean : (last[ahead % WEEK]?.count ?? 0);
    const reaches = at + ((limit - expected) / perDay) * DAY_MS; // infinite without uses
    if (reaches <= midnight && reaches < ends)
      return { is: 'reaching', at: reaches, course: [...course, [reaches, limit]] };
    expected += (perDay * (midnight - at)) / DAY_MS;
    at = midnight;
    course.push([at, expected]);
  }
  return { is: 'below', expected, course };
}

/** The forecast of an active business with a monthly limit. Null for others. `days` as in `paceOf`. */
export function monthPace(
  { status, limits }: Pick<ListedBusiness, 'status' | 'limits'>,
  days: readonly Day[],
  now: number,
): Forecast | null {
  const month = status === 'active' && monthOf(limits);
  return month ? paceOf(month, days, now) : null;
}

export const leftWords = (left: number): string => {
  if (left > 0) return `${number(left)} left`;
  return left === 0 ? 'none left' : `${number(-left)} over`;
};

/** The forecast of a billing month: “reaches it about Nov 28”, “about 8,400 by Nov 30”. Empty for a limit that is reached. */
export function paceWords(pace: Pace, { limit, days }: Pick<Period, 'limit' | 'days'>): string {
  if (pace.is === 'reached') return '';
  if (pace.is === 'reaching') return `reaches it about ${monthDays(dayOf(new Date(pace.at)))}`;
  const expected = aboutWords(pace.expected);
  // Rounding can raise the forecast to the limit.
  const isAlmost = Number(expected.replaceAll(',', '')) >= limit;
  return `${isAlmost ? `just under ${number(limit)}` : `about ${expected}`} by ${monthDays(days.to)}`;
}

/** What is said of a month in the list: the forecast, or how much is beyond the limit. */
export const monthDetails = (month: Period, pace: Pace | null): string =>
  month.used < month.limit ? (pace && paceWords(pace, month)) || '' : leftWords(month.limit - month.used);

export const PACE_NOTE = 'The forecast repeats the last seven full days, weekday by weekday.';
