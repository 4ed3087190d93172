// Every view of the console in every state, at every width, light and dark: accessible, within its window, and photographed to be
// looked at (dist/screenshots). With PICTURES=1, those of the documentation (docs/images) are taken again.
import { join, resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, keptIn, openConsole, SHOTS, shoot, signIn } from './console.ts';
import { goTo } from './steps.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');

const closing: (() => unknown)[] = [];
let world: Awaited<ReturnType<typeof openConsole>>;
beforeAll(async () => {
  world = await openConsole(closing);
});
afterEach(() => world.leave());
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** The view is complete: no skeleton is left, and the chart is drawn. */
async function settle(page: Page): Promise<void> {
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  if ((await page.locator('usage-chart').count()) > 0) {
    await page.locator('usage-chart .bar').first().waitFor({ state: 'attached' });
    await page.getByText('…', { exact: true }).waitFor({ state: 'detached' });
  }
}

const WIDTHS = [320, 768, 1280, 1920];
const looks = WIDTHS.flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })));
const sized = (width: number, colorScheme: 'light' | 'dark'): BrowserContextOptions => ({
  viewport: { width, height: 900 },
  deviceScaleFactor: width === 320 ? 2 : 1,
  colorScheme,
  ...(width === 320 && { hasTouch: true, isMobile: true }),
});

describe.each(looks)('at $width px, $colorScheme,', ({ width, colorScheme }) => {
  const look = `${width}-${colorScheme}`;

  test('every view is accessible and fits', async () => {
    const page = await world.visit('', sized(width, colorScheme));
    await page.getByLabel('API key').waitFor();
    await expectAccessible(page);
    await shoot(page, `sign-in-${look}`);
    await signIn(page, world.keys.owner);
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await expectAccessible(page);
    await shoot(page, `businesses-${look}`);

    await page.getByRole('link', { name: 'Tulip Shop' }).click();
    await settle(page);
    await expectAccessible(page);
    await shoot(page, `usage-${look}`);
    await goTo(page, 'changes');
    await expectAccessible(page);
    await shoot(page, `changes-${look}`);

    await goTo(page, 'token');
    await expectAccessible(page);
    await shoot(page, `token-${look}`);
    await page.getByRole('button', { name: 'Replace the token…' }).click();
    await page.getByRole('dialog').waitFor();
    await page.waitForTimeout(600);
    await expectAccessible(page);
    await shoot(page, `rotate-${look}`, { fullPage: false });
    await page.keyboard.press('Escape');

    await goTo(page, 'domains');
    await page.getByText('Refused lately').waitFor();
    await page.getByLabel('Would this origin pass?').fill('https://other.example');
    await expectAccessible(page);
    await shoot(page, `domains-${look}`);
    await page.getByRole('button', { name: 'Remove all domains…' }).click();
    await page.getByRole('dialog').waitFor();
    await page.waitForTimeout(600);
    await expectAccessible(page);
    await shoot(page, `lift-${look}`, { fullPage: false });
  });
});

