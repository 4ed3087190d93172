// What changes something in the console, pressed again: at the same point, by a held key, and while the answer is late or lost.
// Nothing is done that was not meant, and the focus never falls out of the page. How a press is taken is in parts that all places share
// (parts.tsx, confirm.tsx, query.ts), so it is tested once; each place is pressed while its answer is late, and with a lost one.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Spare } from './console.ts';
import { goOn, holdFrames, loseResponse, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, armed, hold, middleOf, clickAt } = stepsOn(() => page);

const A = 'https://a.example';
const B = 'https://b.example';
const C = 'https://c.example';
const WILD = 'https://*.shop.example';

const type = (text: string) => page.getByLabel('Add one or more domains').fill(text);
async function press(name: string): Promise<void> {
  await armed();
  await button(name).click();
}

type Place = {
  place: string;
  room?: 'domains' | 'token';
  sites: string[];
  /** What the service has before the page is opened. */
  before?: (business: Spare) => Promise<unknown>;
  /** What is done on the page before the press. */
  reach?: () => Promise<unknown>;
  button: string;
  /** The requests of one press. */
  writes: string[];
};

const ADD = 'POST access';
const REMOVE = 'DELETE access/#';
const REMOVING: Place = { place: 'removing', sites: [A, B, C], button: `Remove ${A}`, writes: [REMOVE] };
const REMOVING_ALL: Place = {
  place: 'removing all domains',
  sites: [A, B, C],
  reach: () => press('Remove all domains…'),
  button: 'Let the token work everywhere',
  writes: ['DELETE access'],
};
const PLACES: Place[] = [
  { place: 'adding a domain', sites: [A], reach: () => type('b.example'), button: 'Add', writes: [ADD] },
  {
    place: 'adding anyway',
    sites: [WILD],
    reach: async () => {
      await type('a.shop.example');
      await press('Add');
    },
    button: 'Add it anyway',
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
  REMOVING,
  {
    place: 'undoing a removal',
    sites: [A, B, C],
    reach: () => press(`Remove ${A}`),
    button: `Undo: add ${A} again`,
    writes: [ADD],
  },
  {
    place: 'removing the last domain',
    sites: [A],
    reach: () => press(`Remove ${A}`),
    button: 'Let the token work everywhere',
    writes: ['DELETE access'],
  },
  REMOVING_ALL,
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
  },
  {
    place: 'adding a refused origin',
    sites: [A],
    before: (business) => world.refuse(business, B, C),
    button: `Add ${B}`,
    writes: [ADD],
  },
  {
    place: 'forgetting the refused ones',
    sites: [A, B],
    before: (business) => world.refuse(business, C),
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
];

/** The requests that change something, since the call. */
function watchWrites({ id }: Spare): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET') return;
    const path = new URL(request.url()).pathname.replace(`/api/v1/business/${id}/`, '');
    writes.push(`${request.method()} ${path.replace('/api/v1/', '').replace(/\d+$/, '#')}`);
  });
  return writes;
}
async function reach({ room = 'domains', sites, before, reach, button: name }: Place): Promise<[Spare, string[]]> {
  const business = await world.spare(...sites);
  await before?.(business);
  page = await openTab(world, business, room);
  await reach?.();
  await button(name).waitFor();
  await armed();
  return [business, watchWrites(business)];
}
const methodOf = ({ writes }: Place): string => writes[0]?.split(' ')[0] ?? '';
const isFocusLost = () => page.evaluate<boolean>('document.activeElement === document.body');
/** Counts from now on the frames that begin while nothing has the focus. Returns how to read the count. */
async function watchFocus(): Promise<() => Promise<number>> {
  await page.evaluate(`(function look() {
    window.lost = (window.lost ?? 0) + (document.activeElement === document.body);
    requestAnimationFrame(look);
  })()`);
  return () => page.evaluate<number>('window.lost');
}
/** Holds Enter for longer than a button takes to be armed: pressing it again without a release repeats it. */
async function holdEnter(): Promise<void> {
  for (let times = 0; times < 30; times++) {
    await page.keyboard.down('Enter');
    await page.clock.runFor(30);
  }
  await page.keyboard.up('Enter');
}

describe.each(PLACES)('$place', (place) => {
  test('is done once while its answer is late, and the answer does not show in another view', async () => {
    const [{ id }, writes] = await reach(place);
    const held = await hold(methodOf(place));
    const at = await middleOf(place.button);
    for (let times = 0; times < 3; times++) {
      await clickAt(at);
      await page.clock.runFor(350);
    }
    await page.keyboard.press('Enter');
    await eventually(() => held.calls).toBe(1);
    expect(writes).toEqual(place.writes.slice(0, 1));
    await page.evaluate(`location.hash = '#/${id}/changes'`);
    const headings = () => page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts();
    await eventually(headings).toEqual(['Changes']);
    const reads = page.waitForResponse((answer) => answer.request().method() === methodOf(place));
    held.release(goOn);
    await (await reads).finished();
    await eventually(() => writes).toEqual(place.writes);
    await armed();
    expect(await headings()).toEqual(['Changes']);
    expect(await dialog().count()).toBe(0);
    expect(await isFocusLost()).toBe(false);
    expect(writes).toEqual(place.writes);
  });

  test('keeps the focus on the page when the response is lost', async () => {
    await reach(place);
    const held = await hold(methodOf(place));
    held.release(loseResponse);
    await button(place.button).press('Enter');
    await page.getByText('The change may have been made anyway').first().waitFor();
    await page.locator('.refresh [aria-disabled]').waitFor({ state: 'detached' });
    await armed();
    if (await dialog().isVisible()) {
      await button('Cancel').press('Enter');
      await dialog().waitFor({ state: 'detached' });
    }
    await armed();
    expect(await isFocusLost()).toBe(false);
  });
});

