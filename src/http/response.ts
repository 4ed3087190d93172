// Every answer, made at once with all its headers. They are constant and public: what a page may do is said by the status of
// an answer, which it can always read. (Hono's middlewares for them, one for each concern, make every answer twice.)
import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';
import type { JSONParsed } from 'hono/utils/types';
import type { Known } from '../env.ts';

const READABLE = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After,X-Request-Id',
};

/** Of every answer but a preflight's. */
const HEADERS = {
  ...READABLE,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin', // every answer is for other sites' pages to read
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

const PREFLIGHT = {
  ...READABLE,
  'Access-Control-Allow-Methods': 'GET,HEAD,POST,DELETE',
  'Access-Control-Allow-Headers': '*,Authorization,Content-Type,Idempotency-Key', // the star does not cover Authorization
  'Access-Control-Max-Age': '86400',
  Vary: 'Access-Control-Request-Headers',
};

/** The answer to every preflight: who may do what is said by the call itself. */
export const preflight = () => new Response(null, { status: 204, headers: PREFLIGHT });

/** An answer whose body is made already. */
export function send(
  known: Known,
  body: BodyInit | null,
  status: StatusCode,
  headers: Record<string, string>,
): Response {
  const { round_trips, ms } = known.cost;
  const timing = round_trips > 0 ? { 'Server-Timing': `d1;dur=${ms}` } : null;
  return new Response(body, {
    status,
    headers: { ...HEADERS, 'X-Request-Id': known.requestId, ...timing, ...headers },
  });
}

/** An answer in JSON, 200 where nothing else is said. Its type is for Hono's client. */
export function json<T extends object, S extends ContentfulStatusCode = 200>(
  known: Known,
  body: T,
  status?: S,
  headers?: Record<string, string>,
): Response & TypedResponse<JSONParsed<T>, S, 'json'> {
  const all = { 'Content-Type': 'application/json', ...headers };
  return send(known, JSON.stringify(body), status ?? 200, all) as Response & TypedResponse<JSONParsed<T>, S, 'json'>;
}
