// Runs docs/examples/product.mjs with the service, from sign-up to deletion, through outages, crashes and months. Checks each step in the
// service, and compares the invoices with the service's counts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { OPERATOR_SECRETS } from '../../src/core/operator.ts';
import { freePort, type Service, startService } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { dayFromNow } from './document.ts';

const folder = newFolder();
copyFileSync('docs/examples/product.mjs', join(folder, 'product.mjs'));
const PAYMENT_SECRET = `whsec_${Buffer.alloc(32, 'p').toString('base64')}`;

const [full, record] = [
  await createOperatorKey('full', OPERATOR_SECRETS[0]),
  await createOperatorKey('record', OPERATOR_SECRETS[1]),
];
let service: Service;

/** A 503, a 429, a lost response, or a kill of the product before or after the service responds. */
type Accident = null | 'unavailable' | 'rate_limited' | 'lost' | 'killed before' | 'killed after';
/** The faults of the next requests, in order. */
const accidents: Accident[] = [];
/** The fault of every request: no connection, no response, or 503. */
let outage: null | 'unreachable' | 'silent' | 'unavailable' = null;
/** Every request from the product, with the last four characters of its key. */
const requests: string[] = [];
const front = createServer(forward);

beforeAll(async () => {
  service = await startService(newDatabase(), {
    secrets: { OPERATOR_KEY_1: full.secret, OPERATOR_KEY_2: record.secret },
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  front.closeAllConnections();
  front.close();
  await service.stop();
});

/** Proxies a request to the service. Limits each page of the invoice run to two businesses. */
async function forward(...[request, response]: Parameters<RequestListener>) {
  const { method = '', url = '', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  requests.push(`${method} ${url.replace('/api/v1', '')} ${headers.authorization?.slice(-4)}`);
  if (outage === 'silent') return;
  if (outage === 'unreachable') return response.destroy();
  const accident = outage ?? accidents.shift() ?? null;
  if (accident === 'killed before') return kill();
  if (accident === 'unavailable' || accident === 'rate_limited') {
    const status = accident === 'unavailable' ? 503 : 429;
    return void response.writeHead(status, { 'Error-Code': accident, 'Retry-After': '0' }).end('{"message":"Not now"}');
  }
  const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
  const page = url.startsWith('/api/v1/usage?') ? '&limit=2' : '';
  const answer = await fetch(service.url + url + page, {
    method,
    headers: passed as Record<string, string>,
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  });
  const body = await answer.text();
  if (accident === 'killed after') return kill();
  if (accident === 'lost') return response.destroy();
  const { 'content-encoding': ____, 'content-length': _____, ...shown } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, shown).end(body);
}
const kill = () => void children.at(-1)?.kill('SIGKILL');

const children: ChildProcess[] = [];
let log = '';
const productPort = await freePort();
function running(...args: string[]) {
  const { port } = front.address() as AddressInfo;
  const variables = {
    API: `http://127.0.0.1:${port}/api/v1`,
    OPERATOR_KEY: full.operator_key,
    RECORD_KEY: record.operator_key,
    PAYMENT_SECRET,
    PORT: `${productPort}`,
  };
  const env = { PATH: process.env.PATH, ...variables };
  const child = spawn(process.execPath, ['product.mjs', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  child.stderr.on('data', (text) => (log += text));
  return { child, ended: once(child, 'close').then(([code]) => code as number | null) };
}

/** Starts the product and waits until it listens. Returns a function that stops it and returns the exit code. */
async function start() {
  const { child, ended } = running();
  await vi.waitFor(() => fetch(`http://127.0.0.1:${productPort}`), { timeout: 30_000, interval: 20 });
  return () => {
    child.kill();
    return ended;
  };
}
/** Runs the nightly job as if today were `day`. */
async function night(day: string) {
  log = '';
  expect({
    code: await running('invoices', day).ended,
    log: log.replace(/^.*ExperimentalWarning.*\n.*\n/m, ''),
  }).toEqual({
    code: 0,
    log: '',
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads the columns that it expects
function sql(text: string, ...values: (string | number)[]): any[] {
  const database = new DatabaseSync(join(folder, 'product.db'));
  try {
    return database.prepare(text).all(...values);
  } finally {
    database.close();
  }
}
/** Waits until the product has recorded or set aside all stored uses of these users. */
const recorded = (...users: number[]) =>
  vi.waitUntil(() => sql(`${LATE} and user_id in (${users}) and refused is null`).length === 0, {
    timeout: 20_000,
    interval: 20,
  });
const LATE = 'select late.* from late join customers using (business_id) where 1 = 1';

/** Sends a user's request to the product. */
async function send(user: number | string, method: string, path: string, body?: unknown) {
  const answer = await fetch(`http://127.0.0.1:${productPort}${path}`, {
    method,
    headers: { 'X-User': `${user}` },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: 'manual',
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: answer.status, location: answer.headers.get('Location'), body: (await answer.json()) as any };
}
const ok = async (...request: Parameters<typeof send>) => {
  const { status, body } = await send(...request);
  expect({ request, status, body }).toMatchObject({ status: 200 });
  return body;
};
/** Requests work that counts as `uses` uses. */
const work = (user: number, uses: number) => send(user, 'POST', '/work', { text: 'x'.repeat(100 * uses) });
const DONE = { status: 200, body: { answer: 42 } };

/** Sends a message as the payment provider. */
async function pay(
  data: { user_id: number | string },
  { paid = true, at = new Date(), id = `msg_${Math.random()}`, secret = PAYMENT_SECRET, sentAt = new Date() } = {},
  changed: { body?: string; headers?: Record<string, string> } = {},
) {
  const body = JSON.stringify({
    type: paid ? 'payment.succeeded' : 'payment.failed',
    timestamp: at.toISOString(),
    data,
  });
  const signed = {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(sentAt.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
  };
  const init = { method: 'POST', body, ...changed, headers: { ...signed, ...changed.headers } };
  return (await fetch(`http://127.0.0.1:${productPort}/webhooks/payment`, init)).status;
}

/** Sends a request directly to the service. */
async function call(
  as: string | null,
  method: string,
  path: string,
  { origin, body }: { origin?: string; body?: object } = {},
) {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...(as !== null && { Authorization: `Bearer ${as}` }), ...(origin && { Origin: origin }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: answer.status, body: (await answer.json()) as any };
}
const dataOf = async (path: string) => (await call(full.operator_key, 'GET', path)).body.data;
/** A business's uses, today or in a range of days. */
const used = async (business: number, from = dayFromNow(0), to = from): Promise<number> =>
  (await dataOf(`/business/usage/${business}?from=${from}&to=${to}`)).used.reduce(
    (sum: number, day: { count: number }) => sum + day.count,
    0,
  );
const businessOf = (user: number): number =>
  sql('select business_id from customers where user_id = ?', user)[0].business_id;

/** Signs up a customer for a plan. Returns the business id. The service trims the name. */
async function customer(user: number, plan = 'free') {
  await ok(user, 'POST', '/signup', { name: ` Acme ${user} `, domain: `acme${user}.example` });
  await ok(user, 'POST', '/settings/plan', { plan });
  return businessOf(user);
}
/** The totals billed to a business per month, including settlements. */
const billed = (business: number) =>
  sql(
    `select starts_on, ends_on, sum(units) as units, sum(amount) as amount, group_concat(kind) as kinds from
      (select * from invoices where business_id = ? order by rowid) group by starts_on order by starts_on`,
    business,
  );

beforeEach(() => {
  log = '';
  requests.length = 0;
  accidents.length = 0;
  outage = null;
});
/** Stops processes that a failed test left running. */
afterEach(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  front.closeAllConnections();
});

const ACME = 'https://acme.example';
const SIGNUP = { name: 'Acme', domain: 'acme.example' };

test('a customer signs up, requests work, changes settings and opens the console', async () => {
  const stop = await start();
  const entry = (id: number, site: string) => expect.objectContaining({ id, business_id: 1, site });

  // Sign-up happens once even if the first response is lost.
  accidents.push('lost');
  expect(await ok(7, 'POST', '/signup', SIGNUP)).toEqual({ business: 1 });
  expect(await ok(7, 'POST', '/signup', SIGNUP)).toEqual({ business: 1 });
  // Both responses are lost, then the customer corrects the form.
  accidents.push('lost', 'lost');
  expect(await send(8, 'POST', '/signup', { name: 'Blot', domain: 'blot.example' })).toMatchObject({ status: 502 });
  expect(await ok(8, 'POST', '/signup', { name: 'Bolt', domain: 'bolt.example' })).toEqual({ business: 2 });
  const corrected = { name: 'Bolt', main_domain: 'bolt.example', site: 'https://bolt.example' };
  expect(await ok(8, 'GET', '/settings')).toMatchObject({
    ...corrected,
    access_list: [{ site: 'https://blot.example' }, { site: 'https://bolt.example' }],
  });
  expect(await send(10, 'POST', '/signup', { name: '', domain: 'none.example' })).toMatchObject({ status: 422 });
  const limits = {
    daily: null,
    monthly: 1000,
    billing_day: 1,
    overage: 0,
    alert_at: [80, 100],
    month: 0,
    remaining: 1000,
  };
  const { user_id, name, status, access_list, plan, ...settings } = await ok(7, 'GET', '/settings');
  expect({ user_id, name, status, plan, access_list }).toEqual({
    ...{ user_id: 7, name: 'Acme', status: 'active', plan: 'free', access_list: [entry(1, ACME)] },
  });
  expect(settings.limits).toMatchObject(limits);
  expect((await dataOf('/business')).businesses).toMatchObject([
    { id: 1, user_id: 7 },
    { id: 2, user_id: 8 },
  ]);

  // Only signed-in customers are admitted.
  expect(await send(9, 'GET', '/settings')).toMatchObject({ status: 404, body: { message: 'Sign up first' } });
  for (const user of ['', '0', '-7', '7.5', 'acme', '7/../8'])
    expect({ user, ...(await send(user, 'GET', '/keys')) }).toMatchObject({ user, status: 401 });

  // The token works on the customer's pages.
  const { html } = await ok(7, 'GET', '/snippet');
  const [, business, token = ''] = /business="(\d+)" token="(.*?)"/.exec(html) ?? [];
  expect([business, token]).toEqual(['1', (await dataOf('/business/1')).token]);
  const visit = async (as: string, origin = ACME) => (await call(as, 'GET', '/business/usage/1', { origin })).status;
  expect([await visit(token), await visit(token, 'https://evil.example')]).toEqual([200, 403]);

  // The hot path uses the record key. It records uses before the work and lowers the quantity afterwards, to 0 if the work fails.
  requests.length = 0;
  expect(await work(7, 50)).toMatchObject(DONE);
  const post = `POST /business/usage/1 ${record.operator_key.slice(-4)}`;
  expect(requests).toEqual([`PATCH /business/1 ${full.operator_key.slice(-4)}`, post]); // the limits are sent once
  requests.length = 0;
  expect(await work(7, 50)).toMatchObject(DONE);
  expect(requests).toEqual([post]);
  expect(await work(7, 3)).toMatchObject(DONE);
  expect(requests).toEqual([post, post, post.replace('POST', 'PATCH')]);
  accidents.push('rate_limited'); // otherwise, a customer could cause this to work for free
  expect(await work(7, 1)).toMatchObject({ status: 429 });
  expect(await send(7, 'POST', '/work', { text: 5 })).toMatchObject({ status: 502 });
  expect(await used(1)).toBe(103);

  // The free plan stops at its limit, and the pro plan bills the excess. A downgrade takes effect next month.
  const uses = [{ id: 'earlier', quantity: 897 }];
  await call(full.operator_key, 'POST', '/business/usage/1', { body: { uses } });
  const reached = 'This business has used its 1000 uses for this month.';
  expect(await work(7, 1)).toEqual({ status: 429, location: null, body: { message: reached } });
  accidents.push('lost');
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'pro' })).toMatchObject({
    ...{ plan: 'pro', limits: { monthly: 10_000, overage: null } },
  });
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'free' })).toMatchObject({
    ...{ plan: 'pro', next_plan: 'free', limits: { monthly: 10_000, overage: null } },
  });
  sql("delete from plans where plan = 'pro'");
  sql('update plans set starts_on = ?', dayFromNow(0)); // the next month begins
  expect(await work(7, 1)).toMatchObject({ status: 429 });
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'pro' })).toMatchObject({ plan: 'pro', next_plan: null });
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'free' })).toMatchObject({ plan: 'pro', next_plan: 'free' });
  expect(await ok(7, 'POST', '/settings/plan', { plan: 'pro' })).toMatchObject({ plan: 'pro', next_plan: null });
  for (const plan of ['gold', 'constructor', null])
    expect(await send(7, 'POST', '/settings/plan', { plan })).toMatchObject({ status: 422 });
  expect(await work(7, 50)).toMatchObject(DONE);
  expect(await used(1)).toBe(1050);

  // The customer edits the sites.
  const www = 'https://www.acme.example';
  const added = await ok(7, 'POST', '/settings/sites', { sites: [www] });
  expect(added.access_list).toEqual([entry(1, ACME), entry(4, www)]);
  expect(await send(7, 'POST', '/settings/sites', { sites: ['acme'] })).toMatchObject({
    status: 422,
    body: { message: 'sites.0 must be an http or https URL, such as https://example.com' },
  });
  expect(await ok(7, 'POST', '/settings/remove-site', { id: 4 })).toMatchObject({ access_list: [entry(1, ACME)] });
  expect(await send(7, 'POST', '/settings/remove-site', { id: 1 })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('must not be the last entry') },
  });

  // The customer rotates the token, then ends its grace period early.
  const rotated = await ok(7, 'POST', '/settings/token');
  expect([await visit(token), await visit(rotated.token)]).toEqual([200, 200]);
  expect((await ok(7, 'GET', '/settings')).former_tokens).toMatchObject([{ last_four: token.slice(-4) }]);
  expect((await ok(7, 'POST', '/settings/stop-old-tokens')).former_tokens).toEqual([]);
  expect([await visit(token), await visit(rotated.token)]).toEqual([401, 200]);

  // The customer opens the console.
  const { status: redirected, location } = await send(7, 'POST', '/settings/console');
  expect([redirected, location?.split('#')[0]]).toEqual([303, `${service.url}/owner`]);
  const code = location?.split('#code=')[1];
  const session = (await call(null, 'POST', '/session', { body: { code } })).body.data;
  expect(session).toMatchObject({ read_only: false });
  expect((await call(session.session_key, 'GET', '/business')).body.data.businesses).toMatchObject([{ id: 1 }]);

  // The customer creates and revokes an API key.
  const key = await ok(7, 'POST', '/keys', { name: 'Acme ERP', role: 'read' });
  expect(await visit(key.api_key)).toBe(200);
  const { api_key: _, ...shown } = key;
  expect(await ok(7, 'GET', '/keys')).toEqual({ keys: [{ ...shown, last_used_on: expect.any(String) }] });
  expect(await send(8, 'POST', '/keys/revoke', { id: key.id })).toMatchObject({ status: 404 });
  expect((await ok(7, 'POST', '/keys/revoke', { id: key.id })).key).toMatchObject({ revoked_at: expect.any(String) });
  expect(await visit(key.api_key)).toBe(401);

  // A repeated sign-up changes the name and is then refused. The customer can still cancel.
  expect(await send(8, 'POST', '/signup', { name: 'Other', domain: 'other.example.' })).toMatchObject({ status: 422 });
  expect((await dataOf('/business/2')).name).toBe('Other');
  await ok(8, 'POST', '/cancel');
  expect(sql('select * from customers where user_id = 8')).toEqual([]);

  expect(accidents).toEqual([]);
  expect(await stop()).toBe(0);
});

