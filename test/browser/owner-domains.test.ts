// The Domains view of a business in the console: adding, removing and testing domains, and refused origins. No row moves under the pointer,
// and no press takes effect twice.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Spare } from './console.ts';
import { continueRequest, failWith, goTo, loseResponse, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, hold, shownSites, centerOf, clickAt } = stepsOn(() => page);

const A = 'https://a.example';
const B = 'https://b.example';
const C = 'https://c.example';
const field = () => page.getByLabel('Add one or more domains');
const tried = () => page.getByLabel('Would this origin pass?');
/** Creates a business with these sites, and opens its Domains view. */
async function open(...sites: string[]): Promise<Spare> {
  const business = await world.spare(...sites);
  page = await openTab(world, business, 'domains');
  return business;
}
/** Creates a business with these sites and refused origins, and opens its Domains view. */
async function openRefused(sites: string[], ...origins: string[]): Promise<Spare> {
  const business = await world.spare(...sites);
  await world.refuse(business, ...origins);
  page = await openTab(world, business, 'domains');
  return business;
}
async function enter(text: string, into = field()): Promise<void> {
  await into.fill(text);
  await page.keyboard.press('Enter');
}
const verdict = () => page.locator('.verdict');
const undo = (site: string) => button(`Undo: add ${site} again`);
/** Returns the label of the focused element. Falls back to its ID, then to its text. */
const focused = () =>
  page.evaluate<string>(
    'document.activeElement.getAttribute("aria-label") || document.activeElement.id || document.activeElement.textContent',
  );
/** Returns the vertical positions of the refused origins in their list, and the height of the list. */
const tops = () =>
  page.evaluate<number[]>(`(() => {
    const rows = document.querySelector('.refused .rows');
    const { top, height } = rows.getBoundingClientRect();
    return [...Array.from(rows.children, (row) => row.getBoundingClientRect().top - top), height].map(Math.round);
  })()`);
/** Waits until no request is pending. */
const settled = () => page.locator('.refresh [aria-disabled]').waitFor({ state: 'detached' });

describe('removing a domain', () => {
  test('keeps its row in position: a double click removes one domain, and a later click at the same point is “Undo”', async () => {
    const business = await open(A, B, C);
    const point = await centerOf(`Remove ${A}`);
    await page.mouse.dblclick(...point);
    await undo(A).waitFor();
    expect(await page.locator('.removed .state').allInnerTexts()).toEqual(['Removed']);
    await eventually(focused).toBe(`Undo: add ${A} again`);
    expect(await business.sites()).toEqual([B, C]);
    await clickAt(point);
    await button(`Remove ${A}`).waitFor();
    expect(await shownSites()).toEqual([A, B, C]);
    await eventually(focused).toBe(`Remove ${A}`);
    expect((await business.sites()).sort()).toEqual([A, B, C]);
  });

  test.each([
    [failWith(503, 'Service Unavailable'), 'The service cannot reach its database right now.', true],
    [loseResponse, 'The change may have been made anyway', false],
  ])(
    'reports a failure in the domain’s row, and shows which domains are registered now',
    async (answer, words, isRegistered) => {
      await open(A, B);
      const held = await hold('DELETE');
      held.release(answer);
      await button(`Remove ${A}`).click();
      await page.locator('.item', { hasText: A }).getByText(words).waitFor();
      const label = isRegistered ? `Remove ${A}` : `Undo: add ${A} again`;
      await button(label).waitFor();
      expect(await shownSites()).toEqual(isRegistered ? [A, B] : [B]);
      await eventually(focused).toBe(label);
    },
  );

  test('in another session is shown in place after a refresh, and removing a domain that is already removed says so', async () => {
    const business = await open(A, B);
    const { access_list } = await business.stored();
    await world.call('DELETE', `${business.id}/access/${access_list[0]?.id}`);
    await world.call('POST', `${business.id}/access`, { sites: [C] });
    await button(`Remove ${A}`).focus();
    await button('Refresh').dispatchEvent('click');
    await page.locator('.box code', { hasText: C }).waitFor();
    expect(await shownSites()).toEqual([B, C]);
    expect(await page.locator('.removed').innerText()).toContain('Removed');
    expect(await focused()).toBe(`Undo: add ${A} again`);
    await world.call('DELETE', `${business.id}/access/${access_list[1]?.id}`);
    await button(`Remove ${B}`).click();
    await page.getByText('It has already been removed.').waitFor();
    await undo(B).waitFor();
  });
});

