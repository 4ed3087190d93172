// Every view of the console in every state: accessible, not wider than its window, and photographed to be looked at (dist/screenshots).
// With PICTURES=1, those of the documentation (docs/images) are taken again.
import { join, resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfFile, expectAccessible, keptIn, SHOTS, shoot, signIn } from './console.ts';
import { awaitRoom, failWith, goTo, loseAnswer, stepsOn } from './steps.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');

// A chart says in the log of the browser, too, that there is no report.
const world = consoleOfFile(/^Failed to load resource|^<usage-chart /);
let page: Page;
const { button, dialog, done, armed } = stepsOn(() => page);

/** The view is complete: no skeleton is left, nothing is being read, and the chart is drawn. */
async function settle(): Promise<void> {
  await page.locator('.refresh [aria-disabled]').waitFor({ state: 'detached' });
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  if ((await page.locator('usage-chart').count()) > 0) {
    await page.locator('usage-chart .bar').first().waitFor({ state: 'attached' });
    await page.locator('.drawing[aria-busy="true"]').waitFor({ state: 'detached' });
    await page.getByText('…', { exact: true }).waitFor({ state: 'detached' });
  }
}

const sized = (width: number, colorScheme: 'light' | 'dark' = 'light'): BrowserContextOptions => ({
  viewport: { width, height: 900 },
  deviceScaleFactor: width === 320 ? 2 : 1,
  colorScheme,
  ...(width === 320 && { hasTouch: true, isMobile: true }),
});

/** What is shown is accessible and fits. What is over the page is photographed with the window only. */
async function look(name: string): Promise<void> {
  await expectAccessible(page);
  const size = page.viewportSize();
  const isOver = (await page.locator('dialog, .near-end').count()) > 0;
  // A window as high as the page: Chromium photographs more than a window as if there were no finger.
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  if (size && !isOver) await page.setViewportSize({ ...size, height: Math.max(size.height, height) });
  await shoot(page, name, { fullPage: false });
  if (size) await page.setViewportSize(size);
}

/** The views, in the order of a visit that goes through all of them, and the dialogs that they open. */
const VIEWS: [name: string, open: () => Promise<unknown>][] = [
  ['sign-in', () => page.getByLabel('API key').waitFor()],
  [
    'list',
    async () => {
      await signIn(page, world.keys.owner);
      await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    },
  ],
  [
    'usage',
    async () => {
      await page.getByRole('link', { name: 'Tulip Shop' }).click();
      await awaitRoom(page, 'usage');
      await settle();
    },
  ],
  ['changes', () => goTo(page, 'changes')],
  ['token', () => goTo(page, 'token')],
  ['replace', () => openDialog('Replace the token…')],
  [
    'domains',
    async () => {
      await page.keyboard.press('Escape');
      await goTo(page, 'domains');
      await page.getByText('https://copycat.example').waitFor();
      await page.getByLabel('Would this origin pass?').fill('https://other.example');
      await page.locator('.verdict').waitFor();
    },
  ],
  ['lift', () => openDialog('Remove all domains…')],
];
async function openDialog(opener: string): Promise<void> {
  await button(opener).click();
  await dialog().waitFor();
  await dialog().locator('[aria-disabled]').waitFor({ state: 'detached' });
}

describe.each([320, 768, 1280, 1920])('at %i px', (width) => {
  const SCHEMES = [
    ['light', { colorScheme: 'light', forcedColors: 'none' }],
    ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
    ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
  ] as const;

  test('every view is accessible and fits: light, dark, and in forced colors', async () => {
    page = await world.visit('', sized(width));
    for (const [name, open] of VIEWS) {
      await page.emulateMedia(SCHEMES[0][1]);
      await open();
      for (const [scheme, media] of SCHEMES) {
        await page.emulateMedia(media);
        await look(`${name}-${width}-${scheme}`);
      }
    }
  });
});

test('on paper, no view is wider than the paper', async () => {
  page = await world.visit('', sized(768));
  for (const [name, open] of VIEWS) {
    await page.emulateMedia({ media: 'screen' });
    await open();
    await page.emulateMedia({ media: 'print' });
    if (!(await dialog().isVisible())) await shoot(page, `${name}-print`);
  }
});