test('work continues during an outage, and its uses survive a restart and count once with the right quantity', async () => {
  const stop = await start();
  const business = await customer(20, 'pro');
  const lots = [3, 50, 1, 20, 50, 7];
  let sum = 0;
  async function workAll() {
    for (const uses of lots) {
      expect(await work(20, uses)).toMatchObject(DONE);
      sum += uses;
    }
    expect((await send(20, 'POST', '/work', {})).status).toBe(502); // work that fails costs nothing
  }
  await workAll();
  // Causes 503s and lost responses when recording, lowering, or both.
  for (const accident of ['unavailable', 'lost'] as const)
    for (const pattern of [[accident], [null, accident], [accident, null, accident]]) {
      accidents.push(...pattern);
      await workAll();
      accidents.length = 0;
    }
  for (const how of ['unavailable', 'unreachable', 'silent'] as const) {
    outage = how;
    if (how === 'silent') {
      const began = performance.now();
      expect(await work(20, 2)).toMatchObject(DONE); // waits two seconds for the service
      expect(performance.now() - began).toBeLessThan(3_500);
      sum += 2;
    } else await workAll();
  }
  const late = sql(LATE).length;
  expect(late).toBeGreaterThan(20);
  expect(await used(business)).not.toBe(sum);

  // SIGTERM lets a running request finish.
  requests.length = 0;
  const last = work(20, 7);
  await vi.waitUntil(() => requests.length > 0, { timeout: 10_000, interval: 20 });
  const stopped = stop();
  expect(await last).toMatchObject(DONE);
  sum += 7;
  expect(await stopped).toBe(0);
  expect(sql(LATE)).toHaveLength(late + 1);
  outage = null;
  // The first attempt after the restart also fails. Nothing is lost or counted twice.
  accidents.push(null, 'lost', 'lost');
  const stopAgain = await start();
  await vi.waitUntil(() => accidents.length === 0, { timeout: 10_000 });
  await vi.waitUntil(() => log.includes('no_response'), { timeout: 10_000 });
  await stopAgain();
  const stopAtLast = await start();
  await recorded(20);
  expect(await used(business)).toBe(sum);
  expect(await stopAtLast()).toBe(0);
});