test('one “Undo” restores all domains after “Remove all domains”, even if the first response was lost', async () => {
  const business = await open(A, B, C);
  await button('Remove all domains…').click();
  await dialog().getByText('It removes 3 domains').waitFor();
  await page.route(/\/access$/, loseResponse, { times: 1 });
  await button('Let the token work everywhere').click();
  await dialog().getByText('The change may have been made anyway').waitFor();
  await dialog().getByText('No registered domains are left.').waitFor();
  await button('Let the token work everywhere').click();
  await done('Removed. The token now works on every site.');
  expect(await business.sites()).toEqual([]);
  expect(await page.locator('.removed').count()).toBe(3);
  await eventually(focused).toBe('Undo: add 3 domains again');
  const held = await hold('POST');
  held.release(continueRequest);
  await page.keyboard.press('Enter');
  await button('Remove all domains…').waitFor();
  expect(held.calls).toBe(1);
  expect(await shownSites()).toEqual([A, B, C]);
  await eventually(focused).toBe('Remove all domains…');
  expect(await business.sites()).toEqual([A, B, C]);
});

describe('adding domains', () => {
  test('adds https://, warns before the first domain, and asks for confirmation if “Undo” would remove the last', async () => {
    const business = await open();
    await page.getByText('Before you add the first domain:').waitFor();
    expect(await page.getByText('Servers that use the token stop working immediately').isVisible()).toBe(true);
    await enter('shop.example/cart');
    await done('Added https://shop.example.');
    expect(await business.sites()).toEqual(['https://shop.example']);
    expect(await page.getByText('Before you add the first domain:').count()).toBe(0);
    expect(await field().inputValue()).toBe('');
    await eventually(focused).toBe('site');
    await button('Undo').click();
    await dialog().getByText('Remove the last domain?').waitFor();
    await button('Let the token work everywhere').click();
    await dialog().waitFor({ state: 'detached' });
    await undo('https://shop.example').waitFor();
    await eventually(focused).toBe('site');
    expect(await business.sites()).toEqual([]);
  });

  test('sends one request for several pasted lines, and one “Undo” removes them', async () => {
    const business = await open(A);
    const held = await hold('POST');
    held.release(continueRequest);
    await page.evaluate(`navigator.clipboard.writeText('b.example\\r\\nc.example, localhost:5173;\\nc.example\\n')`);
    await field().focus();
    await page.keyboard.press('Control+v');
    expect(await field().inputValue()).toBe('b.example c.example, localhost:5173; c.example');
    await page.keyboard.press('Enter');
    await done(`Added 3 domains: ${B}, ${C}, http://localhost:5173.`);
    expect(held.calls).toBe(1);
    expect(await business.sites()).toEqual([A, B, C, 'http://localhost:5173']);
    await button('Undo').click();
    await undo('http://localhost:5173').waitFor();
    await eventually(focused).toBe('site');
    expect(await business.sites()).toEqual([A]);
  });

  test('adds nothing if the page or the service rejects any domain, and explains how to correct each one', async () => {
    const business = await open(A);
    const held = await hold('POST');
    const problem = page.locator('#site-problem');
    // Screen readers announce a change only if the live region existed before it.
    const region = await problem.and(page.getByRole('alert', { includeHidden: true })).elementHandle();
    await enter('b.example, ftp://shop.example sh');
    await problem.getByText('Nothing was added:').waitFor();
    expect(await problem.locator('.sentence').allInnerTexts()).toEqual([
      'Nothing was added:',
      'ftp://shop.example must be an http or https URL, such as https://example.com. Did you mean https://shop.example?',
      'sh needs a domain ending, as in sh.com. If it is a name on your own network, put http:// in front of it.',
    ]);
    expect(await region?.innerText()).toContain('Nothing was added:');
    expect(held.calls).toBe(0);
    await eventually(focused).toBe('site');
    await enter('');
    await page.getByText('Enter a domain, such as shop.example.').waitFor();
    held.release(continueRequest);
    await enter('b.example https://*.co.uk');
    await page.getByText('https://*.co.uk must not cover co.uk: its subdomains belong to different owners.').waitFor();
    expect(await problem.locator('.sentence').count()).toBe(2);
    expect(await field().inputValue()).toBe('b.example https://*.co.uk');
    expect(await business.sites()).toEqual([A]);
    await page.route(/\/access$/, failWith(503, 'Service Unavailable'));
    await enter('b.example');
    await problem.getByText('The service cannot reach its database right now.').waitFor();
  });

  test('says which domains are registered already, and which a wildcard covers', async () => {
    const business = await open(A, 'https://*.shop.example');
    const held = await hold('POST');
    await enter('A.example');
    await page.getByText(`Already registered: ${A}.`).waitFor();
    expect(held.calls).toBe(0);
    await eventually(focused).toBe('site');
    held.release(continueRequest);
    await enter('www.shop.example');
    await page.getByText('https://www.shop.example already passes: https://*.shop.example covers it.').waitFor();
    await done('Added https://www.shop.example.');
    expect(await business.sites()).toEqual([A, 'https://*.shop.example', 'https://www.shop.example']);
  });

  test('shows a domain only after the service confirms it, and sends one request', async () => {
    const business = await open(A);
    const held = await hold('POST');
    await enter('b.example');
    await page.keyboard.press('Enter');
    await page.locator('.add button[type=submit]').dblclick({ force: true }); // force, because it is disabled
    await field().fill('c.example'); // typed while the first request is pending
    await eventually(() => held.calls).toBe(1);
    expect(await shownSites()).toEqual([A]);
    held.release(continueRequest);
    await done('Added https://b.example.');
    expect(held.calls).toBe(1);
    expect(await field().inputValue()).toBe('c.example');
    expect(await business.sites()).toEqual([A, B]);
  });
});

