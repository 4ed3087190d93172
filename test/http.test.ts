// What is answered without a credential and without the database, and what every answer carries.
import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { createKey } from '../src/cli/keys.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { BASE, call, env, everything, NOW, newApp, newBusiness, TODAY } from './support.ts';

const FREE = { round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 };
const SECRET = `bua_sk_${'x'.repeat(33)}`;
const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

describe('OPTIONS', () => {
  test.each(['/api', '/api/v1/business/usage/1', '/api/v1/business/1/access', '/api/v1/no/such/path', '/api/v2/x'])(
    'is 204 on %s, without the database',
    async (path) => {
      const answer = await call('OPTIONS', path, {
        origin: 'https://anywhere.example',
        headers: { 'Access-Control-Request-Method': 'DELETE', 'Access-Control-Request-Headers': 'authorization' },
      });
      expect({ status: answer.status, text: answer.text, cost: answer.cost }).toEqual({
        status: 204,
        text: '',
        cost: FREE,
      });
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
    ...[
      '/api/v1/business/usage/1//',
      '/api/v1/business/1/access//',
      '/api/v2/business/usage/1',
      '/API/v1/business/usage/1',
    ],
    ...[
      '/api/v1/business/usage/access/1',
      '/api/v1/business/usage/1/2',
      '/api/v1//business/usage/1',
      '/api/v1/business//access',
      '/business/usage/1',
    ],
  ])('such as %s is 404, whoever asks', async (path) => {
    for (const as of [undefined, SECRET]) {
      const answer = await call('GET', path, as === undefined ? {} : { as });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: '{"message":"Not Found"}' });
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.cost).toEqual(FREE);
    }
  });
});

test('`usage` is never the id of a business: below it are usage operations only', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    for (const below of ['', '/', '/access/5', '/1/access']) {
      const path = `/api/v1/business/usage${below}`;
      const answer = await call(method, path, { as: SECRET });
      expect({ path, status: answer.status, text: answer.text }).toEqual({
        path,
        status: 404,
        text: '{"message":"Not Found"}',
      });
    }
  }
});

describe('one slash at the end', () => {
  test('does not count for GET, HEAD and POST', async () => {
    const { id, key, usage, access } = await newBusiness();
    const paths = [usage, access, `/api/v1/business/${id}`, '/api/v1/business', '/api/v1/openapi.json'];
    const asked = { GET: paths, HEAD: [usage], POST: [usage] };
    for (const [method, paths] of Object.entries(asked)) {
      for (const path of paths) expect((await call(method, `${path}/`, { as: key })).status).toBe(200);
    }
  });

  test('is 404 for DELETE and PATCH: an empty id would remove the whole list', async () => {
    const { id, key, access } = await newBusiness({ sites: ['https://shop.example'] });
    const before = await everything();
    for (const [method, path] of [
      ['DELETE', access],
      ['DELETE', `${access}/refused`],
      ['DELETE', `/api/v1/business/${id}/token/former`],
      ['PATCH', access],
    ] as const) {
      const answer = await call(method, `${path}/`, { as: key });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: '{"message":"Not Found"}' });
    }
    expect(await everything()).toBe(before);
  });
});

describe('a known path with another method', () => {
  test.each([
    ['PUT', '/api/v1/business/usage/1', 'GET, HEAD, POST'],
    ['POST', '/api/v1/business/1', 'GET, HEAD, PATCH, DELETE'],
    ['DELETE', '/api/v1/business/1/token', 'POST'],
    ['GET', '/api/v1/business/1/token/former', 'DELETE'],
    ['PATCH', '/api/v1/business/1/access', 'GET, HEAD, POST, DELETE'],
    ['PROPFIND', '/api/v1/business/1/access', 'GET, HEAD, POST, DELETE'],
    ['GET', '/api/v1/business/1/access/2', 'DELETE'],
    // `usage` is never an id: these are usage operations on a business called access.
    ['DELETE', '/api/v1/business/usage/access', 'GET, HEAD, POST'],
    ['PUT', '/api/v1/business/usage/access', 'GET, HEAD, POST'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    for (const as of [undefined, SECRET]) {
      const answer = await call(method, path, as === undefined ? {} : { as });
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: 405,
        text: '{"message":"Method Not Allowed"}',
      });
      expect(answer.headers.get('Allow')).toBe(allow);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.cost).toEqual(FREE);
    }
  });
});

