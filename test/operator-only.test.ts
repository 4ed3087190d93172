// OPERATOR_ONLY (docs/operating.md, "Operator only"): while it is 1, only operator keys are accepted.
import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, newOperatorKey } from '../src/core/credential.ts';
import { OPERATOR_ROLES } from '../src/core/policy.ts';
import { answerOf, UNAVAILABLE } from './answers.ts';
import { type AnyRoute, PUBLIC, ROUTES } from './routes.ts';
import { OPERATORS } from './sim/model/callers.ts';
import { may } from './sim/model/may.ts';
import { ask, BASE, call, dumpAll, eachOf, newBusiness, newCode, newKey, newSession, OPERATOR } from './support.ts';

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

const bindings = { OPERATOR_ONLY: '1' };
function expectUnavailable(answer: Awaited<ReturnType<typeof call>>) {
  const { headers, errors } = answer;
  expect(answerOf(answer)).toEqual(UNAVAILABLE);
  expect([headers.get('Retry-After'), headers.get('Error-Code')]).toEqual(['10', 'unavailable']);
  expect(headers.get('WWW-Authenticate')).toBeNull();
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  const error = expect.stringContaining('OPERATOR_ONLY is 1');
  expect(errors).toMatchObject([{ status: 503, d1: { round_trips: 0 }, error }]);
}

eachOf(describe, ROUTES)('while OPERATOR_ONLY is 1, the response to $name', (route) => {
  test('is 503 without a query for every caller except the operator', async () => {
    const before = await dumpAll();
    for (const headers of Object.values(others)) expectUnavailable(await ask(route, business, { headers, bindings }));
    expect(await dumpAll()).toBe(before);
  });

  test.each(OPERATOR_ROLES)('is unchanged for an operator key with the role %s', async (role) => {
    const { status } = await ask(route, await newBusiness(), { as: OPERATOR[role], bindings });
    expect(status).toBe(may(OPERATORS[role], route.operation) ? (route.granted ?? 200) : 403);
  });
});

test('while OPERATOR_ONLY is 1, a request to redeem a console link’s code gets 503 and does not spend the code', async () => {
  const body = { code: await newCode(business) };
  for (const sent of [body, '', '{}', { code: 'x'.repeat(34) }])
    expectUnavailable(await call('POST', '/api/v1/session', { body: sent, bindings }));
  expect((await call('POST', '/api/v1/session', { body })).status).toBe(200);
});

test('while OPERATOR_ONLY is 1, public routes, preflights, unknown paths and other methods respond as usual', async () => {
  const requests = PUBLIC.map((route): [status: number, on: string] => [200, route]);
  requests.push([204, `OPTIONS ${business.usage}`], [404, 'GET /api/v1/nowhere'], [405, `PROPFIND ${business.usage}`]);
  for (const [status, on] of requests) {
    const [method = '', path = ''] = on.split(' ');
    expect((await call(method, path, { bindings })).status, on).toBe(status);
  }
});

test.each([undefined, '', '0', 'true', 'yes', ' 1', '1 ', '1\n', '11', '01'])(
  'OPERATOR_ONLY has no effect if it is %j',
  async (value) => {
    const [route] = ROUTES as [AnyRoute];
    const statusOf = async (headers: Headers) =>
      (await ask(route, business, { headers, bindings: { OPERATOR_ONLY: value } })).status;
    for (const name of ['an API key', 'a session key', 'a token'])
      expect(await statusOf(others[name] ?? {}), name).toBe(200);
    expect(await statusOf({})).toBe(401);
  },
);
