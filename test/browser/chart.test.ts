// <usage-chart> on other sites' pages: in every state, language, text direction and width, and in React and Vue. Its pure functions are
// tested in test/rules/chart-drawing.test.ts and test/rules/chart-parts.test.ts.
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

const { url: service, made } = inject('owners');
/** In March 2026 the shop has n uses on day n, except none on the 7th. In February it has 10 a day. */
const { shop, silent: quiet, lively: busy } = made;
const MARCH_TOTAL = (31 * 32) / 2 - 7;
const MARCH = 'from="2026-03-01" to="2026-03-31"';
const MARCH_28 = 'from="2026-03-01" to="2026-03-28"';
const YEAR = 'from="2025-01-01" to="2026-01-01"';
const NOT_HERE = 'This chart cannot be shown here.';

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
/**
 * The page's GET requests to the service: the query string of each report, and the path of every other request except the one for the
 * module.
 */
const requests: string[] = [];
const { complaints, newPage } = visitsOfFile();
const forget = (what: RegExp) => {
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !what.test(text)));
};

type Setup = BrowserContextOptions & {
  site?: Pick<Site, 'url'>;
  /** The attributes of the root element. */
  root?: string;
  /** The state to wait for, or null to not wait. */
  until?: string | null;
  /** Runs before the page loads. */
  before?: () => unknown;
};

/** Opens a page with this body on the registered site. */
async function open(body: string, setup: Setup = {}): Promise<void> {
  const { site = registered, root = 'lang="en"', until = 'loaded', before, ...options } = setup;
  page = await newPage(options);
  requests.length = 0;
  page.on('request', (request) => {
    const { origin, pathname, search } = new URL(request.url());
    if (origin !== service || request.method() !== 'GET' || pathname.endsWith('/usage-chart.js')) return;
    requests.push(pathname.startsWith('/api/') ? search : pathname);
  });
  await page.addInitScript(`window.events = [];
    for (const name of ['load', 'error']) document.addEventListener(name, ({ type, detail }) => {
      if (detail) events.push({ type, ...detail });
    }, true)`);
  await before?.();
  Object.assign(site, { body, attributes: root });
  await page.goto(site.url);
  if (until) await state(until);
}

const API = '**/api/**';
const abort = (url: string) => page.route(url, (route) => route.abort());
/** Holds requests back until the returned function is called. */
async function hold(url: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await promise;
    await route.continue().catch(() => {}); // the chart may have aborted the request
  });
  return resolve;
}

/** Returns the chart's log messages since the last call. Drops Chromium's own messages about failed requests. */
function logged(): string[] {
  const own = complaints.filter((text) => text.startsWith('<usage-chart'));
  forget(/^<usage-chart|^Failed to load resource/);
  return own;
}
const logLine = (message: string) => `<usage-chart business="${shop.id}">: ${message}`;

const tag = (business: BusinessRow, more = '') =>
  `<usage-chart business="${business.id}" token="${business.token}" ${more}></usage-chart>`;
const part = (name: string) => page.locator(`usage-chart .${name}`);
const bars = () => part('bar');
const state = (name: string) => page.locator(`usage-chart [data-state=${name}]`).first().waitFor();
const text = (name: string) => part(name).first().innerText();
const range = async () => (await text('range')).replaceAll('\n', ' ');
const plot = () => page.locator('usage-chart [role=slider]');
const aria = (name: string) => plot().getAttribute(`aria-${name}`);
const rows = () => page.locator('usage-chart tr');
const cells = (row: number) => rows().nth(row).locator('th, td').allTextContents();
const events = () => page.evaluate('events') as Promise<object[]>;
const takeEvents = () => page.evaluate('events.splice(0)') as Promise<object[]>;
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const inChart = <T>(code: string) =>
  page.evaluate(
    `(() => { const chart = document.querySelector('usage-chart'); const root = chart.shadowRoot; ${code} })()`,
  ) as Promise<T>;
/** Runs `code`, and waits until its changes are drawn. */
const inFrame = (code: string) =>
  inChart(`${code}; return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  });`);
const change = (name: string, value: string) =>
  inFrame(`chart.setAttribute(${JSON.stringify(name)}, ${JSON.stringify(value)})`);
