// The sessions of the console at /owner: by key and by link, over reloads, in several tabs, to their end, and what a browser keeps of them.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import { eventually, hasFullChromium, launchFullChromium, launchProfile } from './chromium.ts';
import { consoleOfFile, signIn, storedSession } from './console.ts';
import { failWith, goOn, goTo, stepsOn, withServiceClock } from './steps.ts';
import { startProxy } from './world.ts';

const world = consoleOfFile();
let page: Page;

const HOUR_MS = 3_600_000;
const { armed, hold } = stepsOn(() => page);
const button = (name: string | RegExp, of = page) => of.getByRole('button', { name, exact: true });
const says = (words: string, of = page) => of.getByText(words, { exact: true }).waitFor();
/** The business is shown, and its chart is drawn: one that is interrupted complains. */
async function tulip(of = page): Promise<void> {
  await of.getByRole('heading', { name: 'Tulip Shop', level: 1 }).waitFor();
  await of.locator('usage-chart .bar').first().waitFor({ state: 'attached' });
}
async function enterTulip(): Promise<void> {
  page = await world.enter(`#/${world.tulip.id}`, world.keys.owner);
  await tulip();
}
async function enterList(): Promise<void> {
  page = await world.enter('#/', world.keys.owner);
  await list();
}
async function signInWithoutStorage(): Promise<void> {
  page = await world.visit();
  const refuse = `get() { throw new DOMException('no', 'SecurityError'); }`;
  await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', { ${refuse} })`);
  await page.reload();
  await signIn(page, world.keys.owner);
  await list();
}
const list = (of = page) => of.getByRole('link', { name: 'Tulip Shop' }).waitFor();
const link = (code: string) => `#code=${code}`;
const ofTulip = () => world.newCode({ business_id: world.tulip.id });
const wayIn = (of = page) => of.locator('.key').innerText();
/** What is asked before a link opens in a tab that somebody is signed in to. */
const asks = (way: string) => says(`You are signed in with ${way}. This link opens another session.`);
const keyWay = (key: string) => `key …${key.slice(-4)}`;

/** Presses what opens a link, once that can be pressed. */
const openIt = () => button('Open the link').click();

/** The status that the service answers to a session key. */
const statusOf = async (key: string | undefined) =>
  (await fetch(`${world.url}/api/v1/business`, { headers: { Authorization: `Bearer ${key}` } })).status;

/** The answer to the next request that ends a session. */
const ending = () => page.waitForResponse((answer) => answer.request().method() === 'DELETE');

/** The status that the service answers to the code of a link: a code that works is spent by it. */
async function statusOfCode(code: string): Promise<number> {
  return (await fetch(`${world.url}/api/v1/session`, { method: 'POST', body: JSON.stringify({ code }) })).status;
}

/** All that another script of the page, or whoever looks at the tab, could read. */
const readable = (of = page) =>
  of.evaluate<string>(`JSON.stringify([document.documentElement.outerHTML, document.title, {...localStorage}, {...sessionStorage},
    document.cookie, document.referrer, location.href, history.state, performance.getEntriesByType('resource').map(({ name }) => name),
    navigation.entries().map((entry) => [entry.url, entry.getState()]), Object.keys(caches),
    ...[...document.querySelectorAll('input')].map((input) => input.value)])`);

/** Whether the memory of the page holds a text. */
async function heapHas(text: string): Promise<boolean> {
  const debug = await page.context().newCDPSession(page);
  let heap = '';
  debug.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    heap += chunk;
  });
  await debug.send('HeapProfiler.collectGarbage');
  await debug.send('HeapProfiler.takeHeapSnapshot', {});
  await debug.detach();
  return heap.includes(text);
}

/** A time of day as the console writes it, in the time zone of a visit. */
const clock = (at: number) =>
  new Intl.DateTimeFormat('en', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    timeZone: 'Pacific/Auckland',
  }).format(at);

/** From another site, by a page that goes to the link by itself. */
async function fromAnotherSite(code: string): Promise<void> {
  const script = `<!doctype html><script>location = '${world.url}/owner${link(code)}'</script>`;
  await page.route('http://attacker.example/', (route) => route.fulfill({ contentType: 'text/html', body: script }));
  await page.goto('http://attacker.example/');
}
const withinThePage = (code: string) => page.evaluate<void>(`void (location.hash = '${link(code)}')`);
const waysToOpen: [string, (code: string) => Promise<void>][] = [
  ['from another site', fromAnotherSite],
  ['within the page', withinThePage],
];

