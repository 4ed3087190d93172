// Console sessions at /owner: how they start with a key or a link, how they continue across reloads and tabs, how they end, and what the
// browser stores.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import { eventually, hasFullChromium, launchFullChromium, launchProfile } from './chromium.ts';
import { consoleOfFile, signIn, storedSession } from './console.ts';
import { continueRequest, failWith, goTo, stepsOn, withServiceClock } from './steps.ts';
import { startProxy } from './world.ts';

const world = consoleOfFile();
let page: Page;

const HOUR_MS = 3_600_000;
const { armed, hold } = stepsOn(() => page);
const button = (name: string | RegExp, of = page) => of.getByRole('button', { name, exact: true });
const expectText = (words: string, of = page) => of.getByText(words, { exact: true }).waitFor();
/** Waits for the business and its chart, because leaving the page before the chart is drawn logs an error. */
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
const credential = (of = page) => of.locator('.key').innerText();
/** Waits for the question shown when a link is opened in a tab with a session. */
const expectQuestion = (way: string) => expectText(`You are signed in with ${way}. This link opens another session.`);
const keyLabel = (key: string) => `key …${key.slice(-4)}`;

const pressOpen = () => button('Open the link').click();

/** Returns the status of a request with this session key. */
const statusOf = async (key: string | undefined) =>
  (await fetch(`${world.url}/api/v1/business`, { headers: { Authorization: `Bearer ${key}` } })).status;

/** Returns the response to the next request that ends a session. */
const ending = () => page.waitForResponse((answer) => answer.request().method() === 'DELETE');

/** Returns the status of signing in with a link's code. If the code is valid, this uses it up. */
async function statusOfCode(code: string): Promise<number> {
  return (await fetch(`${world.url}/api/v1/session`, { method: 'POST', body: JSON.stringify({ code }) })).status;
}

/** Returns everything that another script on the page, or a person at the computer, could read. */
const readable = (of = page) =>
  of.evaluate<string>(`JSON.stringify([document.documentElement.outerHTML, document.title, {...localStorage}, {...sessionStorage},
    document.cookie, document.referrer, location.href, history.state, performance.getEntriesByType('resource').map(({ name }) => name),
    navigation.entries().map((entry) => [entry.url, entry.getState()]), Object.keys(caches),
    ...[...document.querySelectorAll('input')].map((input) => input.value)])`);

async function heapContains(text: string): Promise<boolean> {
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

/** Formats a time of day as the console does, in the browser's time zone. */
const clock = (at: number) =>
  new Intl.DateTimeFormat('en', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    timeZone: 'Pacific/Auckland',
  }).format(at);

