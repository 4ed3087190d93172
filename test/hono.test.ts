// Hono's client, typed by AppType, for TypeScript programs in the same repository.
import { hc } from 'hono/client';
import { expect, test } from 'vitest';
import type { AppType } from '../src/app.ts';
import { BASE, env, newApp, newBusiness, newCode, setCount } from './support.ts';

const clientOf = (key?: string) =>
  hc<AppType>(BASE, {
    ...(key && { headers: { Authorization: `Bearer ${key}` } }),
    fetch: (input: RequestInfo | URL, init?: RequestInit) => newApp().app.fetch(new Request(input, init), env),
  }).api.v1;

test('the client reads a typed report', async () => {
  const { id, key } = await newBusiness();
  await setCount(id, '2026-03-02', 5);
  const answer = await clientOf(key).business.usage[':business_id'].$get({
    param: { business_id: `${id}` },
    query: { from: '2026-03-02', to: '2026-03-02' },
  });
  const used: { date: string; count: number }[] = (await answer.json()).data.used;
  expect(used).toEqual([{ date: '2026-03-02', count: 5 }]);
});

test('the client rotates a token with a typed body', async () => {
  const { id, key, token } = await newBusiness();
  const param = { business_id: `${id}` };
  const rotate = clientOf(key).business[':business_id'].token.$post;
  expect((await (await rotate({ param, json: { keep_old: '24h' } })).json()).data.token).not.toBe(token);
  // @ts-expect-error: a mistyped field would stop the old token immediately.
  expect((await rotate({ param, json: { keepOld: '24h' } })).status).toBe(422);
});

test('the client starts a session with an API key or a code, and ends it', async () => {
  const business = await newBusiness();
  const { data } = await (await clientOf(business.key).session.$post({})).json();
  const ended: true = (await (await clientOf(data.session_key).session.$delete()).json()).data.ended;
  expect(ended).toBe(true);
  const linked = await (await clientOf().session.$post({ json: { code: await newCode(business) } })).json();
  expect(linked.data.user_id).toBe(business.user_id);
  // @ts-expect-error: `Code` is not a known field.
  expect((await clientOf().session.$post({ json: { Code: 'x' } })).status).toBe(401);
});
