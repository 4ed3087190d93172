// What the first line and the headers of a request say: ids and origins. Its credential is in credential.ts.

/** The id that `text` is, or null: a positive integer of at most 2^53 − 1, in plain decimal digits. */
export function idOf(text: string): number | null {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/**
 * The origin of a call: its `Origin` header; without one, the service's own where the browser says that a page of the
 * service's own host is calling (browsers send no `Origin` with a same-origin GET, Fetch §3.2); otherwise null: a server.
 */
export function originOf(headers: Headers, own_origin: string): string | null {
  const sent = headers.get('Origin');
  if (sent !== null) return sent;
  return headers.get('Sec-Fetch-Site') === 'same-origin' ? own_origin : null;
}

/** An origin, where it can be read; what a header can hold besides helps nobody, in an answer or in the log. */
export const legibleOrigin = (origin: string | null): string | null =>
  origin !== null && /^[\x20-\x7e]{1,300}$/.test(origin) ? origin : null;

/** The origin of the service itself, where a request was sent to `url`. */
export const ownOriginOf = (url: string): string => url.slice(0, url.indexOf('/', 'https://'.length));

/** The id by which a request is found in the log: the caller's own, where it has one that is safe to repeat. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && /^[\w=-]{1,255}$/.test(sent) ? sent : crypto.randomUUID();