const setRoot = (attributes: object) =>
  page.evaluate(`Object.assign(document.documentElement, ${JSON.stringify(attributes)})`);
/** Sets the chart's data: one count per day from `first`, and from `earlier`. */
const setData = (first: string, counts: number[], earlier?: string, before: number[] = []) => {
  const days = (from: string, of: number[]) => of.map((count, index) => ({ date: addDays(from, index), count }));
  const data = { used: days(first, counts), ...(earlier && { before: days(earlier, before) }) };
  return inFrame(`chart.data = ${JSON.stringify(data)}`);
};

/** Resizes the window, and waits until the chart is drawn at that width. */
async function resize(width: number, height = 900): Promise<void> {
  await page.setViewportSize({ width, height });
  const isDrawn =
    "Number(root.querySelector('svg').getAttribute('width')) === root.querySelector('[part=plot]').clientWidth";
  await eventually(() => inChart(`return innerWidth === ${width} && ${isDrawn};`)).toBe(true);
}

type Box = { text: string; left: number; right: number; top: number; bottom: number };
const labels = () =>
  inChart<Box[]>(`return [...root.querySelectorAll('svg text')].map((label) => (
    { text: label.textContent, ...label.getBoundingClientRect().toJSON() }));`);

async function expectNoOverlap(): Promise<void> {
  const shown = await labels();
  const { left, right } = await inChart<Box>('return chart.getBoundingClientRect().toJSON();');
  for (const [index, a] of shown.entries()) {
    expect(a.left, a.text).toBeGreaterThanOrEqual(left);
    expect(a.right, a.text).toBeLessThanOrEqual(right);
    for (const b of shown.slice(index + 1)) {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
      expect(apart, `${a.text} and ${b.text}`).toBe(true);
    }
  }
}

test('draws bars, a table and a tooltip of the same numbers, and requests a changed range once', async () => {
  await open(tag(shop, `${MARCH} label="Orders" base-url="${service.toUpperCase()}/"`));
  expect(await bars().count()).toBe(31);
  expect([await text('label'), await text('total'), await range()]).toEqual([
    ...['Orders', `${MARCH_TOTAL} uses`, 'Mar 1 – 31, 2026'],
  ]);
  expect(await rows().count()).toBe(32);
  expect(await cells(2)).toEqual(['Mon, Mar 2, 2026', '2']);
  const tip = part('tooltip');
  expect(await tip.isVisible()).toBe(false);
  await bars().nth(19).hover();
  expect(await tip.innerText()).toBe('20 uses\nFri, Mar 20, 2026');
  await page.mouse.move(0, 0);
  await press('Tab');
  expect(await page.getByRole('slider', { name: 'Orders – Mar 1 – 31, 2026' }).count()).toBe(1);
  expect(await aria('valuetext')).toBe(`${MARCH_TOTAL} uses`);
  await press('ArrowLeft', 'ArrowLeft');
  expect(await aria('valuetext')).toBe('30 uses – Mon, Mar 30, 2026');
  await press('Home');
  expect(await tip.innerText()).toBe('1 use\nSun, Mar 1, 2026');
  await press('Escape');
  expect(await tip.isVisible()).toBe(false);

  requests.length = 0;
  await takeEvents();
  await inChart(`chart.from = '2026-03-05'; chart.to = '2026-03-08';`);
  await eventually(() => bars().count()).toBe(4);
  const used = [5, 6, 0, 8].map((count, index) => ({ date: `2026-03-0${index + 5}`, count }));
  expect(await events()).toEqual([{ type: 'load', from: '2026-03-05', to: '2026-03-08', total: 19, used }]);
  expect(requests).toEqual(['?from=2026-03-05&to=2026-03-08']);
  await change('unit', 'order|orders');
  expect(await text('total')).toBe('19 orders');
});

test('ends at yesterday as long as today has no uses, and marks today’s bar as incomplete', async () => {
  await open(`${tag(shop, `from="${addDays(TODAY, -6)}" to="${TODAY}"`)} ${tag(busy)}`, { until: 'empty' });
  await eventually(() => bars().count()).toBe(6 + 29);
  const last = bars().last();
  expect(await last.getAttribute('class')).toBe('bar part');
  for (const [media, forcedColors] of [
    ['screen', 'active'],
    ['print', 'none'],
  ] as const) {
    await page.emulateMedia({ media, forcedColors });
    expect(await last.evaluate((bar) => getComputedStyle(bar as never).fillOpacity)).toBe('0.35');
    await shoot(page, `chart-part-${media}`);
  }
});