test('signing out is done once while its answer is late', async () => {
  const [, writes] = await reach({ place: '', sites: [A], button: 'Sign out', writes: [] });
  const held = await hold('DELETE');
  await button('Sign out').focus();
  await holdEnter();
  for (let times = 0; times < 3; times++) await page.keyboard.press('Enter');
  expect(await isFocusLost()).toBe(false);
  held.release(goOn);
  await page.getByText('You are signed out, and the session has ended.').waitFor();
  expect(writes).toEqual(['DELETE session']);
});

describe.each([
  { ...REMOVING, back: `Undo: add ${A} again` },
  { ...REMOVING_ALL, back: 'Undo: add 3 domains again' },
])('$place', ({ back, ...place }) => {
  test('is done once by a second click at the same point, and taken back by one after half a second', async () => {
    const [business, writes] = await reach(place);
    const at = await middleOf(place.button);
    await page.clock.pauseAt(Date.now() + 60_000); // on a slow machine, the half second would pass between the clicks
    await clickAt(at);
    const undo = button(back);
    await eventually(async () => {
      await page.clock.runFor(20); // a frame
      return undo.isVisible();
    }).toBe(true);
    await page.clock.runFor(300);
    await clickAt(at);
    await page.mouse.dblclick(...at);
    await page.clock.runFor(100);
    expect(writes).toEqual(place.writes);
    await page.clock.resume();
    await armed();
    await undo.dblclick();
    await undo.waitFor({ state: 'detached' });
    expect(writes).toEqual([...place.writes, ADD]);
    expect((await business.sites()).toSorted()).toEqual(place.sites);
  });

  test('is done once by a held Enter, and the focus stays in the page', async () => {
    const [, writes] = await reach(place);
    await button(place.button).focus();
    await holdEnter();
    await button(back).waitFor();
    await armed();
    expect(writes).toEqual(place.writes);
    expect(await isFocusLost()).toBe(false);
  });
});

test('all domains can be added again that were removed, also after a second attempt', async () => {
  const [business] = await reach(REMOVING_ALL);
  const held = await hold('DELETE');
  held.release(loseResponse);
  await button(REMOVING_ALL.button).click();
  await dialog().getByText('No registered domains are left.').waitFor();
  await page.unroute(/\/api\//);
  await button(REMOVING_ALL.button).click();
  await dialog().waitFor({ state: 'detached' });
  await press('Undo: add 3 domains again');
  await eventually(() => business.sites()).toEqual([A, B, C]);
});

test('a button does not take the second click of a double click that began elsewhere', async () => {
  const [business, writes] = await reach(REMOVING);
  await button(REMOVING.button).dispatchEvent('click', { detail: 2 });
  await armed();
  expect(writes).toEqual([]);
  expect(await business.sites()).toEqual(REMOVING.sites);
});

test('what takes the place of a button is not armed before the next frame', async () => {
  const [, writes] = await reach(REMOVING);
  const at = await middleOf(REMOVING.button);
  await holdFrames(page);
  await clickAt(at);
  await button(`Undo: add ${A} again`).waitFor();
  await clickAt(at);
  await page.clock.runFor(300);
  expect(writes).toEqual([REMOVE]);
});

describe('the focus is not lost for a frame', () => {
  test('when the row that has it was removed elsewhere', async () => {
    const business = await world.spare(A, B);
    page = await openTab(world, business, 'domains');
    await button(`Remove ${A}`).focus();
    const entry = (await business.stored()).access_list.find(({ site }) => site === A);
    await world.call('DELETE', `${business.id}/access/${entry?.id}`);
    const lost = await watchFocus();
    await button('Refresh').dispatchEvent('click');
    await button(`Remove ${A}`).waitFor({ state: 'detached' });
    expect(await isFocusLost()).toBe(false);
    expect(await lost()).toBe(0);
  });

  test('when the old tokens that its button stops were stopped elsewhere', async () => {
    const business = await world.spare();
    await world.call('POST', `${business.id}/token`, { keep_old: '1h' });
    page = await openTab(world, business, 'token');
    await button('Stop it now…').focus();
    await world.call('DELETE', `${business.id}/token/former`);
    const lost = await watchFocus();
    await button('Refresh').dispatchEvent('click');
    await button('Stop it now…').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Replace the token…');
    expect(await lost()).toBe(0);
  });
});
