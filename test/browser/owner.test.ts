// Signing in to the console at /owner, going through it by keyboard alone, and how much script it takes.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { consoleOfFile, signIn } from './console.ts';
import { eventually, failWith, goTo, openRoom } from './steps.ts';

const world = consoleOfFile();
let page: Page;

describe('signing in', () => {
  async function newSessionKey(): Promise<string> {
    const headers = { Authorization: `Bearer ${world.keys.owner}` };
    const answer = await fetch(`${world.url}/api/v1/session`, { method: 'POST', headers });
    return ((await answer.json()) as { data: { session_key: string } }).data.session_key;
  }

  test.each([
    [
      'an unknown key',
      () => `bua_sk_0${'x'.repeat(33)}`,
      'This key does not work. It may be mistyped, expired or revoked.',
    ],
    ['text that no header can carry', () => 'schlüssel', 'This key does not work.'],
    ['a business token', () => world.tulip.token, 'This is the token of a business, which anyone can see.'],
    [
      'a key that can only record',
      () => world.keys.recorder,
      'This key is only for recording uses, and cannot be used here.',
    ],
    [
      'the key of a session',
      () => newSessionKey(),
      'This is the key of a session, which works only where the session began.',
    ],
  ])('says in words why %s is refused', async (_, key, words) => {
    page = await world.visit();
    await page.getByLabel('API key').fill(await key());
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
  });

  test('says that an operator key works only on servers', async () => {
    page = await world.visit();
    const headers = { 'Error-Code': 'operator_key_in_page' };
    await page.route(/\/api\//, (route) => route.fulfill({ status: 403, json: { message: 'x' }, headers }));
    await page.getByLabel('API key').fill(`bua_op_${'x'.repeat(43)}`);
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .filter({ hasText: 'This is an operator key, which works only on servers.' })
      .waitFor();
  });

  test.each([
    [429, 'Too many requests. Try again in 10 seconds.'],
    [500, 'The service failed to answer.'],
    [503, 'The service cannot reach its database now. Try again in 10 seconds.'],
  ])('says what a response with %i means', async (status, words) => {
    page = await world.visit();
    await page.route(/\/api\//, failWith(status, 'x'));
    await page.getByLabel('API key').fill(world.keys.owner);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
  });
});

test('a key that can only read sees everything but the token, and nothing that changes', async () => {
  page = await openRoom(world, world.tulip, 'usage', world.keys.reader);
  await page.getByText('Read only').waitFor();
  const names = () => page.locator('.room').getByRole('button').allInnerTexts();
  expect(await names()).toEqual(['Download CSV', '‹', '›']);
  await goTo(page, 'domains');
  await page.getByText('Refused lately').waitFor();
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

test('the first view takes at most 100 ms of script, and so does the list after signing in', async () => {
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