/** Opens the link through a redirect from another site. */
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
  test('replaces the key, which is sent once and not stored', async () => {
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
    expect(await credential()).toBe(`Key …${key.slice(-4)}`);
    const stored = await storedSession(page);
    expect(stored).toEqual({
      key: expect.stringMatching(/^bua_sk_0[0-9A-Za-z]{33}$/),
      endsAt: expect.any(Number),
      readOnly: false,
      userId: world.users.owner,
      canCreateKeys: false,
      tail: key.slice(-4),
      returnUrl: null,
    });
    expect(Math.abs((stored?.endsAt ?? 0) - Date.now() - 12 * HOUR_MS)).toBeLessThan(HOUR_MS);
    expect(await page.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage)]')).toEqual([['session'], []]);
  });

  test('leaves no API key in the page’s heap', async () => {
    page = await world.visit();
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
    await page.keyboard.insertText(world.keys.owner); // not `fill`, whose script would leave a copy of the key
    await page.keyboard.press('Enter');
    await list();
    const session = (await storedSession(page))?.key ?? '';
    expect([await heapContains(session), await heapContains(world.keys.owner)]).toEqual([true, false]);
  });

  test('survives a reload without requesting a new session', async () => {
    await enterTulip();
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await page.reload();
    await tulip();
    expect(paths.filter((path) => path.startsWith('/api/') && !path.startsWith('/api/v1/business'))).toEqual([]);
    expect(await credential()).toBe(`Key …${world.keys.owner.slice(-4)}`);
  });

  test('is not shared with a new tab', async () => {
    await enterList();
    const other = await page.context().newPage();
    await other.goto(`${world.url}/owner#/${world.tulip.id}`);
    await other.getByLabel('API key').waitFor();
    expect(await storedSession(other)).toBeNull();
    expect(await other.locator('body').innerText()).not.toContain('Tulip');
  });

  test('ends at sign-out, in the service and in the tab', async () => {
    await enterTulip();
    const key = (await storedSession(page))?.key;
    expect(await statusOf(key)).toBe(200);
    await button('Sign out').click();
    await expectText(SIGNED_OUT);
    expect(await statusOf(key)).toBe(401);
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await readable()).not.toMatch(new RegExp(`Tulip|${key}|${world.keys.owner}`));
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('is ended with a keepalive request, which completes even if the tab closes', async () => {
    await enterTulip();
    const isKeepalive = page.evaluate(`new Promise((resolve) => {
      const ask = fetch;
      window.fetch = (url, init) => {
        if (init.method === 'DELETE') resolve(init.keepalive);
        return ask(url, init);
      };
    })`);
    await button('Sign out').click();
    expect(await isKeepalive).toBe(true);
    await expectText(SIGNED_OUT);
  });

  test('is removed from the tab at sign-out even if the request fails, and a notice says when it expires', async () => {
    for (const fail of [(route: Route) => route.abort(), failWith(503, 'Service Unavailable')]) {
      await enterList();
      const stored = await storedSession(page);
      const held = await hold('DELETE');
      await button('Sign out').click();
      await expectText('You are signed out here. Ending the session…');
      expect(await storedSession(page)).toBeNull();
      held.release(fail);
      await expectText(
        `You are signed out here, but the service could not be reached: the session expires at ${clock(stored?.endsAt ?? 0)}.`,
      );
      expect(await statusOf(stored?.key)).toBe(200);
      await world.leave();
    }
  });

  test('ends at the tab’s next request after the user signs out in a duplicate of the tab', async () => {
    await enterTulip();
    // A window that a page opens receives a copy of its sessionStorage, like a duplicated tab.
    const [copy] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void open(location.href)')]);
    await tulip(copy);
    await button('Sign out', copy).click();
    await expectText(SIGNED_OUT, copy);
    await page.getByRole('link', { name: '← Businesses' }).click();
    await expectText(ENDED);
    expect(await storedSession(page)).toBeNull();
    expect(await readable()).not.toContain('Tulip');
  });

  test('ends in the tab when a request for a report returns 401', async () => {
    await enterTulip();
    const headers = { Authorization: `Bearer ${(await storedSession(page))?.key}` };
    expect((await fetch(`${world.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByLabel('Days', { exact: true }).selectOption('Last 364 days');
    await expectText(ENDED);
  });

  test('ends when its key is revoked', async () => {
    const { api_key, revoke } = await world.newKey();
    page = await world.enter('#/', api_key);
    await list();
    await revoke();
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await expectText(ENDED);
    await signIn(page, world.keys.owner); // the URL is unchanged
    await tulip();
  });

  test('shows a warning five minutes before it expires, and at expiry removes all views and typed text', async () => {
    page = await world.enter(`#/${world.tulip.id}/domains`, world.keys.owner, { lasts: HOUR_MS });
    const { endsAt = 0 } = (await storedSession(page)) ?? {};
    await page.getByLabel('Add one or more domains').fill('half.a.na');
    await page.clock.runFor(HOUR_MS - 6 * 60_000);
    expect(await page.locator('.near-end').count()).toBe(0);
    await page.clock.runFor(60_000);
    await expectText(`Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, sign in again.`);
    expect(await page.getByLabel('Add one or more domains').inputValue()).toBe('half.a.na');
    await button('Hide').click();
    await page.clock.runFor(60_000);
    expect(await page.locator('.near-end').count()).toBe(0);
    await page.getByLabel('Add one or more domains').focus();
    await page.clock.runFor(4 * 60_000);
    await expectText(OVER);
    await page.keyboard.type('me.example'); // must not go into the field for the key
    expect(await page.getByLabel('API key').inputValue()).toBe('');
    expect(await readable()).not.toMatch(/Tulip|half|me\.example/);
    expect(await storedSession(page)).toBeNull();
    expect(await page.title()).toBe('Sign in · Business Usage and Access');
  });

  test('expires immediately when the computer wakes up after the expiry time', async () => {
    await enterTulip();
    await page.clock.pauseAt(Date.now() + 60_000); // stops all timers
    await page.clock.setSystemTime(Date.now() + 13 * HOUR_MS);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await expectText(OVER);
    expect(await readable()).not.toContain('Tulip');
  });

  test('expires without a request when the browser restores the tab after the expiry time', async () => {
    const paths: string[] = [];
    page = await world.enter('#/', world.keys.owner, {
      lasts: -1,
      before: async (of) => of.on('request', (request) => paths.push(new URL(request.url()).pathname)),
    });
    await expectText(OVER);
    expect(paths.filter((path) => path.startsWith('/api/'))).toEqual([]);
    expect(await storedSession(page)).toBeNull();
  });

  test('loads nothing for a view that was opening at sign-out', async () => {
    await enterTulip();
    const held = await hold('DELETE');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.method()));
    // Renders the list, and signs out before the next frame.
    await page.evaluate(`addEventListener('hashchange', () => document.querySelector('.who button').click(), { once: true });
      location.hash = '#/'`);
    held.release(continueRequest);
    await expectText(SIGNED_OUT);
    await armed();
    expect(requested).toEqual(['DELETE']);
    expect(await page.locator('body').innerText()).not.toMatch(/Tulip|Businesses/);
  });

  test('works without sessionStorage', async () => {
    await signInWithoutStorage();
    await button('Sign out').click();
    await expectText(SIGNED_OUT);
  });
});

