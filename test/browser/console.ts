// The fixture for tests of the console at /owner: the shared service with its seeded owners, and pages in Chromium.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import type { BusinessRow } from '../../src/db/schema.ts';
import type { StoredSession } from '../../src/page/owner/storage.ts';
import type { Session } from '../../src/sessions/description.ts';
import { eventually, visitsOfFile } from './chromium.ts';
import type {} from './owners.ts'; // for the types of the provided values

/** PICTURES=1 takes a screenshot of every state for review, and retakes the pictures in the documentation. */
export const wantsPictures = process.env.PICTURES !== undefined;
const ROOT = resolve(import.meta.dirname, '../..');

type Link = {
  business_id?: number;
  role?: 'read';
  minutes?: number;
  return_url?: string;
  as?: string;
  can_create_keys?: true;
};
export type Entry = BrowserContextOptions & {
  /** Runs before the console starts, for example to set its clock or stub its requests. */
  before?: (page: Page) => Promise<unknown>;
  /** The session lifetime stored in the tab, in milliseconds. Defaults to the lifetime that the service returned. */
  lasts?: number;
  /** The return URL stored in the tab. */
  returnUrl?: string | null;
};

/** Creates the fixture for a test file. Ignores Chromium's own messages about unsuccessful responses. */
export function consoleOfFile(forgiven = /^Failed to load resource/) {
  const { url, operatorKey, made } = inject('owners');

  /** The id of the request, which only some operations need, is random. */
  async function request<Data>(credential: string, method: string, path: string, body?: object): Promise<Data> {
    const id = path.endsWith('/extra') && { 'Idempotency-Key': crypto.randomUUID() };
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json', ...id },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Data }).data;
  }
  /** Sends a request as the operator. */
  const operate = <Data>(method: string, path: string, body?: object) => request<Data>(operatorKey, method, path, body);
  /** Sends a request as the owner of the spare businesses, from a server. */
  const call = (method: string, path: string, body?: object) =>
    request<Details>(made.keys.spare, method, `business/${path}`, body);

  /** Creates a business for one test, with these sites. `stored` and `sites` query its current state. */
  async function spare(...sites: string[]) {
    const fields = {
      user_id: made.users.spare,
      name: 'Spare',
      main_domain: 'spare.example',
      site: 'https://spare.example',
    };
    const business = await operate<BusinessRow>('POST', 'business', {
      ...fields,
      country_id: 1,
      business_size: 'small',
    });
    if (sites.length > 0) await call('POST', `${business.id}/access`, { sites });
    const stored = () => call('GET', `${business.id}/access`);
    return { ...business, stored, sites: async () => (await stored()).access_list.map(({ site }) => site) };
  }

  /** Sends a request from each origin with the business's token, and expects the service to refuse it. */
  async function refuse({ id, token }: Pick<BusinessRow, 'id' | 'token'>, ...origins: string[]): Promise<void> {
    for (const Origin of origins) {
      const headers = { Authorization: `Bearer ${token}`, Origin };
      expect((await fetch(`${url}/api/v1/business/usage/${id}`, { headers })).status).toBe(403);
    }
  }

  /** Creates a console link, and returns its unused code. */
  async function newCode(link: Link = {}, user = made.users.owner): Promise<string> {
    const { url: address } = await operate<{ url: string }>('POST', `user/${user}/console-link`, link);
    return address.slice(address.indexOf('#code=') + '#code='.length);
  }

  /** Creates a session and returns it in the format in which a tab stores it. */
  async function newSession(key: string): Promise<StoredSession> {
    const { session_key, expires_at, user_id, role, can_create_keys } = await request<Session>(key, 'POST', 'session');
    return {
      key: session_key,
      endsAt: Date.parse(expires_at),
      readOnly: role !== 'full',
      userId: user_id,
      canCreateKeys: can_create_keys,
      tail: key.slice(-4),
      returnUrl: null,
    };
  }

  const permissions = ['clipboard-read', 'clipboard-write'];
  const visits = visitsOfFile(forgiven);
  const newPage = (options: BrowserContextOptions) => visits.newPage({ permissions, ...options });

  async function visit(hash = '', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await newPage(options);
    await page.goto(`${url}/owner${hash}`);
    return page;
  }

  /**
   * Opens the console in a tab that is already signed in with a session from `key`, as it would be after a reload. Tests advance the page's
   * clock instead of waiting (see `armed`).
   */
  async function enter(
    hash = '',
    key = made.keys.spare,
    { before, lasts, returnUrl = null, ...options }: Entry = {},
  ): Promise<Page> {
    const page = await newPage(options);
    const session = { ...(await newSession(key)), returnUrl };
    const stored = JSON.stringify(lasts === undefined ? session : { ...session, endsAt: Date.now() + lasts });
    const begun = await page.addInitScript(`sessionStorage.setItem('session', ${JSON.stringify(stored)})`);
    await page.clock.install();
    await before?.(page);
    await page.goto(`${url}/owner${hash}`);
    await begun.dispose(); // later loads use the session that the first one stored
    return page;
  }

  const { leave } = visits;
  return { ...made, url, operatorKey, visit, enter, leave, call, operate, spare, refuse, newCode, newSession };
}

