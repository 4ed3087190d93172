// The Usage view of a business in the console: its days, figures, CSV file and limits.
import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { LISTED_DAYS } from '../../src/business/rules.ts';
import { addDays, DAY_MS, dayOf } from '../../src/core/time.ts';
import { dayWords, rangeWords } from '../../src/page/owner/formats.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Entry, expectAccessible, shoot } from './console.ts';
import { failWith, startClock, stepsOn, withServiceClock } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button } = stepsOn(() => page);
const today = () => dayOf(new Date());
const until = (check: () => Promise<void>) => vi.waitFor(check, 20_000);

/** Recorded uses, by the number of days before today. */
type History = [daysAgo: number, uses: number][];
const HISTORY: History = Array.from({ length: 34 }, (_, index) => [index, 10 + ((index * 7) % 13)]);

/** Creates a business with this history. All days in the history are recent enough for uses to be recorded on them. */
async function used(history = HISTORY) {
  const business = await world.spare();
  const uses = history.map(([ago, quantity]) => {
    const at = ago === 0 ? {} : { at: `${addDays(today(), -ago)}T12:00:00Z` };
    return { id: `day-${ago}`, quantity, ...at };
  });
  if (uses.length > 0) await world.call('POST', `usage/${business.id}`, { uses });
  return business;
}

const dateOf = (end: 'From' | 'To') => page.getByLabel(end, { exact: true });
const days = () => page.getByLabel('Days', { exact: true });
/** The first and last day of the chart. */
const rangeIn = () =>
  page.evaluate<string[]>(`[0, -1].map((at) => document.querySelector('usage-chart')?.data?.used.at(at).date)`);
const figure = (name: string) =>
  page.locator('.figures > div', { has: page.locator('dt', { hasText: name }) }).locator('dd');
const chart = () => page.locator('usage-chart');
const head = async (part: 'total' | 'range') =>
  (await page.locator(`usage-chart [part=${part}]`).innerText()).replaceAll(/\s+/g, ' ');
const query = async () => (await page.evaluate<string>('location.hash')).split('?')[1] ?? '';
/** Waits until the report and its comparison are shown. */
const settled = () =>
  page.locator('.drawing[aria-busy="false"] usage-chart .bar').first().waitFor({ state: 'attached' });
const shows = async (from: string, to: string) => {
  await until(async () => expect(await rangeIn()).toEqual([from, to]));
  await settled();
};
const focused = () => page.evaluate('document.activeElement?.id || document.activeElement?.tagName');

/** Opens the view with a query string. Returns the days requested for each report, except those by source. */
async function open({ id }: { id: number }, chosen = '', entry: Entry = {}, key = world.keys.spare): Promise<string[]> {
  const requested: string[] = [];
  page = await world.enter(`#/${id}${chosen}`, key, {
    ...entry,
    before: async (of) => {
      of.on('request', (request: Request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (!pathname.includes('/business/usage/') || searchParams.has('by')) return;
        requested.push(`${searchParams.get('from')} ${searchParams.get('to')}`);
      });
      await entry.before?.(of);
    },
  });
  return requested;
}

/** The days of the list, which the view always reads. */
const listed = (to: string) => `${addDays(to, 1 - LISTED_DAYS)} ${to}`;
const note = () => page.locator('.usage > .note').innerText();
const radio = (name: string) => page.getByRole('radio', { name });

test('the last 28 days are shown by default, compared with the previous 28 in one request', async () => {
  const business = await used();
  const days = [{ date: addDays(today(), -56), count: 4 }]; // without it, there would be no data for all compared days
  await world.operate('PUT', `business/${business.id}/history`, { days });
  const requested = await open(business);
  await settled();
  const [from, to] = [addDays(today(), -28), today()];
  expect(await rangeIn()).toEqual([from, to]);
  expect(await page.getByLabel('Days', { exact: true }).inputValue()).toBe('28');
  expect(await query()).toBe('');
  expect(requested).toEqual([`${addDays(from, -28)} ${to}`]);
  expect(await page.locator('.limits').count()).toBe(0);
  const ago = (first: number, last: number) =>
    HISTORY.filter(([day]) => day >= first && day <= last).reduce((total, [, uses]) => total + uses, 0);
  const [now, before] = [ago(1, 28), ago(29, 56) + 4];
  expect(await figure('Mean').innerText()).toBe(`${Math.round((now / 28) * 10) / 10}\na day, over 28 full days`);
  expect(await figure('Peak').locator('.value').innerText()).toBe('22');
  // The total, the change and the compared total cover as many days.
  expect(await head('total')).toBe(`${now} uses +${Math.round((now / before - 1) * 100)}% +10 today so far`);
  expect(await head('range')).toContain(`: ${before} (28 days)`);
  expect(await note()).toBe(
    'Days are in UTC. Today is not over yet, so it is shown beside the full days, and no figure includes it. The earlier days are aligned to weekdays.',
  );
  await expectAccessible(page);
});

