// Repeated presses of the console's buttons: clicks at the same point, a held key, and presses while the response is late or lost. No press
// acts twice, and the focus stays on the page. The buttons share their code (parts.tsx, confirm.tsx, query.ts), so most of this is tested
// on one of them. Late and lost responses are tested on each.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, type Spare } from './console.ts';
import { continueRequest, holdFrames, loseResponse, openTab, stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { button, dialog, armed, hold, centerOf, clickAt } = stepsOn(() => page);

const A = 'https://a.example';
const B = 'https://b.example';
const C = 'https://c.example';
const WILD = 'https://*.shop.example';

const type = (text: string) => page.getByLabel('Add one or more domains').fill(text);
async function press(name: string): Promise<void> {
  await armed();
  await button(name).click();
}

type Action = {
  action: string;
  room?: 'domains' | 'token';
  sites: string[];
  /** Prepares the business before its page opens. */
  before?: (business: Spare) => Promise<unknown>;
  /** Opens the view that contains the button. */
  reach?: () => Promise<unknown>;
  button: string;
  /** The requests that one press sends. */
  writes: string[];
};

const ADD = 'POST access';
const REMOVE = 'DELETE access/#';
const REMOVING: Action = { action: 'removing a domain', sites: [A, B, C], button: `Remove ${A}`, writes: [REMOVE] };
const REMOVING_ALL: Action = {
  action: 'removing all domains',
  sites: [A, B, C],
  reach: () => press('Remove all domains…'),
  button: 'Let the token work everywhere',
  writes: ['DELETE access'],
};
const ACTIONS: Action[] = [
  { action: 'adding a domain', sites: [A], reach: () => type('b.example'), button: 'Add', writes: [ADD] },
  {
    action: 'adding a domain that a wildcard covers',
    sites: [WILD],
    reach: async () => {
      await type('a.shop.example');
      await press('Add');
    },
    button: 'Add it anyway',
    writes: [ADD],
  },
  {
    action: 'undoing an addition',
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
    action: 'undoing a removal',
    sites: [A, B, C],
    reach: () => press(`Remove ${A}`),
    button: `Undo: add ${A} again`,
    writes: [ADD],
  },
  {
    action: 'removing the last domain',
    sites: [A],
    reach: () => press(`Remove ${A}`),
    button: 'Let the token work everywhere',
    writes: ['DELETE access'],
  },
  REMOVING_ALL,
  {
    action: 'undoing the removal of all domains',
    sites: [A, B],
    reach: async () => {
      await press('Remove all domains…');
      await press('Let the token work everywhere');
    },
    button: 'Undo: add 2 domains again',
    writes: [ADD],
  },
  {
    action: 'registering a tested origin',
    sites: [A],
    reach: () => page.getByLabel('Would this origin pass?').fill(B),
    button: `Register it: ${B}`,
    writes: [ADD],
  },
  {
    action: 'adding a refused origin',
    sites: [A],
    before: (business) => world.refuse(business, B, C),
    button: `Add ${B}`,
    writes: [ADD],
  },
  {
    action: 'forgetting the refused origins',
    sites: [A, B],
    before: (business) => world.refuse(business, C),
    reach: () => press('Forget all…'),
    button: 'Forget 1 origin',
    writes: ['DELETE access/refused'],
  },
  {
    action: 'replacing the token',
    room: 'token',
    sites: [A],
    reach: () => press('Replace the token…'),
    button: 'Replace, and keep the old one for 24 hours',
    writes: ['POST token'],
  },
  {
    action: 'revoking the old tokens',
    room: 'token',
    sites: [A],
    before: ({ id }) => world.call('POST', `${id}/token`, { keep_old: '24h' }),
    reach: () => press('Stop it now…'),
    button: 'Stop the old tokens now',
    writes: ['DELETE token/former'],
  },
];

/** Returns a list that records each later request other than GET. */
function watchWrites({ id }: Spare): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET') return;
    const path = new URL(request.url()).pathname.replace(`/api/v1/business/${id}/`, '');
    writes.push(`${request.method()} ${path.replace('/api/v1/', '').replace(/\d+$/, '#')}`);
  });
  return writes;
}
async function reach({ room = 'domains', sites, before, reach, button: name }: Action): Promise<[Spare, string[]]> {
  const business = await world.spare(...sites);
  await before?.(business);
  page = await openTab(world, business, room);
  await reach?.();
  await button(name).waitFor();
  await armed();
  return [business, watchWrites(business)];
}
const methodOf = ({ writes }: Action): string => writes[0]?.split(' ')[0] ?? '';
const isFocusLost = () => page.evaluate<boolean>('document.activeElement === document.body');
/** Counts the frames that begin while nothing is focused. Returns a function that reads the count. */
async function watchFocus(): Promise<() => Promise<number>> {
  await page.evaluate(`(function look() {
    window.lost = (window.lost ?? 0) + (document.activeElement === document.body);
    requestAnimationFrame(look);
  })()`);
  return () => page.evaluate<number>('window.lost');
}
/** Holds Enter for longer than a button takes to be armed. Without a release, each further press is a repeat. */
async function holdEnter(): Promise<void> {
  for (let times = 0; times < 30; times++) {
    await page.keyboard.down('Enter');
    await page.clock.runFor(30);
  }
  await page.keyboard.up('Enter');
}

