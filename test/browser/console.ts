// The setting for the tests of the console at /owner: the service with the owners that were made before, and visits in Chromium.
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { revokeKey } from '../ask.ts';
import { withDatabases } from '../node/local.ts';
import { startService } from '../node/server.ts';
import { newFolder } from '../node/state.ts';
import { launch } from './chromium.ts';
import type {} from './owners.ts'; // what `inject` can give

export const SHOTS = resolve(import.meta.dirname, '../../dist/screenshots');

/** Adds to `closing` what has to be closed, as it is opened. */
async function openConsole(closing: (() => unknown)[]) {
  mkdirSync(SHOTS, { recursive: true });
  const owners = inject('owners');
  const made = structuredClone(owners.made); // a test that takes a business removes it from the list
  const state = newFolder();
  cpSync(owners.state, state, { recursive: true });
  const service = await startService(state);
  closing.push(() => service.stop());
  const browser = await launch();
  closing.push(() => browser.close());

  /** The owner's call, from a server. */
  async function call(method: string, path: string, body?: object) {
    const headers = { Authorization: `Bearer ${made.keys.spare}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`${service.url}/api/v1/business/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { data: { token: string; access_list: { id: number; site: string }[] } };
  }

  /** A business of its own for a test, with these sites, and what the service says of it. */
  async function spare(...sites: string[]) {
    const business = made.spares.pop();
    if (business === undefined) throw new Error('more businesses are needed: see SPARES');
    if (sites.length > 0) await call('POST', `${business.id}/access`, { sites });
    const stored = async () => (await call('GET', `${business.id}/access`)).data;
    return { ...business, stored, sites: async () => (await stored()).access_list.map(({ site }) => site) };
  }

  /** The code of a link that nobody has used. */
  function newCode(kind: keyof typeof made.links = 'full'): string {
    const code = made.links[kind].pop();
    if (code === undefined) throw new Error('more links are needed: see LINKS');
    return code;
  }

  /** Revokes the key `revocable`, as the operator's command does. */
  const revoke = () =>
    withDatabases({ 'persist-to': state }, ({ first }) =>
      revokeKey(first.db, made.revocable.id, made.revocable.user_id, new Date()),
    );

  const complaints: string[] = [];
  let open: Page | undefined;

  /** A page of its own. Errors and warnings in its console fail the test, see `leave`. */
  async function visit(hash = '', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-US', timezoneId: 'Pacific/Auckland', ...options });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    context.on('page', (page) => {
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
    });
    const page = await context.newPage();
    open = page;
    await page.goto(`${service.url}/owner${hash}`);
    return page;
  }

  /** Ends a visit. `forgiven` matches what Chromium itself logs about answers that are not a success. */
  async function leave(forgiven = /^Failed to load resource/): Promise<void> {
    const met = complaints.splice(0).filter((text) => !forgiven.test(text));
    await open?.context().close();
    open = undefined;
    expect(met).toEqual([]);
  }

  return { ...made, url: service.url, visit, leave, call, spare, newCode, revoke };
}

export type World = Awaited<ReturnType<typeof openConsole>>;

/** The setting of a file of tests: it is there from the first test to the last. For `forgiven` see `leave`. */
export function consoleOfFile(forgiven?: RegExp): World {
  const world = {} as World;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    Object.assign(world, await openConsole(closing));
  });
  afterEach(() => world.leave(forgiven));
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });
  return world;
}

/** What the tab keeps of its session; null if there is none. */
export const keptIn = async (page: Page): Promise<Kept | null> =>
  JSON.parse((await page.evaluate<string | null>(`sessionStorage.getItem('session')`)) ?? 'null');
type Kept = { key: string; endsAt: number; readOnly: boolean; tail: string | null };

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** What axe found: the rules that are broken, and the texts whose contrast it cannot decide on. */
const AXE = `axe.run(document, {
  resultTypes: ['violations', 'incomplete'],
  // Forced colors are those of the user, and axe does not see them: it reads -webkit-text-fill-color, which keeps the color of the style sheet.
  rules: { 'color-contrast': { enabled: !matchMedia('(forced-colors: active)').matches } },
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

/** No rule of axe is broken, and every text whose contrast axe cannot decide on has at least 4.5 : 1 (WCAG 2.2, 1.4.3). */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, which no Content-Security-Policy forbids.
  await page.evaluate(axe.source);
  expect(await page.evaluate(AXE)).toEqual([]);
}

/** A picture of the page, which must not be wider than its window. */
export async function shoot(page: Page, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true, ...options });
}