/** What has the focus, if it does not show that, or if something else covers it. */
const FAULT = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (element === document.body) return null;
  if (element.matches('[type=date]:not(:focus-visible)')) return ''; // its icon has the focus, and the browser draws that
  const name = element.outerHTML.slice(0, 90);
  const label = element.matches('input[type=radio]') ? (element.closest('label') ?? element) : element;
  const marked = [element, ...label.children, ...label.querySelectorAll('input + span')].flatMap((one) =>
    [getComputedStyle(one), getComputedStyle(one, '::after')]);
  if (!marked.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1))
    return 'shows no focus: ' + name;
  const box = (label.getBoundingClientRect().width > 1 ? label : element).getBoundingClientRect();
  const [x, y] = [box.x + Math.min(box.width / 2, 30), box.y + Math.min(box.height / 2, 30)];
  if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return 'is out of the window: ' + name;
  let top = document.elementFromPoint(x, y);
  while (top?.shadowRoot?.elementFromPoint(x, y) && top.shadowRoot.elementFromPoint(x, y) !== top)
    top = top.shadowRoot.elementFromPoint(x, y);
  return label.contains(top) || top?.contains(label) || top === element.getRootNode().host ? '' : 'is covered: ' + name + ' by ' + top?.outerHTML.slice(0, 90);
})()`;

test.each([320, 1280])(
  'at %i px, whatever Tab reaches shows that it has the focus, and nothing covers it',
  async (width) => {
    page = await world.visit(`#code=${world.newCode('ofAMinute')}`, { viewport: { width, height: 640 } });
    await page.getByText('Your time ends at').waitFor(); // at the lower edge of the window, all the time
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    const faults: unknown[] = [];
    const reached: Record<string, number> = {};
    for (const room of ['', 'usage', 'domains', 'token', 'changes'] as const) {
      if (room === 'usage') {
        await page.getByRole('link', { name: 'Tulip Shop' }).click();
        await awaitRoom(page, room);
      } else if (room !== '') await goTo(page, room);
      await settle();
      await page.evaluate(`document.querySelector('.skip').focus()`);
      for (reached[room] = 0; reached[room] < 80; reached[room]++) {
        await page.keyboard.press('Tab');
        const fault = await page.evaluate(FAULT);
        if (fault === null) break;
        if (fault !== '') faults.push(`${room}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(Object.entries(reached).filter(([, stops]) => stops < 10)).toEqual([]);
  },
);

const unreachable = () => page.getByText('The service cannot be reached.').first().waitFor();
const abort = (path: RegExp) => page.route(path, (route) => route.abort());
/** Whatever the page asks for from now on gets no answer until the visit ends. */
const hang = (path: RegExp) => page.route(path, () => {});
const OF_BUSINESS = /\/business\/(usage\/)?\d/;
const LIST = /\/api\/v1\/business\?/;
/** Long enough for the placeholders of what is awaited to be seen. */
const awaited = () => page.waitForTimeout(900);

type Spare = Awaited<ReturnType<typeof world.spare>>;
async function refuse(business: Spare, ...origins: string[]): Promise<void> {
  for (const origin of origins) {
    const headers = { Authorization: `Bearer ${business.token}`, Origin: origin };
    await fetch(`${world.url}/api/v1/business/usage/${business.id}`, { headers });
  }
}
const rotate = ({ id }: Spare, keep_old: string) => world.call('POST', `${id}/token`, { keep_old });

/** The address of a view, and a key for it. */
type Place = [hash: string, key: string];
const owned = (
  which: 'tulip' | 'quiet' | 'oneDay' | 'long' | 'huge' | 'closed' | 'near' | 'full',
  rest = '',
): Place => [`#/${world[which].id}${rest}`, world.keys.owner];
async function spare(room: string, ...sites: string[]): Promise<Spare> {
  const business = await world.spare(...sites);
  await open([`#/${business.id}/${room}`, world.keys.spare]);
  return business;
}
async function open([hash, key]: Place): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await signIn(page, key);
  await settle();
}
const A = 'https://shop.example';
const B = 'https://www.shop.example';
const C = 'https://*.tulip.example';
const row = (site: string) => page.locator('.item', { hasText: site });
async function add(text: string): Promise<void> {
  await page.locator('#site').fill(text);
  await page.keyboard.press('Enter');
}

/** States of the views that a visit through all of them does not come to. Each leaves the page as it is to be looked at. */
const STATES: [name: string, reach: () => Promise<unknown>][] = [
  [
    'sign-in-refused',
    async () => {
      await page.getByLabel('API key').fill(`bua_sk_0${'x'.repeat(33)}`);
      await page.keyboard.press('Enter');
      await page.getByText('This key does not work.').waitFor();
    },
  ],
  [
    'sign-in-offline',
    async () => {
      await abort(/\/session$/);
      await page.getByLabel('API key').fill(world.keys.owner);
      await page.keyboard.press('Enter');
      await unreachable();
    },
  ],
  [
    'sign-in-busy',
    async () => {
      await hang(/\/session$/);
      await page.getByLabel('API key').fill(world.keys.owner);
      await page.keyboard.press('Enter');
      await button('Signing in…').waitFor();
    },
  ],

  [
    'list-loading',
    async () => {
      await hang(LIST);
      await signIn(page, world.keys.owner);
      await awaited();
    },
  ],
  [
    'list-offline',
    async () => {
      await abort(LIST);
      await signIn(page, world.keys.owner);
      await unreachable();
    },
  ],
  [
    'list-broken-off',
    async () => {
      await open(['#/', world.keys.owner]);
      await abort(LIST);
      await button('Refresh').click();
      await unreachable();
    },
  ],
  [
    'list-empty',
    async () => {
      await signIn(page, world.keys.nobody);
      await page.getByText('There is no business').waitFor();
    },
  ],
  ['list-many', () => open(['#/?sort=changed', world.keys.many])],
  [
    'list-several-match',
    async () => {
      await open(['#/', world.keys.many]);
      await page.getByRole('searchbox').fill('number 4');
      await page.getByRole('searchbox').press('Enter');
      await page.getByText('Type more, or choose one.').waitFor();
    },
  ],
  [
    'list-not-found',
    async () => {
      await open(['#/', world.keys.many]);
      await page.getByRole('searchbox').fill('nothing like it');
      await page.getByText('No business matches').waitFor();
    },
  ],

  ['usage-empty', () => open(owned('quiet'))],
  ['usage-first-day', () => open(owned('oneDay'))],
  ['usage-long-names', () => open(owned('long'))],
  ['usage-huge', () => open(owned('huge', '?range=364'))],
  ['usage-suspended', () => open(owned('closed'))],
  ['usage-near-limit', () => open(owned('near'))],
  ['usage-limit-reached', () => open(owned('full'))],
  ['usage-not-compared', () => open(owned('tulip', '?range=this-year&compare=off'))],
  ['usage-range-not-valid', () => open(owned('tulip', '?from=2026-03-09&to=2026-03-01'))],
  [
    'usage-loading',
    async () => {
      await hang(OF_BUSINESS);
      const [hash, key] = owned('tulip');
      await page.evaluate(`location.hash = '${hash}'`);
      await signIn(page, key);
      await awaited();
    },
  ],
  [
    'usage-offline',
    async () => {
      await abort(OF_BUSINESS);
      const [hash, key] = owned('tulip');
      await page.evaluate(`location.hash = '${hash}'`);
      await signIn(page, key);
      await unreachable();
    },
  ],
  [
    'usage-read-again-in-vain',
    async () => {
      await open(owned('tulip'));
      await abort(OF_BUSINESS);
      await button('Refresh').click();
      await unreachable();
    },
  ],
  [
    'business-unknown',
    async () => {
      await page.evaluate(`location.hash = '#/99999'`);
      await signIn(page, world.keys.owner);
      await page.getByText('There is no business 99999 that you can see here.').waitFor();
    },
  ],

  ['domains-none', () => open(owned('quiet', '/domains'))],
  ['domains-long-names', () => open(owned('long', '/domains'))],
  ['domains-suspended', () => open(owned('closed', '/domains'))],
  ['domains-read-only', () => open([`#/${world.tulip.id}/domains`, world.keys.reader])],
  [
    'domains-loading',
    async () => {
      await hang(OF_BUSINESS);
      const [hash, key] = owned('tulip', '/domains');
      await page.evaluate(`location.hash = '${hash}'`);
      await signIn(page, key);
      await awaited();
    },
  ],
  [
    'domains-removed',
    async () => {
      await spare('domains', A, B, 'https://xn--bcher-kva.example', 'http://localhost:5173');
      await armed();
      await button(`Remove ${B}`).click();
      await button(`Undo: add ${B} again`).waitFor();
    },
  ],
  [
    'domains-not-removed',
    async () => {
      await spare('domains', A, B);
      await page.route(/\/access\/\d+$/, failWith(503, 'Service Unavailable'));
      await armed();
      await button(`Remove ${A}`).click();
      await row(A).getByText('The service cannot reach its database now.').waitFor();
    },
  ],
  [
    'domains-all-removed',
    async () => {
      await spare('domains', A, B, C);
      await openDialog('Remove all domains…');
      await button('Let the token work everywhere').click();
      await done('Removed. The token works on every site now.');
      await dialog().waitFor({ state: 'detached' });
    },
  ],
  [
    'domains-added',
    async () => {
      await spare('domains', A);
      await add('b.example c.example, localhost:5173');
      await done('Added 3 domains');
    },
  ],
  [
    'domains-not-valid',
    async () => {
      await spare('domains', A);
      await add('b.example, ftp://shop.example sh');
      await page.getByText('Nothing was added:').waitFor();
    },
  ],
  [
    'domains-covered',
    async () => {
      await spare('domains', C);
      await add('www.tulip.example');
      await page.getByText('passes already').waitFor();
    },
  ],
  [
    'domains-filtered',
    async () => {
      await spare('domains', ...Array.from({ length: 40 }, (_, n) => `https://s${n}.example`));
      await page.getByLabel('Filter').fill('nothing like it');
      await page.getByText('of 40').waitFor();
    },
  ],
  [
    'refused-dismissed-and-added',
    async () => {
      const business = await world.spare(A);
      await refuse(
        business,
        'https://copycat.example',
        'https://a.shop.example',
        'http://shop.example',
        'https://x.example',
      );
      await open([`#/${business.id}/domains`, world.keys.spare]);
      await armed();
      await button('Dismiss https://x.example').click();
      await page.getByText('1 dismissed').waitFor();
      await armed();
      await button('Add https://*.shop.example').click();
      await page.getByText('Passes now.').waitFor();
    },
  ],
  [
    'refused-forget',
    async () => {
      const business = await world.spare(A);
      await refuse(business, 'https://copycat.example');
      await open([`#/${business.id}/domains`, world.keys.spare]);
      await openDialog('Forget all…');
    },
  ],

  ['token-read-only', () => open([`#/${world.tulip.id}/token`, world.keys.reader])],
  ['token-suspended', () => open(owned('closed', '/token'))],
  [
    'token-old-ones',
    async () => {
      const business = await world.spare();
      for (const keep of ['1h', '24h', '30d']) await rotate(business, keep);
      await open([`#/${business.id}/token`, world.keys.spare]);
      await page.getByText('3 old tokens still work').waitFor();
    },
  ],
  [
    'token-stop',
    async () => {
      const business = await world.spare();
      for (const keep of ['1h', '24h']) await rotate(business, keep);
      await open([`#/${business.id}/token`, world.keys.spare]);
      await openDialog('Stop them now…');
    },
  ],
  [
    'token-replaced',
    async () => {
      await spare('token');
      await openDialog('Replace the token…');
      await button('Replace, and keep the old one for 24 hours').click();
      await done('There is a new token');
      await dialog().waitFor({ state: 'detached' });
    },
  ],
  [
    'token-replace-lost',
    async () => {
      await spare('token');
      await openDialog('Replace the token…');
      await page.getByLabel('Stop the old token now').check();
      await page.route(/\/token$/, loseAnswer);
      await dialog().locator('[aria-disabled]').waitFor({ state: 'detached' });
      await button('Replace, and stop the old one now').click();
      await dialog().getByText('The token was replaced: it ends in').waitFor();
      await dialog().locator('[aria-disabled]').waitFor({ state: 'detached' });
    },
  ],

  [
    'changes-many',
    async () => {
      const business = await world.spare(...Array.from({ length: 30 }, (_, n) => `https://s${n}.example`));
      await rotate(business, '24h');
      await open([`#/${business.id}/changes`, world.keys.spare]);
      await page.locator('.entry').first().waitFor();
    },
  ],
  [
    'changes-filtered',
    async () => {
      await open([`#/${world.busy.id}/changes?action=remove_sites`, world.keys.busy]);
      await page.locator('.entry').first().waitFor();
    },
  ],
  [
    'changes-none-found',
    async () => {
      await open([`#/${world.busy.id}/changes?search=nobody`, world.keys.busy]);
      await page.getByText('Nothing matches.').waitFor();
    },
  ],
  [
    'changes-range-not-valid',
    async () => {
      await open([`#/${world.busy.id}/changes?from=2026-11-02&to=2026-11-01`, world.keys.busy]);
      await page.getByText('The last day is before the first day.').waitFor();
    },
  ],
  [
    'changes-loading',
    async () => {
      await hang(/\/changes/);
      await page.evaluate(`location.hash = '#/${world.busy.id}/changes'`);
      await signIn(page, world.keys.busy);
      await awaited();
    },
  ],
  [
    'changes-offline',
    async () => {
      await abort(/\/changes/);
      await page.evaluate(`location.hash = '#/${world.busy.id}/changes'`);
      await signIn(page, world.keys.busy);
      await unreachable();
    },
  ],
];

describe.each([
  { width: 320, colorScheme: 'dark' as const },
  { width: 1280, colorScheme: 'light' as const },
])('at $width px, $colorScheme, is accessible and fits:', ({ width, colorScheme }) => {
  test.each(STATES)('%s', async (name, reach) => {
    page = await world.visit('', sized(width, colorScheme));
    await reach();
    await look(`${name}-${width}`);
  });

  test('a session that a link begins, until it ends', async () => {
    page = await world.visit(`#code=${world.newCode('ofAMinute')}`, sized(width, colorScheme));
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await page.getByText('Your time ends at').waitFor();
    await look(`near-end-${width}`);
    await page.clock.install({ time: ((await keptIn(page))?.endsAt ?? 0) - 30_000 });
    await page.reload();
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await page.clock.fastForward(30_000);
    await page.getByText('Your time is over.').waitFor();
    await look(`link-over-${width}`);
  });

  test('a session that a link could not begin', async () => {
    page = await world.visit('', sized(width, colorScheme));
    await signIn(page, world.keys.owner);
    await page.route(/\/session$/, (route) => route.abort());
    await page.evaluate(`location.hash = '#code=${world.newCode()}'`);
    await page.getByText('This link opens another session.').waitFor();
    await expectAccessible(page); // while the button cannot be pressed
    await page.locator('[aria-disabled]').waitFor({ state: 'detached' });
    await look(`link-asks-${width}`);
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByText('The service cannot be reached.').waitFor();
    await look(`link-lost-${width}`);
    await page.unroute(/\/session$/);
    await page.evaluate(`location.hash = '#code=${world.newCode('late')}'`);
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByText('This link has expired or was used already.').waitFor();
    await look(`link-refused-${width}`);
  });

  test('a session that was signed out', async () => {
    page = await world.visit('', sized(width, colorScheme));
    await signIn(page, world.keys.owner);
    await page.route(/\/session$/, (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('but the service could not be told').waitFor();
    await look(`signed-out-${width}`);
  });
});

test.each([
  ['light', 'console.png'],
  ['dark', 'console-dark.png'],
] as const)('the picture of the documentation, %s', async (colorScheme, file) => {
  page = await world.visit(`#/${world.tulip.id}`, {
    viewport: { width: 1040, height: 1010 },
    deviceScaleFactor: 2,
    colorScheme,
  });
  await signIn(page, world.keys.owner);
  await awaitRoom(page, 'usage');
  await settle();
  await page.mouse.click(2, 2); // takes the focus away from the title
  await page.screenshot({ path: join(process.env.PICTURES === undefined ? SHOTS : IMAGES, file) });
});

test('with a finger, everything that can be pressed is at least 44 px high and wide', async () => {
  page = await world.visit(`#/${world.tulip.id}`, sized(320, 'light'));
  const small = async () =>
    page.evaluate(`[...document.querySelectorAll('a, button, input, label:has(input)')]
      .filter((element) => element.checkVisibility() && !(element.matches('input') && element.closest('label.radio')))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
      .map(({ element, box }) => element.outerHTML.slice(0, 80) + ' ' + box.width + 'x' + box.height)`);
  expect(await small()).toEqual([]);
  await signIn(page, world.keys.owner);
  await awaitRoom(page, 'usage');
  await settle();
  expect(await small()).toEqual([]);
  await page.evaluate(`location.hash = '#code=${world.newCode()}'`);
  await page.getByRole('button', { name: 'Stay signed in' }).waitFor();
  expect(await small()).toEqual([]);
  await page.getByRole('button', { name: 'Stay signed in' }).click();
  await page.getByRole('link', { name: 'Tulip Shop' }).click();
  await awaitRoom(page, 'usage');
  await settle();
  for (const room of ['domains', 'changes', 'token'] as const) {
    await goTo(page, room);
    expect(await small()).toEqual([]);
  }
  await page.getByRole('button', { name: 'Replace the token…' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await small()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: '← Businesses' }).click();
  await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
  expect(await small()).toEqual([]);
});
