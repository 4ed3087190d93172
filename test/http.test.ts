// Responses without a credential or database, and the headers of every response.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { createKey } from './ask.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { BASE, call, databaseClock, dumpAll, eachOf, env, NOW, newApp, newBusiness, TODAY } from './support.ts';

/** The status, the Error-Code and the body of a response that any page may read. */
const refusalOf = ({ status, text, headers }: { status: number; text: string; headers: Headers }) => {
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  return { status, code: headers.get('Error-Code'), text };
};
const FREE = { round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 };
const SECRET = `bua_sk_0${'x'.repeat(33)}`;
const NOT_FOUND = { status: 404, code: 'not_found', text: '{"message":"Not Found"}' };
const BAD_REQUEST = { status: 400, code: 'broken_body', text: '{"message":"Bad Request"}' };
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

describe('OPTIONS', () => {
  test.each(['/api', '/api/v1/business/usage/1', '/api/v1/business/1/access', '/api/v1/no/such/path', '/api/v2/x'])(
    'returns 204 for %s without querying the database',
    async (path) => {
      const answer = await call('OPTIONS', path, {
        origin: 'https://anywhere.example',
        headers: { 'Access-Control-Request-Method': 'DELETE', 'Access-Control-Request-Headers': 'authorization' },
      });
      const { status, text, cost } = answer;
      expect({ status, text, cost }).toEqual({ status: 204, text: '', cost: FREE });
      const { headers } = answer;
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      const served = METHODS.filter((name) => name === 'HEAD' || ROUTES.some(({ method }) => method === name));
      expect(headers.get('Access-Control-Allow-Methods')).toBe(served.join(','));
      expect(headers.get('Access-Control-Allow-Headers')).toBe('*,Authorization,Content-Type,Idempotency-Key');
      expect(headers.get('Access-Control-Max-Age')).toBe('86400');
      expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
    },
  );
});

describe('an unknown path', () => {
  test.each([
    ...['/', '/api', '/api/v1', '/api/v1/business/1/2', '/api/v1/business/usage', '/api/v1/business/usage/'],
    ...['/api/v1/business/usage/1//', '/api/v1/business/1/access//', '/api/v2/business/usage/1', '/business/usage/1'],
    ...['/API/v1/business/usage/1', '/api/v1//business/usage/1', '/api/v1/business//access'],
    // `usage` is never a business id.
    ...['/api/v1/business/usage/access/5', '/api/v1/business/usage/1/access', '/api/v1/business/usage/1/2'],
  ])('returns 404 to every caller: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE'])
      for (const as of [undefined, SECRET]) {
        const answer = await call(method, path, { as });
        expect(refusalOf(answer)).toEqual(NOT_FOUND);
        expect(answer.lines).toMatchObject([{ route: null }]);
        expect(answer.cost).toEqual(FREE);
      }
  });
});

test('a trailing slash is ignored for GET, HEAD and POST, but not for DELETE and PATCH, where an empty id would mean the whole list', async () => {
  const { id, key, usage, access } = await newBusiness({ sites: ['https://shop.example'] });
  const paths = [usage, access, `/api/v1/business/${id}`, '/api/v1/business', '/api/v1/openapi.json'];
  for (const [method, path] of [...paths.map((path) => ['GET', path]), ['HEAD', usage], ['POST', usage]] as const)
    expect((await call(`${method}`, `${path}/`, { as: key })).status).toBe(200);
  const before = await dumpAll();
  for (const [method, path] of [
    ['DELETE', access],
    ['DELETE', `${access}/refused`],
    ['DELETE', `/api/v1/business/${id}/token/former`],
    ['PATCH', access],
  ] as const)
    expect(refusalOf(await call(method, `${path}/`, { as: key }))).toEqual(NOT_FOUND);
  expect(await dumpAll()).toBe(before);
});

test('a known path returns 405 with an Allow header for every unsupported method', async () => {
  const { routes } = newApp().app.api;
  const paths = [...new Set(routes.map(({ path }) => path))].filter((path) => !path.endsWith('/*'));
  expect(paths.length).toBeGreaterThan(20);
  for (const path of paths) {
    const own = routes.filter((route) => route.path === path && route.method !== 'ALL').map(({ method }) => method);
    const allow = METHODS.filter((method) => own.includes(method === 'HEAD' ? 'GET' : method)).join(', ');
    for (const method of ['PROPFIND', ...METHODS.filter((method) => !allow.split(', ').includes(method))]) {
      const answer = await call(method, path.replaceAll(/:\w+/g, '1'));
      const text = method === 'HEAD' ? '' : '{"message":"Method Not Allowed"}';
      expect({ path, method, ...refusalOf(answer) }).toEqual({
        path,
        method,
        status: 405,
        code: 'method_not_allowed',
        text,
      });
      expect(answer.headers.get('Allow')).toBe(allow);
      expect(answer.lines).toMatchObject([{ route: path }]);
      expect(answer.cost).toEqual(FREE);
    }
  }
});

