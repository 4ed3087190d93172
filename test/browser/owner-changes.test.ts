// The Changes view of a business in the console: entries, filters and paging.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, type Spare } from './console.ts';
import { failWith, holdFrames, openTab, startClock, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, armed, hold } = stepsOn(() => page);

const entries = () => page.locator('.entry');
const titles = () => page.locator('.entry b').allInnerTexts();
const kind = () => page.getByLabel('Type');
const search = () => page.getByLabel('Domain or text');
const hash = () => page.evaluate<string>('location.hash');
/** Returns the text of the focused element. If the element is an entry, returns only its title. */
const focused = () =>
  page.evaluate<string>(`(document.activeElement.querySelector('b') ?? document.activeElement).innerText`);
/** Returns a list that receives the query string of each later request for changes. */
function watch(): string[] {
  const requested: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/changes')) requested.push(decodeURIComponent(url.search));
  });
  return requested;
}
/** Adds and removes domains until the business has `times` more changes. */
async function change({ id }: Spare, times: number): Promise<void> {
  for (let n = 0; n < times / 2; n++) {
    const { access_list } = await world.call('POST', `${id}/access`, { sites: [`https://n${n}.example`] });
    await world.call('DELETE', `${id}/access/${access_list.at(-1)?.id}`);
  }
}

describe('an entry in the change list', () => {
  test('shows who made the change, when, and what changed, under a heading for the day', async () => {
    const business = await world.spare('https://a.example');
    await world.call('POST', `${business.id}/token`, { keep_old: '24h' });
    page = await openTab(world, business, 'changes');
    expect(await titles()).toEqual(['Token replaced', 'Domains added', 'Business created']);
    const today = await entries().first().locator('time').getAttribute('datetime');
    const heading = page.locator('#console').getByRole('heading', { level: 3 }).first();
    expect(await heading.innerText()).toMatch(/^\w+day, \w+ \d+, \d{4}$/);
    expect(await entries().first().locator('time').innerText()).toBe(today?.slice(11, 16));
    expect(await page.locator('.by').first().innerText()).toMatch(
      new RegExp(`^(test|API key) …${world.keys.spare.slice(-4)}$`),
    );
    expect(await entries().nth(1).locator('li').allInnerTexts()).toEqual(['https://a.example']);
    expect(await page.locator('.by').last().innerText()).toMatch(/^operator …/);
    expect(await page.locator('#console').innerText()).not.toMatch(/_|\bnull\b|access id/);
    await expectAccessible(page);
  });

  test('shows the person whom a console link names, and the link beside the name in its own direction', async () => {
    const business = await world.spare('https://a.example');
    page = await openTab(world, business, 'changes');
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
    await expectAccessible(page);
  });

  test('collapses a long list of domains, which opens by keyboard and stays open after a refresh', async () => {
    const sites = Array.from({ length: 100 }, (_, n) => `https://n${n}.example`);
    const business = await world.spare(...sites);
    page = await openTab(world, business, 'changes');
    const added = entries().first();
    expect(await added.locator('.what li li:visible').count()).toBe(5);
    await added.getByText('and 95 more').focus();
    await page.keyboard.press('Enter');
    await added.getByText('https://n99.example').waitFor();
    await expectAccessible(page);
    await world.call('POST', `${business.id}/access`, { sites: ['https://new.example'] });
    await button('Refresh').click();
    await page.getByText('https://new.example').waitFor();
    expect(await page.getByText('https://n99.example').isVisible()).toBe(true);
  });
});

