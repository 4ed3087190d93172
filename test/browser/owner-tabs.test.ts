// The views of a business in the console: their URLs, the focus, the header above them, refreshing, and the number of sequential requests
// until a view is complete.
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { TABS } from '../../src/page/owner/tabs.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, signIn } from './console.ts';
import { failWith, goTo, openTab, startClock, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button } = stepsOn(() => page);

const focused = () => page.evaluate('document.activeElement?.textContent?.trim()');
const title = (room: string) => `${room.charAt(0).toUpperCase()}${room.slice(1)}`;

test('each view has a URL, from which a reload, Back or a link restores the view', async () => {
  page = await openTab(world, world.tulip, 'usage', world.keys.owner);
  const address = () => page.evaluate('location.hash');
  expect(await address()).toBe(`#/${world.tulip.id}/usage`);
  for (const room of ['domains', 'token', 'changes'] as const) {
    await goTo(page, room);
    expect(await address()).toBe(`#/${world.tulip.id}/${room}`);
    await eventually(focused).toContain(room === 'domains' ? 'Recently refused' : title(room));
    expect(await page.title()).toBe(`${title(room)} · Tulip Shop · Business Usage and Access`);
  }
  expect(await page.locator('.rooms [aria-current=page]').innerText()).toBe('Changes');
  await page.reload();
  await page.locator('.entry').first().waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: /^Token/ }).waitFor();
  await page.evaluate(`location.hash = '#/${world.tulip.id}/elsewhere'`);
  await page.getByRole('heading', { name: 'Usage' }).waitFor();
});

test('the first Tab focuses the link that skips to the content', async () => {
  page = await openTab(world, world.tulip, 'domains', world.keys.owner);
  await page.reload();
  await page.getByText('Would this origin pass?').waitFor();
  await page.mouse.click(2, 2); // so that Tab starts at the top
  await page.keyboard.press('Tab');
  await eventually(focused).toBe('Skip to content');
  expect(await page.evaluate(`getComputedStyle(document.activeElement).clipPath`)).toBe('none');
  await page.keyboard.press('Enter');
  await eventually(focused).toBe('Recently refused');
  expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('none'); // a title has no ring
});

