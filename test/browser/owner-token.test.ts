// The token of a business in the console: copied, and replaced.
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
const { button, dialog, done, armed } = stepsOn(() => page);

describe('the token', () => {
  test('is copied with its tag', async () => {
    const business = await world.spare();
    page = await openRoom(world, business, 'token');
    await button('Copy the tag').click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `<script type="module" src="${world.url}/v1/usage-chart.js"></script>\n` +
        `<usage-chart business="${business.id}" token="${business.token}"></usage-chart>`,
    );
  });

  test.each([
    ['Keep the old token for 24 hours', 'Replace, and keep the old one for 24 hours', 200],
    ['Keep the old token for 7 days', 'Replace, and keep the old one for 7 days', 200],
    ['Stop the old token now', 'Replace, and stop the old one now', 401],
  ])('is replaced: %s', async (choice, action, status) => {
    const business = await world.spare();
    page = await openRoom(world, business, 'token');
    await button('Replace the token…').click();
    await page.getByLabel(choice).check();
    await armed();
    await button(action).click();
    await done('There is a new token');
    await dialog().waitFor({ state: 'detached' });
    const { token } = await business.stored();
    expect(token).not.toBe(business.token);
    await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
    const asked = await fetch(`${world.url}/api/v1/business/usage/${business.id}`, {
      headers: { Authorization: `Bearer ${business.token}` },
    });
    expect(asked.status).toBe(status);
    await goTo(page, 'changes');
    await page.getByText('Token replaced').waitFor();
  });
});
