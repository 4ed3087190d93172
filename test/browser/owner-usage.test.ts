// The Usage view of a business in the console: its days, figures, CSV file and limits.
import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { addDays, DAY_MS, dayOf } from '../../src/core/time.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Entry, expectAccessible } from './console.ts';
import { continueRequest, failWith, startClock, stepsOn, withServiceClock } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, hold } = stepsOn(() => page);
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
const rangeIn = async () => [await dateOf('From').inputValue(), await dateOf('To').inputValue()];
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

/** Returns a list that receives the first and last day of each report that the page requests later, except those by source. */
function watchReports(accept: string, of = page): string[] {
  const requested: string[] = [];
  of.on('request', (request: Request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.includes('/business/usage/') || request.headers().accept !== accept) return;
    if (searchParams.has('by')) return;
    requested.push(`${searchParams.get('from')} ${searchParams.get('to')}`);
  });
  return requested;
}

/** Holds requests for reports whose range ends on `to`. */
const holdReports = (to: string) => hold('GET', new RegExp(`/business/usage/.*to=${to}`));

/** Opens the view with a query string. Returns the days requested for each report. */
async function open({ id }: { id: number }, chosen = '', entry: Entry = {}, key = world.keys.spare): Promise<string[]> {
  let requested: string[] = [];
  page = await world.enter(`#/${id}${chosen}`, key, {
    before: async (of) => {
      requested = watchReports('application/json', of);
      await entry.before?.(of);
    },
    ...(entry.lasts !== undefined && { lasts: entry.lasts }),
  });
  return requested;
}

