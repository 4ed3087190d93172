// Every button of the console that changes something, pressed again at the same point or by a held key, and with an answer that is late
// or lost: nothing is done that was not meant, and the focus never falls out of the page.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfFile } from './console.ts';
import { eventually, goOn, holdFrames, loseAnswer, openRoom, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, armed, hold } = stepsOn(() => page);
type Business = Awaited<ReturnType<typeof world.spare>>;

const A = 'https://a.example';
const B = 'https://b.example';
const C = 'https://c.example';
const WILD = 'https://*.shop.example';

const type = (text: string) => page.getByLabel('Add a domain').fill(text);
async function press(name: string | RegExp): Promise<void> {
  await armed();
  await button(name).click();
}
async function refuse({ id, token }: Business, ...origins: string[]): Promise<void> {
  for (const Origin of origins) {
    const headers = { Authorization: `Bearer ${token}`, Origin };
    expect((await fetch(`${world.url}/api/v1/business/usage/${id}`, { headers })).status).toBe(403);
  }
}

type Place = {
  place: string;
  room?: 'domains' | 'token';
  sites: string[];
  /** What the service has before the page is opened. */
  before?: (business: Business) => Promise<unknown>;
  /** What is done on the page before the press. */
  reach?: () => Promise<unknown>;
  button: string | RegExp;
  /** The requests of one press. */
  writes: string[];
  /** Those of a press of the button that is there afterwards, which takes the first one back. */
  back?: string;
};

const ADD = 'POST access';
const REMOVE = 'DELETE access/#';
const PLACES: Place[] = [
  { place: 'adding a domain', sites: [A], reach: () => type('b.example'), button: 'Add', writes: [ADD] },
  { place: 'adding several', sites: [A], reach: () => type('b.example c.example'), button: 'Add', writes: [ADD] },
  {
    place: 'adding all the same',
    sites: [WILD],
    reach: async () => {
      await type('a.shop.example');
      await press('Add');
    },
    button: 'Add it all the same',
    writes: [ADD],
  },
  {
    place: 'undoing what was added',
    sites: [A],
    reach: async () => {
      await type('b.example c.example');
      await press('Add');
    },
    button: 'Undo',
    writes: [REMOVE, REMOVE],
  },
  { place: 'removing', sites: [A, B, C], button: `Remove ${A}`, writes: [REMOVE], back: ADD },
  {
    place: 'undoing a removal',
    sites: [A, B, C],
    reach: () => press(`Remove ${A}`),
    button: `Undo: add ${A} again`,
    writes: [ADD],
    back: REMOVE,
  },
  {
    place: 'removing the last domain',
    sites: [A],
    reach: () => press(`Remove ${A}`),
    button: 'Let the token work everywhere',
    writes: ['DELETE access'],
    back: ADD,
  },
  {
    place: 'removing all domains',
    sites: [A, B, C],
    reach: () => press('Remove all domains…'),
    button: 'Let the token work everywhere',
    writes: ['DELETE access'],
    back: ADD,
  },
  {
    place: 'undoing the removal of all',
    sites: [A, B],
    reach: async () => {
      await press('Remove all domains…');
      await press('Let the token work everywhere');
    },
    button: 'Undo: add 2 domains again',
    writes: [ADD],
  },
  {
    place: 'registering an origin that was tried',
    sites: [A],
    reach: () => page.getByLabel('Would this origin pass?').fill(B),
    button: `Register it: ${B}`,
    writes: [ADD],
    back: REMOVE,
  },
  {
    place: 'adding a refused origin',
    sites: [A],
    before: (business) => refuse(business, B, C),
    button: `Add ${B}`,
    writes: [ADD],
    back: REMOVE,
  },
  { place: 'dismissing', sites: [A], before: (business) => refuse(business, B), button: `Dismiss ${B}`, writes: [] },
  {
    place: 'showing the dismissed ones again',
    sites: [A],
    before: (business) => refuse(business, B),
    reach: () => press(`Dismiss ${B}`),
    button: 'Show again',
    writes: [],
  },
  {
    place: 'forgetting the refused ones',
    sites: [A, B],
    before: (business) => refuse(business, C),
    reach: () => press('Forget all…'),
    button: 'Forget 1 origin',
    writes: ['DELETE access/refused'],
  },
  {
    place: 'replacing the token',
    room: 'token',
    sites: [A],
    reach: () => press('Replace the token…'),
    button: 'Replace, and keep the old one for 24 hours',
    writes: ['POST token'],
  },
  {
    place: 'stopping the old tokens',
    room: 'token',
    sites: [A],
    before: ({ id }) => world.call('POST', `${id}/token`, { keep_old: '24h' }),
    reach: () => press('Stop it now…'),
    button: 'Stop the old tokens now',
    writes: ['DELETE token/former'],
  },
  { place: 'signing out', sites: [A], button: 'Sign out', writes: ['DELETE session'] },
];

