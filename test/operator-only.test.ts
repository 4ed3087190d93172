// OPERATOR_ONLY (docs/operating.md, "Operator only"): while it is 1, only operator keys are accepted.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, newOperatorKey } from '../src/core/credential.ts';
import { OPERATOR_ROLES } from '../src/core/policy.ts';
import { type AnyRoute, PUBLIC, ROUTES } from './routes.ts';
import { OPERATORS } from './sim/model/callers.ts';
import { may } from './sim/model/may.ts';
import {
  BASE,
  databases,
  dumpAll,
  eachOf,
  env,
  newApp,
  newBusiness,
  newCode,
  newKey,
  newSession,
  OPERATOR,
  OPERATOR_SECRETS,
} from './support.ts';

const UNAVAILABLE = { status: 503, text: '{"message":"Service Unavailable"}' };
type Headers = Record<string, string>;
let business: Awaited<ReturnType<typeof newBusiness>>;
/** Request headers without a valid operator key. */
let others: Record<string, Headers>;
beforeAll(async () => {
  business = await newBusiness({ sites: ['https://shop.example'] });
  const suspended = await newBusiness({ status: 'suspended' });
  const imported = await newBusiness({ token: 'Token-of-another-system-1' });
  const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });
  others = {
    nothing: {},
    'an API key': bearer(business.key),
    'an API key from a page of the service': { ...bearer(business.key), Origin: BASE },
    'a read-only key': bearer((await newKey(business, { role: 'read' })).key),
    'a record-only key': bearer((await newKey(business, { role: 'record' })).key),
    'a session key': bearer((await newSession(business)).key),
    'a token': { ...bearer(business.token), Origin: 'https://shop.example' },
    'a token from an unregistered page': { ...bearer(business.token), Origin: 'https://evil.example' },
    'an inactive business’s token': bearer(suspended.token),
    'an imported token': bearer(imported.token),
    'an unknown key': bearer(newCredential('bua_sk_', 0)),
    'an unbound database’s key': bearer(newCredential('bua_sk_', 61)),
    'an unknown operator key': bearer(newOperatorKey()),
    'a malformed credential': bearer('bua_sk_x'),
    'an API key in another header': { 'X-API-Key': business.key },
  };
});

const requestOf = (route: AnyRoute, headers: Headers, body: unknown = route.body) =>
  new Request(BASE + route.path(business), {
    method: route.method,
    headers: { ...route.headers, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
async function ask(request: Request, bindings: object = { OPERATOR_ONLY: '1' }) {
  const { app, lines, errors } = newApp();
  const context = createExecutionContext();
  const answer = await app.fetch(
    request,
    { ...databases(), ASSETS: env.ASSETS, ...OPERATOR_SECRETS, ...bindings },
    context,
  );
  const [line] = [...lines, ...errors] as { d1?: { round_trips: number }; error?: string }[];
  await waitOnExecutionContext(context); // otherwise, a late write would reach the database of the next test file
  return { status: answer.status, text: await answer.text(), headers: answer.headers, line };
}
async function expectUnavailable(request: Request) {
  const { status, text, headers, line } = await ask(request);
  expect({ status, text }).toEqual(UNAVAILABLE);
  expect([headers.get('Retry-After'), headers.get('Error-Code')]).toEqual(['10', 'unavailable']);
  expect(headers.get('WWW-Authenticate')).toBeNull();
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(line).toMatchObject({
    status: 503,
    d1: { round_trips: 0 },
    error: expect.stringContaining('OPERATOR_ONLY is 1'),
  });
}

eachOf(describe, ROUTES)('while OPERATOR_ONLY is 1, the response to $name', (route) => {
  test('is 503 without a query for every caller except the operator', async () => {
    const before = await dumpAll();
    for (const headers of Object.values(others)) await expectUnavailable(requestOf(route, headers));
    expect(await dumpAll()).toBe(before);
  });

  test.each(OPERATOR_ROLES)('is unchanged for an operator key with the role %s', async (role) => {
    const own = await newBusiness();
    const request = () =>
      new Request(BASE + route.path(own), {
        method: route.method,
        headers: { ...route.headers, Authorization: `Bearer ${OPERATOR[role]}` },
        ...(route.body === undefined ? {} : { body: JSON.stringify(route.body) }),
      });
    expect((await ask(request())).status).toBe(may(OPERATORS[role], route.operation) ? (route.granted ?? 200) : 403);
  });
});

test('while OPERATOR_ONLY is 1, a request to redeem a console link’s code gets 503 and does not spend the code', async () => {
  const code = await newCode(business);
  const redeem = (body: string) => new Request(`${BASE}/api/v1/session`, { method: 'POST', body });
  for (const body of [JSON.stringify({ code }), '', '{}', JSON.stringify({ code: 'x'.repeat(34) })])
    await expectUnavailable(redeem(body));
  expect((await ask(redeem(JSON.stringify({ code })), {})).status).toBe(200);
});

test('while OPERATOR_ONLY is 1, public routes, preflights, unknown paths and other methods respond as usual', async () => {
  for (const route of PUBLIC) {
    const [method = '', path = ''] = route.split(' ');
    expect((await ask(new Request(BASE + path, { method }))).status, route).toBe(200);
  }
  const statuses = [];
  for (const [method, path] of [
    ['OPTIONS', business.usage],
    ['GET', '/api/v1/nowhere'],
    ['PROPFIND', business.usage],
  ] as const)
    statuses.push((await ask(new Request(BASE + path, { method }))).status);
  expect(statuses).toEqual([204, 404, 405]);
});

test.each([undefined, '', '0', 'true', 'yes', ' 1', '1 ', '1\n', '11', '01'])(
  'OPERATOR_ONLY has no effect if it is %j',
  async (value) => {
    const [route] = ROUTES as [AnyRoute];
    const expected = {
      ...{ nothing: 401, 'an API key': 200, 'an API key from a page of the service': 200, 'a read-only key': 200 },
      ...{ 'a record-only key': 200, 'a session key': 200, 'a token': 200 },
      ...{ 'a token from an unregistered page': 403, 'an inactive business’s token': 401 },
      // The status is 422 if the path is routed to the token's database, because the path names another business. Otherwise, it is 401.
      ...{ 'an imported token': expect.toBeOneOf([401, 422]), 'an unknown key': 401 },
      'an unbound database’s key': 401,
      ...{ 'an unknown operator key': 401, 'a malformed credential': 401, 'an API key in another header': 401 },
    };
    const bindings = value === undefined ? {} : { OPERATOR_ONLY: value };
    const statuses = [];
    for (const [name, headers] of Object.entries(others))
      statuses.push([name, (await ask(requestOf(route, headers), bindings)).status]);
    expect(Object.fromEntries(statuses)).toEqual(expected);
    const code = await newCode(business);
    const redeem = new Request(`${BASE}/api/v1/session`, { method: 'POST', body: JSON.stringify({ code }) });
    expect((await ask(redeem, bindings)).status).toBe(200);
  },
);
