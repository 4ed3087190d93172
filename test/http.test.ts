// Responses without a credential or database, and the headers of every response.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { ERROR_CODES, type ErrorCode } from '../src/http/errors.ts';
import { createKey } from './ask.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import {
  BASE,
  call,
  databaseClock,
  dumpAll,
  eachOf,
  env,
  failingWith,
  NOW,
  newApp,
  newBusiness,
  newKey,
  newSession,
  OPERATOR,
  TODAY,
} from './support.ts';

const textAnswerOf = ({ status, text }: { status: number; text: string }) => ({ status, text });
const FREE = { round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 };
const SECRET = `bua_sk_0${'x'.repeat(33)}`;
const NOT_FOUND = { status: 404, text: '{"message":"Not Found"}' };
const METHOD_NOT_ALLOWED = { status: 405, text: '{"message":"Method Not Allowed"}' };
const BAD_REQUEST = { status: 400, text: '{"message":"Bad Request"}' };
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
    ...['/API/v1/business/usage/1', '/api/v1/business/usage/access/1', '/api/v1/business/usage/1/2'],
    ...['/api/v1//business/usage/1', '/api/v1/business//access'],
  ])('returns 404 to every caller: %s', async (path) => {
    for (const as of [undefined, SECRET]) {
      const answer = await call('GET', path, as === undefined ? {} : { as });
      expect(textAnswerOf(answer)).toEqual(NOT_FOUND);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.cost).toEqual(FREE);
    }
  });
});

test('`usage` is never a business id', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    for (const below of ['', '/', '/access/5', '/1/access']) {
      const path = `/api/v1/business/usage${below}`;
      const answer = await call(method, path, { as: SECRET });
      expect({ path, status: answer.status, text: answer.text }).toEqual({
        path,
        ...NOT_FOUND,
      });
    }
  }
});

describe('a trailing slash', () => {
  test('is ignored for GET, HEAD and POST', async () => {
    const { id, key, usage, access } = await newBusiness();
    const paths = [usage, access, `/api/v1/business/${id}`, '/api/v1/business', '/api/v1/openapi.json'];
    const asked = { GET: paths, HEAD: [usage], POST: [usage] };
    for (const [method, paths] of Object.entries(asked)) {
      for (const path of paths) expect((await call(method, `${path}/`, { as: key })).status).toBe(200);
    }
  });

  test('gets 404 for DELETE and PATCH, because an empty id would mean the whole list', async () => {
    const { id, key, access } = await newBusiness({ sites: ['https://shop.example'] });
    const before = await dumpAll();
    for (const [method, path] of [
      ['DELETE', access],
      ['DELETE', `${access}/refused`],
      ['DELETE', `/api/v1/business/${id}/token/former`],
      ['PATCH', access],
    ] as const) {
      const answer = await call(method, `${path}/`, { as: key });
      expect(textAnswerOf(answer)).toEqual(NOT_FOUND);
    }
    expect(await dumpAll()).toBe(before);
  });
});

