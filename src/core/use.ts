// What a caller may say of a use that it reports (contract, "Recording a use").
import { DAY_MS, instantOf } from './time.ts';

export const MAX_USES_PER_CALL = 1000;
const MAX_AGE_DAYS = 35;
const MAX_AHEAD_MINUTES = 5;
/**
 * For how many days at least an id counts once, by the credential that it came with. A key's for more than MAX_AGE_DAYS: a use
 * reported twice, as late as can be, is still known. A page tries again within minutes, and a token is public: what comes with
 * one must not fill the database.
 */
export const KEEP_DAYS = { key: 40, token: 2 } as const;

/** What the id of a use can be. */
export const USE_ID = /^[\x21-\x7e]{1,255}$/;

/**
 * The id that an Idempotency-Key header gives, or null: the text as it is, or what an RFC 8941 string (§3.3.3) holds, so that
 * clients which quote it and clients which do not mean the same.
 */
export function idempotencyKeyOf(header: string): string | null {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)?.[1];
  const id = header.startsWith('"') ? quoted?.replace(/\\(.)/g, '$1') : header;
  return id !== undefined && USE_ID.test(id) ? id : null;
}

/** The day on which a use at `at` counts, or null where it is no instant, too old or too far ahead. */
export function dayOfUse(at: string, now: Date): string | null {
  const time = instantOf(at);
  if (time === null) return null;
  const age = now.getTime() - time;
  return age <= MAX_AGE_DAYS * DAY_MS && age >= -MAX_AHEAD_MINUTES * 60_000 ? at.slice(0, 10) : null;
}
