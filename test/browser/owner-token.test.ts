// The Token view of a business in the console: copying and replacing the token, and old tokens in their grace period.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, type Spare } from './console.ts';
import { continueRequest, goTo, loseResponse, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, hold } = stepsOn(() => page);

const OPENER = 'Replace the token…';
const KEEP = 'Replace, and keep the old one for 24 hours';
const tail = (token: string) => `…${token.slice(-4)}`;
const focused = () => page.evaluate<string>('document.activeElement.innerText');
const statusWith = async ({ id }: { id: number }, token: string) =>
  (await fetch(`${world.url}/api/v1/business/usage/${id}`, { headers: { Authorization: `Bearer ${token}` } })).status;
const rotate = async ({ id }: { id: number }, keep_old: string) =>
  (await world.call('POST', `${id}/token`, { keep_old })).token;
async function open(): Promise<Spare> {
  const business = await world.spare();
  page = await openTab(world, business, 'token');
  return business;
}
async function openDialog(): Promise<void> {
  await button(OPENER).click();
}
const working = () => page.locator('.endings li').allInnerTexts();
const isRed = (name: string) => button(name).evaluate((shown) => shown.classList.contains('danger'));

describe('the tag and the token', () => {
  const tagOf = ({ id, token }: Spare) =>
    `<script type="module" src="${world.url}/v1/usage-chart.js"></script>\n` +
    `<usage-chart business="${id}" token="${token}"></usage-chart>`;

  test('are copied to the clipboard', async () => {
    const business = await open();
    for (const [label, text] of [
      ['Copy the tag', tagOf(business)],
      ['Copy the token', business.token],
    ] as const) {
      await button(label).click();
      await page.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
      await page.clock.runFor(2000);
      await page.getByText('Copied').waitFor({ state: 'detached' });
    }
  });

  test.each([
    [
      'the page has no clipboard API, for example over plain http',
      `Object.defineProperty(navigator, 'clipboard', { value: undefined })`,
    ],
    [
      'the browser denies access to the clipboard',
      `navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
    ],
  ])('are selected instead of copied if %s', async (_, script) => {
    const business = await open();
    await page.evaluate(script);
    await button('Copy the tag').click();
    await page.getByText('Not copied. Text selected.').waitFor();
    expect(await page.evaluate('getSelection().toString().trim()')).toBe(tagOf(business));
    await page.locator('.snippet').nth(1).getByRole('button').click();
    await page.getByText('Not copied. Text selected.').nth(1).waitFor();
    expect(await page.evaluate('getSelection().toString().trim()')).toBe(business.token);
  });

  test('are shown with the number of domains that restrict the token, and a link to them', async () => {
    const business = await open();
    await page.getByText('The token works on every site, because no domains are registered.').waitFor();
    await world.call('POST', `${business.id}/access`, { sites: ['https://a.example', 'https://b.example'] });
    await button('Refresh').click();
    await page.getByText('The token works only on pages of 2 registered domains.').waitFor();
    await page.locator('#console section.token').getByRole('link', { name: 'Domains' }).click();
    await page.waitForURL(`**/owner#/${business.id}/domains`);
  });
});

describe('replacing the token', () => {
  test.each([
    ['Keep the old token for 24 hours', KEEP, 200],
    ['Keep the old token for 7 days', 'Replace, and keep the old one for 7 days', 200],
    ['Stop the old token now', 'Replace, and stop the old one now', 401],
  ])('follows the choice “%s”', async (choice, action, status) => {
    const business = await open();
    await button(OPENER).click();
    await page.getByLabel(choice).check();
    expect(await isRed(action)).toBe(status === 401);
    await button(action).click();
    await done('The new token is');
    await dialog().waitFor({ state: 'detached' });
    await eventually(focused).toBe(OPENER);
    const { token } = await business.stored();
    expect(token).not.toBe(business.token);
    await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
    const said = await page.locator('.done').innerText();
    expect(said).toMatch(
      status === 200
        ? new RegExp(
            `^The new token is ${tail(token)}\\. The old one works until \\w+ \\d+, \\d+, \\d\\d:\\d\\d UTC\\. `,
          )
        : `The new token is ${tail(token)}. The old one no longer works. Paste the new tag into your pages.`,
    );
    const end = said.match(/works until (.* UTC)/)?.[1];
    const left = choice.includes('24') ? 'in 23 hours' : 'in 6 days';
    const listed = (use: string) =>
      end === undefined ? [] : [`${tail(business.token)} works until ${end} (${left}). ${use}`];
    expect(await working()).toEqual(
      listed('Not used since it was replaced. Once all your pages have the new tag, it is safe to stop.'),
    );
    expect(await statusWith(business, business.token)).toBe(status);
    await button('Refresh').click();
    await eventually(working).toEqual(listed('Used today.'));
    await expectAccessible(page);
    await goTo(page, 'changes');
    await page.getByText('Token replaced').waitFor();
  });

  test('keeps the old token for 24 hours by default, and styles only the choice to stop it as dangerous', async () => {
    const business = await open();
    await button(OPENER).click();
    expect(await page.getByLabel('Keep the old token for 24 hours').isChecked()).toBe(true);
    expect(await isRed(KEEP)).toBe(false);
    await page.getByLabel('Stop the old token now').check();
    expect(await isRed('Replace, and stop the old one now')).toBe(true);
    await dialog()
      .getByText(`From the next request, pages with ${tail(business.token)} are refused.`)
      .waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await eventually(focused).toBe(OPENER);
    await button(OPENER).click();
    expect(await page.getByLabel('Keep the old token for 24 hours').isChecked()).toBe(true);
    await page.keyboard.press('Escape');
    expect((await business.stored()).token).toBe(business.token);
  });

  test('lists the old token as soon as the response arrives, and a refresh does not change the list', async () => {
    const business = await open();
    await openDialog();
    const held = await hold('GET');
    await button(KEEP).click();
    await done('The new token is');
    await eventually(working).toHaveLength(1);
    expect((await working())[0]).toContain(`${tail(business.token)} works until`);
    expect(held.calls).toBeGreaterThan(0);
    const known = await working();
    held.release(continueRequest);
    await eventually(() => button('Refresh').getAttribute('aria-disabled')).toBe(null);
    expect(await working()).toEqual(known);
  });

  test('shows the stored token when the response is lost, and offers to replace it again', async () => {
    const business = await open();
    await openDialog();
    const held = await hold('POST');
    held.release(loseResponse);
    await button(KEEP).click();
    await dialog().getByText('The change may have been made anyway').waitFor();
    const { token } = await business.stored();
    await dialog()
      .getByText(`The token has been replaced. The new one is ${tail(token)}.`)
      .waitFor();
    await button('Replace again, and keep the old one for 24 hours').waitFor();
    await button('Cancel').click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByText(`The token has been replaced. The new one is ${tail(token)}.`).waitFor();
    await eventually(focused).toBe(OPENER);
    expect((await business.stored()).token).toBe(token);
  });

  test('clears its confirmation message after another session replaces the token', async () => {
    const business = await open();
    await openDialog();
    await button(KEEP).click();
    await done('The new token is');
    await dialog().waitFor({ state: 'detached' });
    const token = await rotate(business, '1h');
    await button('Refresh').click();
    await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
    expect(await page.locator('.done', { hasText: /\w/ }).count()).toBe(0);
    expect(await working()).toHaveLength(2);
  });

  test('names the old token that it revokes to keep at most five', async () => {
    const business = await world.spare();
    for (let times = 0; times < 5; times++) await rotate(business, '2h');
    page = await openTab(world, business, 'token');
    await page.getByText('5 old tokens still work').waitFor();
    await button(OPENER).click();
    await dialog()
      .getByText(`At most 5 old tokens can work at a time, so ${tail(business.token)} stops now.`)
      .waitFor();
    await button(KEEP).click();
    await done('The new token is');
    await eventually(working).toHaveLength(5);
    expect((await working()).join()).not.toContain(tail(business.token));
    expect(await statusWith(business, business.token)).toBe(401);
  });
});

describe('old tokens', () => {
  const STOP = 'Stop the old tokens now';

  test('are revoked together, and the current token still works', async () => {
    const business = await world.spare();
    const second = await rotate(business, '1h');
    const third = await rotate(business, '30d');
    page = await openTab(world, business, 'token');
    expect((await working()).map((line) => line.slice(0, 17))).toEqual([
      `${tail(business.token)} works until`,
      `${tail(second)} works until`,
    ]);
    await expectAccessible(page);
    await button('Stop them now…').click();
    await dialog()
      .getByText(
        `From the next request, pages and servers that still use ${tail(business.token)} and ${tail(second)} are refused. ` +
          `The token ${tail(third)} keeps working.`,
      )
      .waitFor();
    expect(await isRed(STOP)).toBe(true);
    const held = await hold('DELETE');
    await button(STOP).click();
    await eventually(() => held.calls).toBe(1);
    expect(await working()).toHaveLength(2); // the service has not confirmed it
    held.release(continueRequest);
    await done(`The old tokens no longer work. The token ${tail(third)} keeps working.`);
    await dialog().waitFor({ state: 'detached' });
    expect(await working()).toEqual([]);
    await eventually(focused).toBe(OPENER);
    expect(await Promise.all([business.token, second, third].map((token) => statusWith(business, token)))).toEqual([
      401, 401, 200,
    ]);
  });

  test('disappear after a revocation whose response is lost, and the page keeps the focus', async () => {
    const business = await world.spare();
    await rotate(business, '1h');
    page = await openTab(world, business, 'token');
    const held = await hold('DELETE');
    held.release(loseResponse);
    await button('Stop it now…').click();
    await button(STOP).click();
    await dialog().getByText('The change may have been made anyway').waitFor();
    await eventually(working).toEqual([]);
    await dialog().getByText('The old tokens no longer work.').waitFor();
    await button('Cancel').click();
    await dialog().waitFor({ state: 'detached' });
    await eventually(focused).toBe(OPENER);
  });

  test('disappear when they expire, and the page keeps the focus', async () => {
    const business = await world.spare();
    await rotate(business, '1h');
    page = await openTab(world, business, 'token');
    await page.clock.runFor(1000);
    await button('Refresh').click();
    await eventually(async () => (await working())[0]).toContain('(in 59 minutes)');
    await button('Stop it now…').focus();
    await page.clock.fastForward('01:00:00');
    await eventually(working).toEqual([]);
    await eventually(focused).toBe(OPENER);
    await eventually(() => page.getByText('still work').count()).toBe(0);
  });

  test('are listed for a read-only key, without buttons or the whole token', async () => {
    const business = await world.spare();
    await rotate(business, '1h');
    page = await openTab(world, business, 'token', world.keys.spareReader);
    await page.getByText('With read-only access, you do not see the whole token').waitFor();
    expect((await working()).map((line) => line.slice(0, 17))).toEqual([`${tail(business.token)} works until`]);
    expect(await page.locator('#console .room').getByRole('button').count()).toBe(0);
    expect(await page.locator('#console').innerText()).not.toContain(business.token);
    await expectAccessible(page);
  });
});
