// The notation of a replaced token's grace period in commands and requests.
import { DAY_MS, HOUR_MS } from '../core/time.ts';

/** 1h to 720h, or 1d to 30d. */
export const DURATION = /^(?:([1-9]\d?|[1-6]\d\d|7[01]\d|720)h|([1-9]|[12]\d|30)d)$/;

/** Converts a text that matches DURATION, such as 24h or 7d, to milliseconds. */
export function parseDuration(text: string): number {
  const [, hours, days] = DURATION.exec(text) ?? [];
  return days === undefined ? Number(hours) * HOUR_MS : Number(days) * DAY_MS;
}
