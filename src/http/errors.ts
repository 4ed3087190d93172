// Every response that is not a success: an error and its one status and body. Nothing of a cause leaves here.
import type { Context } from 'hono';
import type { Credential } from '../core/credential.ts';
import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { legibleOrigin } from '../core/request.ts';
import type { Env } from '../env.ts';
import { json } from './response.ts';

type ErrorResponse = {
  status: 400 | 401 | 403 | 404 | 405 | 413 | 422 | 429 | 500 | 503;
  body: object;
  headers?: Record<string, string>;
};

/** No credential, or none that is valid. */
export class Unauthenticated extends Error {}

/** What of a call its refusal speaks of. */
type DeniedCall = { operation: Operation; origin: string | null; credential: Pick<Credential, 'kind'> };

/** A call that its caller may not make. */
export class Denied extends Error {
  readonly refusal: Refusal;
  readonly call: DeniedCall;
  constructor(refusal: Refusal, call: DeniedCall) {
    super(refusal);
    this.refusal = refusal;
    this.call = call;
  }
}

/** Input that cannot be used: for each field (its path with dots) what was wrong and what would be right. */
export class InvalidInput extends Error {
  readonly errors: Record<string, string[]>;
  constructor(errors: Record<string, string[]>) {
    super('invalid input');
    this.errors = errors;
  }
}

/** A body that broke off: the fault of the caller, or of the network between. */
export class BrokenBody extends Error {}

/** A body that is too long. */
export class TooLarge extends Error {}

/** A rate limit is used up. */
export class TooMany extends Error {}

/** The database cannot serve now, and trying again is safe. */
export class Unavailable extends Error {}

/** An access_id that the business does not have. */
export class UnknownEntry extends Error {}

/** When to come back: the period of the rate limits, and long enough for a database to recover. */
const RETRY_SECONDS = 10;
const LATER = { 'Retry-After': `${RETRY_SECONDS}` };
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

const refused = (message: string) => ({ status: false, message });

function deniedResponse(refusal: Refusal, { operation, origin, credential }: DeniedCall): ErrorResponse {
  const { resource, does } = POLICY[operation];
  switch (refusal) {
    case 'unknown_business':
      return resource === 'usage'
        ? { status: 422, body: refused('business id is not valid') }
        : { status: 401, body: refused('Id is not valid'), headers: CHALLENGE };
    case 'token_not_allowed':
      return { status: 403, body: refused(`A business token cannot ${does}. Use an API key.`) };
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

export function errorResponse(error: Error): ErrorResponse {
  if (error instanceof Unauthenticated) {
    return { status: 401, body: { message: 'Unauthenticated.' }, headers: CHALLENGE };
  }
  if (error instanceof Denied) return deniedResponse(error.refusal, error.call);
  if (error instanceof InvalidInput) {
    const message = Object.values(error.errors)[0]?.[0] ?? '';
    return { status: 422, body: { ...refused(message), errors: error.errors } };
  }
  if (error instanceof UnknownEntry) return { status: 404, body: refused('Access id is not valid') };
  if (error instanceof BrokenBody) return { status: 400, body: { message: 'Bad Request' } };
  if (error instanceof TooLarge) return { status: 413, body: { message: 'Payload Too Large' } };
  if (error instanceof TooMany) return { status: 429, body: { message: 'Too Many Attempts.' }, headers: LATER };
  if (error instanceof Unavailable) return { status: 503, body: { message: 'Service Unavailable' }, headers: LATER };
  return { status: 500, body: { message: 'Server Error' } };
}

export function onError(error: Error, c: Context<Env>): Response {
  c.get('entry').error = error;
  const { status, body, headers } = errorResponse(error);
  return json(c, body, status, headers);
}

export const notFound = (c: Context<Env>) => json(c, { message: 'Not Found' }, 404);

/** Behind the routes of a path: every other method. */
export const methodNotAllowed = (allow: string) => (c: Context<Env>) =>
  json(c, { message: 'Method Not Allowed' }, 405, { Allow: allow });
