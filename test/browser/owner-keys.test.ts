// The view Access of the console: owners list, create and revoke API keys, if their console link allows it.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/core/time.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, expectWhole, storedSession } from './console.ts';
import { keyboardOn } from './keyboard.ts';
import { loseResponse, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, hold } = stepsOn(() => page);

const READ = 'Create read-only key…';
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const days = (count: number) => addDays(dayOf(new Date()), count);
const view = () => page.getByRole('link', { name: 'Access', exact: true });
const name = () => page.getByRole('textbox', { name: 'Name' });
const expiry = () => page.getByLabel('Last day (UTC)', { exact: true });
const newKey = () => page.locator('.new-key code').innerText();
/** Returns the texts of the cells of a table of keys. */
const rows = (label = 'API keys') =>
  page.evaluate<string[][]>(
    `Array.from(document.querySelectorAll('[aria-label="${label}"] tbody tr'), (row) => Array.from(row.cells, (cell) => cell.innerText))`,
  );
const names = async () => (await rows()).map(([name]) => name?.split(' ')[0]);
const statusOf = async (key: string, method: string, path: string, body?: object) => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return (await fetch(`${world.url}/api/v1/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }))
    .status;
};
const focused = () => page.evaluate<string>('document.activeElement.innerText');

let users = 1500;
/** Creates a user with two businesses, and opens the view with a console link. */
async function open(link: object = {}) {
  const user = users++;
  const fields = { user_id: user, main_domain: 'rose.example', site: 'https://rose.example', country_id: 1 };
  const shop = (name: string) =>
    world.operate<{ id: number }>('POST', 'business', { ...fields, name, business_size: 'small' });
  const [rose, fern] = [await shop('Rose Shop'), await shop('Fern Shop')];
  page = await world.visit(`#code=${await world.newCode({ can_create_keys: true, as: 'Anna', ...link }, user)}`);
  await view().click();
  await page.getByRole('heading', { name: 'Access', level: 1 }).waitFor();
  return { user, rose, fern, session: (await storedSession(page))?.key ?? '' };
}
async function submit(opener: string, named: string): Promise<void> {
  await button(opener).click();
  await name().fill(named);
  await button(opener.replace('…', '')).click();
}

describe('in a session whose link can create keys', () => {
  test('creates a read-only key for one business, shows it once, and copies it', async () => {
    const { rose, fern } = await open();
    await page.getByText('No key works.').waitFor();
    await button(READ).click();
    await name().fill('   ');
    for (const [last, words] of [
      [days(30), 'Enter a name that will help you recognize this key later.'],
      ['', 'Choose a last day from today to 366 days from now.'],
      [days(-2), 'Choose a last day from today to 366 days from now.'],
      [days(368), 'Choose a last day from today to 366 days from now.'],
    ] as const) {
      await expiry().fill(last);
      await button('Create read-only key').click();
      await dialog().getByText(words).waitFor();
      await name().fill('Agency');
    }
    await page.getByLabel('Business').selectOption(`Rose Shop (ID ${rose.id})`);
    await expiry().fill(days(90));
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 900 });
    await expectWhole(page);
    await button('Create read-only key').click();
    await eventually(focused).toBe('The new key “Agency”');
    await expectWhole(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    const key = await newKey();
    await page
      .getByText('Anyone with this key can read the usage, limits, domains and changes of “Rose Shop”')
      .waitFor();
    await button('Copy the key').click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    const last = DAY.format(new Date(days(90)));
    await eventually(rows).toEqual([
      [`Agency …${key.slice(-4)}`, 'Read only', 'Rose Shop', 'Never', last, 'You', 'Revoke…'],
    ]);
    await expectAccessible(page);
    expect(await statusOf(key, 'GET', `business/${rose.id}`)).toBe(200);
    expect(await statusOf(key, 'GET', `business/${fern.id}`)).toBe(401);
    expect(await statusOf(key, 'POST', `business/usage/${rose.id}`)).toBe(403);
    await page.reload();
    await eventually(rows).toMatchObject([{ 2: 'Rose Shop', 3: DAY.format(new Date()) }]);
    expect(await page.content()).not.toContain(key);
  });

  test('creates a record-only key with a label, for one business', async () => {
    const { rose } = await open();
    await button('Create record-only key…').click();
    const label = page.getByRole('textbox', { name: 'Label (optional)' });
    await name().fill('Server');
    expect(await label.count()).toBe(0);
    await page.getByLabel('Business').selectOption(`Rose Shop (ID ${rose.id})`);
    await label.fill(' web');
    await button('Create record-only key').click();
    await dialog().getByText('A label has 1 to 64 letters, digits or signs of ASCII').waitFor();
    await label.fill('web-1');
    await expectAccessible(page);
    await button('Create record-only key').click();
    await eventually(async () => (await rows())[0]?.[2]?.replaceAll(/\s+/g, ' ')).toBe('Rose Shop Label: web-1');
    const key = await newKey();
    expect(await statusOf(key, 'POST', `business/usage/${rose.id}`)).toBe(200);
    const path = `business/usage/${rose.id}?by=source`;
    const { sources } = await world.operate<{ sources: { source: string }[] }>('GET', path);
    expect(sources.map(({ source }) => source)).toEqual(['web-1']);
  });

  test('says why the service refuses a 21st key', async () => {
    const { user, session } = await open();
    const body = { role: 'read', name: 'Agency', expires_on: days(30) };
    for (let made = 0; made < 20; made++) expect(await statusOf(session, 'POST', `user/${user}/keys`, body)).toBe(200);
    await submit(READ, 'Late');
    await dialog().getByText('Keys must not exceed 20 working keys: revoke one first.').waitFor();
  });

  test('revokes a key with those that it created, after naming them, and folds them away', async () => {
    const { user, rose } = await open();
    const maker = await world.operate<{ api_key: string }>('POST', `user/${user}/keys`, { name: 'Server' });
    const tail = `…${maker.api_key.slice(-4)}`;
    for (const one of ['One', 'Two'])
      await statusOf(maker.api_key, 'POST', `user/${user}/keys`, { role: 'read', name: one });
    (await hold('POST', /keys$/)).release(loseResponse);
    await submit(READ, 'Lost');
    await dialog().getByText('If the list shows a new key, revoke it').waitFor();
    await button('Cancel').click();
    await eventually(names).toEqual(['Lost', 'Two', 'One', 'Server']);
    expect((await rows()).map((cells) => cells[5])).toEqual([
      'You',
      ...Array(2).fill(`Server ${tail}`),
      expect.stringMatching(/^operator …/),
    ]);
    await button(`Revoke Server (${tail})…`).click();
    await dialog().getByText(`Programs that use the key ${tail} stop working with the next request.`).waitFor();
    await dialog().getByText('This also revokes 2 keys that it created: Two, One.').waitFor();
    await dialog().getByText('Console sessions that these keys started end too.').waitFor();
    await button('Revoke the key').click();
    await done('The key “Server” no longer works.');
    await eventually(names).toEqual(['Lost']);
    await eventually(focused).toBe(READ);
    expect(await statusOf(maker.api_key, 'GET', `business/${rose.id}`)).toBe(401);
    await page.getByText('No longer working (3)').click();
    await eventually(async () => (await rows('API keys that no longer work')).map((cells) => cells[4])).toEqual(
      Array(3).fill(`Revoked ${DAY.format(new Date())}`),
    );
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectWhole(page);
      await expectAccessible(page);
    }
  });

  test('creates a record-only key for all businesses, hides and revokes it, by keyboard alone', async () => {
    const { rose } = await open();
    const { goTo, press, type } = keyboardOn(page);
    const enter = async (opener: RegExp) => {
      await goTo(opener);
      await press('Enter');
    };
    await enter(/^Create record-only/);
    await dialog().waitFor();
    await type('Till');
    await press('Enter');
    await eventually(focused).toBe('The new key “Till”');
    await page.getByText('Programs with this key can record uses of all your businesses').waitFor();
    const key = await newKey();
    expect(await statusOf(key, 'POST', `business/usage/${rose.id}`)).toBe(200);
    expect(await statusOf(key, 'GET', 'business')).toBe(403);
    await enter(/^Hide the key/);
    await eventually(focused).toBe(READ);
    expect(await page.content()).not.toContain(key);
    await eventually(rows).toMatchObject([{ 1: 'Record uses and read usage only', 2: 'All businesses' }]);
    await enter(/^Revoke Till/);
    await dialog().waitFor();
    await enter(/^Revoke the key/);
    await done('The key “Till” no longer works.');
    await eventually(focused).toBe(READ);
    await eventually(rows).toEqual([]);
  });
});

test.each([
  [{ can_create_keys: false, return_url: 'https://product.example/x' }, 'product.example'],
  [{ can_create_keys: false, role: 'read' }, 'the person who gave you access to this console'],
])('in a session of a link with %j, the view says whom to ask: %s', async (link, whom) => {
  await open(link);
  await page.getByText(`To give someone access, ask ${whom}.`).waitFor();
  expect(await page.locator('main').getByRole('button').count()).toBe(0);
  expect(await view().getAttribute('aria-current')).toBe('page');
  await expectAccessible(page);
});

test('in a session that an API key started, the view names the service operator, as the sign-in page does', async () => {
  page = await world.enter('#/keys', world.keys.owner);
  await page.getByText('To give someone access, ask the service operator.').waitFor();
});