describe('a known path with an unsupported method', () => {
  test('returns 405 for every route', async () => {
    const { routes } = newApp().app.api;
    const paths = [...new Set(routes.map(({ path }) => path))].filter((path) => !path.endsWith('/*'));
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const { status, headers } = await call('PROPFIND', path.replaceAll(/:\w+/g, '1'));
      const methods = routes
        .filter((route) => route.path === path && route.method !== 'ALL')
        .map(({ method }) => method);
      const allow = headers
        .get('Allow')
        ?.split(', ')
        .filter((name) => name !== 'HEAD')
        .sort();
      expect({ path, status, allow }).toEqual({ path, status: 405, allow: [...new Set(methods)].sort() });
    }
  });

  test.each([
    ['PROPFIND', '/api/v1/business/1/access', 'GET, HEAD, POST, DELETE'],
    // `usage` is never an id, so these are usage operations on a business with the id `access`.
    ['DELETE', '/api/v1/business/usage/access', 'GET, HEAD, POST, PATCH'],
    ['PUT', '/api/v1/business/usage/access', 'GET, HEAD, POST, PATCH'],
  ])('returns 405 with an Allow header: %s %s', async (method, path, allow) => {
    for (const as of [undefined, SECRET]) {
      const answer = await call(method, path, as === undefined ? {} : { as });
      expect(textAnswerOf(answer)).toEqual(METHOD_NOT_ALLOWED);
      expect(answer.headers.get('Allow')).toBe(allow);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.cost).toEqual(FREE);
    }
  });
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
      expect({ status, text: await (await answer).text() }).toEqual(BAD_REQUEST);
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
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
    ['over the address limit, without a credential', 429, ADDRESS, OVER_LIMIT],
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
  expect({ status: answer.status, text: await answer.text() }).toEqual(BAD_REQUEST);
  expect(lines).toMatchObject([{ status: 400, refusal: 'broken_body', d1: FREE }]);
});