test('an internationalized domain is shown in punycode and in Unicode, but only in punycode if it imitates Latin letters', async () => {
  await open('https://xn--bcher-kva.example', 'https://xn--80ak6aa92e.example');
  expect(await page.locator('.box .site').allInnerTexts()).toEqual([
    expect.stringMatching(/^https:\/\/xn--bcher-kva\.example\s*bücher\.example$/),
    'https://xn--80ak6aa92e.example', // Cyrillic letters that look like "apple"
  ]);
});

describe('a press', () => {
  test('is made once while Enter is held', async () => {
    const business = await open(A, B, C);
    await button(`Remove ${A}`).focus();
    await page.keyboard.down('Enter');
    await undo(A).waitFor();
    for (let times = 0; times < 30; times++) {
      await page.keyboard.down('Enter'); // without a release, each further press is a repeat, now on “Undo”
      await page.clock.runFor(30);
    }
    await page.keyboard.up('Enter');
    expect(await focused()).toBe(`Undo: add ${A} again`);
    expect(await business.sites()).toEqual([B, C]);
  });

  test.each([
    ['POST', 'Add', () => field().fill('d.example')],
    ['DELETE', `Remove ${A}`, async () => {}],
    ['DELETE', 'Let the token work everywhere', () => button('Remove all domains…').click()],
  ])('sends one %s while the response is late, and shows no result in another view', async (method, name, reach) => {
    const { id } = await open(A, B);
    await reach();
    const held = await hold(method);
    const at = await centerOf(name);
    for (let times = 0; times < 3; times++) await clickAt(at);
    await page.keyboard.press('Enter');
    await eventually(() => held.calls).toBe(1);
    expect(await shownSites()).toEqual([A, B]);
    await page.evaluate(`location.hash = '#/${id}/changes'`);
    const headings = () => page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts();
    await eventually(headings).toEqual(['Changes']);
    const answered = page.waitForResponse((answer) => answer.request().method() === method);
    held.release(continueRequest);
    await (await answered).finished();
    await settled();
    expect(await headings()).toEqual(['Changes']);
    expect(await dialog().count()).toBe(0);
    expect(held.calls).toBe(1);
  });
});

test('the check of an origin shows its verdict when typing stops, and offers to register the origin', async () => {
  const business = await open('https://*.tulip.example');
  await tried().pressSequentially('www.tulip.example/page', { delay: 30 });
  expect(await verdict().count()).toBe(0);
  await page.getByText('https://*.tulip.example lets https://www.tulip.example pass.').waitFor();
  await tried().fill('null');
  expect(await verdict().count()).toBe(0);
  await page.keyboard.press('Enter');
  expect(await verdict().innerText()).toContain('null is refused. Sent by a sandboxed frame');
  await tried().fill('sh');
  await page.keyboard.press('Tab');
  expect(await verdict().innerText()).toContain('https://sh is refused.');
  expect(await button(/^Register it/).count()).toBe(0);
  await enter('localhost:3000', tried());
  await button('Register it: http://localhost:3000').dblclick();
  await page.getByText('http://localhost:3000 lets http://localhost:3000 pass.').waitFor();
  await eventually(focused).toBe('origin');
  expect(await business.sites()).toEqual(['https://*.tulip.example', 'http://localhost:3000']);
});

