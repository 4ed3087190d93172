// Behavior that operators rely on: outages, rate limits, the log, and the headers of every response.
import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, test, vi } from 'vitest';
import { createApp } from '../src/app.ts';
import { networkOf } from '../src/http/rate-limits.ts';
import { answerOf, SERVER_ERROR, UNAVAILABLE } from './answers.ts';
import { FAILING, NOT_REPEATABLE, ROUTES } from './routes.ts';
import {
  ask,
  BASE,
  call,
  callerOf,
  databaseClock,
  dumpAll,
  eachOf,
  env,
  failingHalfway,
  failingWith,
  inBatches,
  limiter,
  NOW,
  newBusiness,
  newKey,
} from './support.ts';

// Examples of each kind of database error. test/rules/outage.test.ts covers the other errors.
const BUSY = [
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: database is locked: SQLITE_BUSY',
];
const GONE = ['D1_ERROR: Network connection lost.', 'D1_ERROR: internal error; reference = 7b2v9k1dqg1'];
const BROKEN = ['D1_ERROR: no such table: api_keys: SQLITE_ERROR'];

eachOf(describe, FAILING)('when the database fails, the response to $name', (route) => {
  const once = NOT_REPEATABLE.includes(route.name);

  async function failed(message: string, when: 'before' | 'after') {
    const business = await newBusiness({ sites: ['https://a.example'] });
    const as = await callerOf(route, business);
    const answer = await ask(route, business, { as, bindings: failingWith(message, when) });
    const { status, headers, lines, errors } = answer;
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect({ lines, errors }).toEqual({ lines: [], errors: [expect.objectContaining({ status })] });
    return { ...answerOf(answer), retry: headers.get('Retry-After') };
  }
  const unavailable = { ...UNAVAILABLE, retry: '10' };
  const broken = { ...SERVER_ERROR, retry: null };

  test.each(BUSY)('is 503 if the batch did not run: %s', async (message) => {
    expect(await failed(message, 'before')).toEqual(unavailable);
  });

  test.each(GONE)(`is ${once ? '500' : '503'} if the batch may have run: %s`, async (message) => {
    for (const when of ['before', 'after'] as const)
      expect(await failed(message, when)).toEqual(once ? broken : unavailable);
  });

  test.each(BROKEN)('is 500 if a statement failed: %s', async (message) => {
    expect(await failed(message, 'before')).toEqual(broken);
  });
});

test('a batch that fails halfway writes nothing', async () => {
  const business = await newBusiness();
  const routes = ROUTES.filter(({ method, granted }) => method !== 'GET' && granted === undefined);
  const callers = await Promise.all(routes.map(async (route) => ({ route, as: await callerOf(route, business) })));
  const before = await dumpAll();
  for (const { route, as } of callers)
    expect(answerOf(await ask(route, business, { as, bindings: failingHalfway() })), route.name).toEqual(SERVER_ERROR);
  expect(await dumpAll()).toBe(before);
});