describe('a comparison', () => {
  const PREVIOUS = '?from=2026-01-25&to=2026-02-28'; // with the week before
  const line = () => page.locator('usage-chart path.before').count();

  test('draws the earlier period as a line, shows the change in percent, and requests each period once', async () => {
    await open(`<style>usage-chart { margin: 0 }</style>${tag(shop, MARCH_28)}`);
    requests.length = 0;
    await inChart('chart.compare = true;');
    await part('change').waitFor();
    expect(requests).toEqual(['?from=2026-03-01&to=2026-03-28', PREVIOUS]);
    expect([await line(), await text('change')]).toEqual([1, '+43%']);
    expect(await range()).toBe('Mar 1 – 28, 2026 Previous Feb 1 – 28, 2026: 280 (28 days)');
    await press('Tab', 'Home');
    const lines = ['1 use −90%', 'Sun, Mar 1, 2026', 'Sun, Feb 1, 2026: 10 uses'];
    expect([await text('tooltip'), await aria('valuetext')]).toEqual([lines.join('\n'), lines.join(' – ')]);
    expect(await cells(0)).toEqual(['day', 'uses', 'Previous']);
    expect(await cells(1)).toEqual([lines[1], '1', lines[2]]);
    await expectAccessible(page);
    requests.length = 0;
    await inChart('chart.compare = "year";');
    await eventually(() => requests).toEqual(['?from=2026-03-01&to=2026-03-28', '?from=2025-02-23&to=2025-03-29']);
    await inChart('chart.compare = false;');
    await eventually(line).toBe(0);
  });

  test('is not drawn if the business had no uses in the week up to the first earlier day', async () => {
    await open(tag(shop, `${MARCH} compare`)); // from January 25: the first use was on February 1
    await eventually(range).toBe('Mar 1 – 31, 2026');
    expect([requests.at(-1), await line(), await part('change').count()]).toEqual([
      '?from=2026-01-18&to=2026-02-24',
      0,
      0,
    ]);
  });

  test('is set by an attribute or a property, and setting the property updates the attribute', async () => {
    await open('', { until: null });
    await eventually(() => page.evaluate(`customElements.get('usage-chart') !== undefined`)).toBe(true);
    const cases: [code: string, compare: string | null, attribute: string | null][] = [
      ['chart.setAttribute("compare", "")', 'previous', ''], // what Vue sets for an attribute without a value
      ['chart.setAttribute("compare", "true")', 'previous', 'true'],
      ['chart.setAttribute("compare", "year")', 'year', 'year'],
      ['chart.setAttribute("compare", "decade")', null, 'decade'],
      ['chart.compare = true', 'previous', 'true'],
      ['chart.compare = "false"', null, 'false'], // the value that frameworks pass
      ['chart.compare = false', null, null],
      ['chart.compare = undefined', null, null],
    ];
    for (const [code, ...expected] of cases) {
      const result = `(() => { const chart = document.createElement('usage-chart'); ${code};
        return [chart.compare, chart.getAttribute('compare')]; })()`;
      expect(await page.evaluate(result), code).toEqual(expected);
    }
  });

  test('does not delay the current period, fires a second load event, and may fail', async () => {
    let release = () => {};
    const EARLIER = '**/api/**from=2026-01-25**';
    await open(tag(shop, `${MARCH_28} compare`), {
      before: async () => {
        release = await hold(EARLIER);
      },
    });
    expect(await bars().count()).toBe(28);
    expect(await range()).toBe('Mar 1 – 28, 2026 Previous Feb 1 – 28, 2026');
    const current = { type: 'load', from: '2026-03-01', to: '2026-03-28', total: 399, used: expect.any(Array) };
    expect(await events()).toEqual([current]);
    release();
    await part('change').waitFor();
    const before = { from: '2026-02-01', to: '2026-02-28', total: 280, used: expect.any(Array) };
    expect(await takeEvents()).toEqual([current, { ...current, before }]);
    await abort(EARLIER);
    await inChart('chart.reload();');
    await eventually(logged).toEqual([logLine(`no response from ${service}`)]);
    expect([await bars().count(), await events()]).toEqual([28, [current]]);
  });
});