describe('refused origins', () => {
  test('keep their positions and heights when one is added and the view is refreshed, at any width', async () => {
    const business = await openRefused(
      ['https://shop.example'],
      'https://x.shop.example',
      'https://a.shop.example',
      'https://y.shop.example',
    );
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 700 });
      const before = await tops();
      expect(before.length).toBe(4);
      const name = 'Add https://a.shop.example';
      const at = await centerOf(name);
      await page.mouse.dblclick(...at);
      await eventually(focused).toMatch(/^Undo: /);
      await button('Refresh').dispatchEvent('click');
      await settled();
      expect(await tops(), `at ${width}`).toEqual(before);
      await clickAt(at);
      await eventually(focused).toBe(name);
      expect(await business.sites()).toEqual(['https://shop.example']);
    }
  });

  test('come first, with a reason and an offer, one press for all that look like the owner’s, and a list of others', async () => {
    const business = await openRefused(
      ['https://shop.example'],
      'https://www.shop.example',
      'https://a.shop.example',
      'https://spare.example', // the business's main domain
      'https://copycat.example',
    );
    expect(await page.locator('h2').first().innerText()).toBe('Recently refused');
    await page.getByText('Anyone who has the token can make an entry appear here').waitFor();
    expect(await page.locator('.refused h3').allInnerTexts()).toEqual(['Looks like yours (3)']);
    const row = (origin: string) => page.locator('.refused .item', { hasText: origin });
    expect(await row('https://www.shop.example').locator('.reason').innerText()).toBe(
      'It begins with www., but https://shop.example is registered.',
    );
    expect(await row('https://a.shop.example').locator('small').innerText()).toContain('at least 1 time, last on ');
    await button('Add https://*.shop.example').click();
    await row('https://a.shop.example').getByText('Now passes.').waitFor();
    await eventually(focused).toBe('Undo: remove https://*.shop.example');
    expect(await business.sites()).toEqual(['https://shop.example', 'https://*.shop.example']);
    await page.keyboard.press('Enter');
    await eventually(focused).toBe('Add https://*.shop.example');
    expect(await row('https://copycat.example').isVisible()).toBe(false);
    await page.getByText('Other sites (1)').click();
    await row('https://copycat.example').getByText('Not registered.').waitFor();
    await button('Add all 3').click();
    await button('Undo: remove https://www.shop.example').waitFor();
    expect(await page.locator('.refused h3').allInnerTexts()).toEqual(['Looks like yours']);
    expect((await business.sites()).toSorted()).toEqual([
      'https://a.shop.example',
      'https://shop.example',
      'https://spare.example',
      'https://www.shop.example',
    ]);
    await eventually(focused).toBe('refused-title');
    await page.locator('.mark', { hasText: '1 refused origin' }).waitFor();
  });

  test('are forgotten only after confirmation', async () => {
    const business = await openRefused([A], 'https://x.example');
    await button('Forget all…').click();
    await button('Cancel').click();
    expect(await button('Add https://x.example').count()).toBe(1);
    await button('Forget all…').click();
    await button('Forget 1 origin').click();
    await page.getByText('No origins were refused recently.').waitFor();
    expect(await world.call('GET', `${business.id}/access/refused`)).toEqual({ refused: [], let_in: [] });
    await eventually(() => page.evaluate('document.activeElement === document.body')).toBe(false);
  });
});

test('many domains can be filtered, and the URL contains the filter', async () => {
  const business = await open(...Array.from({ length: 100 }, (_, n) => `https://s${n}.example`));
  await page.getByText('100 domains', { exact: true }).waitFor();
  await page.getByLabel('Filter').fill('s4');
  await page.getByText('11 of 100 match').waitFor();
  expect(new URL(page.url()).hash).toBe(`#/${business.id}/domains?q=s4`);
  await goTo(page, 'changes');
  await page.goBack();
  await page.getByText('11 of 100 match').waitFor();
  expect(await page.getByLabel('Filter').inputValue()).toBe('s4');
  await enter('more.example');
  await done('Added https://more.example.');
  expect(await page.getByLabel('Filter').inputValue()).toBe('');
});

test('an allowed origin whose uses a limit refuses is told from one that is not allowed', async () => {
  const business = await world.spare(A);
  await world.operate('PATCH', `business/${business.id}`, { daily_limit: 0 });
  page = await openTab(world, business, 'domains');
  await enter(A, tried());
  await page.getByText('Origin allowed, but a limit is reached: its uses are refused.').waitFor();
  await world.operate('PATCH', `business/${business.id}`, { overage: 1, page_overage: true });
  await button('Refresh').click();
  await page.getByText('Origin allowed').waitFor({ state: 'detached' });
  await button(`Remove ${A}`).click();
  await button('Let the token work everywhere').click();
  await page.getByText('Origin allowed, but a limit is reached: its uses are refused.').waitFor(); // no reachable site
});

test('no origin passes for a business that is not active', async () => {
  page = await openTab(world, world.closed, 'domains', world.keys.owner);
  await page.getByText('This business is suspended: its token is refused everywhere').waitFor();
  await page.getByText('No origins were refused recently.').waitFor();
  await tried().fill('https://winter.example');
  await page.getByText('No: while the business is not active, its token is refused everywhere.').waitFor();
  expect(await button(/^Register it/).count()).toBe(0);
});
