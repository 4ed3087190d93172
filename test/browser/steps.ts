// Steps that the console tests share.
import type { Page, Route } from 'playwright-core';
import { DAY_MS, dayOf } from '../../src/core/time.ts';
import type { World } from './console.ts';

type Tab = 'usage' | 'domains' | 'token' | 'changes';
/** For each view of a business, waits for content that appears after it has loaded. */
const SIGNS: Record<Tab, (page: Page) => Promise<unknown>> = {
  usage: (page) => page.locator('usage-chart .bar').first().waitFor({ state: 'attached' }),
  domains: (page) => page.getByText('Would this origin pass?').waitFor(),
  token: (page) => page.getByRole('heading', { name: /^Token/ }).waitFor(),
  changes: (page) => page.locator('.entry').first().waitFor(),
};

export const awaitTab = (page: Page, tab: Tab): Promise<unknown> => SIGNS[tab](page);

export async function openTab(
  world: World,
  business: { id: number; name: string },
  tab: Tab,
  key = world.keys.spare,
): Promise<Page> {
  const page = await world.enter(`#/${business.id}/${tab}`, key);
  await page.getByRole('heading', { name: business.name, level: 1 }).waitFor();
  await awaitTab(page, tab);
  return page;
}

export const goTo = async (page: Page, tab: Tab): Promise<void> => {
  const name = `${tab.charAt(0).toUpperCase()}${tab.slice(1)}`;
  await page.getByRole('navigation', { name: 'Business views' }).getByRole('link', { name }).click();
  await awaitTab(page, tab);
};

/** Installs a clock that starts at noon yesterday, UTC, so that no day begins and no session expires during a test. */
export const startClock = (page: Page): Promise<void> =>
  page.clock.install({ time: Date.parse(dayOf(new Date())) - DAY_MS / 2 });

/** Adds a `Date` header to responses, as Cloudflare does but wrangler dev does not. */
export const withServiceClock = (page: Page) =>
  page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), Date: new Date().toUTCString() } });
  });

/** Holds animation frames back until `release` is called. This delays everything that runs in them, such as effects. */
export async function holdFrames(page: Page): Promise<{ release: () => Promise<unknown> }> {
  await page.evaluate(`{
    const [request, held] = [requestAnimationFrame, []];
    window.requestAnimationFrame = (frame) => held.push(frame);
    window.releaseFrames = () => {
      window.requestAnimationFrame = request;
      for (const frame of held) request(frame);
    };
  }`);
  return { release: () => page.evaluate('releaseFrames()') };
}

type Point = [x: number, y: number];

export const stepsOn = (at: () => Page) => ({
  button: (name: string | RegExp) => at().getByRole('button', { name, exact: true }),
  dialog: () => at().getByRole('dialog'),
  shownSites: () => at().locator('.box .item:not(.removed) code').allInnerTexts(),
  done: (words: string | RegExp) => at().locator('.done', { hasText: words }).waitFor(),
  /** Scrolls a button into view, and returns its center. */
  async centerOf(name: string | RegExp): Promise<Point> {
    await at().getByRole('button', { name, exact: true }).scrollIntoViewIfNeeded();
    const box = await at().getByRole('button', { name, exact: true }).boundingBox();
    if (box === null) throw new Error(`${name} is not shown`);
    return [box.x + box.width / 2, box.y + box.height / 2];
  },
  clickAt: (point: Point) => at().mouse.click(...point),
  /** Advances the page's clock until what was typed has taken effect, and the button that opens a link is armed. */
  armed: () => at().clock.runFor(600),
  /** Counts requests with this method, and holds them until `release` is called with the function that handles them. */
  async hold(method: string, path = /\/api\//) {
    const released = Promise.withResolvers<(route: Route) => Promise<void>>();
    const held = { calls: 0, release: released.resolve };
    await at().route(path, async (route) => {
      if (route.request().method() !== method) return route.fallback();
      held.calls += 1;
      await (await released.promise)(route);
    });
    return held;
  },
});

export const continueRequest = (route: Route) => route.continue();
const CODES: Record<number, string> = { 429: 'rate_limited', 500: 'server_error', 503: 'unavailable' };
export const failWith = (status: number, message: string) => (route: Route) =>
  route.fulfill({ status, json: { message }, headers: { 'Retry-After': '10', 'Error-Code': CODES[status] ?? '' } });
/** Forwards the request, but aborts the response. */
export const loseResponse = async (route: Route) => {
  await route.fetch();
  await route.abort();
};