test.each(['PUT /api/v1/business/usage/history', 'DELETE /api/v1/business/usage/access'])(
  '`usage` is never a business id: %s is an unsupported method of the usage of a business',
  async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await call(method, path, { as: SECRET });
    expect({ ...refusalOf(answer), allow: answer.headers.get('Allow') }).toEqual({
      status: 405,
      code: 'method_not_allowed',
      text: '{"message":"Method Not Allowed"}',
      allow: 'GET, HEAD, POST, PATCH',
    });
    expect(answer.lines).toMatchObject([{ route: '/api/v1/business/usage/:business_id' }]);
    expect(answer.cost).toEqual(FREE);
  },
);

test('the log names the route of the operation that answered', async () => {
  for (const { method, path, pattern } of ROUTES)
    expect((await call(method, path({ id: 5, user_id: 7 }))).lines).toMatchObject([{ method, route: pattern }]);
});

describe('a delayed body', () => {
  const routes = ROUTES.filter(({ method }) => method !== 'GET');
  const held = (route: AnyRoute, business: { id: number; key: string }, fields: RequestInit = {}) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { ...route.headers, Authorization: `Bearer ${business.key}`, 'Content-Type': 'application/json' };
    const init = { method: route.method, body: readable, duplex: 'half', ...fields, headers };
    return { request: new Request(BASE + route.path(business), init as RequestInit), body: writable.getWriter() };
  };

  eachOf(test, routes)('does not extend the validity of a credential that expires meanwhile: $name', async (route) => {
    const business = await newBusiness();
    const { api_key } = await createKey(
      business.home,
      { user_id: business.user_id, name: 'e', expires_on: TODAY },
      NOW,
    );
    const clock = { now: new Date('2026-03-15T23:59:59.999Z') };
    const { fetch } = createApp(() => clock.now, { log() {}, error() {} }, databaseClock);
    for (const [arrives, status] of [
      ['2026-03-15T23:59:59.999Z', route.keyRefusal === null ? (route.granted ?? 200) : 403],
      ['2026-03-16T00:00:00.000Z', 401],
    ] as const) {
      const { request, body } = held(route, { ...business, key: api_key });
      const context = createExecutionContext();
      const answer = fetch(request, env, context);
      clock.now = new Date(arrives);
      if (route.body !== undefined) await body.write(new TextEncoder().encode(JSON.stringify(route.body)));
      await body.close();
      expect({ arrives, status: (await answer).status }).toEqual({ arrives, status });
      await waitOnExecutionContext(context); // otherwise, later work would write to the databases of the next test file
    }
  });

  eachOf(test, routes)('causes a logged 400 and no database query if it breaks off: $name', async (route) => {
    const business = await newBusiness();
    for (const as of [business.key, SECRET]) {
      const { request, body } = held(route, { ...business, key: as });
      const { app, lines } = newApp();
      const answer = app.fetch(request, {});
      await body.write(new TextEncoder().encode('{"si'));
      await body.abort(new Error('Network connection lost.'));
      const { status, headers } = await answer;
      expect(refusalOf({ status, headers, text: await (await answer).text() })).toEqual(BAD_REQUEST);
      expect(lines).toMatchObject([{ status: 400, refusal: 'broken_body', d1: FREE }]);
      expect(lines[0]).not.toHaveProperty('error');
    }
  });
});

