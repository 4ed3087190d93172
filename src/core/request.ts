// Parses the ids and origins in a request's path and headers.
import { randomId } from './random.ts';

/** Parses an id: a positive integer up to 2^53 − 1, in plain decimal digits. Null if `text` is anything else. */
export function parseId(text: string): number | null {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/**
 * Returns the origin of the page that sent the request, or null if a server sent it. Browsers send no `Origin` with a same-origin GET
 * (Fetch §3.2), but they mark it as same-origin, so the origin is then the service's own.
 */
export function originOf(headers: Headers, ownOrigin: string): string | null {
  const sent = headers.get('Origin');
  if (sent !== null) return sent;
  return headers.get('Sec-Fetch-Site') === 'same-origin' ? ownOrigin : null;
}

/** Returns whether a request contains a header that is meant as a credential. */
export const hasCredential = (headers: Headers): boolean => headers.has('Authorization') || headers.has('X-API-Key');

/** Returns the origin if it is safe to echo in a response or the log: at most 300 characters of printable ASCII. Otherwise null. */
export const printableOrigin = (origin: string | null): string | null =>
  origin !== null && /^[\x20-\x7e]{1,300}$/.test(origin) ? origin : null;

/** Returns the service's own origin from the URL of a request. */
export const ownOriginOf = (url: string): string => url.slice(0, url.indexOf('/', 'https://'.length));

/** Returns the caller's request id if it is safe to echo, otherwise a new one. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && /^[\w=-]{1,255}$/.test(sent) ? sent : randomId();

/** The entries of a page of a list, if the request has no `limit`. */
export const DEFAULT_PER_PAGE = 20;
