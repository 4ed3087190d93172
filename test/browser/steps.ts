// What the tests of the console do again and again, on the page that is open.
import type { Page, Route } from 'playwright-core';
import { DAY_MS, dayOf } from '../../src/core/time.ts';
import type { World } from './console.ts';

type Room = 'usage' | 'domains' | 'token' | 'changes';
/** What each view of a business shows when it is there. */
const SIGNS: Record<Room, (page: Page) => Promise<unknown>> = {
  usage: (page) => page.locator('usage-chart .bar').first().waitFor({ state: 'attached' }),
  domains: (page) => page.getByText('Would this origin pass?').waitFor(),
  token: (page) => page.getByRole('heading', { name: /^Token/ }).waitFor(),
  changes: (page) => page.locator('.entry').first().waitFor(),
};

export const awaitRoom = (page: Page, room: Room): Promise<unknown> => SIGNS[room](page);

/** Opens a view of a business, signed in with `key`. */
export async function openRoom(
  world: World,
  business: { id: number; name: string },
  room: Room,
  key = world.keys.spare,
): Promise<Page> {
  const page = await world.enter(`#/${business.id}/${room}`, key);
  await page.getByRole('heading', { name: business.name, level: 1 }).waitFor();
  await awaitRoom(page, room);
  return page;
}

export const goTo = async (page: Page, room: Room): Promise<void> => {
  const name = `${room.charAt(0).toUpperCase()}${room.slice(1)}`;
  await page.getByRole('navigation', { name: 'Business views' }).getByRole('link', { name }).click();
  await awaitRoom(page, room);
};

/** Gives the page a clock that can be moved on. It says noon of yesterday, UTC: no day begins meanwhile, and no session ends. */
export const startClock = (page: Page): Promise<void> =>
  page.clock.install({ time: Date.parse(dayOf(new Date())) - DAY_MS / 2 });

/** Cloudflare adds `Date` to what the Worker answers; wrangler dev does not. */
export const withServiceClock = (page: Page) =>
  page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), Date: new Date().toUTCString() } });
  });

/** The page gets no frame until they are released: what it does with the next one, such as an effect, is late. */
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
  /** Where a button is now. */
  async middleOf(name: string | RegExp): Promise<Point> {
    await at().getByRole('button', { name, exact: true }).scrollIntoViewIfNeeded();
    const box = await at().getByRole('button', { name, exact: true }).boundingBox();
    if (box === null) throw new Error(`${name} is not shown`);
    return [box.x + box.width / 2, box.y + box.height / 2];
  },
  clickAt: (point: Point) => at().mouse.click(...point),
  /** Longer than a button takes to be armed, by the clock of the page. */
  armed: () => at().clock.runFor(600),
  /** Holds back each call of a method until it is released, and counts them. */
  async hold(method: string, path = /\/api\//, accept?: string) {
    const released = Promise.withResolvers<(route: Route) => Promise<void>>();
    const held = { calls: 0, release: released.resolve };
    await at().route(path, async (route) => {
      const request = route.request();
      if (request.method() !== method || (accept !== undefined && request.headers().accept !== accept))
        return route.fallback();
      held.calls += 1;
      await (await released.promise)(route);
    });
    return held;
  },
});

export const goOn = (route: Route) => route.continue();
export const failWith = (status: number, message: string) => (route: Route) =>
  route.fulfill({ status, json: { message }, headers: { 'Retry-After': '10' } });
/** The service makes the change, but its answer is lost. */
export const loseAnswer = async (route: Route) => {
  await route.fetch();
  await route.abort();
};
