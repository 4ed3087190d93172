// The list of businesses in the console: loading, sorting and searching it, and returning to it from a business.
import { readFileSync } from 'node:fs';
import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import { addDays, dayOf, type Range } from '../../src/core/time.ts';
import { rangeName } from '../../src/page/owner/file-name.ts';
import { monthDays } from '../../src/page/owner/formats.ts';
import type { Limits } from '../../src/shown-business/description.ts';
import { limitsWith, listedBusiness } from '../business.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, signIn } from './console.ts';
import { stepsOn } from './steps.ts';

// The businesses of `visitServed` do not exist in the service, so their charts log errors, which are allowed here.
const world = consoleOfFile(/^Failed to load resource|^<usage-chart /);
let page: Page;
const { button } = stepsOn(() => page);

const search = () => page.getByRole('searchbox');
const order = () => page.getByLabel('Sort by');
const names = () => page.locator('.row .label').allInnerTexts();
const row = (name: string) => page.getByRole('row', { name });
const opened = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const total = (words: string | RegExp) => page.locator('.total').filter({ hasText: words }).waitFor();
const focused = () => page.evaluate<string>('document.activeElement.innerText || document.activeElement.id');
const top = () => page.evaluate<number>('scrollY');
const hash = () => page.evaluate<string>('location.hash');

async function visitMany(): Promise<void> {
  page = await world.enter('', world.keys.many);
  await total(`${world.many} businesses`);
}

const LAST_DAY = '2026-03-30';
function listed(id: number, more: Partial<ListedBusiness> = {}): ListedBusiness {
  const used = Array.from({ length: 57 }, (_, index) => ({ date: addDays(LAST_DAY, index - 56), count: id }));
  return listedBusiness({ id, name: `Store ${id}`, main_domain: `store-${id}.example`, used, ...more });
}

type Answer = (route: Route, json: object) => Promise<void>;
const respond: Answer = (route, json) => route.fulfill({ json });
/** Signs in with a stubbed list of businesses. `answer` responds to each request for a page, and may delay or abort it. */
async function visitServed(businesses: number | ListedBusiness[], answer = respond) {
  const all =
    typeof businesses === 'number' ? Array.from({ length: businesses }, (_, index) => listed(index + 1)) : businesses;
  const served = { all, answer, requested: [] as number[] };
  const before = (of: Page) =>
    of.route(/\/api\/v1\/business\?/, async (route) => {
      const { searchParams } = new URL(route.request().url());
      const [after, limit] = ['after', 'limit'].map((name) => Number(searchParams.get(name) ?? 0)) as [number, number];
      served.requested.push(after);
      const rest = served.all.filter(({ id }) => id > after);
      const businesses = rest.slice(0, limit);
      const next = rest.length > limit ? (businesses.at(-1)?.id ?? null) : null;
      await served.answer(route, { message: 'Success', data: { businesses, next } });
    });
  page = await world.enter('', world.keys.many, { before });
  await button('Sign out').waitFor();
  return served;
}

test('a single business opens without the list, to which the back link leads', async () => {
  page = await world.visit();
  await page.evaluate(`globalThis.glimpses = 0;
    new MutationObserver(() => { glimpses += document.querySelectorAll('.row, .total:not(:empty)').length })
      .observe(document.body, { childList: true, subtree: true, characterData: true })`);
  await page.evaluate(`location.hash = '#code=${await world.newCode({ business_id: world.tulip.id })}'`);
  await opened(world.tulip.name);
  expect(await page.evaluate('glimpses')).toBe(0);
  await page.getByRole('link', { name: '← Businesses' }).click();
  await row(world.tulip.name).waitFor();
  expect(await names()).toEqual([world.tulip.name]);
  expect(await hash()).toBe('#/');
});

test('what needs attention comes first, and another order can be chosen by keyboard and is stored in the URL', async () => {
  page = await world.enter('', world.keys.owner);
  await row('Galactic Counters').waitFor();
  const first = ['Sold Out Tickets', 'Winter Garden', 'Night Train Records'];
  expect((await names()).slice(0, 3)).toEqual(first);
  const marks = await Promise.all(first.map((name) => row(name).locator('.mark').allInnerTexts()));
  expect(marks).toEqual([['Limit reached'], ['Suspended'], ['86% of daily limit']]);
  await row('Night Train Records').getByRole('progressbar', { name: '86 of 100' }).waitFor();
  await order().focus();
  await page.keyboard.press('ArrowDown');
  await eventually(hash).toBe('#/?sort=name');
  await eventually(async () => (await names())[0]).toBe('First Day Bakery');
  const byName = await names();
  expect(byName).toEqual([...byName].sort((a, b) => a.localeCompare(b, 'en')));
  await eventually(() => page.evaluate('document.activeElement.tagName')).toBe('SELECT');
  await page.reload();
  await row('Galactic Counters').waitFor();
  expect(await names()).toEqual(byName);
  expect(await order().inputValue()).toBe('name');
  await page.goBack();
  await eventually(async () => (await names()).slice(0, 3)).toEqual(first);
  expect(await order().inputValue()).toBe('attention');
  await page.getByRole('link', { name: 'Night Train Records' }).click();
  await page.locator('.business-name .mark', { hasText: '86% of daily limit' }).waitFor();
});

