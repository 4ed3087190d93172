// What a caller may say about a use (docs/api.md, "Recording a use").
import { DAY_MS, instantOf } from './time.ts';

/** What a POST to usage records: one use, now; one use with an id, which counts once; or a list of uses with ids. */
export type Recording =
  | { kind: 'one' }
  | { kind: 'identified'; idempotencyKey: string }
  | { kind: 'many'; text: string };

/** No two \s* are adjacent; otherwise matching is quadratic. */
const EMPTY = /^\s*(?:\{\s*\}\s*|\[\s*\]\s*)?$/;

/** An empty body is one use, whatever its content type. Neither the text nor the key is checked yet. */
export function recordingOf(text: string, idempotencyKey: string | undefined): Recording {
  if (!EMPTY.test(text)) return { kind: 'many', text };
  return idempotencyKey === undefined ? { kind: 'one' } : { kind: 'identified', idempotencyKey };
}

export const MAX_USES_PER_CALL = 1000;
/** How many businesses a page has at most that says what each used. */
export const MAX_TOTALS_PER_PAGE = 1000;
const MAX_AGE_DAYS = 35;
const MAX_AHEAD_MINUTES = 5;
/**
 * How many days, at least, the ledger remembers an id, by the kind of credential that sent it. For a key this must exceed
 * MAX_AGE_DAYS, so that a use reported twice, as late as allowed, still counts once. A page retries within minutes, and tokens
 * are public: what they send must not fill the database.
 */
export const KEEP_ID_DAYS = { key: 40, token: 2 } as const;

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
  return age <= MAX_AGE_DAYS * DAY_MS && age >= -MAX_AHEAD_MINUTES * 60_000 ? at.slice(0, 10) : null;
}
