// Hono's client, typed by AppType, for TypeScript programs in the same repository.
import { hc } from 'hono/client';
import { expect, test } from 'vitest';
import type { AppType } from '../src/app.ts';
import { BASE, env, newApp, newBusiness, newCode, setCount } from './support.ts';

test('the client reads a typed report', async () => {
  const business = await newBusiness();
  await setCount(business.id, '2026-03-02', 5);
  const { app } = newApp();
  const client = hc<AppType>(BASE, {
    headers: { Authorization: `Bearer ${business.key}` },
    fetch: (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init), env),
  });
  const answer = await client.api.v1.business.usage[':business_id'].$get({
    param: { business_id: `${business.id}` },
    query: { from: '2026-03-02', to: '2026-03-02' },
  });
  const { data } = await answer.json();
  const used: { date: string; count: number }[] = data.used;
  expect(used).toEqual([{ date: '2026-03-02', count: 5 }]);
});

test('the client rotates a token with a typed body', async () => {
  const business = await newBusiness();
  const { app } = newApp();
  const client = hc<AppType>(BASE, {
    headers: { Authorization: `Bearer ${business.key}` },
    fetch: (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init), env),
  });
  const param = { business_id: `${business.id}` };
  const rotate = client.api.v1.business[':business_id'].token.$post;
  const kept = await (await rotate({ param, json: { keep_old: '24h' } })).json();
  expect(kept.data.token).not.toBe(business.token);
  // @ts-expect-error: a mistyped field would stop the old token immediately.
  expect((await rotate({ param, json: { keepOld: '24h' } })).status).toBe(422);
});

test('the client starts a session with an API key or a code, and ends it', async () => {
  const business = await newBusiness();
  const { app } = newApp();
  const fetch = (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init), env);
  const clientOf = (key?: string) =>
    hc<AppType>(BASE, { fetch, ...(key && { headers: { Authorization: `Bearer ${key}` } }) }).api.v1.session;
  const { data } = await (await clientOf(business.key).$post({})).json();
  const ended: true = (await (await clientOf(data.session_key).$delete()).json()).data.ended;
  expect(ended).toBe(true);
  const linked = await (await clientOf().$post({ json: { code: await newCode(business) } })).json();
  expect(linked.data).toEqual({
    session_key: expect.stringMatching(/^bua_sk_/),
    expires_at: '2026-03-15T13:00:00.000000Z',
    user_id: business.user_id,
    read_only: false,
    can_create_keys: false,
    return_url: null,
  });
  // @ts-expect-error: `Code` is not a known field.
  expect((await clientOf().$post({ json: { Code: 'x' } })).status).toBe(401);
});