const SPENT = 'This link has expired or has already been used. Open the console again from where you got this link.';
const OVER = 'Your session has expired. Sign in again.';
const LINK_OVER = 'Your session has expired. Open the console again from where you got this link.';
const ENDED = 'You have been signed out. This session was ended in another tab or by the service. Sign in again.';
const SIGNED_OUT = 'You are signed out, and the session has ended.';

describe('a session from a key', () => {
  test('is all that stays in the page: the key is sent once, and gone', async () => {
    const key = world.keys.owner;
    page = await world.visit();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.headers().authorization === `Bearer ${key}`)
        sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await signIn(page, key);
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await tulip();
    expect(sent).toEqual(['POST /api/v1/session']);
    expect(await readable()).not.toContain(key);
    expect(await wayIn()).toBe(`Key …${key.slice(-4)}`);
    const kept = await storedSession(page);
    expect(kept).toEqual({
      key: expect.stringMatching(/^bua_sk_0[0-9A-Za-z]{33}$/),
      endsAt: expect.any(Number),
      readOnly: false,
      tail: key.slice(-4),
      returnUrl: null,
    });
    expect(Math.abs((kept?.endsAt ?? 0) - Date.now() - 12 * HOUR_MS)).toBeLessThan(HOUR_MS);
    expect(await page.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage)]')).toEqual([['session'], []]);
  });

  test('leaves no API key in the memory of the page', async () => {
    page = await world.visit();
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
    await page.keyboard.insertText(world.keys.owner); // not by a script, which would have the key, too
    await page.keyboard.press('Enter');
    await list();
    const session = (await storedSession(page))?.key ?? '';
    expect([await heapHas(session), await heapHas(world.keys.owner)]).toEqual([true, false]);
  });

  test('goes on after a reload, without a request of its own', async () => {
    await enterTulip();
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await page.reload();
    await tulip();
    expect(paths.filter((path) => path.startsWith('/api/') && !path.startsWith('/api/v1/business'))).toEqual([]);
    expect(await wayIn()).toBe(`Key …${world.keys.owner.slice(-4)}`);
  });

  test('is not in a tab that is opened by hand', async () => {
    await enterList();
    const other = await page.context().newPage();
    await other.goto(`${world.url}/owner#/${world.tulip.id}`);
    await other.getByLabel('API key').waitFor();
    expect(await storedSession(other)).toBeNull();
    expect(await other.locator('body').innerText()).not.toContain('Tulip');
  });

  test('ends at sign-out, on the server and in the tab', async () => {
    await enterTulip();
    const key = (await storedSession(page))?.key;
    expect(await statusOf(key)).toBe(200);
    await button('Sign out').click();
    await says(SIGNED_OUT);
    expect(await statusOf(key)).toBe(401);
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await readable()).not.toMatch(new RegExp(`Tulip|${key}|${world.keys.owner}`));
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('ends on the server also if the tab is closed right after: the request outlives it', async () => {
    await enterTulip();
    const isKeptAlive = page.evaluate(`new Promise((resolve) => {
      const ask = fetch;
      window.fetch = (url, init) => {
        if (init.method === 'DELETE') resolve(init.keepalive);
        return ask(url, init);
      };
    })`);
    await button('Sign out').click();
    expect(await isKeptAlive).toBe(true);
    await says(SIGNED_OUT);
  });

  test('is left at once if the service cannot be told, which is said', async () => {
    for (const fail of [(route: Route) => route.abort(), failWith(503, 'Service Unavailable')]) {
      await enterList();
      const kept = await storedSession(page);
      const held = await hold('DELETE');
      await button('Sign out').click();
      await says('You are signed out here. Ending the session…');
      expect(await storedSession(page)).toBeNull();
      held.release(fail);
      await says(
        `You are signed out here, but the service could not be reached: the session expires at ${clock(kept?.endsAt ?? 0)}.`,
      );
      expect(await statusOf(kept?.key)).toBe(200);
      await world.leave();
    }
  });

  test('that was signed out in a copy of the tab is over with the next request', async () => {
    await enterTulip();
    // A window that a page opens has a copy of its sessionStorage, like a tab that is duplicated.
    const [copy] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void open(location.href)')]);
    await tulip(copy);
    await button('Sign out', copy).click();
    await says(SIGNED_OUT, copy);
    await page.getByRole('link', { name: '← Businesses' }).click();
    await says(ENDED);
    expect(await storedSession(page)).toBeNull();
    expect(await readable()).not.toContain('Tulip');
  });

  test('that was ended elsewhere is over also when only the report is asked for', async () => {
    await enterTulip();
    const headers = { Authorization: `Bearer ${(await storedSession(page))?.key}` };
    expect((await fetch(`${world.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByLabel('Days', { exact: true }).selectOption('Last 364 days');
    await says(ENDED);
  });

  test('ends with its key', async () => {
    const { api_key, revoke } = await world.newKey();
    page = await world.enter('#/', api_key);
    await list();
    await revoke();
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await says(ENDED);
    await signIn(page, world.keys.owner); // where it was
    await tulip();
  });

  test('says its end five minutes before, and is over then, with what was being typed', async () => {
    page = await world.enter(`#/${world.tulip.id}/domains`, world.keys.owner, { lasts: HOUR_MS });
    const { endsAt = 0 } = (await storedSession(page)) ?? {};
    await page.getByLabel('Add one or more domains').fill('half.a.na');
    await page.clock.runFor(HOUR_MS - 6 * 60_000);
    expect(await page.locator('.near-end').count()).toBe(0);
    await page.clock.runFor(60_000);
    await says(`Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, sign in again.`);
    expect(await page.getByLabel('Add one or more domains').inputValue()).toBe('half.a.na');
    await button('Hide').click();
    await page.clock.runFor(60_000);
    expect(await page.locator('.near-end').count()).toBe(0);
    await page.getByLabel('Add one or more domains').focus();
    await page.clock.runFor(4 * 60_000);
    await says(OVER);
    await page.keyboard.type('me.example'); // not into the field for a key
    expect(await page.getByLabel('API key').inputValue()).toBe('');
    expect(await readable()).not.toMatch(/Tulip|half|me\.example/);
    expect(await storedSession(page)).toBeNull();
    expect(await page.title()).toBe('Sign in · Business Usage and Access');
  });

  test('is over when a computer that slept past its end wakes up', async () => {
    await enterTulip();
    await page.clock.pauseAt(Date.now() + 60_000); // from now on, no timer starts by itself
    await page.clock.setSystemTime(Date.now() + 13 * HOUR_MS);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await says(OVER);
    expect(await readable()).not.toContain('Tulip');
  });

  test('that a browser brings back after its end is over, without a request', async () => {
    const paths: string[] = [];
    page = await world.enter('#/', world.keys.owner, {
      lasts: -1,
      before: async (of) => of.on('request', (request) => paths.push(new URL(request.url()).pathname)),
    });
    await says(OVER);
    expect(paths.filter((path) => path.startsWith('/api/'))).toEqual([]);
    expect(await storedSession(page)).toBeNull();
  });

  test('shows nothing of a view that was still opening when the session ended', async () => {
    await enterTulip();
    const held = await hold('DELETE');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.method()));
    // The list is drawn, and the page is left before its next frame.
    await page.evaluate(`addEventListener('hashchange', () => document.querySelector('.who button').click(), { once: true });
      location.hash = '#/'`);
    held.release(goOn);
    await says(SIGNED_OUT);
    await armed();
    expect(asked).toEqual(['DELETE']);
    expect(await page.locator('body').innerText()).not.toMatch(/Tulip|Businesses/);
  });

  test('works without storage, until the page is reloaded', async () => {
    await signInWithoutStorage();
    await button('Sign out').click();
    await says(SIGNED_OUT);
  });
});

