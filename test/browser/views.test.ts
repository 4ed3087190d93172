// Every view of the console in every state: each must be accessible, no wider than its window, and have touch targets that are large
// enough. Each test loads its page once for all sizes and themes. PICTURES=1 also takes a screenshot of each (dist/screenshots) and retakes
// the documentation's pictures (docs/images).
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  consoleOfFile,
  expectAccessible,
  expectContrast,
  expectFits,
  expectWhole,
  type Spare,
  shoot,
  wantsPictures,
} from './console.ts';
import { awaitTab, failWith, holdFrames, stepsOn } from './steps.ts';

// In addition to Chromium's messages, the chart logs that its report failed.
const world = consoleOfFile(/^Failed to load resource|^<usage-chart /);
let page: Page;
const { button, dialog, done, armed } = stepsOn(() => page);

/** Waits until the view is complete: it shows no skeleton, no request is pending, and the chart is drawn. */
async function settle(): Promise<void> {
  await page.locator('.refresh [aria-disabled]').waitFor({ state: 'detached' });
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  if ((await page.locator('usage-chart').count()) > 0) {
    await page.locator('usage-chart .bar').first().waitFor({ state: 'attached' });
    await page.locator('.drawing[aria-busy="true"]').waitFor({ state: 'detached' });
    await page.getByText('…', { exact: true }).waitFor({ state: 'detached' });
  }
}