test('a business that stopped is marked in the list and in its view, and the mark leads to the chart', async () => {
  const { id } = await world.spare();
  const today = dayOf(new Date());
  const days = Array.from({ length: 50 }, (_, index) => ({ date: addDays(today, -5 - index), count: 60 }));
  await world.operate('PUT', `business/${id}/history`, { days });
  page = await world.enter('#/?show=silent');
  const mark = page.getByRole('link', { name: `No uses since ${monthDays(addDays(today, -5))}` });
  await mark.focus();
  await page.keyboard.press('Enter');
  await opened('Spare');
  await mark.waitFor();
  expect(await hash()).toBe(`#/${id}/usage/usage`);
  await page.getByText('About 240 are usual on 4 such days.').waitFor();
  await page.getByRole('link', { name: 'Token' }).click();
  await page.getByRole('heading', { name: /^Token/ }).waitFor();
  await mark.click();
  await eventually(focused).toBe('Usage');
});

test('rows describe growth and uses in words, and can be sorted, filtered and downloaded', async () => {
  // 28 full days, the 28 before, and today, which is not over.
  const uses = (before: number, now: number, today = 0) =>
    Array.from({ length: 57 }, (_, index) => ({
      date: addDays(LAST_DAY, index - 56),
      count: index === 56 ? today : index < 28 ? before : now,
    }));
  await visitServed([
    listed(1, { name: 'A', used: uses(100, 112, 9000) }),
    listed(2, { name: 'B', used: uses(0, 2), status: 'suspended', created_at: '2026-02-20T00:00:00.000Z' }),
    listed(3, {
      name: 'C',
      used: uses(4, 3),
      refused_origins: 3,
      limits: limitsWith({ monthly: 1000, month: 89 }),
      updated_at: '2026-02-03T00:00:00.000Z',
    }),
    listed(4, { name: 'D', used: uses(1, 1234) }),
  ]);
  await total('4 businesses · 37,828 uses in 28 full days');
  const cells = await page
    .locator('.row')
    .evaluateAll((rows: unknown[]) =>
      (rows as { cells: { textContent: string }[] }[]).map(({ cells }) =>
        Array.from(cells, ({ textContent }) => textContent.replaceAll('\u2009', ' ')),
      ),
    );
  const inWords = (now: string, before: string) => `: ${now} uses Mar 2 – 29, 2026; ${before} Feb 2 – Mar 1, 2026`;
  expect(cells.map(([, ...rest]) => rest)).toEqual([
    ['Suspended', '–: 56 uses Mar 2 – 29, 2026; no data before Feb 20, 2026', '56', '56'],
    ['3 refused origins', `−25%${inWords('84', '112')}`, '84', '89 of 1,000'],
    ['', `+12%${inWords('3,136', '2,800')}`, '3,136', '12,236'],
    ['', `×1,234${inWords('34,552', '28')}`, '34.6K', '34,553'],
  ]);
  await order().selectOption('Last changed');
  await row('C').getByText('changed Feb 3, 2026').waitFor();
  await order().selectOption('Most growth');
  await eventually(names).toEqual(['D', 'A', 'C', 'B']);
  const filters = page.getByRole('navigation', { name: 'Filter' }).getByRole('link');
  expect(await filters.allInnerTexts()).toEqual(['All 4', 'Needs attention 2', 'Refused 1', 'Not active 1']);
  await filters.nth(1).focus();
  await page.keyboard.press('Enter');
  await eventually(names).toEqual(['C', 'B']);
  expect(await hash()).toBe('#/?sort=growth&show=attention');
  await total('2 of 4 businesses · 140 uses in 28 full days');
  const downloading = page.waitForEvent('download');
  await button('CSV by day').click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe('Businesses, Mar 2 – 29, 2026 vs Feb 2 – Mar 1, 2026.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect([lines.length, ...lines.slice(0, 2)]).toEqual([
    ...[1 + 2 * 28, 'business_id,business,date,uses,compared_date,compared_uses', '3,C,2026-03-02,3,2026-02-02,4'],
  ]);
  await search().fill('nobody');
  await button('Show all').click();
  await eventually(names).toHaveLength(4);
});

