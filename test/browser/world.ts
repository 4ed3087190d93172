// The fixture for token.test.ts: the service behind a recording proxy, pages on several origins, and Chromium.
import { writeFileSync } from 'node:fs';
import { Agent, type RequestListener, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Frame, Page } from 'playwright-core';
import { inject } from 'vitest';
import { newFolder } from '../node/state.ts';
import { launch, listen } from './chromium.ts';
import type {} from './owners.ts'; // for the types of the provided values

const USER = 7;
// Resolves names under .example to this machine, so tests can visit subdomains.
const FLAGS = ['--no-proxy-server', '--host-resolver-rules=MAP *.example 127.0.0.1'];

/** A response that a page's script can read. */
type Received = { status: number; body: unknown };

const PAGE = `<!doctype html><title>page</title><script>
  async function ask(url, init) {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(10000) });
    return { status: answer.status, body: await answer.json() };
  }
</script>`;
const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
export const OWN_PAGE = '/page';
const escaped = PAGE.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const PAGES: Record<string, string> = {
  '/': PAGE,
  '/sandboxed': '<!doctype html><iframe sandbox="allow-scripts" src="/"></iframe>',
  '/sandboxed-srcdoc': `<!doctype html><iframe sandbox="allow-scripts" srcdoc="${escaped}"></iframe>`,
  '/sandboxed-same-origin': '<!doctype html><iframe sandbox="allow-scripts allow-same-origin" src="/"></iframe>',
  '/srcdoc': `<!doctype html><iframe srcdoc="${escaped}"></iframe>`,
  '/data': `<!doctype html><iframe src="data:text/html,${encodeURIComponent(PAGE)}"></iframe>`,
};
const servePages: RequestListener = ({ url = '' }, answer) => {
  const page = PAGES[url];
  answer.writeHead(page === undefined ? 404 : 200, HTML).end(page);
};

/** A request that passed through the proxy. */
type Passed = { method: string; path: string; headers: Record<string, string | string[] | undefined> };

/** Starts a proxy that forwards requests unchanged, including the Host header, and records them. */
async function startProxy(service: string, closing: (() => unknown)[]) {
  const passed: Passed[] = [];
  const agent = new Agent({ keepAlive: true });
  const { port, stop } = await listen((incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    if (path === OWN_PAGE) return void outgoing.writeHead(200, HTML).end(PAGE);
    passed.push({ method, path, headers });
    const onward = request(service + path, { method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  closing.push(stop, () => agent.destroy());
  return { passed, origin: `http://localhost:${port}` };
}

/** Opens the fixture. Appends the functions that close it to `closing`. */
export async function openWorld(closing: (() => unknown)[]) {
  const [a, b] = [await listen(servePages), await listen(servePages)];
  closing.push(a.stop, b.stop);
  const file = join(newFolder(), 'page.html');
  writeFileSync(file, PAGE);

  const { url, operatorKey } = inject('owners');
  const { origin: service, passed } = await startProxy(url, closing);
  const browser = await launch(FLAGS);
  closing.push(() => browser.close());

  async function call<Data>(credential: string, method: string, path: string, body?: object): Promise<Data> {
    const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Data }).data;
  }
  const { api_key } = await call<{ api_key: string }>(operatorKey, 'POST', `/api/v1/user/${USER}/keys`);
  /** Sends a request from the owner's server. */
  const manage = (method: string, path: string, body?: object) =>
    call<{ access_list: { id: number; site: string }[] }>(api_key, method, path, body);

  const operate = (method: string, path: string, body: object) => call(operatorKey, method, path, body);

  /** Creates a business for one test, with these sites. */
  async function newBusiness(...sites: string[]) {
    const fields = { user_id: USER, name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
    const row = { ...fields, country_id: 1, business_size: 'small' };
    const business = await call<{ id: number; token: string }>(operatorKey, 'POST', '/api/v1/business', row);
    const access = `/api/v1/business/${business.id}/access`;
    if (sites.length > 0) await manage('POST', access, { sites });
    return { ...business, access, usage: `/api/v1/business/usage/${business.id}` };
  }

  /** Opens `url` in a new profile, so tests share no cache. */
  async function visit(url: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    return page;
  }

  const origins = { a: `http://localhost:${a.port}`, b: `http://localhost:${b.port}` };
  const ports = { a: a.port, b: b.port };
  return {
    api_key,
    file: pathToFileURL(file).href,
    origins,
    ports,
    service,
    passed,
    manage,
    operate,
    newBusiness,
    visit,
  };
}

/** Returns the only frame in a page. */
export const frameIn = (page: Page): Frame => page.mainFrame().childFrames()[0] as Frame;

type Init = { method?: string; headers?: Record<string, string>; body?: string };

/** Sends a request from the script of a page or frame. */
export function ask(page: Page | Frame, url: string, credential: string, init: Init = {}): Promise<Received> {
  const headers = { Authorization: `Bearer ${credential}`, ...init.headers };
  type Asking = { ask: (url: string, init: Init) => Promise<Received> };
  return page.evaluate(([url, init]) => (globalThis as unknown as Asking).ask(url, init), [
    url,
    { ...init, headers },
  ] as const);
}
