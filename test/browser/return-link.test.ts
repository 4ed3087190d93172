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
async function openLink(return_url?: string): Promise<void> {
  page = await world.visit(`#code=${await world.newCode(return_url === undefined ? {} : { return_url })}`);
  await list();
}

describe('a console link with a return URL', () => {
  test('puts a return link on each view, and reloads keep it', async () => {
    await openLink(PRODUCT);
    expect(await links()).toEqual([PRODUCT]);
    expect((await storedSession(page))?.returnUrl).toBe(PRODUCT);
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    for (const room of ROOMS) {
      await goTo(page, room);
      expect({ room, links: await links() }).toEqual({ room, links: [PRODUCT] });
      await page.reload();
      await awaitTab(page, room);
      expect({ room, links: await links() }).toEqual({ room, links: [PRODUCT] });
    }
  });

  test('shows a return link that opens in the same tab, without a referrer', async () => {
    await openLink(PRODUCT);
    const html = '<!doctype html><title>Product</title><p>Welcome back';
    await page.route('https://product.example:8443/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: html }),
    );
    await page.getByRole('banner').getByRole('link', { name: NAME }).click();
    await page.getByText('Welcome back').waitFor();
    expect([page.url(), await page.evaluate('document.referrer')]).toEqual([PRODUCT, '']);
    expect(page.context().pages()).toHaveLength(1);
    await page.goBack();
    await list();
    expect(await links()).toEqual([PRODUCT]);
  });

  test('keeps its return link until the user opens another link, which replaces it', async () => {
    await openLink(PRODUCT);
    const code = await world.newCode({ return_url: 'http://localhost:3000/' });
    await page.evaluate(`void (location.hash = '#code=${code}')`);
    await page.getByText('This link opens another session.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    await button('Open the link').click();
    await list();
    expect(await links()).toEqual(['http://localhost:3000/']);
    await page.reload();
    await list();
    expect(await links()).toEqual(['http://localhost:3000/']);
  });
});

describe('the return link stays', () => {
  const IN_TAB = { returnUrl: PRODUCT };

  test('after the session expires', async () => {
    page = await world.enter('#/', world.keys.owner, { ...IN_TAB, lasts: HOUR_MS });
    await list();
    await page.clock.runFor(HOUR_MS);
    await page.getByText('Your session has expired.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    expect(await storedSession(page)).toBeNull();
  });

  test('after the browser restores the tab of an expired session', async () => {
    page = await world.enter('#/', world.keys.owner, { ...IN_TAB, lasts: -1 });
    await page.getByText('Your session has expired.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
  });

  test('after a sign-out elsewhere', async () => {
    await openLink(PRODUCT);
    const headers = { Authorization: `Bearer ${(await storedSession(page))?.key}` };
    expect((await fetch(`${world.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await page.getByText('You have been signed out.').waitFor();
    expect(await links()).toEqual([PRODUCT]);
    await button('Sign in with an API key').click();
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

  test('after the session expires, until a session without a return URL starts', async () => {
    page = await world.enter('#/', world.keys.owner, { ...IN_TAB, lasts: -1 });
    await page.getByText('Your session has expired.').waitFor();
    await signIn(page, world.keys.owner);
    await list();
    expect(await links()).toEqual([]);
  });
});

describe('the console shows no return link', () => {
  test('for a console link without a return URL, or after signing in with an API key', async () => {
    await openLink();
    expect(await links()).toEqual([]);
    await world.leave();
    page = await world.visit();
    await signIn(page, world.keys.owner);
    expect(await links()).toEqual([]);
  });

  test.each([
    'javascript:document.title="in"',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'http://product.example/',
    'https://user@product.example/',
    '//product.example/',
    '/',
  ])('if the URL stored in the tab is unsafe: %j', async (returnUrl) => {
    page = await world.enter('#/', world.keys.owner, { returnUrl });
    await list();
    expect(await page.locator('.return').count()).toBe(0);
    expect(await page.locator('header').innerHTML()).not.toContain('product.example');
  });
});