describe('the rate limits', () => {
  const send = (bindings: object, headers: Record<string, string>, path = '/api/v1/business/usage/1') =>
    call('GET', path, { headers, bindings });

  test('refuse a client address over its limit with 429 and Retry-After, without a database query', async () => {
    const { binding } = limiter(2);
    const bindings = { ...failingWith('never asked'), ADDRESS_LIMIT: binding };
    const from = (address: string) => send(bindings, { 'CF-Connecting-IP': address });
    expect((await from('192.0.2.1')).status).toBe(401);
    expect((await from('192.0.2.1')).status).toBe(401);
    const answer = await from('192.0.2.1');
    expect(answerOf(answer)).toEqual({ status: 429, body: { message: 'Too Many Attempts.' } });
    expect(answer.headers.get('Retry-After')).toBe('10');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  test('refuse a credential over its limit with 429, and pass only its hash to the limiter', async () => {
    const { binding, counts } = limiter(1);
    const business = await newBusiness();
    const ours = (scheme: string) =>
      send({ CREDENTIAL_LIMIT: binding }, { Authorization: `${scheme} ${business.key}` });
    await ours('Bearer');
    expect((await ours('bearer')).status).toBe(429);
    const other = await send({ CREDENTIAL_LIMIT: binding }, { Authorization: `Bearer ${business.token}` });
    expect(other.status).not.toBe(429);
    for (const key of counts.keys()) expect(key).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each(['key', 'token'] as const)('hash a %s once for both the limiter and the database', async (kind) => {
    const business = await newBusiness();
    const encode = vi.spyOn(TextEncoder.prototype, 'encode'); // only for hashes
    const answer = await send({ CREDENTIAL_LIMIT: limiter(1).binding }, { Authorization: `Bearer ${business[kind]}` });
    expect([answer.status, encode.mock.calls.length]).toEqual([422, 1]);
    encode.mockRestore();
  });

  test('count dear calls of a key together, and other calls not at all', async () => {
    const business = await newBusiness();
    const { binding } = limiter(2);
    const bindings = { DEAR_LIMIT: binding };
    const as = business.key;
    const list = () => call('POST', business.usage, { as, bindings, body: { uses: [{ id: 'order-1' }] } });
    const changes = () => call('GET', `/api/v1/business/${business.id}/changes`, { as, bindings });
    expect([(await list()).status, (await changes()).status, (await list()).status]).toEqual([200, 200, 429]);
    const answer = await changes();
    expect(answerOf(answer)).toEqual({ status: 429, body: { message: 'Too Many Attempts.' } });
    expect(answer.lines).toMatchObject([{ refusal: 'rate_limited', limiter: 'DEAR_LIMIT' }]);
    for (let use = 0; use < 3; use++) expect((await call('POST', business.usage, { as, bindings })).status).toBe(200);
    const other = await newKey(business);
    expect(
      (await call('POST', business.usage, { as: other.key, bindings, body: { uses: [{ id: 'order-1' }] } })).status,
    ).toBe(200);
  });

  test('do not count requests over an address limit against the token, because anyone can copy a token from a page', async () => {
    const address = limiter(1);
    const credential = limiter(2);
    const business = await newBusiness();
    const bindings = { ADDRESS_LIMIT: address.binding, CREDENTIAL_LIMIT: credential.binding };
    const from = async (client: string) => {
      const headers = { Authorization: `Bearer ${business.token}`, 'CF-Connecting-IP': client };
      return (await send(bindings, headers)).status === 429;
    };
    expect(await from('192.0.2.1')).toBe(false);
    for (let index = 0; index < 5; index++) expect(await from('192.0.2.1')).toBe(true);
    expect(await from('192.0.2.2')).toBe(false);
  });

  test('count a token’s requests separately for each origin, so refused pages do not use up a registered page’s limit', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const { binding, counts } = limiter(5);
    const bindings = { CREDENTIAL_LIMIT: binding };
    const visit = async (origin?: string) =>
      (await call('GET', business.usage, { as: business.token, origin, bindings })).status;
    const statuses = async (origin?: string) => Promise.all(Array.from({ length: 7 }, () => visit(origin)));
    expect(await statuses('https://evil.example')).toEqual([403, 403, 403, 403, 403, 429, 429]);
    expect(await statuses('https://shop.example')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await statuses()).toEqual([403, 403, 403, 403, 403, 429, 429]);
    expect(counts.size).toBe(3);
    for (const key of counts.keys()) expect(key).toMatch(/^[0-9a-f]{64}$/);
  });

  test('as deployed, allow 1,000 calls from ten addresses, but not 2,001 calls from one', {
    tags: 'slow',
  }, async () => {
    const { token, usage } = await newBusiness({ sites: ['https://shop.example'] });
    const { fetch } = createApp(() => NOW, { log() {}, error() {} }, databaseClock);
    const visit = async (address: string, as = token) => {
      const headers = { Authorization: `Bearer ${as}`, Origin: 'https://shop.example', 'CF-Connecting-IP': address };
      return (await fetch(new Request(BASE + usage, { headers }), env, createExecutionContext())).status;
    };
    const addresses = Array.from({ length: 1000 }, (_, index) => `192.0.2.${index % 10}`);
    expect(new Set(await inBatches(addresses, (address) => visit(address)))).toEqual(new Set([200]));
    // Even if a new period begins while the requests are sent, at least one of the 2,001 requests is the 1,001st in its period.
    const flood = await inBatches(Array(2001).fill('198.51.100.1'), (address) => visit(address, 'malformed'));
    expect(new Set(flood)).toEqual(new Set([401, 429]));
  });

  test('count requests for openapi.json against the client’s address', async () => {
    const { binding } = limiter(1);
    const read = () => send({ ADDRESS_LIMIT: binding }, { 'CF-Connecting-IP': '192.0.2.1' }, '/api/v1/openapi.json');
    expect([(await read()).status, (await read()).status]).toEqual([200, 429]);
  });

  test.each([
    ['192.0.2.1', ['192.0.2.1']],
    [
      '2001:db8:0:0',
      ['2001:db8::1', '2001:DB8:0:0:ffff::1', '2001:db8::', '2001:0db8:0000:0:1:2:3:4', '2001:db8::ffff:c000:201'],
    ],
    ['2001:db8:0:1', ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff']],
    ['64:ff9b:1:0', ['64:ff9b:1::c000:201']],
    ['2002:c000:201:1', ['2002:c000:201:1::1']],
    ['0:0:0:0', ['::', '::1']],
    ['fe80::1%eth0', ['fe80::1%eth0']],
  ])('treat an IPv4 address and an IPv6 /64 network as one client: %s', (network, addresses) => {
    expect(addresses.map(networkOf)).toEqual(addresses.map(() => network));
  });

  test('apply after the checks for 404 and 405, and before the checks of the credential and the body', async () => {
    const bindings = { ADDRESS_LIMIT: limiter(0).binding };
    const headers = { 'CF-Connecting-IP': '192.0.2.1' };
    for (const [status, method, path, body] of [
      [404, 'GET', '/api/v1/nowhere', undefined],
      [405, 'PUT', '/api/v1/business/usage/1', undefined],
      [429, 'POST', '/api/v1/business/usage/1', 'x'.repeat(1024 * 1024 + 1)],
      [429, 'GET', '/api/v1/business/usage/1', undefined],
    ] as const)
      expect((await call(method, path, { headers, body, bindings })).status, `${method} ${path}`).toBe(status);
  });

  test('do not count preflights or requests without a client address, and do not apply if their binding is missing', async () => {
    const { binding, counts } = limiter(0);
    const headers = { 'CF-Connecting-IP': '192.0.2.1' };
    expect((await send({ ADDRESS_LIMIT: binding, CREDENTIAL_LIMIT: binding }, {})).status).toBe(401);
    const bindings = { ADDRESS_LIMIT: binding };
    expect((await call('OPTIONS', '/api/v1/business/usage/1', { headers, bindings })).status).toBe(204);
    expect(counts.size).toBe(0);
    expect((await send({}, headers)).status).toBe(401);
  });
});

describe('the log', () => {
  test('contains one line per request, with the operation, the status and the cost, but no credential', async () => {
    const business = await newBusiness({ sites: ['https://shop.example'] });
    const granted = await call('POST', business.usage, { as: business.key });
    expect(granted.lines).toEqual([
      {
        operation: 'record_use',
        method: 'POST',
        route: '/api/v1/business/usage/:business_id',
        status: 200,
        refusal: null,
        business_id: business.id,
        credential: { kind: 'key', last_four: business.key.slice(-4) },
        ms: 0,
        database: business.home.binding,
        d1: { ...granted.cost, ms: expect.any(Number) },
        request_id: granted.headers.get('X-Request-Id'),
        version: null,
      },
    ]);
    const versioned = await call('GET', business.usage, { as: business.key, bindings: { VERSION: { id: 'v-7' } } });
    expect(versioned.lines).toMatchObject([{ method: 'GET', version: 'v-7' }]);
    expect(granted.lines[0]).not.toHaveProperty('origin');
    const refused = await call('GET', business.usage, { as: business.token, origin: 'https://evil.example' });
    expect(refused.lines).toMatchObject([
      { operation: 'read_usage', status: 403, refusal: 'origin_not_authorized', origin: 'https://evil.example' },
    ]);
    for (const origin of [`https://${'a'.repeat(300)}`, 'https://a\tb.example']) {
      const illegible = await call('GET', business.usage, { as: business.token, origin });
      expect(illegible.lines).toMatchObject([{ status: 403, refusal: 'origin_not_authorized', origin: null }]);
    }
    const others = [
      await call('GET', `${business.usage}?from=x`, { as: business.key }),
      await call('GET', business.usage, { as: 'an-unknown-credential-here' }),
      await call('GET', '/nowhere'),
      await call('PUT', business.usage),
    ].flatMap(({ lines }) => lines);
    expect(others).toMatchObject([
      { status: 422, refusal: 'invalid_input' },
      { status: 401, refusal: 'unauthenticated', operation: 'read_usage' },
      { status: 404, route: null, operation: null, credential: null },
      { status: 405, route: '/api/v1/business/usage/:business_id' },
    ]);
    const lines = JSON.stringify([granted.lines, refused.lines, others]);
    for (const secret of [business.key, business.token, 'an-unknown-credential']) expect(lines).not.toContain(secret);
  });

  test('contains the id in the path, or null if it is malformed', async () => {
    const business = await newBusiness();
    for (const [id, logged] of [
      [999_999_999, 999_999_999],
      ['abc', null],
      ['0', null],
    ]) {
      const { lines } = await call('GET', `/api/v1/business/usage/${id}`, { as: business.key });
      expect(lines).toMatchObject([{ refusal: 'unknown_business', business_id: logged }]);
    }
  });

  test('contains the cause of a 503', async () => {
    const business = await newBusiness();
    const bindings = failingWith('D1 DB is overloaded. Too many requests queued.');
    expect((await call('GET', business.usage, { as: business.key, bindings })).errors).toMatchObject([
      {
        status: 503,
        error: expect.stringContaining('caused by Error: D1 DB is overloaded. Too many requests queued.'),
      },
    ]);
  });

  test('contains the cause of a 500, which the response does not reveal', async () => {
    const business = await newBusiness();
    const bindings = failingWith('D1_ERROR: no such table: x');
    const { text, headers, errors } = await call('GET', business.usage, { as: business.key, bindings });
    expect(text).toBe('{"message":"Server Error"}');
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(errors).toMatchObject([{ status: 500, error: expect.stringContaining('no such table: x') }]);
    expect(JSON.stringify(errors)).not.toContain(business.key);
  });
});

test('a response carries its request id, the database time and the security headers', async () => {
  const business = await newBusiness();
  const { headers } = await call('GET', business.usage, { as: business.key });
  expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('Server-Timing')).toMatch(/^d1;dur=\d+$/);
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Content-Security-Policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin');
  expect(headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(headers.get('Strict-Transport-Security')).toBe('max-age=15552000');
  expect(headers.get('Access-Control-Expose-Headers')).toBe(
    'Content-Disposition,Error-Code,Retry-After,WWW-Authenticate,X-Request-Id',
  );
  const free = await call('GET', business.usage);
  expect(free.headers.get('Server-Timing')).toBeNull();
});