describe('a link', () => {
  test('signs in once: its code is in no place that stays, and is refused the second time', async () => {
    const code = await world.newCode();
    page = await world.visit(link(code));
    await list();
    const kept = await storedSession(page);
    expect(kept).toMatchObject({ readOnly: false, tail: null });
    expect(await wayIn()).toBe(`Link …${kept?.key.slice(-4)}`);
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await readable()).not.toContain(code);
    const second = await page.context().newPage();
    await second.goto(`${world.url}/owner${link(code)}`);
    await says(SPENT, second);
    expect(second.url()).toBe(`${world.url}/owner`);
    expect(await readable(second)).not.toContain(code);
    expect(await second.getByLabel('API key').count()).toBe(0);
    await button('Sign in with an API key', second).click();
    await signIn(second, world.keys.owner);
    await page.reload();
    await list();
  });

  test('leaves the address before anything is sent', async () => {
    page = await world.visit();
    const code = await world.newCode();
    let seen = '';
    await page.route(/\/api\//, async (route) => {
      seen ||= page.url();
      await route.continue();
    });
    await page.goto('about:blank');
    await page.goto(`${world.url}/owner${link(code)}`);
    await list();
    expect(seen).toBe(`${world.url}/owner`);
  });

  test('is refused if its code is expired, unknown, truncated, missing or malformed', async () => {
    page = await world.visit();
    const codes = [world.lateCode, `0${'x'.repeat(33)}`, (await world.newCode()).slice(0, 12), '', '%00<script>"ü'];
    for (const code of codes) {
      const answered = page.waitForResponse(/\/session$/);
      await page.evaluate(`location.hash = ${JSON.stringify(link(code))}`);
      expect((await answered).status(), code).toBe(401);
      await says(SPENT);
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    }
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('notice warning');
  });

  test('that is opened in the background is used at once, before the tab is looked at', async () => {
    page = await world.visit();
    await page.addInitScript('window.requestAnimationFrame = () => 0'); // as in a tab that is not painted
    await page.goto('about:blank');
    await page.goto(`${world.url}/owner${link(await world.newCode())}`);
    await button('Sign out').waitFor();
    expect(await storedSession(page)).toMatchObject({ tail: null });
  });

  test('that is opened in two tabs at once lets one in, and tells the other', async () => {
    page = await world.visit();
    const code = await world.newCode();
    const tabs = [page, await page.context().newPage()];
    await page.goto('about:blank');
    await Promise.all(tabs.map((tab) => tab.goto(`${world.url}/owner${link(code)}`)));
    const ends = tabs.map((tab) =>
      Promise.race([list(tab).then(() => 'in'), says(SPENT, tab).then(() => 'told')]).catch((error) => `${error}`),
    );
    expect((await Promise.all(ends)).sort()).toEqual(['in', 'told']);
  });

  test('for one business opens it, and shows no other', async () => {
    page = await world.visit(link(await ofTulip()));
    await tulip();
    expect(page.url()).toBe(`${world.url}/owner#/${world.tulip.id}`);
    await page.getByRole('link', { name: '← Businesses' }).click();
    await list();
    expect(await page.locator('.row').count()).toBe(1);
    await page.evaluate(`location.hash = '#/${world.quiet.id}'`);
    await says(`Business ${world.quiet.id} does not exist, or you do not have access to it.`);
  });

  test('to read only shows nothing that changes', async () => {
    page = await world.visit(link(await world.newCode({ role: 'read' })));
    await page.getByText('Read-only', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await tulip();
    await goTo(page, 'token');
    expect(await button('Replace the token…').count()).toBe(0);
    await page.reload();
    await page.getByText('Read-only', { exact: true }).waitFor();
  });

  test('that is opened while another one is being opened wins, and the session of the other ends', async () => {
    page = await world.visit();
    const [first, second] = [await world.newCode(), await ofTulip()];
    const isFirst = (request: Request) => request.postData()?.includes(first) ?? false;
    let late = '';
    const released = Promise.withResolvers<void>();
    await page.route(/\/session$/, async (route) => {
      if (!isFirst(route.request())) return route.continue();
      const response = await route.fetch();
      late = (await response.json()).data.session_key;
      await released.promise;
      await route.fulfill({ response });
    });
    const answered = page.waitForResponse((response) => isFirst(response.request()));
    const ended = ending();
    await withinThePage(first);
    await eventually(() => late).not.toBe('');
    await withinThePage(second);
    await tulip();
    released.resolve();
    await answered;
    expect((await ended).status()).toBe(200);
    expect(await statusOf(late)).toBe(401);
    expect(await statusOf((await storedSession(page))?.key)).toBe(200);
    await tulip();
  });

  test('that fails leaves the session that the tab has, but shows nothing of it until that is wanted', async () => {
    await enterTulip();
    await withinThePage(world.lateCode);
    await openIt();
    await says(SPENT);
    expect(await page.locator('body').innerText()).not.toContain('Tulip');
    await button(`Keep the earlier session (${keyWay(world.keys.owner)})`).click();
    await list();
  });

  test('is tried again by whoever opened it if the network, a limit or the database fails, and not by itself', async () => {
    page = await world.visit();
    const code = await world.newCode();
    let [tries, fail] = [0, (route: Route) => route.abort()];
    await page.route(/\/session$/, async (route) => {
      tries += 1;
      await fail(route);
    });
    await withinThePage(code);
    const failures = [
      [failWith(429, 'x'), 'The service cannot be reached. Check your connection, then try again.'],
      [failWith(503, 'x'), 'Too many requests. Try again in 10 seconds.'],
      [goOn, 'The service cannot reach its database right now. Try again in 10 seconds.'],
    ] as const;
    for (const [index, [next, words]] of failures.entries()) {
      await says(
        `${words} A link works once, within two minutes. After that, open the console again from where you got this link.`,
      );
      expect(await readable()).not.toContain(code);
      expect(tries).toBe(index + 1);
      fail = next;
      await button('Try again').click();
    }
    await list();
    expect(tries).toBe(4);
  });

  test('whose answer was lost is spent, and says so when it is tried again', async () => {
    page = await world.visit();
    await page.route(/\/session$/, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await withinThePage(await world.newCode());
    await button('Try again').waitFor();
    await page.unroute(/\/session$/);
    await button('Try again').click();
    await says(SPENT);
  });

  test('for a minute says its end from the start, and then how to get back', async () => {
    page = await world.visit(link(await world.newCode({ minutes: 1 })));
    await list();
    const endsAt = (await storedSession(page))?.endsAt ?? 0;
    const back = 'open the console again from where you got this link.';
    await says(`Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, ${back}`);
    await page.clock.install({ time: endsAt - 30_000 });
    await page.reload();
    await list();
    await page.clock.runFor(30_000);
    await says(LINK_OVER);
    expect(await readable()).not.toContain('Tulip');
    expect(await page.getByLabel('API key').count()).toBe(0);
  });

  test('lasts as long as it says on a computer whose clock is wrong', async () => {
    for (const wrong of [-HOUR_MS, HOUR_MS]) {
      page = await world.visit();
      await page.clock.install({ time: Date.now() + wrong });
      await withServiceClock(page);
      await page.goto('about:blank');
      await page.goto(`${world.url}/owner${link(await world.newCode({ minutes: 1 }))}`);
      await list();
      const left = await page.evaluate<number>(`JSON.parse(sessionStorage.getItem('session')).endsAt - Date.now()`);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(61_000); // a header has whole seconds
      await world.leave();
    }
  });

  test('says how to get back at sign-out', async () => {
    page = await world.visit(link(await world.newCode()));
    await list();
    const key = (await storedSession(page))?.key;
    await button('Sign out').click();
    await says(`${SIGNED_OUT} Open the console again from where you got this link.`);
    expect(await statusOf(key)).toBe(401);
  });
});

