// What pages in a real browser can do with a token, and what they are told.
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** What the page hears when it asks for the report of the business with its token. */
const report = (page: Page | Frame, { usage, token }: Owned) => ask(page, service + usage + DAY, token);

test('a registered page reads its report', async () => {
  const business = await newBusiness(origins.a);
  expect(await report(await visit(origins.a), business)).toEqual(REPORT);
});

test('a page of another port, host or address is refused, and can read why', async () => {
  const business = await newBusiness(origins.a, 'https://shop.example');
  const hosts = ['127.0.0.1', 'app.localhost', 'shop.example', 'localhost.example'];
  for (const origin of [origins.b, ...hosts.map((host) => `http://${host}:${ports.a}`)]) {
    expect(await report(await visit(origin), business)).toEqual(refused(origin));
  }
});

test('a page of any port of localhost passes once that is registered, and no other host', async () => {
  const business = await newBusiness('http://localhost:*');
  for (const origin of [origins.a, origins.b]) expect(await report(await visit(origin), business)).toEqual(REPORT);
  for (const origin of [`http://127.0.0.1:${ports.a}`, `http://app.localhost:${ports.a}`]) {
    expect(await report(await visit(origin), business)).toEqual(refused(origin));
  }
});

test('pages of any subdomain pass once they are registered, and neither the domain nor its namesakes', async () => {
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

test('a page is identified by the origin that its browser serializes, however its address was written', async () => {
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

test('a sandboxed frame of a registered page (origin null) is refused, and can read why', async () => {
  const business = await newBusiness(origins.a);
  for (const path of ['/sandboxed', '/sandboxed-srcdoc', '/data']) {
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(refused('null'));
  }
});

test('a frame that keeps the origin of its registered page reads its report', async () => {
  const business = await newBusiness(origins.a);
  for (const path of ['/sandboxed-same-origin', '/srcdoc']) {
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(REPORT);
  }
});

test('a file: page is refused, and can read why', async () => {
  expect(await report(await visit(file), await newBusiness(origins.a))).toEqual(refused('null'));
});

test('a page can read every other refusal too', async () => {
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
    const heard = await ask(page, service + path, credential, init);
    expect(heard).toEqual({ status, body: expect.objectContaining({ message: expect.any(String) }) });
  }
});

test('the preflight is sent without the token, answered with 204, and then cached', async () => {
  const business = await newBusiness(origins.a);
  const page = await visit(origins.a);
  expect(await report(page, business)).toEqual(REPORT);
  expect(exchanges(business.usage)).toEqual(['OPTIONS 204', 'GET 200']);
  const preflight = passed.find(({ method, path }) => method === 'OPTIONS' && path.startsWith(business.usage));
  expect(preflight?.headers).not.toHaveProperty('authorization');
  expect(preflight?.headers).toHaveProperty('access-control-request-headers', 'authorization');
  // Chromium keeps it for two hours, however long it is told to.
  for (let again = 0; again < 3; again++) expect(await report(page, business)).toEqual(REPORT);
  expect(exchanges(business.usage)).toEqual(['OPTIONS 204', 'GET 200', 'GET 200', 'GET 200', 'GET 200']);
});

test('the preflight needs no database; a failure of the database is a status that a page can read', async () => {
  const broken = await startRecorded(newFolder(), closing); // it has no tables
  const heard = await ask(await visit(origins.a), `${broken.origin}/api/v1/business/usage/1`, 'x'.repeat(24));
  expect(heard).toEqual({ status: 500, body: { message: 'Server Error' } });
  expect(broken.exchanges('/')).toEqual(['OPTIONS 204', 'GET 500']);
});

test('a page may send headers of its own, and an Idempotency-Key', async () => {
  const { usage, token } = await newBusiness(origins.a);
  const page = await visit(origins.a);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const init = { method: 'POST', headers: { 'Idempotency-Key': 'order-1', traceparent } };
  const counted = { status: true, data: { date: expect.any(String), count: 1 } };
  for (const attempt of ['first', 'repeated']) {
    expect(await ask(page, service + usage, token, init), attempt).toEqual({ status: 200, body: counted });
  }
});

test('a page that insists on sending cookies cannot read the answer', async () => {
  const { usage, token } = await newBusiness(origins.a);
  const heard = await ask(await visit(origins.a), service + usage + DAY, token, { credentials: 'include' });
  expect(heard).toEqual({ failure: 'TypeError' });
});

test('adding and removing a domain takes effect with the next request', async () => {
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

test('a page can manage domains with an API key where it is registered, and is told to register where it is not', async () => {
  const business = await newBusiness(origins.a);
  const stranger = await visit(origins.b);
  expect(await ask(stranger, service + business.access, api_key)).toEqual(refused(origins.b, ADVICE));
  const init = { method: 'POST', headers: JSON_BODY, body: JSON.stringify({ sites: [origins.b] }) };
  expect(await ask(await visit(origins.a), service + business.access, api_key, init)).toHaveProperty('status', 200);
  expect(await report(stranger, business)).toEqual(REPORT);
});

test("a page of the service's own host sends no Origin with a GET: an API key passes, a token only once it is registered", async () => {
  const { usage, access, token } = await newBusiness('https://shop.example');
  const page = await visit(service + OWN_PAGE);
  expect(await ask(page, usage + DAY, api_key)).toEqual(REPORT);
  const call = passed.findLast(({ path }) => path.startsWith(usage));
  expect([call?.headers.origin, call?.headers['sec-fetch-site']]).toEqual([undefined, 'same-origin']);
  expect(await ask(page, usage + DAY, token)).toEqual(refused(service));
  expect(await ask(page, usage, token, { method: 'POST' })).toEqual(refused(service));
  await manage('POST', access, { sites: [service] });
  expect(await ask(page, usage + DAY, token)).toEqual(REPORT);
});
