// Starts Chromium, and servers for the pages that it visits.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';

const SHELL = '/usr/bin/chromium-headless-shell';
const WHOLES = ['/usr/bin/chromium', '/usr/bin/google-chrome'];
const installed = (paths: string[]) => paths.find((path) => existsSync(path));

/** Prefers the headless shell, which has the same engine but opens a page in two thirds of the time. */
const CHROMIUM = process.env.CHROMIUM ?? installed([SHELL, ...WHOLES]) ?? SHELL;
/** The full browser, because the shell has no back-forward cache. */
const WHOLE = installed(CHROMIUM.endsWith('headless-shell') ? WHOLES : [CHROMIUM]);
export const hasFullChromium = WHOLE !== undefined;

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

/** Launches a full Chromium with the back-forward cache, which Playwright disables. */
export const launchWithCache = (): Promise<Browser> =>
  chromium.launch(optionsOf(WHOLE ?? '', [], ['--disable-back-forward-cache']));

let shared: Promise<Browser> | undefined;

/** Returns the browser that all test files in this process share. It ends with the process. */
function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

export const launchProfile = async (folder: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, optionsOf(CHROMIUM, []));

/**
 * Opens each page of a test file in a new profile. Errors and warnings in the console of a page fail the test, unless the test removes
 * them from `complaints` or `forgiven` matches them.
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
  /** Closes the profile. Runs after each test. */
  async function leave(): Promise<void> {
    const remaining = complaints.splice(0).filter((text) => !forgiven?.test(text));
    // A route handler may still be waiting for a response that will never arrive once the profile is closed.
    await Promise.all(open?.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })) ?? []);
    await open?.close();
    open = undefined;
    expect(remaining).toEqual([]);
  }
  afterEach(leave);
  return { complaints, newPage, leave };
}

/** Polls for up to 20 seconds, because the machine may be busy. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

export async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

/** Starts a site on its own origin with a strict Content-Security-Policy. Serves the current value of `body`. */
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