test('days are chosen by name or with the arrows, compared as chosen, and restored by Back, Forward and a link', async () => {
  const business = await used();
  await open(business);
  await settled();
  expect(await button('Later days').getAttribute('aria-disabled')).toBe('true');
  await button('Earlier days').click();
  await shows(addDays(today(), -56), addDays(today(), -29));
  expect(await query()).toBe(`from=${addDays(today(), -56)}&to=${addDays(today(), -29)}`);
  await button('Later days').click();
  await shows(addDays(today(), -28), today());
  expect(await query()).toBe('');
  await days().selectOption('Last 91 days');
  await shows(addDays(today(), -91), today());
  expect(await query()).toBe('range=91');
  await radio('Previous period').focus();
  await page.keyboard.press('ArrowRight');
  await eventually(query).toBe('range=91&compare=year');
  await settled();
  expect(await page.locator('usage-chart .change').count()).toBe(0); // no uses a year earlier: 0 is never compared
  await days().selectOption('Last calendar month');
  const last = addDays(`${today().slice(0, 8)}01`, -1);
  await shows(`${last.slice(0, 8)}01`, last);
  expect(await query()).toBe('range=last-month&compare=year');
  const since = dayWords(last < addDays(today(), -33) ? today() : addDays(today(), -33));
  expect(await note()).toBe(`Days are in UTC. Not compared: there is no data before ${since}.`);
  await page.goBack();
  await shows(addDays(today(), -91), today());
  expect(await radio('Previous year').isChecked()).toBe(true);
  await page.goForward();
  await shows(`${last.slice(0, 8)}01`, last);
  await world.leave();
  await open(business, '?from=2026-03-02&to=2026-03-29&compare=off');
  await shows('2026-03-02', '2026-03-29');
  expect(await days().inputValue()).toBe('');
  expect(await radio('Off').isChecked()).toBe(true);
  expect(await page.locator('usage-chart .before').count()).toBe(0);
});

test('bars can be days, weeks or months from 60 days on, as far as they fit, and weeks begin on Monday', async () => {
  const business = await used();
  await world.operate('PATCH', `business/${business.id}`, { monthly_limit: 1000 });
  await open(business);
  await settled();
  expect(await radio('Week').count()).toBe(0);
  await days().selectOption('Last 364 days');
  await radio('Week').waitFor();
  expect(await Promise.all(['Day', 'Week', 'Month'].map((name) => radio(name).isDisabled()))).toEqual([
    true,
    false,
    false,
  ]);
  expect(await radio('Week').isChecked()).toBe(true);
  await settled();
  await days().selectOption('Last 91 days');
  await eventually(() => radio('Day').isChecked()).toBe(true);
  await eventually(() => chart().locator('.bar').count()).toBe(92);
  await settled();
  await shoot(page, 'usage-1280', { fullPage: true });
  await page.setViewportSize({ width: 360, height: 800 });
  await eventually(() => radio('Day').isDisabled()).toBe(true);
  await eventually(() => chart().locator('.bar').count()).toBe(14);
  await shoot(page, 'usage-360');
  const { y = 0, height = 0 } = (await chart().locator('.plot').boundingBox()) ?? {};
  expect(y + height).toBeLessThan(800); // the chart is on the first screen of a phone
  await expectAccessible(page);
});

test('days that one report cannot compare are not compared, and the view explains why', async () => {
  const requested = await open(await used(), '?from=2022-01-01&to=2025-01-01');
  await settled();
  expect(await note()).toContain('Not compared: with the earlier days, the report would exceed 1,830 days');
  expect(requested).toEqual(['2022-01-01 2025-01-01', listed(today())]);
});