describe.each(ACTIONS)('$action', (action) => {
  test('sends its requests once while the response is late, and shows no result in another view', async () => {
    const [{ id }, writes] = await reach(action);
    const held = await hold(methodOf(action));
    const at = await centerOf(action.button);
    for (let times = 0; times < 3; times++) {
      await clickAt(at);
      await page.clock.runFor(350);
    }
    await page.keyboard.press('Enter');
    await eventually(() => held.calls).toBe(1);
    expect(writes).toEqual(action.writes.slice(0, 1));
    await page.evaluate(`location.hash = '#/${id}/changes'`);
    const headings = () => page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts();
    await eventually(headings).toEqual(['Changes']);
    const reads = page.waitForResponse((answer) => answer.request().method() === methodOf(action));
    held.release(continueRequest);
    await (await reads).finished();
    await eventually(() => writes).toEqual(action.writes);
    await armed();
    expect(await headings()).toEqual(['Changes']);
    expect(await dialog().count()).toBe(0);
    expect(await isFocusLost()).toBe(false);
    expect(writes).toEqual(action.writes);
  });

  test('keeps the focus in the page when the response is lost', async () => {
    await reach(action);
    const held = await hold(methodOf(action));
    held.release(loseResponse);
    await button(action.button).press('Enter');
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

test('signing out sends one request while the response is late', async () => {
  const [, writes] = await reach({ action: '', sites: [A], button: 'Sign out', writes: [] });
  const held = await hold('DELETE');
  await button('Sign out').focus();
  await holdEnter();
  for (let times = 0; times < 3; times++) await page.keyboard.press('Enter');
  expect(await isFocusLost()).toBe(false);
  held.release(continueRequest);
  await page.getByText('You are signed out, and the session has ended.').waitFor();
  expect(writes).toEqual(['DELETE session']);
});

describe.each([
  { ...REMOVING, back: `Undo: add ${A} again` },
  { ...REMOVING_ALL, back: 'Undo: add 3 domains again' },
])('$action', ({ back, ...action }) => {
  test('acts once when clicked again at the same point, and is undone by a click after half a second', async () => {
    const [business, writes] = await reach(action);
    const at = await centerOf(action.button);
    await page.clock.pauseAt(Date.now() + 60_000); // on a slow machine, half a second could pass between the clicks
    await clickAt(at);
    const undo = button(back);
    await eventually(async () => {
      await page.clock.runFor(20); // one frame
      return undo.isVisible();
    }).toBe(true);
    await page.clock.runFor(300);
    await clickAt(at);
    await page.mouse.dblclick(...at);
    await page.clock.runFor(100);
    expect(writes).toEqual(action.writes);
    await page.clock.resume();
    await armed();
    await undo.dblclick();
    await undo.waitFor({ state: 'detached' });
    expect(writes).toEqual([...action.writes, ADD]);
    expect((await business.sites()).toSorted()).toEqual(action.sites);
  });

  test('acts once while Enter is held, and keeps the focus in the page', async () => {
    const [, writes] = await reach(action);
    await button(action.button).focus();
    await holdEnter();
    await button(back).waitFor();
    await armed();
    expect(writes).toEqual(action.writes);
    expect(await isFocusLost()).toBe(false);
  });
});

test('“Undo” restores all removed domains after a retried removal', async () => {
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

test('a button ignores the second click of a double click that began elsewhere', async () => {
  const [business, writes] = await reach(REMOVING);
  await button(REMOVING.button).dispatchEvent('click', { detail: 2 });
  await armed();
  expect(writes).toEqual([]);
  expect(await business.sites()).toEqual(REMOVING.sites);
});

test('a button that replaces another is not armed before the next frame', async () => {
  const [, writes] = await reach(REMOVING);
  const at = await centerOf(REMOVING.button);
  await holdFrames(page);
  await clickAt(at);
  await button(`Undo: add ${A} again`).waitFor();
  await clickAt(at);
  await page.clock.runFor(300);
  expect(writes).toEqual([REMOVE]);
});

describe('the page keeps the focus in every frame', () => {
  test('when a refresh removes the focused row', async () => {
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

  test('when a refresh removes the focused Stop button because another session revoked the old tokens', async () => {
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
