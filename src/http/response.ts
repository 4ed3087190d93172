// Builds responses with all their headers. The CORS headers let every page read every response.
import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';
import type { JSONParsed } from 'hono/utils/types';
import type { ContextOf, Env } from '../env.ts';

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Content-Disposition,Error-Code,Retry-After,WWW-Authenticate,X-Request-Id',
};

/** Sent with every response except preflights. Copying a Headers object takes half as long as reading a plain object. */
const HEADERS = new Headers({
  ...CORS,
  'Content-Type': 'application/json', // the default
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin', // lets pages on other sites read every response
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000',
  'X-Content-Type-Options': 'nosniff',
});

const PREFLIGHT = {
  ...CORS,
  'Access-Control-Allow-Headers': '*,Authorization,Content-Type,Idempotency-Key', // * does not cover Authorization
  'Access-Control-Max-Age': '86400',
  Vary: 'Access-Control-Request-Headers',
};

/** Returns a handler that allows every preflight, because the request that follows is checked instead. */
export function preflightFor(methods: string[]): () => Response {
  const headers = { ...PREFLIGHT, 'Access-Control-Allow-Methods': methods.join(',') };
  return () => new Response(null, { status: 204, headers });
}

export function send(
  c: ContextOf<Env>,
  body: BodyInit | null,
  status: StatusCode,
  headers: Record<string, string> = {},
): Response {
  const { request_id, d1 } = c.get('logEntry');
  const response = new Response(body, { status, headers: HEADERS });
  response.headers.set('X-Request-Id', request_id);
  // A 401 must not reveal whether a database was queried.
  if (d1.round_trips > 0 && status !== 401) response.headers.set('Server-Timing', `d1;dur=${d1.ms}`);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Creates a JSON response, 200 by default. The return type is for Hono's client. */
export function json<T extends object, S extends ContentfulStatusCode = 200>(
  c: ContextOf<Env>,
  body: T,
  status?: S,
  headers?: Record<string, string>,
): Response & TypedResponse<JSONParsed<T>, S, 'json'> {
  return send(c, JSON.stringify(body), status ?? 200, headers) as Response & TypedResponse<JSONParsed<T>, S, 'json'>;
}

/** The body of a success response. */
export type Success<Data> = { status: true; data: Data };

/** Creates a success response. `Data` is a type from the resource's description, which tests compare with every response. */
export const success = <Data extends object>(c: ContextOf<Env>, data: Data, headers?: Record<string, string>) =>
  json<Success<Data>>(c, { status: true, data }, 200, headers);
