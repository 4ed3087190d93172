// Sends random requests to every route, and expects only documented responses. Prints its seed. FUZZ_SEED repeats a run, and FUZZ_SECONDS
// extends it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isShared } from '../../src/public-suffix.ts';
import { BASE, databases, newApp, newBusiness, newKey, OPERATOR, OPERATOR_SECRETS } from '../support.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);
/** The minimum number of requests, even on a slow machine. */
const MIN_REQUESTS = 1000;
const AT_ONCE = 16;
const LONG = { timeout: (SECONDS + 240) * 1000 };

/** Creates open, restricted, wildcard, suspended and token-rotating businesses, and keys with limited rights. */
async function world() {
  const open = await newBusiness();
  const restricted = await newBusiness({ sites: ['https://shop.example', 'http://localhost:3000'] });
  const wild = await newBusiness({ sites: ['https://*.example.com', 'http://localhost:*'] });
  const suspended = await newBusiness({ status: 'suspended' });
  const rotating = await newBusiness({ user_id: open.user_id });
  const businesses = [open, restricted, wild, suspended, rotating];
  const readOnly = await Promise.all([open, restricted].map((business) => newKey(business, { role: 'read' })));
  const recordOnly = await Promise.all([open, restricted].map((business) => newKey(business, { role: 'record' })));
  const narrow = await Promise.all([open, wild].map((business) => newKey(business, { business_id: business.id })));
  return {
    open,
    businesses,
    rotating,
    readOnly: readOnly.map(({ key }) => key),
    recordOnly: recordOnly.map(({ key }) => key),
    secrets: [
      ...businesses.flatMap(({ key, token }) => [key, token]),
      ...[...readOnly, ...recordOnly, ...narrow].map(({ key }) => key),
      ...Object.values(OPERATOR),
    ],
  };
}
type World = Awaited<ReturnType<typeof world>>;

function requests({ businesses, rotating, secrets }: World) {
  const ids = businesses.map(({ id }) => `${id}`);
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ids) },
    fc.webSegment(),
    fc.constantFrom('0', 'usage', '%00', '%2e%2e'),
  );
  const path = fc.oneof(
    { weight: 6, arbitrary: id.map((id) => `/api/v1/business/usage/${id}`) },
    { weight: 4, arbitrary: id.map((id) => `/api/v1/business/${id}/access`) },
    { weight: 2, arbitrary: fc.constantFrom('/api/v1/business', '/api/v1/usage', '/api/v1/health') },
    {
      weight: 4,
      arbitrary: fc
        .tuple(id, fc.constantFrom('changes', 'alerts', 'access/refused'))
        .map(([id, list]) => `/api/v1/business/${id}/${list}`),
    },
    // Only one business rotates its token. The other tokens must keep working.
    {
      weight: 2,
      arbitrary: fc
        .oneof({ weight: 4, arbitrary: fc.constant(rotating.id) }, fc.webSegment())
        .map((id) => `/api/v1/business/${id}/token`),
    },
    fc
      .tuple(id, fc.oneof(fc.integer({ min: -1, max: 50 }).map(String), fc.webSegment()))
      .map(([id, entry]) => `/api/v1/business/${id}/access/${entry}`),
    fc.oneof(
      fc.webPath().map((path) => path || '/'),
      fc.webPath().map((path) => `/api/v1/business${path}`),
    ),
  );
  const day = fc.oneof(fc.constantFrom('2026-03-01', '2026-03-31', '2026-02-30', '', '9999-12-31'), fc.string());
  const query = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    fc
      .tuple(day, day)
      .map(
        ([from, to]) => `?from=${encodeURIComponent(from.toWellFormed())}&to=${encodeURIComponent(to.toWellFormed())}`,
      ),
    fc
      .tuple(
        fc.constantFrom('limit', 'after', 'before'),
        fc.oneof(fc.integer({ min: -1, max: 60 }).map(String), fc.webSegment()),
      )
      .map(([name, value]) => `?${name}=${value}`),
    fc.webQueryParameters().map((query) => `?${query}`),
  );
  const labels = (count: number) => Array.from({ length: count }, () => 'a').join('.');
  const origin = fc.oneof(
    fc.constantFrom(
      'https://shop.example',
      'http://localhost:3000',
      'http://localhost:1',
      'https://a.b.example.com',
      'https://evil.example',
      'null',
      '*',
      'https://*.example.com',
      BASE,
    ),
    fc.constantFrom(
      `https://${labels(130)}.example.com`,
      `https://${labels(5)}.example.com`,
      `https://${'a'.repeat(16_000)}`,
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
    fc.webUrl(),
  );
  const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
  const authorization = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...secrets).map((secret) => `Bearer ${secret}`) },
    fc.constantFrom(...secrets),
    printable.map((text) => `Bearer ${text}`),
    printable,
  );
  const useKey = fc.constantFrom('a', 'b', 'c', 'd');
  const site = fc.oneof(
    fc.constantFrom('https://shop.example', 'https://*.example.com', 'https://*.co.uk', 'http://localhost:*'),
    fc.webUrl(),
    fc.string(),
  );
  const body = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('', '{}', '[]') },
    fc
      .array(fc.record({ id: useKey, at: fc.constantFrom('2026-03-10T00:00:00Z', '2026-03-15T00:00:00Z') }), {
        maxLength: 5,
      })
      .map((uses) => JSON.stringify({ uses })),
    fc.array(site, { maxLength: 4 }).map((sites) => JSON.stringify({ sites })),
    fc.constantFrom('24h', '1d', '31d', '', 'h').map((keep_old) => JSON.stringify({ keep_old })),
    fc.json(),
    fc.string(),
    fc.constant('x'.repeat(1024 * 1024 + 1)),
  );
  const header = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
  return fc.record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('GET', 'POST', 'POST', 'POST', 'DELETE') },
      fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH', 'PROPFIND'),
    ),
    path,
    query,
    headers: fc.record({
      Authorization: fc.option(authorization, { nil: undefined, freq: 20 }),
      Origin: header(origin),
      'Content-Type': header(fc.constantFrom('application/json', 'application/json', 'text/plain', 'a/b')),
      'Idempotency-Key': header(fc.oneof({ weight: 4, arbitrary: useKey }, printable)),
      'X-API-Key': header(fc.constantFrom(...secrets)),
      Accept: header(fc.oneof(fc.constantFrom('text/csv', '*/*', 'application/json, text/csv;q=0.5'), printable)),
      'Sec-Fetch-Site': header(fc.constantFrom('same-origin', 'cross-site')),
    }),
    body,
  });
}

