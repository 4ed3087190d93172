// The page at / in a browser.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openapi } from '../../src/openapi/document.ts';
import type { pin } from '../../src/tools/chart.ts';
import { freePort } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';
import { startSite, visitsOfFile } from './chromium.ts';
import { expectAccessible, expectContrast, expectFits, shoot, wantsPictures } from './console.ts';

const ROOT = resolve(import.meta.dirname, '../..');

type Site = Awaited<ReturnType<typeof startSite>>;

let service: string;
let server: ReturnType<typeof spawn>;
let stranger: Site;
/** What `npm run dev` has printed. */
let output = '';
/** A business without uses. */
let quiet: { id: string; token: string };

beforeAll(async () => {
  const port = await freePort();
  service = `http://localhost:${port}`;
  stranger = await startSite(service);
  // Starts the service as `npm run dev` does.
  const args = ['src/tools/dev.ts', '--port', `${port}`, '--persist-to', newDatabase()];
  server = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const shop = () => output.match(/SHOP=(\d+) SHOP_TOKEN=(\w+)/);
  const hasDemo = async () => (await (await fetch(`${service}/`)).text()).includes('id="live" business=');
  const deadline = Date.now() + 50_000;
  while (!(shop() && (await hasDemo().catch(() => false)))) {
    if (Date.now() > deadline) throw new Error(`npm run dev did not show its demo: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const [, id = '', token = ''] = shop() ?? [];
  quiet = { id, token };
});

afterAll(async () => {
  stranger?.stop();
  if (server?.pid !== undefined && server.exitCode === null) {
    const ended = once(server, 'exit');
    process.kill(-server.pid);
    await ended;
  }
});

let page: Page;
const { complaints, newPage } = visitsOfFile();

async function visit(url: string, options: BrowserContextOptions = {}): Promise<void> {
  page = await newPage(options);
  await page.goto(url);
}

const bars = () => page.locator('usage-chart .bar');

describe('the page at /', () => {
  test('shows the demo business immediately, a tag that works when pasted, and the console of its owner', async () => {
    await visit(service);
    await page.locator('#live .bar').first().waitFor({ state: 'attached' });
    expect(await page.locator('#live .bar').count()).toBe(28); // the demo has no uses today
    const pasted = await page.locator('#tag').innerText();
    await page.getByText('With an integrity hash').click();
    const answer = await fetch(`${service}/v1/usage-chart.json`);
    const { path, integrity } = (await answer.json()) as ReturnType<typeof pin>;
    const address = (suffix: string) => `src="${service}/v1/usage-chart.js${suffix}></script>`;
    const pinned = `?${path.split('?')[1]}" integrity="${integrity}" crossorigin`;
    expect(await page.locator('#pinned-tag').innerText()).toBe(pasted.replace(address('"'), address(pinned)));
    expect(pasted).toMatch(/token="bua_pk_0[0-9A-Za-z]{33}" compare><\/usage-chart>/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(pasted);
    await page.getByRole('link', { name: 'Console for owners' }).click();
    await page.getByRole('link', { name: 'Café Lumen' }).waitFor();
    stranger.body = pasted;
    await page.goto(stranger.url);
    await bars().first().waitFor({ state: 'attached' });
    expect(await bars().count()).toBe(28);
  });

  test('shows the chart of a business whose token is entered, on a deployment without the demo', async () => {
    await visit('about:blank');
    await page.route(`${service}/`, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(/<usage-chart id="live"[^>]*>/, '<usage-chart id="live" hidden>');
      await route.fulfill({ response: answer, body });
    });
    await page.goto(service);
    await page.getByLabel('Business ID').fill(quiet.id);
    const tag = await page.locator('#tag').innerText();
    await page.getByLabel('Business token').fill(`bua_sk_${'k'.repeat(34)}`);
    await page.getByRole('button', { name: 'Show chart' }).click();
    await page.locator('#live [data-state=refused]').waitFor();
    expect(await page.locator('#tag').innerText()).toBe(tag);
    expect(complaints.splice(0)).toEqual([expect.stringContaining('token is a secret key')]);
    await page.getByLabel('Business token').fill(quiet.token);
    await page.getByRole('button', { name: 'Show chart' }).click();
    await page.locator('#live [data-state=empty]').waitFor();
    expect(await page.locator('#tag').innerText()).toContain(quiet.token);
    await expectAccessible(page);
  });

  test('has commands to try that let a refused site in', async () => {
    await visit(service);
    await page.getByText('Try: fix the refused site.').click();
    const commands = await page.locator('#operations details').first().locator('pre').innerText();
    const exported = output.match(/^export .*/gm)?.join('\n');
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      `${exported}\n${commands.replaceAll('curl', 'echo; curl -s')}`,
    ]);
    const [refused, listed, added, used] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const site = 'https://www.cafe.example';
    expect(refused).toEqual({ status: false, message: expect.stringContaining(`Origin ${site} is not authorized`) });
    expect(listed.data.refused).toContainEqual(expect.objectContaining({ origin: site }));
    expect(added.data.access_list).toContainEqual(expect.objectContaining({ site }));
    expect(used).toEqual({ status: true, data: { used: expect.any(Array) } });
  });

  test('without JavaScript shows everything except the chart and the forms', async () => {
    await visit(service, { javaScriptEnabled: false });
    expect(await page.locator('noscript').first().innerText()).toContain('The chart needs JavaScript.');
    expect(await page.locator('form:visible').count()).toBe(0);
    for (const group of await page.locator('#operations summary').all()) await group.click();
    expect(await page.locator('.operation:visible').count()).toBe(
      Object.values(openapi().paths ?? {}).flatMap(({ parameters: _, ...operations }) => Object.keys(operations))
        .length,
    );
    expect(await page.locator('.operation pre').allInnerTexts()).toContainEqual(
      expect.stringContaining('curl "$API/business/usage/$BUSINESS?from='),
    );
  });
});

test('the page at / is accessible and fits at any size and in any theme', async () => {
  await visit(service, { deviceScaleFactor: wantsPictures ? 2 : 1 });
  await page.locator('#live .bar').first().waitFor({ state: 'attached' });
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2500);
  for (const group of await page.locator('summary').all()) await group.click();
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      if (colorScheme === 'light') await expectAccessible(page);
      else await expectContrast(page);
      await page.locator('#live .plot').focus();
      await page.keyboard.press('End');
      for (let day = 0; day < 10; day++) await page.keyboard.press('ArrowLeft');
      await expectFits(page);
      await shoot(page, `page-${width}-${colorScheme}`, { fullPage: true });
    }
  }
});