/** The requests that change something, since the call. */
function watchWrites(business: Business): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET') return;
    const path = new URL(request.url()).pathname.replace(`/api/v1/business/${business.id}/`, '');
    writes.push(`${request.method()} ${path.replace('/api/v1/', '').replace(/\d+$/, '#')}`);
  });
  return writes;
}
async function reach({ room = 'domains', sites, before, reach, button: name }: Place): Promise<[Business, string[]]> {
  const business = await world.spare(...sites);
  await before?.(business);
  page = await openRoom(world, business, room);
  await reach?.();
  await button(name).waitFor();
  await button(name).scrollIntoViewIfNeeded();
  await armed();
  return [business, watchWrites(business)];
}
/** Where a button is now. */
async function pointOf(name: Place['button']): Promise<[x: number, y: number]> {
  const box = await button(name).boundingBox();
  if (box === null) throw new Error('the button is not shown');
  return [box.x + box.width / 2, box.y + box.height / 2];
}
async function pressAgainAfter(place: Place, ms: number): Promise<string[]> {
  const [, writes] = await reach(place);
  const at = await pointOf(place.button);
  await Promise.all([page.mouse.click(...at), page.waitForTimeout(ms)]);
  await page.mouse.click(...at);
  await page.waitForTimeout(900);
  return writes;
}
const isFocusLost = () => page.evaluate<boolean>('document.activeElement === document.body');
/** Counts from now on the frames that begin while nothing has the focus. Returns how to read the count. */
async function watchFocus(): Promise<() => Promise<number>> {
  await page.evaluate(`(function look() {
    window.lost = (window.lost ?? 0) + (document.activeElement === document.body);
    requestAnimationFrame(look);
  })()`);
  return () => page.evaluate<number>('window.lost');
}

describe.each(PLACES)('$place', (place) => {
  test('is done once by a second click at the same point after 0.3 s', async () => {
    expect(await pressAgainAfter(place, 300)).toEqual(place.writes);
  });

  test('is at most taken back by a second click at the same point after 1.2 s', async () => {
    const writes = await pressAgainAfter(place, 1200);
    expect(writes.slice(0, place.writes.length)).toEqual(place.writes);
    expect([[], [place.back]]).toContainEqual(writes.slice(place.writes.length));
  });

  test('is done once by a held Enter, and the focus stays in the page', async () => {
    const [, writes] = await reach(place);
    await button(place.button).focus();
    for (let times = 0; times < 30; times++) {
      await page.keyboard.down('Enter'); // pressing it again without a release repeats it
      await page.waitForTimeout(30);
    }
    await page.keyboard.up('Enter');
    await page.waitForTimeout(900);
    expect(writes).toEqual(place.writes);
    expect(await isFocusLost()).toBe(false);
  });
});

const WRITING = PLACES.filter(({ writes }) => writes.length > 0);
const methodOf = ({ writes }: Place): string => writes[0]?.split(' ')[0] ?? '';

