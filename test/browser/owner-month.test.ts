// The curve of the billing month in the Usage view: its lines and words, what it reads, and how it looks.
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { LISTED_DAYS } from '../../src/business/rules.ts';
import { addDays, addMonths, dayOf, daysIn } from '../../src/core/time.ts';
import type { BusinessRow } from '../../src/db/schema.ts';
import { monthDays, number } from '../../src/page/owner/formats.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, expectContrast, expectWhole, shoot } from './console.ts';
import { failWith, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button } = stepsOn(() => page);
const TODAY = dayOf(new Date());
const NBSP = /[\u2009\u202f\u00a0]/g;

/** Returns the first of these days on which a billing month can begin. */
const startIn = (daysAgo: number[], isSuitable: (start: string) => boolean = () => true): string | undefined =>
  daysAgo.map((ago) => addDays(TODAY, -ago)).find((start) => Number(start.slice(-2)) <= 28 && isSuitable(start));
/** The month before is among the days of the list. */
const EARLY = startIn([10, 11, 12, 13]) ?? '';
/** The month before begins before the days of the list. Undefined on the last days of some months of March, because February is short. */
const LATE = startIn(
  [30, 29, 28, 27, 26],
  (start) => addMonths(start, 1) > TODAY && addMonths(start, -1) <= addDays(TODAY, -LISTED_DAYS),
);

const usesOn = (date: string, mean: number) => mean + (Number(date.slice(-2)) % 7);
const SO_FAR = 5;

/** Creates a business whose billing month began on this day, with uses since the month before. */
async function metered(start: string, monthly_limit: number) {
  const fields = { user_id: world.users.spare, name: 'Metered', main_domain: 'metered.example', country_id: 1 };
  const plan = { business_size: 'small', billing_day: Number(start.slice(-2)) };
  const business = await world.operate<BusinessRow>('POST', 'business', {
    ...fields,
    ...plan,
    site: 'https://metered.example',
  });
  const before = { from: addMonths(start, -1), to: addDays(start, -1) };
  const countsOf = (from: string, to: string, mean: number) =>
    Array.from({ length: daysIn({ from, to }) }, (_, index) => usesOn(addDays(from, index), mean));
  const [earlier, past] = [countsOf(before.from, before.to, 30), countsOf(start, addDays(TODAY, -1), 20)];
  const days = [...earlier, ...past].map((count, index) => ({ date: addDays(before.from, index), count }));
  await world.operate('PUT', `business/${business.id}/history`, { days });
  await world.call('POST', `usage/${business.id}`, { uses: [{ id: 'today', quantity: SO_FAR }] });
  await world.operate('PATCH', `business/${business.id}`, { monthly_limit });
  return { ...business, before, earlier, past };
}

/** Opens the view. Returns the first days of the reports that are requested. */
async function open({ id }: { id: number }): Promise<string[]> {
  const requested: string[] = [];
  page = await world.enter(`#/${id}`, world.keys.spare, {
    before: async (of) => {
      of.on('request', (request: Request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname.includes('/business/usage/') && !searchParams.has('by'))
          requested.push(`${searchParams.get('from')}`);
      });
    },
  });
  await page.locator('.drawing[aria-busy="false"] usage-chart .bar').first().waitFor({ state: 'attached' });
  return requested;
}

const curve = () => page.locator('.curve');
const unfold = () => curve().locator('summary').click();
const lines = () =>
  curve()
    .locator('path')
    .evaluateAll((all) => all.map((path) => path.getAttribute('class')));
/** The points of a line, from the left and the bottom, in percent. */
async function pointsOf(line: string): Promise<[x: number, y: number][]> {
  const numbers = ((await curve().locator(`path.${line}`).getAttribute('d')) ?? '').slice(1).split(',').map(Number);
  return numbers.flatMap((x, index) => (index % 2 === 0 ? [[x, 100 - (numbers[index + 1] ?? Number.NaN)]] : []));
}
const wordsIn = async () => (await curve().locator('li').allInnerTexts()).map((words) => words.replaceAll(NBSP, ' '));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

