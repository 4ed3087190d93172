// SERVICE_NAME, the name of the console (docs/operating.md, "The name in the console").
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';
import { visitsOfFile } from './chromium.ts';
import { consoleOfFile, expectFits, shoot } from './console.ts';

const NAME = `Acme · <b onclick="alert(1)">Insights</b> & ${'W'.repeat(16)}`;
const visits = visitsOfFile();
const world = consoleOfFile();
let service: Service;
beforeAll(async () => {
  service = await startService(newDatabase(), { secrets: { SERVICE_NAME: NAME } });
});
afterAll(() => service?.stop());

const inHeader = (page: Page) => page.locator('header .home').innerText();

test('SERVICE_NAME is shown as text, never as HTML, in the document title and the header', async () => {
  const page = await visits.newPage();
  await page.goto(`${service.url}/owner`);
  await page.getByLabel('API key').waitFor();
  expect([await page.title(), await inHeader(page)]).toEqual([`Sign in · ${NAME}`, NAME]);
  expect(await page.locator('header b').count()).toBe(0);
  await page.getByLabel('API key').fill('x');
  await page.reload();
  await page.getByLabel('API key').waitFor();
  expect([await page.title(), await inHeader(page)]).toEqual([`Sign in · ${NAME}`, NAME]);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 600 });
    await expectFits(page);
    await shoot(page, `service-name-${width}`);
  }
});

test('SERVICE_NAME defaults to “Business Usage and Access”', async () => {
  const page = await world.visit();
  await page.getByLabel('API key').waitFor();
  const name = 'Business Usage and Access';
  expect([await page.title(), await inHeader(page)]).toEqual([`Sign in · ${name}`, name]);
});