describe('a link in a tab that somebody is signed in to', () => {
  const FOCUS = 'document.activeElement.innerText';

  test.each(waysToOpen)('asks first when it is opened %s, and spends nothing', async (_, openLink) => {
    await enterTulip();
    const kept = await storedSession(page);
    const code = await ofTulip();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) sent.push(request.url());
    });
    await openLink(code);
    await asks(keyWay(world.keys.owner));
    await eventually(() => page.evaluate(FOCUS)).toBe('Stay signed in');
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await page.title()).toBe('Open another session? · Business Usage and Access');
    const shown = await readable();
    for (const word of [code, 'Tulip', world.tulip.token]) expect(shown).not.toContain(word);
    expect(await storedSession(page)).toEqual(kept);
    expect(sent).toEqual([]);
    await page.keyboard.press('Enter');
    await list();
    expect(await wayIn()).toBe(`Key …${world.keys.owner.slice(-4)}`);
    expect(await storedSession(page)).toEqual(kept);
    expect(await statusOfCode(code)).toBe(200);
  });

  test.each(waysToOpen)(
    'takes its place when that is wanted, opened %s: the earlier session ends',
    async (_, openLink) => {
      await enterTulip();
      const earlier = (await storedSession(page))?.key;
      const code = await ofTulip();
      const told = ending();
      await openLink(code);
      await openIt();
      await page.locator('.key', { hasText: 'Link' }).waitFor();
      expect((await told).status()).toBe(200);
      expect(await statusOf(earlier)).toBe(401);
      expect(await statusOf((await storedSession(page))?.key)).toBe(200);
      expect(await readable()).not.toContain(code);
      await tulip();
    },
  );

  test('by another link asks, too, and names that one as the changes do', async () => {
    page = await world.visit(link(await world.newCode()));
    await list();
    const tail = (await storedSession(page))?.key.slice(-4);
    await withinThePage(world.lateCode);
    await asks(`link …${tail}`);
    await openIt();
    await says(SPENT);
    await button(`Keep the earlier session (link …${tail})`).click();
    await list();
    expect(await wayIn()).toBe(`Link …${tail}`);
  });

  test('leaves no code in the memory of the page when its owner stays', async () => {
    await enterList();
    const code = await ofTulip();
    await fromAnotherSite(code);
    await asks(keyWay(world.keys.owner));
    expect(await heapHas(code)).toBe(true);
    await button('Stay signed in').click();
    await list();
    expect(await heapHas(code)).toBe(false);
  });

  test('is forgotten by a reload', async () => {
    await enterList();
    await withinThePage(await world.newCode());
    await asks(keyWay(world.keys.owner));
    await page.reload();
    await list();
    expect(await wayIn()).toBe(`Key …${world.keys.owner.slice(-4)}`);
  });

  test('does not open in the first half second, nor by a click that began elsewhere', async () => {
    await enterList();
    const kept = await storedSession(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    await withinThePage(await ofTulip());
    await asks(keyWay(world.keys.owner));
    const opener = button('Open the link');
    await opener.click({ force: true });
    await page.clock.runFor(450);
    await opener.click({ force: true });
    await page.clock.runFor(100);
    await opener.dispatchEvent('click', { detail: 2 });
    await asks(keyWay(world.keys.owner));
    expect(await storedSession(page)).toEqual(kept);
    await opener.click();
    await page.locator('.key', { hasText: 'Link' }).waitFor();
    await page.clock.resume();
    await tulip();
  });

  test('is the last one that came, and that is asked anew', async () => {
    await enterList();
    const [first, second] = [await world.newCode({ role: 'read' }), await ofTulip()];
    await withinThePage(first);
    await asks(keyWay(world.keys.owner));
    await withinThePage(second);
    await asks(keyWay(world.keys.owner));
    await openIt();
    await tulip();
    expect(await statusOfCode(first)).toBe(200);
  });

  test.each([
    ['says so to whoever wants to stay', () => button('Stay signed in').click(), () => says(OVER)],
    ['opens if that is wanted', () => openIt(), () => tulip()],
  ])('still asks when the session ends meanwhile, and %s', async (_, answer, outcome) => {
    page = await world.enter('#/', world.keys.owner, { lasts: 60_000 });
    await list();
    await withinThePage(await ofTulip());
    await asks(keyWay(world.keys.owner));
    await page.clock.fastForward(61_000);
    await asks(keyWay(world.keys.owner));
    await answer();
    await outcome();
  });

  test('opens at once if the session was over before', async () => {
    page = await world.enter('#/', world.keys.owner, { lasts: -1 });
    await says(OVER);
    await fromAnotherSite(await ofTulip());
    await tulip();
    expect(await storedSession(page)).toMatchObject({ tail: null });
  });

  test('asks without storage, too, and the earlier session ends', async () => {
    await signInWithoutStorage();
    await withinThePage(await ofTulip());
    await button('Stay signed in').click();
    await list();
    await withinThePage(await ofTulip());
    const told = ending();
    await openIt();
    await tulip();
    expect((await told).status()).toBe(200);
  });
});

