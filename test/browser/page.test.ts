// The chart on other people's pages, and the page at /, as people meet them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { withDatabases } from '../../src/cli/open.ts';
import { access, type Business, dailyUsage } from '../../src/db/schema.ts';
import { openapi } from '../../src/openapi/document.ts';
import { freePort } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';
import { launch, startSite } from './chromium.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SHOTS = join(ROOT, 'dist/screenshots');
const NOW = new Date();
const STAMP = '2026-01-01T00:00:00.000000Z';

type Site = Awaited<ReturnType<typeof startSite>>;

let browser: Browser;
let service: string;
let server: ReturnType<typeof spawn>;
let registered: Site;
let stranger: Site;
let shop: Business;
let quiet: Business;

/** March 2026 has 31 days; on day n there are n uses, but none on the 7th. */
const MARCH = Array.from({ length: 31 }, (_, index) => index + 1).filter((day) => day !== 7);
const MARCH_TOTAL = MARCH.reduce((sum, day) => sum + day, 0);
const DAYS = 'from="2026-03-01" to="2026-03-31"';

beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  const state = newDatabase();
  const port = await freePort();
  service = `http://localhost:${port}`;
  [browser, registered, stranger] = await Promise.all([launch(), startSite(service), startSite(service)]);
  await withDatabases({ 'persist-to': state }, async ({ first }) => {
    const fields = {
      user_id: 9,
      main_domain: 'shop.example',
      site: 'https://shop.example',
      country_id: 1,
      business_size: 'small',
    };
    shop = await createBusiness(first, { ...fields, name: 'Tulip Shop' }, NOW);
    quiet = await createBusiness(first, { ...fields, name: 'Quiet Shop' }, NOW);
    const stamps = { created_at: STAMP, updated_at: STAMP };
    await first.db.insert(access).values({ business_id: shop.id, site: registered.url, ...stamps });
    const rows = MARCH.map((day) => ({
      business_id: shop.id,
      day: `2026-03-${`${day}`.padStart(2, '0')}`,
      count: day,
    }));
    await first.db.insert(dailyUsage).values(rows);
  });
  // As `npm run dev` starts it.
  const args = ['src/tools/dev.ts', '--port', `${port}`, '--persist-to', state];
  server = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore', detached: true });
  const deadline = Date.now() + 50_000;
  while ((await fetch(`${service}/`).catch(() => null)) === null) {
    if (Date.now() > deadline) throw new Error('npm run dev did not start');
    await new Promise((again) => setTimeout(again, 100));
  }
});

afterAll(async () => {
  await browser?.close();
  registered?.stop();
  stranger?.stop();
  if (server?.pid !== undefined && server.exitCode === null) {
    const ended = once(server, 'exit');
    process.kill(-server.pid);
    await ended;
  }
});

let page: Page;
let complaints: string[] = [];

/** A page of its own; what its console complains of fails the test, unless the test has looked at it. */
async function visit(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'Pacific/Auckland', ...options });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return page;
}

afterEach(async () => {
  const met = complaints;
  complaints = [];
  await page?.context().close();
  expect(met).toEqual([]);
});

/** What Chromium itself logs of every answer that is no success. */
function forgiveRefused(): void {
  complaints = complaints.filter(
    (text) => !text.startsWith('Failed to load resource: the server responded with a status of 4'),
  );
}

async function expectAccessible(): Promise<void> {
  // Evaluated by the debugger, which no Content-Security-Policy forbids.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary).join('; ')))`);
  expect(violations).toEqual([]);
}

const widthsAndSchemes = [320, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);
const sized = (width: number, colorScheme: 'light' | 'dark') => ({
  viewport: { width, height: 800 },
  deviceScaleFactor: width === 320 ? 2 : 1,
  colorScheme,
});
const shot = async (name: string, width: number, colorScheme: string) => {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
};

const tag = (business: Business, more = '') =>
  `<usage-chart business="${business.id}" token="${business.token}" ${more}></usage-chart>`;
