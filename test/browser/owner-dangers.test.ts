// What cannot be undone in the console. A double click, a held key, and slow or failing answers change nothing that was not confirmed.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfFile } from './console.ts';
import { failWith, goOn, loseAnswer, openRoom, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, armed, hold, shownSites } = stepsOn(() => page);

describe('what cannot be undone', () => {
  /** Each dangerous place: how it is reached, its button, and the method of its request. */
  const places = [
    {
      place: 'removing the last domain',
      room: 'domains',
      opener: 'Remove https://a.example',
      action: 'Let the token work everywhere',
      method: 'DELETE',
    },
    {
      place: 'replacing the token at once',
      room: 'token',
      opener: 'Replace the token…',
      action: 'Replace, and stop the old one now',
      method: 'POST',
    },
  ] as const;
  const unchanged = async (business: Awaited<ReturnType<typeof world.spare>>) => {
    const { token, access_list } = await business.stored();
    expect({ token, sites: access_list.map(({ site }) => site) }).toEqual({
      token: business.token,
      sites: ['https://a.example'],
    });
  };
  const choose = async (method: string) => {
    if (method === 'POST') await page.getByLabel('Stop the old token now').check();
  };

  describe.each(places)('$place', ({ room, opener, action, method }) => {
    test('is not done by a double click, nor before the button is armed', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      const { calls } = await hold(method);
      await button(opener).dblclick();
      await dialog().waitFor();
      await choose(method);
      const box = await button(action).boundingBox();
      await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5, { clickCount: 1 });
      await button(action).dispatchEvent('click', { detail: 2 });
      await page.waitForTimeout(200);
      expect(calls).toBe(0);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'detached' });
      await unchanged(business);
    });

    test('has its button elsewhere than the one that opened it', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      for (const height of [420, 600, 900]) {
        await page.setViewportSize({ width: 700, height });
        await button(opener).scrollIntoViewIfNeeded();
        const from = await button(opener).boundingBox();
        await button(opener).click();
        await armed();
        const to = await button(action.startsWith('Replace') ? /^Replace, / : action).boundingBox();
        if (from === null || to === null) throw new Error('a button is not shown');
        const overlaps =
          from.x < to.x + to.width &&
          to.x < from.x + from.width &&
          from.y < to.y + to.height &&
          to.y < from.y + from.height;
        expect({ height, overlaps }).toEqual({ height, overlaps: false });
        await page.keyboard.press('Escape');
        await dialog().waitFor({ state: 'detached' });
      }
    });

    test('is not done by a held Enter', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      await armed(); // what appears with the view is not armed either
      await button(opener).focus();
      for (let times = 0; times < 40; times++) {
        await page.keyboard.down('Enter'); // pressing it again without a release repeats it
        await page.waitForTimeout(30);
      }
      await page.keyboard.up('Enter');
      expect(await dialog().isVisible()).toBe(true);
      expect(
        await dialog()
          .locator(':focus')
          .innerText()
          .catch(() => ''),
      ).not.toContain(action);
      await unchanged(business);
    });

    test('is shown as done only when the service says so', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      const held = await hold(method);
      await button(opener).click();
      await choose(method);
      await armed();
      await button(action).click();
      await page.waitForTimeout(300);
      expect(held.calls).toBe(1);
      await page.getByRole('button', { name: /Removing…|Replacing…/ }).click({ force: true }); // it looks disabled
      for (let times = 0; times < 4; times++) {
        await page.keyboard.press('Escape');
        await page.waitForTimeout(50);
      }
      expect(await dialog().isVisible()).toBe(true);
      expect(held.calls).toBe(1);
      if (room === 'domains') expect(await shownSites()).toEqual(['https://a.example']);
      expect(await page.locator('.done', { hasText: /\w/ }).count()).toBe(0);
      held.release(goOn);
      await dialog().waitFor({ state: 'detached' });
      await done(method === 'POST' ? 'There is a new token' : 'The token works on every site now.');
    });

    test('says what failed, stays as it was, and can be tried again', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      const held = await hold(method);
      held.release(failWith(503, 'Service Unavailable'));
      await button(opener).click();
      await choose(method);
      await armed();
      await button(action).click();
      await dialog().getByText('The service cannot reach its database now.').waitFor();
      if (room === 'domains') expect(await shownSites()).toEqual(['https://a.example']);
      await unchanged(business);
      await page.unroute(/\/api\//);
      await button(action).click();
      await dialog().waitFor({ state: 'detached' });
      await done(/./);
    });

    test('says that it may have been done if the answer is lost, and shows the current state', async () => {
      const business = await world.spare('https://a.example');
      page = await openRoom(world, business, room);
      const held = await hold(method);
      held.release(loseAnswer);
      await button(opener).click();
      await choose(method);
      await armed();
      await button(action).click();
      await dialog().getByText('The change may have been made all the same').waitFor();
      await page.unroute(/\/api\//);
      await button('Cancel').click();
      await dialog().waitFor({ state: 'detached' });
      const { token } = await business.stored();
      if (method === 'POST') await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
      else await page.getByText('No domain is registered:').waitFor();
    });
  });

  test('the last domain of a list that was shortened elsewhere is not removed without a dialog', async () => {
    const business = await world.spare('https://a.example', 'https://b.example');
    page = await openRoom(world, business, 'domains');
    const { access_list } = await business.stored();
    await world.call('DELETE', `${business.id}/access/${access_list[0]?.id}`);
    await button('Remove https://b.example').click();
    await page.getByText('This is the last domain now: without it, the token works everywhere.').waitFor();
    await page.getByText('Remove…', { exact: true }).waitFor();
    expect(await business.sites()).toEqual(['https://b.example']);
  });
});
