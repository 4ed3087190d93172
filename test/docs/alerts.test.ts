// Runs docs/examples/receiver.mjs and a service that sends alerts to it over loopback.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { OPERATOR_SECRETS } from '../../src/core/operator.ts';
import { freePort, type Service, startService } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { read } from './document.ts';

const [, MESSAGE = ''] = /^```json\n(.*?)^```$/ms.exec(read('docs/alerts.md')) ?? [];
const folder = newFolder();
copyFileSync('docs/examples/receiver.mjs', join(folder, 'receiver.mjs'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');

const secretOf = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;
const [ALERT_SECRET, NEXT_SECRET] = [secretOf('s'), secretOf('n')];
const { operator_key, secret } = await createOperatorKey('full', OPERATOR_SECRETS[0]);
let service: Service;

/** Every request from the service, recorded by a proxy in front of the receiver. */
const requests: { method: string; url: string; headers: Record<string, string>; body: string }[] = [];
const receiverPort = await freePort();
const front = createServer(forward);
async function forward(...[request, response]: Parameters<RequestListener>) {
  const { method = '', url = '', headers } = request;
  let body = '';
  for await (const part of request) body += part;
  requests.push({ method, url, headers: headers as Record<string, string>, body });
  const { webhook, status } = await post(requests.length - 1);
  expect(webhook).toBe(true);
  response.writeHead(status).end();
}
/** Sends a recorded request to the receiver, unchanged or modified. */
async function post(index: number, changed: { body?: string; headers?: Record<string, string> } = {}) {
  const { headers, body } = requests[index] as (typeof requests)[number];
  const signed = Object.fromEntries(Object.entries(headers).filter(([name]) => /^webhook-|^content-type$/.test(name)));
  const init = { method: 'POST', body, ...changed, headers: { ...signed, ...changed.headers } };
  const { status } = await fetch(`http://127.0.0.1:${receiverPort}`, init);
  return { webhook: Object.keys(signed).length === 4, status };
}

const children: ChildProcess[] = [];
let printed = '';
/** Starts the receiver and waits until it listens. Returns a function that stops it with a signal. */
async function startReceiver(secrets = ALERT_SECRET) {
  const env = { PATH: process.env.PATH, ALERT_SECRET: secrets, PORT: `${receiverPort}` };
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  child.stdout.on('data', (text) => (printed += text));
  const ended = once(child, 'close');
  await vi.waitFor(() => fetch(`http://127.0.0.1:${receiverPort}`), { timeout: 30_000, interval: 50 });
  return async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
}

beforeAll(async () => {
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  const ALERT_URL = `http://127.0.0.1:${port}/hooks/usage?key=1`;
  service = await startService(newDatabase(), { secrets: { OPERATOR_KEY_1: secret, ALERT_URL, ALERT_SECRET } });
});
afterAll(async () => {
  for (const child of children) child.kill();
  front.close();
  await service.stop();
});

async function call(method: string, path: string, body: object) {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${operator_key}` },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return ((await answer.json()) as any).data;
}
/** Creates a business that has recorded 8 of this month's 10 uses. */
async function newBusiness(user_id: number): Promise<number> {
  const address = { main_domain: 'acme.example', site: 'https://acme.example' };
  const fields = { user_id, name: 'Acme', ...address, country_id: 1, business_size: 'small', monthly_limit: 10 };
  const { id } = await call('POST', '/business', fields);
  const uses = Array.from({ length: 8 }, (_, index) => ({ id: `use-${index}` }));
  await call('POST', `/business/usage/${id}`, { uses });
  return id;
}
async function runAlerts() {
  const answer = await fetch(`${service.url}/cdn-cgi/local/scheduled?${new URLSearchParams({ cron: '* * * * *' })}`);
  expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
}
const filesIn = (name: string) => readdirSync(join(folder, 'alerts', name));

test('the receiver in docs/alerts.md processes each alert once and rejects forged and old messages', async () => {
  const stop = await startReceiver();
  const first = await newBusiness(7);
  await runAlerts();
  const line = (id: number) => `user 7, business ${id}: 8 of 10 uses of the month (80 %)\n`;
  await vi.waitUntil(() => filesIn('done').length === 1, { timeout: 30_000 });
  expect(printed).toBe(line(first));

  // The message matches the documented one.
  const [request] = requests;
  expect(requests).toMatchObject([{ method: 'POST', url: '/hooks/usage?key=1' }]);
  const shapeOf = (text: string) =>
    text
      .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '')
      .replace(/"[^"]*"(?!:)|\d+/g, '')
      .replace(/\s/g, '');
  expect(shapeOf(request?.body ?? '')).toBe(shapeOf(MESSAGE));
  const named = [...read('docs/alerts.md').matchAll(/^\| `([a-z-]+)` \| .*$/gm)].map(([, name = '']) => name);
  expect(named.filter((name) => name.includes('-')).every((name) => request?.headers[name] !== undefined)).toBe(true);

  const now = new Date();
  const signedAt = (time: Date, by = ALERT_SECRET, id = 'msg_other') => ({
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(time.getTime() / 1000)}`,
    'webhook-signature': new Webhook(by).sign(id, time, MESSAGE),
  });
  const body = MESSAGE;

  // A repeated message is acknowledged and not processed again, even after a restart with a second secret.
  expect(await post(0)).toMatchObject({ status: 204 });
  await stop('SIGTERM');
  const stopAgain = await startReceiver(`${ALERT_SECRET} ${NEXT_SECRET}`);
  expect(await post(0)).toMatchObject({ status: 204 });
  const headers = signedAt(now, NEXT_SECRET, request?.headers['webhook-id']);
  expect(await post(0, { body, headers })).toMatchObject({ status: 204 });

  // Messages with an invalid signature or an old timestamp are rejected.
  const old = new Date(now.getTime() - 301_000);
  for (const changed of [
    { body: `${request?.body} ` },
    { headers: { 'webhook-id': 'msg_other' } },
    { body, headers: signedAt(now, secretOf('t')) },
    { body, headers: signedAt(old) },
    { body: 'x'.repeat(1_000_001) },
  ])
    expect(await post(0, changed)).toMatchObject({ status: 401 });
  expect([filesIn('new'), filesIn('done').length]).toEqual([[], 1]);

  // After a crash, stored messages are processed at the next start.
  await stopAgain('SIGKILL');
  mkdirSync(join(folder, 'alerts/new'), { recursive: true });
  writeFileSync(join(folder, 'alerts/new/msg_broken.json'), MESSAGE.slice(1)); // stays, and stops no other
  writeFileSync(join(folder, 'alerts/new/msg_kept.json'), MESSAGE);
  await startReceiver();
  await vi.waitUntil(() => filesIn('new').length === 1, { timeout: 30_000 });
  expect(filesIn('new')).toEqual(['msg_broken.json']);
  expect(printed).toBe(`${line(first)}user 7, business 2: 800 of 1000 uses of the month (80 %)\n`);
});