describe('data set by a script', () => {
  test('is drawn without a request or a load event, even if it is set before the module runs', async () => {
    await open('<usage-chart></usage-chart>', {
      before: () =>
        page.addInitScript(`new MutationObserver((_, observer) => {
          const chart = document.querySelector('usage-chart');
          if (!chart) return;
          chart.data = { used: [{ date: '2026-03-01', count: 3 }, { date: '2026-03-02', count: 4 }] };
          observer.disconnect();
        }).observe(document, { subtree: true, childList: true })`),
    });
    expect([await bars().count(), await text('total'), await range()]).toEqual([2, '7 uses', 'Mar 1 – 2, 2026']);
    await inFrame(
      `chart.business = 1; chart.token = 'bua_pk_none'; chart.from = '2026-03-05'; chart.baseUrl = 'nowhere'`,
    );
    await setData('1750-01-01', Array(100_000).fill(1));
    expect(await text('total')).toBe('100,000 uses');
    await setData('2026-03-01', [4, 5], '2026-02-22', [2, 1]);
    expect(await text('change')).toBe('+200%');
    expect(await range()).toBe('Mar 1 – 2, 2026 Previous Feb 22 – 23, 2026: 3 (2 days)');
    await setData('2026-03-01', [0, 0], '2026-02-22', [2, 1]);
    expect([await text('change'), await part('message').textContent()]).toEqual(['−100%', '']);
    await setData(TODAY, [0], addDays(TODAY, -7), [500]);
    expect(await part('change').count()).toBe(0); // no day of the range is over yet
    await setData(TODAY, [5], addDays(TODAY, -7), [500]);
    expect(await text('total')).toBe('5 uses today so far');
    await setData(TODAY, [0]);
    await change('word-empty', 'No orders yet.');
    expect(await text('message')).toBe('No orders yet.');
    expect([await events(), requests]).toEqual([[], []]);
  });

  test('takes precedence over a request in flight, can be corrected, and can be reset', async () => {
    let release = () => {};
    await open(tag(shop, MARCH), {
      until: 'loading',
      before: async () => {
        release = await hold(API);
      },
    });
    await setData('2026-03-01', [1, 2, 3]);
    release();
    await state('loaded');
    expect([await bars().count(), await events()]).toEqual([3, []]);
    await inChart(`chart.data = { used: [{ date: '2026-03-01', count: 3 }], before: [] };`);
    await state('refused');
    const message = 'data: used and before must be lists of { date, count }';
    expect([await text('message'), logged()]).toEqual([NOT_HERE, [logLine(message)]]);
    expect(await takeEvents()).toEqual([{ type: 'error', status: 0, message, reason: 'attributes' }]);
    requests.length = 0;
    await inChart('chart.data = null;');
    await eventually(() => bars().count()).toBe(31);
    expect([await events(), requests]).toMatchObject([[{ type: 'load' }], ['?from=2026-03-01&to=2026-03-31']]);
  });

  test('may come late: until then, the chart waits without logging or firing an event', async () => {
    await open('<usage-chart></usage-chart>', { until: 'loading' });
    await inFrame('');
    expect([logged(), await events()]).toEqual([[], []]);
    await setData('2026-03-01', [6]);
    expect(await text('total')).toBe('6 uses');
  });
});

test('days are grouped by week or month at narrower widths, and the table is replaced only when the grouping changes', async () => {
  await open(tag(busy, YEAR), { viewport: { width: 1920, height: 800 } });
  await inFrame(`window.tables = 0;
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const { nodeName } of addedNodes) if (nodeName === 'TABLE') tables += 1;
    }).observe(root, { subtree: true, childList: true });`);
  for (const [width, count, tables, by] of [
    [1890, 366, 0, ''],
    [1000, 53, 1, ' by week'],
    [220, 13, 2, ' by month'],
  ] as const) {
    await resize(width);
    expect([await bars().count(), await page.evaluate('tables'), await rows().count()]).toEqual([
      count,
      tables,
      count + 1,
    ]);
    expect(await range()).toBe(`Jan 1, 2025 – Jan 1, 2026${by}`);
  }
  await resize(1890);
  await change('by', 'month');
  expect(await bars().count()).toBe(13);
});

