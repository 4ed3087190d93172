// The dialog that confirms actions that cannot be undone (confirm.tsx). Double clicks, held keys, and slow or failed responses must not
// change anything that was not confirmed.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Spare } from './console.ts';
import { continueRequest, failWith, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, hold, shownSites } = stepsOn(() => page);

const A = 'https://a.example';
const OPENER = `Remove ${A}`;
const ACTION = 'Let the token work everywhere';

describe('the confirmation dialog', () => {
  /** Opens a business with one domain. Removing its last domain needs confirmation. */
  async function open(): Promise<Spare> {
    const business = await world.spare(A);
    page = await openTab(world, business, 'domains');
    return business;
  }
  /** Opens the dialog, and presses its button. */
  async function confirm(): Promise<void> {
    await button(OPENER).click();
    await button(ACTION).click();
  }

  test('changes nothing on a double click', async () => {
    const business = await open();
    const held = await hold('DELETE');
    await button(OPENER).dblclick();
    await dialog().waitFor();
    await button(ACTION).dispatchEvent('click', { detail: 2 });
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(held.calls).toBe(0);
    expect(await business.sites()).toEqual([A]);
  });

  test.each([
    ['domains', OPENER, ACTION],
    ['token', 'Replace the token…', /^Replace, /],
  ] as const)('does not place its button over the button that opened it: %s', async (room, opener, action) => {
    page = await openTab(world, await world.spare(A), room);
    for (const height of [420, 600, 900]) {
      await page.setViewportSize({ width: 700, height });
      await button(opener).scrollIntoViewIfNeeded();
      const from = await button(opener).boundingBox();
      await button(opener).click();
      const to = await button(action).boundingBox();
      if (from === null || to === null) throw new Error('a button is not shown');
      const isBeside = from.x >= to.x + to.width || to.x >= from.x + from.width;
      expect(isBeside || from.y >= to.y + to.height || to.y >= from.y + from.height, `${height}`).toBe(true);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'detached' });
    }
  });

  test('reports the change as done only after the service confirms it', async () => {
    await open();
    const held = await hold('DELETE');
    await confirm();
    await eventually(() => held.calls).toBe(1);
    await button('Removing…').click({ force: true }); // force, because it is disabled
    for (let times = 0; times < 4; times++) {
      await page.keyboard.press('Escape');
      await page.clock.runFor(50);
    }
    expect(await dialog().isVisible()).toBe(true);
    expect(held.calls).toBe(1);
    expect(await shownSites()).toEqual([A]);
    expect(await page.locator('.done', { hasText: /\w/ }).count()).toBe(0);
    held.release(continueRequest);
    await dialog().waitFor({ state: 'detached' });
    await page.locator('.removed', { hasText: 'The token now works on every site.' }).waitFor();
    await button(`Undo: add ${A} again`).and(page.locator(':focus')).click();
    await button(OPENER).waitFor();
    expect(await shownSites()).toEqual([A]);
  });

  test('reports a failure, leaves the data unchanged, and allows a retry', async () => {
    const business = await open();
    const held = await hold('DELETE');
    held.release(failWith(503, 'Service Unavailable'));
    await confirm();
    await dialog().getByText('The service cannot reach its database right now.').waitFor();
    expect(await shownSites()).toEqual([A]);
    expect(await business.sites()).toEqual([A]);
    await page.unroute(/\/api\//);
    await button(ACTION).click();
    await dialog().waitFor({ state: 'detached' });
    await page.locator('.removed').waitFor();
  });

  test('is required for a domain that is now the last because another session removed the others', async () => {
    const business = await world.spare('https://a.example', 'https://b.example');
    page = await openTab(world, business, 'domains');
    const { access_list } = await business.stored();
    await world.call('DELETE', `${business.id}/access/${access_list[0]?.id}`);
    await button('Remove https://b.example').click();
    await page.getByText('This is now the last domain. Without it, the token works everywhere.').waitFor();
    await page.getByText('Remove…', { exact: true }).waitFor();
    expect(await business.sites()).toEqual(['https://b.example']);
  });
});
