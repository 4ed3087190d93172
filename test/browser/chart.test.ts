// <usage-chart> on other people's pages: in every state, language, direction and width, and in React and Vue. Where things stand in it,
// and its words, are functions: test/node/chart-drawing.test.ts.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { addDays, dayOf } from '../../src/core/time.ts';
import type { BusinessRow } from '../../src/db/schema.ts';
import { TABLES } from '../../src/page/languages.ts';
import { chartTag } from '../node/chart-tag.ts';
import { eventually, listen, startSite, visitsOfFile } from './chromium.ts';
import { expectAccessible, expectContrast, expectFits, shoot, wantsPictures } from './console.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TODAY = dayOf(new Date());
const NO_ORIGIN = 'base-url must be an origin, such as https://usage.example.com';

const { url: service, made } = inject('owners');
/** On day n of March 2026 there were n uses of the shop, but none on the 7th, and 10 on each day of February. */
const { shop, silent: quiet, lively: busy } = made;
const MARCH_TOTAL = (31 * 32) / 2 - 7;
const DAYS = 'from="2026-03-01" to="2026-03-31"';
const YEAR = 'from="2025-01-01" to="2026-01-01"';

type Site = Awaited<ReturnType<typeof startSite>>;
let registered: Site;
let stranger: Site;