describe('when the chart cannot be shown', () => {
  test('visitors see a plain message, and the log and the error event contain the service’s message', async () => {
    await open(tag(shop, MARCH), { site: stranger, until: 'refused' });
    const refusal = `Origin ${stranger.url} is not authorized for this business.`;
    expect([await text('message'), await bars().count()]).toEqual([NOT_HERE, 0]);
    expect(await events()).toEqual([{ type: 'error', status: 403, message: refusal, reason: 'service' }]);
    expect(logged()).toEqual([logLine(`403 ${refusal}`)]);
  });

  test('a visitor can retry by keyboard if the service was unreachable, and the chart loads when it is online again', async () => {
    await open(tag(shop, MARCH), { until: 'refused', before: () => abort(API) });
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await text('message')).toContain('This chart could not be loaded.');
    expect(logged()).toEqual([logLine(`no response from ${service}`)]);
    await page.unroute(API);
    await again.focus();
    await page.setViewportSize({ width: 400, height: 700 });
    await inFrame('');
    expect(await again.evaluate((button) => button.matches(':focus'))).toBe(true);
    await press('Enter');
    await state('loaded');
    await press('End');
    expect(await text('tooltip')).toContain('31 uses');

    await page.context().setOffline(true);
    await inChart('chart.reload();');
    await state('refused');
    expect(await text('message')).toContain('You are offline.');
    expect(logged()).toEqual([logLine('the browser is offline')]);
    await page.context().setOffline(false);
    await state('loaded');
  });

  test('a Content-Security-Policy that blocks the request is reported to the developer', async () => {
    const { policy } = registered;
    registered.policy = policy.replace(/connect-src [^;]*/, `connect-src 'self'`);
    await open(tag(shop, MARCH), { until: 'refused' });
    registered.policy = policy;
    expect(await text('message')).toBe(NOT_HERE);
    expect(logged()).toEqual([logLine(`the Content-Security-Policy of this page needs connect-src ${service}`)]);
    forget(/Content Security Policy/);
  });

  test('an invalid attribute is reported by name, without a request, and can be corrected', async () => {
    await open(tag(shop, `${MARCH} base-url="/"`), { until: 'refused' });
    const message = 'base-url must be an origin, such as https://usage.example.com';
    expect(await text('message')).toBe(NOT_HERE); // and no button
    expect(await events()).toEqual([{ type: 'error', status: 0, message, reason: 'attributes' }]);
    expect([logged(), requests]).toEqual([[logLine(message)], []]);
    await change('base-url', service);
    await state('loaded');
  });
});

describe('the language', () => {
  test('can be any translated language: each chart requests a language’s words at most once, and no labels overlap', async () => {
    await open(`${tag(shop, `${MARCH_28} compare`)} ${tag(quiet, MARCH)}`, {
      until: 'empty',
      viewport: { width: 320, height: 900 },
    });
    await part('change').waitFor();
    for (const [lang, { unit, empty }] of Object.entries(TABLES)) {
      await setRoot({ lang });
      await eventually(() => part('message').nth(1).innerText()).toBe(empty);
      await eventually(async () => unit.split('|').includes(await text('unit'))).toBe(true);
      await expectNoOverlap();
    }
    const words = requests.filter((path) => path.includes('/words/'));
    expect(words.length).toBeLessThanOrEqual(2 * Object.keys(TABLES).length);
  });

  test('is taken from the nearest lang attribute or else from the browser, and follows changes', async () => {
    await open(tag(quiet, `${MARCH} lang="fr-CA"`), { until: 'empty', locale: 'pl-PL', root: 'lang="de"' });
    expect(await text('message')).toBe(TABLES.fr.empty);
    await inChart('chart.lang = "";');
    await eventually(() => text('message')).toBe(TABLES.de.empty);
    for (const [lang, { empty }] of [
      ['nl', TABLES.nl],
      ['', TABLES.pl],
    ] as const) {
      await setRoot({ lang });
      await eventually(() => text('message')).toBe(empty);
    }
  });

  test.each(['lang="he" dir="rtl"', 'lang="ar"'])(
    'reverses the axis and the arrow keys if it is written from right to left: %s',
    async (root) => {
      await open(tag(shop, MARCH), { root });
      await press('Tab', 'ArrowRight'); // at the left edge, the last day
      expect(await aria('valuenow')).toBe('31');
      await press('ArrowRight');
      expect(await aria('valuenow')).toBe('30');
      const [first, last] = await Promise.all([bars().first().boundingBox(), bars().last().boundingBox()]);
      expect(first?.x).toBeGreaterThan(last?.x ?? Number.NaN);
      await bars().nth(4).hover();
      expect(await aria('valuenow')).toBe('5');
    },
  );
});