test('a failed payment stops work, and only the payment provider can report payments', async () => {
  const stop = await start();
  const [business, other] = [await customer(30, 'pro'), await customer(31, 'pro')];
  const statusOf = async (id: number) => (await dataOf(`/business/${id}`)).status;
  const becomes = (id: number, status: string) =>
    vi.waitUntil(async () => (await statusOf(id)) === status, { timeout: 10_000, interval: 20 });

  // Messages with a missing, wrong or old signature are rejected.
  const failed = { paid: false };
  const old = new Date(Date.now() - 301_000);
  const forged = `whsec_${Buffer.alloc(32, 'q').toString('base64')}`;
  const body = '{"type":"payment.failed","timestamp":"2026-03-15T12:00:00Z","data":{"user_id":30}}';
  expect(await pay({ user_id: 30 }, { ...failed, secret: forged })).toBe(401);
  expect(await pay({ user_id: 30 }, { ...failed, sentAt: old })).toBe(401);
  expect(await pay({ user_id: 30 }, { ...failed, sentAt: new Date(Date.now() + 301_000) })).toBe(401);
  expect(await pay({ user_id: 31 }, {}, { body })).toBe(401);
  for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    for (const value of ['', 'v1,', 'msg_1', `${Math.floor(Date.now() / 1000)}`])
      expect(await pay({ user_id: 30 }, failed, { headers: { [header]: `${value}0` } })).toBe(401);
  expect(await pay({ user_id: 30 }, failed, { body: 'x'.repeat(100_001) })).toBe(422);
  // Customers cannot report a payment themselves.
  for (const path of ['/payment', '/webhooks/payment'])
    expect((await send(30, 'POST', path, { paid: true, user_id: 30 })).status).toBeGreaterThan(400);
  expect(sql('select * from payments')).toEqual([]);

  // A payment fails while the service is down. Work stops, and earlier uses are still recorded.
  outage = 'unreachable';
  expect(await work(30, 4)).toMatchObject(DONE);
  expect(await pay({ user_id: '30' }, { ...failed, at: new Date(1_000_000) })).toBe(200);
  expect(await work(30, 4)).toMatchObject({ status: 402, body: { message: 'Your last payment has failed.' } });
  expect(await work(31, 5)).toMatchObject(DONE);
  await stop();
  outage = null;
  const stopAgain = await start();
  await recorded(30, 31);
  await becomes(business, 'suspended');
  expect([await used(business), await used(other), await statusOf(other)]).toEqual([4, 5, 'active']);

  // The customer pays. Repeated and late messages have no effect.
  const message = { id: 'msg_paid', at: new Date(3_000_000) };
  expect([await pay({ user_id: 30 }, message), await pay({ user_id: 30 }, message)]).toEqual([200, 200]);
  await becomes(business, 'active');
  expect(await pay({ user_id: 30 }, { ...failed, at: new Date(2_000_000) })).toBe(200);
  expect(await pay({ user_id: 30 }, { ...failed, id: 'msg_paid', at: new Date(4_000_000) })).toBe(200);
  expect(await work(30, 1)).toMatchObject(DONE);
  expect([await statusOf(business), await used(business)]).toEqual(['active', 5]);

  // Canceling and signing up again does not avoid the payment.
  expect(await pay({ user_id: 30 }, { ...failed, at: new Date(5_000_000) })).toBe(200);
  await becomes(business, 'suspended');
  await ok(30, 'POST', '/cancel');
  await ok(30, 'POST', '/signup', { name: 'Acme again', domain: 'again.example' });
  expect(businessOf(30)).not.toBe(business);
  expect(await work(30, 1)).toMatchObject({ status: 402 });
  expect(await stopAgain()).toBe(0);
});

