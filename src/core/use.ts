// What a caller may say of a use that it reports (contract, "Recording a use").
import { DAY_MS, instantOf } from './time.ts';

export const MAX_USES_PER_CALL = 1000;
const MAX_AGE_DAYS = 35;
const MAX_AHEAD_MINUTES = 5;
/**
 * For how many days an id counts once. More than MAX_AGE_DAYS: a use reported twice, as late as can be, is still known.
 */
export const LEDGER_DAYS = 40;

/** What the id of a use can be: what an Idempotency-Key header holds. */
export const USE_ID = /^[\x21-\x7e]{1,255}$/;

/** The day on which a use at `at` counts, or null where it is no instant, too old or too far ahead. */
export function dayOfUse(at: string, now: Date): string | null {
  const time = instantOf(at);
  if (time === null) return null;
  const age = now.getTime() - time;
  return age <= MAX_AGE_DAYS * DAY_MS && age >= -MAX_AHEAD_MINUTES * 60_000 ? at.slice(0, 10) : null;
}