test('the curve shows the month under its limit, its forecast, and the month before, in lines and in words, without a request', async () => {
  const limit = 2000;
  const business = await metered(EARLY, limit);
  const requested = await open(business);
  requested.length = 0;
  await eventually(() => page.locator('.meter').innerText()).toContain('about ');
  expect(await curve().locator('svg').isVisible()).toBe(false);
  await unfold();
  await eventually(lines).toEqual(['earlier', 'expected', 'used', 'limit']);
  const { before, earlier, past } = business;
  const used = await pointsOf('used');
  const [x = 0, y = 0] = used.at(-1) ?? [];
  expect(used).toHaveLength(past.length + 2);
  expect(used[0]).toEqual([0, 0]);
  expect(used.at(-2)?.[1]).toBeCloseTo((100 * sum(past)) / limit, 6);
  expect(y).toBeCloseTo((100 * (sum(past) + SO_FAR)) / limit, 6);
  const length = daysIn({ from: EARLY, to: addDays(addMonths(EARLY, 1), -1) });
  expect(x).toBeGreaterThan((100 * past.length) / length);
  expect(x).toBeLessThan((100 * (past.length + 1)) / length);
  const expected = await pointsOf('expected');
  expect(expected[0]?.[1]).toBeCloseTo(y, 6);
  expect(expected.at(-1)?.[0]).toBe(100);
  const drawn = Math.min(earlier.length, length);
  expect((await pointsOf('earlier')).at(-1)?.map((value) => value.toFixed(6))).toEqual(
    [(100 * drawn) / length, (100 * sum(earlier.slice(0, drawn))) / limit].map((value) => value.toFixed(6)),
  );
  expect(await pointsOf('limit')).toEqual([
    [0, 100],
    [100, 100],
  ]);
  const same = sum(earlier.slice(0, past.length));
  const asOf = monthDays(addDays(before.from, past.length - 1));
  const [, forecast = ''] =
    /left · ([\w ,]+)/.exec((await page.locator('.meter').innerText()).replaceAll(NBSP, ' ')) ?? [];
  const words = [
    `Limit: ${number(limit)}`,
    `This month: ${number(sum(past) + SO_FAR)} so far`,
    `Forecast: ${forecast}`,
    `${monthDays(before.from, before.to)}: ${number(sum(earlier))} in all, ${number(same)} by ${asOf}; ` +
      `this month has ${number(same - sum(past))} fewer by ${monthDays(addDays(TODAY, -1))}`,
  ].map((text) => text.replaceAll(NBSP, ' '));
  expect(forecast).toMatch(/^about \d+ by /);
  expect(await wordsIn()).toEqual(words);
  expect((await curve().locator('svg').getAttribute('aria-label'))?.replaceAll(NBSP, ' ')).toBe(words.join('; '));
  expect(requested).toEqual([]);
  await expectAccessible(page);
  await shoot(page, 'month-1280');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectContrast(page);
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
  const colors = await curve()
    .locator('path')
    .evaluateAll((all) => all.map((path) => getComputedStyle(path).stroke));
  expect(new Set(colors).size).toBe(3); // the forecast has the color of the uses, but is dashed
  await page.emulateMedia({ forcedColors: 'none' });
  for (const width of [360, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await expectWhole(page);
    await shoot(curve(), `month-${width}`);
  }
});

test.skipIf(LATE === undefined)(
  'an earlier month before is read when the curve is opened, and if that fails, the curve is drawn without it',
  async () => {
    const business = await metered(LATE ?? '', 100);
    const requested = await open(business);
    expect(requested).not.toContain(business.before.from);
    requested.length = 0;
    const report = (url: URL) => url.searchParams.get('from') === business.before.from;
    await page.route(report, failWith(503, 'x'));
    await unfold();
    await curve().getByRole('alert').filter({ hasText: 'The service cannot reach its database right now.' }).waitFor();
    expect(await lines()).toEqual(['used', 'limit']);
    expect(await wordsIn()).toEqual(['Limit: 100', `This month: ${number(sum(business.past) + SO_FAR)} so far`]);
    // Beyond the limit, the scale grows with the uses.
    expect((await pointsOf('used')).at(-1)?.[1]).toBeCloseTo(100, 6);
    expect((await pointsOf('limit'))[0]?.[1]).toBeCloseTo((100 * 100) / (sum(business.past) + SO_FAR), 6);
    await expectAccessible(page);
    await page.unroute(report);
    await button('Try again').click();
    await eventually(lines).toEqual(['earlier', 'used', 'limit']);
    expect(requested.filter((from) => from === business.before.from)).toHaveLength(2);
  },
);

test('a business without a monthly limit has no curve', async () => {
  const business = await world.spare();
  await world.operate('PATCH', `business/${business.id}`, { daily_limit: 10 });
  page = await world.enter(`#/${business.id}`);
  await page.locator('.meter').waitFor();
  expect(await curve().count()).toBe(0);
});