type Look = [width: number, colorScheme: 'light' | 'dark'];
const LOOKS: Look[] = [
  [320, 'light'],
  [320, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
  [1920, 'light'],
];
const TWO_LOOKS: Look[] = [
  [320, 'dark'],
  [1280, 'light'],
];
/** At these widths, the layouts are the closest to changing. */
const TIGHT_WIDTHS = [360, 768];

/** Returns the touch targets smaller than 44 by 44 px (WCAG 2.2, 2.5.5). */
const SMALL = `[...document.querySelectorAll('a, button, input, select, label:has(input)')]
  .filter((element) => element.checkVisibility() && !(element.matches('input') && element.closest('label.radio')))
  .map((element) => ({ element, box: element.getBoundingClientRect() }))
  .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
  .map(({ element, box }) => element.outerHTML.slice(0, 80) + ' ' + box.width + 'x' + box.height)`;

/** Expects the page to be accessible and to fit at each width and in each theme. The narrowest width emulates a phone. */
async function expectLooks(name: string, looks = TWO_LOOKS): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  const isOver = (await page.locator('dialog, .near-end > :not(:empty)').count()) > 0;
  for (const [width, colorScheme] of looks) {
    await debug.send('Emulation.setTouchEmulationEnabled', { enabled: width === 320 });
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    if (looks === TWO_LOOKS || colorScheme === 'light') await expectAccessible(page);
    else await expectContrast(page);
    if (width === 320) expect(await page.evaluate(SMALL)).toEqual([]);
    await expectWhole(page);
    if (wantsPictures) {
      // Resizes the window to the height of the page, because full-page screenshots turn off touch emulation. Overlays are captured at the
      // normal window size.
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      if (!isOver) await page.setViewportSize({ width, height: Math.max(900, height) });
      await shoot(page, `${name}-${width}-${colorScheme}`);
    }
  }
  for (const width of TIGHT_WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await expectWhole(page);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await debug.detach();
}
async function openDialog(opener: string): Promise<void> {
  await button(opener).click();
  await dialog().waitFor();
}

const VIEWS: Record<string, () => Promise<unknown>> = {
  'sign-in': async () => {
    page = await world.visit();
    await page.getByLabel('API key').waitFor();
  },
  list: () => open(['#/', world.keys.owner]),
  usage: () => open(owned('tulip')),
  access: async () => {
    page = await world.visit(`#code=${await world.newCode({ can_create_keys: true, as: 'Anna' })}`);
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await page.getByRole('table').waitFor();
    await page.setViewportSize({ width: 240, height: 900 }); // 1280 px at 500%, and a little more
    await expectFits(page);
  },
  changes: () => open(owned('tulip', '/changes')),
  token: () => open(owned('tulip', '/token')),
  'replace-token-dialog': async () => {
    await open(owned('tulip', '/token'));
    await openDialog('Replace the token…');
  },
  domains: async () => {
    await open(owned('tulip', '/domains'));
    await page.getByText('https://copycat.example').waitFor();
    await page.getByLabel('Would this origin pass?').fill('https://other.example');
    await page.getByLabel('Would this origin pass?').press('Enter');
    await page.locator('.verdict').waitFor();
  },
  'remove-all-dialog': async () => {
    await open(owned('tulip', '/domains'));
    await openDialog('Remove all domains…');
  },
};

test.each(Object.entries(VIEWS))(
  '%s is accessible and fits at every width, in every theme, and in print',
  async (name, open) => {
    await open();
    await expectLooks(name, LOOKS);
    if (await dialog().isVisible()) return;
    await page.setViewportSize({ width: 768, height: 900 });
    await page.clock.runFor(100);
    await expectFits(page); // until the chart is drawn at this width, because printing does not draw it again
    await page.emulateMedia({ colorScheme: 'light', media: 'print' });
    await expectFits(page);
    await shoot(page, `${name}-print`, { fullPage: true });
  },
);

/** Returns what is wrong with the focused element, an empty string if nothing is, or null if nothing is focused. */
const FAULT = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (element === document.body) return null;
  if (element.matches('[type=date]:not(:focus-visible)')) return ''; // its icon has the focus, and the browser draws its outline
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

test('every element that Tab reaches shows a focus outline and is not covered', async () => {
  const FOUR_MINUTES = 4 * 60_000; // short enough to show the expiry warning at the lower edge throughout
  page = await world.enter('#/', world.keys.owner, { lasts: FOUR_MINUTES });
  await page.getByText('Your session ends at').waitFor();
  const faults: unknown[] = [];
  const reached: Record<string, number> = {};
  for (const room of ['', 'usage', 'domains', 'token', 'changes'] as const) {
    if (room === '') await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    else await page.evaluate(`location.hash = '#/${world.tulip.id}/${room}'`);
    if (room !== '') await awaitTab(page, room);
    await settle();
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 640 });
      await page.evaluate(`document.querySelector('.skip').focus()`);
      let stops = 0;
      for (; stops < 80; stops++) {
        await page.keyboard.press('Tab');
        const fault = await page.evaluate(FAULT);
        if (fault === null) break;
        if (fault !== '') faults.push(`${room}: ${fault}`);
      }
      reached[`${room} ${width}`] = stops;
    }
  }
  expect(faults).toEqual([]);
  expect(Object.entries(reached).filter(([, stops]) => stops < 10)).toEqual([]);
});

const unreachable = () => page.getByText('The service cannot be reached.').first().waitFor();
const abort = (path: RegExp, of = page) => of.route(path, (route) => route.abort());
/** Leaves later requests without a response until the page closes. */
const hang = (path: RegExp, of = page) => of.route(path, () => {});
const OF_BUSINESS = /\/business\/(usage\/)?\d/;
const LIST = /\/api\/v1\/business\?/;

const rotate = ({ id }: Spare, keep_old: string) => world.call('POST', `${id}/token`, { keep_old });

/** A view's URL hash, and a key to sign in with. */
type Target = [hash: string, key: string];
const owned = (
  which: 'tulip' | 'quiet' | 'oneDay' | 'long' | 'huge' | 'closed' | 'limited' | 'near' | 'full',
  rest = '',
): Target => [`#/${world[which].id}${rest}`, world.keys.owner];
async function spare(room: string, ...sites: string[]): Promise<void> {
  const business = await world.spare(...sites);
  await open([`#/${business.id}/${room}`, world.keys.spare]);
}
async function open(target: Target): Promise<void> {
  await begin(target);
  await settle();
}
/** Opens a view without waiting for its requests. */
async function begin([hash, key]: Target, before?: (page: Page) => Promise<unknown>): Promise<void> {
  page = await world.enter(hash, key, before && { before });
  await button('Sign out').waitFor();
}
async function loading(target: Target, path: RegExp): Promise<void> {
  await begin(target, (of) => hang(path, of));
  await page.clock.runFor(900); // long enough to show the loading placeholders
}
/** Opens a link in a signed-in tab, and waits for the question whether to open it. */
async function askToOpenLink(code: string): Promise<void> {
  await page.evaluate(`location.hash = '#code=${code}'`);
  await page.getByText('This link opens another session.').waitFor();
}
const A = 'https://shop.example';
const B = 'https://www.shop.example';
const C = 'https://*.tulip.example';
const row = (site: string) => page.locator('.item', { hasText: site });
async function add(text: string): Promise<void> {
  await page.locator('#site').fill(text);
  await page.keyboard.press('Enter');
}