describe('the selected days', () => {
  test('are the last 28 by default, compared with the previous 28 in one request', async () => {
    const requested = await open(await used());
    await settled();
    const [from, to] = [addDays(today(), -27), today()];
    expect(await rangeIn()).toEqual([from, to]);
    expect(await days().inputValue()).toBe('28');
    expect(await query()).toBe('');
    expect(requested).toEqual([`${addDays(from, -28)} ${to}`]);
    const ago = (first: number, last: number) =>
      HISTORY.filter(([day]) => day >= first && day <= last).reduce((total, [, uses]) => total + uses, 0);
    const [now, before] = [ago(1, 27), ago(29, 55)];
    expect(await figure('Mean').innerText()).toBe(`${Math.round((now / 27) * 10) / 10}\na day, over 27 full days`);
    expect(await figure('Peak').locator('.value').innerText()).toBe('22');
    // The total, the change and the compared total cover the same 27 days.
    expect(await head('total')).toBe(`${now} uses +${Math.round((now / before - 1) * 100)}% +10 today so far`);
    expect(await head('range')).toContain(`: ${before} (27 days)`);
    await page.getByText('The earlier days are aligned to weekdays.').waitFor();
    await expectAccessible(page);
  });

  test('can be chosen by name, and are restored by Back, Forward and a link', async () => {
    const business = await used();
    const requested = await open(business);
    await settled();
    await days().selectOption('Last 91 days');
    await shows(addDays(today(), -90), today());
    expect(await query()).toBe('range=91');
    await page.getByText('Previous year').click();
    await eventually(query).toBe('range=91&compare=year');
    await eventually(() => requested.length).toBe(3);
    await settled();
    expect(await page.locator('usage-chart .change').count()).toBe(0); // no uses a year earlier: 0 is never compared
    await days().selectOption('Last calendar month');
    const [first, last] = [`${today().slice(0, 8)}01`, addDays(`${today().slice(0, 8)}01`, -1)];
    await shows(`${last.slice(0, 8)}01`, last);
    await page.getByText('The earlier days are those of the calendar, so their weekdays differ.').waitFor();
    expect(await query()).toBe('range=last-month&compare=year');
    expect(requested.length).toBe(3); // the loaded report includes last month
    await page.goBack();
    await shows(addDays(today(), -90), today());
    expect(await page.getByRole('radio', { name: 'Previous year' }).isChecked()).toBe(true);
    await page.goBack();
    await settled();
    expect(await page.getByRole('radio', { name: 'Previous period' }).isChecked()).toBe(true);
    await page.goForward();
    await page.goForward();
    await shows(`${last.slice(0, 8)}01`, last);
    await button('Later days').click();
    await shows(first, today());
    expect(await days().inputValue()).toBe('this-month');
    await world.leave();
    await open(business, '?from=2026-03-02&to=2026-03-29&compare=off');
    await shows('2026-03-02', '2026-03-29');
    expect(await days().inputValue()).toBe('');
    expect(await page.getByRole('radio', { name: 'Off' }).isChecked()).toBe(true);
    expect(await page.locator('usage-chart .before').count()).toBe(0);
  });

  test('move by one period per press, even a double click or a held key, and never past today', async () => {
    await open(await used());
    await settled();
    expect(await button('Later days').getAttribute('aria-disabled')).toBe('true');
    await button('Later days').click({ force: true });
    await button('Earlier days').dblclick();
    await shows(addDays(today(), -55), addDays(today(), -28));
    expect(await query()).toBe(`from=${addDays(today(), -55)}&to=${addDays(today(), -28)}`);
    await button('Later days').focus();
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await shows(addDays(today(), -27), today());
    expect(await query()).toBe('');
    await eventually(() => page.evaluate('document.activeElement?.ariaLabel')).toBe('Later days');
  });

  test('are requested once when typing stops, without a history entry', async () => {
    const requested = await open(await used(), '?compare=off', { before: startClock });
    await settled();
    requested.length = 0;
    const entries = await page.evaluate('history.length');
    await dateOf('From').focus();
    await page.clock.pauseAt(Date.parse(today()) - DAY_MS / 4); // makes the typing speed irrelevant
    await page.keyboard.type('03022026'); // the year passes through 0002, 0020 and 0202
    expect(requested).toEqual([]);
    await page.clock.runFor(499);
    expect(await query()).toBe('compare=off');
    await page.clock.runFor(1);
    const yesterday = addDays(today(), -1);
    expect(await query()).toBe(`compare=off&from=2026-03-02&to=${yesterday}`);
    await page.clock.resume();
    await shows('2026-03-02', yesterday);
    expect(requested).toEqual([`2026-03-02 ${yesterday}`]);
    await dateOf('To').fill('2026-03-29');
    await dateOf('To').press('Enter');
    expect(await query()).toBe('compare=off&from=2026-03-02&to=2026-03-29');
    await shows('2026-03-02', '2026-03-29');
    expect(requested).toEqual([`2026-03-02 ${yesterday}`]); // the loaded report includes these days
    await dateOf('From').fill('2026-03-09');
    await days().focus(); // the field loses the focus
    expect(await query()).toBe('compare=off&from=2026-03-09&to=2026-03-29');
    await settled();
    expect(await page.evaluate('history.length')).toBe(entries);
  });

  test('are not requested if they are invalid: the chart remains, and an alert explains how to correct them', async () => {
    const requested = await open(await used());
    await settled();
    const shown = await rangeIn();
    for (const [from, words] of [
      [addDays(today(), 1), 'Choose an earlier first day or a later last day.'],
      ['2015-01-01', `days exceed the report’s maximum of 1,830.`],
      ['', 'The first day is incomplete or before 1970.'],
      ['1969-12-31', 'The first day is incomplete or before 1970.'],
    ] as const) {
      await dateOf('From').fill(from);
      await page.getByRole('alert').filter({ hasText: words }).waitFor();
      expect(await dateOf('From').getAttribute('aria-invalid')).toBe('true');
    }
    await expectAccessible(page);
    expect(await query()).toBe('');
    expect(await chart().locator('.bar').count()).toBe(28);
    expect(await figure('Mean').locator('.value').innerText()).not.toBe('–');
    await days().selectOption('Custom range');
    await shows(shown[0] as string, shown[1] as string);
    expect(await page.getByRole('alert').allInnerTexts()).not.toContain(expect.stringMatching(/./));
    expect(requested.length).toBe(1);
  });

  test('fall back to the last 28 if the URL is invalid, and a notice explains why', async () => {
    const requested = await open(await used(), '?from=2026-03-09&to=2026-03-01');
    await page.getByText('is after the last day, Mar 1, 2026.').waitFor();
    await page.getByText('Showing the last 28 days instead.').waitFor();
    await shows(addDays(today(), -27), today());
    expect(requested).toEqual([`${addDays(today(), -55)} ${today()}`]);
  });

  test('are not compared if one report cannot cover both ranges, and the view explains why', async () => {
    const requested = await open(await used(), '?from=2022-01-01&to=2025-01-01');
    await settled();
    await page.getByText('Not compared: with the earlier days, the report would exceed 1,830 days').waitFor();
    expect(await page.locator('usage-chart .before').count()).toBe(0);
    expect(requested).toEqual(['2022-01-01 2025-01-01']);
  });

  test('are compared as chosen by keyboard, and turning the comparison off sends no request', async () => {
    const requested = await open(await used());
    await settled();
    await page.getByRole('radio', { name: 'Previous period' }).focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => expect(await query()).toBe('compare=year'));
    const ranges = [`${addDays(today(), -55)} ${today()}`, `${addDays(today(), -391)} ${today()}`];
    await until(async () => expect(requested).toEqual(ranges)); // the request follows the change of the URL
    await settled();
    const comparedLines = () => page.locator('usage-chart path.before').count();
    await eventually(comparedLines).toBe(1);
    await page.keyboard.press('ArrowRight');
    await settled();
    await eventually(comparedLines).toBe(0);
    expect(requested.length).toBe(2);
    expect(await page.getByRole('radio', { name: 'Off' }).isChecked()).toBe(true);
    await expectAccessible(page);
  });
});

