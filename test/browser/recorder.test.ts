// usage-recorder.js in a real browser: every use counts once, whatever happens on the way (docs/embedding.md, "Recording from a page").
// The functions that it passes to `evaluate` run in the page, so this program sees the types of the DOM.
/// <reference lib="dom" />
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import { eventually, startSite } from './chromium.ts';
import { openWorld } from './world.ts';

type World = Awaited<ReturnType<typeof openWorld>>;
type Owned = Awaited<ReturnType<World['newBusiness']>>;
type Recording = { record: (id?: string) => Promise<unknown>; answers: unknown[] };
declare const window: Window & Recording & { start: (id?: string) => void; waits: boolean };

const closing: (() => unknown)[] = [];
let world = {} as World;
beforeAll(async () => {
  world = await openWorld(closing);
});
afterAll(async () => {
  for (const end of closing.reverse()) await end();
});

/** Opens a page with the recorder. `window.start()` records, and `window.answers` are the results so far. */
async function open(context: BrowserContext, { id, token }: Owned, origin = world.origins.a): Promise<Page> {
  const page = await context.newPage();
  await page.goto(origin);
  // A text, because vitest rewrites an `import` in a function.
  await page.evaluate(`(async () => {
    const { recorder } = await import('${world.service}/v1/usage-recorder.js');
    window.answers = [];
    window.record = recorder({ business: ${id}, token: '${token}' });
    const add = (answer) => window.answers.push(answer);
    window.start = (id) => void window.record(id).then(add, add);
  })()`);
  return page;
}
const start = (page: Page, id?: string) => page.evaluate((id) => window.start(id), id);
const answersOf = (page: Page) => page.evaluate(() => window.answers);
/** What happens when a browser that was offline is online again. */
const wake = (page: Page) => page.evaluate(() => void dispatchEvent(new Event('online')));
const stored = (page: Page) => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('recorder')));
const isUse = (url: URL) => url.pathname.includes('/business/usage/');
/** Handles the next request of the page that records a use, and lets the later ones pass. */
async function once(page: Page, handle: (route: Route) => unknown): Promise<void> {
  let left = 1;
  await page.route(isUse, async (route) => {
    if (route.request().method() !== 'POST' || left-- <= 0) return route.continue();
    await handle(route);
  });
}
const total = async ({ usage }: Owned) => {
  const { used } = (await world.manage('GET', usage)) as unknown as { used: { count: number }[] };
  return used.reduce((sum, { count }) => sum + count, 0);
};
/** Expects so many uses, and that nothing is left to send. */
async function expectCounted(business: Owned, page: Page, uses: number): Promise<void> {
  await eventually(() => stored(page)).toEqual([]);
  expect(await total(business)).toBe(uses);
}
async function fixture() {
  const business = await world.newBusiness(world.origins.a);
  const first = await world.visit(world.origins.a);
  return { business, context: first.context(), page: await open(first.context(), business) };
}
const counted = (count: number) => ({ date: expect.any(String), count });