export type World = ReturnType<typeof consoleOfFile>;
export type Spare = Awaited<ReturnType<World['spare']>>;
type Details = {
  token: string;
  access_list: { id: number; site: string }[];
  former_tokens: { expires_at: string }[];
};

export const storedSession = async (page: Page): Promise<StoredSession | null> =>
  JSON.parse((await page.evaluate<string | null>(`sessionStorage.getItem('session')`)) ?? 'null');

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** The axe rules that depend on colors. The other rules have the same result in every theme, because no theme hides or shows an element. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns an expression for the violations, including text with low contrast that axe leaves undecided. */
const axeWith = (rules: object) => `axe.run(document, {
  resultTypes: ['violations', 'incomplete'], ...${JSON.stringify(rules)},
}).then(({ violations, incomplete }) => {
  const elementAt = (target) => [target.flat()].flat().reduce((root, selector) => (root.shadowRoot ?? root).querySelector(selector), document);
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const above = (element) => element.parentElement ?? element.getRootNode().host;
  /** Computes the contrast of a text in an image, such as the axis of a chart, which axe leaves undecided. */
  const contrastOf = (element) => {
    const { fill, color } = getComputedStyle(element);
    let place = element;
    while (place && (channels(getComputedStyle(place).backgroundColor)[3] ?? 1) === 0) place = above(place);
    const [lighter, darker] = [luminance(element instanceof SVGElement ? fill : color), luminance(getComputedStyle(place ?? document.body).backgroundColor)].toSorted((a, b) => b - a);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const low = incomplete.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes)
    .filter(({ target }) => elementAt(target) !== null) // the chart may have replaced its texts
    .map(({ target }) => ({ target, contrast: contrastOf(elementAt(target)) }))
    .filter(({ contrast }) => !(contrast >= 4.5))
    .map(({ target, contrast }) => 'contrast of ' + contrast + ': ' + target);
  return [...low, ...violations.map(({ id, nodes }) =>
    id + ': ' + nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary).join('; '))];
})`;

async function expectNoViolations(page: Page, rules: object): Promise<void> {
  // The debugger evaluates the script, so no Content-Security-Policy applies.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  expect(await page.evaluate(axeWith(rules))).toEqual([]);
}

/** Expects no violations. Text whose contrast axe cannot decide needs at least 4.5 : 1 (WCAG 2.2, 1.4.3). */
export const expectAccessible = (page: Page) => expectNoViolations(page, {});

/** Checks only the color rules, for another theme of a page that `expectAccessible` has checked. */
export const expectContrast = (page: Page) => expectNoViolations(page, { runOnly: COLOR_RULES });

/** Returns what scrolls sideways, other than the line of filters, or ends beyond its card, and the words and the token endings (“…abcd”) that a line's end splits. */
const CROWDED = `(() => {
  const isShown = (element) => element.checkVisibility() && !element.closest('.sr-only, pre, svg') && getComputedStyle(element.closest('thead') ?? element).clipPath === 'none';
  const all = [...document.querySelectorAll('body *')].filter(isShown);
  const nameOf = (element) => element.outerHTML.slice(0, 80);
  const scrolling = all.filter((element) => element.scrollWidth > element.clientWidth && /auto|scroll/.test(getComputedStyle(element).overflowX) && !element.matches('.filters'));
  const beyond = all.filter((element) => {
    const card = element.closest('.card, dialog')?.getBoundingClientRect();
    const { left, right } = element.getBoundingClientRect();
    return card && right > left && (left < card.left - 1 || right > card.right + 1);
  });
  const split = all.flatMap((element) => [...element.childNodes]).filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((text) =>
    [...text.data.matchAll(/[…\\p{L}\\p{N}]+/gu)].filter(({ 0: word, index }) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      return word.length <= 16 && new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
    }).map(([word]) => word));
  return [...scrolling.map((one) => 'scrolls sideways: ' + nameOf(one)), ...beyond.map((one) => 'ends beyond its card: ' + nameOf(one)), ...split.map((word) => 'is split: ' + word)];
})()`;

/** Expects the page to be no wider than its window. */
export async function expectFits(page: Page): Promise<void> {
  await eventually(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/** Expects the page to fit, nothing in it to be cut off, and no word to be split. */
export async function expectWhole(page: Page): Promise<void> {
  await expectFits(page);
  await eventually(() => page.evaluate(CROWDED)).toEqual([]);
}

/** Takes a screenshot if PICTURES is set. Replaces the documentation's picture of this name, if there is one. */
export async function shoot(what: Page | Locator, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  if (!wantsPictures) return;
  const image = join(ROOT, `docs/images/${name}.png`);
  await what.screenshot({ path: existsSync(image) ? image : join(ROOT, `dist/screenshots/${name}.png`), ...options });
}