test('on a phone, the filters are one line that scrolls sideways, in which the chosen and the focused one are in view', async () => {
  await visitServed([
    listed(1, { status: 'suspended' }),
    listed(2, { refused_origins: 1 }),
    listed(3, { limits: limitsWith({ monthly: 100, month: 90 }) }),
    listed(4, { limits: limitsWith({ monthly: 100, month: 100 }) }),
  ]);
  const line = page.getByRole('navigation', { name: 'Filter' });
  await total('4 businesses');
  const links = await line.getByRole('link').all();
  const isInView = async (link: Locator) => {
    const [outer, inner] = [await line.boundingBox(), await link.boundingBox()];
    return outer && inner && inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width;
  };
  for (const width of [320, 360, 400]) {
    await page.setViewportSize({ width, height: 740 });
    expect((await line.boundingBox())?.height).toBeLessThan(60);
    await order().focus();
    for (const [index, link] of [...links, ...links.toReversed()].entries()) {
      await page.keyboard.press(index < links.length ? 'Tab' : 'Shift+Tab');
      if (index === links.length) await page.keyboard.press('Tab'); // the last one again
      expect(await isInView(link)).toBe(true);
    }
  }
  await links.at(-1)?.click();
  await total('1 of 4 businesses');
  await page.reload();
  await total('1 of 4 businesses');
  const chosen = line.getByRole('link', { name: 'Not active 1' });
  expect(await chosen.getAttribute('aria-current')).toBe('true');
  expect(await isInView(chosen)).toBe(true);
});

test('the last billing month of every business is one file, with what was used, included and beyond', async () => {
  const user_id = 4711;
  const fields = {
    user_id,
    main_domain: 'ledger.example',
    site: 'https://ledger.example',
    country_id: 1,
    business_size: 'small',
  };
  const { api_key } = await world.operate<{ api_key: string }>('POST', `user/${user_id}/keys`);
  const today = dayOf(new Date());
  type Month = Range & { id: number };
  const made: Month[] = [];
  for (const [name, billing_day, monthly_limit] of [
    ['First', 1, 100],
    ['Other', 15, null],
    ['Unused', 1, 100], // created today, so its last month is not invoiced
  ] as const) {
    const { id } = await world.operate<{ id: number }>('POST', 'business', {
      ...fields,
      name,
      billing_day,
      monthly_limit,
    });
    const { limits } = await world.operate<{ limits: Limits }>('GET', `business/${id}`);
    const to = addDays(dayOf(new Date(limits.month_starts)), -1);
    const from = dayOf(new Date(new Date(addDays(to, 1)).setUTCMonth(new Date(addDays(to, 1)).getUTCMonth() - 1)));
    made.push({ id, from, to });
  }
  const [first, other, unused] = made as [Month, Month, Month];
  const days = ({ from, to }: Range) => [addDays(from, -1), from, to, addDays(to, 1)];
  for (const one of [first, other])
    await world.operate('PUT', `business/${one.id}/history`, {
      days: days(one)
        .filter((date) => date < today)
        .map((date) => ({ date, count: 60 })),
    });
  page = await world.enter('', api_key);
  await total('3 businesses');
  const saved = async () => {
    const downloading = page.waitForEvent('download');
    await button('CSV of last billing month').click();
    const file = await downloading;
    return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
  };
  const columns = '\ufeffbusiness_id,business,from,to,uses,monthly_limit,extra,overage,final\r\n';
  const ofFirst = `${first.id},First,${first.from},${first.to},120,100,0,20,no\r\n`;
  const ofOther = `${other.id},Other,${other.from},${other.to},120,,0,,no\r\n`;
  const [name, csv] = await saved();
  expect(csv).toBe(columns + ofFirst + ofOther);
  const [from = '', to = ''] = [first.to, other.to].sort();
  expect(name).toBe(`Billing months to ${rangeName({ from, to })}.csv`);

  await page.route('**/api/v1/usage?*', (route) => route.fulfill({ status: 503, json: { message: 'Busy' } }));
  await button('CSV of last billing month').click();
  await page.getByText(/^Nothing was saved\./).waitFor();
  await page.unroute('**/api/v1/usage?*');
  await search().fill('unused');
  await total('1 of 3 businesses');
  expect(unused.to).toBe(first.to);
  expect((await saved())[1]).toBe(columns);
});

