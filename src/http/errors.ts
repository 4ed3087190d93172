// Every error and its response. Callers never see the cause of an error.

import { NotBound } from '../core/database.ts';
import { Conflict, type FieldErrors } from '../core/field-errors.ts';
import type { RefusingLimit } from '../core/limits.ts';
import { ABILITIES, type Invalidity, REFUSALS, type Refusal, type Rule } from '../core/policy.ts';
import { printableOrigin } from '../core/request.ts';
import { isRegistrable } from '../core/site.ts';
import { MAX_BYTES_PER_DAY, MAX_IDS_PER_DAY, type Spent } from '../core/work.ts';
import type { Call } from '../db/call.ts';
import { outageOf } from '../db/outage.ts';
import type { ContextOf, Env } from '../env.ts';
import { json } from './response.ts';

/** The values of the `Error-Code` header, for programs. The message is for people. */
export const ERROR_CODES = [
  ...REFUSALS,
  'unauthenticated',
  'invalid_input',
  'last_domain',
  'limit_reached',
  'unknown_entry',
  'not_found',
  'method_not_allowed',
  'broken_body',
  'too_large',
  'compressed_body',
  'rate_limited',
  'unavailable',
  'server_error',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];
type ErrorStatus = 400 | 401 | 403 | 404 | 413 | 415 | 422 | 429 | 500 | 503;

/** The body of an error: of one that does not concern a business, of a refusal, or of rejected input. */
export type ErrorBody =
  | { message: string }
  | { status: false; message: string }
  | { status: false; message: string; errors: FieldErrors };

/** An error with its response. Any other error is a bug and results in `SERVER_ERROR`. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: ErrorStatus;
  readonly body: ErrorBody;
  readonly headers: Record<string, string>;
  constructor(code: ErrorCode, status: ErrorStatus, body: ErrorBody, headers = {}, cause?: unknown) {
    super(code, { cause });
    this.code = code;
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export const SERVER_ERROR = new ServiceError('server_error', 500, { message: 'Server Error' });

/** The period of the rate limits, and long enough for a database to recover. */
const RETRY_SECONDS = 10;
const LATER = { 'Retry-After': `${RETRY_SECONDS}` };
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };
/** RFC 6750 §3. The description explains how to send a credential, but not why the one sent is invalid. */
const HOW_TO_SEND =
  'Bearer error="invalid_token", error_description="Send a valid API key or business token in the header Authorization: Bearer <key or token>"';

/**
 * The reasons that a request is unauthenticated. `missing` means that no credential was sent. The `_code` reasons concern console link
 * codes.
 */
export type UnauthenticatedReason =
  | 'missing'
  | 'malformed'
  | 'unbound_database'
  | 'unknown'
  | 'malformed_code'
  | 'unknown_code'
  | Invalidity;

const WITHOUT_CREDENTIAL: readonly UnauthenticatedReason[] = ['missing', 'malformed_code', 'unknown_code'];

/** The credential is missing or invalid. Only the log records the reason. */
export class Unauthenticated extends ServiceError {
  readonly reason: UnauthenticatedReason;
  constructor(reason: UnauthenticatedReason) {
    const headers = WITHOUT_CREDENTIAL.includes(reason) ? CHALLENGE : { 'WWW-Authenticate': HOW_TO_SEND };
    super('unauthenticated', 401, { message: 'Unauthenticated.' }, headers);
    this.reason = reason;
  }
}

/** `errors` maps each field (a dotted path) to what is wrong and what would be valid. */
export const inputError = (errors: FieldErrors, code: 'invalid_input' | 'last_domain' = 'invalid_input') =>
  new ServiceError(code, 422, { status: false, message: Object.values(errors)[0]?.[0] ?? '', errors });

/** `uses` is the number of uses that were refused. */
export class LimitReached extends ServiceError {
  readonly uses: number;
  constructor(message: string, headers: Record<string, string>, uses: number) {
    super('limit_reached', 429, { status: false, message }, headers);
    this.uses = uses;
  }
}

/**
 * A use would exceed a limit. `wait` is in seconds, or null if waiting does not help. `when` is the day or month if it is not the current
 * one.
 */
export function limitReached(
  { limit, overage, period, left }: RefusingLimit,
  wait: number | null,
  uses: number,
  when = period === 'day' ? 'today' : 'this month',
): LimitReached {
  const all = limit + overage;
  const parts = overage === 0 ? '' : ` (${limit} plus an overage of ${overage})`;
  const allowed = `${all} ${all === 1 ? 'use' : 'uses'} for ${when}${parts}`;
  const used =
    all === 0 ? `This business has a limit of 0 uses a ${period}.` : `This business has used its ${allowed}.`;
  const message = left <= 0 ? used : `Only ${left} of ${allowed} ${left === 1 ? 'is' : 'are'} left.`;
  const headers = wait === null ? {} : { 'Retry-After': `${wait}` };
  return new LimitReached(message, headers, uses);
}

/** An unknown id in the path, other than a business id. */
export const unknownId = (name: 'Access id' | 'Former id' | 'Key id' | 'User id') =>
  new ServiceError('unknown_entry', 404, { status: false, message: `${name} is not valid` });

/** The body was cut off or is not UTF-8. */
export const brokenBody = (cause?: unknown) =>
  new ServiceError('broken_body', 400, { message: 'Bad Request' }, {}, cause);