describe('a filter on changes', () => {
  const narrow = async (): Promise<Spare> => {
    const business = await world.spare('https://a.example', 'https://b.example');
    const { access_list } = await business.stored();
    await world.call('DELETE', `${business.id}/access/${access_list[0]?.id}`);
    await world.call('POST', `${business.id}/token`, {});
    return business;
  };

  async function open(): Promise<Spare> {
    const business = await narrow();
    page = await openTab(world, business, 'changes');
    return business;
  }

  test('by type is stored in the URL, and Back undoes it', async () => {
    const business = await open();
    await kind().selectOption('Removing domains');
    await eventually(titles).toEqual(['Domains removed']);
    expect(await hash()).toBe(`#/${business.id}/changes?action=remove_sites`);
    await expectAccessible(page);
    await page.goBack();
    await eventually(titles).toHaveLength(4);
    expect(await kind().inputValue()).toBe('');
    await page.goForward();
    await eventually(titles).toEqual(['Domains removed']);
    expect(await kind().inputValue()).toBe('remove_sites');
  });

  test('applies the last of two types that are chosen within one frame', async () => {
    const business = await open();
    const requested = watch();
    const frames = await holdFrames(page);
    await kind().selectOption('Adding domains');
    await eventually(() => entries().count()).toBe(0); // the filtered list is not loaded yet
    await kind().selectOption('Removing domains');
    await eventually(hash).toBe(`#/${business.id}/changes?action=remove_sites`);
    await frames.release();
    await eventually(titles).toEqual(['Domains removed']);
    await armed();
    expect(await titles()).toEqual(['Domains removed']);
    expect(requested.at(-1)).toBe('?action=remove_sites');
  });

  test('by text sends one request when typing stops, and adds no history entry', async () => {
    const business = await open();
    const before = await page.evaluate('history.length');
    const requested = watch();
    await search().pressSequentially('b.exam', { delay: 30 });
    await eventually(titles).toEqual(['Domains added']);
    expect(requested).toEqual(['?search=b.exam']);
    expect(await hash()).toBe(`#/${business.id}/changes?search=b.exam`);
    expect(await page.evaluate('history.length')).toBe(before);
    await search().fill('a.example');
    await page.keyboard.press('Enter');
    await eventually(titles).toEqual(['Domains removed', 'Domains added']);
    expect(requested).toEqual(['?search=b.exam', '?search=a.example']);
  });

  test('from a URL fills in its fields, and can be cleared', async () => {
    const business = await narrow();
    page = await world.enter(`#/${business.id}/changes?action=rotate_token&search=token&from=2026-01-01&to=9999-12-31`);
    await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('9999-12-31');
    expect(await page.getByLabel('From').inputValue()).toBe('2026-01-01');
    expect(await search().inputValue()).toBe('token');
    expect(await kind().inputValue()).toBe('rotate_token');
    await button('Clear the filters').click();
    await eventually(titles).toHaveLength(4);
    expect(await hash()).toBe(`#/${business.id}/changes`);
    expect(await search().inputValue()).toBe('');
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('changes-action');
  });

  test('without matches says so, and offers to show all changes', async () => {
    await open();
    await search().fill('nobody has ever added this');
    await page.getByText('No changes match.').waitFor();
    await expectAccessible(page);
    await button('Show all changes').click();
    await eventually(titles).toHaveLength(4);
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('changes-action');
  });

  test('with an invalid date or type sends no request, and explains the problem beside the field', async () => {
    const business = await open();
    const requested = watch();
    await page.getByLabel('From').fill('2026-11-02');
    await page.getByLabel('To', { exact: true }).fill('2026-11-01');
    await page.getByText('The last day is before the first day.').waitFor();
    await eventually(() => entries().count()).toBe(0);
    await page.evaluate(`location.hash = '#/${business.id}/changes?from=2026-02-30'`);
    await page.getByText('This is not a valid date. Choose a date in 1970 or later.').waitFor();
    await page.evaluate(`location.hash = '#/${business.id}/changes?action=toString'`);
    await page.getByText('There is no such type of change.').waitFor();
    await expectAccessible(page);
    expect(requested).toEqual([]);
  });

  test('is discarded if the user opens another view while it is debounced', async () => {
    const business = await open();
    await search().fill('b.example');
    await page.getByRole('link', { name: 'Token', exact: true }).click();
    await page.getByRole('heading', { name: /^Token/ }).waitFor();
    await armed();
    expect(await hash()).toBe(`#/${business.id}/token`);
  });

  test('shows the result of the latest request when responses arrive out of order', async () => {
    await open();
    const late = Promise.withResolvers<void>();
    await page.route(/search=b/, async (route) => {
      const response = await route.fetch();
      await late.promise;
      await route.fulfill({ response }).catch(() => {});
    });
    const requested = page.waitForRequest(/search=b/);
    await search().fill('b.example');
    await requested;
    expect(await titles()).toEqual([]); // the earlier list does not match this search
    await search().fill('a.example');
    await eventually(titles).toEqual(['Domains removed', 'Domains added']);
    late.resolve();
    await armed();
    expect(await titles()).toEqual(['Domains removed', 'Domains added']);
  });
});

describe('older changes', () => {
  test('are appended by “Older”, and on the last page the focus moves to the first new entry', async () => {
    const business = await world.spare('https://a.example');
    await change(business, 44);
    page = await openTab(world, business, 'changes');
    await entries().nth(19).waitFor();
    expect(await entries().count()).toBe(20);
    await button('Older').focus();
    await page.keyboard.press('Enter');
    await entries().nth(39).waitFor();
    await eventually(focused).toBe('Older');
    await page.keyboard.press('Enter');
    await page.getByText('Business created').waitFor();
    expect(await entries().count()).toBe(46);
    expect(await button('Older').count()).toBe(0);
    await eventually(() => page.evaluate('document.activeElement === document.querySelectorAll(".entry")[40]')).toBe(
      true,
    );
    await world.call('POST', `${business.id}/access`, { sites: ['https://new.example'] });
    await button('Refresh').click();
    await page.getByText('https://new.example').waitFor();
    expect(await entries().count()).toBe(47); // the loaded pages remain
    await expectAccessible(page);
  });

  test('are requested once by a double click, and can be requested again after a failure', async () => {
    const business = await world.spare('https://a.example');
    await change(business, 22);
    page = await openTab(world, business, 'changes');
    const held = await hold('GET');
    await button('Older').dblclick();
    await button('Loading…').click({ force: true });
    expect(held.calls).toBe(1);
    held.release(failWith(503, 'Service Unavailable'));
    await page.getByText('The service cannot reach its database right now.').waitFor();
    expect(await entries().count()).toBe(20);
    await page.unroute(/\/api\//);
    await button('Older').click();
    await page.getByText('Business created').waitFor();
    expect(await entries().count()).toBe(24);
  });

  test('a late response to an earlier refresh does not replace the list from a later refresh', async () => {
    const business = await world.spare('https://a.example');
    page = await world.enter(`#/${business.id}/changes`, world.keys.spare, { before: startClock });
    await entries().first().waitFor();
    const late = Promise.withResolvers<void>();
    let requested = 0;
    await page.route(/\/changes/, async (route) => {
      requested += 1;
      const isFirst = requested === 1;
      const response = await route.fetch();
      if (isFirst) await late.promise;
      await route.fulfill({ response });
    });
    for (const [index, site] of ['https://b.example', 'https://c.example'].entries()) {
      await world.call('POST', `${business.id}/access`, { sites: [site] });
      await page.clock.fastForward(61_000);
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`); // the user returns to the tab
      await eventually(() => requested).toBe(index + 1);
    }
    const newest = page.locator('.entry', { hasText: 'https://c.example' });
    await newest.waitFor();
    late.resolve();
    await armed();
    expect(await newest.count()).toBe(1);
  });
});
