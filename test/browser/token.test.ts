// Calls from pages in a real browser: which origins the service accepts with a token, and which responses a page can read.
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SAME_ORIGIN } from '../hostile/origins.ts';
import { newFolder } from '../node/state.ts';
import { ask, frameIn, type Init, OWN_PAGE, openWorld, startRecorded } from './world.ts';

type World = Awaited<ReturnType<typeof openWorld>>;
type Owned = Awaited<ReturnType<World['newBusiness']>>;

const closing: (() => unknown)[] = [];
let { api_key, file, origins, ports, service, passed, exchanges, manage, newBusiness, visit } = {} as World;
beforeAll(async () => {
  ({ api_key, file, origins, ports, service, passed, exchanges, manage, newBusiness, visit } =
    await openWorld(closing));
});
afterAll(async () => {
  for (const end of closing.reverse()) await end();
});

const refused = (origin: string, advice = '') => ({
  status: 403,
  body: { status: false, message: `Origin ${origin} is not authorized for this business.${advice}` },
});
const ADVICE = ' Register it from a server, or from an authorized page.';
const DAY = '?from=2026-01-01&to=2026-01-01';
const REPORT = { status: 200, body: { status: true, data: { used: [{ date: '2026-01-01', count: 0 }] } } };
const JSON_BODY = { 'Content-Type': 'application/json' };

/** Requests the business's report from the page with its token. */
const report = (page: Page | Frame, { usage, token }: Owned) => ask(page, service + usage + DAY, token);

test('a page on a registered origin reads the report', async () => {
  const business = await newBusiness(origins.a);
  expect(await report(await visit(origins.a), business)).toEqual(REPORT);
});

test('a page on another port, hostname or IP address is refused, and can read why', async () => {
  const business = await newBusiness(origins.a, 'https://shop.example');
  const hosts = ['127.0.0.1', 'app.localhost', 'shop.example', 'localhost.example'];
  for (const origin of [origins.b, ...hosts.map((host) => `http://${host}:${ports.a}`)]) {
    expect(await report(await visit(origin), business)).toEqual(refused(origin));
  }
});

test('http://localhost:* accepts pages on any port of localhost, and no other host', async () => {
  const business = await newBusiness('http://localhost:*');
  for (const origin of [origins.a, origins.b]) expect(await report(await visit(origin), business)).toEqual(REPORT);
  for (const origin of [`http://127.0.0.1:${ports.a}`, `http://app.localhost:${ports.a}`]) {
    expect(await report(await visit(origin), business)).toEqual(refused(origin));
  }
});

test('http://*.localhost:* accepts pages on any port of any subdomain of localhost, but not on localhost', async () => {
  const business = await newBusiness('http://*.localhost:*');
  for (const origin of [`http://app.localhost:${ports.a}`, `http://a.b.localhost:${ports.b}`]) {
    expect(await report(await visit(origin), business)).toEqual(REPORT);
  }
  expect(await report(await visit(origins.a), business)).toEqual(refused(origins.a));
});

test('a wildcard accepts pages on any subdomain, but not on the domain itself or on lookalikes', async () => {
  const business = await newBusiness(`http://*.shop.example:${ports.a}`);
  for (const host of ['www.shop.example', 'pr-12.preview.shop.example']) {
    expect(await report(await visit(`http://${host}:${ports.a}`), business)).toEqual(REPORT);
  }
  const strangers = ['shop.example', 'evilshop.example', 'www.shop.example.evil.example'];
  for (const origin of [
    ...strangers.map((host) => `http://${host}:${ports.a}`),
    `http://www.shop.example:${ports.b}`,
  ]) {
    expect(await report(await visit(origin), business)).toEqual(refused(origin));
  }
});

test('a page is identified by the origin that its browser serializes, however its URL is written', async () => {
  const business = await newBusiness(`http://B\u00fccher.example:${ports.a}/shop`, `http://LOCALHOST:${ports.a}`);
  for (const host of ['b\u00fccher.example', 'XN--BCHER-KVA.example', 'user:secret@LocalHost']) {
    expect(await report(await visit(`http://${host}:${ports.a}/`), business)).toEqual(REPORT);
  }
});

test('a page that hides its referrer is still identified', async () => {
  const business = await newBusiness(origins.a);
  expect(await report(await visit(`${origins.a}/no-referrer`), business)).toEqual(REPORT);
  const call = passed.find(({ method, path }) => method === 'GET' && path.startsWith(business.usage));
  expect(call?.headers.origin).toBe(origins.a);
  expect(call?.headers.referer).toBeUndefined();
});

test('a sandboxed frame in a registered page (origin null) is refused, and can read why', async () => {
  const business = await newBusiness(origins.a);
  for (const path of ['/sandboxed', '/sandboxed-srcdoc', '/data']) {
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(refused('null'));
  }
});

test('a frame with the same origin as its registered page reads the report', async () => {
  const business = await newBusiness(origins.a);
  for (const path of ['/sandboxed-same-origin', '/srcdoc']) {
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(REPORT);
  }
});