const bars = () => page.locator('usage-chart .bar');
const message = () => page.locator('usage-chart .message').innerText();
const change = (name: string, value: string) =>
  page.evaluate(
    `document.querySelector('usage-chart').setAttribute(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  );

describe('the chart on a page of a registered origin', () => {
  test('draws as many bars as days, with the total, each as high as its count', async () => {
    registered.body = tag(shop, DAYS);
    await visit(registered.url);
    await bars().first().waitFor({ state: 'attached' });
    expect(await bars().count()).toBe(31);
    expect(await page.locator('usage-chart .total').innerText()).toBe(`${MARCH_TOTAL} uses`);
    expect(await page.locator('usage-chart .range').innerText()).toBe('Mar 1 – 31, 2026');
    const heights = (await page.evaluate(
      `[...document.querySelector('usage-chart').shadowRoot.querySelectorAll('.bar')].map((bar) => bar.getBBox().height)`,
    )) as number[];
    expect(heights[6]).toBe(0);
    expect((heights[29] as number) / (heights[14] as number)).toBeCloseTo(2, 1);
  });

  test('has a table of the same behind it', async () => {
    registered.body = tag(shop, DAYS);
    await visit(registered.url);
    const rows = page.locator('usage-chart tbody tr');
    await rows.first().waitFor({ state: 'attached' });
    expect(await rows.count()).toBe(31);
    expect(await rows.nth(1).allTextContents()).toEqual(['Mon, Mar 2, 20262']);
    expect(await page.locator('usage-chart tfoot tr').textContent()).toBe(`Total${MARCH_TOTAL}`);
    await expectAccessible();
  });

  test('draws again when a script changes from and to, once for both', async () => {
    registered.body = tag(shop, DAYS);
    await visit(registered.url);
    await bars().first().waitFor({ state: 'attached' });
    let calls = 0;
    page.on('request', (request) => {
      if (request.method() === 'GET') calls += 1;
    });
    const loaded = page.evaluate(`new Promise((resolve) => {
      const chart = document.querySelector('usage-chart');
      chart.addEventListener('load', ({ detail }) => resolve(detail));
      chart.from = '2026-03-05';
      chart.to = '2026-03-08';
    })`);
    expect(await loaded).toEqual({
      from: '2026-03-05',
      to: '2026-03-08',
      total: 19,
      used: [5, 6, 0, 8].map((count, index) => ({ date: `2026-03-0${index + 5}`, count })),
    });
    expect(await bars().count()).toBe(4);
    expect(await page.locator('usage-chart .total').innerText()).toBe('19 uses');
    expect(calls).toBe(1);
  });

  test('tells a day under the pointer, and at the keyboard', async () => {
    registered.body = tag(shop, DAYS);
    await visit(registered.url);
    await bars().first().waitFor({ state: 'attached' });
    const tip = page.locator('usage-chart .tip');
    expect(await tip.isVisible()).toBe(false);
    await bars().nth(19).hover();
    expect(await tip.innerText()).toBe('20 uses\nFri, Mar 20, 2026');
    await page.mouse.move(0, 0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await tip.innerText()).toBe('30 uses\nMon, Mar 30, 2026');
    expect(await page.locator('usage-chart [aria-live]').innerText()).toBe('Mon, Mar 30, 2026: 30 uses');
    await page.keyboard.press('Home');
    expect(await tip.innerText()).toBe('1 use\nSun, Mar 1, 2026');
    await page.keyboard.press('Escape');
    expect(await tip.isVisible()).toBe(false);
  });

  test('fits its place when that changes', async () => {
    registered.body = tag(shop, DAYS);
    await visit(registered.url, { viewport: { width: 1000, height: 700 } });
    await bars().first().waitFor({ state: 'attached' });
    await page.setViewportSize({ width: 320, height: 700 });
    const fits = `(() => { const chart = document.querySelector('usage-chart');
      return chart.shadowRoot.querySelector('svg').getBoundingClientRect().right <= chart.getBoundingClientRect().right; })()`;
    await page.waitForFunction(fits);
    expect(await bars().count()).toBe(31);
  });

  test('says that there was no usage', async () => {
    registered.body = tag(quiet, DAYS);
    await visit(registered.url);
    await bars().first().waitFor({ state: 'attached' });
    expect(await message()).toBe('No usage in these 31 days.');
    expect(await bars().count()).toBe(31);
    expect(await page.locator('usage-chart .total').innerText()).toBe('0 uses');
    await expectAccessible();
  });

  test('says in the words of the service what is wrong with the range, and recovers', async () => {
    registered.body = tag(shop, 'from="2026-02-30" to="2026-03-31"');
    await visit(registered.url);
    await page.locator('usage-chart [data-state=refused]').waitFor();
    expect(await message()).toBe('from must be a day from 1970-01-01 to 9999-12-31, written YYYY-MM-DD');
    await change('from', '2026-03-01');
    await bars().first().waitFor({ state: 'attached' });
    expect(await message()).toBe('');
    forgiveRefused();
  });

  test('offers to try again where the service cannot be reached', async () => {
    registered.body = tag(shop, DAYS);
    await visit('about:blank');
    await page.route('**/api/**', (route) => route.abort());
    await page.goto(registered.url);
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await message()).toContain('The usage could not be loaded: the service cannot be reached.');
    await expectAccessible();
    await page.unroute('**/api/**');
    await again.click();
    await bars().first().waitFor({ state: 'attached' });
    complaints = complaints.filter((text) => !text.includes('net::ERR_FAILED'));
  });

  test('asks for its attributes where they are missing', async () => {
    registered.body = '<usage-chart></usage-chart>';
    await visit(registered.url);
    await page.locator('usage-chart [data-state=incomplete]').waitFor();
    expect(await message()).toBe('This chart needs the attributes business and token.');
  });
});

test('on a page of another origin the chart shows the refusal of the service, and tells the page', async () => {
  stranger.body = tag(shop, DAYS);
  await visit('about:blank');
  await page.addInitScript(
    `addEventListener('error', (event) => { if (event.detail) window.failed = event.detail; }, true)`,
  );
  await page.goto(stranger.url);
  await page.locator('usage-chart [data-state=refused]').waitFor();
  const refusal = `Origin ${stranger.url} is not authorized for this business.`;
  expect(await message()).toBe(refusal);
  expect(await page.evaluate('window.failed')).toEqual({ status: 403, message: refusal });
  expect(await bars().count()).toBe(0);
  await expectAccessible();
  forgiveRefused();
});

describe('the page at /', () => {
  test('shows the demo business with nothing typed, and the tag to paste', async () => {
    await visit(service);
    await page.locator('#live .bar').first().waitFor({ state: 'attached' });
    expect(await page.locator('#live .bar').count()).toBe(30);
    const pasted = await page.locator('#tag').innerText();
    expect(pasted).toMatch(/token="bua_pk_0[0-9A-Za-z]{33}"><\/usage-chart>/);
    stranger.body = pasted;
    await page.goto(stranger.url);
    await bars().first().waitFor({ state: 'attached' });
    expect(await bars().count()).toBe(30);
  });

  test('copies the tag, and leads to the console', async () => {
    await visit(service);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#tag').innerText());
    await page.getByRole('link', { name: 'Console for owners' }).click();
    await page.getByLabel('API key').waitFor();
  });

  test('as it is deployed, draws any business of which the token is typed', async () => {
    await visit('about:blank');
    await page.route(`${service}/`, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(/<usage-chart id="live"[^>]*>/, '<usage-chart id="live" hidden>');
      await route.fulfill({ response: answer, body });
    });
    await page.goto(service);
    await page.getByLabel('Business id').fill(`${quiet.id}`);
    await page.getByLabel('Business token').fill(quiet.token);
    await page.getByRole('button', { name: 'Draw it' }).click();
    await page.locator('#live [data-state=empty]').waitFor();
    expect(await page.locator('#tag').innerText()).toContain(quiet.token);
    await expectAccessible();
  });

  test('works without JavaScript but for the chart', async () => {
    await visit(service, { javaScriptEnabled: false });
    expect(await page.locator('noscript').first().innerText()).toContain('The chart needs JavaScript.');
    expect(await page.locator('form:visible').count()).toBe(0);
    expect(await page.locator('.operation').count()).toBe(
      Object.values(openapi().paths ?? {}).flatMap(({ parameters: _, ...operations }) => Object.keys(operations))
        .length,
    );
    expect(await page.locator('.operation pre').allInnerTexts()).toContainEqual(
      expect.stringContaining('curl "$API/business/usage/$BUSINESS?from='),
    );
  });
});

describe.each(widthsAndSchemes)('at $width px, $colorScheme,', ({ width, colorScheme }) => {
  test('the page at / is accessible and fits', async () => {
    await visit(service, sized(width, colorScheme));
    await page.locator('#live .bar').first().waitFor({ state: 'attached' });
    await expectAccessible();
    await page.locator('#live .plot').focus();
    for (let day = 0; day < 10; day++) await page.keyboard.press('ArrowLeft');
    await page.locator('#chart').screenshot({ path: join(SHOTS, `live-${width}-${colorScheme}.png`) });
    await shot('page', width, colorScheme);
  });

  test('the chart fits in all its states', async () => {
    registered.body = `<style>usage-chart { margin: 16px 0 }</style>
      ${tag(shop, DAYS)} ${tag(shop, 'from="2026-03-29" to="2026-03-31"')} ${tag(quiet, DAYS)} ${tag(shop, 'from="x"')}
      <usage-chart></usage-chart>`;
    await visit(registered.url, sized(width, colorScheme));
    await page.locator('usage-chart .bar').nth(64).waitFor({ state: 'attached' });
    await page.locator('usage-chart [data-state=refused]').waitFor();
    await expectAccessible();
    await shot('chart', width, colorScheme);
    forgiveRefused();
  });
});
