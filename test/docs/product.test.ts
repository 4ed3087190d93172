// docs/product.md: its program runs beside the service, from a sign-up to the end. What each step has done is looked up in the service.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { OPERATOR_SECRETS } from '../../src/core/operator.ts';
import { freePort, type Service, startService } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { read } from './document.ts';

const [, PROGRAM = ''] = /^```js\n(.*?)^```$/ms.exec(read('docs/product.md')) ?? [];
const file = join(newFolder(), 'product.mjs');
writeFileSync(file, PROGRAM);

const [full, record] = [
  await createOperatorKey('full', OPERATOR_SECRETS[0]),
  await createOperatorKey('record', OPERATOR_SECRETS[1]),
];
let service: Service;
/** What happens to the next requests of the product, in front of the service: one that is not done, or whose response is lost. */
const accidents: ('unavailable' | 'lost')[] = [];
/** Each request of the product, with the last four characters of its key. */
const requests: string[] = [];
const front = createServer(forward);

beforeAll(async () => {
  service = await startService(newDatabase(), {
    secrets: { OPERATOR_KEY_1: full.secret, OPERATOR_KEY_2: record.secret },
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
});
afterAll(async () => {
  for (const child of children) child.kill();
  front.close();
  await service.stop();
});

/** The way to the service. It has the invoice run take a page for each business. */
async function forward(...[request, response]: Parameters<RequestListener>) {
  const { method = '', url = '', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  requests.push(`${method} ${url.replace('/api/v1', '')} ${headers.authorization?.slice(-4)}`);
  const accident = accidents.shift();
  if (accident === 'unavailable') {
    response
      .writeHead(503, { 'Error-Code': 'unavailable', 'Retry-After': '0' })
      .end('{"message":"Service Unavailable"}');
    return;
  }
  const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
  const page = url.startsWith('/api/v1/usage?') ? '&limit=1' : '';
  const answer = await fetch(service.url + url + page, {
    method,
    headers: passed as Record<string, string>,
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  });
  const body = await answer.text();
  if (accident === 'lost') return response.destroy();
  const { 'content-encoding': ____, 'content-length': _____, ...shown } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, shown).end(body);
}

const children: ChildProcess[] = [];
const running = (...args: string[]) => {
  const { port } = front.address() as AddressInfo;
  const variables = {
    API: `http://127.0.0.1:${port}/api/v1`,
    OPERATOR_KEY: full.operator_key,
    RECORD_KEY: record.operator_key,
  };
  const env = { PATH: process.env.PATH, ...variables, PORT: `${productPort}` };
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  return { child, ended: once(child, 'close').then(() => output) };
};
const productPort = await freePort();

/** Starts the product, and waits until it listens. What is returned stops it. */
async function start() {
  const { child, ended } = running();
  await vi.waitFor(() => fetch(`http://127.0.0.1:${productPort}`), { timeout: 30_000, interval: 50 });
  return () => {
    child.kill();
    return ended;
  };
}

/** What a user of the product sends to it, and gets. */
async function send(user: number, method: string, path: string, body?: object) {
  const answer = await fetch(`http://127.0.0.1:${productPort}${path}`, {
    method,
    headers: { 'X-User': `${user}` },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: 'manual',
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: answer.status, location: answer.headers.get('Location'), body: (await answer.json()) as any };
}
const ok = async (...request: Parameters<typeof send>) => {
  const { status, body } = await send(...request);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};

/** A request to the service itself. */
async function call(
  as: string | null,
  method: string,
  path: string,
  { origin, body }: { origin?: string; body?: object } = {},
) {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...(as !== null && { Authorization: `Bearer ${as}` }), ...(origin && { Origin: origin }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: answer.status, body: (await answer.json()) as any };
}
const dataOf = async (path: string) => (await call(full.operator_key, 'GET', path)).body.data;

const ACME = 'https://acme.example';
const OWN = {
  ...{
    id: 1,
    user_id: 7,
    name: 'Acme',
    main_domain: 'acme.example',
    site: ACME,
    country_id: 1,
    business_size: 'small',
  },
  ...{ token: expect.stringMatching(/^bua_pk_0\w{33}$/), status: 'active' },
  ...{ created_at: expect.any(String), updated_at: expect.any(String) },
};
const SIGNUP = { name: 'Acme', domain: 'acme.example' };
const entry = (id: number, site: string) => expect.objectContaining({ id, business_id: 1, site });

test('the program in docs/product.md does each of its steps', async () => {
  const stop = await start();

  // Sign-up: once, though the first response is lost.
  accidents.push('lost');
  expect(await ok(7, 'POST', '/signup', SIGNUP)).toEqual({ business: 1 });
  expect(await ok(7, 'POST', '/signup', SIGNUP)).toEqual({ business: 1 });
  // Every response is lost, and the customer corrects what was sent.
  accidents.push('lost', 'lost');
  expect(await send(8, 'POST', '/signup', { name: 'Blot', domain: 'blot.example' })).toMatchObject({ status: 502 });
  expect(await ok(8, 'POST', '/signup', { name: 'Bolt', domain: 'bolt.example' })).toEqual({ business: 2 });
  const corrected = { name: 'Bolt', main_domain: 'bolt.example', site: 'https://bolt.example' };
  expect(await ok(8, 'GET', '/settings')).toMatchObject({
    ...corrected,
    access_list: [{ site: 'https://blot.example' }, { site: 'https://bolt.example' }],
  });
  expect(await send(10, 'POST', '/signup', { name: '', domain: 'none.example' })).toMatchObject({ status: 422 });
  const ofMonth = {
    monthly: 1000,
    billing_day: 1,
    overage: 0,
    alert_at: [80, 100],
    month: 0,
    month_ends: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000000Z$/),
  };
  const limits = { daily: null, today: null, day_ends: null, ...ofMonth, remaining: 1000 };
  const settings = { ...OWN, access_list: [entry(1, ACME)], limits, former_tokens: [] };
  expect(await ok(7, 'GET', '/settings')).toEqual(settings);
  expect((await dataOf('/business')).businesses.map(({ id, user_id }: typeof OWN) => [id, user_id])).toEqual([
    [1, 7],
    [2, 8],
  ]);
  expect(await send(9, 'GET', '/settings')).toMatchObject({ status: 404, body: { message: 'Sign up first' } });

  // The token, in the pages of the customer.
  const { html } = await ok(7, 'GET', '/snippet');
  const [, business, token = ''] = /business="(\d+)" token="(.*?)"/.exec(html) ?? [];
  expect([business, token]).toEqual(['1', (await dataOf('/business/1')).token]);
  const visit = async (as: string, origin = ACME) => (await call(as, 'GET', '/business/usage/1', { origin })).status;
  expect([await visit(token), await visit(token, 'https://evil.example')]).toEqual([200, 403]);

  // The hot path: with the key that only records, once for each, whatever fails.
  const used = async () => (await dataOf('/business/usage/1')).used.at(-1).count;
  const answers = { status: 200, location: null, body: { answer: 42 } };
  requests.length = 0;
  expect(await send(7, 'POST', '/work')).toEqual(answers);
  expect(requests).toEqual([`POST /business/usage/1 ${record.operator_key.slice(-4)}`]);
  accidents.push('unavailable', 'lost');
  expect([await send(7, 'POST', '/work'), await send(7, 'POST', '/work')]).toEqual([answers, answers]);
  expect(await used()).toBe(2);

  // The plan, and its limit.
  const uses = Array.from({ length: 998 }, (_, index) => ({ id: `earlier-${index}` }));
  await call(full.operator_key, 'POST', '/business/usage/1', { body: { uses } });
  const reached = 'This business has used its 1000 uses of this month.';
  expect(await send(7, 'POST', '/work')).toEqual({ status: 429, location: null, body: { message: reached } });
  accidents.push('lost');
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'pro' })).toMatchObject({ id: 1, limits: null });
  expect(await send(7, 'POST', '/work')).toEqual(answers);
  expect(await used()).toBe(1001);

  // The sites.
  expect(await ok(7, 'POST', '/settings/sites', { sites: ['https://www.acme.example'] })).toMatchObject({
    access_list: [entry(1, ACME), entry(4, 'https://www.acme.example')],
  });
  expect(await send(7, 'POST', '/settings/sites', { sites: ['acme'] })).toMatchObject({
    status: 422,
    body: { message: 'sites.0 must be an http or https URL, such as https://example.com' },
  });
  expect(await ok(7, 'POST', '/settings/remove-site', { id: 4 })).toMatchObject({ access_list: [entry(1, ACME)] });
  expect(await send(7, 'POST', '/settings/remove-site', { id: 1 })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('must not be the last entry') },
  });

  // The token is replaced, with an overlap that is cut short.
  const rotated = await ok(7, 'POST', '/settings/token');
  expect([await visit(token), await visit(rotated.token)]).toEqual([200, 200]);
  expect((await ok(7, 'GET', '/settings')).former_tokens).toMatchObject([{ last_four: token.slice(-4) }]);
  expect((await ok(7, 'POST', '/settings/stop-old-tokens')).former_tokens).toEqual([]);
  expect([await visit(token), await visit(rotated.token)]).toEqual([401, 200]);

  // The console.
  const { status, location } = await send(7, 'POST', '/settings/console');
  expect({ status, page: location?.split('#')[0] }).toEqual({ status: 303, page: `${service.url}/owner` });
  const code = location?.split('#code=')[1];
  const session = (await call(null, 'POST', '/session', { body: { code } })).body.data;
  expect(session).toEqual({
    session_key: expect.any(String),
    expires_at: expect.any(String),
    read_only: false,
    return_url: null,
  });
  expect((await call(session.session_key, 'GET', '/business')).body.data.businesses).toMatchObject([{ id: 1 }]);

  // API keys.
  const key = await ok(7, 'POST', '/keys', { name: 'Acme ERP', role: 'read' });
  expect(await visit(key.api_key)).toBe(200);
  const { api_key: _, ...shown } = key;
  expect(await ok(7, 'GET', '/keys')).toEqual({ keys: [{ ...shown, last_used_on: expect.any(String) }] });
  expect((await ok(7, 'POST', '/keys/revoke', { id: key.id })).key).toMatchObject({ revoked_at: expect.any(String) });
  expect(await visit(key.api_key)).toBe(401);
  expect(await send(8, 'POST', '/keys/revoke', { id: key.id })).toMatchObject({ status: 404 });

  // Not paid, and paid.
  expect(await ok(7, 'POST', '/payment', { paid: false })).toMatchObject({ status: 'suspended' });
  expect(await send(7, 'POST', '/work')).toMatchObject({
    status: 402,
    body: { message: 'This business is not active.' },
  });
  expect(await visit(rotated.token)).toBe(401);
  expect(await ok(7, 'POST', '/payment', { paid: true })).toMatchObject({ status: 'active' });
  expect(await visit(rotated.token)).toBe(200);

  // What was not recorded is, when the product stops: the one that was, and the one that was not.
  await stop();
  expect(await used()).toBe(1002);

  // The invoice run: all pages, though the first is not there at first.
  const month = new Date().toISOString().slice(0, 7);
  accidents.push('unavailable');
  expect(await running('usage', month).ended).toBe('user 7, business 1: 1002 uses\nuser 8, business 2: 0 uses\n');
  expect(await running('csv', month).ended).toBe('business_id,user_id,count\r\n1,7,1002\r\n2,8,0\r\n');

  // The end, though the first response is lost. The product has forgotten its customers meanwhile, and a sign-up finds them.
  const stopAgain = await start();
  expect(await ok(7, 'POST', '/signup', SIGNUP)).toEqual({ business: 1 });
  accidents.push('lost');
  expect(await ok(7, 'POST', '/cancel')).toEqual({ cancelled: true });
  expect(await visit(rotated.token)).toBe(401);
  expect((await dataOf('/business')).businesses).toMatchObject([{ id: 2 }]);
  expect((await dataOf('/user/7/keys')).keys).toEqual([]);
  await stopAgain();
  expect(accidents).toEqual([]);
});