describe('a request that its headers or its address suffice to refuse', () => {
  const KEY = { Authorization: `Bearer ${SECRET}` };
  const OVER_LIMIT = { ADDRESS_LIMIT: { limit: async () => ({ success: false }) } };
  const ADDRESS = { 'CF-Connecting-IP': '192.0.2.1' };

  test.each<[string, number, Record<string, string>, object]>([
    ['without a credential', 401, {}, {}],
    ['with a malformed credential', 401, { Authorization: `Bearer ${SECRET}.` }, {}],
    ['with a key in another header', 401, { 'X-API-Key': SECRET }, {}],
    ['with an unknown operator key', 401, { Authorization: `Bearer bua_op_${'x'.repeat(43)}` }, {}],
    ['over the address limit, with an API key', 429, { ...KEY, ...ADDRESS }, OVER_LIMIT],
    ['in operator-only mode', 503, KEY, { OPERATOR_ONLY: '1' }],
  ])('%s, gets %i before its body is read', async (_, status, headers, bindings) => {
    for (const route of ROUTES.filter(({ method }) => method !== 'GET')) {
      // Without another credential, the body of this route can contain a code.
      if (route.name === 'start a session' && status === 401 && Object.keys(headers).length === 0) continue;
      let reads = 0;
      const pull = () => new Promise<void>(() => void reads++); // never ends
      const body = new ReadableStream({ pull }, { highWaterMark: 0 });
      const init = { method: route.method, headers, body, duplex: 'half' } as RequestInit;
      const { app, lines, errors } = newApp();
      const answer = await app.fetch(new Request(BASE + route.path({ id: 1 }), init), bindings);
      expect([route.name, answer.status, reads]).toEqual([route.name, status, 0]);
      if (status === 429) expect(answer.headers.get('Error-Code')).toBe('rate_limited');
      expect([...lines, ...errors]).toMatchObject([{ status, operation: null, d1: FREE }]);
    }
  });
});

test('a body that is not UTF-8 gets 400 without a query, because input is never repaired', async () => {
  const { access, key } = await newBusiness();
  const body = Uint8Array.from('{"sites":["https://m\u00fcller.example"]}', (character) => character.charCodeAt(0)); // Latin-1
  const { app, lines } = newApp();
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await app.fetch(new Request(BASE + access, { method: 'POST', body, headers }), {});
  const { status, headers: answered } = answer;
  expect(refusalOf({ status, headers: answered, text: await answer.text() })).toEqual(BAD_REQUEST);
  expect(lines).toMatchObject([{ status: 400, refusal: 'broken_body', d1: FREE }]);
});

describe('a body with Content-Encoding', () => {
  test.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'gzip,', 'utf-8', 'identityx'])(
    'gets 415 without a query if it is %j, whether the credential works or not',
    async (coding) => {
      const { access, key } = await newBusiness();
      for (const as of [key, SECRET]) {
        const answer = await call('POST', access, { as, headers: { 'Content-Encoding': coding }, body: '{}' });
        const text = '{"message":"The body must not be compressed: send it without Content-Encoding."}';
        expect(refusalOf(answer)).toEqual({ status: 415, code: 'compressed_body', text });
        expect(answer.headers.get('Accept-Encoding')).toBe('identity');
        expect(answer.lines).toMatchObject([{ status: 415, refusal: 'compressed_body', d1: FREE }]);
      }
    },
  );

  test.each(['identity', 'Identity', '', 'identity , identity'])('is read if it is %j', async (coding) => {
    const { usage, key } = await newBusiness();
    const headers = { 'Content-Encoding': coding };
    expect((await call('POST', usage, { as: key, headers, body: { quantity: 5 } })).body.data.count).toBe(5);
  });

  test('counts a use if it is empty, because nothing is compressed', async () => {
    const { usage, token } = await newBusiness();
    expect((await call('POST', usage, { as: token, headers: { 'Content-Encoding': 'gzip' } })).status).toBe(200);
  });
});

describe('the limit of 1 MiB on bodies', () => {
  const MiB = 1024 * 1024;
  const stream = (size: number) =>
    new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < size; sent += 65_536)
          controller.enqueue(new Uint8Array(Math.min(65_536, size - sent)));
        controller.close();
      },
    });
  /** Sends a body with the key of an unbound database. */
  function send(body: BodyInit) {
    const headers = { Authorization: `Bearer ${SECRET}` };
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
    return newApp().app.fetch(new Request(`${BASE}/api/v1/business/1/access`, init), {});
  }

  test('results in 413 without a query for a larger body, with a Content-Length or in chunks, but not for one of 1 MiB', async () => {
    for (const [body, status, code] of [
      ['x'.repeat(MiB + 1), 413, 'too_large'],
      [stream(MiB + 1), 413, 'too_large'],
      ['x'.repeat(MiB), 401, 'unauthenticated'],
      [stream(MiB), 401, 'unauthenticated'],
    ] as const) {
      const answer = await send(body);
      const text = { 413: '{"message":"Payload Too Large"}', 401: '{"message":"Unauthenticated."}' }[status];
      const { headers } = answer;
      expect(refusalOf({ headers, status: answer.status, text: await answer.text() })).toEqual({ status, code, text });
    }
  });

  test('does not replace 404 for an unknown path or 405 for an unsupported method', async () => {
    const body = 'x'.repeat(MiB + 1);
    expect((await call('POST', '/api/v1/nowhere', { body })).status).toBe(404);
    expect((await call('PUT', '/api/v1/business/1/access', { body })).status).toBe(405);
  });
});
