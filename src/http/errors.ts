// Every answer that is not a success: reason → status and exact body (contract, section 4). Nothing of a cause leaves here.
import type { Context } from 'hono';
import { POLICY, type Refusal } from '../core/policy.ts';
import { legibleOrigin } from '../core/request.ts';
import type { Env, Known } from '../env.ts';
import { json } from './response.ts';

type Answer = {
  status: 400 | 401 | 403 | 404 | 405 | 413 | 422 | 429 | 500 | 503;
  body: object;
  headers?: Record<string, string>;
};

/** A call that the guard turns away. */
export class Denied extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal);
    this.refusal = refusal;
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

/** A rate limit is used up. */
export class TooMany extends Error {}

/** The database cannot serve now, and asking again is safe. */
export class Unavailable extends Error {}

/** An access_id that the business does not have. */
export class UnknownEntry extends Error {}

/** When to come back: the period of the rate limits, and long enough for a database to recover. */
const RETRY_SECONDS = 10;

const refused = (message: string) => ({ status: false, message });

/** What of a call its refusal speaks of. */
type Asked = Pick<Known, 'credential' | 'call'>;

function denial(refusal: Refusal, { credential, call }: Asked): Answer {
  if (refusal === 'unauthenticated' || call === null) return { status: 401, body: { message: 'Unauthenticated.' } };
  const { resource, does } = POLICY[call.operation];
  switch (refusal) {
    case 'unknown_business':
      return resource === 'usage'
        ? { status: 422, body: refused('business id is not valid') }
        : { status: 401, body: refused('Id is not valid') };
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
      const origin = legibleOrigin(call.origin);
      const said = `${origin === null ? 'This origin' : `Origin ${origin}`} is not authorized for this business.`;
      const advice = credential?.kind === 'key' ? ' Register it from a server, or from an authorized page.' : '';
      return { status: 403, body: refused(said + advice) };
    }
  }
}

/** What is answered where `error` was thrown. */
export function answerOf(error: Error, asked: Asked): Answer {
  if (error instanceof Denied) return denial(error.refusal, asked);
  if (error instanceof InvalidInput) {
    const message = Object.values(error.errors)[0]?.[0] ?? '';
    return { status: 422, body: { ...refused(message), errors: error.errors } };
  }
  if (error instanceof UnknownEntry) return { status: 404, body: refused('Access id is not valid') };
  if (error instanceof BrokenBody) return { status: 400, body: { message: 'Bad Request' } };
  const later = { 'Retry-After': `${RETRY_SECONDS}` };
  if (error instanceof TooMany) return { status: 429, body: { message: 'Too Many Attempts.' }, headers: later };
  if (error instanceof Unavailable) return { status: 503, body: { message: 'Service Unavailable' }, headers: later };
  return { status: 500, body: { message: 'Server Error' } };
}

function refuse(known: Known, { status, body, headers }: Answer): Response {
  return json(known, body, status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : headers);
}

export function onError(error: Error, { env: { known } }: Context<Env>): Response {
  known.error = error;
  return refuse(known, answerOf(error, known));
}

export const notFound = (known: Known) => refuse(known, { status: 404, body: { message: 'Not Found' } });

export const notAllowed = (known: Known, methods: string[]) =>
  refuse(known, { status: 405, body: { message: 'Method Not Allowed' }, headers: { Allow: methods.join(', ') } });

export const tooLarge = (known: Known) => refuse(known, { status: 413, body: { message: 'Payload Too Large' } });
