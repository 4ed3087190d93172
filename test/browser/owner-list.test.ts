// The list of businesses in the console: loading, sorting and searching it, and returning to it from a business.
import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import { addDays } from '../../src/core/time.ts';
import { listedBusiness } from '../business.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, expectContrast, expectFits, shoot, signIn } from './console.ts';
import { holdFrames, stepsOn } from './steps.ts';

// The businesses of `visitServed` do not exist in the service, so their charts log errors, which are allowed here.
const world = consoleOfFile(/^Failed to load resource|^<usage-chart /);
let page: Page;
const { button, armed } = stepsOn(() => page);

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
  const used = Array.from({ length: 56 }, (_, index) => ({ date: addDays(LAST_DAY, index - 55), count: id }));
  return listedBusiness({ id, name: `Store ${id}`, main_domain: `store-${id}.example`, used, ...more });
}

type Answer = (route: Route, json: object) => Promise<void>;
/** Signs in with a stubbed list of businesses. `answer` responds to each request for a page, and may delay or abort it. */
async function visitServed(
  businesses: number | ListedBusiness[],
  answer: Answer = (route, json) => route.fulfill({ json }),
  hash = '',
) {
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
      await served.answer(route, { message: 'Success', data: { businesses, next, read_only: false } });
    });
  page = await world.enter(hash, world.keys.many, { before });
  await button('Sign out').waitFor();
  return served;
}
/** Holds the responses to URLs that match `isHeld` until `release` is called, and then responds as `how` does. */
function holding(isHeld: (url: string) => boolean, how: Answer = (route, json) => route.fulfill({ json })) {
  const released = Promise.withResolvers<void>();
  const answer: Answer = async (route, json) => {
    if (!isHeld(route.request().url())) return route.fulfill({ json });
    await released.promise;
    await how(route, json);
  };
  return { answer, release: released.resolve };
}

