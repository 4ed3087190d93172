// The Token view of a business in the console: copying and replacing the token, and old tokens in their grace period.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, type Spare } from './console.ts';
import { continueRequest, goTo, loseResponse, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, hold } = stepsOn(() => page);

const OPENER = 'Replace the token…';
const KEEP = 'Replace, and keep the old one for 24 hours';
const STOP = 'Stop the old tokens now';
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
const working = () => page.locator('.endings li').allInnerTexts();
const isRed = (name: string) => button(name).evaluate((shown) => shown.classList.contains('danger'));

test('the tag and the token are copied, or selected if the browser denies access to the clipboard', async () => {
  const business = await open();
  const { id, token } = business;
  const tag =
    `<script type="module" src="${world.url}/v1/usage-chart.js"></script>\n` +
    `<usage-chart business="${id}" token="${token}"></usage-chart>`;
  for (const [label, text] of [
    ['Copy the tag', tag],
    ['Copy the token', token],
  ] as const) {
    await button(label).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await page.clock.runFor(2000);
    await page.getByText('Copied').waitFor({ state: 'detached' });
  }
  await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))`);
  await button('Copy the tag').click();
  await page.getByText('Not copied. Text selected.').waitFor();
  expect(await page.evaluate('getSelection().toString().trim()')).toBe(tag);
});

test('the view says how many domains restrict the token, with a link to them', async () => {
  const business = await open();
  await page.getByText('The token works on every site, because no domains are registered.').waitFor();
  await world.call('POST', `${business.id}/access`, { sites: ['https://a.example', 'https://b.example'] });
  await button('Refresh').click();
  await page.getByText('The token works only on pages of 2 registered domains.').waitFor();
  await page.locator('#console section.token').getByRole('link', { name: 'Domains' }).click();
  await page.waitForURL(`**/owner#/${business.id}/domains`);
});

describe('replacing the token', () => {
  test('keeps the old token for 24 hours by default, and lists it until it is stopped', async () => {
    const business = await open();
    await button(OPENER).click();
    expect(await isRed(KEEP)).toBe(false);
    await button(KEEP).click();
    await done('The new token is');
    await dialog().waitFor({ state: 'detached' });
    await eventually(focused).toBe(OPENER);
    const { token } = await business.stored();
    expect(token).not.toBe(business.token);
    await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
    expect(await page.locator('.done').innerText()).toBe(
      `The new token is ${tail(token)}. Paste the new tag into your pages.`,
    );
    const listed = (use: string) => [
      expect.stringMatching(
        new RegExp(`^${tail(business.token)} works until \\w+ \\d+, \\d+, \\d\\d:\\d\\d UTC\\. ${use}$`),
      ),
    ];
    await eventually(working).toEqual(listed('Not used since it was replaced\\. Once all .* it is safe to stop\\.'));
    expect(await statusWith(business, business.token)).toBe(200);
    await button('Refresh').click();
    await eventually(working).toEqual(listed('Last used today\\.'));
    await expectAccessible(page);
    await goTo(page, 'changes');
    await page.locator('.entry', { hasText: 'Token replaced' }).waitFor();
  });

  test('stops the old token immediately if the user chooses so, which is styled as dangerous', async () => {
    const business = await open();
    const NOW = 'Replace, and stop the old one now';
    await button(OPENER).click();
    await page.getByLabel('Stop the old token now').check();
    expect(await isRed(NOW)).toBe(true);
    await dialog()
      .getByText(`From the next request, pages with ${tail(business.token)} are refused.`)
      .waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await eventually(focused).toBe(OPENER);
    expect((await business.stored()).token).toBe(business.token);
    await button(OPENER).click();
    expect(await page.getByLabel('Keep the old token for 24 hours').isChecked()).toBe(true);
    await page.getByLabel('Stop the old token now').check();
    await button(NOW).click();
    await done('The old one no longer works. Paste the new tag into your pages.');
    expect(await working()).toEqual([]);
    expect(await statusWith(business, business.token)).toBe(401);
  });

  test('shows the stored token when the response is lost, and keeps the old one for 7 days if the user chooses so', async () => {
    const business = await open();
    await button(OPENER).click();
    await page.getByLabel('Keep the old token for 7 days').check();
    (await hold('POST')).release(loseResponse);
    await button('Replace, and keep the old one for 7 days').click();
    await dialog().getByText('The change may have been made anyway').waitFor();
    const { token, former_tokens } = await world.call('GET', `${business.id}`);
    const [days = 0] = former_tokens.map(({ expires_at }) => (Date.parse(expires_at) - Date.now()) / DAY_MS);
    expect(days).toBeCloseTo(7, 1);
    await page.locator('pre', { hasText: `token="${token}"` }).waitFor();
    await button('Cancel').click();
    await eventually(focused).toBe(OPENER);
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
    await eventually(async () => (await working()).join()).not.toContain(tail(business.token));
    expect(await working()).toHaveLength(5);
    expect(await statusWith(business, business.token)).toBe(401);
  });
});

describe('old tokens', () => {
  test('are revoked together, and the current token still works', async () => {
    const business = await world.spare();
    const second = await rotate(business, '1h');
    const third = await rotate(business, '30d');
    page = await openTab(world, business, 'token');
    expect((await working()).map((line) => line.slice(0, 17))).toEqual([
      `${tail(business.token)} works until`,
      `${tail(second)} works until`,
    ]);
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

  test('can be stopped one by one, and say which page still uses them', async () => {
    const business = await world.spare();
    const second = await rotate(business, '1h');
    await rotate(business, '1h');
    const headers = { Authorization: `Bearer ${business.token}`, Origin: 'https://old.example' };
    expect((await fetch(`${world.url}/api/v1/business/usage/${business.id}`, { headers })).status).toBe(200);
    page = await openTab(world, business, 'token');
    const first = page.locator('.endings li').first();
    await eventually(() => first.innerText()).toMatch(
      /Last used today\. Pages: https:\/\/old\.example \(today\)\. Stop …\w{4}…$/,
    );
    await button(`Stop ${tail(business.token)}…`).click();
    await dialog()
      .getByText(`From the next request, pages and servers that still use ${tail(business.token)} are refused.`)
      .waitFor();
    await expectAccessible(page);
    await button('Stop the old token now').click();
    await done(`The old token ${tail(business.token)} no longer works.`);
    await dialog().waitFor({ state: 'detached' });
    expect((await working()).map((line) => line.slice(0, 5))).toEqual([tail(second)]);
    expect(await Promise.all([business.token, second].map((token) => statusWith(business, token)))).toEqual([401, 200]);
  });

  test('disappear after a revocation whose response is lost, and the page keeps the focus', async () => {
    const business = await world.spare();
    await rotate(business, '1h');
    page = await openTab(world, business, 'token');
    (await hold('DELETE')).release(loseResponse);
    await button('Stop it now…').click();
    await button(STOP).click();
    await dialog().getByText('The change may have been made anyway').waitFor();
    await eventually(working).toEqual([]);
    await dialog().getByText('The old tokens no longer work.').waitFor();
    await button('Cancel').click();
    await eventually(focused).toBe(OPENER);
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
