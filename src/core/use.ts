// Parses and checks what callers send about uses (docs/api.md, "Recording a use").
import { isEmptyBody, type ParsedJson, parseBoundedJson } from './json.ts';
import { DAY_MS, dayOf, MINUTE_MS, parseInstant } from './time.ts';

/** What a POST to usage records: a use, a use with a quantity, or a list of uses with ids. `json` is not validated yet. */
export type Recording = { rule: 'record_use' | 'record_quantity' | 'record_uses'; json: ParsedJson };

const ONE_USE: ParsedJson = { value: {} };

/**
 * Determines what a body records, regardless of its content type. A body that is neither a quantity nor a list is meant as one use, so
 * a sender who may not record lists is told what is wrong with the body.
 */
export function parseRecording(text: string): Recording {
  const json = isEmptyBody(text) ? ONE_USE : parseBoundedJson(text);
  const body = json.problem === undefined && typeof json.value === 'object' && json.value !== null ? json.value : {};
  if (Array.isArray(body) && body.length === 0) return { rule: 'record_use', json: ONE_USE };
  const rule = 'uses' in body ? 'record_uses' : 'quantity' in body ? 'record_quantity' : 'record_use';
  return { rule, json };
}

export const MAX_QUANTITY = 1_000_000_000;

export const MAX_USES_PER_CALL = 1000;
/** The limits on a use's timestamp, in the past and in the future. */
export const MAX_AGE_DAYS = 35;
export const MAX_AHEAD_MINUTES = 5;
/**
 * The minimum number of days for which the ledger stores an id, by the caller's namespace. The number for `key` must exceed MAX_AGE_DAYS,
 * because a use that is reported twice must count only once, even if it is reported as late as allowed. For `token`, two days are enough
 * because pages retry within minutes. Tokens are public, so ids sent with them must not fill the database.
 */
export const KEEP_ID_DAYS = { key: 40, token: 2 } as const;

/** A use can be lowered until this many days after its day. */
export const LOWER_DAYS = KEEP_ID_DAYS.key;
/** A day's count becomes final after this many days. From then on, the day's uses can no longer be recorded or lowered. */
export const FINAL_AFTER_DAYS = Math.max(MAX_AGE_DAYS, LOWER_DAYS) + 1;

export const USE_ID = /^[\x21-\x7e]{1,255}$/;

/** Parses the id in an Idempotency-Key header: plain text, or an equivalent quoted string (RFC 8941 §3.3.3). Null if it is invalid. */
export function parseIdempotencyKey(header: string): string | null {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)?.[1];
  const id = header.startsWith('"') ? quoted?.replace(/\\(.)/g, '$1') : header;
  return id !== undefined && USE_ID.test(id) ? id : null;
}

/** Returns the rule that a use at the timestamp `at` breaks now, or null. */
export function timeProblem(at: string, now: Date): string | null {
  const time = parseInstant(at) ?? Number.NaN;
  const [earliest, latest] = [now.getTime() - MAX_AGE_DAYS * DAY_MS, now.getTime() + MAX_AHEAD_MINUTES * MINUTE_MS];
  if (time < earliest)
    return `must be at most ${MAX_AGE_DAYS} days in the past: ${new Date(earliest).toISOString()} or later`;
  return time > latest
    ? `must be at most ${MAX_AHEAD_MINUTES} minutes in the future: ${new Date(latest).toISOString()} or earlier`
    : null;
}

/** Returns the day (UTC) on which a use at a valid timestamp counts. */
export const dayOfUse = (at: string): string => dayOf(new Date(parseInstant(at) ?? Number.NaN));