describe('while a report is loading', () => {
  test('the view shows no figures for other days, and ignores a late response', async () => {
    await open(await used());
    await settled();
    const late = await holdReports('2025-03-31');
    await dateOf('To').fill('2025-03-31');
    await dateOf('From').fill('2025-03-01');
    await dateOf('From').press('Enter');
    await page.locator('.drawing.old[aria-busy="true"]').waitFor();
    expect(await page.locator('.figures .value').allInnerTexts()).toEqual(['–', '–']);
    await expectAccessible(page);
    await days().selectOption('Last 7 days');
    await shows(addDays(today(), -6), today());
    const mean = await figure('Mean').innerText();
    const answered = page.waitForResponse(/to=2025-03-31/);
    late.release(continueRequest);
    await (await answered).finished();
    await page.clock.runFor(100);
    expect(await chart().locator('.bar').count()).toBe(7);
    expect(await figure('Mean').innerText()).toBe(mean);
  });

  test('the view shows the list’s data in the chart, but no figures', async () => {
    page = await world.enter('#/', world.keys.owner);
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    const held = await holdReports(today());
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await chart().locator('.bar').first().waitFor({ state: 'attached' });
    expect(await chart().locator('.bar').count()).toBe(28);
    expect(await page.locator('.figures .value').allInnerTexts()).toEqual(['–', '–']);
    expect(await page.getByText('Updated').count()).toBe(0);
    held.release(continueRequest);
    await settled();
    await page.getByText('Updated').waitFor();
    expect(await head('range')).toContain('(27 days)');
  });

  test('a failure to read other days replaces the chart, and “Try again” moves the focus to the title; a failed refresh keeps it', async () => {
    const business = await used();
    await open(business);
    await settled();
    const reports = /\/business\/usage\/(?!.*by=source)/;
    await page.route(reports, failWith(503, 'x'));
    await days().selectOption('Last 91 days');
    await page.getByRole('alert').filter({ hasText: 'The service cannot reach its database right now.' }).waitFor();
    expect(await chart().count()).toBe(0);
    expect(await page.locator('.figures .value').allInnerTexts()).toEqual(['–', '–']);
    await expectAccessible(page);
    await page.unroute(reports);
    await button('Try again').focus();
    await page.keyboard.press('Enter');
    await shows(addDays(today(), -90), today());
    await eventually(focused).toBe('usage-title');
    await page.route(reports, (route) => route.abort());
    await button('Refresh').click();
    await page.getByRole('alert').filter({ hasText: 'Could not refresh. Showing' }).waitFor();
    expect(await page.getByText('Updated').count()).toBe(0);
    expect(await chart().count()).toBe(1);
    expect(await button('Try again').count()).toBe(1);
  });
});

/** Installs a clock 30 seconds before the last midnight, because the session could expire before the next midnight. */
const beforeMidnight = (of: Page) => of.clock.install({ time: Date.parse(today()) - 30_000 });

test('a refresh after midnight shows the days up to the new day', async () => {
  const requested = await open(await used(), '?compare=off', { before: beforeMidnight });
  await settled();
  await page.clock.fastForward(60_000);
  await button('Refresh').click();
  await shows(addDays(today(), -27), today());
  const yesterday = addDays(today(), -1);
  expect([...new Set(requested)]).toEqual([
    `${addDays(yesterday, -27)} ${yesterday}`,
    `${addDays(today(), -27)} ${today()}`,
  ]);
  expect(await figure('Mean').innerText()).toContain('over 27 full days');
});

test('after midnight the view reloads automatically, and yesterday counts as partial until the reload', async () => {
  const [from, to] = [addDays(today(), -7), addDays(today(), -1)];
  const requested = await open(await used(), `?from=${from}&to=${to}&compare=off`, { before: beforeMidnight });
  await settled();
  await page.clock.fastForward(32_000); // two seconds into the new day
  const downloading = page.waitForEvent('download');
  await button('Download CSV').click(); // renders the view again
  await downloading;
  expect(await figure('Mean').innerText()).toContain('over 6 full days');
  const before = requested.length;
  await page.clock.fastForward(10_000);
  await eventually(() => requested.length).toBeGreaterThan(before);
  await eventually(() => figure('Mean').innerText()).toContain('over 7 full days');
});

