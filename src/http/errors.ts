// Every error and the one response it has. The cause of an error never reaches the caller.
import { type ReachedLimit, secondsUntilNext } from '../core/limits.ts';
import { POLICY, type Refusal } from '../core/policy.ts';
import { legibleOrigin } from '../core/request.ts';
import type { Call } from '../db/permission.ts';
import type { ContextOf, Env } from '../env.ts';
import type { ErrorBody } from '../wire/responses.ts';
import { json } from './response.ts';

type ErrorResponse = {
  status: 400 | 401 | 403 | 404 | 413 | 422 | 429 | 500 | 503;
  body: ErrorBody;
  headers?: Record<string, string>;
};

/** There is no credential, or it is not valid. */
export class Unauthenticated extends Error {
  /** Whether anything was sent as a credential, in whatever way. */
  readonly sent: boolean;
  constructor(sent: boolean) {
    super('unauthenticated');
    this.sent = sent;
  }
}

/** The part of a call that a refusal mentions. */
type DeniedCall = Pick<Call, 'operation' | 'origin'> & { credential: Pick<Call['credential'], 'kind'> };

/** The caller may not make this call. */
export class Denied extends Error {
  readonly refusal: Refusal;
  readonly call: DeniedCall;
  constructor(refusal: Refusal, call: DeniedCall) {
    super(refusal);
    this.refusal = refusal;
    this.call = call;
  }
}

/** A limit of the business is reached. */
export class LimitReached extends Error {
  readonly reached: ReachedLimit;
  readonly now: Date;
  constructor(reached: ReachedLimit, now: Date) {
    super('limit reached');
    this.reached = reached;
    this.now = now;
  }
}

/** The input is invalid. `errors` says for each field (its path with dots) what is wrong and what would be right. */
export class InvalidInput extends Error {
  readonly errors: Record<string, string[]>;
  constructor(errors: Record<string, string[]>) {
    super('invalid input');
    this.errors = errors;
  }
}

/** The body broke off: the caller or the network failed. */
export class BrokenBody extends Error {}

/** The body is too long. */
export class TooLarge extends Error {}

/** A rate limit is exceeded. */
export class TooMany extends Error {}

/** The database cannot respond now, and trying again is safe. */
export class Unavailable extends Error {}

/** The business has no entry with this id. */
export class UnknownEntry extends Error {}

/** When to try again: the period of the rate limits, and long enough for a database to recover. */
const RETRY_SECONDS = 10;
const LATER = { 'Retry-After': `${RETRY_SECONDS}` };
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };
/** RFC 6750 §3. It says how to send a credential, and never why this one is not valid. */
const HOW_TO_SEND =
  'Bearer error="invalid_token", error_description="Send a valid API key or business token in the header Authorization: Bearer <key or token>"';

const refused = (message: string) => ({ status: false as const, message });

function deniedResponse(refusal: Refusal, { operation, origin, credential }: DeniedCall): ErrorResponse {
  const { resource, does } = POLICY[operation];
  switch (refusal) {
    case 'unknown_business':
      return resource === 'usage'
        ? { status: 422, body: refused('business id is not valid') }
        : { status: 401, body: refused('Id is not valid'), headers: CHALLENGE };
    case 'token_not_allowed':
      return { status: 403, body: refused(`A business token cannot ${does}. Use an API key.`) };
    case 'read_only_key':
      return { status: 403, body: refused('This API key can only read.') };
    case 'inactive_business':
      return { status: 403, body: refused('This business is not active.') };
    case 'origin_missing':
      return {
        status: 403,
        body: refused(
          'This business token works only from pages of its registered sites. From a server, use an API key.',
        ),
      };
    case 'origin_not_authorized': {
      const legible = legibleOrigin(origin);
      const message = `${legible === null ? 'This origin' : `Origin ${legible}`} is not authorized for this business.`;
      const advice = credential.kind === 'key' ? ' Register it from a server, or from an authorized page.' : '';
      return { status: 403, body: refused(message + advice) };
    }
  }
}

/** The one response of an error. The OpenAPI description is made of them, too. */
export function errorResponse(error: Error): ErrorResponse {
  if (error instanceof Unauthenticated) {
    const headers = error.sent ? { 'WWW-Authenticate': HOW_TO_SEND } : CHALLENGE;
    return { status: 401, body: { message: 'Unauthenticated.' }, headers };
  }
  if (error instanceof Denied) return deniedResponse(error.refusal, error.call);
  if (error instanceof InvalidInput) {
    const message = Object.values(error.errors)[0]?.[0] ?? '';
    return { status: 422, body: { ...refused(message), errors: error.errors } };
  }
  if (error instanceof LimitReached) {
    const { limit, period } = error.reached;
    const message = `This business has used its ${limit} uses of ${period === 'day' ? 'today' : 'this month'}.`;
    const headers = { 'Retry-After': `${secondsUntilNext(period, error.now)}` };
    return { status: 429, body: refused(message), headers };
  }
  if (error instanceof UnknownEntry) return { status: 404, body: refused('Access id is not valid') };
  if (error instanceof BrokenBody) return { status: 400, body: { message: 'Bad Request' } };
  if (error instanceof TooLarge) return { status: 413, body: { message: 'Payload Too Large' } };
  if (error instanceof TooMany) return { status: 429, body: { message: 'Too Many Attempts.' }, headers: LATER };
  if (error instanceof Unavailable) return { status: 503, body: { message: 'Service Unavailable' }, headers: LATER };
  return { status: 500, body: { message: 'Server Error' } };
}

export function onError(error: Error, c: ContextOf<Env>): Response {
  c.get('logEntry').error = error;
  const { status, body, headers } = errorResponse(error);
  return json(c, body, status, headers);
}

export const notFound = (c: ContextOf<Env>) => json(c, { message: 'Not Found' }, 404);
