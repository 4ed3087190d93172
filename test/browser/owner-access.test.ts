// The view Access of the console: owners list, create and revoke API keys, if their console link allows it.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/core/time.ts';
import { eventually } from './chromium.ts';
import { consoleOfFile, expectAccessible, expectFits, shoot, storedSession } from './console.ts';
import { keyboardOn } from './keyboard.ts';
import { loseResponse, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, done, hold } = stepsOn(() => page);

const READ = 'Create read-only key…';
const RECORD = 'Create record-only key…';
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
async function open(link: object = {}, user = users++) {
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
async function create(opener: string, named: string): Promise<void> {
  await submit(opener, named);
  await page.getByRole('heading', { name: `The new key “${named}”` }).waitFor();
}

describe('in a session whose link can create keys', () => {
  test('creates a read-only key for one business, shows it once, and copies it', async () => {
    const { rose, fern } = await open();
    await page.getByText('No key works.').waitFor();
    await button(READ).click();
    await name().fill('Agency');
    await page.getByLabel('Business').selectOption(`Rose Shop (ID ${rose.id})`);
    await button('3 months').click();
    const last = await expiry().inputValue();
    expect(last > days(85) && last < days(94)).toBe(true);
    await expectAccessible(page);
    await button('Create read-only key').click();
    await eventually(focused).toBe('The new key “Agency”');
    const key = await newKey();
    await page
      .getByText('Anyone with this key can read the usage, limits, domains and changes of “Rose Shop”')
      .waitFor();
    await button('Copy the key').click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await eventually(rows).toEqual([
      [`Agency …${key.slice(-4)}`, 'Read only', 'Rose Shop', 'Never', DAY.format(new Date(last)), 'You', 'Revoke…'],
    ]);
    await expectAccessible(page);
    expect(await statusOf(key, 'GET', `business/${rose.id}`)).toBe(200);
    expect(await statusOf(key, 'GET', `business/${fern.id}`)).toBe(401);
    expect(await statusOf(key, 'POST', `business/usage/${rose.id}`)).toBe(403);
    await page.reload();
    await eventually(rows).toMatchObject([{ 2: 'Rose Shop', 3: DAY.format(new Date()) }]);
    expect(await page.content()).not.toContain(key);
  });

  test('requires a name, and a last day within 366 days', async () => {
    await open();
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
    await button('1 year').click();
    await button('Create read-only key').click();
    await newKey();
  });

  test('says why the service refuses a 21st key, in the words of the console', async () => {
    const { user, session } = await open();
    const body = { role: 'read', name: 'Agency', expires_on: days(30) };
    for (let made = 0; made < 20; made++) expect(await statusOf(session, 'POST', `user/${user}/keys`, body)).toBe(200);
    await submit(READ, 'Late');
    await dialog().getByText('20 keys that you created still work, which is the maximum. Revoke one first.').waitFor();
    await button('Cancel').click();
    await page.locator('.danger-text').first().click();
    await button('Revoke the key').click();
    await done('The key “Agency” no longer works.');
    await eventually(async () => (await rows()).length).toBe(19);
    await submit(READ, 'Late');
    await dialog().getByText('You created 20 keys today, which is the maximum.').waitFor();
  });

  test('revokes a key with those that it created, after naming them, and folds them away', async () => {
    const { user, rose } = await open();
    const maker = await world.operate<{ api_key: string }>('POST', `user/${user}/keys`, { name: 'Server' });
    const tail = `…${maker.api_key.slice(-4)}`;
    for (const one of ['One', 'Two'])
      await statusOf(maker.api_key, 'POST', `user/${user}/keys`, { role: 'read', name: one });
    await create(READ, 'Kept');
    await eventually(names).toEqual(['Kept', 'Two', 'One', 'Server']);
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
    await eventually(names).toEqual(['Kept']);
    await eventually(focused).toBe(READ);
    expect(await statusOf(maker.api_key, 'GET', `business/${rose.id}`)).toBe(401);
    await page.getByText('No longer working (3)').click();
    await eventually(async () => (await rows('API keys that no longer work')).map((cells) => cells[4])).toEqual(
      Array(3).fill(`Revoked ${DAY.format(new Date())}`),
    );
  });

  test('lists a key whose creation lost its response, and advises to revoke it', async () => {
    await open();
    (await hold('POST', /keys$/)).release(loseResponse);
    await submit(READ, 'Lost');
    await dialog().getByText('If the list shows a new key, revoke it').waitFor();
    await eventually(async () => (await rows())[0]?.[0]).toMatch(/^Lost …/);
  });

  test('folds expired keys away, and fits a phone and a wide window', async () => {
    await open({}, world.users.sharing);
    await create(READ, 'Agency with a long name for reports');
    await create(RECORD, 'Till');
    await page.getByText('No longer working (1)').click();
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect((await rows('API keys that no longer work'))[0]?.[4]).toContain(
        `Expired after ${DAY.format(new Date(days(-1)))}`,
      );
      await expectFits(page);
      await expectAccessible(page);
      await shoot(page, `access-${width}`, { fullPage: true });
      await button(READ).click();
      await expectFits(page);
      await shoot(page, `access-dialog-${width}`);
      await button('Cancel').click();
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

describe('in a session that cannot create keys', () => {
  test.each([
    ['a link', { can_create_keys: false, return_url: 'https://product.example/x' }, 'product.example'],
    ['a read-only link', { can_create_keys: false, role: 'read' }, 'the person who gave you access to this console'],
  ])('of %s, says whom to ask', async (_, link, whom) => {
    await open(link);
    await page.getByText(`To give someone access, ask ${whom}.`).waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    await expectAccessible(page);
  });

  test('of an API key, says whom to ask', async () => {
    page = await world.enter('#/access');
    await page.getByText('To give someone access, ask the person who gave you access to this console.').waitFor();
    expect(await view().getAttribute('aria-current')).toBe('page');
  });
});