describe.each([
  { width: 320, colorScheme: 'light' as const },
  { width: 320, colorScheme: 'dark' as const },
  { width: 1280, colorScheme: 'light' as const },
])('at $width px, $colorScheme, photographed: a session', ({ width, colorScheme }) => {
  const look = `${width}-${colorScheme}`;

  test('that a link begins, until it ends', async () => {
    const page = await world.visit(`#code=${world.newCode('ofAMinute')}`, sized(width, colorScheme));
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await page.getByText('Your time ends at').waitFor();
    await expectAccessible(page);
    await shoot(page, `near-end-${look}`, { fullPage: false });
    await page.clock.install({ time: ((await keptIn(page))?.endsAt ?? 0) - 1000 });
    await page.reload();
    await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
    await page.clock.runFor(1000);
    await page.getByText('Your time is over.').waitFor();
    await expectAccessible(page);
    await shoot(page, `link-over-${look}`);
  });

  test('that a link could not begin', async () => {
    const page = await world.visit('', sized(width, colorScheme));
    await signIn(page, world.keys.owner);
    await page.route(/\/session$/, (route) => route.abort());
    await page.evaluate(`location.hash = '#code=${world.newCode()}'`);
    await page.getByText('This link opens another session.').waitFor();
    await expectAccessible(page); // while the button cannot be pressed
    await page.locator('[aria-disabled]').waitFor({ state: 'detached' });
    await expectAccessible(page);
    await shoot(page, `link-asks-${look}`);
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByText('The service cannot be reached.').waitFor();
    await expectAccessible(page);
    await shoot(page, `link-lost-${look}`);
    await page.unroute(/\/session$/);
    await page.evaluate(`location.hash = '#code=${world.newCode('late')}'`);
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByText('This link has expired or was used already.').waitFor();
    await expectAccessible(page);
    await shoot(page, `link-refused-${look}`);
  });

  test('that was signed out', async () => {
    const page = await world.visit('', sized(width, colorScheme));
    await signIn(page, world.keys.owner);
    await page.route(/\/session$/, (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('but the service could not be told').waitFor();
    await expectAccessible(page);
    await shoot(page, `signed-out-${look}`);
  });
});

describe.each([
  { width: 320, colorScheme: 'dark' as const },
  { width: 1280, colorScheme: 'light' as const },
])('at $width px, $colorScheme, photographed', ({ width, colorScheme }) => {
  const look = `${width}-${colorScheme}`;

  test.each(['quiet', 'oneDay', 'long', 'huge', 'closed', 'limited'] as const)(
    'a business that is %s',
    async (which) => {
      const page = await world.visit(`#/${world[which].id}`, sized(width, colorScheme));
      await signIn(page, world.keys.owner);
      await settle(page);
      if (which === 'huge') await page.getByRole('button', { name: '365 days' }).click();
      if (which === 'limited') await page.getByRole('heading', { name: 'Limits' }).waitFor();
      await settle(page);
      await expectAccessible(page);
      await shoot(page, `business-${which}-${look}`);
    },
  );

  test('with a key that can only read', async () => {
    const page = await world.visit(`#/${world.tulip.id}`, sized(width, colorScheme));
    await signIn(page, world.keys.reader);
    await settle(page);
    for (const room of ['domains', 'token'] as const) {
      await goTo(page, room);
      await expectAccessible(page);
      await shoot(page, `${room}-read-only-${look}`);
    }
  });

  test('no business, and a search without a match', async () => {
    const page = await world.visit('', sized(width, colorScheme));
    await signIn(page, world.keys.nobody);
    await page.getByText('There is no business').waitFor();
    await expectAccessible(page);
    await shoot(page, `businesses-none-${look}`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, world.keys.many);
    await page.getByRole('searchbox').fill('nothing like it');
    await page.getByText('No business matches').waitFor();
    await expectAccessible(page);
    await shoot(page, `businesses-not-found-${look}`);
  });

  test('refused, loading and offline', async () => {
    const page = await world.visit(`#/${world.tulip.id}`, sized(width, colorScheme));
    await page.getByLabel('API key').fill(`bua_sk_0${'x'.repeat(33)}`);
    await page.keyboard.press('Enter');
    await page.getByText('This key does not work.').waitFor();
    await expectAccessible(page);
    await shoot(page, `sign-in-refused-${look}`);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isOfBusiness = /\/business\/(usage\/)?\d/;
    await page.route(isOfBusiness, async (route) => {
      await held;
      await route.abort();
    });
    await signIn(page, world.keys.owner);
    await page.waitForTimeout(700);
    await expectAccessible(page);
    await shoot(page, `business-loading-${look}`);
    release();
    await page.getByText('The service cannot be reached.').first().waitFor();
    await expectAccessible(page);
    await shoot(page, `business-offline-${look}`);
    await page.unroute(isOfBusiness);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await settle(page);
    await page.evaluate(`location.hash = '#/99999'`);
    await page.getByText('There is no business 99999 that you can see here.').waitFor();
    await expectAccessible(page);
    await shoot(page, `business-unknown-${look}`);
  });
});

test.each([
  ['light', 'console.png'],
  ['dark', 'console-dark.png'],
] as const)('the picture of the documentation, %s', async (colorScheme, file) => {
  const page = await world.visit(`#/${world.tulip.id}`, {
    viewport: { width: 1040, height: 760 },
    deviceScaleFactor: 2,
    colorScheme,
  });
  await signIn(page, world.keys.owner);
  await settle(page);
  await page.screenshot({ path: join(process.env.PICTURES === undefined ? SHOTS : IMAGES, file) });
});

test('with a finger, everything that can be pressed is at least 44 px high and wide', async () => {
  const page = await world.visit(`#/${world.tulip.id}`, sized(320, 'light'));
  const small = async () =>
    page.evaluate(`[...document.querySelectorAll('a, button, input, label:has(input)')]
      .filter((element) => element.checkVisibility() && !(element.matches('input') && element.closest('label.radio')))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
      .map(({ element, box }) => element.outerHTML.slice(0, 80) + ' ' + box.width + 'x' + box.height)`);
  expect(await small()).toEqual([]);
  await signIn(page, world.keys.owner);
  await settle(page);
  expect(await small()).toEqual([]);
  await page.evaluate(`location.hash = '#code=${world.newCode()}'`);
  await page.getByRole('button', { name: 'Stay signed in' }).waitFor();
  expect(await small()).toEqual([]);
  await page.getByRole('button', { name: 'Stay signed in' }).click();
  await page.getByRole('link', { name: 'Tulip Shop' }).click();
  await settle(page);
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
