// The setting for the tests of the console at /owner: the service, owners with businesses in many states, and visits in Chromium.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import { eq, sql } from 'drizzle-orm';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createBusiness } from '../../src/cli/businesses.ts';
import { createKey, revokeKey } from '../../src/cli/keys.ts';
import { withDatabases } from '../../src/cli/open.ts';
import { hashOf, newCredential } from '../../src/core/credential.ts';
import type { Role } from '../../src/core/policy.ts';
import { addDays, dayOf, timestampOf } from '../../src/core/time.ts';
import {
  access,
  type BusinessRow,
  businesses,
  changes,
  codes,
  dailyUsage,
  refusedOrigins,
} from '../../src/db/schema.ts';
import { startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';
import { launch } from './chromium.ts';

export const SHOTS = resolve(import.meta.dirname, '../../dist/screenshots');
const NOW = new Date();
const STAMP = timestampOf(NOW);
const OWNER = 9;
const MANY = 10;
const NOBODY = 11;
const SPARE = 12;
const BUSY = 13;
export const BUSY_BUSINESSES = 35;
export const MANY_BUSINESSES = 45;
const SPARES = 80;
/** How many links of each kind there are: each works once. */
const LINKS = 20;
const LONG =
  'The Most Remarkable Society for the Propagation of Tulips, Daffodils and Donaudampfschifffahrtsgesellschaftskapitäne';

/** Plausible, and the same each time: growth, quiet weekends, a little noise. */
const counts = (days: number, scale: number) =>
  Array.from({ length: days }, (_, index) => {
    const day = addDays(dayOf(NOW), index + 1 - days);
    const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
    const weekend = [0, 6].includes(new Date(day).getUTCDay()) ? 0.45 : 1;
    return { day, count: Math.round(scale * (1 + index / days) * weekend * (0.8 + noise * 0.4)) };
  });

/** Adds to `closing` what has to be closed, as it is opened. */
async function openConsole(closing: (() => unknown)[]) {
  mkdirSync(SHOTS, { recursive: true });
  const state = newDatabase();
  const made = await withDatabases({ 'persist-to': state }, async ({ first }) => {
    const { db } = first;
    async function business(user_id: number, name: string, main_domain = 'shop.example') {
      const fields = {
        user_id,
        name,
        main_domain,
        site: `https://${main_domain}`,
        country_id: 1,
        business_size: 'small',
      };
      return createBusiness(first, fields, NOW);
    }
    const uses = (business_id: number, days: { day: string; count: number }[]) => {
      const rows = JSON.stringify(days.map(({ day, count }) => [day, count])); // as one parameter: a statement has at most 100
      const listed = sql`select ${business_id}, value ->> 0, value ->> 1 from json_each(${rows}) where value ->> 1 > 0`;
      return db.insert(dailyUsage).select(listed);
    };
    const sites = (business_id: number, list: string[]) =>
      db.insert(access).values(list.map((site) => ({ business_id, site, created_at: STAMP, updated_at: STAMP })));
    const key = async (user_id: number, more: { role?: Role; business_id?: number } = {}) =>
      (await createKey(first, { user_id, name: 'test', expires_on: null, ...more }, NOW)).api_key;

    const tulip = await business(OWNER, 'Tulip Shop', 'tulip.example');
    for (const part of [counts(90, 180), counts(400, 90).slice(0, 310)]) await uses(tulip.id, part);
    await sites(tulip.id, ['https://tulip.example', 'https://*.tulip.example']);
    const seen = (origin: string, count: number) => ({
      business_id: tulip.id,
      origin,
      count,
      first_seen: STAMP,
      last_seen: STAMP,
    });
    await db
      .insert(refusedOrigins)
      .values([
        seen('https://tulip-shop.example', 148),
        seen('http://localhost:5173', 12),
        seen('https://copycat.example', 1),
      ]);
    const quiet = await business(OWNER, 'Quiet Shop', 'quiet.example');
    const oneDay = await business(OWNER, 'First Day Bakery', 'bakery.example');
    await uses(oneDay.id, [{ day: dayOf(NOW), count: 1 }]);
    const long = await business(OWNER, LONG, `${'a-very-long-label-'.repeat(3)}.of-a-long-name.example`);
    await uses(long.id, counts(30, 400));
    await sites(long.id, [`https://${'a-very-long-label-'.repeat(3)}x.of-a-long-name.example:8443`]);
    const huge = await business(OWNER, 'Galactic Counters', 'galactic.example');
    await uses(huge.id, counts(60, 30_000_000_000));
    const closed = await business(OWNER, 'Winter Garden', 'winter.example');
    await uses(closed.id, counts(60, 30).slice(0, 40));
    await db.update(businesses).set({ status: 'suspended' }).where(eq(businesses.id, closed.id));
    const limited = await business(OWNER, 'Metered Post', 'post.example');
    await uses(limited.id, counts(20, 60));
    await db.update(businesses).set({ daily_limit: 150, monthly_limit: 5000 }).where(eq(businesses.id, limited.id));
    /** A hundred uses on each of the last days, and this many today. */
    const steady = (today: number) =>
      counts(20, 0).map(({ day }) => ({ day, count: day === dayOf(NOW) ? today : 100 }));
    const near = await business(OWNER, 'Night Train Records', 'night-train.example');
    await uses(near.id, steady(86));
    await db.update(businesses).set({ daily_limit: 100 }).where(eq(businesses.id, near.id));
    const full = await business(OWNER, 'Sold Out Tickets', 'tickets.example');
    await uses(full.id, steady(100));
    await db.update(businesses).set({ daily_limit: 100, monthly_limit: 100 }).where(eq(businesses.id, full.id));
    for (let n = 1; n <= MANY_BUSINESSES; n++) await business(MANY, `Shop number ${n}`, `shop-${n}.example`);
    // An owner with two years of history: what the jobs of owner-jobs.test.ts are about.
    for (let n = 1; n < BUSY_BUSINESSES; n++) await business(BUSY, `Branch ${n}`, `branch-${n}.example`);
    const busy = await business(BUSY, 'Zürich Café', 'cafe.example');
    await uses(busy.id, counts(730, 200));
    await sites(busy.id, ['https://cafe.example', 'https://shop.cafe.example']);
    await db.update(businesses).set({ monthly_limit: 20_000 }).where(eq(businesses.id, busy.id));
    await db.insert(refusedOrigins).values({ ...seen('https://www.cafe.example', 31), business_id: busy.id });
    const laptop = await createKey(first, { user_id: BUSY, name: 'Owner laptop', expires_on: null }, NOW);
    const change = (id: number, daysAgo: number, action: 'add_sites' | 'remove_sites') => {
      const changed = JSON.stringify({ sites: [`https://page-${id}.cafe.example`] });
      const [before, after] = action === 'add_sites' ? [null, changed] : [changed, null];
      const at = timestampOf(new Date(NOW.getTime() - daysAgo * 86_400_000));
      const actor = `key ${laptop.id} (…${laptop.api_key.slice(-4)})`;
      return sql`insert into ${changes} values ('business', ${busy.id}, ${id}, ${at}, ${actor}, ${action}, ${before}, ${after})`;
    };
    await db.run(sql`delete from ${changes} where ${eq(changes.subject_id, busy.id)}`);
    for (let id = 1; id <= 60; id++)
      await db.run(change(id, (62 - id) / 3, id % 15 === 0 ? 'remove_sites' : 'add_sites'));
    const spares: BusinessRow[] = [];
    for (let n = 1; n <= SPARES; n++) spares.push(await business(SPARE, `Spare ${n}`, `spare-${n}.example`));
    const link = async (more: Partial<typeof codes.$inferInsert> = {}) => {
      const code = newCredential('bua_pk_', 0).slice('bua_pk_'.length);
      const expires_at = '9999-12-31T00:00:00.000000Z'; // however long the tests take
      const values = { user_id: OWNER, read_only: 0, minutes: 60, expires_at, ...more, hash: await hashOf(code) };
      await db.insert(codes).values(values);
      return code;
    };
    const several = (more?: Parameters<typeof link>[0]) => Promise.all(Array.from({ length: LINKS }, () => link(more)));
    const links = {
      full: await several(),
      ofOne: await several({ business_id: tulip.id }),
      reading: await several({ read_only: 1 }),
      ofAMinute: await several({ minutes: 1 }),
      late: await several({ expires_at: timestampOf(new Date(NOW.getTime() - 1000)) }),
    };
    const revocable = await createKey(first, { user_id: OWNER, name: 'test', expires_on: null }, NOW);
    const keys = {
      owner: await key(OWNER),
      reader: await key(OWNER, { role: 'read' }),
      recorder: await key(OWNER, { role: 'record' }),
      many: await key(MANY),
      nobody: await key(NOBODY),
      spare: await key(SPARE),
      busy: laptop.api_key,
    };
    return { tulip, quiet, oneDay, long, huge, closed, limited, near, full, busy, spares, keys, links, revocable };
  });
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
    withDatabases({ 'persist-to': state }, ({ first }) => revokeKey(first.db, made.revocable.id, new Date()));

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