test('typed days are requested once, when typing stops, without a history entry', async () => {
  const yesterday = addDays(today(), -1); // today, by the page's clock
  const chosen = `compare=off&from=${addDays(today(), -29)}&to=${yesterday}`;
  const requested = await open(await used(), `?${chosen}`, { before: startClock });
  await settled();
  requested.length = 0;
  const entries = await page.evaluate('history.length');
  await dateOf('From').focus();
  await page.clock.pauseAt(Date.parse(today()) - DAY_MS / 4); // makes the typing speed irrelevant
  await page.keyboard.type('03022026'); // the year passes through 0002, 0020 and 0202
  await page.clock.runFor(499);
  expect(await query()).toBe(chosen);
  await page.clock.runFor(1);
  expect(await query()).toBe(`compare=off&from=2026-03-02&to=${yesterday}`);
  await page.clock.resume();
  await shows('2026-03-02', yesterday);
  expect(requested).toEqual([`2026-03-02 ${yesterday}`]);
  await dateOf('To').fill('2026-03-29');
  await dateOf('To').press('Enter');
  expect(await query()).toBe('compare=off&from=2026-03-02&to=2026-03-29');
  await dateOf('From').fill('2026-03-09');
  await days().focus(); // the field loses the focus
  expect(await query()).toBe('compare=off&from=2026-03-09&to=2026-03-29');
  await settled();
  expect(await page.evaluate('history.length')).toBe(entries);
});

