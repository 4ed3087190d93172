// The headers of every answer. They are constant and public: what a page may do is said by the status of an answer, which it
// can always read. (Hono's middlewares for them, one for each concern, make every answer twice.)

const READABLE = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After,X-Request-Id',
};

/** Of every answer but a preflight's. */
export const HEADERS = Object.entries({
  ...READABLE,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin', // every answer is for other sites' pages to read
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
});

const PREFLIGHT = {
  ...READABLE,
  'Access-Control-Allow-Methods': 'GET,HEAD,POST,DELETE',
  'Access-Control-Allow-Headers': '*,Authorization,Content-Type,Idempotency-Key', // the star does not cover Authorization
  'Access-Control-Max-Age': '86400',
  Vary: 'Access-Control-Request-Headers',
};

/** The answer to every preflight: who may do what is said by the call itself. */
export const preflight = () => new Response(null, { status: 204, headers: PREFLIGHT });

/** The id by which a request is found in the log: the caller's own, where it has one that is safe to repeat. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && /^[\w=-]{1,255}$/.test(sent) ? sent : crypto.randomUUID();
