// Signing in to the console at /owner, read-only access, and the console's script time.
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile, signIn } from './console.ts';
import { failWith, goTo, openTab } from './steps.ts';

const world = consoleOfFile();
let page: Page;

describe('signing in', () => {
  async function newSessionKey(): Promise<string> {
    const headers = { Authorization: `Bearer ${world.keys.owner}` };
    const answer = await fetch(`${world.url}/api/v1/session`, { method: 'POST', headers });
    return ((await answer.json()) as { data: { session_key: string } }).data.session_key;
  }

  test('explains why a key is refused, and keeps the focus in the field', async () => {
    page = await world.visit();
    for (const [key, words] of [
      [`bua_sk_0${'x'.repeat(33)}`, 'This key does not work. It may be mistyped, expired or revoked.'],
      [world.tulip.token, 'This is a business token, which is public.'],
      ['schlüssel', 'This key does not work.'], // not valid in a header
      [world.keys.recorder, 'This key can only record uses, so it does not work here.'],
      [await newSessionKey(), 'This is a session key, which works only where the session began.'],
    ] as const) {
      await page.getByLabel('API key').fill(key);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: words }).waitFor();
      await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
    }
  });

  test('explains the service’s error responses', async () => {
    page = await world.visit();
    let answer = failWith(429, 'x');
    await page.route(/\/api\//, (route) => answer(route));
    await page.getByLabel('API key').fill(world.keys.owner);
    const headers = { 'Error-Code': 'operator_key_in_page' };
    for (const [next, words] of [
      [failWith(429, 'x'), 'Too many requests. Try again in 10 seconds.'],
      [failWith(500, 'x'), 'The service failed to respond.'],
      [failWith(503, 'x'), 'The service cannot reach its database right now. Try again in 10 seconds.'],
      [
        (route: Route) => route.fulfill({ status: 403, json: { message: 'x' }, headers }),
        'This is an operator key, which works only on servers.',
      ],
    ] as const) {
      answer = next;
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: words }).waitFor();
    }
  });
});

test('a read-only key sees every view, but neither the whole token nor buttons that change data', async () => {
  page = await openTab(world, world.tulip, 'usage', world.keys.reader);
  await page.getByText('Read-only', { exact: true }).waitFor();
  const names = () => page.locator('.room').getByRole('button').allInnerTexts();
  await page.locator('.sources table').waitFor();
  expect(await names()).toEqual(['Download CSV', '‹', '›', 'Download CSV by source']);
  await goTo(page, 'domains');
  await page.getByText('Recently refused').waitFor();
  await page.getByLabel('Would this origin pass?').fill('https://other.example');
  await page.locator('.verdict').waitFor();
  expect(await names()).toEqual([]);
  await goTo(page, 'token');
  expect(await names()).toEqual([]);
  expect(await page.locator('main').innerText()).not.toContain(world.tulip.token);
  await goTo(page, 'changes');
  await page.getByText('Business created').waitFor();
  expect(await names()).toEqual(['Clear']);
});

test('scripts run for less than 100 ms until the sign-in page is shown, and for less than another 100 ms until the list is shown', async () => {
  page = await world.visit();
  const cdp = await page.context().newCDPSession(page);
  const scripted = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    const milliseconds = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
    return { script: milliseconds('ScriptDuration'), task: milliseconds('TaskDuration') };
  };
  await cdp.send('Performance.enable');
  await page.reload();
  await page.getByLabel('API key').waitFor();
  const first = await scripted();
  await signIn(page, world.keys.owner);
  await page.getByRole('link', { name: 'Tulip Shop' }).waitFor();
  const list = await scripted();
  const spent = { first: first.script, list: list.script - first.script };
  console.log('script, ms', spent, 'tasks, ms', first.task, list.task - first.task);
  expect(spent.first).toBeLessThan(100);
  expect(spent.list).toBeLessThan(100);
});