describe('signing in with a single business', () => {
  test('opens that business without showing the list, and the back link leads to the list', async () => {
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
});

describe('sorting', () => {
  test('is by what needs attention by default, can be changed by keyboard, and is stored in the URL', async () => {
    await visitMany();
    expect((await names()).slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, n) => `Shop number ${n + 1}`));
    await world.leave();
    page = await world.enter('', world.keys.owner);
    await row('Galactic Counters').waitFor();
    expect((await names()).slice(0, 3)).toEqual([
      ...['Sold Out Tickets', 'Winter Garden', 'Night Train Records'], // reached, suspended, near
    ]);
    await order().focus();
    await page.keyboard.press('ArrowDown');
    await eventually(hash).toBe('#/?sort=name');
    const byName = await names();
    expect(byName).toEqual([...byName].sort((a, b) => a.localeCompare(b, 'en')));
    await eventually(() => page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    await page.reload();
    await row('Galactic Counters').waitFor();
    expect(await names()).toEqual(byName);
    expect(await order().inputValue()).toBe('name');
    await page.goBack();
    await eventually(async () => (await names())[0]).toBe('Sold Out Tickets');
    expect(await order().inputValue()).toBe('attention');
  });

  test('by last change shows when each business was last changed', async () => {
    await visitServed([listed(1), listed(2, { updated_at: '2026-02-03T00:00:00.000Z' }), listed(3)]);
    await order().selectOption('Last changed');
    await eventually(names).toEqual(['Store 2', 'Store 1', 'Store 3']);
    await row('Store 2').getByText('changed Feb 3, 2026').waitFor();
  });
});

test('a row describes growth and uses in words, and shows a mark only if the business needs attention', async () => {
  // 28 days and the 28 before. The last of each is not compared, because today is not over.
  const uses = (before = 0, now = 0, today = 0) =>
    Array.from({ length: 56 }, (_, index) => ({
      date: addDays(LAST_DAY, index - 55),
      count: index === 55 ? today : index < 28 ? before : now,
    }));
  const limits = {
    daily: null,
    today: null,
    day_ends: null,
    billing_day: 1,
    next_billing_day: null,
    from: null,
    overage: 0,
    page_overage: false,
    alert_at: [80, 100],
    month_starts: '2026-03-01T00:00:00.000Z',
    month_ends: '2026-04-01T00:00:00.000Z',
  };
  await visitServed([
    listed(1, { name: 'A', used: uses(100, 112, 9000) }),
    listed(2, { name: 'B', used: uses(0, 2), status: 'suspended' }),
    listed(3, { name: 'C', used: uses(), limits: { ...limits, monthly: 100, month: 87, remaining: 13 } }),
    listed(4, { name: 'D', used: uses(4, 3), refused_origins: 3 }),
    listed(5, { name: 'E', used: uses(), limits: { ...limits, monthly: 100, month: 100, remaining: 0 } }),
    listed(6, { name: 'F', used: uses(1, 1234) }),
  ]);
  await total('6 businesses · 36,477 uses in 27 full days');
  const cells = await page
    .locator('.row')
    .evaluateAll((rows: unknown[]) =>
      (rows as { cells: { textContent: string }[] }[]).map(({ cells }) =>
        Array.from(cells, ({ textContent }) => textContent),
      ),
    );
  const inWords = (now: string, before: string) => `: ${now} Mar 3 – 29, 2026; ${before} Feb 3 – Mar 1, 2026`;
  expect(cells.map(([, ...rest]) => rest.map((text) => text.replaceAll('\u2009', ' ')))).toEqual([
    ['Limit reached', `–${inWords('0 uses', '0')}`, '0'],
    ['Suspended', `–${inWords('54 uses', '0')}`, '54'],
    ['87% of monthly limit', `–${inWords('0 uses', '0')}`, '0'],
    ['3 refused origins', `−25%${inWords('81 uses', '108')}`, '81'],
    ['', `+12%${inWords('3,024 uses', '2,700')}`, '3,024'],
    ['', `×1,234${inWords('33,318 uses', '27')}`, '33.3K'],
  ]);
  expect(await page.getByRole('progressbar').evaluateAll((bars) => bars.map((bar) => bar.ariaLabel))).toEqual([
    ...['Limit reached', '87% of monthly limit'],
  ]);
  await order().selectOption('Most growth');
  await eventually(names).toEqual(['F', 'A', 'D', 'B', 'C', 'E']);
  const filters = page.getByRole('navigation', { name: 'Filter' }).getByRole('link');
  expect(await filters.allInnerTexts()).toEqual([
    ...['All 6', 'Needs attention 4', 'Limit reached 1', 'Near or over limit 1', 'Refused 1', 'Not active 1'],
  ]);
  await filters.nth(1).focus();
  await page.keyboard.press('Enter');
  await eventually(names).toEqual(['D', 'B', 'C', 'E']);
  expect(await hash()).toBe('#/?sort=growth&show=attention');
  await total('4 of 6 businesses · 135 uses in 27 full days');
  const downloading = page.waitForEvent('download');
  await button('Download CSV').click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe('Businesses, Mar 3 – 29, 2026 vs Feb 3 – Mar 1, 2026.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect([lines.length, ...lines.slice(0, 2)]).toEqual([
    ...[1 + 4 * 27, 'business_id,business,date,uses,compared_date,compared_uses', '4,D,2026-03-03,3,2026-02-03,4'],
  ]);
  await search().fill('nobody');
  await button('Show all').click();
  await eventually(names).toHaveLength(6);
});