test('refused uses block neither other customers nor other uses in the same list', async () => {
  const stop = await start();
  const users = [40, 41, 42, 43];
  const businesses = await Promise.all(users.map((user) => customer(user)));
  await pay({ user_id: 42 }, { paid: false });
  outage = 'unavailable';
  for (const user of [40, 41, 43]) for (const uses of [1, 2, 50]) expect(await work(user, uses)).toMatchObject(DONE);
  await stop();
  // User 40's business is deleted, two uses of user 41 are too old, and user 42 is suspended.
  await call(full.operator_key, 'DELETE', `/business/${businesses[0]}?name=Acme%2040`);
  const old = `${dayFromNow(-36)}T12:00:00Z`;
  sql(`update late set at = ? where business_id = ? and quantity <= 2`, old, businesses[1] as number);
  sql(`insert into late values ('of-42', ?, ?, 6, null)`, businesses[2] as number, new Date().toISOString());
  // A use of user 43 has been recorded, but is too old now to be sent again. It can still be lowered.
  const [known, day] = [{ id: 'known', quantity: 50 }, dayFromNow(-35)];
  const uses = [{ ...known, at: `${day}T23:59:59Z` }];
  await call(full.operator_key, 'POST', `/business/usage/${businesses[3]}`, { body: { uses } });
  sql(`insert into late values ('known', ?, ?, 4, null)`, businesses[3] as number, old);
  outage = null;
  const stopAgain = await start();
  await recorded(41, 42, 43);
  expect(await Promise.all(businesses.slice(1).map((id) => used(id)))).toEqual([50, 6, 53]);
  expect((await dataOf(`/business/${businesses[2]}`)).status).toBe('suspended');
  expect(log).toContain('unknown_business');
  expect(sql(`${LATE} and user_id = 40`)).toHaveLength(3);
  const aside = sql(`${LATE} and user_id = 41`);
  expect(aside).toMatchObject(
    [1, 2].map((quantity) => ({ quantity, refused: expect.stringContaining('at most 35 days in the past') })),
  );
  expect(log).toContain(`business ${businesses[1]}: 2 uses are not recorded`);
  expect(await used(businesses[3] as number, day)).toBe(4);

  // User 40 signs up again and gets a new business. User 41's business is deleted too, and the customer cancels.
  const { business } = await ok(40, 'POST', '/signup', { name: 'Acme 40', domain: 'acme40.example' });
  expect([businessOf(40), businesses.includes(business)]).toEqual([business, false]);
  expect(await work(40, 3)).toMatchObject(DONE);
  expect(await used(business)).toBe(3);
  await call(full.operator_key, 'DELETE', `/business/${businesses[1]}?name=Acme%2041`);
  await ok(41, 'POST', '/cancel');
  expect(sql('select * from customers where user_id = 41')).toEqual([]);

  // A use whose time is in the future, because this computer's clock was ahead, is sent later.
  await stopAgain();
  sql(`delete from late`);
  const ahead = new Date(Date.now() + 600_000).toISOString();
  sql(`insert into late values ('ahead', ?, ?, 6, null)`, business, ahead);
  sql(`insert into late values ('far-ahead', ?, ?, 6, null)`, business, `${dayFromNow(2)}T12:00:00Z`); // is set aside
  log = '';
  const stopAhead = await start();
  await vi.waitUntil(() => log.includes('5 minutes in the future'), { timeout: 20_000, interval: 20 });
  await stopAhead();
  expect(sql(`${LATE} order by id`)).toMatchObject([
    { id: 'ahead', refused: null },
    { id: 'far-ahead', refused: expect.stringContaining('5 minutes in the future') },
  ]);
  sql(`update late set at = ? where refused is null`, new Date().toISOString());
  const stopAtLast = await start();
  await recorded(40);
  expect(await used(business)).toBe(9);
  await stopAtLast();
});