test('a file: page is refused, and can read why', async () => {
  expect(await report(await visit(file), await newBusiness(origins.a))).toEqual(refused('null'));
});

test('a registered page can read every error response', async () => {
  const { usage, access, token } = await newBusiness(origins.a);
  const page = await visit(origins.a);
  const add = (body: string): Init => ({ method: 'POST', headers: JSON_BODY, body });
  const refusals: [status: number, path: string, credential: string, init?: Init][] = [
    [401, usage, 'unknown'],
    [403, access, token],
    [404, '/api/v1/unknown', token],
    [404, `${access}/999999999`, api_key, { method: 'DELETE' }],
    [413, access, api_key, add(' '.repeat(1024 * 1024 + 1))],
    [422, `${usage}?from=2026-02-30`, token],
    [422, access, api_key, add('{"sites":["null"]}')],
  ];
  for (const [status, path, credential, init] of refusals) {
    const response = await ask(page, service + path, credential, init);
    expect(response).toEqual({ status, body: expect.objectContaining({ message: expect.any(String) }) });
  }
});

test('a preflight carries no token, gets 204, and is cached by the browser', async () => {
  const business = await newBusiness(origins.a);
  const page = await visit(origins.a);
  expect(await report(page, business)).toEqual(REPORT);
  expect(exchanges(business.usage)).toEqual(['OPTIONS 204', 'GET 200']);
  const preflight = passed.find(({ method, path }) => method === 'OPTIONS' && path.startsWith(business.usage));
  expect(preflight?.headers).not.toHaveProperty('authorization');
  expect(preflight?.headers).toHaveProperty('access-control-request-headers', 'authorization');
  // Chromium caches a preflight for at most two hours.
  for (let again = 0; again < 3; again++) expect(await report(page, business)).toEqual(REPORT);
  expect(exchanges(business.usage)).toEqual(['OPTIONS 204', 'GET 200', 'GET 200', 'GET 200', 'GET 200']);
});

test('a preflight needs no database, and a page can read the status of a database failure', async () => {
  const broken = await startRecorded(newFolder(), closing); // its database has no tables
  const response = await ask(await visit(origins.a), `${broken.origin}/api/v1/business/usage/1`, 'x'.repeat(24));
  expect(response).toEqual({ status: 500, body: { message: 'Server Error' } });
  expect(broken.exchanges('/')).toEqual(['OPTIONS 204', 'GET 500']);
});

test('a page may send custom headers and an Idempotency-Key', async () => {
  const { usage, token } = await newBusiness(origins.a);
  const page = await visit(origins.a);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const init = { method: 'POST', headers: { 'Idempotency-Key': 'order-1', traceparent } };
  const counted = { date: expect.any(String), count: 1 };
  for (const data of [counted, { ...counted, duplicate: true }]) {
    expect(await ask(page, service + usage, token, init)).toEqual({ status: 200, body: { status: true, data } });
  }
});

test('a page that sends credentials such as cookies cannot read the response', async () => {
  const { usage, token } = await newBusiness(origins.a);
  const response = await ask(await visit(origins.a), service + usage + DAY, token, { credentials: 'include' });
  expect(response).toEqual({ failure: 'TypeError' });
});

test('adding or removing a domain takes effect with the next request', async () => {
  const business = await newBusiness('https://shop.example');
  const page = await visit(origins.a);
  expect(await report(page, business)).toEqual(refused(origins.a));
  const { access_list } = await manage('POST', business.access, { sites: [origins.a] });
  expect(await report(page, business)).toEqual(REPORT);
  await manage('DELETE', `${business.access}/${access_list[1]?.id}`);
  expect(await report(page, business)).toEqual(refused(origins.a));
  await manage('DELETE', business.access);
  expect(await report(page, business)).toEqual(REPORT);
});

test('a page with an API key manages domains if its origin is registered, and otherwise reads how to register it', async () => {
  const business = await newBusiness(origins.a);
  const stranger = await visit(origins.b);
  expect(await ask(stranger, service + business.access, api_key)).toEqual(refused(origins.b, ADVICE));
  const init = { method: 'POST', headers: JSON_BODY, body: JSON.stringify({ sites: [origins.b] }) };
  expect(await ask(await visit(origins.a), service + business.access, api_key, init)).toHaveProperty('status', 200);
  expect(await report(stranger, business)).toEqual(REPORT);
});

test("a page on the service's own host sends no Origin with a GET, and its token works only if the service's origin is registered", async () => {
  const { usage, access, token } = await newBusiness('https://shop.example');
  const page = await visit(service + OWN_PAGE);
  expect(await ask(page, usage + DAY, api_key)).toEqual(REPORT);
  const call = passed.findLast(({ path }) => path.startsWith(usage));
  expect([call?.headers.origin, call?.headers['sec-fetch-site']]).toEqual([undefined, 'same-origin']);
  expect(await ask(page, usage + DAY, token)).toEqual({ status: 403, body: SAME_ORIGIN });
  expect(await ask(page, usage, token, { method: 'POST' })).toEqual(refused(service));
  await manage('POST', access, { sites: [service] });
  expect(await ask(page, usage + DAY, token)).toEqual(REPORT);
});
