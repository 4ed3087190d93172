// Console sessions at /owner: how they start with a key or a link, how they continue across reloads and tabs, how they end, and what the
// browser stores.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../node/state.ts';
import { eventually, hasFullChromium, launchProfile, launchWithCache } from './chromium.ts';
import { consoleOfFile, signIn, storedSession } from './console.ts';
import { continueRequest, failWith, stepsOn, withServiceClock } from './steps.ts';

const world = consoleOfFile();
let page: Page;

const HOUR_MS = 3_600_000;
const { hold } = stepsOn(() => page);
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

const BACK = 'Open the console again from where you got this link.';
const SPENT = `This link has expired or has already been used. ${BACK}`;
const OVER = 'Your session has expired. Sign in again.';
const ENDED = 'You have been signed out. This session was ended in another tab or by the service. Sign in again.';
const SIGNED_OUT = 'You are signed out.';

describe('a session from a key', () => {
  test('replaces the key, which is sent once, not stored, and not in the page’s heap', async () => {
    const key = world.keys.owner;
    page = await world.visit();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.headers().authorization === `Bearer ${key}`)
        sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
    await page.keyboard.insertText(key); // not `fill`, whose script would leave a copy of the key
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await tulip();
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
    expect([await heapContains(stored?.key ?? ''), await heapContains(key)]).toEqual([true, false]);
    await page.reload();
    await tulip();
    expect(await storedSession(page)).toEqual(stored);
    expect(sent).toEqual(['POST /api/v1/session']);
  });

  test('ends at sign-out in the service, even if the tab closes, and leaves nothing in the tab', async () => {
    await enterTulip();
    const key = (await storedSession(page))?.key;
    const isKeepalive = page.evaluate(`new Promise((resolve) => {
      const ask = fetch;
      window.fetch = (url, init) => {
        if (init.method === 'DELETE') resolve(init.keepalive);
        return ask(url, init);
      };
    })`);
    const ended = ending();
    await button('Sign out').click();
    await expectText(SIGNED_OUT);
    expect([await isKeepalive, (await ended).status(), await statusOf(key)]).toEqual([true, 200, 401]);
    expect(page.url()).toBe(`${world.url}/owner`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await readable()).not.toMatch(new RegExp(`Tulip|${key}|${world.keys.owner}`));
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('is removed from the tab at sign-out even if the request fails, and a notice says when it expires', async () => {
    await enterList();
    const stored = await storedSession(page);
    const held = await hold('DELETE');
    await button('Sign out').click();
    await expectText(SIGNED_OUT);
    expect(await storedSession(page)).toBeNull();
    held.release(failWith(503, 'Service Unavailable'));
    await expectText(
      `You are signed out here, but the service could not be reached: the session expires at ${clock(stored?.endsAt ?? 0)}.`,
    );
    expect(await statusOf(stored?.key)).toBe(200);
  });

  test('ends in the tab at the next request after it was ended elsewhere', async () => {
    await enterList();
    const headers = { Authorization: `Bearer ${(await storedSession(page))?.key}` };
    expect((await fetch(`${world.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await expectText(ENDED);
    expect(await storedSession(page)).toBeNull();
    expect(await readable()).not.toContain('Tulip');
    await signIn(page, world.keys.owner); // the URL is unchanged
    await tulip();
  });

  test('shows a warning five minutes before it expires, and at expiry removes all views and typed text', async () => {
    page = await world.enter(`#/${world.tulip.id}/domains`, world.keys.owner, { lasts: HOUR_MS });
    const { endsAt = 0 } = (await storedSession(page)) ?? {};
    const field = page.getByLabel('Add one or more domains');
    await field.fill('half.a.na');
    await page.clock.runFor(HOUR_MS - 6 * 60_000);
    expect(await page.locator('.near-end [role=status]:empty').count()).toBe(1); // screen readers announce what is put into it
    await page.clock.runFor(60_000);
    await expectText(`Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, sign in again.`);
    expect(await field.inputValue()).toBe('half.a.na');
    await button('Hide').click();
    await page.clock.runFor(60_000);
    expect(await page.locator('.near-end [role=status]:empty').count()).toBe(1);
    await field.focus();
    await page.clock.runFor(4 * 60_000);
    await expectText(OVER);
    await page.keyboard.type('me.example'); // must not go into the field for the key
    expect(await page.getByLabel('API key').inputValue()).toBe('');
    expect(await readable()).not.toMatch(/Tulip|half|me\.example/);
    expect(await storedSession(page)).toBeNull();
    expect(await page.title()).toBe('Sign in · Business Usage and Access');
  });

  test('expires within seconds when the computer wakes up after the expiry time', async () => {
    await enterTulip();
    await page.clock.pauseAt(Date.now() + 60_000); // stops all timers
    await page.clock.setSystemTime(Date.now() + 13 * HOUR_MS);
    await page.clock.runFor(5000);
    await expectText(OVER);
    expect(await readable()).not.toContain('Tulip');
  });

  test('expires without a request when the browser restores the tab after the expiry time, and a link then opens', async () => {
    const paths: string[] = [];
    page = await world.enter('#/', world.keys.owner, {
      lasts: -1,
      before: async (of) => of.on('request', (request) => paths.push(new URL(request.url()).pathname)),
    });
    await expectText(OVER);
    expect(paths.filter((path) => path.startsWith('/api/'))).toEqual([]);
    expect(await storedSession(page)).toBeNull();
    await fromAnotherSite(await ofTulip());
    await tulip();
  });

  test('works without sessionStorage, and a link still asks before it replaces the session', async () => {
    page = await world.visit();
    const refuse = `get() { throw new DOMException('no', 'SecurityError'); }`;
    await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', { ${refuse} })`);
    await page.reload();
    await signIn(page, world.keys.owner);
    await list();
    await withinThePage(await ofTulip());
    await button('Stay signed in').click();
    await list();
    await withinThePage(await ofTulip());
    const ended = ending();
    await pressOpen();
    await tulip();
    expect((await ended).status()).toBe(200);
    await button('Sign out').click();
    await expectText(`${SIGNED_OUT} ${BACK}`);
  });
});

describe('a console link', () => {
  test('signs the user in once, and leaves its code neither in the page nor in the URL', async () => {
    page = await world.visit();
    const code = await world.newCode({ role: 'read', business_id: world.tulip.id });
    const addresses = new Set<string>();
    await page.route(/\/api\//, async (route) => {
      addresses.add(page.url().replace(/\d+$/, 'ID'));
      await route.continue();
    });
    await page.goto('about:blank');
    await page.goto(`${world.url}/owner${link(code)}`);
    await tulip(); // a link for one business opens it
    expect([...addresses]).toEqual([`${world.url}/owner`, `${world.url}/owner#/ID`]);
    expect(page.url()).toBe(`${world.url}/owner#/${world.tulip.id}`);
    const stored = await storedSession(page);
    expect(stored).toMatchObject({ readOnly: true, tail: null });
    expect(await credential()).toBe(`Link …${stored?.key.slice(-4)}`);
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
    await tulip();
    await page.getByText('Read-only', { exact: true }).waitFor();
    await page.evaluate(`location.hash = '#/${world.quiet.id}'`);
    await expectText(`Business ${world.quiet.id} does not exist, or you do not have access to it.`);
  });

  test('is rejected if its code is expired, missing or malformed', async () => {
    page = await world.visit();
    for (const code of [world.lateCode, '', '%00<script>"ü']) {
      const answered = page.waitForResponse(/\/session$/);
      await page.evaluate(`location.hash = ${JSON.stringify(link(code))}`);
      expect((await answered).status(), code).toBe(401);
      await expectText(SPENT);
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    }
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('notice warning');
  });

  test('replaces an earlier link that is still being opened, and the earlier link’s session ends', async () => {
    page = await world.visit();
    const [first, second] = [await world.newCode(), await ofTulip()];
    let late = '';
    const released = Promise.withResolvers<void>();
    await page.route(/\/session$/, async (route) => {
      if (!route.request().postData()?.includes(first)) return route.continue();
      const response = await route.fetch();
      late = (await response.json()).data.session_key;
      await released.promise;
      await route.fulfill({ response });
    });
    const ended = ending();
    await withinThePage(first);
    await eventually(() => late).not.toBe('');
    await withinThePage(second);
    await tulip();
    released.resolve();
    expect((await ended).status()).toBe(200);
    expect(await statusOf(late)).toBe(401);
    expect(await statusOf((await storedSession(page))?.key)).toBe(200);
    await tulip();
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
        `${words} A link works once, within 2 minutes. After that, open the console again from where you got this link.`,
      );
      expect(await readable()).not.toContain(code);
      expect(tries).toBe(index + 1);
      fail = next;
      await button('Try again').click();
    }
    await list();
    expect(tries).toBe(4);
  });

  test('starts a session of the full length on a computer whose clock is wrong, and explains after it how to return', async () => {
    page = await world.visit();
    await page.clock.install({ time: Date.now() + HOUR_MS });
    await withServiceClock(page);
    await page.goto('about:blank');
    await page.goto(`${world.url}/owner${link(await world.newCode({ minutes: 1 }))}`);
    await list();
    const endsAt = (await storedSession(page))?.endsAt ?? 0;
    await expectText(
      `Your session ends at ${clock(endsAt)}. Unsaved text will be lost. To continue, ${BACK.replace('Open', 'open')}`,
    );
    await page.clock.fastForward(62_000); // the Date header is in whole seconds
    await expectText(`Your session has expired. ${BACK}`);
    expect(await readable()).not.toContain('Tulip');
    expect(await page.getByLabel('API key').count()).toBe(0);
  });
});

describe('a console link in a tab with a session', () => {
  test.each([
    ['from another site', fromAnotherSite],
    ['within the page', withinThePage],
  ])('opened %s changes nothing until the user agrees, and then the earlier session ends', async (_, openLink) => {
    await enterTulip();
    const stored = await storedSession(page);
    const code = await ofTulip();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) sent.push(request.url());
    });
    await openLink(code);
    await expectQuestion(keyLabel(world.keys.owner));
    await eventually(() => page.evaluate('document.activeElement.innerText')).toBe('Stay signed in');
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

    const next = await ofTulip();
    await openLink(next);
    const ended = ending();
    await pressOpen();
    await page.locator('.key', { hasText: 'Link' }).waitFor();
    expect((await ended).status()).toBe(200);
    expect(await statusOf(stored?.key)).toBe(401);
    expect(await statusOf((await storedSession(page))?.key)).toBe(200);
    expect(await readable()).not.toContain(next);
    await tulip();
  });

  test('that fails keeps the earlier session, hidden until the user chooses it', async () => {
    page = await world.visit(link(await world.newCode()));
    await list();
    const tail = (await storedSession(page))?.key.slice(-4); // as in the list of changes
    await withinThePage(world.lateCode);
    await expectQuestion(`link …${tail}`);
    await pressOpen();
    await expectText(SPENT);
    expect(await page.locator('body').innerText()).not.toContain('Tulip');
    await button(`Keep the earlier session (link …${tail})`).click();
    await list();
    expect(await credential()).toBe(`Link …${tail}`);
  });

  test('cannot be opened within half a second, by a double click that began elsewhere, or by agreeing to an earlier link', async () => {
    await enterList();
    const stored = await storedSession(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    const first = await world.newCode({ role: 'read' });
    const opener = button('Open the link');
    for (const code of [first, await ofTulip()]) {
      await withinThePage(code);
      await eventually(() => opener.getAttribute('aria-disabled')).toBe('true');
      await opener.click({ force: true });
      await page.clock.runFor(450);
      await opener.click({ force: true });
      await page.clock.runFor(100);
      await opener.dispatchEvent('click', { detail: 2 });
      await expectQuestion(keyLabel(world.keys.owner));
      expect(await storedSession(page)).toEqual(stored);
    }
    await opener.click();
    await page.locator('.key', { hasText: 'Link' }).waitFor();
    await page.clock.resume();
    await tulip();
    expect(await statusOfCode(first)).toBe(200);
  });
});

