// Nine jobs that owners do in the console, by keyboard alone, for an owner with 35 businesses and two years of history. Counts and prints
// the key presses and requests that each job takes.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from './chromium.ts';
import { consoleOfFile } from './console.ts';
import { keyboardOn } from './keyboard.ts';
import { stepsOn } from './steps.ts';

const world = consoleOfFile();
let page: Page;
const { done } = stepsOn(() => page);

const MOST: Record<string, [presses: number, requests: number]> = {
  'sign in': [2, 2],
  'last billing month of all businesses': [9, 1],
  'find a business': [3, 7],
  'will the limit be reached?': [0, 0],
  'did it grow this month?': [8, 4],
  'why is a page refused? allow it': [12, 4],
  'replace the token, then stop the old one': [24, 5],
  'last quarter as CSV': [17, 12],
  'who removed a domain last week?': [10, 3],
};

// No second try, because the first one changes the businesses.
test('each of nine jobs, done by keyboard alone, stays within its maximum of key presses and requests', {
  retry: 0,
}, async () => {
  page = await world.visit();
  await page.getByLabel('API key').waitFor();
  await eventually(() => page.evaluate('document.activeElement.id')).toBe('key');
  const { press, type, goTo, quiet, counted } = keyboardOn(page);
  const table: Record<string, ReturnType<typeof counted>> = {};
  async function ended(job: string): Promise<void> {
    await quiet();
    table[job] = counted();
  }
  const titled = async (name: string | RegExp) => {
    await page.getByRole('heading', { name }).waitFor();
    await quiet();
  };

  await type(world.keys.busy);
  await press('Enter');
  await titled('Businesses');
  await page.getByRole('link', { name: 'Zürich Café' }).waitFor();
  await ended('sign in');

  await goTo(/^CSV of last billing month/);
  const months = page.waitForEvent('download');
  await press('Enter');
  expect(readFileSync(await (await months).path(), 'utf8')).toContain(',Zürich Café,');
  await ended('last billing month of all businesses');

  await press('/');
  await type('cafe zurich');
  await page.getByText(/^1 of 35 businesses/).waitFor();
  await press('Enter');
  await titled('Zürich Café');
  await ended('find a business');

  await page.getByText(/^(reaches it about|about|just under) .* \d+$/).waitFor();
  await ended('will the limit be reached?');

  await goTo(/^Days/);
  await type('This cal');
  await page.locator('usage-chart .change', { hasText: /[+−]?\d+%/ }).waitFor();
  await ended('did it grow this month?');

  await goTo(/^1 refused origin/, 'Shift+Tab');
  await press('Enter');
  await titled('Recently refused');
  await page.getByText(/www\./).first().waitFor();
  await goTo(/^Add https:\/\/www\.cafe\.example/);
  await press('Enter');
  await page.getByText('Now passes.').waitFor();
  await ended('why is a page refused? allow it');

  await goTo(/^Token$/, 'Shift+Tab');
  await press('Enter');
  await titled(/^Token/);
  await goTo(/^Replace the token/);
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await goTo(/^Replace, and keep/);
  await press('Enter');
  await done('The new token is');
  await quiet(); // the old token is read
  await goTo(/^Stop /);
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await goTo(/^Stop /);
  await press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await done(/no longer work|stopped/);
  await ended('replace the token, then stop the old one');

  await goTo(/^Usage$/, 'Shift+Tab');
  await press('Enter');
  await titled('Usage');
  await goTo(/^Days/);
  await type('Last q');
  await quiet();
  await goTo(/^Download CSV/);
  const downloading = page.waitForEvent('download');
  await press('Enter');
  const lines = readFileSync(await (await downloading).path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines.length).toBeGreaterThanOrEqual(1 + 90);
  await ended('last quarter as CSV');

  await goTo(/^Changes$/, 'Shift+Tab');
  await press('Enter');
  await titled('Changes');
  await goTo(/^Type/);
  await type('Domains removed');
  await page.locator('.entry', { hasText: 'https://page-45.cafe.example' }).waitFor();
  expect(await page.locator('.entry', { hasText: 'https://page-45.cafe.example' }).innerText()).toContain(
    'Owner laptop',
  );
  await ended('who removed a domain last week?');

  console.log(table);
  const tooMany = Object.entries(table).filter(([job, { presses, requests }]) => {
    const [mostPresses, mostRequests] = MOST[job] ?? [0, 0];
    return presses > mostPresses || requests > mostRequests;
  });
  expect(tooMany).toEqual([]);
});
