// Calls from pages in a real browser: which origins the service accepts with a token, and which responses a page can read.
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SAME_ORIGIN } from '../hostile/origins.ts';
import { ask, frameIn, OWN_PAGE, openWorld } from './world.ts';

type World = Awaited<ReturnType<typeof openWorld>>;
type Owned = Awaited<ReturnType<World['newBusiness']>>;

const closing: (() => unknown)[] = [];
let { api_key, file, origins, ports, service, passed, manage, newBusiness, visit } = {} as World;
beforeAll(async () => {
  ({ api_key, file, origins, ports, service, passed, manage, newBusiness, visit } = await openWorld(closing));
});
afterAll(async () => {
  for (const end of closing.reverse()) await end();
});

const refused = (origin: string) => ({
  status: 403,
  body: { status: false, message: `Origin ${origin} is not authorized for this business.` },
});
const DAY = '?from=2026-01-01&to=2026-01-01';
const REPORT = { status: 200, body: { status: true, data: { used: [{ date: '2026-01-01', count: 0 }] } } };

/** Requests the business's report from the page with its token. */
const report = (page: Page | Frame, { usage, token }: Owned) => ask(page, service + usage + DAY, token);

const at = (host: string, port: 'a' | 'b' = 'a') => `http://${host}:${ports[port]}`;
/** Sites, the pages that they let in, and pages that are refused. The ports are known only once the pages are served. */
const ORIGINS: Record<string, () => [sites: string[], accepted: string[], refused: string[]]> = {
  'an origin, and no other port, host or IP address': () => [
    [at('localhost'), 'https://shop.example'],
    [at('localhost')],
    [
      at('localhost', 'b'),
      ...['127.0.0.1', 'app.localhost', 'shop.example', 'localhost.example'].map((host) => at(host)),
    ],
  ],
  'any port of localhost, and no other host': () => [
    ['http://localhost:*'],
    [at('localhost'), at('localhost', 'b')],
    [at('127.0.0.1'), at('app.localhost')],
  ],
  'any port of any subdomain of localhost, but not localhost': () => [
    ['http://*.localhost:*'],
    [at('app.localhost'), at('a.b.localhost', 'b')],
    [at('localhost')],
  ],
  'any subdomain, but not the domain itself, another port or a lookalike': () => [
    [at('*.shop.example')],
    [at('www.shop.example'), at('pr-12.preview.shop.example')],
    [
      at('www.shop.example', 'b'),
      ...['shop.example', 'evilshop.example', 'www.shop.example.evil.example'].map((host) => at(host)),
    ],
  ],
  'a host that is written in other ways': () => [
    [`${at('B\u00fccher.example')}/shop`, at('LOCALHOST')],
    ['b\u00fccher.example', 'XN--BCHER-KVA.example', 'user:secret@LocalHost'].map((host) => at(host)),
    [],
  ],
};

test.each(Object.entries(ORIGINS))('a token accepts pages of %s, and the others can read why not', async (_, of) => {
  const [sites, accepted, strangers] = of();
  const business = await newBusiness(...sites);
  for (const origin of accepted) expect(await report(await visit(origin), business)).toEqual(REPORT);
  for (const origin of strangers) expect(await report(await visit(origin), business)).toEqual(refused(origin));
});

test('a frame of its registered page reads the report, but a sandboxed one (origin null) and a file: page are refused', async () => {
  const business = await newBusiness(origins.a);
  for (const path of ['/sandboxed-same-origin', '/srcdoc'])
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(REPORT);
  for (const path of ['/sandboxed', '/sandboxed-srcdoc', '/data'])
    expect(await report(frameIn(await visit(origins.a + path)), business)).toEqual(refused('null'));
  expect(await report(await visit(file), business)).toEqual(refused('null'));
});

test("a frame has its own origin: the token of a widget works in it if the widget's site is registered, whatever the page around it", async () => {
  const [widget, around] = [await newBusiness(origins.a), await newBusiness(origins.b)];
  const page = await visit(origins.b);
  await page.evaluate(
    (src) =>
      new Promise((loaded) => {
        const frame = Object.assign(document.createElement('iframe'), { src, onload: loaded });
        document.body.appendChild(frame);
      }),
    origins.a,
  );
  expect(await report(frameIn(page), widget)).toEqual(REPORT);
  expect(await report(page, widget)).toEqual(refused(origins.b));
  expect(await report(frameIn(page), around)).toEqual(refused(origins.a));
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