test('counts each use once, and a repeated id too', async () => {
  const { business, page } = await fixture();
  for (const id of [undefined, undefined, 'booking-17', 'booking-17']) await start(page, id);
  await eventually(() => answersOf(page)).toHaveLength(4);
  await expectCounted(business, page, 3);
  const request = world.passed.find(({ path, method }) => path === business.usage && method === 'POST');
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${business.token}`, 'content-length': '0' });
  expect(request?.headers).toMatchObject({ origin: world.origins.a });
  expect([request?.headers.cookie, request?.headers.referer]).toEqual([undefined, undefined]);
});

test('sends a use again whose response was lost, with its time, and it counts once', async () => {
  const { business, page } = await fixture();
  await once(page, async (route) => {
    await route.fetch();
    await route.abort();
  });
  const sent = page.waitForRequest((request) => request.postData() !== null);
  await start(page);
  await eventually(() => total(business)).toBe(1);
  await wake(page);
  expect(JSON.parse((await sent).postData() ?? '')).toEqual({ at: expect.stringMatching(/^20\d\d-.*Z$/) });
  await eventually(() => answersOf(page)).toEqual([{ ...counted(1), duplicate: true }]);
  await expectCounted(business, page, 1);
});

test('counts once a use whose page was closed during the request', async () => {
  const { business, context, page } = await fixture();
  const sent = page.waitForRequest((request) => isUse(new URL(request.url())));
  await once(page, () => {});
  await start(page);
  await sent;
  await page.close();
  await expectCounted(business, await open(context, business), 1);
});

test('stores at most 100 uses while the browser is offline, and sends the others while the page is open', async () => {
  const { business, context, page } = await fixture();
  await context.setOffline(true);
  await page.evaluate(() => {
    for (let use = 0; use < 102; use++) window.start();
  });
  expect(await stored(page)).toHaveLength(100);
  await context.setOffline(false);
  await wake(page);
  await eventually(() => answersOf(page)).toHaveLength(102);
  await expectCounted(business, page, 102);
});

/** Records a use whose first request fails. `waits` is true when a timer other than that of a request runs. Only an event makes the page send it again, because its timers do not run. */
async function failOnce(page: Page): Promise<void> {
  await page.evaluate(() =>
    Object.assign(window, { setTimeout: (_: unknown, ms: number) => (window.waits ||= ms !== 30_000) }),
  );
  await once(page, (route) => route.abort());
  await start(page);
  await eventually(() => page.evaluate(() => window.waits)).toBe(true);
}

test.each([
  ['the browser is online again', () => void dispatchEvent(new Event('online'))],
  ['the page is visible again', () => void document.dispatchEvent(new Event('visibilitychange'))],
  ['the page is shown again', () => void dispatchEvent(new Event('pageshow'))],
])('sends a use again when %s', async (_, happen) => {
  const { business, page } = await fixture();
  await failOnce(page);
  await page.evaluate(happen);
  await eventually(() => answersOf(page)).toEqual([counted(1)]);
  await expectCounted(business, page, 1);
});

test('rejects a use that could not be recorded within 24 hours', async () => {
  const { business, page } = await fixture();
  await failOnce(page);
  await page.evaluate(() => {
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      clock.now = () => now() + 86_400_000;
    }
  });
  await wake(page);
  const message = 'The use could not be recorded within 24 hours.';
  await eventually(() => answersOf(page)).toEqual([{ status: 0, code: 'expired', message }]);
  await expectCounted(business, page, 0);
});

test('sends a use that is recorded while the page closes', async () => {
  const { business, context, page } = await fixture();
  await page.evaluate(() => addEventListener('pagehide', () => window.start()));
  await page.goto('about:blank');
  await eventually(() => total(business)).toBe(1);
  await expectCounted(business, await open(context, business), 1);
});

test('works in several tabs, which also send what another one left', async () => {
  const { business, context, page } = await fixture();
  const other = await open(context, business);
  await context.setOffline(true);
  for (const tab of [page, other, page]) await start(tab);
  await page.close();
  await context.setOffline(false);
  await wake(other);
  const third = await open(context, business);
  await start(third);
  await eventually(() => answersOf(third)).toHaveLength(1);
  await expectCounted(business, other, 4);
});

test('sends again after a 425, and after a success that is not of the service', async () => {
  const { business, page } = await fixture();
  const headers = { 'Access-Control-Allow-Origin': '*' };
  for (const [count, status] of [425, 200].entries()) {
    await once(page, (route) => route.fulfill({ status, headers, body: '<html>' }));
    await start(page);
    await wake(page);
    await eventually(() => answersOf(page)).toHaveLength(count + 1);
  }
  await expectCounted(business, page, 2);
});

test('waits with every use as long as a 429 asks, and then counts', async () => {
  const { business, page } = await fixture();
  const exposed = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Error-Code,Retry-After' };
  const headers = { ...exposed, 'Retry-After': '2', 'Error-Code': 'rate_limited' };
  let posts = 0;
  page.on('request', (request) => (posts += request.method() === 'POST' ? 1 : 0));
  await once(page, (route) => route.fulfill({ status: 429, headers, json: { message: 'Too Many Attempts.' } }));
  await page.evaluate(() => {
    const original = setTimeout;
    const setTimeoutAndTell = (work: () => void, ms: number) => {
      window.waits ||= ms !== 30_000;
      return original(work, ms);
    };
    Object.assign(window, { setTimeout: setTimeoutAndTell });
  });
  const asked = Date.now();
  await start(page);
  await eventually(() => page.evaluate(() => window.waits)).toBe(true);
  for (let use = 0; use < 3; use++) await start(page);
  await wake(page);
  expect(posts).toBe(1);
  await eventually(() => answersOf(page)).toHaveLength(4);
  expect(Date.now() - asked).toBeGreaterThan(1900);
  await expectCounted(business, page, 4);
});

test('rejects an id that cannot be sent at once, takes an event for no id, and a base URL may end with a slash', async () => {
  const { business, page } = await fixture();
  await start(page, 'order-€');
  const message = 'The id, token or URL cannot be sent.';
  await eventually(() => answersOf(page)).toEqual([{ status: 0, code: 'invalid', message }]);
  await page.evaluate(`(async () => {
    const { recorder } = await import('${world.service}/v1/usage-recorder.js');
    const record = recorder({ business: ${business.id}, token: '${business.token}', baseUrl: '${world.service}/' });
    for (let press = 0; press < 2; press++) await record(new MouseEvent('click'));
  })()`);
  await expectCounted(business, page, 2);
});

test('rejects a use that the service refuses, with the reason, and does not send it again', async () => {
  const { business, context, page } = await fixture();
  const stranger = await open(context, business, world.origins.b);
  await start(stranger);
  const refusal = `Origin ${world.origins.b} is not authorized for this business.`;
  await eventually(() => answersOf(stranger)).toEqual([
    { status: 403, code: 'origin_not_authorized', message: refusal },
  ]);
  expect(await stored(stranger)).toHaveLength(1);
  expect(await total(business)).toBe(0);
  await world.operate('PATCH', `/api/v1/business/${business.id}`, { daily_limit: 1 });
  for (const answers of [1, 2]) {
    await start(page);
    await eventually(() => answersOf(page)).toHaveLength(answers);
  }
  const message = 'This business has used its 1 use for today.';
  expect((await answersOf(page))[1]).toEqual({ status: 429, code: 'limit_reached', message });
  await expectCounted(business, page, 1);
});

test('counts a use while storage is forbidden, also after a failure', async () => {
  const { business, page } = await fixture();
  await page.evaluate(() => {
    const forbid = () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError');
    };
    Object.defineProperty(globalThis, 'localStorage', { get: forbid });
  });
  await once(page, (route) => route.abort());
  await start(page);
  await start(page);
  await wake(page);
  await eventually(() => answersOf(page)).toHaveLength(2);
  expect(await total(business)).toBe(2);
});

test('counts a late use without its time if the clock is wrong', async () => {
  const { business, page } = await fixture();
  await page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 3 * 86_400_000;
  });
  await once(page, (route) => route.abort());
  await start(page);
  await eventually(() => answersOf(page)).toEqual([counted(1)]);
  await expectCounted(business, page, 1);
});

test('drops stored uses that are older than 24 hours or not its own', async () => {
  const { business, context, page } = await fixture();
  await page.evaluate(
    ([service, usage]) => {
      for (const value of ['', 'garbage', '{}', `${Date.now() - 86_400_001}`, `${Date.now() + 86_460_000}`])
        localStorage.setItem(`usage-recorder ${service}${usage} id-${value.length}-${value}`, value);
    },
    [world.service, business.usage] as const,
  );
  await expectCounted(business, await open(context, business), 0);
});

test('counts the bookings of docs/examples/page.html', async () => {
  const site = await startSite(world.service);
  closing.push(site.stop);
  const business = await world.newBusiness(site.url);
  site.policy = '';
  site.body = readFileSync('docs/examples/page.html', 'utf8')
    .replace('https://usage.example.com', world.service)
    .replace('business: 1', `business: ${business.id}`)
    .replace('bua_pk_…', business.token);
  const page = await world.visit(site.url);
  await page.getByRole('button', { name: 'Book a table' }).click();
  await eventually(() => page.getByRole('status').textContent()).toBe('Booked. Bookings today: 1.');
  await world.operate('PATCH', `/api/v1/business/${business.id}`, { daily_limit: 1 });
  await page.getByRole('button', { name: 'Book a table' }).click();
  await eventually(() => page.getByRole('status').textContent()).toBe('Fully booked.');
});

test('counts a use of the page in README.md, opened as a local file', async () => {
  const business = await world.newBusiness();
  const [, html = ''] = /```html\n(<script type="module">.*?)```/s.exec(readFileSync('README.md', 'utf8')) ?? [];
  const file = join(newFolder(), 'page.html');
  const own = html.replace('http://localhost:8787', world.service).replace('bua_pk_…', business.token);
  writeFileSync(file, own.replace('business: 1', `business: ${business.id}`));
  const page = await world.visit(pathToFileURL(file).href);
  await eventually(() => page.locator('body').textContent()).toContain('Uses today: 1');
});

test('waits while the page is prerendered', async () => {
  const { business, context } = await fixture();
  await context.addInitScript(() => Object.defineProperty(document, 'prerendering', { value: true, writable: true }));
  const page = await open(context, business);
  await start(page);
  await page.waitForTimeout(300);
  expect(await total(business)).toBe(0);
  await page.evaluate(() => {
    Object.assign(document, { prerendering: false });
    document.dispatchEvent(new Event('prerenderingchange'));
  });
  await eventually(() => answersOf(page)).toEqual([counted(1)]);
});

test('works in an old browser on a page without HTTPS', async () => {
  const { business, context } = await fixture();
  await context.addInitScript(() => {
    Object.assign(AbortSignal, { timeout: undefined });
    Object.defineProperty(crypto, 'randomUUID', { value: undefined });
  });
  const page = await open(context, business);
  await start(page);
  await eventually(() => answersOf(page)).toEqual([counted(1)]);
});

test('counts uses of a module worker, which has neither a document nor storage', async () => {
  const { business, page } = await fixture();
  const answer = await page.evaluate(`new Promise((resolve) => {
    const code = \`import { recorder } from '${world.service}/v1/usage-recorder.js';
      const record = recorder({ business: ${business.id}, token: '${business.token}' });
      record('one').then(postMessage);\`;
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(message);
  })`);
  expect(answer).toEqual(counted(1));
});

test('counts once a use that was recorded while the clock was wrong, and then corrected', async () => {
  for (const days of [-2, 2]) {
    const { business, page } = await fixture();
    await page.evaluate((days) => {
      const now = Date.now;
      const ahead = days * 86_400_000;
      Date.now = () => now() + ahead;
      addEventListener('online', () => (Date.now = now), { once: true, capture: true });
    }, days);
    await failOnce(page);
    await wake(page);
    await eventually(() => answersOf(page)).toEqual([counted(1)]);
    await expectCounted(business, page, 1);
  }
});
