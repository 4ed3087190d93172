// Tests the original specification verbatim, on one database. Covers both operations, with no headers except `Accept` and `Authorization`
// and with a JSON body, and the specified errors.
import { describe, expect, test } from 'vitest';
import { granted, UNAUTHENTICATED } from './answers.ts';
import { BASE, env, homes, newApp, newBusiness, setCount, TODAY } from './support.ts';

/** Sends the body as bytes, so the request has no Content-Type. */
async function send(method: string, path: string, key: string | null, body?: object) {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (key !== null) headers.Authorization = `Bearer ${key}`;
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = new TextEncoder().encode(JSON.stringify(body));
  const request = new Request(BASE + path, init);
  expect(request.headers.get('Content-Type')).toBeNull();
  const response = await newApp().app.fetch(request, { DB: env.DB });
  return { status: response.status, body: await response.json() };
}

const IMPORTED = '0123456789abcdef01234567';
const CREDENTIALS = ['an API key', 'a token', 'an imported token'] as const;
let user = 3_000_000;
/** Creates a business in DB. `sent` is the business's credential of the given kind. */
async function owned(kind: (typeof CREDENTIALS)[number]) {
  user += homes.length;
  const business = await newBusiness({
    user_id: user,
    ...(kind === 'an imported token' && { token: IMPORTED + user }),
  });
  return { ...business, sent: kind === 'an API key' ? business.key : business.token };
}

describe.each(CREDENTIALS)('with %s', (kind) => {
  test('a usage report contains one entry per day of the range, ascending, with 0 for a day without uses', async () => {
    const { id, sent } = await owned(kind);
    await setCount(id, '2026-03-14', 228);
    expect(await send('GET', `/api/v1/business/usage/${id}?from=2026-03-13&to=${TODAY}`, sent)).toEqual(
      granted({
        used: [
          { date: '2026-03-13', count: 0 },
          { date: '2026-03-14', count: 228 },
          { date: TODAY, count: 0 },
        ],
      }),
    );
  });

  test('a request for the usage report of an invalid business id gets 422', async () => {
    const { sent } = await owned(kind);
    for (const id of ['0', 'abc', '-1', '999999999', '1.0']) {
      expect(await send('GET', `/api/v1/business/usage/${id}`, sent)).toEqual({
        status: 422,
        body: { status: false, message: 'business id is not valid' },
      });
    }
  });

  test('a request to add access domains to an invalid business id gets 401', async () => {
    const { sent } = await owned(kind);
    for (const id of ['0', 'abc', '-1', '999999999']) {
      expect(await send('POST', `/api/v1/business/${id}/access`, sent, { sites: ['https://a.example'] })).toEqual({
        status: 401,
        body: { status: false, message: 'Id is not valid' },
      });
    }
  });

  test('a request to add access domains gets the business with its access_list if it is sent with an API key, and 403 if it is sent with a token', async () => {
    const business = await owned(kind);
    const { id, user_id, name, token } = business;
    const sites = ['https://a.example', 'http://b.example:8080'];
    const answer = await send('POST', `/api/v1/business/${id}/access`, business.sent, { sites });
    if (kind !== 'an API key') return expect(answer.status).toBe(403);
    const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const times = { created_at: stamp, updated_at: stamp };
    const fields = { main_domain: 'acme.example', site: 'https://acme.example', country_id: 1, business_size: 'small' };
    const access_list = sites.map((site) => ({ id: expect.any(Number), business_id: id, site, ...times }));
    const data = { id, user_id, name, ...fields, token, status: 'active', ...times, access_list };
    expect(answer).toEqual({ status: 200, body: { status: true, data: expect.objectContaining(data) } });
  });
});

test('an unauthenticated caller gets 401, whatever the input', async () => {
  for (const key of [null, 'nonsense', `bua_sk_0${'x'.repeat(33)}`]) {
    for (const [method, path] of [
      ['GET', '/api/v1/business/usage/1'],
      ['POST', '/api/v1/business/1/access'],
    ] as const) {
      const answer = await send(method, path, key, method === 'POST' ? { sites: 'wrong' } : undefined);
      expect(answer).toEqual(UNAUTHENTICATED);
    }
  }
});