beforeAll(async () => {
  [registered, stranger] = await Promise.all([startSite(service), startSite(service)]);
  const headers = { Authorization: `Bearer ${made.keys.charted}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ sites: [registered.url] });
  const answer = await fetch(`${service}/api/v1/business/${shop.id}/access`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
});

afterAll(() => {
  registered?.stop();
  stranger?.stop();
});

let page: Page;
const { complaints, newPage } = visitsOfFile();
const forget = (what: RegExp) => {
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !what.test(text)));
};

async function visit(url: string, options: BrowserContextOptions = {}): Promise<void> {
  page = await newPage(options);
  await page.goto(url);
}

/** The page of the registered site, with these charts and these attributes of its root element. */
async function visitWith(body: string, options: BrowserContextOptions = {}, attributes = 'lang="en"'): Promise<void> {
  registered.body = body;
  registered.attributes = attributes;
  await visit(registered.url, options);
}

/** What the chart has told the developer. What Chromium itself logs about failed calls is left out. */
function told(): string[] {
  const own = complaints.filter((text) => text.startsWith('<usage-chart'));
  forget(/^<usage-chart|^Failed to load resource/);
  return own;
}

const tag = (business: BusinessRow, more = '') =>
  `<usage-chart business="${business.id}" token="${business.token}" ${more}></usage-chart>`;
const part = (name: string) => page.locator(`usage-chart .${name}`);
const bars = () => part('bar');
const state = (name: string) => page.locator(`usage-chart [data-state=${name}]`).first().waitFor();
const text = (name: string) => part(name).first().innerText();
const range = async () => (await text('range')).replaceAll('\n', ' ');
const plot = () => page.locator('usage-chart [role=slider]');
const inChart = <T>(code: string) =>
  page.evaluate(
    `(() => { const chart = document.querySelector('usage-chart'); const root = chart.shadowRoot; ${code} })()`,
  ) as Promise<T>;
/** Runs `code`, and waits until what it changes is drawn. */
const inFrame = (code: string) =>
  inChart(`${code}; return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  });`);
const change = (name: string, value: string) =>
  inFrame(`chart.setAttribute(${JSON.stringify(name)}, ${JSON.stringify(value)})`);
/** Gives the chart data to draw: the counts of the days from `first`, and of the days from `earlier`. */
const give = (first: string, counts: number[], earlier?: string, before: number[] = []) => {
  const days = (from: string, of: number[]) => of.map((count, index) => ({ date: addDays(from, index), count }));
  const data = { used: days(first, counts), ...(earlier && { before: days(earlier, before) }) };
  return inFrame(`chart.data = ${JSON.stringify(data)}`);
};
/** A chart takes the place of that on the page, and in the same task runs `code`. */
const put = (html: string, code = '') =>
  page.evaluate(`{
    document.querySelector('main').innerHTML = ${JSON.stringify(html)};
    const chart = document.querySelector('usage-chart');
    ${code}
  }`);
async function visitLoaded(...visited: Parameters<typeof visitWith>): Promise<void> {
  await visitWith(...visited);
  await state('loaded');
}
/** Lists the events of the charts of the next page. */
const list = () =>
  page.addInitScript(`window.events = [];
    for (const name of ['load', 'error']) document.addEventListener(name, ({ type, detail }) => {
      if (detail) events.push({ type, ...detail });
    }, true)`);
/** A page with a chart that waits for data. */
async function visitEmpty(options: BrowserContextOptions = {}, attributes = 'lang="en"', style = ''): Promise<void> {
  await visitWith(`${style}<usage-chart></usage-chart>`, options, attributes);
  await state('loading');
}
/** A page with these charts, of which `events` lists the events. `before` is done before it is opened. */
async function visitListed(body: string, before?: () => Promise<unknown>, attributes = 'lang="en"'): Promise<void> {
  await visit('about:blank');
  await list();
  await before?.();
  registered.body = body;
  registered.attributes = attributes;
  await page.goto(registered.url);
}
const abort = (url: string) => page.route(url, (route) => route.abort());
const events = () => page.evaluate('events') as Promise<{ type: string; before?: { from: string } }[]>;

/** Makes the window as wide, and waits until the chart is drawn for that. */
async function resize(width: number, height = 900): Promise<void> {
  await page.setViewportSize({ width, height });
  const isDrawn =
    "Number(root.querySelector('svg').getAttribute('width')) === root.querySelector('[part=plot]').clientWidth";
  await eventually(() => inChart(`return innerWidth === ${width} && ${isDrawn};`)).toBe(true);
}

/** Every label on the axes, and its box. */
const labels = () =>
  inChart<{ text: string; left: number; right: number; top: number; bottom: number }[]>(`
    return [...root.querySelectorAll('svg text')].map((label) => {
      const { left, right, top, bottom } = label.getBoundingClientRect();
      return { text: label.textContent, left, right, top, bottom };
    });`);

async function expectNoOverlap(): Promise<void> {
  const shown = await labels();
  const { left, right } = await inChart<{ left: number; right: number }>(
    'return chart.getBoundingClientRect().toJSON();',
  );
  for (const [index, a] of shown.entries()) {
    expect(a.left, a.text).toBeGreaterThanOrEqual(left);
    expect(a.right, a.text).toBeLessThanOrEqual(right);
    for (const b of shown.slice(index + 1)) {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
      expect(apart, `${a.text} and ${b.text}`).toBe(true);
    }
  }
}

describe('the chart on a page of a registered origin', () => {
  test('draws as many bars as days, each as high as its count, with a table of the same numbers behind it', async () => {
    await visitLoaded(tag(shop, DAYS));
    expect(await bars().count()).toBe(31);
    expect(await text('total')).toBe(`${MARCH_TOTAL} uses`);
    expect(await range()).toBe('Mar 1 – 31, 2026');
    const heights = await inChart<number[]>(
      `return [...root.querySelectorAll('.bar')].map((bar) => bar.getBBox().height);`,
    );
    expect(heights[6]).toBe(0);
    expect((heights[29] as number) / (heights[14] as number)).toBeCloseTo(2, 1);
    const rows = page.locator('usage-chart tr');
    expect(await rows.count()).toBe(32);
    expect(await rows.nth(2).allTextContents()).toEqual(['Mon, Mar 2, 20262']);
    await expectAccessible(page);
  });

  test('draws again when a script changes from and to, once for both', async () => {
    await visitLoaded(tag(shop, DAYS));
    let calls = 0;
    page.on('request', (request) => {
      if (request.method() === 'GET') calls += 1;
    });
    const loaded = inChart(`return new Promise((resolve) => {
      chart.addEventListener('load', ({ detail }) => resolve(detail));
      chart.from = '2026-03-05';
      chart.to = '2026-03-08';
    });`);
    expect(await loaded).toEqual({
      from: '2026-03-05',
      to: '2026-03-08',
      total: 19,
      used: [5, 6, 0, 8].map((count, index) => ({ date: `2026-03-0${index + 5}`, count })),
    });
    await eventually(() => bars().count()).toBe(4);
    expect(await text('total')).toBe('19 uses');
    expect(calls).toBe(1);
  });

  test('shows the day under the pointer, or that the keyboard has moved to', async () => {
    await visitLoaded(tag(shop, DAYS));
    const tip = part('tooltip');
    expect(await tip.isVisible()).toBe(false);
    await bars().nth(19).hover();
    expect(await tip.innerText()).toBe('20 uses\nFri, Mar 20, 2026');
    await page.mouse.move(0, 0);
    await page.keyboard.press('Tab');
    expect(await plot().getAttribute('aria-label')).toBe('Mar 1 – 31, 2026');
    expect(await plot().getAttribute('aria-valuetext')).toBe(`${MARCH_TOTAL} uses`);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await tip.innerText()).toBe('30 uses\nMon, Mar 30, 2026');
    expect(await plot().getAttribute('aria-valuetext')).toBe('30 uses – Mon, Mar 30, 2026');
    await page.keyboard.press('PageUp');
    expect(await tip.innerText()).toBe('23 uses\nMon, Mar 23, 2026');
    await page.keyboard.press('Home');
    expect(await tip.innerText()).toBe('1 use\nSun, Mar 1, 2026');
    await page.keyboard.press('Escape');
    expect(await tip.isVisible()).toBe(false);
  });

  test('has a name of its own where it has a label, and no landmark', async () => {
    await visitWith(`${tag(shop, `${DAYS} label="Orders"`)} ${tag(shop, `${DAYS} label="Visits"`)}`);
    await bars().nth(61).waitFor({ state: 'attached' });
    for (const label of ['Orders', 'Visits']) {
      const named = page.getByRole('slider', { name: `${label} – Mar 1 – 31, 2026` });
      expect(await named.count()).toBe(1);
      expect(await page.getByText(label, { exact: true }).isVisible()).toBe(true);
    }
    for (const landmark of ['banner', 'region', 'form', 'search', 'complementary', 'contentinfo'] as const) {
      expect(await page.getByRole(landmark).count()).toBe(0);
    }
    await expectAccessible(page);
  });

  test('names what is counted as the page does, and replaces any of its words', async () => {
    await visitLoaded(tag(shop, 'unit="order|orders" from="2026-03-01" to="2026-03-02"'));
    expect(await text('total')).toBe('3 orders');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    expect(await text('tooltip')).toBe('1 order\nSun, Mar 1, 2026');
    await change('unit', 'sales');
    expect(await text('total')).toBe('3 sales');
    await inFrame(`chart.setAttribute('word-empty', 'No orders yet.');
      chart.data = { used: [{ date: '2026-03-01', count: 0 }] }`);
    expect(await text('message')).toBe('No orders yet.');
    await change('word-empty', 'Come back soon.');
    expect(await text('message')).toBe('Come back soon.');
  });
});

describe('a comparison', () => {
  const MARCH_28 = 'from="2026-03-01" to="2026-03-28"';

  test('is a faint line, given in percent and in words too, for one more request', async () => {
    await visitLoaded(`<style>usage-chart { margin: 0 }</style>${tag(shop, MARCH_28)}`);
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).search));
    await inChart('chart.compare = true;');
    await part('change').waitFor();
    expect(calls).toEqual(['?from=2026-03-01&to=2026-03-28', '?from=2026-02-01&to=2026-02-28']);
    expect(await page.locator('usage-chart path.before').count()).toBe(1);
    expect(await part('change').textContent()).toBe('Compared with an earlier period: +43%');
    expect(await range()).toBe('Mar 1 – 28, 2026 Feb 1 – 28, 2026: 280');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    expect(await text('tooltip')).toBe('1 use\nSun, Mar 1, 2026\nSun, Feb 1, 2026: 10 uses');
    expect(await plot().getAttribute('aria-valuetext')).toBe('1 use – Sun, Mar 1, 2026 – Sun, Feb 1, 2026: 10 uses');
    const cells = (row: number) => page.locator('usage-chart tr').nth(row).locator('th, td').allTextContents();
    expect(await cells(0)).toEqual(['day', 'uses', 'Compared with an earlier period']);
    expect(await cells(1)).toEqual(['Sun, Mar 1, 2026', '1', 'Sun, Feb 1, 2026: 10 uses']);
    await expectAccessible(page);
    await inChart('chart.compare = false;');
    await part('change').waitFor({ state: 'detached' });
    expect(await page.locator('usage-chart path.before').count()).toBe(0);
  });

  /** What an attribute or a property says, what the property is then, and the first day that is asked for. */
  const COMPARED: [code: string, compare: string | null, attribute: string | null][] = [
    ['chart.setAttribute("compare", "")', 'previous', ''], // as Vue sets an attribute without a value
    ['chart.setAttribute("compare", "true")', 'previous', 'true'],
    ['chart.setAttribute("compare", "previous")', 'previous', 'previous'],
    ['chart.setAttribute("compare", "year")', 'year', 'year'],
    ['chart.setAttribute("compare", "off")', null, 'off'],
    ['chart.setAttribute("compare", "false")', null, 'false'],
    ['chart.setAttribute("compare", "decade")', null, 'decade'],
    ['chart.compare = true', 'previous', 'true'],
    ['chart.compare = "previous"', 'previous', 'previous'],
    ['chart.compare = "year"', 'year', 'year'],
    ['chart.compare = ""', 'previous', ''],
    ['chart.compare = "false"', null, 'false'], // as frameworks pass it on
    ['chart.compare = "off"', null, 'off'],
    ['chart.compare = false', null, null],
    ['chart.compare = null', null, null],
    ['chart.compare = undefined', null, null],
  ];
  const ASKED: Record<string, string> = {
    previous: '?from=2026-02-01&to=2026-02-28',
    year: '?from=2025-03-02&to=2025-03-29',
  };

  test('is with the days that an attribute or a property names', async () => {
    await visitListed('');
    const calls: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET') calls.push(new URL(request.url()).search);
    });
    for (const [code, compare, attribute] of COMPARED) {
      calls.length = 0;
      await page.evaluate('events.length = 0');
      await put(tag(shop, MARCH_28), code);
      const expected = ['?from=2026-03-01&to=2026-03-28', ...(compare === null ? [] : [ASKED[compare]])];
      await eventually(events).toHaveLength(expected.length);
      expect(calls, code).toEqual(expected);
      expect(await inChart('return [chart.compare, chart.getAttribute("compare")];'), code).toEqual([
        compare,
        attribute,
      ]);
      await page.locator('usage-chart path.before').waitFor({ state: compare ? 'attached' : 'detached' });
    }
  });

  test('never holds the current period up: load comes twice, the second time with before', async () => {
    let answer = () => {};
    await visitListed(tag(shop, `${MARCH_28} compare`), () =>
      page.route('**/api/**from=2026-02-01**', (route) => {
        answer = () => void route.continue();
      }),
    );
    await state('loaded');
    expect(await bars().count()).toBe(28);
    expect(await range()).toBe('Mar 1 – 28, 2026 Feb 1 – 28, 2026');
    const first = await events();
    expect(first).toEqual([
      { type: 'load', from: '2026-03-01', to: '2026-03-28', total: 399, used: expect.any(Array) },
    ]);
    answer();
    await part('change').waitFor();
    const before = { from: '2026-02-01', to: '2026-02-28', total: 280, used: expect.any(Array) };
    expect(await events()).toEqual([...first, { ...first[0], before }]);
  });

  test('that cannot be loaded leaves the chart as it is, with one load', async () => {
    await visitListed(tag(shop, `${MARCH_28} compare`), () => abort('**/api/**from=2026-02-01**'));
    await state('loaded');
    await eventually(told).toEqual([`<usage-chart business="${shop.id}">: no response from ${service}`]);
    expect(await bars().count()).toBe(28);
    expect(await events()).toMatchObject([{ type: 'load', total: 399 }]);
  });
});

describe('data of a script', () => {
  const two = `{ used: [{ date: '2026-03-01', count: 3 }, { date: '2026-03-02', count: 4 }] }`;

  test('are drawn without asking anybody, and without load', async () => {
    const calls: string[] = [];
    await visitListed('<usage-chart></usage-chart>', async () => {
      page.on('request', (request) => calls.push(new URL(request.url()).pathname));
      // Before the module runs, so before the element is defined.
      await page.addInitScript(`new MutationObserver((_, observer) => {
        const chart = document.querySelector('usage-chart');
        if (!chart) return;
        chart.data = ${two};
        observer.disconnect();
      }).observe(document, { subtree: true, childList: true })`);
    });
    await state('loaded');
    expect(await bars().count()).toBe(2);
    expect(await text('total')).toBe('7 uses');
    expect(await range()).toBe('Mar 1 – 2, 2026');
    expect(await inChart('return Object.hasOwn(chart, "data");')).toBe(false);
    await inFrame(`window.changes = 0;
      new MutationObserver(() => { changes += 1; }).observe(root, { subtree: true, childList: true, attributes: true });
      chart.business = 1; chart.token = 'bua_pk_none'; chart.setAttribute('token', 'bua_pk_none');
      chart.from = '2026-03-05'; chart.to = '2026-03-06'; chart.baseUrl = 'nowhere'`);
    expect(await page.evaluate('changes')).toBe(0);
    expect(await events()).toEqual([]);
    expect(calls).toEqual(['/', '/usage-chart.js']);
    await expectAccessible(page);
  });

  test('can be replaced and compared, and null asks the service again', async () => {
    await visitListed(tag(shop, DAYS));
    await state('loaded');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).search));
    await give('1970-01-01', Array(100_000).fill(1));
    expect(await text('total')).toBe('100,000 uses');
    await give('2026-03-01', [4, 5], '2026-02-22', [2, 1]);
    expect(await part('change').textContent()).toBe('Compared with an earlier period: +200%');
    expect(await range()).toBe('Mar 1 – 2, 2026 Feb 22 – 23, 2026: 3');
    expect(await inChart('return chart.data.used.length;')).toBe(2);
    await give(TODAY, [5], addDays(TODAY, -7), [500]);
    expect(await part('change').count()).toBe(0); // no day is over
    expect(await page.locator('usage-chart path.before').count()).toBe(1);
    expect(calls).toEqual([]);
    await inChart('chart.data = null;');
    await eventually(() => bars().count()).toBe(31);
    expect(calls).toEqual(['?from=2026-03-01&to=2026-03-31']);
    expect((await events()).map(({ type }) => type)).toEqual(['load', 'load']);
  });

  test('that come while the service is asked are what stays', async () => {
    let answer = () => {};
    await visitListed(tag(shop, DAYS), () =>
      page.route('**/api/**', (route) => {
        answer = () => void route.continue().catch(() => {}); // the chart has given the call up
      }),
    );
    await state('loading');
    await give('2026-03-01', [1, 2, 3]);
    answer();
    await state('loaded');
    expect(await bars().count()).toBe(3);
    expect(await events()).toEqual([]);
  });

  test('that cannot be drawn are a mistake of the developer', async () => {
    await visitListed(tag(shop, DAYS));
    await state('loaded');
    for (const data of [
      '{ used: [] }',
      '{ used: "many" }',
      '{}',
      '[]',
      '{ used: [{ date: "2026-13-45", count: 1 }] }',
      '{ used: [{ date: "2026-03-01" }] }',
      '{ used: [null] }',
      `{ used: ${two}.used, before: [] }`,
      `{ used: ${two}.used, before: "none" }`,
    ]) {
      await page.evaluate('events.length = 0');
      await inFrame(`chart.data = ${data}`);
      await state('refused');
      expect(await text('message'), data).toBe('This chart cannot be shown here.');
      const message = 'data: used and before must be lists of { date, count }';
      expect(told(), data).toEqual([`<usage-chart business="${shop.id}">: ${message}`]);
      expect(await events(), data).toEqual([{ type: 'error', status: 0, message, reason: 'attributes' }]);
      await give('2026-03-01', [1, 2, 3]);
      expect(await text('total'), data).toBe('6 uses');
    }
  });
});

describe('what is drawn', () => {
  /** From now on, counts how often the picture and the table are replaced, by frame. */
  const count = `window.frame = 0; window.images = []; window.tables = 0;
    const tick = () => { frame += 1; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const { nodeName } of addedNodes) {
        if (nodeName === 'svg') images.push(frame);
        if (nodeName === 'TABLE') tables += 1;
      }
    }).observe(root, { subtree: true, childList: true });`;

  test('is drawn once a frame, however many attributes, sizes and data change', async () => {
    await visitLoaded(tag(shop, DAYS), { viewport: { width: 1000, height: 700 } });
    await inFrame(count);
    await inFrame(`for (const unit of ['order|orders', 'sale|sales', 'visit|visits']) {
      chart.unit = unit;
      chart.label = unit;
      chart.setAttribute('word-week', unit);
      chart.data = { used: [{ date: '2026-03-01', count: unit.length }, { date: '2026-03-02', count: 2 }] };
    }`);
    expect(await page.evaluate('[images.length, tables]')).toEqual([1, 1]);
    expect(await text('total')).toBe('14 visits');
    await inFrame(`for (let width = 400; width < 900; width += 100) { chart.style.width = width + 'px'; chart.offsetWidth; }
      chart.unit = 'ticket|tickets'`);
    await inFrame('');
    const [images, tables] = (await page.evaluate('[images, tables]')) as [number[], number];
    expect(new Set(images).size).toBe(images.length); // at most one a frame
    expect(images.length).toBeLessThanOrEqual(3); // with the new words, and once more with the new size
    expect(tables).toBe(2);
  });

  test('leaves the table as it is where only the size changes, unless a bar becomes a week', async () => {
    await visitLoaded(tag(busy, YEAR), { viewport: { width: 1920, height: 800 } });
    await inFrame(count);
    for (const width of [1910, 1900, 1890]) await resize(width);
    expect(await page.evaluate('[images.length >= 3, tables]')).toEqual([true, 0]);
    expect(await bars().count()).toBe(366);
    expect(await range()).toBe('Jan 1, 2025 – Jan 1, 2026');
    await resize(1000);
    expect(await page.evaluate('tables')).toBe(1);
    expect(await page.locator('usage-chart tr').count()).toBe(54);
  });
});

describe('what a bar stands for', () => {
  test('is a week where days would be too thin, and a month where weeks would be, and the chart says so', async () => {
    await visitLoaded(tag(busy, YEAR), { viewport: { width: 1280, height: 800 } });
    expect(await bars().count()).toBe(53);
    expect(await range()).toBe('Jan 1, 2025 – Jan 1, 2026 by week');
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    expect(await plot().getAttribute('aria-valuetext')).toContain('Dec 26, 2025 – Jan 1, 2026');
    await page.setViewportSize({ width: 220, height: 800 });
    await eventually(() => bars().count()).toBe(13);
    expect(await range()).toBe('Jan 1, 2025 – Jan 1, 2026 by month');
  });

  test('is marked as incomplete if it includes today', async () => {
    await visitLoaded(tag(busy));
    const partial = () =>
      inChart<number[]>(`return [...root.querySelectorAll('.bar')].flatMap(({ classList }, index) =>
      classList.contains('part') ? [index] : []);`);
    expect(await partial()).toEqual([29]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    expect(await text('tooltip')).toContain('(so far)');
    await give(TODAY, [7]);
    expect(await partial()).toEqual([0]);
  });

  test('names its days and those that it is compared with', async () => {
    await visitEmpty({ viewport: { width: 320, height: 700 } });
    await give('2025-01-01', Array(364).fill(1), '2024-01-03', Array(364).fill(2));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    const both = ['Jan 1 – 7, 2025', 'Jan 3 – 9, 2024: 14 uses'];
    expect(await text('tooltip')).toBe(['7 uses', ...both].join('\n'));
    expect(await plot().getAttribute('aria-valuetext')).toBe(['7 uses', ...both].join(' – '));
    const cells = page.locator('usage-chart tr').nth(1).locator('th, td');
    expect(await cells.allTextContents()).toEqual([both[0], '7', both[1]]);
  });

  test('is as pale in forced colors and in print', async () => {
    await visitEmpty({ viewport: { width: 320, height: 700 } });
    const look = () =>
      inChart<Record<string, string>>(`
      const [canvas, part, whole] = ['body', '.part', '.bar:not(.part)'].map((name) =>
        getComputedStyle((name === 'body' ? document : root).querySelector(name)));
      const { fill, fillOpacity, stroke, strokeDasharray } = part;
      return { fill, fillOpacity, stroke, strokeDasharray, whole: whole.fill, ink: canvas.color };`);
    await give('2025-01-01', Array(366).fill(5));
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const media of [
        { forcedColors: 'active', media: 'screen' },
        { forcedColors: 'none', media: 'print' },
      ] as const) {
        await page.emulateMedia({ ...media, colorScheme });
        const { fill, fillOpacity, stroke, strokeDasharray, whole, ink } = await look();
        expect([fillOpacity, strokeDasharray]).toEqual(['0.35', '3px, 2px']);
        expect([stroke, whole]).toEqual([fill, fill]);
        if (media.forcedColors === 'active') expect(fill).toBe(ink);
        await shoot(page, `chart-part-${media.media}-${colorScheme}`);
      }
    }
  });
});

describe('where there is no chart', () => {
  test('visitors read plain words; the service’s own message goes to the console and into the event', async () => {
    stranger.body = tag(shop, DAYS);
    await visit('about:blank');
    await list();
    await page.goto(stranger.url);
    await state('refused');
    const refusal = `Origin ${stranger.url} is not authorized for this business.`;
    expect(await text('message')).toBe('This chart cannot be shown here.');
    expect(await events()).toEqual([{ type: 'error', status: 403, message: refusal, reason: 'service' }]);
    expect(told()).toEqual([`<usage-chart business="${shop.id}">: 403 ${refusal}`]);
    expect(await bars().count()).toBe(0);
    await expectAccessible(page);
  });

  test('a mistake in the range is reported to the developer, and can be corrected', async () => {
    await visitWith(tag(shop, 'from="2026-02-30" to="2026-03-31"'));
    await state('refused');
    expect(told()).toEqual([
      `<usage-chart business="${shop.id}">: 422 from must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD`,
    ]);
    await change('from', '2026-03-01');
    await state('loaded');
    expect(await text('message')).toBe('');
  });

  test('a visitor can try again if the service cannot be reached, at the keyboard too', async () => {
    await visitListed(tag(shop, DAYS), () => abort('**/api/**'));
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await text('message')).toContain('This chart could not be loaded.');
    expect(told()).toEqual([`<usage-chart business="${shop.id}">: no response from ${service}`]);
    await expectAccessible(page);
    await page.unroute('**/api/**');
    await again.focus();
    await page.setViewportSize({ width: 400, height: 700 });
    await inFrame('');
    await inFrame('');
    expect(await again.evaluate((button) => button.matches(':focus'))).toBe(true);
    await page.keyboard.press('Enter');
    await state('loaded');
    await page.keyboard.press('End');
    expect(await text('tooltip')).toContain('31 uses');
  });

  test('being offline has words of its own, and the chart recovers by itself', async () => {
    await visitLoaded(tag(shop, DAYS));
    await page.context().setOffline(true);
    await inChart('chart.reload();');
    await state('refused');
    expect(await text('message')).toContain('You are offline.');
    expect(told()).toEqual([`<usage-chart business="${shop.id}">: the browser is offline`]);
    await page.context().setOffline(false);
    await state('loaded');
  });

  test('a Content-Security-Policy that forbids the call is reported to the developer', async () => {
    const { policy } = registered;
    registered.policy = policy.replace(/connect-src [^;]*/, `connect-src 'self'`);
    await visitWith(tag(shop, DAYS));
    await state('refused');
    registered.policy = policy;
    expect(await text('message')).toBe('This chart cannot be shown here.');
    expect(told()).toEqual([
      `<usage-chart business="${shop.id}">: the Content-Security-Policy of this page needs connect-src ${service}`,
    ]);
    forget(/Content Security Policy/);
  });

  test('what is wrong with the attributes is reported by name', async () => {
    await visitListed('');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    const origins = ['usage.example.com', 'localhost:8787', '//a.example', '/', 'https://', 'https://a.example/api/v1'];
    for (const [attributes, message] of [
      ['token="bua_pk_none"', 'business is missing'],
      ['business="" token="bua_pk_none"', 'business is missing'],
      ['business="7"', 'token is missing'],
      ['business="7" base-url="https://a.example/api/v1"', `token is missing; ${NO_ORIGIN}`],
      ...origins.map((url) => [`business="7" token="bua_pk_none" base-url="${url}"`, NO_ORIGIN]),
    ] as [string, string][]) {
      await page.evaluate('events.length = 0');
      await put(`<usage-chart ${attributes}></usage-chart>`);
      await state('refused');
      expect(await text('message'), attributes).toBe('This chart cannot be shown here.');
      expect(await events(), attributes).toEqual([{ type: 'error', status: 0, message, reason: 'attributes' }]);
      const business = attributes.match(/business="(7?)"/)?.[1] ?? 'null';
      expect(told(), attributes).toEqual([`<usage-chart business="${business}">: ${message}`]);
    }
    expect(calls).toEqual([]);
  });

  test('without business, token and data, the chart waits in silence', async () => {
    await visitListed('<usage-chart></usage-chart>');
    await state('loading');
    await inFrame('');
    await inFrame(`chart.data = { used: [{ date: '2026-03-01', count: 6 }] }`);
    await state('loaded');
    expect(await text('total')).toBe('6 uses');
    expect([told(), await events()]).toEqual([[], []]);
  });
});

test('base-url is the origin of the API, with or without a slash behind it; if it is empty, that of the module', async () => {
  await visitWith('');
  for (const url of ['', service, `${service}/`, service.toUpperCase()]) {
    await put(tag(shop, `${DAYS} base-url="${url}"`));
    await state('loaded');
    expect(await bars().count()).toBe(31);
  }
});

describe('the language', () => {
  test('can be any of those that have words: they are loaded once, and no labels overlap', async () => {
    await visitWith(`${tag(shop, `${DAYS} compare`)} ${tag(quiet, DAYS)}`, { viewport: { width: 320, height: 900 } });
    await state('empty');
    await part('change').waitFor();
    const words: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/words/')) words.push(request.url());
    });
    for (const [language, { unit, empty }] of Object.entries(TABLES)) {
      await page.evaluate(`document.documentElement.lang = '${language}'`);
      await eventually(() => part('message').nth(1).innerText()).toBe(empty);
      expect(unit.split('|')).toContain(await part('unit').first().innerText());
      await expectNoOverlap();
    }
    expect(words.length).toBeLessThanOrEqual(2 * Object.keys(TABLES).length); // by each of two charts
    await expectAccessible(page);
  });

  test('is that of the nearest lang, or else that of the browser, and follows a change', async () => {
    await visitWith(tag(quiet, `${DAYS} lang="fr-CA"`), { locale: 'pl-PL' }, 'lang="de"');
    await state('empty');
    expect(await text('message')).toBe(TABLES.fr.empty);
    await inChart('chart.lang = "";');
    await eventually(() => text('message')).toBe(TABLES.de.empty);
    await page.evaluate('document.documentElement.lang = "nl"');
    await eventually(() => text('message')).toBe(TABLES.nl.empty);
    await page.evaluate('document.documentElement.lang = ""');
    await eventually(() => text('message')).toBe(TABLES.pl.empty);
  });

  test('whose words cannot be loaded, or that has none, leaves them English', async () => {
    await visitListed(tag(quiet, DAYS), () => abort('**/v1/words/**'), 'lang="de"');
    await state('empty');
    expect(await text('message')).toBe('Nothing in this period.');
    told();
    await change('lang', 'sv');
    await eventually(range).toBe('1–31 mars 2026');
    expect(await text('message')).toBe('Nothing in this period.');
    await change('lang', 'not a language');
    await eventually(range).toBe('Mar 1 – 31, 2026');
  });

  test.each(['lang="he" dir="rtl"', 'lang="ar"'])(
    'from right to left, time and the arrow keys run that way: %s',
    async (attributes) => {
      await visitLoaded(tag(shop, DAYS), {}, attributes);
      const lefts = await inChart<number[]>(
        `return [...root.querySelectorAll('.bar')].map((bar) => bar.getBoundingClientRect().left);`,
      );
      expect(lefts).toEqual(lefts.toSorted((a, b) => b - a));
      const numbers = (await labels()).filter(({ text }) => /^[\d٠-٩]+$/.test(text));
      expect(numbers.length).toBeGreaterThan(1);
      for (const { left } of numbers) expect(left).toBeGreaterThan(lefts[0] as number);
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowRight'); // the leftmost: the last day
      expect(await plot().getAttribute('aria-valuenow')).toBe('31');
      await page.keyboard.press('ArrowRight');
      expect(await plot().getAttribute('aria-valuenow')).toBe('30');
      await bars().nth(4).hover();
      expect(await plot().getAttribute('aria-valuenow')).toBe('5');
      await expectAccessible(page);
    },
  );
});

/** Each state, and what brings it about. */
const STATES: Record<string, { body: () => string; state: string; attributes?: string; before?: () => Promise<void> }> =
  {
    empty: { body: () => tag(quiet, DAYS), state: 'empty' },
    'one-day': { body: () => tag(shop, 'from="2026-03-20" to="2026-03-20"'), state: 'loaded' },
    'year-366-days': { body: () => tag(busy, YEAR), state: 'loaded' },
    'trillion-uses': { body: () => tag(busy, 'from="2024-05-20" to="2024-06-10"'), state: 'loaded' },
    'long-label': {
      body: () =>
        tag(
          busy,
          `compare label="Orders of the Tulip Shop in Rotterdam-Noord, with those of its three branches, without returns"`,
        ),
      state: 'loaded',
    },
    'right-to-left': {
      body: () => tag(busy, 'compare label="הזמנות"'),
      state: 'loaded',
      attributes: 'lang="he" dir="rtl"',
    },
    german: {
      body: () => tag(busy, 'compare label="Bestellungen" unit="Bestellung|Bestellungen"'),
      state: 'loaded',
      attributes: 'lang="de"',
    },
    refused: { body: () => tag({ ...shop, token: 'bua_pk_none' }, DAYS), state: 'refused' },
    loading: {
      body: () => tag(shop, DAYS),
      state: 'loading',
      before: async () => {
        await page.route('**/api/**', () => new Promise(() => {}));
      },
    },
    offline: {
      body: () => tag(shop, DAYS),
      state: 'refused',
      before: async () => {
        await abort('**/api/**');
        await page.addInitScript(`Object.defineProperty(navigator, 'onLine', { value: false })`);
      },
    },
  };

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützen und anderes';
/** What reaches out of the card, and what is wider than its place. */
const outside = () =>
  inChart<string[]>(`
    const card = root.querySelector('.card');
    const { left, right, top, bottom } = card.getBoundingClientRect();
    const shown = [...card.querySelectorAll('*')].filter((part) => part.checkVisibility() && !part.closest('.sr-only'));
    return [card, ...shown].flatMap((part) => {
      const box = part.getBoundingClientRect();
      const isIn = box.width === 0 || (box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom);
      const fits = part instanceof SVGElement || part.matches('.label') || part.scrollWidth <= Math.max(part.clientWidth, part.offsetWidth);
      return isIn && fits ? [] : [part.nodeName + '.' + part.getAttribute('class') + ' ' + part.textContent];
    });`);

describe('in every state', () => {
  /** By the look and the state: a chart is as high in each, with one line more for a label. */
  const heights: Record<string, Record<string, number>> = {};

  test.each(Object.entries(STATES))(
    'the chart is accessible and fits, at any size and in any theme: %s',
    async (name, chart) => {
      await visit('about:blank', { deviceScaleFactor: wantsPictures ? 2 : 1 });
      await chart.before?.();
      registered.body = chart.body();
      registered.attributes = chart.attributes ?? 'lang="en"';
      await page.goto(registered.url);
      await state(chart.state);
      const settle = async () => {
        await state(chart.state);
        if (registered.body.includes('compare')) await part('change').waitFor();
      };
      await settle();
      for (const width of [320, 1280, 1920]) {
        await page.setViewportSize({ width, height: 480 });
        if (chart.state === 'loaded' || chart.state === 'empty') await resize(width, 480);
        heights[width] ??= {};
        heights[width][name] = await inChart('return chart.getBoundingClientRect().height;');
        await expectFits(page);
        await expectNoOverlap();
        if (name === 'long-label' || name === 'right-to-left') {
          await plot().focus();
          for (let step = 0; step < 4; step++) await page.keyboard.press('PageUp');
        }
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          if (colorScheme === 'light') await expectAccessible(page);
          else await expectContrast(page);
          await shoot(page, `chart-${name}-${width}-${colorScheme}`);
        }
      }
      await page.setViewportSize({ width: 400, height: 700 });
      await page.evaluate(`document.querySelector('main').style.cssText = 'width: 160px; margin: 0'`);
      await change('label', LONG);
      for (const [lang, dir] of [
        ['en', 'ltr'],
        ['de', 'ltr'],
        ['pl', 'ltr'],
        ['he', 'rtl'],
        ['ar', 'rtl'],
      ]) {
        await page.evaluate(`Object.assign(document.documentElement, { lang: '${lang}', dir: '${dir}' })`);
        await inFrame('');
        await page.locator(`usage-chart [part=card][dir=${dir}]`).waitFor();
        await settle();
        expect(await inChart('return chart.offsetWidth;')).toBe(160);
        expect(await outside(), lang).toEqual([]);
      }
      told();
    },
  );

  test('the chart is as high, and a label has one line', () => {
    for (const [width, byState] of Object.entries(heights)) {
      const { 'long-label': a, 'right-to-left': b, german: c, ...plain } = byState;
      expect(new Set(Object.values(plain)).size, `${width}: ${JSON.stringify(byState)}`).toBe(1);
      expect([a, b, c]).toEqual(Array(3).fill((byState.empty as number) + 22));
    }
    expect(Object.keys(heights).length).toBe(3);
  });
});

test('at 160 px, no tooltip overflows, with trillions, in any direction', async () => {
  await visitEmpty(
    { viewport: { width: 400, height: 700 } },
    'lang="en"',
    '<style>usage-chart { width: 160px }</style>',
  );
  await change('label', LONG);
  await change('unit', 'Donaudampfschifffahrten');
  const trillions = Array(28).fill(1_234_567_890_123);
  await give('2026-03-01', trillions, '2026-02-01', trillions);
  for (const [lang, dir] of [
    ['en', 'ltr'],
    ['de', 'ltr'],
    ['he', 'rtl'],
  ] as const) {
    await page.evaluate(`Object.assign(document.documentElement, { lang: '${lang}', dir: '${dir}' })`);
    if (lang !== 'en') await eventually(() => plot().getAttribute('aria-label')).not.toContain('Mar ');
    expect(await text('total')).toMatch(/^\D*34[.,]\d|^\D*35/); // in short: 35T
    await plot().focus();
    await page.keyboard.press('Home');
    for (let day = 1; day <= 28; day++) {
      expect(await part('tooltip').isVisible()).toBe(true);
      expect(await outside(), `${day}`).toEqual([]);
      await page.keyboard.press('ArrowUp');
    }
    await shoot(page, `chart-160-${lang}`);
    await expectNoOverlap();
    await expectAccessible(page);
  }
});

test('the card does not change its height while a chart with every feature loads', async () => {
  await visit('about:blank', { viewport: { width: 320, height: 480 } });
  registered.attributes = 'lang="de"';
  registered.body = `${tag(busy, 'compare label="Bestellungen"')}`;
  await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
    window.heights = [];
    new ResizeObserver(([{ contentRect }]) => heights.push(contentRect.height)).observe(document.querySelector('usage-chart'));
  })`);
  await page.goto(registered.url);
  await part('change').waitFor();
  const heights = (await page.evaluate('heights')) as number[];
  expect(new Set(heights.filter((height) => height > 0)).size, `${heights}`).toBe(1); // 0 before the module has run
});