type Sent = ReturnType<typeof requests> extends fc.Arbitrary<infer T> ? T : never;

/** Yields a seed's requests until the time is up. */
function* inTime(sent: fc.Arbitrary<Sent>, seed: number) {
  const end = Date.now() + SECONDS * 1000;
  for (let part = 0; ; part++) {
    for (const one of fc.sample(sent, { numRuns: MIN_REQUESTS, seed: seed + part })) {
      if (part > 0 && Date.now() >= end) return;
      yield one;
    }
  }
}

function requestOf({ method, path, query, headers, body }: Sent): Request | null {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    try {
      sent.set(name, value);
    } catch {
      return null; // not a valid header value
    }
  }
  const withBody = !['GET', 'HEAD', 'OPTIONS'].includes(method) && body !== '';
  return new Request(BASE + path + query, withBody ? { method, headers: sent, body } : { method, headers: sent });
}

const MESSAGES: Record<number, (body: Record<string, unknown>) => boolean> = {
  200: (body) => body.status === true && ['data', 'runs'].some((name) => typeof body[name] === 'object'),
  401: (body) => ['Unauthenticated.', 'Id is not valid'].includes(String(body.message)),
  403: (body) => body.status === false && typeof body.message === 'string',
  404: (body) => ['Not Found', 'Access id is not valid'].includes(String(body.message)),
  405: (body) => body.message === 'Method Not Allowed',
  413: (body) => body.message === 'Payload Too Large',
  422: (body) => body.status === false && typeof body.message === 'string',
};

const CSV = /^(?:date,count\r\n(?:\d{4}-\d\d-\d\d,\d+\r\n)+|business_id,user_id,count\r\n(?:\d+,\d+,\d+\r\n)*)?$/;

/** Sends requests until the time is up. Returns how many responses had each status. */
async function fuzz() {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  console.log(`FUZZ_SEED=${seed}`);
  const everybody = await world();
  const { businesses, readOnly, recordOnly, secrets } = everybody;
  // Loads the list of public suffixes in advance: in the test runner, loading takes longer than a request's timeout.
  await isShared('example.com');
  const statuses: Record<number, number> = {};

  async function one(example: Sent, { app, lines, errors }: ReturnType<typeof newApp>) {
    lines.length = 0;
    errors.length = 0;
    const request = requestOf(example);
    if (request === null) return;
    const answer = await app.fetch(request, { ...databases(), ...OPERATOR_SECRETS });
    const text = await answer.text();
    const { status } = answer;
    statuses[status] = (statuses[status] ?? 0) + 1;
    const said = `${example.method} ${example.path}${example.query} ${JSON.stringify(example.headers)} → ${status} ${text.slice(0, 300)}`;
    if (status === 204) expect(example.method, said).toBe('OPTIONS');
    else expect(status, `${said} ${JSON.stringify(errors)}`).toBeLessThan(500);
    if (answer.headers.get('Content-Type') === 'text/csv') expect(text, said).toMatch(CSV);
    else if (example.method !== 'HEAD' && status !== 204) {
      expect(MESSAGES[status]?.(JSON.parse(text)), said).toBe(true);
    }
    const credential = example.headers.Authorization?.slice('Bearer '.length) ?? '';
    if (readOnly.includes(credential) && request.method !== 'OPTIONS') {
      expect(status === 200 && request.method === 'POST', said).toBe(false);
      for (const { token } of businesses) expect(text.includes(token), said).toBe(false);
    }
    if (recordOnly.includes(credential) && request.method !== 'OPTIONS') {
      expect(status === 200 && !/\/(usage|health)\b/.test(example.path), said).toBe(false);
      for (const { token } of businesses) expect(text.includes(token), said).toBe(false);
    }
    if (status === 200 && /^\/api\/v1\/usage\b/.test(example.path))
      expect(Object.values(OPERATOR), said).toContain(credential);
    expect(answer.headers.get('Access-Control-Allow-Origin'), said).toBe('*');
    expect(answer.headers.get('Access-Control-Allow-Credentials'), said).toBeNull();
    expect(text, said).not.toMatch(/SQLITE|D1_ERROR|drizzle|insert into|\n\s+at /i);
    const shown = `${JSON.stringify(lines)}${status === 200 ? '' : text}`;
    for (const secret of secrets) {
      // An error may echo the caller's own origin.
      if (!example.headers.Origin?.includes(secret)) expect(shown.includes(secret), said).toBe(false);
    }
  }
  const queue = inTime(requests(everybody), seed);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const service = newApp();
      for (const example of queue) await one(example, service);
    }),
  );
  console.log(JSON.stringify(statuses));
  return statuses;
}

test('random requests receive only documented responses', LONG, async () => {
  const statuses = await fuzz();
  for (const status of [200, 204, 401, 403, 404, 405, 413, 422])
    expect(statuses[status], `${status}`).toBeGreaterThan(0);
});