test('invalid days are not requested: an alert explains how to correct them, or that a URL shows the last 28 instead', async () => {
  const requested = await open(await used(), '?from=2026-03-09&to=2026-03-01');
  await page.getByText('is after the last day, Mar 1, 2026.').waitFor();
  await page.getByText('Showing the last 28 days instead.').waitFor();
  await shows(addDays(today(), -28), today());
  await dateOf('From').fill(addDays(today(), 1));
  await page.getByRole('alert').filter({ hasText: 'Choose an earlier first day or a later last day.' }).waitFor();
  await dateOf('From').fill('');
  await page.getByRole('alert').filter({ hasText: 'The first day is incomplete or before 1970.' }).waitFor();
  expect(await dateOf('From').getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  expect(await chart().locator('.bar').count()).toBe(29);
  expect(requested).toEqual([`${addDays(today(), -56)} ${today()}`]);
  await days().selectOption('Custom range');
  await eventually(() => page.locator('#range-problem').innerText()).toBe('');
  await shows(addDays(today(), -28), today());
  expect(await dateOf('From').inputValue()).toBe(addDays(today(), -28));
  await days().selectOption('Last 28 days');
  await eventually(() => dateOf('From').count()).toBe(0); // only a custom range has dates
});

test('while other days are loading or after a failure, the view shows no figures, and “Try again” moves the focus to the title', async () => {
  await open(await used());
  await settled();
  const reports = /\/business\/usage\/(?!.*by=source)/;
  const figures = () => page.locator('.figures .value').allInnerTexts();
  const released = Promise.withResolvers<void>();
  await page.route(reports, async (route) => {
    await released.promise;
    await failWith(503, 'x')(route);
  });
  await days().selectOption('Last 91 days');
  await page.locator('.drawing.old[aria-busy="true"]').waitFor();
  expect(await figures()).toEqual(['–', '–']);
  await expectAccessible(page);
  released.resolve();
  await page.getByRole('alert').filter({ hasText: 'The service cannot reach its database right now.' }).waitFor();
  expect(await chart().count()).toBe(0);
  expect(await figures()).toEqual(['–', '–']);
  await expectAccessible(page);
  await page.unroute(reports);
  await button('Try again').focus();
  await page.keyboard.press('Enter');
  await shows(addDays(today(), -91), today());
  await eventually(focused).toBe('usage-title');
  await page.route(reports, (route) => route.abort());
  await button('Refresh').click();
  await page.getByRole('alert').filter({ hasText: 'Could not refresh. Showing' }).waitFor();
  expect(await chart().count()).toBe(1); // a failed refresh keeps the chart
});

test('after midnight the view reloads automatically, and shows the days up to the new day', async () => {
  // The session could expire before the next midnight.
  const before = (of: Page) => of.clock.install({ time: Date.parse(today()) - 30_000 });
  const requested = await open(await used(), '?compare=off', { before });
  await settled();
  const yesterday = addDays(today(), -1);
  expect(requested).toEqual([listed(yesterday)]);
  await page.clock.fastForward(60_000);
  await shows(addDays(today(), -28), today());
  expect(requested.at(-1)).toBe(listed(today()));
  await eventually(() => figure('Mean').innerText()).toContain('over 28 full days');
});

test('the days and limits follow the service’s clock when the computer’s clock is a day ahead', async () => {
  const before = async (of: Page) => {
    await of.clock.install({ time: Date.now() + DAY_MS });
    await withServiceClock(of);
  };
  await open(world.limited, '?compare=off', { before, lasts: 3 * DAY_MS }, world.keys.owner);
  await shows(addDays(today(), -28), today());
  expect(await figure('Mean').innerText()).toContain('over 28 full days');
  await eventually(() => page.locator('.meter').allInnerTexts()).toEqual([
    expect.stringMatching(/^Today\s[\s\S]* of 150/),
    expect.stringMatching(/^Billing month, [\s\S]* of 5,000/),
  ]);
  await eventually(() => page.locator('usage-chart .bar.part').count()).toBe(1);
  expect(await page.locator('usage-chart .bar').last().getAttribute('class')).toBe('bar part');
});

test('the CSV file has each full day beside the day it is compared with, needs no request, and is named in words', async () => {
  const requested = await open(await used(), '?range=7');
  await settled();
  requested.length = 0;
  const words = (first: number, last: number) =>
    rangeWords({ from: addDays(today(), -first), to: addDays(today(), -last) }).replaceAll(/\s/g, ' ');
  const downloading = page.waitForEvent('download');
  await button('Download CSV').click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(`Spare, ${words(7, 1)} vs ${words(14, 8)}.csv`);
  const usesOn = (ago: number) => HISTORY.find(([day]) => day === ago)?.[1] ?? 0;
  const lines = [7, 6, 5, 4, 3, 2, 1].map((ago) =>
    [ago, ago + 7].flatMap((day) => [addDays(today(), -day), usesOn(day)]).join(','),
  );
  expect(readFileSync(await download.path(), 'utf8')).toBe(
    ['\ufeffdate,uses,compared_date,compared_uses', ...lines, ''].join('\r\n'),
  );
  expect(requested).toEqual([]);
});

test('the limits show what is used, where an alert is stored, the next reset, and the pace of the month', async () => {
  const requested = await open(world.limited, '?range=last-quarter&compare=off', {}, world.keys.owner);
  await page.getByText('The forecast repeats the last seven full days').waitFor();
  const [day = '', month = ''] = await page.locator('.meter').allInnerTexts();
  const [, uses = '', left = ''] = /^Today\s+(\d+) of 150 · (\d+) left/.exec(day) ?? [];
  expect(Number(uses) + Number(left)).toBe(150);
  expect(month).toMatch(/of 5,000[\s\S]*Resets on \w+, \w+ 1, 00:00 UTC \(\w+ \d\d:\d\d your time\)\./);
  const meter = page.locator('.meter').first();
  const box = (selector: string) =>
    meter.locator(selector).evaluate((element) => {
      const { left, width, top, height } = element.getBoundingClientRect();
      return { left, width, top, height };
    });
  const [bar, tick] = [await box('progress'), await box('i[title="Alert at 80%"]')];
  expect(await meter.locator('i').count()).toBe(1); // the threshold at 100% has no tick
  expect((tick.left - bar.left) / bar.width).toBeCloseTo(0.8, 2);
  expect(tick).toMatchObject({ top: bar.top, height: bar.height });
  await settled();
  expect(requested).toHaveLength(2);
  expect(requested).toContain(listed(today())); // for the pace
  await expectAccessible(page);
});

test('a reached limit says what it does, when alerts were stored, and which billing day is pending', async () => {
  const business = await used([[0, 8]]);
  const limits = { monthly_limit: 10, overage: 20 };
  await world.operate('PATCH', `business/${business.id}`, limits); // 80% is reached already
  await world.call('POST', `usage/${business.id}`, { uses: [{ id: 'more', quantity: 5 }] });
  await world.operate('PATCH', `business/${business.id}`, { billing_day: 15 });
  const requested = await open(business);
  const strip = () => page.locator('.limits').innerText();
  await eventually(strip).toMatch(/Alerts: 80% on .*, reached on /);
  expect(await strip()).toContain('13 of 10 · 3 over');
  expect(await strip()).toMatch(/Pages are refused until .* 00:00 UTC\. Servers may record 17 more\./);
  expect(await strip()).toMatch(/From .*, billing months begin on day 15\./);
  expect(await strip()).not.toContain('The forecast');
  await settled();
  expect(requested).toHaveLength(1);
  await days().selectOption({ label: (await page.locator('.meter b').innerText()).trim() });
  await shows(`${today().slice(0, 8)}01`, today());
  expect(await query()).toBe('range=billing-month');
  await expectAccessible(page);
});

test('the limits say what is pending and what is added to this month, and an alert names the limit with it', async () => {
  const business = await used([[0, 13]]);
  const path = `business/${business.id}`;
  await world.operate('PATCH', path, { monthly_limit: 10, overage: 90 });
  await world.operate('PATCH', path, { monthly_limit: 5000, daily_limit: 700, limits_from: 'next_month' });
  await world.operate('POST', `${path}/extra`, { uses: 5, month: 'this' });
  await open(business);
  const strip = () => page.locator('.limits').innerText();
  await eventually(strip).toMatch(/13 of 15 · 2 left/);
  await eventually(strip).toMatch(/Alerts: 80% on /);
  expect(await strip()).not.toContain('reached'); // the alert for the limit of 10 is about another limit
  expect(await strip()).toContain('The monthly limit includes 5 uses added to this month only.');
  expect(await strip()).toMatch(/From \w+ 1(, \d{4})?: daily limit 700; monthly limit 5,000\./);
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.locator('ol').getByText('Uses added to a month').waitFor();
});

test('a business without limits says what is pending', async () => {
  const business = await used([[0, 3]]);
  await world.operate('PATCH', `business/${business.id}`, { monthly_limit: 100, limits_from: 'next_month' });
  await open(business);
  const strip = () => page.locator('.limits').innerText();
  await eventually(strip).toMatch(/^From \w+ 1(, \d{4})?: monthly limit 100\.$/);
});

test('a use is looked up by its id, as it was sent by servers and by pages', async () => {
  const business = await used([]);
  const all = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index));
  const uses = [
    { id: all, quantity: 1500, label: 'web-1' },
    { id: 'old', quantity: 3, at: `${addDays(today(), -2)}T12:00:00Z` },
  ];
  await world.call('POST', `usage/${business.id}`, { uses });
  await world.operate('PATCH', `business/usage/${business.id}`, { uses: [{ id: all, quantity: 1200 }] });
  await world.operate('PUT', `business/${business.id}/history`, {
    days: [{ date: addDays(today(), -2), count: 9 }],
    replace: true,
  });
  const body = { method: 'POST', headers: { Authorization: `Bearer ${business.token}`, 'Idempotency-Key': all } };
  expect((await fetch(`${world.url}/api/v1/business/usage/${business.id}`, body)).status).toBe(200);
  await open(business);
  const field = page.getByRole('searchbox', { name: 'ID of a use' });
  const look = async (id: string) => {
    await field.fill(id);
    await field.press('Enter');
  };
  const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  const day = (ago: number) => DAY.format(new Date(addDays(today(), -ago)));
  const rows = () =>
    page.evaluate<string[][]>(
      `Array.from(document.querySelectorAll('.use-lookup tbody tr'), (row) => Array.from(row.cells, (cell) => cell.innerText.trim()))`,
    );
  await look(all);
  await eventually(rows).toEqual([
    ['API key', day(0), '1,200', 'web-1', day(-40)],
    ['Token', day(0), '1', '', day(-2)],
  ]);
  await expectAccessible(page);
  await look(' old ');
  await eventually(rows).toEqual([['API key', `${day(2)}, whose count was imported since`, '3', 'None', day(-40)]]);
  await look('never');
  await page.getByText('No use with this ID is remembered.').waitFor();
  await world.call('POST', `usage/${business.id}`, { uses: [{ id: 'never' }] });
  await field.press('Enter'); // asks again
  await eventually(rows).toEqual([['API key', day(0), '1', 'None', day(-40)]]);
  await look('two words');
  await page.getByText('Id must be 1 to 255 printable ASCII characters without spaces').waitFor();
  await page.setViewportSize({ width: 360, height: 900 });
  await expectAccessible(page);
});
