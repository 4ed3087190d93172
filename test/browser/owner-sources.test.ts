// What an owner with five shops asks, and where the console says it: the table of sources, the domains, and what a restriction would stop.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/core/time.ts';
import { dayWords } from '../../src/page/owner/formats.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, expectFits, type Spare, shoot } from './console.ts';
import { openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button } = stepsOn(() => page);

const TODAY = dayOf(new Date());
const SHOPS = [
  'https://a.shop.example',
  'https://b.shop.example',
  'https://*.c.shop.example',
  'https://d.example',
  'https://e.example',
];
const [A = '', B = '', C = '', D = '', E = ''] = SHOPS;
let id = 0;
/** Records uses with a key: from a page of this origin, or from a server with this label. */
async function record(business: Spare, quantity: number, daysAgo: number, from: { origin?: string; label?: string }) {
  const at = `${addDays(TODAY, -daysAgo)}T00:00:00Z`;
  const use = { id: `s${id++}`, at, quantity, ...(from.label !== undefined && { label: from.label }) };
  const headers = {
    Authorization: `Bearer ${world.keys.spare}`,
    ...(from.origin !== undefined && { Origin: from.origin }),
  };
  const answer = await fetch(`${world.url}/api/v1/business/usage/${business.id}`, {
    ...{ method: 'POST', headers, body: JSON.stringify({ uses: [use] }) },
  });
  expect(answer.status).toBe(200);
}
/** Five shops: in the last 28 days, A has 60 uses, C 30 on one subdomain and 7 today, B none, sms 20, and servers without a label 10. */
async function fiveShops(): Promise<Spare> {
  const business = await world.spare(...SHOPS);
  for (const [quantity, daysAgo, from] of [
    [60, 3, { origin: A }],
    [30, 2, { origin: 'https://x.c.shop.example' }],
    [7, 0, { origin: 'https://x.c.shop.example' }],
    [20, 1, { label: 'sms' }],
    [10, 1, {}],
    [40, 30, { origin: A }],
    [60, 30, { origin: 'https://y.c.shop.example' }],
    [5, 30, { origin: B }],
    [8, 30, { label: 'sms' }],
  ] as const)
    await record(business, quantity, daysAgo, from);
  // Without it, there would be no data for all compared days.
  const days = [{ date: addDays(TODAY, -56), count: 5 }];
  await world.operate('PUT', `business/${business.id}/history`, { days });
  return business;
}
const table = () =>
  page.evaluate<string[][]>(
    `Array.from(document.querySelectorAll('.sources tr'), (row) => Array.from(row.cells, (cell) => cell.innerText.split('\\n')[0]))`,
  );
const last = (daysAgo: number) =>
  new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(addDays(TODAY, -daysAgo)),
  );

test('which shop is used most, which not at all, how each changed, and how much comes from servers under which label', async () => {
  const business = await fiveShops();
  page = await world.enter(`#/${business.id}?compare=previous`);
  const rows = () => table().then((all) => all.slice(1));
  await eventually(rows).toEqual([
    [A, '60', '50%', '+50%', last(3), ''],
    [C, '30', '25%', '−50%', last(0), '7'],
    ['sms', '20', '16.7%', '+150%', last(1), ''],
    ['No source', '10', '8.3%', '+100%', last(1), ''],
    [B, '0', '', '−100%', 'None', ''],
    [D, '0', '', '–', 'None', ''],
    [E, '0', '', '–', 'None', ''],
  ]);
  expect((await table())[0]).toEqual(['Source', 'Uses', 'Share', 'Change', 'Last use', 'Today so far']);
  expect(await page.locator('.sources').innerText()).toContain('A wildcard stands for all of its subdomains.');
  const downloading = page.waitForEvent('download');
  await button('Download CSV by source').click();
  expect(readFileSync(await (await downloading).path(), 'utf8')).toMatch(/^\ufeffdate,source,uses\r\n/);
  await expectAccessible(page);
  await shoot(page.locator('.sources'), 'sources', {});
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
    await shoot(page, `sources-${width}`, { fullPage: true });
  }
  // How one shop is used.
  await button('Show only uses of sms').focus();
  await page.keyboard.press('Enter');
  const words = () => page.locator('.usage [role=status].sr-only').innerText();
  await eventually(words).toMatch(/: 20 uses$/);
  expect(await page.locator('.only').innerText()).toBe('Only uses of sms Show all uses');
  await button('Show all uses').click();
  await eventually(words).toMatch(/: 120 uses$/);
  expect(await page.locator('.only').count()).toBe(0);
});

