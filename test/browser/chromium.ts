// The browser of these tests, and the pages that it visits.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from './world.ts';

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium() ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** Somebody's site, of an origin of its own and with a strict policy: it shows what `body` is at the time. */
export async function startSite(service: string) {
  const site = { url: '', body: '', stop: () => {} };
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    const policy = `default-src 'none'; script-src ${service}; connect-src ${service}; style-src 'unsafe-inline'; img-src data:`;
    response.setHeader('Content-Security-Policy', policy);
    response.end(`<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>A shop</title>
      <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
      <script type="module" src="${service}/usage-chart.js"></script><main><h1>A shop</h1>${site.body}</main></html>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site.url = `http://localhost:${(server.address() as AddressInfo).port}`;
  site.stop = () => server.close();
  return site;
}
