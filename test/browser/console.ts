// The setting for the tests of the console at /owner: the service with the owners that were made before, and visits in Chromium.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import type { BusinessRow } from '../../src/db/schema.ts';
import { eventually, visitsOfFile } from './chromium.ts';
import type {} from './owners.ts'; // what is provided

/** With PICTURES=1, every state is photographed, to be looked at, and the pictures of the documentation are taken again. */
export const wantsPictures = process.env.PICTURES !== undefined;
const ROOT = resolve(import.meta.dirname, '../..');

type Link = { business_id?: number; role?: 'read'; minutes?: number; return_url?: string };
export type Entry = BrowserContextOptions & {
  /** What is done before the console starts: its clock can still be set, and its requests be answered. */
  before?: (page: Page) => Promise<unknown>;
  /** For how long the session lasts, as the tab knows it, if that is not 12 hours. In milliseconds. */
  lasts?: number;
  /** What the tab knows of where the link of the session leads back to. */
  returnUrl?: string | null;
};

/** The setting of a file of tests. Chromium itself logs answers that are not a success. */
export function consoleOfFile(forgiven = /^Failed to load resource/) {
  const { url, operatorKey, made } = inject('owners');

  async function request<Data>(credential: string, method: string, path: string, body?: object): Promise<Data> {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Data }).data;
  }
  /** A call of the operator's server. */
  const operate = <Data>(method: string, path: string, body?: object) => request<Data>(operatorKey, method, path, body);
  /** The call of the owner of what is spare, from a server. */
  const call = (method: string, path: string, body?: object) =>
    request<Details>(made.keys.spare, method, `business/${path}`, body);

  /** A business of its own for a test, with these sites, and what the service says of it. */
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

  /** Pages of these origins try to use the token of a business in vain. */
  async function refuse({ id, token }: Pick<BusinessRow, 'id' | 'token'>, ...origins: string[]): Promise<void> {
    for (const Origin of origins) {
      const headers = { Authorization: `Bearer ${token}`, Origin };
      expect((await fetch(`${url}/api/v1/business/usage/${id}`, { headers })).status).toBe(403);
    }
  }

  /** The code of a link that nobody has used. */
  async function newCode(link: Link = {}): Promise<string> {
    const { url: address } = await operate<{ url: string }>('POST', `user/${made.users.owner}/console-link`, link);
    return address.slice(address.indexOf('#code=') + '#code='.length);
  }

  /** A key that works until `revoke`. */
  async function newKey() {
    const { id, api_key } = await operate<{ id: number; api_key: string }>('POST', `user/${made.users.owner}/keys`);
    return { api_key, revoke: () => operate('DELETE', `user/${made.users.owner}/keys/${id}`) };
  }

  /** A session as a tab keeps it. */
  async function newSession(key: string): Promise<Kept> {
    type Session = { session_key: string; expires_at: string; read_only: boolean };
    const { session_key, expires_at, read_only } = await request<Session>(key, 'POST', 'session');
    return {
      key: session_key,
      endsAt: Date.parse(expires_at),
      readOnly: read_only,
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
   * A visit of somebody who is signed in: the tab has a session of `key`, as after a reload. The page has a clock that a test can move
   * on, so that nothing has to be waited for, see `armed`.
   */
  async function enter(
    hash = '',
    key = made.keys.spare,
    { before, lasts, returnUrl = null, ...options }: Entry = {},
  ): Promise<Page> {
    const page = await newPage(options);
    const session = { ...(await newSession(key)), returnUrl };
    const kept = JSON.stringify(lasts === undefined ? session : { ...session, endsAt: Date.now() + lasts });
    const begun = await page.addInitScript(`sessionStorage.setItem('session', ${JSON.stringify(kept)})`);
    await page.clock.install();
    await before?.(page);
    await page.goto(`${url}/owner${hash}`);
    await begun.dispose(); // a page that is loaded later has what the first one has left
    return page;
  }

  return { ...made, url, visit, enter, leave: visits.leave, call, spare, refuse, newCode, newKey };
}

export type World = ReturnType<typeof consoleOfFile>;
export type Spare = Awaited<ReturnType<World['spare']>>;
type Details = { token: string; access_list: { id: number; site: string }[] };

/** What the tab keeps of its session; null if there is none. */
export const keptIn = async (page: Page): Promise<Kept | null> =>
  JSON.parse((await page.evaluate<string | null>(`sessionStorage.getItem('session')`)) ?? 'null');
type Kept = { key: string; endsAt: number; readOnly: boolean; tail: string | null; returnUrl: string | null };

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** The rules of axe that look at colors. The others find the same in every theme: none hides or shows anything. */
const OF_COLORS = ['color-contrast', 'link-in-text-block'];

/** What axe found: the rules that are broken, and the texts whose contrast it cannot decide on. */
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
  /** The contrast of a text in an image, such as the axis of a chart: axe leaves it open. */
  const contrastOf = (element) => {
    const { fill, color } = getComputedStyle(element);
    let place = element;
    while (place && (channels(getComputedStyle(place).backgroundColor)[3] ?? 1) === 0) place = above(place);
    const [lighter, darker] = [luminance(element instanceof SVGElement ? fill : color), luminance(getComputedStyle(place ?? document.body).backgroundColor)].toSorted((a, b) => b - a);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const low = incomplete.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes)
    .filter(({ target }) => elementAt(target) !== null) // a chart draws its texts anew
    .map(({ target }) => ({ target, contrast: contrastOf(elementAt(target)) }))
    .filter(({ contrast }) => !(contrast >= 4.5))
    .map(({ target, contrast }) => 'contrast of ' + contrast + ': ' + target);
  return [...low, ...violations.map(({ id, nodes }) =>
    id + ': ' + nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary).join('; '))];
})`;

async function expectNothingFound(page: Page, rules: object): Promise<void> {
  // Evaluated by the debugger, which no Content-Security-Policy forbids.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  expect(await page.evaluate(axeWith(rules))).toEqual([]);
}

/** No rule of axe is broken, and every text whose contrast axe cannot decide on has at least 4.5 : 1 (WCAG 2.2, 1.4.3). */
export const expectAccessible = (page: Page) => expectNothingFound(page, {});

/** The same in another theme, if everything else was looked at. */
export const expectContrast = (page: Page) => expectNothingFound(page, { runOnly: OF_COLORS });

/** The page is not wider than its window, once it is drawn for that. */
export async function expectFits(page: Page): Promise<void> {
  await eventually(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/** A picture to be looked at, if pictures are wanted; of the documentation, if that has one of this name. */
export async function shoot(what: Page | Locator, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  if (!wantsPictures) return;
  const image = join(ROOT, `docs/images/${name}.png`);
  await what.screenshot({ path: existsSync(image) ? image : join(ROOT, `dist/screenshots/${name}.png`), ...options });
}