test('the ten sources with the most uses are shown, then all, in a chosen order, without a column of dashes', async () => {
  const business = await world.spare(A);
  for (let n = 1; n <= 12; n++) await record(business, n, 20 - n, { label: `label-${n}` });
  page = await world.enter(`#/${business.id}`);
  const names = () => table().then((all) => all.slice(1).map(([name]) => name));
  await eventually(names).toEqual(Array.from({ length: 10 }, (_, index) => `label-${12 - index}`));
  expect((await table())[0]).toEqual(['Source', 'Uses', 'Share', 'Last use']);
  await button('Show all 13 sources').click();
  await eventually(async () => (await names()).slice(-3)).toEqual(['label-2', 'label-1', A]);
  await button('Show the first 10').click();
  await page.getByLabel('Sort by').selectOption('Last use');
  await eventually(async () => (await names())[0]).toBe('label-12');
  await expectAccessible(page);
});

test('no changes and no earlier sources are shown if most uses of one period have no source', async () => {
  const business = await world.spare(A);
  await record(business, 10, 3, { origin: A });
  await record(business, 20, 30, { origin: A });
  const days = [31, 56].map((daysAgo) => ({ date: addDays(TODAY, -daysAgo), count: 50 }));
  await world.operate('PUT', `business/${business.id}/history`, { days });
  page = await world.enter(`#/${business.id}?compare=previous`);
  await page.getByText(/Not compared with .*: most uses of one period have no source/).waitFor();
  expect(await table()).toEqual([
    ['Source', 'Uses', 'Share', 'Last use'],
    [A, '10', '100%', last(3)],
  ]);
});

test('which registered domains can go, and what a wildcard let in', async () => {
  page = await openTab(world, await fiveShops(), 'domains');
  const UNUSED = `Added on ${last(0)}, no use counted by name yet`;
  const uses = () => page.locator('.box .item small').allInnerTexts();
  await eventually(uses).toEqual([
    `60 uses in 28 days, last on ${last(3)}`,
    UNUSED,
    `30 uses in 28 days, last on ${last(0)}`,
    UNUSED,
    UNUSED,
  ]);
  const unnamed = 'Without a source: 10 uses in 28 days. So a domain that seems unused may be in use.';
  expect(await page.locator('.unnamed').innerText()).toBe(unnamed);
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 900 });
  await expectFits(page);
  await shoot(page, 'domains-used-360', { fullPage: true });
});

test('what a restriction would stop, before it is made, and with what it begins', async () => {
  const business = await world.spare();
  for (const [origin, times] of [
    [A, 3],
    [D, 1],
  ] as const)
    for (let time = 0; time < times; time++) {
      const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
      expect((await fetch(`${world.url}/api/v1/business/usage/${business.id}`, { headers })).status).toBe(200);
    }
  type Seen = { let_in: object[] };
  const seen = async () => ((await world.call('GET', `${business.id}/access/refused`)) as unknown as Seen).let_in;
  await eventually(seen).toHaveLength(2);
  page = await openTab(world, business, 'domains');
  const rows = () => page.locator('.let-in .item .site').allInnerTexts();
  await eventually(async () => (await rows()).toSorted()).toEqual([A, D]);
  await page.getByLabel('Add one or more domains').fill(A);
  const warning = () => page.locator('#site-warning').innerText();
  await eventually(warning).toContain(
    `These pages, which use the token now, would be refused: ${D} (at least 1 time).`,
  );
  await page.getByLabel('Add one or more domains').fill(`${A} ${D}`);
  await eventually(warning).not.toContain('would be refused');
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 900 });
  await expectFits(page);
  await shoot(page, 'let-in-360', { fullPage: true });
  await button('Add all 2').click();
  await eventually(async () => (await business.sites()).toSorted()).toEqual([A, D]);
});

test('what the limit refused', async () => {
  const business = await world.spare();
  await world.operate('PATCH', `business/${business.id}`, { daily_limit: 1 });
  for (const status of [200, 429]) {
    const headers = { Authorization: `Bearer ${business.token}` };
    const answer = await fetch(`${world.url}/api/v1/business/usage/${business.id}`, { method: 'POST', headers });
    expect(answer.status).toBe(status);
  }
  const counted = async () => (await world.call('GET', `${business.id}`)) as unknown as { refused_by_limit: number };
  await eventually(async () => (await counted()).refused_by_limit).toBe(1);
  page = await openTab(world, business, 'usage');
  const limits = () => page.locator('.limits').innerText();
  await eventually(limits).toContain('1 use was refused by a limit this billing month, counting each retry.');
  await page.getByText('Uses that limits refused', { exact: true }).click();
  await page.getByText('1 today so far, counting each retry.').waitFor();
  const table = page.getByRole('table', { name: 'Refused uses by day' });
  await eventually(() => table.innerText()).toMatch(
    new RegExp(`${dayWords(dayOf(new Date()))}\\s+(Refused uses\\s+)?1$`),
  );
  await expectAccessible(page);
});
