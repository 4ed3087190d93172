// The usage of a business in the console: the days, the figures, and the file.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openConsole, signIn } from './console.ts';
import { stepsOn } from './steps.ts';

const closing: (() => unknown)[] = [];
let world: Awaited<ReturnType<typeof openConsole>>;
let page: Page;
beforeAll(async () => {
  world = await openConsole(closing);
});
afterEach(() => world.leave());
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
const { button } = stepsOn(() => page);

describe('the usage', () => {
  test('is shown for other days, with its figures, and as a file', async () => {
    page = await world.visit(`#/${world.tulip.id}`);
    await signIn(page, world.keys.owner);
    const bars = page.locator('usage-chart .bar');
    const shows = (days: number) => vi.waitFor(async () => expect(await bars.count()).toBe(days), 5000);
    await shows(30);
    const [from, to] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true })];
    await button('7 days').click();
    await shows(7);
    expect(await button('7 days').getAttribute('aria-pressed')).toBe('true');
    await from.fill('2026-01-05');
    await to.fill('2026-01-08');
    await shows(4);
    expect(await button('7 days').getAttribute('aria-pressed')).toBe('false');
    await button('30 days').click();
    await shows(30);
    await page.locator('.figures', { hasText: /Change[+−-]\d/ }).waitFor();
    const report = await fetch(
      `${world.url}/api/v1/business/usage/${world.tulip.id}?from=${await from.inputValue()}&to=${await to.inputValue()}`,
      { headers: { Authorization: `Bearer ${world.keys.owner}` } },
    );
    const { data } = (await report.json()) as { data: { used: { date: string; count: number }[] } };
    const peak = Math.max(...data.used.map(({ count }) => count));
    expect(await page.locator('.figures').innerText()).toContain(`Peak\n${peak}`);
    expect(await bars.count()).toBe(30);
    const downloading = page.waitForEvent('download');
    await button('Download CSV').click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(
      `usage-${world.tulip.id}-${await from.inputValue()}-${await to.inputValue()}.csv`,
    );
    expect(readFileSync(await download.path(), 'utf8')).toBe(
      ['date,count', ...data.used.map(({ date, count }) => `${date},${count}`), ''].join('\r\n'),
    );
  });
});

test('an impossible range of days is explained in plain words', async () => {
  page = await world.visit(`#/${world.tulip.id}`);
  await signIn(page, world.keys.owner);
  const [from, to] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true })];
  await to.fill('2026-01-08');
  for (const [first, words] of [
    ['2026-01-09', 'The first day is after the last day. Choose another one.'],
    ['2020-01-01', 'Choose at most 1830 days.'],
  ] as const) {
    await from.fill(first);
    await page.locator('usage-chart').getByText(words).waitFor();
    await button('Download CSV').click();
    await page.getByRole('alert').getByText(words).waitFor();
  }
  await button('7 days').click();
  await page.locator('usage-chart .bar').first().waitFor({ state: 'attached' });
  await world.leave(/^Failed to load resource|: 422 from must /);
});
