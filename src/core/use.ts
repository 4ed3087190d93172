// What a caller may say about a use (docs/api.md, "Recording a use").
import { jsonOf, type ParsedJson } from './json.ts';
import { DAY_MS, instantOf, MINUTE_MS } from './time.ts';

/** What a POST to usage records: a use, a quantity of a use, or a list of uses with ids; and the body, which is not checked yet. */
export type Recording =
  | { operation: 'record_use' }
  | { operation: 'record_quantity' | 'record_uses'; json: ParsedJson };

/** What a body asks for, whatever its content type. An empty body is one use; an unreadable one is treated as a list. */
export function recordingOf(text: string): Recording {
  if (text.trim() === '') return { operation: 'record_use' };
  const json = jsonOf(text);
  const body = json.problem === undefined && typeof json.value === 'object' ? json.value : null;
  if (body !== null && Object.keys(body).length === 0) return { operation: 'record_use' };
  const isQuantity = body !== null && 'quantity' in body && !('uses' in body);
  return { operation: isQuantity ? 'record_quantity' : 'record_uses', json };
}

/** The quantity of a use is at most this. */
export const MAX_QUANTITY = 1_000_000;

export const MAX_USES_PER_CALL = 1000;
/** How old and how far ahead the instant of a use may be. */
export const MAX_AGE_DAYS = 35;
export const MAX_AHEAD_MINUTES = 5;
/**
 * How many days, at least, the ledger remembers an id, by the kind of credential that sent it. For a key this must exceed
 * MAX_AGE_DAYS, so that a use reported twice, as late as allowed, still counts once. A page retries within minutes, and tokens
 * are public: what they send must not fill the database.
 */
export const KEEP_ID_DAYS = { key: 40, token: 2 } as const;

/** A use can be lowered until so many days after the day on which it counts. */
export const LOWER_DAYS = KEEP_ID_DAYS.key;
/** So many days after a day, no use of it can be recorded or lowered any more. */
export const FINAL_AFTER_DAYS = Math.max(MAX_AGE_DAYS, LOWER_DAYS) + 1;

/** The form of the id of a use. */
export const USE_ID = /^[\x21-\x7e]{1,255}$/;

/**
 * The id in an Idempotency-Key header, or null if it is invalid: the plain text, or the content of a quoted string (RFC 8941
 * §3.3.3), so that clients that quote it and clients that do not mean the same id.
 */
export function idempotencyKeyOf(header: string): string | null {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)?.[1];
  const id = header.startsWith('"') ? quoted?.replace(/\\(.)/g, '$1') : header;
  return id !== undefined && USE_ID.test(id) ? id : null;
}

/** The day on which a use at the instant `at` counts, or null if `at` is invalid, too old or too far ahead. */
export function dayOfUse(at: string, now: Date): string | null {
  const time = instantOf(at);
  if (time === null) return null;
  const age = now.getTime() - time;
  return age <= MAX_AGE_DAYS * DAY_MS && age >= -MAX_AHEAD_MINUTES * MINUTE_MS ? at.slice(0, 10) : null;
}