describe('the search', () => {
  const inSearch = () => eventually(() => page.evaluate('document.activeElement.id')).toBe('businesses-search');

  test('updates the URL while the user types, opens the only match on Enter, and is cleared by Escape or a button', async () => {
    const cafe = listed(4, { name: 'Zürich Café', main_domain: 'xn--bcher-kva.example' });
    await visitServed([listed(1), listed(2), listed(3), cafe]);
    await total('4 businesses');
    await search().pressSequentially('CAFE zurich');
    await total('1 of 4 businesses');
    expect(await hash()).toBe('#/?q=CAFE+zurich');
    await inSearch();
    await page.reload();
    await total('1 of 4 businesses');
    expect(await search().inputValue()).toBe('CAFE zurich');
    await search().press('Enter');
    await eventually(hash).toBe('#/4');
    await page.goBack();
    await total('1 of 4 businesses');
    expect(await search().inputValue()).toBe('CAFE zurich');
    await search().press('Escape');
    await total('4 businesses');
    expect(await hash()).toBe('#/');
    await inSearch();
    await search().fill('store');
    await total('3 of 4 businesses');
    await search().press('Enter');
    expect(await hash()).toBe('#/?q=store');
    await search().fill('nothing like it');
    await page.getByText('No businesses match “nothing like it”.').waitFor();
    await button('Clear search').click();
    await total('4 businesses');
    await inSearch();
  });

  test('is focused by “/” in the list and in a business, but not in a field or with a modifier', async () => {
    await visitMany();
    await page.getByRole('link', { name: 'Shop number 45', exact: true }).focus();
    expect(await top()).toBeGreaterThan(0);
    await page.keyboard.press('/');
    await inSearch();
    expect(await search().evaluate((field) => field.getBoundingClientRect().top)).toBeGreaterThan(0);
    await page.keyboard.press('/');
    expect(await search().inputValue()).toBe('/');
    await search().fill('shop-44');
    await search().press('Enter');
    await opened('Shop number 44');
    await page.keyboard.press('Control+/');
    expect(await page.evaluate('location.hash.includes("q=")')).toBe(false);
    await page.keyboard.press('/');
    await total(`1 of ${world.many} businesses`);
    await inSearch();
    expect(await search().inputValue()).toBe('shop-44');
  });
});

describe('returning to the list', () => {
  test('restores the rows, the scroll position and the focus before the service responds', async () => {
    await visitMany();
    const last = page.getByRole('link', { name: 'Shop number 40', exact: true });
    for (const goBack of [
      () => page.goBack(),
      () => page.getByRole('link', { name: '← Businesses' }).click(),
      () => page.getByRole('link', { name: 'Business Usage and Access' }).click(),
    ]) {
      await last.scrollIntoViewIfNeeded();
      const before = await top();
      expect(before).toBeGreaterThan(0);
      await last.click();
      await opened('Shop number 40');
      await page.route(/\/business\?/, () => {}); // never responds
      await goBack();
      await last.waitFor();
      await eventually(top).toBe(before);
      await eventually(focused).toBe('Shop number 40');
      expect(await names()).toHaveLength(world.many);
      await page.unroute(/\/business\?/);
    }
    await last.click();
    await opened('Shop number 40');
    await button('Sign out').click();
    await signIn(page, world.keys.many); // another session restores nothing
    await total(`${world.many} businesses`);
    expect(await top()).toBe(0);
    await eventually(focused).toBe('Businesses');
  });

  test('keeps the search and the sort order, and refreshes the list', async () => {
    const served = await visitServed(30);
    await order().selectOption('Most uses');
    await search().fill('store 2');
    await total('12 of 30 businesses');
    await page.getByRole('link', { name: 'Store 25' }).click();
    await page.getByRole('link', { name: '← Businesses' }).waitFor();
    served.all = served.all.map((business) => (business.id === 25 ? listed(25, { name: 'Store 2500' }) : business));
    await page.getByRole('link', { name: '← Businesses' }).click();
    await page.getByRole('link', { name: 'Store 2500' }).waitFor();
    expect(await search().inputValue()).toBe('store 2');
    expect(await hash()).toBe('#/?sort=uses&q=store+2');
    expect((await names())[0]).toBe('Store 29');
    await eventually(focused).toBe('Store 2500');
  });
});

