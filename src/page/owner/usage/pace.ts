// Forecasts the use of a monthly limit, from the mean of the last seven whole days.
import { addDays, DAY_MS, type Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';

const PACE_DAYS = 7;

/** `at` is in milliseconds since 1970. `expected` is the forecast of the month's uses. */
export type Pace = { is: 'reached' } | { is: 'reaching'; at: number } | { is: 'below'; expected: number };

export function paceDays(today: string): Range {
  return { from: addDays(today, -PACE_DAYS), to: addDays(today, -1) };
}

/** `ends` is in milliseconds since 1970. */
export type Month = { limit: number; used: number; ends: number };

/** `days` contains the days from `paceDays`. Returns null if the month has ended since its uses were read. */
export function paceOf({ limit, used, ends }: Month, days: readonly Day[], now: number): Pace | null {
  if (now >= ends) return null;
  if (used >= limit) return { is: 'reached' };
  const mean = sum(days) / PACE_DAYS;
  const at = now + ((limit - used) / mean) * DAY_MS; // infinite if there are no uses
  return at < ends ? { is: 'reaching', at } : { is: 'below', expected: used + (mean * (ends - now)) / DAY_MS };
}