describe('a body that is held back', () => {
  const routes = ROUTES.filter(({ method }) => method !== 'GET');
  const held = (route: AnyRoute, business: { id: number; key: string }, fields: RequestInit = {}) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { ...route.headers, Authorization: `Bearer ${business.key}`, 'Content-Type': 'application/json' };
    const init = { method: route.method, body: readable, duplex: 'half', ...fields, headers };
    return { request: new Request(BASE + route.path(business), init as RequestInit), body: writable.getWriter() };
  };

  test.each(routes)('does not let a credential pass that expires meanwhile: to $name', async (route) => {
    const business = await newBusiness();
    const { api_key } = await createKey(
      business.home,
      { user_id: business.user_id, name: 'e', expires_on: TODAY },
      NOW,
    );
    const clock = { now: new Date('2026-03-15T23:59:59.999Z') };
    const { fetch } = createApp(() => clock.now, { log() {}, error() {} });
    for (const [arrives, status] of [
      ['2026-03-15T23:59:59.999Z', route.keyRefusal === null ? (route.granted ?? 200) : 403],
      ['2026-03-16T00:00:00.000Z', 401],
    ] as const) {
      const { request, body } = held(route, { ...business, key: api_key });
      const answer = fetch(request, env, createExecutionContext());
      clock.now = new Date(arrives);
      if (route.body !== undefined) await body.write(new TextEncoder().encode(JSON.stringify(route.body)));
      await body.close();
      expect({ arrives, status: (await answer).status }).toEqual({ arrives, status });
    }
  });

  test.each(routes)('and breaks off is 400, in the log too, and asks no database: to $name', async (route) => {
    const business = await newBusiness();
    for (const as of [business.key, SECRET]) {
      const { request, body } = held(route, { ...business, key: as });
      const { app, lines } = newApp();
      const answer = app.fetch(request, {});
      await body.write(new TextEncoder().encode('{"si'));
      await body.abort(new Error('Network connection lost.'));
      const { status, headers } = await answer;
      expect({ status, text: await (await answer).text() }).toEqual({ status: 400, text: '{"message":"Bad Request"}' });
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(lines).toMatchObject([{ status: 400, refusal: 'broken_body', d1: FREE }]);
      expect(lines[0]).not.toHaveProperty('error');
    }
  });
});

describe('a body over 1 MiB', () => {
  const MiB = 1024 * 1024;
  const stream = (size: number) =>
    new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < size; sent += 65_536)
          controller.enqueue(new Uint8Array(Math.min(65_536, size - sent)));
        controller.close();
      },
    });
  const send = (body: BodyInit, headers: Record<string, string>) =>
    newApp().app.fetch(
      new Request(`${BASE}/api/v1/business/1/access`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit),
      {},
    );

  test.each([
    ['with its length told', () => 'x'.repeat(MiB + 1)],
    ['in chunks', () => stream(MiB + 1)],
  ])('is 413, %s, without a credential or the database', async (_, body) => {
    const answer = await send(body(), { 'Content-Type': 'application/json' });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual({ message: 'Payload Too Large' });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
  });

  test('does not begin at 1 MiB', async () => {
    for (const body of ['x'.repeat(MiB), stream(MiB)]) expect((await send(body, {})).status).toBe(401);
  });

  test('on an unknown path, or with another method, is what that is', async () => {
    const body = 'x'.repeat(MiB + 1);
    expect((await call('POST', '/api/v1/nowhere', { body })).status).toBe(404);
    expect((await call('PUT', '/api/v1/business/1/access', { body })).status).toBe(405);
  });
});

test('every error names itself in one word, for programs', async () => {
  const { key, token, usage, access, id } = await newBusiness({ sites: ['https://shop.example'] });
  const codeOf = async (...[method, path, options]: Parameters<typeof call>) =>
    (await call(method, path, options)).headers.get('Error-Code');
  expect(await codeOf('GET', usage, { as: key })).toBeNull();
  expect(await codeOf('GET', usage)).toBe('unauthenticated');
  expect(await codeOf('GET', `${usage}9`, { as: key })).toBe('unknown_business');
  expect(await codeOf('GET', access, { as: token })).toBe('token_not_allowed');
  expect(await codeOf('GET', usage, { as: token })).toBe('origin_missing');
  expect(await codeOf('GET', usage, { as: token, origin: 'https://evil.example' })).toBe('origin_not_authorized');
  expect(await codeOf('GET', `${usage}?from=x`, { as: key })).toBe('invalid_input');
  expect(await codeOf('DELETE', `${access}/999`, { as: key })).toBe('unknown_entry');
  expect(await codeOf('GET', '/api/v1/nothing')).toBe('not_found');
  expect(await codeOf('PUT', access)).toBe('method_not_allowed');
  expect(await codeOf('POST', access, { as: key, body: 'x'.repeat(2 ** 20 + 1) })).toBe('too_large');
  await env.DB.prepare('update businesses set daily_limit = 0 where id = ?').bind(id).run();
  expect(await codeOf('POST', usage, { as: key })).toBe('limit_reached');
});
