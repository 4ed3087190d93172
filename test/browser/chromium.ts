// The browser of these tests, and servers for the pages that it visits.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';

const SHELL = '/usr/bin/chromium-headless-shell';
const WHOLES = ['/usr/bin/chromium', '/usr/bin/google-chrome'];
const installed = (paths: string[]) => paths.find((path) => existsSync(path));

/** The shell has the same engine and no windows: it opens a page in two thirds of the time. */
const CHROMIUM = process.env.CHROMIUM ?? installed([SHELL, ...WHOLES]) ?? SHELL;
/** The shell lacks the back-forward cache. */
const WHOLE = installed(CHROMIUM.endsWith('headless-shell') ? WHOLES : [CHROMIUM]);
export const hasWhole = WHOLE !== undefined;

function optionsOf(path: string, flags: string[], unset: string[] = []) {
  if (!existsSync(path)) {
    const advice = 'install it (Debian: apt-get install chromium-headless-shell chromium), or set CHROMIUM';
    throw new Error(`Chromium is not at ${path}: ${advice}.`);
  }
  return {
    executablePath: path,
    ignoreDefaultArgs: unset,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  };
}

export const launch = (flags: string[] = []): Promise<Browser> => chromium.launch(optionsOf(CHROMIUM, flags));

/** A whole Chromium. `unset` are flags of Playwright's own that it is started without. */
export const launchWhole = (unset: string[]): Promise<Browser> => chromium.launch(optionsOf(WHOLE ?? '', [], unset));

let shared: Promise<Browser> | undefined;

/** The browser of this process, which all files that run in it share. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

/** A browser that keeps its profile in `folder`, as that of a person does. */
export const launchProfile = async (folder: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, optionsOf(CHROMIUM, []));

/**
 * The visits of a file of tests, each with a profile of its own. Errors and warnings in the console of a page fail the test, unless it has
 * taken them away, or `forgiven` matches them.
 */
export function visitsOfFile(forgiven?: RegExp) {
  const complaints: string[] = [];
  let open: BrowserContext | undefined;
  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const browser = await sharedBrowser();
    open = await browser.newContext({ locale: 'en-US', timezoneId: 'Pacific/Auckland', ...options });
    open.on('page', (page) => {
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
    });
    return open.newPage();
  }
  /** Ends a visit; the end of a test does, too. */
  async function leave(): Promise<void> {
    const met = complaints.splice(0).filter((text) => !forgiven?.test(text));
    await open?.close();
    open = undefined;
    expect(met).toEqual([]);
  }
  afterEach(leave);
  return { complaints, newPage, leave };
}

/** Waits for an answer as long as a machine with much to do takes. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

/** A server on a free port. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

/** Somebody's site, of an origin of its own and with a strict policy: it shows what `body` is at the time. */
export async function startSite(service: string) {
  const policy = `default-src 'none'; script-src ${service}; connect-src ${service}; style-src 'unsafe-inline'; img-src data:`;
  const site = { url: '', body: '', attributes: 'lang="en"', policy, stop: () => {} };
  const { port, stop } = await listen((_request, response) => {
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': site.policy };
    response.writeHead(200, headers).end(`<!doctype html><html ${site.attributes}><title>A shop</title>
      <meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width">
      <link rel="icon" href="data:,"><script type="module" src="${service}/usage-chart.js"></script>
      <main><h1>A shop</h1>${site.body}</main></html>`);
  });
  return Object.assign(site, { url: `http://localhost:${port}`, stop });
}