describe('the header of a business', () => {
  test('says that a refresh failed, keeps what is there, and tries again by itself', async () => {
    const business = await world.spare('https://a.example');
    page = await openTab(world, business, 'domains');
    const failed = page.getByRole('alert').filter({ hasText: /^Could not refresh\. Showing \d+:\d+/ });
    for (const [answer, recover] of [
      [failWith(503, 'x'), () => page.clock.fastForward(10_000)], // `Retry-After` is 10 seconds
      [(route: Route) => route.abort(), () => page.evaluate(`dispatchEvent(new Event('online'))`)],
    ] as const) {
      await page.route(/\/api\//, answer);
      await button('Refresh').click();
      await failed.waitFor();
      expect(await button('Try again').count()).toBe(1);
      expect(await page.locator('.box code').allInnerTexts()).toEqual(['https://a.example']);
      await expectAccessible(page);
      await page.unroute(/\/api\//);
      await recover();
      await page.getByText('Updated').waitFor();
    }
  });

  test('counts the refused origins, like the list, and links to them', async () => {
    const business = await world.spare('https://a.example');
    await world.refuse(business, 'https://b.example', 'https://c.example');
    page = await openTab(world, business, 'token');
    await page.getByRole('link', { name: '2 refused origins' }).click();
    await eventually(focused).toBe('Recently refused');
    await page.getByRole('link', { name: '← Businesses' }).click();
    await page.getByRole('searchbox').fill(`${business.id}`);
    await page.locator('.row').getByText('2 refused origins').waitFor();
  });
});

describe('the open view', () => {
  test('is refreshed when the user presses “Refresh” or returns to the tab after a minute', async () => {
    const business = await world.spare('https://a.example');
    page = await world.enter(`#/${business.id}/changes`, world.keys.spare, { before: startClock });
    await page.locator('.entry').first().waitFor();
    await page.getByText(/^Updated \d\d:\d\d$/).waitFor();
    const requested: string[] = [];
    page.on('request', (request) =>
      requested.push(new URL(request.url()).pathname.replace(/^.*\/business(\/\d+)?/, '')),
    );
    const all = ['', '/access/refused', '/changes', `/usage/${business.id}`];
    const reads = () => eventually(() => requested.toSorted()).toEqual(all);
    await world.call('POST', `${business.id}/access`, { sites: ['https://b.example'] });
    await button('Refresh').click();
    await reads();
    await page.getByText('https://b.example').first().waitFor();
    requested.length = 0;
    const comeBack = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.clock.fastForward(45_000);
    await comeBack();
    expect(requested).toEqual([]);
    await page.clock.fastForward(15_000);
    await comeBack();
    await reads();
  });

  test('keeps its update time after a change, and is requested again if a change completes during a refresh', async () => {
    const business = await world.spare('https://a.example');
    page = await world.enter(`#/${business.id}/domains`, world.keys.spare, { before: startClock });
    const updated = page.getByText(/^Updated \d\d:\d\d$/);
    const readAt = await updated.innerText();
    await button('Refresh').and(page.locator(':not([aria-disabled])')).waitFor(); // no request is pending
    await page.clock.fastForward(5 * 60_000);
    const add = async (name: string) => {
      await page.getByLabel('Add one or more domains').fill(name);
      await page.keyboard.press('Enter');
      await page.locator('.done', { hasText: `Added https://${name}.` }).waitFor();
    };
    await add('b.example');
    expect(await updated.innerText()).toBe(readAt);
    const waiting: (() => void)[] = [];
    await page.route(new RegExp(`/business/${business.id}$`), async (route) => {
      await new Promise<void>((go) => waiting.push(go));
      await route.continue();
    });
    await page.clock.fastForward(1000);
    await button('Refresh').click();
    await eventually(() => waiting.length).toBe(1);
    await add('c.example');
    await eventually(() => waiting.length).toBe(2);
    for (const go of waiting) go();
    await eventually(() => updated.innerText()).not.toBe(readAt);
  });
});

describe('sign-in and the first view take two sequential round trips, and repeat no request, not counting sources, which come later', () => {
  const expected = {
    list: ['/business'],
    usage: ['/business/:id', '/business/:id/access/refused', '/business/usage/:id'],
    domains: ['/business/:id', '/business/:id/access/refused', '/business/usage/:id'],
    token: ['/business/:id', '/business/:id/access/refused', '/business/usage/:id'],
    changes: ['/business/:id', '/business/:id/access/refused', '/business/:id/changes', '/business/usage/:id'],
  };

  test.each(['list', ...TABS] as const)('%s', async (view) => {
    page = await world.visit(view === 'list' ? '' : `#/${world.tulip.id}/${view}`);
    await page.clock.install();
    const calls: { path: string; from: number; to: number }[] = [];
    await page.route(/\/api\//, async (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      if (searchParams.has('by')) return route.continue();
      const path = pathname.replace('/api/v1', '').replace(/\d+/, ':id');
      const call = { path, from: performance.now(), to: Number.POSITIVE_INFINITY };
      calls.push(call);
      await new Promise((later) => setTimeout(later, 200));
      await route.continue();
      call.to = performance.now();
    });
    await signIn(page, view === 'list' ? world.keys.many : world.keys.owner);
    const last = expected[view].at(-1);
    await eventually(() => calls.find(({ path }) => path === last)?.to).toBeLessThan(Infinity);
    await page.clock.runFor(1000); // catches requests after the last response
    const [session, ...others] = calls;
    expect(session?.path).toBe('/session');
    expect(others.map(({ path }) => path).toSorted()).toEqual(expected[view]);
    const firstAnswer = Math.min(...others.map(({ to }) => to));
    expect(others.every(({ from }) => from < firstAnswer)).toBe(true);
  });
});