describe('a body with Content-Encoding', () => {
  const gzip = async (text: string) =>
    new Uint8Array(
      await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer(),
    );

  test.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'gzip,', 'utf-8', 'identityx'])(
    'gets 415 without a query if it is %j, whether the credential works or not',
    async (coding) => {
      const { access, key } = await newBusiness();
      const body = await gzip('{"sites":["https://shop.example"]}');
      for (const as of [key, SECRET]) {
        const { app, lines } = newApp();
        const headers = { Authorization: `Bearer ${as}`, 'Content-Encoding': coding };
        const answer = await app.fetch(new Request(BASE + access, { method: 'POST', body, headers }), {});
        expect({ status: answer.status, body: await answer.json() }).toEqual({
          status: 415,
          body: { message: 'The body must not be compressed: send it without Content-Encoding.' },
        });
        expect(answer.headers.get('Accept-Encoding')).toBe('identity');
        expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
        expect(lines).toMatchObject([{ status: 415, refusal: 'compressed_body', d1: FREE }]);
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
    const { status } = await call('POST', usage, { as: token, headers: { 'Content-Encoding': 'gzip' } });
    expect(status).toBe(200);
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
  function send(body: BodyInit, sent: Record<string, string>) {
    const headers = { ...sent, Authorization: `Bearer ${SECRET}` };
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
    return newApp().app.fetch(new Request(`${BASE}/api/v1/business/1/access`, init), {});
  }

  test.each([
    ['with a Content-Length', () => 'x'.repeat(MiB + 1)],
    ['in chunks', () => stream(MiB + 1)],
  ])('results in 413 without a query for a larger body %s', async (_, body) => {
    const answer = await send(body(), { 'Content-Type': 'application/json' });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual({ message: 'Payload Too Large' });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  });

  test('allows exactly 1 MiB', async () => {
    const told = { 'Content-Length': `${MiB}` };
    for (const [body, headers] of [
      ['x'.repeat(MiB), {}],
      ['x'.repeat(MiB), told],
      [stream(MiB), {}],
    ] as const) {
      const answer = await send(body, headers);
      expect({ status: answer.status, body: await answer.json() }).toEqual({
        status: 401,
        body: { message: 'Unauthenticated.' },
      });
    }
  });

  test('does not replace 404 for an unknown path or 405 for an unsupported method', async () => {
    const body = 'x'.repeat(MiB + 1);
    expect((await call('POST', '/api/v1/nowhere', { body })).status).toBe(404);
    expect((await call('PUT', '/api/v1/business/1/access', { body })).status).toBe(405);
  });
});

describe('the Error-Code header', () => {
  const EVIL = 'https://evil.example';
  const shop = () => newBusiness({ sites: ['https://shop.example'] });
  type Shop = Awaited<ReturnType<typeof shop>>;
  const onFailing = ({ usage, key }: Shop, message: string) =>
    call('GET', usage, { as: key, bindings: failingWith(message) });
  const CALLS: Record<ErrorCode, (shop: Shop) => Promise<{ headers: Headers }>> = {
    operator_key_in_page: ({ usage }) => call('GET', usage, { as: OPERATOR.full, origin: EVIL }),
    unknown_business: ({ usage, key }) => call('GET', `${usage}9`, { as: key }),
    operator_only: ({ key }) => call('GET', '/api/v1/usage', { as: key }),
    operator_not_allowed: () => call('POST', '/api/v1/session', { as: OPERATOR.full }),
    session_only: ({ key }) => call('DELETE', '/api/v1/session', { as: key }),
    token_not_allowed: ({ access, token }) => call('GET', access, { as: token }),
    session_not_allowed: async (shop) => call('POST', '/api/v1/session', { as: (await newSession(shop)).key }),
    read_only_key: async (shop) => call('POST', shop.usage, { as: (await newKey(shop, { role: 'read' })).key }),
    unknown_user: ({ key, user_id }) => call('GET', `/api/v1/user/${user_id}9/keys`, { as: key }),
    async narrow_key(shop) {
      const { key } = await newKey(shop, { business_id: shop.id });
      return call('GET', `/api/v1/user/${shop.user_id}/keys`, { as: key });
    },
    record_only_key: async (shop) => call('GET', shop.access, { as: (await newKey(shop, { role: 'record' })).key }),
    async inactive_business() {
      const { usage, key } = await newBusiness({ status: 'suspended' });
      return call('POST', usage, { as: key });
    },
    origin_missing: ({ usage, token }) => call('GET', usage, { as: token }),
    origin_not_authorized: ({ usage, token }) => call('GET', usage, { as: token, origin: EVIL }),
    unauthenticated: ({ usage }) => call('GET', usage),
    invalid_input: ({ usage, key }) => call('GET', `${usage}?from=x`, { as: key }),
    async last_domain({ access, key }) {
      const { body } = await call('GET', access, { as: key });
      return call('DELETE', `${access}/${body.data.access_list[0].id}`, { as: key });
    },
    async limit_reached({ id, usage, key, home }) {
      await home.d1.prepare('update businesses set daily_limit = 0 where id = ?').bind(id).run();
      return call('POST', usage, { as: key });
    },
    unknown_entry: ({ access, key }) => call('DELETE', `${access}/999`, { as: key }),
    not_found: () => call('GET', '/api/v1/nothing'),
    method_not_allowed: ({ access }) => call('PUT', access),
    broken_body({ access, key }) {
      const body = new ReadableStream({ start: (controller) => controller.error(new Error('Connection lost.')) });
      const headers = { Authorization: `Bearer ${key}` };
      return newApp().app.fetch(
        new Request(BASE + access, { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
        {},
      );
    },
    compressed_body: ({ access, key }) =>
      call('POST', access, { as: key, body: '{}', headers: { 'Content-Encoding': 'gzip' } }),
    too_large: ({ access, key }) => call('POST', access, { as: key, body: 'x'.repeat(2 ** 20 + 1) }),
    rate_limited({ usage }) {
      const ADDRESS_LIMIT = { limit: async () => ({ success: false }) };
      return call('GET', usage, { headers: { 'CF-Connecting-IP': '192.0.2.1' }, bindings: { ADDRESS_LIMIT } });
    },
    unavailable: (shop) => onFailing(shop, 'D1_ERROR: database is locked: SQLITE_BUSY'),
    server_error: (shop) => onFailing(shop, 'D1_ERROR: no such table: api_keys: SQLITE_ERROR'),
  };

  test.each(ERROR_CODES)('is sent with the error %s', async (code) => {
    expect((await CALLS[code](await shop())).headers.get('Error-Code')).toBe(code);
  });

  test('is not sent with a successful response', async () => {
    const { usage, key } = await newBusiness();
    expect((await call('GET', usage, { as: key })).headers.get('Error-Code')).toBeNull();
  });
});