describe('with a late answer', () => {
  test.each(WRITING)('$place is done once, however often it is pressed meanwhile', async (place) => {
    const [, writes] = await reach(place);
    const held = await hold(methodOf(place));
    const at = await pointOf(place.button);
    for (let times = 0; times < 3; times++) {
      await page.mouse.click(...at);
      await page.waitForTimeout(350);
    }
    await page.keyboard.press('Enter');
    expect(writes).toEqual(place.writes.slice(0, 1));
    held.release(goOn);
    await page.waitForTimeout(900);
    expect(writes).toEqual(place.writes);
  });

  test.each(WRITING.filter(({ place }) => place !== 'signing out'))(
    '$place does not show in another view that was opened meanwhile',
    async (place) => {
      const [{ id }, writes] = await reach(place);
      const held = await hold(methodOf(place));
      await button(place.button).focus();
      await page.keyboard.press('Enter');
      await eventually(() => held.calls).toBe(1);
      await page.evaluate(`location.hash = '#/${id}/changes'`);
      const headings = () => page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts();
      await eventually(headings).toEqual(['Changes']);
      held.release(goOn);
      await eventually(() => writes.length).toBe(place.writes.length);
      await page.waitForTimeout(600);
      expect(await headings()).toEqual(['Changes']);
      expect(await dialog().count()).toBe(0);
      expect(await isFocusLost()).toBe(false);
    },
  );
});

describe('with a lost answer', () => {
  test.each(WRITING)('$place keeps the focus in the page', async (place) => {
    await reach(place);
    const held = await hold(methodOf(place));
    held.release(loseAnswer);
    await button(place.button).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(900);
    if (await dialog().isVisible()) await button('Cancel').press('Enter');
    await page.waitForTimeout(900);
    expect(await isFocusLost()).toBe(false);
  });

  test('all domains can be added again that were removed, also after a second attempt', async () => {
    const business = await world.spare(A, B);
    page = await openRoom(world, business, 'domains');
    await press('Remove all domains…');
    await armed();
    const held = await hold('DELETE');
    held.release(loseAnswer);
    await button('Let the token work everywhere').click();
    await dialog().getByText('No domain is registered any more.').waitFor();
    await page.unroute(/\/api\//);
    await button('Let the token work everywhere').click();
    await dialog().waitFor({ state: 'detached' });
    await press('Undo: add 2 domains again');
    await eventually(() => business.sites()).toEqual([A, B]);
  });
});

test('what takes the place of a button is not armed before the next frame', async () => {
  const [, writes] = await reach({ place: '', sites: [A, B, C], button: `Remove ${A}`, writes: [] });
  const at = await pointOf(`Remove ${A}`);
  await holdFrames(page);
  await page.mouse.click(...at);
  await button(`Undo: add ${A} again`).waitFor();
  await page.mouse.click(...at);
  await page.waitForTimeout(300);
  expect(writes).toEqual([REMOVE]);
});

test('the focus is not lost for a frame when the row that has it was removed elsewhere', async () => {
  const business = await world.spare(A, B);
  page = await openRoom(world, business, 'domains');
  await button(`Remove ${A}`).focus();
  const entry = (await business.stored()).access_list.find(({ site }) => site === A);
  await world.call('DELETE', `${business.id}/access/${entry?.id}`);
  const lost = await watchFocus();
  await button('Refresh').dispatchEvent('click');
  await button(`Remove ${A}`).waitFor({ state: 'detached' });
  expect(await isFocusLost()).toBe(false);
  expect(await lost()).toBe(0);
});

test('the focus is not lost for a frame when the old tokens that its button stops were stopped elsewhere', async () => {
  const business = await world.spare();
  await world.call('POST', `${business.id}/token`, { keep_old: '1h' });
  page = await openRoom(world, business, 'token');
  await button('Stop it now…').focus();
  await world.call('DELETE', `${business.id}/token/former`);
  const lost = await watchFocus();
  await button('Refresh').dispatchEvent('click');
  await button('Stop it now…').waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Replace the token…');
  expect(await lost()).toBe(0);
});