describe('a console link', () => {
  test('signs the user in once, and leaves its code neither in the page nor in the URL', async () => {
    const code = await world.newCode();
    page = await world.visit(link(code));
    await list();
    const stored = await storedSession(page);
    expect(stored).toMatchObject({ readOnly: false, tail: null });
    expect(await credential()).toBe(`Link …${stored?.key.slice(-4)}`);
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await readable()).not.toContain(code);
    const second = await page.context().newPage();
    await second.goto(`${world.url}/owner${link(code)}`);
    await expectText(SPENT, second);
    expect(second.url()).toBe(`${world.url}/owner`);
    expect(await readable(second)).not.toContain(code);
    expect(await second.getByLabel('API key').count()).toBe(0);
    await button('Sign in with an API key', second).click();
    await signIn(second, world.keys.owner);
    await page.reload();
    await list();
  });

  test('removes its code from the URL before the first request', async () => {
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

  test('is rejected if its code is expired, unknown, truncated, missing or malformed', async () => {
    page = await world.visit();
    const codes = [world.lateCode, `0${'x'.repeat(33)}`, (await world.newCode()).slice(0, 12), '', '%00<script>"ü'];
    for (const code of codes) {
      const answered = page.waitForResponse(/\/session$/);
      await page.evaluate(`location.hash = ${JSON.stringify(link(code))}`);
      expect((await answered).status(), code).toBe(401);
      await expectText(SPENT);
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    }
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('notice warning');
  });

  test('signs the user in immediately in a background tab', async () => {
    page = await world.visit();
    await page.addInitScript('window.requestAnimationFrame = () => 0'); // like a tab that is not painted
    await page.goto('about:blank');
    await page.goto(`${world.url}/owner${link(await world.newCode())}`);
    await button('Sign out').waitFor();
    expect(await storedSession(page)).toMatchObject({ tail: null });
  });

  test('signs in only one of two tabs that open it concurrently', async () => {
    page = await world.visit();
    const code = await world.newCode();
    const tabs = [page, await page.context().newPage()];
    await page.goto('about:blank');
    await Promise.all(tabs.map((tab) => tab.goto(`${world.url}/owner${link(code)}`)));
    const ends = tabs.map((tab) =>
      Promise.race([list(tab).then(() => 'in'), expectText(SPENT, tab).then(() => 'told')]).catch(
        (error) => `${error}`,
      ),
    );
    expect((await Promise.all(ends)).sort()).toEqual(['in', 'told']);
  });

  test('for one business opens that business, and gives access to no other', async () => {
    page = await world.visit(link(await ofTulip()));
    await tulip();
    expect(page.url()).toBe(`${world.url}/owner#/${world.tulip.id}`);
    await page.getByRole('link', { name: '← Businesses' }).click();
    await list();
    expect(await page.locator('.row').count()).toBe(1);
    await page.evaluate(`location.hash = '#/${world.quiet.id}'`);
    await expectText(`Business ${world.quiet.id} does not exist, or you do not have access to it.`);
  });

  test('with the read role hides all controls that change data', async () => {
    page = await world.visit(link(await world.newCode({ role: 'read' })));
    await page.getByText('Read-only', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await tulip();
    await goTo(page, 'token');
    expect(await button('Replace the token…').count()).toBe(0);
    await page.reload();
    await page.getByText('Read-only', { exact: true }).waitFor();
  });

  test('replaces an earlier link that is still being opened, and the earlier link’s session ends', async () => {
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

  test('that fails keeps the earlier session, hidden until the user chooses it', async () => {
    await enterTulip();
    await withinThePage(world.lateCode);
    await pressOpen();
    await expectText(SPENT);
    expect(await page.locator('body').innerText()).not.toContain('Tulip');
    await button(`Keep the earlier session (${keyLabel(world.keys.owner)})`).click();
    await list();
  });

  test('is never retried automatically after a failure or a rate limit, but the user can retry it', async () => {
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
      [continueRequest, 'The service cannot reach its database right now. Try again in 10 seconds.'],
    ] as const;
    for (const [index, [next, words]] of failures.entries()) {
      await expectText(
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

  test('is used up even if the response is lost, and a retry says so', async () => {
    page = await world.visit();
    await page.route(/\/session$/, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await withinThePage(await world.newCode());
    await button('Try again').waitFor();
    await page.unroute(/\/session$/);
    await button('Try again').click();
    await expectText(SPENT);
  });

  test('for a one-minute session shows the expiry warning immediately, and explains after expiry how to return', async () => {
    page = await world.visit(link(await world.newCode({ minutes: 1 })));
    await list();
    const endsAt = (await storedSession(page))?.endsAt ?? 0;
    const back = 'open the console again from where you got this link.';
    await expectText(`Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, ${back}`);
    await page.clock.install({ time: endsAt - 30_000 });
    await page.reload();
    await list();
    await page.clock.runFor(30_000);
    await expectText(LINK_OVER);
    expect(await readable()).not.toContain('Tulip');
    expect(await page.getByLabel('API key').count()).toBe(0);
  });

  test('starts a session of the full length on a computer whose clock is wrong', async () => {
    for (const wrong of [-HOUR_MS, HOUR_MS]) {
      page = await world.visit();
      await page.clock.install({ time: Date.now() + wrong });
      await withServiceClock(page);
      await page.goto('about:blank');
      await page.goto(`${world.url}/owner${link(await world.newCode({ minutes: 1 }))}`);
      await list();
      const left = await page.evaluate<number>(`JSON.parse(sessionStorage.getItem('session')).endsAt - Date.now()`);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(61_000); // the Date header is in whole seconds
      await world.leave();
    }
  });

  test('explains at sign-out how to return', async () => {
    page = await world.visit(link(await world.newCode()));
    await list();
    const key = (await storedSession(page))?.key;
    await button('Sign out').click();
    await expectText(`${SIGNED_OUT} Open the console again from where you got this link.`);
    expect(await statusOf(key)).toBe(401);
  });
});

describe('a console link in a tab with a session', () => {
  const FOCUS = 'document.activeElement.innerText';

  test.each(waysToOpen)(
    'opened %s asks for confirmation first, and staying signed in leaves its code unused',
    async (_, openLink) => {
      await enterTulip();
      const stored = await storedSession(page);
      const code = await ofTulip();
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/api/')) sent.push(request.url());
      });
      await openLink(code);
      await expectQuestion(keyLabel(world.keys.owner));
      await eventually(() => page.evaluate(FOCUS)).toBe('Stay signed in');
      expect(page.url()).toBe(`${world.url}/owner`);
      expect(await page.title()).toBe('Open another session? · Business Usage and Access');
      const shown = await readable();
      for (const word of [code, 'Tulip', world.tulip.token]) expect(shown).not.toContain(word);
      expect(await storedSession(page)).toEqual(stored);
      expect(sent).toEqual([]);
      await page.keyboard.press('Enter');
      await list();
      expect(await credential()).toBe(`Key …${world.keys.owner.slice(-4)}`);
      expect(await storedSession(page)).toEqual(stored);
      expect(await statusOfCode(code)).toBe(200);
    },
  );

  test.each(waysToOpen)(
    'opened %s replaces the session after the user agrees, and the earlier session ends',
    async (_, openLink) => {
      await enterTulip();
      const earlier = (await storedSession(page))?.key;
      const code = await ofTulip();
      const ended = ending();
      await openLink(code);
      await pressOpen();
      await page.locator('.key', { hasText: 'Link' }).waitFor();
      expect((await ended).status()).toBe(200);
      expect(await statusOf(earlier)).toBe(401);
      expect(await statusOf((await storedSession(page))?.key)).toBe(200);
      expect(await readable()).not.toContain(code);
      await tulip();
    },
  );

  test('also asks for confirmation when the tab’s session is from a link, and names that session as the change list does', async () => {
    page = await world.visit(link(await world.newCode()));
    await list();
    const tail = (await storedSession(page))?.key.slice(-4);
    await withinThePage(world.lateCode);
    await expectQuestion(`link …${tail}`);
    await pressOpen();
    await expectText(SPENT);
    await button(`Keep the earlier session (link …${tail})`).click();
    await list();
    expect(await credential()).toBe(`Link …${tail}`);
  });

  test('leaves no code in the page’s heap when the user stays signed in', async () => {
    await enterList();
    const code = await ofTulip();
    await fromAnotherSite(code);
    await expectQuestion(keyLabel(world.keys.owner));
    expect(await heapContains(code)).toBe(true);
    await button('Stay signed in').click();
    await list();
    expect(await heapContains(code)).toBe(false);
  });

  test('is discarded by a reload', async () => {
    await enterList();
    await withinThePage(await world.newCode());
    await expectQuestion(keyLabel(world.keys.owner));
    await page.reload();
    await list();
    expect(await credential()).toBe(`Key …${world.keys.owner.slice(-4)}`);
  });

  test('cannot be opened within half a second, or by a double click that began elsewhere', async () => {
    await enterList();
    const stored = await storedSession(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    await withinThePage(await ofTulip());
    await expectQuestion(keyLabel(world.keys.owner));
    const opener = button('Open the link');
    await opener.click({ force: true });
    await page.clock.runFor(450);
    await opener.click({ force: true });
    await page.clock.runFor(100);
    await opener.dispatchEvent('click', { detail: 2 });
    await expectQuestion(keyLabel(world.keys.owner));
    expect(await storedSession(page)).toEqual(stored);
    await opener.click();
    await page.locator('.key', { hasText: 'Link' }).waitFor();
    await page.clock.resume();
    await tulip();
  });

  test('is replaced by the next link, which asks again', async () => {
    await enterList();
    const [first, second] = [await world.newCode({ role: 'read' }), await ofTulip()];
    await withinThePage(first);
    await expectQuestion(keyLabel(world.keys.owner));
    await withinThePage(second);
    await expectQuestion(keyLabel(world.keys.owner));
    await pressOpen();
    await tulip();
    expect(await statusOfCode(first)).toBe(200);
  });

  test.each([
    ['“Stay signed in” reports the expiry', () => button('Stay signed in').click(), () => expectText(OVER)],
    ['“Open the link” opens it', () => pressOpen(), () => tulip()],
  ])('still asks after the session has expired, and %s', async (_, answer, outcome) => {
    page = await world.enter('#/', world.keys.owner, { lasts: 60_000 });
    await list();
    await withinThePage(await ofTulip());
    await expectQuestion(keyLabel(world.keys.owner));
    await page.clock.fastForward(61_000);
    await expectQuestion(keyLabel(world.keys.owner));
    await answer();
    await outcome();
  });

  test('opens immediately if the session has already expired', async () => {
    page = await world.enter('#/', world.keys.owner, { lasts: -1 });
    await expectText(OVER);
    await fromAnotherSite(await ofTulip());
    await tulip();
    expect(await storedSession(page)).toMatchObject({ tail: null });
  });

  test('asks for confirmation even without sessionStorage, and opening it ends the earlier session', async () => {
    await signInWithoutStorage();
    await withinThePage(await ofTulip());
    await button('Stay signed in').click();
    await list();
    await withinThePage(await ofTulip());
    const ended = ending();
    await pressOpen();
    await tulip();
    expect((await ended).status()).toBe(200);
  });
});

describe.skipIf(!hasFullChromium)('a page restored from the back-forward cache', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchFullChromium(['--disable-back-forward-cache']);
  });
  afterAll(() => browser?.close());

  /** Leaves the page and returns. Expects the cached page to show nothing before it reloads. */
  async function expectEmptyWhenRestored(page: Page): Promise<void> {
    // Records the text in sessionStorage, because the browser can lose a log line that is written during the restore.
    await page.evaluate(`addEventListener('pageshow', ({ persisted }) => {
      if (persisted) sessionStorage.restored = 'text: ' + document.body.innerText.trim();
    }, true)`);
    await page.goto(world.url);
    await page.evaluate('history.back()');
    await eventually(() => page.evaluate('sessionStorage.restored').catch(() => null)).toBe('text: ');
  }

  test('shows nothing of its earlier content, and continues the tab’s session', async () => {
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
    ['was typed', []],
    ['was being submitted', ['Enter']],
  ])('does not contain an API key that %s', async (_, keys) => {
    const page = await browser.newPage();
    await page.goto(`${world.url}/owner`);
    await page.getByLabel('API key').fill(world.keys.owner);
    for (const key of keys) await page.keyboard.press(key);
    await expectEmptyWhenRestored(page);
    await page.getByLabel('API key').or(button('Sign out', page)).waitFor();
    expect(await readable(page)).not.toContain(world.keys.owner);
    await page.close();
  });

  test('does not sign the user back in after sign-out', async () => {
    const page = await browser.newPage();
    await page.goto(`${world.url}/owner#/${world.tulip.id}`);
    await signIn(page, world.keys.owner);
    await tulip(page);
    await page.goto(world.url);
    await page.goto(`${world.url}/owner`);
    await list(page);
    await button('Sign out', page).click();
    await expectText(SIGNED_OUT, page);
    await page.evaluate('history.go(-2)');
    await page.getByLabel('API key').waitFor();
    await page.waitForURL(`${world.url}/owner#/${world.tulip.id}`);
    const shown = await page.locator('body').innerText();
    for (const word of ['Tulip', world.tulip.token, world.keys.owner.slice(-4)]) expect(shown).not.toContain(word);
    await page.close();
  });
});

test('no file in the browser profile contains an API key, and no referrer contains a secret', async () => {
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
  await expectText(SPENT, other);
  // Types a key without sending it.
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
  // Proves that the search works: it finds the URL, and the session of a tab that was never signed out.
  expect(holding(`${origin}/owner`)).not.toEqual([]);
  expect(holding(session ?? '')).not.toEqual([]);
  expect(holding(key)).toEqual([]);
  for (const code of [used, late]) expect(await statusOfCode(code)).toBe(401);

  const sent = passed.map(({ path, headers }) => JSON.stringify([path, headers.referer]));
  for (const secret of [key, used, late, session ?? '']) expect(sent.join('\n')).not.toContain(secret);
  expect(sent.length).toBeGreaterThan(20);
});