describe('the place of the chart', () => {
  test.each([
    'transform: scale(0.5)',
    'transform: scale(2, 1)',
    'zoom: 0.5',
    'zoom: 1.5',
    'zoom: 2; transform: scale(0.5)',
  ])('below an ancestor with %s, the pointer marks the bar below it', async (style) => {
    await open(`<div dir="ltr" style="width: 400px; transform-origin: 0 0; ${style}">${tag(shop, MARCH)}</div>`);
    const markedAt = async (index: number) => {
      const box = await bars().nth(index).boundingBox(); // read again each time, because the chart may still be resized
      await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) - 1);
      return aria('valuenow');
    };
    for (const index of [1, 15, 29]) await eventually(() => markedAt(index)).toBe(`${index + 1}`);
  });

  const background = () => inChart<string>(`return getComputedStyle(root.querySelector('.card')).borderTopStyle;`);

  test('can be another document, where the chart keeps its style and reacts', async () => {
    await open(`<iframe></iframe>${tag(shop, MARCH)}`);
    expect(await background()).toBe('solid');
    const moved = await page.evaluate(`(async () => {
      const chart = document.querySelector('usage-chart');
      const frame = document.querySelector('iframe').contentWindow;
      frame.document.body.append(frame.document.adoptNode(chart));
      await new Promise((resolve) => chart.addEventListener('load', resolve, { once: true }));
      await new Promise((resolve) => frame.requestAnimationFrame(() => frame.requestAnimationFrame(resolve)));
      const { shadowRoot } = chart;
      const card = frame.getComputedStyle(shadowRoot.querySelector('.card'));
      return [card.borderTopStyle, shadowRoot.querySelectorAll('.bar').length];
    })()`);
    expect(moved).toEqual(['solid', 31]);
  });

  test('can change by moveBefore without a request, and then the language is that of the new place', async () => {
    await open(`<div lang="fr"></div>${tag(shop, MARCH)}`);
    requests.length = 0;
    await inChart(`document.querySelector('div').moveBefore(chart, null);`);
    await eventually(() => text('unit')).toBe('utilisations');
    expect(requests).toEqual(['/v1/words/fr.json']);
    expect(await bars().count()).toBe(31);
  });
});

test('without attributes or data, the chart says so, and draws what a script sets later', async () => {
  await open('<usage-chart></usage-chart>', { until: 'refused' });
  expect(await text('message')).toBe(NOT_HERE);
  expect(logged()).toEqual([
    expect.stringMatching(
      /^<usage-chart business="null">: business must be a positive whole number, such as 7; token must be /,
    ),
  ]);
  await setData('2026-03-01', [1, 2]);
  await state('loaded');
  expect(await bars().count()).toBe(2);
});

test('in forced colors, the line of the comparison differs from the bars that it crosses', async () => {
  await open(tag(shop, `${MARCH_28} compare`));
  await part('change').waitFor();
  await page.emulateMedia({ forcedColors: 'active' });
  const [line, bar] = await inChart<string[]>(`return [
    getComputedStyle(root.querySelector('path.before')).stroke, getComputedStyle(root.querySelector('.bar')).fill];`);
  expect(line).not.toBe(bar);
});

test('dates are English where the browser has no names of months, and English words have English plurals', async () => {
  await open(tag(shop, 'from="2026-03-20" to="2026-03-21"'));
  for (const lang of ['kk', 'az', 'uz', 'bs', 'pa', 'kok', 'sd', 'qaa']) {
    await setRoot({ lang });
    await eventually(async () => (await range()).replace(/\s/g, ' ')).toBe('Mar 20 – 21, 2026');
  }
  await setRoot({ lang: 'ko' });
  await eventually(range).toContain('2026년');
  expect(await text('total')).toBe('41 uses');
});

