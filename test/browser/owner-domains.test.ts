// The domains of a business in the console: added, tried, removed, and refused origins.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openConsole } from './console.ts';
import { goTo, openRoom, stepsOn } from './steps.ts';

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
const { button, done, armed, shownSites } = stepsOn(() => page);

describe('the domains', () => {
  test('are added, tried, removed, and added again', async () => {
    const business = await world.spare('https://a.example');
    page = await openRoom(world, business, 'domains');
    await page.getByLabel('Add a domain').fill('https://*.Tulip.example/x');
    await button('Add').click();
    await done('Added https://*.tulip.example.');
    await page.getByText('https://*.tulip.example').first().waitFor();
    expect(await shownSites()).toEqual(['https://a.example', 'https://*.tulip.example']);

    const verdict = page.locator('.verdict');
    const tried = page.getByLabel('Would this origin pass?');
    await tried.fill('www.tulip.example/page');
    expect(await verdict.innerText()).toContain('https://*.tulip.example lets https://www.tulip.example pass.');
    await tried.fill('null');
    expect(await verdict.innerText()).toContain('null is refused.');
    await tried.fill('ftp://tulip.example');
    expect(await verdict.innerText()).toContain('ftp://tulip.example is refused.');
    expect(await button(/^Register it/).count()).toBe(0);
    await tried.fill('localhost:3000');
    expect(await verdict.innerText()).toContain('http://localhost:3000 is refused.');
    await tried.fill('https://tulip.example');
    expect(await verdict.innerText()).toContain('https://tulip.example is refused.');
    await button(/^Register it/).click();
    await page.getByText('https://tulip.example lets https://tulip.example pass.').waitFor();

    await button('Remove https://*.tulip.example').click();
    await done('Removed https://*.tulip.example.');
    expect(await business.sites()).toEqual(['https://a.example', 'https://tulip.example']);
    await button('Undo').click();
    await done('Added https://*.tulip.example.');
    expect((await business.sites()).sort()).toEqual([
      'https://*.tulip.example',
      'https://a.example',
      'https://tulip.example',
    ]);
    await goTo(page, 'changes');
    await page.getByText('Domains removed').waitFor();
  });

  test('come with a warning before the first one, and with an offer to complete a missing scheme', async () => {
    const business = await world.spare();
    page = await openRoom(world, business, 'domains');
    await page.getByText('Before you add the first domain:').waitFor();
    expect(await page.getByText('Servers that use the token stop working at once').isVisible()).toBe(true);
    await page.getByLabel('Add a domain').fill('shop.example/cart');
    await page.keyboard.press('Enter');
    await page.getByText('Did you mean').waitFor();
    expect(await business.sites()).toEqual([]);
    await page.keyboard.press('Enter'); // on the offer, which has the focus
    await done('Added https://shop.example.');
    expect(await business.sites()).toEqual(['https://shop.example']);
    expect(await page.getByText('Before you add the first domain:').count()).toBe(0);
    await page.getByLabel('Add a domain').fill('localhost:3000');
    await page.keyboard.press('Enter');
    await button('Add http://localhost:3000').waitFor();
  });

  test('say beside the field, in the words of the service, why one is refused', async () => {
    const business = await world.spare('https://a.example');
    page = await openRoom(world, business, 'domains');
    await page.getByLabel('Add a domain').fill('https://*.co.uk');
    await page.keyboard.press('Enter');
    await page.getByText('The domain must not cover co.uk: others own domains below it').waitFor();
    await page.getByLabel('Add a domain').fill('ftp://shop.example');
    await page.keyboard.press('Enter');
    await page.getByText('The domain must be an http or https URL, such as https://example.com.').waitFor();
    await page.getByLabel('Add a domain').fill('me@shop.example');
    await page.keyboard.press('Enter');
    await page.getByText('The domain must not contain a user name or password.').waitFor();
    await page.getByLabel('Add a domain').fill('*.co.uk');
    await page.keyboard.press('Enter');
    await button('Add https://*.co.uk').click();
    await page.getByText('The domain must not cover co.uk').waitFor();
    expect(await page.getByText('Did you mean').count()).toBe(0);
    expect(await page.getByLabel('Add a domain').inputValue()).toBe('https://*.co.uk');
    expect(await business.sites()).toEqual(['https://a.example']);
  });

  test('that were refused are added or dismissed, and are all forgotten only after a confirmation', async () => {
    const business = await world.spare('https://a.example');
    for (const origin of ['https://b.example', 'https://c.example']) {
      const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
      expect((await fetch(`${world.url}/api/v1/business/usage/${business.id}`, { headers })).status).toBe(403);
    }
    page = await openRoom(world, business, 'domains');
    await page.getByText('Whoever has the token can make an entry appear here').waitFor();
    await button('Dismiss https://c.example').click();
    await page.getByText('1 dismissed, until this page is closed.').waitFor();
    await button('Show again').click();
    await button('Add https://b.example').click();
    await done('Added https://b.example.');
    await button('Add https://b.example').waitFor({ state: 'detached' });
    await button('Forget all…').click();
    await armed();
    await button('Cancel').click();
    expect(await button('Add https://c.example').count()).toBe(1);
    await button('Forget all…').click();
    await armed();
    await button('Forget 1 origin').click();
    await page.getByText('Refused lately').waitFor({ state: 'detached' });
    expect((await world.call('GET', `${business.id}/access/refused`)).data).toEqual({ refused: [] });
  });
});

test('no origin passes for a business that is not active', async () => {
  page = await openRoom(world, world.closed, 'domains', world.keys.owner);
  await page.getByText('This business is suspended: its token is refused everywhere').waitFor();
  await page.getByLabel('Would this origin pass?').fill('https://winter.example');
  await page.getByText('No: while the business is not active, its token is refused everywhere.').waitFor();
  expect(await button(/^Register it/).count()).toBe(0);
});
