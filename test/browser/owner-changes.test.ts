// The changes of a business in the console.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openConsole } from './console.ts';
import { openRoom, stepsOn } from './steps.ts';

const closing: (() => unknown)[] = [];
let world: Awaited<ReturnType<typeof openConsole>>;
let page: Page;
beforeAll(async () => {
  world = await openConsole(closing);
});
afterEach(() => world.leave());
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
const { button } = stepsOn(() => page);

test('when two answers arrive in the wrong order, the newer one stays', async () => {
  const business = await world.spare('https://a.example');
  page = await openRoom(world, business, 'changes');
  let release = () => {};
  const late = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  await page.route(/\/changes/, async (route) => {
    asked += 1;
    const isFirst = asked === 1;
    const response = await route.fetch();
    if (isFirst) await late;
    await route.fulfill({ response });
  });
  for (const site of ['https://b.example', 'https://c.example']) {
    await world.call('POST', `${business.id}/access`, { sites: [site] });
    await button('Refresh').click();
    await vi.waitFor(() => expect(asked).toBe(site.includes('b.') ? 1 : 2));
  }
  const newest = page.locator('.entry', { hasText: 'https://c.example' });
  await newest.waitFor();
  release();
  await page.waitForTimeout(500);
  expect(await newest.count()).toBe(1);
});

test('older changes are shown on request', async () => {
  const business = await world.spare('https://a.example');
  for (let n = 0; n < 12; n++) {
    const { data } = await world.call('POST', `${business.id}/access`, { sites: [`https://n${n}.example`] });
    await world.call('DELETE', `${business.id}/access/${data.access_list.at(-1)?.id}`);
  }
  page = await openRoom(world, business, 'changes');
  await page.locator('.entry').nth(19).waitFor();
  expect(await page.locator('.entry').count()).toBe(20);
  await button('Older').click();
  await page.getByText('Business created').waitFor();
  expect(await page.locator('.entry').count()).toBe(26);
  expect(await button('Older').count()).toBe(0);
});
