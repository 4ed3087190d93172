// How long an old token is kept, as commands and requests write it.
import { DAY_MS } from './time.ts';

const HOUR_MS = 3_600_000;
const MAX_DAYS = 30;

export const DURATION_RULE = `must be a number of hours or days from 1h to ${MAX_DAYS}d`;

/** The milliseconds of a text such as 24h or 7d, or null. */
export function durationOf(text: string): number | null {
  const [, digits, unit] = /^([1-9]\d{0,2})([hd])$/.exec(text) ?? [];
  const ms = Number(digits) * (unit === 'd' ? DAY_MS : HOUR_MS);
  return ms <= MAX_DAYS * DAY_MS ? ms : null;
}