/** States of the views. Each function brings the page to that state. */
const STATES: Record<string, () => Promise<unknown>> = {
  'sign-in-refused': async () => {
    page = await world.visit();
    await page.getByLabel('API key').fill(`bua_sk_0${'x'.repeat(33)}`);
    await page.keyboard.press('Enter');
    await page.getByText('This key does not work.').waitFor();
  },
  'sign-in-offline': async () => {
    page = await world.visit();
    await abort(/\/session$/);
    await page.getByLabel('API key').fill(world.keys.owner);
    await page.keyboard.press('Enter');
    await unreachable();
  },

  'list-loading': () => loading(['#/', world.keys.owner], LIST),
  'list-offline': async () => {
    await begin(['#/', world.keys.owner], (of) => abort(LIST, of));
    await unreachable();
  },
  'list-empty': async () => {
    await begin(['#/', world.keys.nobody]);
    await page.getByText('You have no businesses yet.').waitFor();
  },
  'list-many': () => open(['#/?sort=changed', world.keys.many]),
  'list-no-match': async () => {
    await open(['#/', world.keys.many]);
    await page.getByRole('searchbox').fill('nothing like it');
    await page.getByText('No businesses match').waitFor();
  },

  'usage-empty': async () => {
    await open(owned('quiet'));
    await page.getByRole('link', { name: 'copy the tag' }).waitFor();
  },
  'usage-first-day': () => open(owned('oneDay')),
  'usage-long-names': () => open(owned('long')),
  'usage-huge': () => open(owned('huge', '?range=364')),
  'usage-suspended': () => open(owned('closed')),
  'usage-near-limit': () => open(owned('near')),
  'usage-limit-reached': () => open(owned('full')),
  'usage-range-invalid': () => open(owned('tulip', '?from=2026-03-09&to=2026-03-01')),
  'usage-loading': () => loading(owned('tulip'), OF_BUSINESS),
  'usage-offline': async () => {
    await begin(owned('tulip'), async (of) => {
      await of.addInitScript(`Object.defineProperty(navigator, 'onLine', { value: false })`);
      await abort(OF_BUSINESS, of);
    });
    await page.getByText('You are offline.').first().waitFor();
    expect(await page.getByText('You are offline.').locator('visible=true').count()).toBe(1);
  },
  'usage-refresh-failed': async () => {
    await open(owned('tulip'));
    await abort(OF_BUSINESS);
    await button('Refresh').click();
    await page.getByText('Could not refresh.').waitFor();
  },
  'business-unknown': async () => {
    await begin(['#/99999', world.keys.owner]);
    await page.getByText('Business 99999 does not exist, or you do not have access to it.').waitFor();
  },

  'domains-none': () => open(owned('quiet', '/domains')),
  'domains-long-names': () => open(owned('long', '/domains')),
  'domains-read-only': () => open([`#/${world.tulip.id}/domains`, world.keys.reader]),
  'domains-removed': async () => {
    await spare('domains', A, B, 'https://xn--bcher-kva.example', 'http://localhost:5173');
    await button(`Remove ${B}`).click();
    await button(`Undo: add ${B} again`).waitFor();
  },
  'domains-not-removed': async () => {
    await spare('domains', A, B);
    await page.route(/\/access\/\d+$/, failWith(503, 'Service Unavailable'));
    await button(`Remove ${A}`).click();
    await row(A).getByText('The service cannot reach its database right now.').waitFor();
  },
  'domains-all-removed': async () => {
    await spare('domains', A, B, C);
    await openDialog('Remove all domains…');
    await button('Let the token work everywhere').click();
    await done('Removed. The token now works on every site.');
    await dialog().waitFor({ state: 'detached' });
  },
  'domains-invalid': async () => {
    await spare('domains', A);
    await add('b.example, ftp://shop.example sh');
    await page.getByText('Nothing was added:').waitFor();
  },
  'domains-filtered': async () => {
    await spare('domains', ...Array.from({ length: 40 }, (_, n) => `https://s${n}.example`));
    await page.getByLabel('Filter').fill('nothing like it');
    await page.getByText('of 40').waitFor();
  },
  'refused-and-added': async () => {
    const business = await world.spare(A);
    await world.refuse(
      business,
      'https://copycat.example',
      'https://a.shop.example',
      'http://shop.example',
      'https://x.example',
    );
    await open([`#/${business.id}/domains`, world.keys.spare]);
    await page.getByText('Other sites (2)').click();
    await button('Add https://*.shop.example').click();
    await page.getByText('Now passes.').waitFor();
  },

  'token-with-old-tokens': async () => {
    const business = await world.spare();
    for (const keep of ['1h', '24h', '30d']) await rotate(business, keep);
    await open([`#/${business.id}/token`, world.keys.spare]);
    await page.getByText('3 old tokens still work').waitFor();
  },

  'changes-many': async () => {
    const business = await world.spare(...Array.from({ length: 30 }, (_, n) => `https://s${n}.example`));
    await rotate(business, '24h');
    await open([`#/${business.id}/changes`, world.keys.spare]);
    await page.locator('.entry').first().waitFor();
  },
  'changes-range-invalid': async () => {
    await open([`#/${world.busy.id}/changes?from=2026-11-02&to=2026-11-01`, world.keys.busy]);
    await page.getByText('The last day is before the first day.').waitFor();
  },
  'session-near-expiry': async () => {
    page = await world.enter('#/', world.keys.owner, { lasts: 60_000 });
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await page.getByText('Your session ends at').waitFor();
  },
  'return-link-long': async () => {
    const returnUrl = `https://${'a-very-long-label-'.repeat(3)}.${'a-very-long-label-'.repeat(3)}.product.example/`;
    page = await world.enter(`#/${world.tulip.id}/token`, world.keys.reader, { returnUrl });
    await settle();
  },
  'return-link-session-expired': async () => {
    page = await world.enter('#/', world.keys.owner, { lasts: -1, returnUrl: 'https://product.example/' });
    await page.getByText('Your session has expired.').waitFor();
  },
  'link-question-before-armed': async () => {
    await open(['#/', world.keys.owner]);
    await holdFrames(page); // so the question's button stays unarmed
    await askToOpenLink(await world.newCode());
  },
  'link-refused': async () => {
    await open(['#/', world.keys.owner]);
    await askToOpenLink(world.lateCode);
    await armed();
    await button('Open the link').click();
    await page.getByText('This link has expired or has already been used.').waitFor();
  },
  'signed-out': async () => {
    await open(['#/', world.keys.owner]);
    await abort(/\/session$/);
    await button('Sign out').click();
    await page.getByText('but the service could not be reached').waitFor();
  },
};

test.each(Object.entries(STATES))('%s is accessible and fits', async (name, reach) => {
  await reach();
  await expectLooks(name);
});

test.runIf(wantsPictures)('retakes the pictures in the documentation', async () => {
  page = await world.enter(`#/${world.tulip.id}`, world.keys.owner, {
    viewport: { width: 1040, height: 1010 },
    deviceScaleFactor: 2,
  });
  await awaitTab(page, 'usage');
  await settle();
  await page.mouse.click(2, 2); // removes the focus from the title
  for (const [colorScheme, name] of [
    ['light', 'console'],
    ['dark', 'console-dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await shoot(page, name);
  }
});