test('a refresh updates the rows in place and keeps the scroll position and the focus, and one that fails keeps the rows', async () => {
  const served = await visitServed(30);
  await total('30 businesses');
  await page.getByText(/^Updated \d\d:\d\d$/).waitFor();
  const comeBack = async () => {
    await page.clock.fastForward(120_000);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  };
  const link = page.getByRole('link', { name: 'Store 20' });
  await link.focus();
  const before = await top();
  const element = await link.elementHandle();
  served.all = served.all.filter(({ id }) => id !== 21).map(({ id }) => listed(id, { status: 'suspended' }));
  await comeBack();
  await total('29 businesses');
  expect(await page.getByText('Suspended').count()).toBe(29);
  expect(await element?.evaluate((node: { isConnected: boolean }) => node.isConnected)).toBe(true);
  await eventually(focused).toBe('Store 20');
  expect(await top()).toBe(before);
  expect(served.requested).toEqual([0, 0]);
  served.all = served.all.filter(({ id }) => id !== 20); // the focused row
  await comeBack();
  await total('28 businesses');
  await eventually(() => page.evaluate('document.activeElement.className')).toBe('total');
  served.answer = (route) => route.abort();
  await button('Refresh').click();
  await page.getByRole('alert').filter({ hasText: 'Could not refresh. Showing' }).waitFor();
  expect(await names()).toHaveLength(28);
  served.answer = respond;
  await button('Try again').focus();
  await page.keyboard.press('Enter');
  await button('Refresh').waitFor();
  await eventually(focused).toBe('Refresh');
});

describe('a long list of businesses', () => {
  test('appears with its first page, of which Enter opens nothing, and reading can continue after a request that failed', async () => {
    const released = Promise.withResolvers<void>();
    const served = await visitServed(120, async (route, json) => {
      if (!route.request().url().includes('after=50')) return respond(route, json);
      await released.promise;
      await route.abort();
    });
    await total('50 businesses so far');
    expect(await names()).toHaveLength(50);
    const files = page.getByRole('button', { name: /^CSV / });
    expect(await files.count(), 'a file would be incomplete').toBe(0);
    await search().fill('store 50');
    await total('1 of 50 businesses so far');
    await search().press('Enter');
    expect(await hash()).toBe('#/?q=store+50');
    released.resolve();
    await page.getByRole('alert').filter({ hasText: 'Only 50 businesses could be loaded.' }).waitFor();
    await search().fill('');
    served.answer = respond;
    await button('Continue').click();
    await total(/^120 businesses · 203,280 uses in 28 full days/);
    expect(served.requested).toEqual([0, 50, 50, 100]);
    expect(await files.count()).toBe(2);
    expect(await page.getByRole('alert').filter({ hasText: 'could be loaded' }).count()).toBe(0);
  });

  test('is read to its end although the service refuses its pages for a second, and for ten', async () => {
    const waits = ['', '1', '', '10']; // the list waits for a second, and after a failure the refresh asks again
    const served = await visitServed(120, async (route, json) => {
      const wait = waits.shift();
      if (!wait) return respond(route, json);
      const headers = { 'Retry-After': wait, 'Error-Code': 'rate_limited' };
      return route.fulfill({ status: 429, headers, json: { message: 'Too Many Attempts' } });
    });
    for (const [read, words] of [
      [50, '50 businesses so far'],
      [100, '100 businesses so far'],
      [120, /^120 businesses ·/],
    ] as const) {
      await total(words);
      if (read < 120) {
        await eventually(() => served.requested.filter((after) => after === read).length).toBe(1);
        if (read === 100)
          await page.getByRole('alert').filter({ hasText: 'Only 100 businesses could be loaded.' }).waitFor();
        await page.clock.runFor(read === 50 ? 1000 : 10_000);
      }
    }
    expect(served.requested).toEqual([0, 50, 50, 100, 100]);
  });

  test('shows 100 rows at first, and “Show more” focuses the first new row', async () => {
    await visitServed(120);
    await total('120 businesses');
    expect(await names()).toHaveLength(100);
    await page.getByText('Showing 100 of 120.').waitFor();
    await button('Show more').dblclick();
    await eventually(names).toHaveLength(120);
    await eventually(focused).toBe('Store 101');
    expect(await button('Show more').count()).toBe(0);
    expect(await hash()).toBe('');
    const before = await top();
    await page.getByRole('link', { name: 'Store 110' }).click();
    await page.getByRole('link', { name: '← Businesses' }).click();
    await eventually(names).toHaveLength(120);
    await eventually(focused).toBe('Store 110');
    expect(await top()).toBeGreaterThanOrEqual(before);
  });
});
