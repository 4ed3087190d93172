// The link in the console's header that leads back to the product (docs/embedding.md, "Sessions in the console").
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfFile, signIn, storedSession } from './console.ts';
import { awaitTab, goTo } from './steps.ts';

const world = consoleOfFile();
let page: Page;

const PRODUCT = 'https://product.example:8443/shops/7?tab=usage#limits';
const NAME = 'Back to product.example:8443';
const HOUR_MS = 3_600_000;
const ROOMS = ['usage', 'domains', 'token', 'changes'] as const;

const list = () => page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
const button = (name: string) => page.getByRole('button', { name, exact: true });
const links = () =>
  page
    .locator('header .return:visible')
    .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));
async function openLink(return_url: string): Promise<void> {
  page = await world.visit(`#code=${await world.newCode({ return_url })}`);
  await list();
}

test('a console link with a return URL puts a link back on each view, which opens in the same tab without a referrer', async () => {
  await openLink(PRODUCT);
  expect(await links()).toEqual([PRODUCT]);
  await page.getByRole('link', { name: 'Tulip Shop' }).click();
  for (const room of ROOMS) {
    await goTo(page, room);
    expect({ room, links: await links() }).toEqual({ room, links: [PRODUCT] });
  }
  await page.reload();
  await awaitTab(page, 'changes');
  const html = '<!doctype html><title>Product</title><p>Welcome back';
  await page.route('https://product.example:8443/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: html }),
  );
  await page.getByRole('banner').getByRole('link', { name: NAME }).click();
  await page.getByText('Welcome back').waitFor();
  expect([page.url(), await page.evaluate('document.referrer')]).toEqual([PRODUCT, '']);
  expect(page.context().pages()).toHaveLength(1);
});

test('another console link replaces the return link, once the user has opened it', async () => {
  await openLink(PRODUCT);
  const code = await world.newCode({ return_url: 'http://localhost:3000/' });
  await page.evaluate(`void (location.hash = '#code=${code}')`);
  await page.getByText('This link opens another session.').waitFor();
  expect(await links()).toEqual([PRODUCT]);
  await button('Open the link').click();
  await list();
  expect(await links()).toEqual(['http://localhost:3000/']);
});

describe('the return link stays', () => {
  test('after the session expires', async () => {
    page = await world.enter('#/', world.keys.owner, { returnUrl: PRODUCT, lasts: HOUR_MS });
    await list();
    await page.clock.runFor(HOUR_MS);
    await page.getByText('Your session has expired.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    expect(await storedSession(page)).toBeNull();
  });

  test('after the browser restores the tab of an expired session, until a session without a return URL starts', async () => {
    page = await world.enter('#/', world.keys.owner, { returnUrl: PRODUCT, lasts: -1 });
    await page.getByText('Your session has expired.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    await signIn(page, world.keys.owner);
    await list();
    expect(await links()).toEqual([]);
  });

  test('after a sign-out elsewhere', async () => {
    await openLink(PRODUCT);
    const headers = { Authorization: `Bearer ${(await storedSession(page))?.key}` };
    expect((await fetch(`${world.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await page.getByText('You have been signed out.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
  });

  test('after a sign-out until a reload, because the tab stores nothing', async () => {
    await openLink(PRODUCT);
    await button('Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(await links()).toEqual([]);
  });
});

test('the console shows no return link if the URL stored in the tab is unsafe', async () => {
  page = await world.enter('#/', world.keys.owner, { returnUrl: 'javascript:document.title="in"' });
  await list();
  expect(await page.locator('.return').count()).toBe(0);
});
