// OPERATOR_ONLY (docs/operating.md, "Operator only"): while it is 1, only operator keys are accepted.
import { beforeAll, expect, test } from 'vitest';
import { answerOf, UNAVAILABLE } from './answers.ts';
import { type AnyRoute, PUBLIC, ROUTES } from './routes.ts';
import { ask, call, newBusiness, newCode, newSession } from './support.ts';

type Headers = Record<string, string>;
let business: Awaited<ReturnType<typeof newBusiness>>;
/** Request headers with other credentials. permissions.test.ts sends those of every kind. */
let others: Record<string, Headers>;
beforeAll(async () => {
  business = await newBusiness({ sites: ['https://shop.example'] });
  const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });
  others = {
    'an API key': bearer(business.key),
    'a session key': bearer((await newSession(business)).key),
    'a token': { ...bearer(business.token), Origin: 'https://shop.example' },
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
    for (const [name, headers] of Object.entries(others)) expect(await statusOf(headers), name).toBe(200);
    expect(await statusOf({})).toBe(401);
  },
);