export const tooLarge = () => new ServiceError('too_large', 413, { message: 'Payload Too Large' });

/** The body is encoded. The header names the encoding that would be accepted (RFC 9110 §12.5.3). */
export const compressedBody = () =>
  new ServiceError(
    'compressed_body',
    415,
    { message: 'The body must not be compressed: send it without Content-Encoding.' },
    { 'Accept-Encoding': 'identity' },
  );

export const tooMany = () => new ServiceError('rate_limited', 429, { message: 'Too Many Attempts.' }, LATER);

const SPENT_MESSAGES: Record<Spent, string> = {
  spent_time: 'Too Many Attempts: the API keys of this user do more at once than the service allows.',
  spent_ids: `The API keys of this user can record ${MAX_IDS_PER_DAY} new ids a day in lists, and a key for one business half of them. Record single uses, or wait until midnight (UTC).`,
  spent_bytes: `The changes of this user can store ${MAX_BYTES_PER_DAY / 1_000_000} MB a day. Wait until midnight (UTC).`,
};
const SECONDS_PER_DAY = 86_400;
/** An owner has used up an allowance. Only the log records which. `now` is in seconds since 1970, by the database's clock. */
export class AllowanceSpent extends ServiceError {
  readonly reason: Spent;
  constructor(reason: Spent, now: number) {
    // No price is higher than what a second gives back.
    const wait = reason === 'spent_time' ? 1 : Math.ceil(SECONDS_PER_DAY - (now % SECONDS_PER_DAY));
    super('rate_limited', 429, { message: SPENT_MESSAGES[reason] }, { 'Retry-After': `${wait}` });
    this.reason = reason;
  }
}

/** A database is unavailable, and a retry is safe. */
export const unavailable = (cause?: unknown) =>
  new ServiceError('unavailable', 503, { message: 'Service Unavailable' }, LATER, cause);

/** Converts a batch failure to an error. Invites a retry only if the retry cannot count anything twice. */
export function batchError(cause: unknown, isRepeatable: boolean): Error {
  const outage = outageOf(cause);
  if (outage === 'not_run' || (outage === 'unknown' && isRepeatable)) return unavailable(cause);
  return cause instanceof Error ? cause : new Error(`${cause}`); // Hono handles only Error objects
}

/** The part of a call that a refusal depends on. */
type RefusedCall = Pick<Call, 'origin'> & {
  rule: Pick<Rule, 'does' | 'isOfUsage'>;
  credential: Pick<Call['credential'], 'kind'>;
};

export function refusedCall(refusal: Refusal, call: RefusedCall): ServiceError {
  const status = statusOf(refusal, call);
  const body = { status: false as const, message: messageOf(refusal, call) };
  return new ServiceError(refusal, status, body, status === 401 ? CHALLENGE : {});
}

function statusOf(refusal: Refusal, { rule }: RefusedCall): 401 | 403 | 404 | 422 {
  if (refusal === 'unknown_business') return rule.isOfUsage ? 422 : 401;
  return refusal === 'unknown_user' ? 404 : 403;
}

function messageOf(refusal: Refusal, { rule, origin, credential }: RefusedCall): string {
  const { does, isOfUsage } = rule;
  switch (refusal) {
    case 'operator_key_in_page':
      return 'An operator key works only on servers.';
    case 'unknown_business':
      return isOfUsage ? 'business id is not valid' : 'Id is not valid';
    case 'unknown_user':
      return 'User id is not valid';
    case 'operator_only':
      return `Only the operator can ${does}.`;
    case 'operator_not_allowed':
      return `An operator key cannot ${does}. Use an API key.`;
    case 'session_only':
      return `Only a session key can ${does}.`;
    case 'session_not_allowed':
      return `A session key cannot ${does}. Use an API key.`;
    case 'token_not_allowed':
      return `A business token cannot ${does}. Use an API key.`;
    case 'narrow_key':
      return 'This API key is only for one business.';
    case 'inactive_business':
      return 'This business is not active.';
    case 'origin_missing':
      return origin === null
        ? 'This business token works only from pages of its registered sites. From a server, use an API key.'
        : 'This business token works only from pages of its registered sites, and browsers send no Origin with a same-origin GET. If a proxy forwards the request, have the proxy set Origin.';
    case 'origin_not_authorized': {
      const legible = printableOrigin(origin);
      const message = `${legible === null ? 'This origin' : `Origin ${legible}`} is not authorized for this business.`;
      if (credential.kind !== 'key') return message;
      return origin !== null && isRegistrable(origin)
        ? `${message} Register it from a server, or from an authorized page.`
        : `${message} It cannot be registered. Send the request from a server, or from an authorized page.`;
    }
    default:
      return `This ${credential.kind === 'operator' ? 'operator' : 'API'} key can only ${ABILITIES[refusal]}.`;
  }
}

export function onError(thrown: Error, c: ContextOf<Env>): Response {
  const error =
    thrown instanceof Conflict
      ? inputError({ [thrown.field]: [thrown.message] })
      : thrown instanceof NotBound
        ? unavailable(thrown)
        : thrown;
  c.get('logEntry').error = error;
  const { code, status, body, headers } = error instanceof ServiceError ? error : SERVER_ERROR;
  return json(c, body, status, { 'Error-Code': code, ...headers });
}

export const notFound = (c: ContextOf<Env>) => json(c, { message: 'Not Found' }, 404, { 'Error-Code': 'not_found' });
