// The header Idempotency-Key, and the ids of uses, which have the same form.

export const USE_ID = /^[\x21-\x7e]{1,255}$/;

/** Parses the id in an Idempotency-Key header: plain text, or an equivalent quoted string (RFC 8941 §3.3.3). Null if it is invalid. */
export function parseIdempotencyKey(header: string): string | null {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)?.[1];
  const id = header.startsWith('"') ? quoted?.replace(/\\(.)/g, '$1') : header;
  return id !== undefined && USE_ID.test(id) ? id : null;
}