describe.skipIf(!hasFullChromium)('what the back-forward cache brings back', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchFullChromium(['--disable-back-forward-cache']);
  });
  afterAll(() => browser?.close());

  /** Leaves the page and comes back. Expects the cached page to show nothing before it reloads. */
  async function expectEmptyWhenRestored(page: Page): Promise<void> {
    // In sessionStorage, because the browser's log can lose a line that is written while the page is restored.
    await page.evaluate(`addEventListener('pageshow', ({ persisted }) => {
      if (persisted) sessionStorage.restored = 'text: ' + document.body.innerText.trim();
    }, true)`);
    await page.goto(world.url);
    await page.evaluate('history.back()');
    await eventually(() => page.evaluate('sessionStorage.restored').catch(() => null)).toBe('text: ');
  }

  test('shows nothing of before, and goes on with the session of the tab', async () => {
    const page = await browser.newPage();
    await page.goto(`${world.url}/owner#/${world.tulip.id}`);
    await signIn(page, world.keys.owner);
    await tulip(page);
    await expectEmptyWhenRestored(page);
    await tulip(page);
    expect(page.url()).toBe(`${world.url}/owner#/${world.tulip.id}`);
    await page.close();
  });

  test.each([
    ['typed', []],
    ['tried', ['Enter']],
  ])('is no key that was being %s', async (_, keys) => {
    const page = await browser.newPage();
    await page.goto(`${world.url}/owner`);
    await page.getByLabel('API key').fill(world.keys.owner);
    for (const key of keys) await page.keyboard.press(key);
    await expectEmptyWhenRestored(page);
    await page.getByLabel('API key').or(button('Sign out', page)).waitFor();
    expect(await readable(page)).not.toContain(world.keys.owner);
    await page.close();
  });

  test('is nobody who is signed in after a sign-out', async () => {
    const page = await browser.newPage();
    await page.goto(`${world.url}/owner#/${world.tulip.id}`);
    await signIn(page, world.keys.owner);
    await tulip(page);
    await page.goto(world.url);
    await page.goto(`${world.url}/owner`);
    await list(page);
    await button('Sign out', page).click();
    await says(SIGNED_OUT, page);
    await page.evaluate('history.go(-2)');
    await page.getByLabel('API key').waitFor();
    await page.waitForURL(`${world.url}/owner#/${world.tulip.id}`);
    const shown = await page.locator('body').innerText();
    for (const word of ['Tulip', world.tulip.token, world.keys.owner.slice(-4)]) expect(shown).not.toContain(word);
    await page.close();
  });
});

