// Where the month of a limit is going, at the pace of the last seven whole days: pure arithmetic, `now` is an argument.
import { addDays, DAY_MS, type Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';

const PACE_DAYS = 7;

/** `at` is in milliseconds since 1970. `expected` is how many uses the month will have had. */
export type Pace = { is: 'reached' } | { is: 'reaching'; at: number } | { is: 'below'; expected: number };

/** The days whose mean is the pace: those before today, in UTC. */
export function paceDays(today: string): Range {
  return { from: addDays(today, -PACE_DAYS), to: addDays(today, -1) };
}

/** A limit of a month, how much of it is used, and when the month ends, in milliseconds since 1970. */
export type Month = { limit: number; used: number; ends: number };

/** `days` are those of `paceDays`. Null: the month has ended since it was read. */
export function paceOf({ limit, used, ends }: Month, days: readonly Day[], now: number): Pace | null {
  if (now >= ends) return null;
  if (used >= limit) return { is: 'reached' };
  const mean = sum(days) / PACE_DAYS;
  const at = now + ((limit - used) / mean) * DAY_MS; // without any use, never
  return at < ends ? { is: 'reaching', at } : { is: 'below', expected: used + (mean * (ends - now)) / DAY_MS };
}