test.each([1, -1])(
  'the days and limits follow the service’s clock when the computer’s clock is a day off: %i',
  async (off) => {
    const before = async (of: Page) => {
      await of.clock.install({ time: Date.now() + off * DAY_MS });
      await withServiceClock(of);
    };
    await open(world.limited, '?compare=off', { before, lasts: 3 * DAY_MS }, world.keys.owner);
    await shows(addDays(today(), -27), today());
    expect(await figure('Mean').innerText()).toContain('over 27 full days');
    await eventually(() => page.locator('.meter').allInnerTexts()).toEqual([
      expect.stringMatching(/^Today\s[\s\S]* of 150/),
      expect.stringMatching(/^Billing month, [\s\S]* of 5,000/),
    ]);
    await eventually(() => page.locator('usage-chart .bar.part').count()).toBe(1);
    expect(await page.locator('usage-chart .bar').last().getAttribute('class')).toBe('bar part');
  },
);

test('the CSV file has each full day beside the day it is compared with, needs no request, and is named in words', async () => {
  const business = await used();
  await open(business, '?range=7');
  await settled();
  const files = watchReports('text/csv');
  const downloading = page.waitForEvent('download');
  await button('Download CSV').dblclick();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^Spare, .* vs .*\.csv$/);
  const usesOn = (ago: number) => HISTORY.find(([day]) => day === ago)?.[1] ?? 0;
  const lines = [6, 5, 4, 3, 2, 1].map((ago) =>
    [ago, ago + 7].flatMap((day) => [addDays(today(), -day), usesOn(day)]).join(','),
  );
  expect(readFileSync(await download.path(), 'utf8')).toBe(
    ['\ufeffdate,uses,compared_date,compared_uses', ...lines, ''].join('\r\n'),
  );
  expect(files).toEqual([]);
});

describe('the limit meters', () => {
  /** Returns a business's limits as its owner reads them. */
  async function limitsOf(id: number) {
    const answer = await fetch(`${world.url}/api/v1/business/${id}`, {
      headers: { Authorization: `Bearer ${world.keys.owner}` },
    });
    const { data } = (await answer.json()) as { data: { limits: { today: number; month: number } } };
    return data.limits;
  }

  test('show the recorded and remaining uses, the next reset, and the pace of the month', async () => {
    const requested = await open(world.limited, '?range=last-quarter&compare=off', {}, world.keys.owner);
    await page.getByText('At the pace of').waitFor();
    const { today: uses, month } = await limitsOf(world.limited.id);
    const meters = await page.locator('.meter').allInnerTexts();
    const number = new Intl.NumberFormat('en').format;
    expect(meters[0]).toContain(`${number(uses)} of 150`);
    expect(meters[0]).toContain(`${number(150 - uses)} left`);
    expect(meters[0]).toContain('Resets on ');
    expect(meters[1]).toContain(`${number(month)} of 5,000`);
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
    expect(meters[1]).toMatch(/Resets on \w+, \w+ 1, 00:00 UTC \(\w+ \d\d:\d\d your time\)\./);
    expect(await page.locator('.limits p').innerText()).toMatch(
      /^At the pace of the last seven full days, .* by \w+ \d+\.$|will be reached on/,
    );
    await settled();
    // The last quarter does not include the seven days from which the pace is calculated, so the view requests those days separately.
    expect(requested.length).toBe(2);
    expect(requested).toContain(`${addDays(today(), -7)} ${addDays(today(), -1)}`);
    await days().selectOption('Last 28 days');
    await settled();
    await days().selectOption('Last quarter');
    await settled();
    expect(requested.filter((range) => range.startsWith(addDays(today(), -7))).length).toBe(1);
    await expectAccessible(page);
  });

  test('say what a reached limit does, when alerts were stored, and which billing day is pending', async () => {
    const business = await used([[0, 8]]);
    const limits = { monthly_limit: 10, overage: 20 };
    await world.operate('PATCH', `business/${business.id}`, limits); // 80% is reached already
    await world.call('POST', `usage/${business.id}`, { uses: [{ id: 'more', quantity: 5 }] });
    await world.operate('PATCH', `business/${business.id}`, { billing_day: 15 });
    await open(business);
    const strip = () => page.locator('.limits').innerText();
    await eventually(strip).toMatch(/Alerts: 80% on .*, reached on /);
    expect(await strip()).toContain('13 of 10 · 3 over');
    expect(await strip()).toMatch(/Pages are refused until .* 00:00 UTC\. Servers may record 17 more\./);
    expect(await strip()).toMatch(/From .*, billing months begin on day 15\./);
    expect(await strip()).not.toContain('At the pace of');
    await days().selectOption({ label: (await page.locator('.meter b').innerText()).trim() });
    await shows(`${today().slice(0, 8)}01`, today());
    expect(await query()).toBe('range=billing-month');
    await expectAccessible(page);
  });

  test('are absent for a business without limits, and no second request is sent', async () => {
    const requested = await open(await used([]), '?range=last-quarter&compare=off');
    await settled();
    expect(await page.locator('.limits').count()).toBe(0);
    expect(requested.length).toBe(1);
  });
});
