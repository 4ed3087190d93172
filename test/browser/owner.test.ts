// Signing in to the console at /owner, and read-only access.
import { expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile } from './console.ts';
import { failWith, goTo, openTab } from './steps.ts';

const world = consoleOfFile();

test('signing in explains why a key is refused or the service fails, and keeps the focus in the field', async () => {
  const page = await world.visit();
  for (const [key, words] of [
    [`bua_sk_0${'x'.repeat(33)}`, 'This key does not work. It may be mistyped, expired or revoked.'],
    [world.tulip.token, 'This is a business token, which is public.'],
    ['schlüssel', 'This key does not work.'], // not valid in a header
    [world.keys.recorder, 'This key can only record uses, so it does not work here.'],
    [world.operatorKey, 'This is an operator key, which works only on servers.'],
    [
      (await world.newSession(world.keys.owner)).key,
      'This is a session key, which works only where the session began.',
    ],
  ] as const) {
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
  }
  await page.route(/\/api\//, failWith(500, 'x'));
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'The service failed to respond.' }).waitFor();
});

test('a read-only key sees every view, but neither the whole token nor buttons that change data', async () => {
  const page = await openTab(world, world.tulip, 'usage', world.keys.reader);
  await page.getByText('Read-only', { exact: true }).waitFor();
  const names = () => page.locator('.room').getByRole('button').allInnerTexts();
  await page.locator('.sources table').waitFor();
  expect(await names()).toEqual(['‹', '›', 'Download CSV', 'Download CSV by source', 'Look it up']);
  await goTo(page, 'domains');
  await page.getByText('Recently refused').waitFor();
  await page.getByLabel('Would this origin pass?').fill('https://other.example');
  await page.locator('.verdict').waitFor();
  expect(await names()).toEqual([]);
  await goTo(page, 'token');
  expect(await names()).toEqual([]);
  expect(await page.locator('main').innerText()).not.toContain(world.tulip.token);
  await goTo(page, 'changes');
  await page.locator('.entry', { hasText: 'Business created' }).waitFor();
  expect(await names()).toEqual(['Clear']);
});