describe('a page', () => {
  /** Serves a page: HTML, and a bundle of a program that may import React or Vue. */
  async function startPage(html: string, program: string, headers: Record<string, string> = {}) {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: ROOT },
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false' },
      alias: { vue: join(ROOT, 'node_modules/vue/dist/vue.esm-bundler.js') },
      logLevel: 'error',
    });
    const { port, stop } = await listen(({ url }, response) => {
      const script = url === '/app.js';
      const type = `${script ? 'text/javascript' : 'text/html'}; charset=utf-8`;
      response
        .writeHead(200, { 'Content-Type': type, ...headers })
        .end(
          script
            ? outputFiles[0]?.text
            : `<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">${html}`,
        );
    });
    return { url: `http://localhost:${port}`, stop };
  }
  const shown = `<script type="module" src="/app.js"></script><main id="app"></main><output></output>`;
  const values = () => JSON.stringify({ business: busy.id, token: busy.token, from: '2025-03-01', to: '2025-03-31' });

  async function expectChart(url: string): Promise<void> {
    await visit(url);
    await eventually(() => bars().count()).toBe(31);
    expect(await text('label')).toBe('Orders');
    expect(await text('unit')).toBe('orders');
    await part('change').waitFor();
    await eventually(() => page.locator('output').innerText()).toMatch(/^load \d+$/);
    await page.evaluate('change()'); // the framework renders other days
    await eventually(() => bars().count()).toBe(5);
    expect(told()).toEqual([]);
  }

  test('of React shows the chart, gives it properties, hears its events and changes it', async () => {
    const { url, stop } = await startPage(
      `<script type="module" src="${service}/v1/usage-chart.js"></script>${shown}`,
      `import { createElement, useState } from 'react';
      import { createRoot } from 'react-dom/client';
      function App() {
        const [to, setTo] = useState('2025-03-31');
        window.change = () => setTo('2025-03-05');
        return createElement('usage-chart', { ...${values()}, to, label: 'Orders', unit: 'order|orders', compare: true,
          onload: ({ detail }) => { document.querySelector('output').textContent = 'load ' + detail.total; },
          onLoad: () => console.error('React calls onLoad'), onError: () => console.error('React calls onError') });
      }
      createRoot(document.getElementById('app')).render(createElement(App));`,
    );
    await expectChart(url);
    stop();
  });

  test('of Vue does the same', async () => {
    const { url, stop } = await startPage(
      `<script type="module" src="${service}/v1/usage-chart.js"></script>${shown}`,
      `import { createApp } from 'vue';
      const app = createApp({
        data: () => (${values()}),
        mounted() { window.change = () => { this.to = '2025-03-05'; }; },
        methods: { loaded({ detail }) { document.querySelector('output').textContent = 'load ' + detail.total; } },
        template: '<usage-chart :business :token :from :to label="Orders" unit="order|orders" compare @load="loaded" />',
      });
      app.config.compilerOptions.isCustomElement = (name) => name === 'usage-chart';
      app.mount('#app');`,
    );
    await expectChart(url);
    stop();
  });

  test('with the strictest policy runs exactly the bytes that its tag names', async () => {
    const code = readFileSync(join(ROOT, 'dist/assets/v1/usage-chart.js'));
    const pinned = chartTag(service, code);
    const hash = pinned.match(/integrity="([^"]+)"/)?.[1] ?? '';
    const strict = {
      'Content-Security-Policy': `default-src 'none'; script-src '${hash}'; connect-src ${service}; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    };
    const body = `${pinned}<main>${tag(busy, 'from="2025-03-01" to="2025-03-31"')}</main>`;
    const { url, stop } = await startPage(body, '', strict);
    await visit(url);
    await state('loaded');
    expect(await bars().count()).toBe(31);
    await bars().nth(3).hover();
    expect(await part('tooltip').isVisible()).toBe(true);
    stop();
  });

  test('whose tag names other bytes shows what is inside the element', async () => {
    const pinned = chartTag(service, Buffer.from('other'));
    const { url, stop } = await startPage(`${pinned}<main><usage-chart>No chart today.</usage-chart></main>`, '');
    await visit(url);
    await eventually(() => complaints.length).toBe(1);
    expect(complaints[0]).toContain('integrity');
    forget(/integrity/);
    expect(await page.locator('usage-chart').innerText()).toBe('No chart today.');
    stop();
  });
});

test.runIf(wantsPictures)('the pictures of the README', async () => {
  await visitWith(`<style>main { width: 860px; margin: 0 } h1 { display: none }</style>${tag(busy)}`, {
    viewport: { width: 900, height: 400 },
    deviceScaleFactor: 2,
  });
  await state('loaded');
  await bars().nth(20).hover();
  for (const [colorScheme, name] of [
    ['light', 'chart'],
    ['dark', 'chart-dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await shoot(page.locator('usage-chart'), name);
  }
});
