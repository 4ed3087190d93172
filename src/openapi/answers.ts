// How the description tells of an answer: its headers, its schemas, and as examples what the service itself answers.
import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { Denied, errorResponse, InvalidInput, Unauthenticated } from '../http/errors.ts';

export type Example = { summary?: string; value: unknown };
type Answer = { description: string; headers?: object; content: { 'application/json': object } };

export const ref = (part: 'schemas' | 'parameters' | 'headers' | 'responses', name: string) => ({
  $ref: `#/components/${part}/${name}`,
});
export const anyOf = (names: string[]) => {
  const [first, ...more] = names.map((name) => ref('schemas', name));
  return more.length === 0 ? first : { anyOf: [first, ...more] };
};

const ALWAYS = { 'X-Request-Id': ref('headers', 'RequestId') };
const NO_STORE = {
  ...ALWAYS,
  'Cache-Control': ref('headers', 'CacheControl'),
  'Server-Timing': ref('headers', 'ServerTiming'),
};
export const STORED = {
  ...ALWAYS,
  'Cache-Control': ref('headers', 'PublicCacheControl'),
  ETag: ref('headers', 'ETag'),
};
const CHALLENGE = { ...NO_STORE, 'WWW-Authenticate': ref('headers', 'WWWAuthenticate') };
export const RETRY = { ...NO_STORE, 'Retry-After': ref('headers', 'RetryAfter') };

export function answer(
  description: string,
  schemas: string[],
  examples: Record<string, Example>,
  headers: object = NO_STORE,
): Answer {
  return { description, headers, content: { 'application/json': { schema: anyOf(schemas), examples } } };
}

/** What is answered where `error` was thrown, as an example. */
export const said = (error: Error) => ({ value: errorResponse(error).body });
const denied = (refusal: Refusal, operation: Operation) => {
  const kind = POLICY[operation].token ? ('token' as const) : ('key' as const);
  return said(new Denied(refusal, { operation, origin: 'https://evil.example', credential: { kind } }));
};
export const invalid = (field: string, problem: string) => said(new InvalidInput({ [field]: [`${field} ${problem}`] }));

const BUSINESS = {
  id: 1,
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
  token: 'bua_pk_0123456789ABCDEFGHIJKLMNOPQRSTUVW',
  status: 'active',
  created_at: '2026-01-31T12:00:00.000000Z',
  updated_at: '2026-02-01T08:30:00.123000Z',
  access_list: [
    {
      id: 1,
      business_id: 1,
      site: 'https://shop.example',
      created_at: '2026-02-01T08:30:00.123000Z',
      updated_at: '2026-02-01T08:30:00.123000Z',
    },
  ],
};
export const shown = { value: { status: true, data: BUSINESS } };
export const lifted = { value: { status: true, data: { ...BUSINESS, access_list: [] } } };

const unauthenticated = { unauthenticated: said(new Unauthenticated()) };

/** What the policy refuses an operation with: by its credential, its business and its domain. */
export function refusals(operations: [Operation, ...Operation[]]) {
  const [first] = operations;
  const usage = POLICY[first].resource === 'usage';
  const forbidden: Record<string, Example> = { origin: denied('origin_not_authorized', first) };
  for (const operation of operations) {
    const { token, inactive } = POLICY[operation];
    if (token) forbidden.origin_missing = denied('origin_missing', operation);
    else forbidden.token = denied('token_not_allowed', operation);
    if (!inactive) forbidden.inactive = denied('inactive_business', operation);
  }
  return {
    401: usage
      ? answer('The call carries no valid credential.', ['Message'], unauthenticated, CHALLENGE)
      : answer(
          'The call carries no valid credential, or `business_id` is not the id of a business of the caller.',
          ['Message', 'Refusal'],
          { ...unauthenticated, unknown_business: denied('unknown_business', first) },
          CHALLENGE,
        ),
    403: answer(
      'The credential may not do this, or not from this domain. The message says which.',
      ['Refusal'],
      forbidden,
    ),
    429: ref('responses', 'TooManyAttempts'),
    500: ref('responses', 'ServerError'),
    503: ref('responses', 'ServiceUnavailable'),
  };
}

export const unknownBusiness = { unknown_business: denied('unknown_business', 'read_usage') };
/** What is said of a body before anything else: of every operation that takes one, or may get one. */
export const BODY = { 400: ref('responses', 'BadRequest'), 413: ref('responses', 'PayloadTooLarge') };