const STATES: Record<string, [body: string, state: string, setup?: Setup]> = {
  empty: [tag(quiet, MARCH), 'empty'],
  'year-366-days': [tag(busy, YEAR), 'loaded'],
  'trillion-uses': [tag(busy, 'from="2024-05-20" to="2024-06-10"'), 'loaded'],
  'long-label': [
    tag(
      busy,
      `compare label="Orders of the Tulip Shop in Rotterdam-Noord, with those of its three branches, without returns"`,
    ),
    'loaded',
  ],
  'right-to-left': [tag(busy, 'compare label="הזמנות"'), 'loaded', { root: 'lang="he" dir="rtl"' }],
  refused: [tag({ ...shop, token: `bua_pk_${'0'.repeat(34)}` }, MARCH), 'refused'],
  loading: [tag(shop, MARCH), 'loading', { before: () => hold(API) }],
  unreachable: [tag(shop, MARCH), 'refused', { before: () => abort(API) }],
};

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützen und anderes';
/** Returns the elements that exceed the card or overflow their own box. */
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

describe('the chart in every state', () => {
  /** The height of the chart, by width and state. */
  const heights: Record<string, Record<string, number>> = {};

  test.each(Object.entries(STATES))(
    'is accessible and fits, at any size and in any theme: %s',
    async (name, [body, until, setup]) => {
      const isComparing = body.includes('compare');
      const settle = async () => {
        await state(until);
        if (isComparing) await part('change').waitFor();
      };
      await open(body, { deviceScaleFactor: wantsPictures ? 2 : 1, until, ...setup });
      await settle();
      for (const width of [320, 1280, 1920]) {
        await page.setViewportSize({ width, height: 480 });
        if (until === 'loaded' || until === 'empty') await resize(width, 480);
        heights[width] ??= {};
        heights[width][name] = await inChart('return chart.getBoundingClientRect().height;');
        await expectFits(page);
        await expectNoOverlap();
        if (name === 'long-label' || name === 'right-to-left') {
          await plot().focus();
          await press('PageUp', 'PageUp', 'PageUp', 'PageUp');
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
      for (const [dir, ...languages] of [
        ['ltr', 'en', 'de', 'pl'],
        ['rtl', 'he', 'ar'],
      ]) {
        for (const lang of languages) {
          await setRoot({ lang, dir });
          await inFrame('');
          await page.locator(`usage-chart [part=card][dir=${dir}]`).waitFor();
          await settle();
          expect(await inChart('return chart.offsetWidth;')).toBe(160);
          expect(await outside(), lang).toEqual([]);
        }
      }
      logged();
    },
  );

  test('has the same height, plus one line for a label', () => {
    expect(Object.keys(heights)).toHaveLength(3);
    for (const [width, byState] of Object.entries(heights)) {
      const { 'long-label': a, 'right-to-left': b, ...plain } = byState;
      expect(new Set(Object.values(plain)).size, `${width}: ${JSON.stringify(byState)}`).toBe(1);
      expect([a, b]).toEqual(Array(2).fill((byState.empty as number) + 22));
    }
  });
});

test('tooltips with trillions fit in a card 160 px wide, in both writing directions', async () => {
  const body = '<style>usage-chart { width: 160px }</style><usage-chart></usage-chart>';
  await open(body, { until: 'loading', viewport: { width: 400, height: 700 } });
  await change('label', LONG);
  await change('unit', 'Donaudampfschifffahrten');
  const trillions = Array(28).fill(1_234_567_890_123);
  await setData('2026-03-01', trillions, '2026-02-01', trillions);
  for (const [lang, dir] of [
    ['en', 'ltr'],
    ['de', 'ltr'],
    ['he', 'rtl'],
  ]) {
    await setRoot({ lang, dir });
    if (lang !== 'en') await eventually(() => aria('label')).not.toContain('Mar ');
    expect(await text('total')).toMatch(/^\D*34[.,]\d|^\D*35/); // abbreviated: 35T
    await plot().focus();
    await press('Home');
    for (let day = 1; day <= 28; day++) {
      expect(await part('tooltip').isVisible()).toBe(true);
      expect(await outside(), `${day}`).toEqual([]);
      await press('ArrowUp');
    }
    await shoot(page, `chart-160-${lang}`);
    await expectNoOverlap();
    await expectAccessible(page);
  }
});

describe('a page with the chart', () => {
  /** Serves an HTML page and a bundled program, which may import React or Vue. */
  async function startPage(html: string, program = '', headers: Record<string, string> = {}) {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: ROOT },
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false' },
      alias: { vue: join(ROOT, 'node_modules/vue/dist/vue.esm-bundler.js') },
      logLevel: 'error',
    });
    const document = `<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">${html}`;
    const { port, stop } = await listen(({ url }, response) => {
      const [type, body] = url === '/app.js' ? ['text/javascript', outputFiles[0]?.text] : ['text/html', document];
      response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8`, ...headers }).end(body);
    });
    return { url: `http://localhost:${port}`, stop };
  }
  const VALUES = JSON.stringify({ business: busy.id, token: busy.token, from: '2025-03-01', to: '2025-03-31' });

  test.each([
    [
      'React',
      `import { createElement, useState } from 'react';
      import { createRoot } from 'react-dom/client';
      function App() {
        const [to, setTo] = useState('2025-03-31');
        window.change = () => setTo('2025-03-05');
        return createElement('usage-chart', { ...${VALUES}, to, label: 'Orders', unit: 'order|orders', compare: true,
          onload: ({ detail }) => { document.querySelector('output').textContent = 'load ' + detail.total; },
          onLoad: () => console.error('React calls onLoad'), onError: () => console.error('React calls onError') });
      }
      createRoot(document.getElementById('app')).render(createElement(App));`,
    ],
    [
      'Vue',
      `import { createApp } from 'vue';
      const app = createApp({
        data: () => (${VALUES}),
        mounted() { window.change = () => { this.to = '2025-03-05'; }; },
        methods: { loaded({ detail }) { document.querySelector('output').textContent = 'load ' + detail.total; } },
        template: '<usage-chart :business :token :from :to label="Orders" unit="order|orders" compare @load="loaded" />',
      });
      app.config.compilerOptions.isCustomElement = (name) => name === 'usage-chart';
      app.mount('#app');`,
    ],
  ])('in %s sets properties, receives events and updates the chart', async (_, program) => {
    const site = await startPage(
      `<script type="module" src="${service}/v1/usage-chart.js"></script>
      <script type="module" src="/app.js"></script><main id="app"></main><output></output>`,
      program,
    );
    await open('', { site, until: null });
    await eventually(() => bars().count()).toBe(31);
    expect([await text('label'), await text('unit')]).toEqual(['Orders', 'orders']);
    await part('change').waitFor();
    await eventually(() => page.locator('output').innerText()).toMatch(/^load \d+$/);
    await page.evaluate('change()');
    await eventually(() => bars().count()).toBe(5);
    expect(logged()).toEqual([]);
    site.stop();
  });

  test('with the strictest Content-Security-Policy runs exactly the bytes that its tag pins', async () => {
    const pinned = chartTag(service, readFileSync(join(ROOT, 'dist/assets/v1/usage-chart.js')));
    const hash = pinned.match(/integrity="([^"]+)"/)?.[1] ?? '';
    const policy = `default-src 'none'; script-src '${hash}'; connect-src ${service}; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
    const body = `${pinned}<main>${tag(busy, 'from="2025-03-01" to="2025-03-31"')}</main>`;
    const site = await startPage(body, '', { 'Content-Security-Policy': policy });
    await open('', { site });
    expect(await bars().count()).toBe(31);
    await bars().nth(3).hover();
    expect(await part('tooltip').isVisible()).toBe(true);
    site.stop();
  });
});

test.runIf(wantsPictures)('retakes the pictures in the README', async () => {
  await open(`<style>main { width: 860px; margin: 0 } h1 { display: none }</style>${tag(busy)}`, {
    viewport: { width: 900, height: 400 },
    deviceScaleFactor: 2,
  });
  await bars().nth(20).hover();
  for (const [colorScheme, name] of [
    ['light', 'chart'],
    ['dark', 'chart-dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await shoot(page.locator('usage-chart'), name);
  }
});