test('a business has the same total and change in the list as in its view', async () => {
  page = await world.enter('', world.keys.owner);
  await row('Galactic Counters').waitFor();
  const shown = await page.locator('.row').evaluateAll((rows: unknown[]) =>
    (rows as { querySelector: (selector: string) => { title: string; innerText: string } }[]).map((one) => ({
      name: one.querySelector('.label').innerText,
      total: one.querySelector('.count').title,
      change: one.querySelector('.growth').innerText.split('\n')[0]?.replace(/:.*|–/s, '') ?? '',
    })),
  );
  expect(shown.length).toBeGreaterThan(5);
  for (const { name, total, change } of shown) {
    await page.getByRole('link', { name, exact: true }).click();
    await opened(name);
    await page.locator('.drawing[aria-busy="false"]').waitFor();
    const head = async () => (await page.locator('usage-chart [part=total]').innerText()).replaceAll(/\s+/g, ' ');
    await eventually(head).toMatch(/use/);
    expect(`${await head()} `.startsWith(`${`${total} ${change}`.trim()} `), `${name}: ${await head()}`).toBe(true);
    await page.goBack();
    await row('Galactic Counters').waitFor();
    await armed();
  }
});

describe('the list search', () => {
  test('ignores accents, case and word order, and updates the URL while the user types', async () => {
    const cafe = listed(4, { name: 'Zürich Café', main_domain: 'xn--bcher-kva.example' });
    await visitServed([listed(1), listed(2), listed(3), cafe]);
    await total('4 businesses');
    await search().pressSequentially('CAFE zurich');
    await total('1 of 4 businesses');
    expect(await hash()).toBe('#/?q=CAFE+zurich');
    await eventually(focused).toBe('businesses-search');
    await search().fill('bücher');
    await total('1 of 4 businesses');
    await page.reload();
    await total('1 of 4 businesses');
    expect(await search().inputValue()).toBe('bücher');
    await search().press('Escape');
    await total('4 businesses');
    expect(await hash()).toBe('#/');
    await eventually(focused).toBe('businesses-search');
  });

  test('without matches says so, and “Clear search” returns the focus to the field', async () => {
    await visitMany();
    await search().fill('nothing like it');
    await page.getByText('No businesses match “nothing like it”.').waitFor();
    await button('Clear search').click();
    await total(`${world.many} businesses`);
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('businesses-search');
  });

  test('opens the only match on Enter, and otherwise explains why it does not', async () => {
    await visitMany();
    await search().fill('NUMBER 4');
    await total(`7 of ${world.many} businesses`);
    await search().press('Enter');
    await page.getByText('7 businesses match. Keep typing, or choose one.').waitFor();
    expect(await hash()).toBe('#/?q=NUMBER+4');
    await search().fill('example shop-44');
    await total(`1 of ${world.many} businesses`);
    expect(await page.getByText('Keep typing').count()).toBe(0);
    await search().press('Enter');
    await opened('Shop number 44');
    await page.goBack();
    await total(`1 of ${world.many} businesses`);
    expect(await search().inputValue()).toBe('example shop-44');
  });

  test('does not open the only match on Enter while more businesses are loading', async () => {
    const { answer, release } = holding((url) => url.includes('after='));
    await visitServed(60, answer);
    await search().fill('store 7');
    await total('1 of 50 businesses so far');
    await search().press('Enter');
    await page.getByText('Some businesses are still loading.').waitFor();
    release();
    await total('1 of 60 businesses');
    expect(await page.getByText('Some businesses are still loading.').count()).toBe(0);
    expect(await hash()).toBe('#/?q=store+7');
  });

  test('is focused by “/” in the list and in a business, but not in a field or with a modifier', async () => {
    await visitMany();
    await page.keyboard.press('/');
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('businesses-search');
    await page.keyboard.press('/');
    expect(await search().inputValue()).toBe('/');
    await search().fill('shop-44');
    await search().press('Enter');
    await opened('Shop number 44');
    await page.keyboard.press('Control+/');
    expect(await page.evaluate('location.hash.includes("q=")')).toBe(false);
    await page.keyboard.down('/');
    await page.keyboard.down('/'); // a held key repeats
    await total(`1 of ${world.many} businesses`);
    await page.keyboard.down('/');
    await page.keyboard.up('/');
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('businesses-search');
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
  });

  test('requests the list once, even if it is rendered twice before the first frame', async () => {
    const served = await visitServed(3);
    await total('3 businesses');
    await page.getByRole('link', { name: 'Store 2' }).click();
    await page.getByRole('link', { name: '← Businesses' }).waitFor();
    const frames = await holdFrames(page);
    await page.evaluate(`location.hash = '#/'`);
    await row('Store 2').waitFor();
    await order().selectOption('Most uses');
    await eventually(async () => (await names())[0]).toBe('Store 3');
    await frames.release();
    await eventually(() => served.requested).toEqual([0, 0]);
    await armed();
    expect(served.requested).toEqual([0, 0]);
  });

  test('keeps the search and the sort order, and refreshes the list', async () => {
    const served = await visitServed(30);
    await order().selectOption('Most uses');
    await search().fill('store 2');
    await total('11 of 30 businesses');
    await armed();
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

  test('does not restore the scroll position or the focus in the next session', async () => {
    await visitMany();
    await page.getByRole('link', { name: 'Shop number 40', exact: true }).click();
    await opened('Shop number 40');
    await button('Sign out').click();
    await signIn(page, world.keys.many);
    await total(`${world.many} businesses`);
    expect(await top()).toBe(0);
    await eventually(focused).toBe('Businesses');
  });
});

describe('refreshing the list', () => {
  test('updates the rows in place, keeps the scroll position and the focus, and sends one request', async () => {
    const served = await visitServed(30);
    await total('30 businesses');
    await page.getByText(/^Updated \d\d:\d\d$/).waitFor();
    const link = page.getByRole('link', { name: 'Store 20' });
    await link.focus();
    const before = await top();
    const element = await link.elementHandle();
    served.all = served.all.filter(({ id }) => id !== 21).map(({ id }) => listed(id, { status: 'suspended' }));
    await page.clock.fastForward(120_000);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await total('29 businesses');
    expect(await page.getByText('Suspended').count()).toBe(29);
    expect(await element?.evaluate((node: { isConnected: boolean }) => node.isConnected)).toBe(true);
    await eventually(focused).toBe('Store 20');
    expect(await top()).toBe(before);
    expect(served.requested).toEqual([0, 0]);
  });

  test('moves the focus to the total when it removes the focused row', async () => {
    const served = await visitServed(3);
    await page.getByRole('link', { name: 'Store 2' }).focus();
    served.all = [listed(1), listed(3)];
    await page.clock.fastForward(120_000);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await total('2 businesses');
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('total');
  });

  test('keeps the rows after a failure, says how old they are, and can be tried again', async () => {
    const served = await visitServed(3);
    await total('3 businesses');
    served.answer = (route) => route.abort();
    await button('Refresh').click();
    await page.getByRole('alert').filter({ hasText: 'Could not refresh. Showing' }).waitFor();
    expect(await names()).toHaveLength(3);
    served.answer = (route, json) => route.fulfill({ json });
    await button('Try again').focus();
    await page.keyboard.press('Enter');
    await button('Refresh').waitFor();
    await eventually(() => page.evaluate('document.activeElement.textContent')).toBe('Refresh');
  });
});

describe('a long list of businesses', () => {
  test('appears when its first page is loaded, and loading can continue after the last loaded page if a request fails', async () => {
    const { answer, release } = holding(
      (url) => url.includes('after=50'),
      (route) => route.abort(),
    );
    const served = await visitServed(120, answer);
    await total('50 businesses so far');
    expect(await names()).toHaveLength(50);
    release();
    await page.getByRole('alert').filter({ hasText: 'Only 50 businesses could be loaded.' }).waitFor();
    expect(await names()).toHaveLength(50);
    served.answer = (route, json) => route.fulfill({ json });
    await button('Continue').click();
    await total(/^120 businesses · 196,020 uses in 27 full days/);
    expect(served.requested).toEqual([0, 50, 50, 100]);
    expect(await page.getByRole('alert').filter({ hasText: 'could be loaded' }).count()).toBe(0);
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
    await armed();
    expect(await hash()).toBe('');
    const before = await top();
    await page.getByRole('link', { name: 'Store 110' }).click();
    await page.getByRole('link', { name: '← Businesses' }).click();
    await eventually(names).toHaveLength(120);
    await eventually(focused).toBe('Store 110');
    expect(await top()).toBeGreaterThanOrEqual(before);
  });

  test('loads more than 500 businesses only on request', async () => {
    const served = await visitServed(600);
    await page.getByText('The first 500 businesses are loaded.').waitFor();
    await total('The first 500 businesses');
    expect(served.requested).toHaveLength(10);
    await search().fill('store 7');
    await total('11 of the first 500 businesses');
    await search().fill('store 77 77');
    await search().press('Enter');
    await page.getByText('There may be more matches among the businesses that are not loaded.').waitFor();
    await search().fill('');
    await button('Load more').focus();
    await page.keyboard.press('Enter');
    await total('600 businesses');
    expect(served.requested).toHaveLength(12);
    expect(await button('Load more').count()).toBe(0);
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('total');
  });

  /**
   * Refreshes with the clock paused, and clicks where a row was. Expects the click to open nothing until the row that now appears there is
   * armed.
   */
  async function pressWhere(name: string, isThere: () => Promise<void>): Promise<void> {
    const { x = 0, y = 0 } = (await page.getByRole('link', { name, exact: true }).boundingBox()) ?? {};
    await page.clock.pauseAt(Date.now() + 60_000);
    await button('Refresh').click();
    await page.clock.runFor(50);
    await isThere();
    await page.mouse.click(x + 2, y + 2);
    expect(await hash()).toBe('');
    await armed();
    await page.mouse.click(x + 2, y + 2);
    await page.getByRole('link', { name: '← Businesses' }).waitFor();
  }

  test('ignores a click on a new row that has just appeared under the pointer', async () => {
    const served = await visitServed(120);
    await total('120 businesses');
    served.all = [listed(1, { name: 'A' }), listed(2, { name: 'B' }), ...served.all];
    await pressWhere('Store 3', () => page.getByRole('link', { name: 'B', exact: true }).waitFor());
  });

  test('a failed refresh moves no row', async () => {
    const served = await visitServed(30);
    await total('30 businesses');
    const place = () => page.getByRole('link', { name: 'Store 3', exact: true }).boundingBox();
    const before = await place();
    served.answer = (route) => route.abort();
    await button('Refresh').click();
    await button('Try again').waitFor();
    expect(await place()).toEqual(before);
  });
});

test('the list with marks, the search hint and “Load more” is accessible and fits', async () => {
  const limits = {
    daily: 100,
    today: 85,
    day_ends: null,
    billing_day: 1,
    next_billing_day: null,
    from: null,
    overage: 0,
    page_overage: false,
    alert_at: [80, 100],
    month_starts: null,
    month_ends: null,
    monthly: null,
    month: null,
  };
  const used = listed(99_999).used.map((day, index) => (index < 15 ? { ...day, count: 15_000 } : day));
  const marked = [
    listed(1, {
      name: 'The Most Remarkable Society for the Propagation of Tulips',
      main_domain: `${'long-label-'.repeat(5)}x.of-a-long-name.example`,
      ...{ status: 'suspended', refused_origins: 12, limits: { ...limits, remaining: 15 } },
    }),
    listed(2, { refused_origins: 1, used: listed(0).used }),
    listed(3, { status: 'suspended', used }),
  ];
  await visitServed(
    [...marked, ...Array.from({ length: 597 }, (_, index) => listed(index + 4))],
    undefined,
    '#/?sort=changed',
  );
  await button('Load more').waitFor();
  const checkAndShoot = async (name: string) => {
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        if (colorScheme === 'light') await expectAccessible(page);
        else await expectContrast(page);
        await expectFits(page);
        await shoot(page, `${name}-${width}-${colorScheme}`);
      }
    }
  };
  await checkAndShoot('list-many');
  await search().fill('store 1');
  await search().press('Enter');
  await page.getByText('Keep typing').waitFor();
  await checkAndShoot('list-search');
});
