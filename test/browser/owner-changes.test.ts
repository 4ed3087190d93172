// The Changes view of a business in the console: entries, filters and paging.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, type Spare } from './console.ts';
import { failWith, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, armed } = stepsOn(() => page);

const entries = () => page.locator('.entry');
const titles = () => page.locator('.entry b').allInnerTexts();
const kind = () => page.getByLabel('Type');
const search = () => page.getByLabel('Domain, name or text');
const hash = () => page.evaluate<string>('location.hash');
const focused = () => page.evaluate<string>('document.activeElement.id || document.activeElement.innerText');
/** Returns a list that receives the query string of each later request for changes. */
function watch(): string[] {
  const requested: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/changes')) requested.push(decodeURIComponent(url.search));
  });
  return requested;
}
/** Creates a business with four changes. */
async function changed(): Promise<Spare> {
  const business = await world.spare('https://a.example', 'https://b.example');
  const { access_list } = await business.stored();
  await world.call('DELETE', `${business.id}/access/${access_list[0]?.id}`);
  await world.call('POST', `${business.id}/token`, { keep_old: '24h' });
  return business;
}

test('an entry shows who made the change, when, and what changed, under a heading for the day', async () => {
  page = await openTab(world, await changed(), 'changes');
  expect(await titles()).toEqual(['Token replaced', 'Domains removed', 'Domains added', 'Business created']);
  const at = await entries().first().locator('time').getAttribute('datetime');
  const heading = page.locator('#console').getByRole('heading', { level: 3 }).first();
  expect(await heading.innerText()).toMatch(/^\w+day, \w+ \d+, \d{4}$/);
  expect(await entries().first().locator('time').innerText()).toBe(at?.slice(11, 16));
  const who = new RegExp(`^(test|API key) …${world.keys.spare.slice(-4)}$`);
  expect(await page.locator('.by').first().innerText()).toMatch(who);
  expect(await entries().nth(1).locator('li').allInnerTexts()).toEqual(['https://a.example']);
  expect(await page.locator('.by').last().innerText()).toMatch(/^operator …/);
  expect(await page.locator('#console').innerText()).not.toMatch(/_|\bnull\b|access id/);
  await expectAccessible(page);
  // The name of a person, which a console link can set, is shown in its own direction.
  await page.route(/\/changes/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    Object.assign(body.data.changes[0], { actor: 'console link (…wxyz)', key_name: null, actor_name: 'שרה' });
    await route.fulfill({ response, json: body });
  });
  await button('Refresh').click();
  const by = page.locator('.by').first();
  await eventually(() => by.innerText()).toBe('שרה (console link …wxyz)');
  expect(await by.locator('bdi').innerText()).toBe('שרה');
});

test('an entry collapses a long list of domains, which opens by keyboard', async () => {
  const business = await world.spare(...Array.from({ length: 100 }, (_, n) => `https://n${n}.example`));
  page = await openTab(world, business, 'changes');
  const added = entries().first();
  expect(await added.locator('.what li li:visible').count()).toBe(5);
  await added.getByText('and 95 more').focus();
  await page.keyboard.press('Enter');
  await added.getByText('https://n99.example').waitFor();
  await expectAccessible(page);
});

test('filters are stored in the URL, from which Back and a link restore them, until they are cleared', async () => {
  const business = await changed();
  page = await openTab(world, business, 'changes');
  await kind().selectOption('Domains removed');
  await eventually(titles).toEqual(['Domains removed']);
  expect(await hash()).toBe(`#/${business.id}/changes?action=remove_sites`);
  await page.goBack();
  await eventually(titles).toHaveLength(4);
  expect(await kind().inputValue()).toBe('');
  await page.evaluate(
    `location.hash = '#/${business.id}/changes?action=rotate_token&search=token&from=2026-01-01&to=9999-12-31'`,
  );
  await eventually(titles).toEqual(['Token replaced']);
  const fields = [kind(), search(), page.getByLabel('From'), page.getByLabel('To', { exact: true })];
  const values = () => Promise.all(fields.map((field) => field.inputValue()));
  expect(await values()).toEqual(['rotate_token', 'token', '2026-01-01', '9999-12-31']);
  await button('Clear the filters').click();
  await eventually(titles).toHaveLength(4);
  expect([await hash(), await values()]).toEqual([`#/${business.id}/changes`, ['', '', '', '']]);
  await eventually(focused).toBe('changes-action');
});

test('typed filters are requested once, when typing stops, without a history entry', async () => {
  const business = await changed();
  page = await openTab(world, business, 'changes');
  const before = await page.evaluate('history.length');
  const requested = watch();
  await search().pressSequentially('b.exam', { delay: 30 });
  await eventually(titles).toEqual(['Domains added']);
  await search().fill('a.example');
  await page.keyboard.press('Enter');
  await eventually(titles).toEqual(['Domains removed', 'Domains added']);
  expect(await hash()).toBe(`#/${business.id}/changes?search=a.example`);
  await search().fill('nobody has ever added this');
  await page.getByText('No changes match.').waitFor();
  expect(await page.evaluate('history.length')).toBe(before);
  await button('Show all changes').click();
  await eventually(titles).toHaveLength(4);
  await eventually(focused).toBe('changes-action');
  const sent = ['?search=b.exam', '?search=a.example', '?search=nobody+has+ever+added+this', ''];
  expect(requested).toEqual(sent);
  await page.getByLabel('From').fill('2026-11-02');
  await page.getByLabel('To', { exact: true }).fill('2026-11-01');
  await page.getByRole('alert').filter({ hasText: 'The last day is before the first day.' }).waitFor();
  expect(await entries().count()).toBe(0);
  await expectAccessible(page);
  await search().fill('b.example');
  await page.getByRole('link', { name: 'Token', exact: true }).click();
  await page.getByRole('heading', { name: /^Token/ }).waitFor();
  await armed();
  expect(await hash()).toBe(`#/${business.id}/token`); // what was being typed is discarded
});

test('older changes are appended by “Older”, also after a failure, and on the last page the focus moves to the first new entry', async () => {
  const business = await world.spare('https://a.example');
  for (let n = 0; n < 22; n++) {
    const { access_list } = await world.call('POST', `${business.id}/access`, { sites: [`https://n${n}.example`] });
    await world.call('DELETE', `${business.id}/access/${access_list.at(-1)?.id}`);
  }
  page = await openTab(world, business, 'changes');
  await entries().nth(19).waitFor();
  expect(await entries().count()).toBe(20);
  await page.route(/\/changes/, failWith(503, 'Service Unavailable'));
  await button('Older').click();
  await page.getByText('The service cannot reach its database right now.').waitFor();
  expect(await entries().count()).toBe(20);
  await page.unroute(/\/changes/);
  await button('Older').focus();
  await page.keyboard.press('Enter');
  await entries().nth(39).waitFor();
  await eventually(focused).toBe('Older');
  await page.keyboard.press('Enter');
  await page.locator('.entry', { hasText: 'Business created' }).waitFor();
  expect(await entries().count()).toBe(46);
  expect(await button('Older').count()).toBe(0);
  const isOnFirstNew = () => page.evaluate('document.activeElement === document.querySelectorAll(".entry")[40]');
  await eventually(isOnFirstNew).toBe(true);
  await world.call('POST', `${business.id}/access`, { sites: ['https://new.example'] });
  await button('Refresh').click();
  await page.getByText('https://new.example').waitFor();
  expect(await entries().count()).toBe(47); // the loaded pages remain
});