/** The first day of the month `months` months ago. */
function monthAgo(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 10);
}
const dayAfter = (day: string, days = 1) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const count = async (business: number, days: Record<string, number>) => {
  const body = { days: Object.entries(days).map(([date, count]) => ({ date, count })), replace: true };
  expect((await call(full.operator_key, 'PUT', `/business/${business}/history`, { body })).status).toBe(200);
};
/** Asserts that a business's invoices equal the service's counts exactly. */
async function compare(business: number, included: number, price: number) {
  const months = billed(business);
  for (const { starts_on, ends_on, units, amount } of months) {
    const owed = Math.max((await used(business, starts_on, ends_on)) - included, 0);
    expect({ starts_on, units, amount }).toEqual({ starts_on, units: owed, amount: owed * price });
  }
  return months;
}

test('the nightly job bills each month once and settles it when its count is final, and cancellation bills the rest despite crashes', {
  timeout: 180_000,
}, async () => {
  const stop = await start();
  const [more, less, free] = [await customer(50, 'pro'), await customer(51, 'pro'), await customer(52)];
  const cheaper = await customer(53, 'pro');
  const [first, second, third, last] = [monthAgo(4), monthAgo(3), monthAgo(2), monthAgo(1)];
  sql('update customers set signed_up = ?', first);
  sql('update plans set starts_on = ?', first);
  // A customer asked for a cheaper plan in the second month, which is billed by the plan of its last day.
  sql("insert into plans values (?, ?, 'free')", cheaper, third);
  // The service omits months without uses from before it created these businesses, which is today.
  for (const business of [more, less, free, cheaper]) await count(business, { [second]: 1, [third]: 1, [last]: 1 });
  await count(cheaper, { [first]: 9_000, [second]: 30_000, [third]: 30_000 });
  await count(more, { [first]: 12_000, [dayAfter(second, -1)]: 345, [second]: 8_000 });
  await count(less, { [first]: 9_999, [second]: 11_000 });
  await count(free, { [first]: 1_500 });
  await night(second);
  await night(second); // has no effect
  expect(billed(more)).toMatchObject([{ starts_on: first, units: 2_345, amount: 4_690, kinds: 'month' }]);
  await count(more, { [dayAfter(second, -1)]: 445 });
  await count(less, { [dayAfter(second, -1)]: 2 });
  await night(dayAfter(second, 39));
  expect(billed(more)[0]).toMatchObject({ units: 2_345, kinds: 'month' });
  sql("update plans set plan = 'free' where business_id = ?", more); // must not change the terms of a billed month
  await night(dayAfter(second, 40));
  sql("update plans set plan = 'pro' where business_id = ?", more);
  expect(billed(more)[0]).toMatchObject({ units: 2_445, amount: 4_890, kinds: 'month,true_up' });
  expect(billed(less)[0]).toMatchObject({ units: 1, amount: 2, kinds: 'month,true_up' });

  // The second month ends in a charge for one customer and a credit for another. The job does not run on the nights in between.
  await night(third);
  expect(billed(less)[1]).toMatchObject({ starts_on: second, units: 1_000 });
  await count(more, { [dayAfter(third, -1)]: 2_500 });
  await count(less, { [second]: 9_900 });
  await night(dayFromNow(0));
  expect(billed(more)[1]).toMatchObject({ units: 500, kinds: 'month,true_up' });
  expect(billed(less)[1]).toMatchObject({ units: 0, amount: 0, kinds: 'month,true_up' });
  expect(sql("select units from invoices where business_id = ? and kind = 'true_up'", less)[1]).toEqual({
    units: -1_000,
  });
  for (const [business, included, price] of [
    [more, 10_000, 2],
    [less, 10_000, 2],
    [free, 1_000, 0],
  ] as const)
    expect((await compare(business, included, price)).length).toBe(4);
  expect(billed(cheaper).map(({ units, amount }) => [units, amount])).toEqual([
    [0, 0],
    [20_000, 40_000],
    [29_000, 0],
    [0, 0],
  ]);

  // A customer cancels when uses are still unsent, although the service is up again.
  outage = 'unreachable';
  expect(await work(51, 40)).toMatchObject(DONE);
  outage = null;
  expect(await ok(51, 'POST', '/cancel')).toEqual({ cancelled: true });
  // The report includes tomorrow, because the clocks can differ.
  expect(requests.at(-3)).toBe(
    `GET /business/usage/${less}?from=${monthAgo(0)}&to=${dayFromNow(1)} ${full.operator_key.slice(-4)}`,
  );
  expect(sql("select count from invoices where business_id = ? and kind = 'last'", less)).toEqual([{ count: 40 }]);
  expect(sql('select * from customers where user_id = 51')).toEqual([]);

  // A customer cancels while the service is down, with unsent uses from today and from the last billed month.
  outage = 'unreachable';
  expect(await work(50, 50)).toMatchObject(DONE);
  expect(await work(50, 30)).toMatchObject(DONE);
  sql('update late set at = ? where quantity = 30', `${dayAfter(monthAgo(0), -1)}T12:00:00Z`);
  sql('update late set quantity = 20000 where quantity = 50');
  sql('update late set quantity = 10399 where quantity = 30'); // that month already has one use
  expect(await ok(50, 'POST', '/cancel')).toEqual({ cancelled: true });
  expect(await work(50, 1)).toMatchObject({ status: 404 });
  expect(await send(50, 'POST', '/signup', SIGNUP)).toMatchObject({ status: 402 });
  await stop();
  outage = null;
  // The product is killed before and after each of its requests until the customer is deleted.
  for (let step = 0; sql('select * from customers where user_id = 50').length > 0; step++) {
    expect(step).toBeLessThan(40);
    accidents.length = 0;
    accidents.push(...Array<null>(Math.floor(step / 2)).fill(null), step % 2 === 0 ? 'killed before' : 'killed after');
    const { child, ended } = running();
    const isGone = () => sql('select * from customers where user_id = 50').length === 0;
    await Promise.race([ended, vi.waitUntil(isGone, { timeout: 20_000, interval: 20 }).catch(() => {})]);
    child.kill('SIGKILL');
    await ended;
  }
  accidents.length = 0;
  expect((await call(full.operator_key, 'GET', `/business/${more}`)).status).toBe(401);
  expect(sql('select kind, count, units from invoices where business_id = ? order by rowid', more).slice(-2)).toEqual([
    { kind: 'true_up', count: 10_400, units: 400 },
    { kind: 'last', count: 20_000, units: 10_000 },
  ]);
  await night(dayFromNow(0));

  // Customers who sign up again this month have only what they have not used yet.
  // Every job reads that, so it must not scan all invoices.
  const [plan] = sql("explain query plan select sum(count) from invoices where user_id = 50 and kind = 'last'");
  expect(plan.detail).toContain('USING INDEX invoices_of');
  const stopAgain = await start();
  for (const [user, left] of [
    [50, 0],
    [51, 960],
  ] as const) {
    await ok(user, 'POST', '/signup', { name: 'Acme again', domain: 'again.example' });
    expect((await ok(user, 'GET', '/settings')).limits.monthly).toBe(left);
    await ok(user, 'POST', '/settings/plan', { plan: 'pro' });
    expect((await ok(user, 'GET', '/settings')).limits).toMatchObject({ monthly: left && left + 9_000, overage: null });
  }
  const again = businessOf(50);
  expect(await work(50, 7)).toMatchObject(DONE);
  await ok(50, 'POST', '/cancel');
  expect(sql("select units from invoices where business_id = ? and kind = 'last'", again)).toEqual([{ units: 7 }]);
  await stopAgain();
});