test('no file of a profile has an API key, nor a code that works, and no request says where it came from with one', async () => {
  const key = world.keys.owner;
  const [used, late] = [await world.newCode(), world.lateCode];
  const folder = newFolder();
  const closing: (() => unknown)[] = [];
  onTestFinished(async () => {
    for (const close of closing.reverse()) await close();
  });
  const { passed, origin } = await startProxy(world.url, closing);
  const context = await launchProfile(folder);
  const tab = await context.newPage();
  await tab.goto(`${origin}/owner`);
  await signIn(tab, key);
  await tab.getByRole('link', { name: 'Tulip Shop' }).click();
  await tulip(tab);
  await tab.reload();
  await tulip(tab);
  await tab.goto(`${origin}/`);
  await tab.goto(`${origin}/owner${link(used)}`);
  await button('Open the link', tab).click();
  await tab.locator('.key', { hasText: 'Link' }).waitFor();
  await list(tab);
  const { key: session } = (await storedSession(tab)) ?? {};
  const other = await context.newPage();
  await other.goto(`${origin}/owner${link(late)}`);
  await says(SPENT, other);
  // A key that was typed and not sent.
  await button('Sign in with an API key', other).click();
  await other.getByLabel('API key').fill(key);
  await context.close();

  const files = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, `${name}`))
    .filter((path) => statSync(path).isFile());
  const holding = (text: string) =>
    files.filter((path) => {
      const bytes = readFileSync(path);
      return (['utf8', 'utf16le'] as const).some((encoding) => bytes.includes(Buffer.from(text, encoding)));
    });
  // The search finds what is there: the address, and the session of a tab that was never signed out.
  expect(holding(`${origin}/owner`)).not.toEqual([]);
  expect(holding(session ?? '')).not.toEqual([]);
  expect(holding(key)).toEqual([]);
  for (const code of [used, late]) expect(await statusOfCode(code)).toBe(401);

  const sent = passed.map(({ path, headers }) => JSON.stringify([path, headers.referer]));
  for (const secret of [key, used, late, session ?? '']) expect(sent.join('\n')).not.toContain(secret);
  expect(sent.length).toBeGreaterThan(20);
});