test.runIf(hasFullChromium)(
  'a page restored from the back-forward cache shows nothing before it continues the tab’s session',
  async () => {
    const browser = await launchWithCache();
    onTestFinished(() => browser.close());
    page = await browser.newPage();
    await page.goto(`${world.url}/owner#/${world.tulip.id}`);
    await signIn(page, world.keys.owner);
    await tulip();
    // Records the text in sessionStorage, because the browser can lose a log line that is written during the restore.
    await page.evaluate(`addEventListener('pageshow', ({ persisted }) => {
    if (persisted) sessionStorage.restored = 'text: ' + document.body.innerText.trim();
  }, true)`);
    await page.goto(world.url);
    await page.evaluate('history.back()');
    await eventually(() => page.evaluate('sessionStorage.restored').catch(() => null)).toBe('text: ');
    await tulip();
    expect(page.url()).toBe(`${world.url}/owner#/${world.tulip.id}`);
  },
);

test('no file in the browser profile contains an API key', async () => {
  const key = world.keys.owner;
  const folder = newFolder();
  const context = await launchProfile(folder);
  const tab = await context.newPage();
  await tab.goto(`${world.url}/owner`);
  await signIn(tab, key);
  await tab.getByRole('link', { name: 'Tulip Shop' }).click();
  await tulip(tab);
  const { key: session = '' } = (await storedSession(tab)) ?? {};
  const other = await context.newPage();
  await other.goto(`${world.url}/owner`);
  await other.getByLabel('API key').fill(key); // typed, but not sent
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
  expect(holding(`${world.url}/owner`)).not.toEqual([]);
  expect(holding(session)).not.toEqual([]);
  expect(holding(key)).toEqual([]);
});
