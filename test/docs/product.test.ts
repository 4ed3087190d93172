// Runs the three programs in docs/product.md with the service, behind a proxy that fails on request.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { freePort, type Service, startService } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { dayFromNow } from './document.ts';

const full = await createOperatorKey('full', 'OPERATOR_KEY_1');
const record = await createOperatorKey('record', 'OPERATOR_KEY_2');
const read = await createOperatorKey('read', 'OPERATOR_KEY_3');
const front = createServer(forward);
let service: Service;
beforeAll(async () => {
  const secrets = { OPERATOR_KEY_1: full.secret, OPERATOR_KEY_2: record.secret, OPERATOR_KEY_3: read.secret };
  service = await startService(newDatabase(), { secrets });
  await once(front.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  front.close().closeAllConnections();
  await service.stop();
});

const FAILURES = { unavailable: 503, rate_limited: 429, server_error: 500 };
/** `lost` means that the service does what it is asked, but its response does not arrive. */
type Fault = null | 'unreachable' | 'silent' | 'lost' | keyof typeof FAILURES;
/** The faults of the next requests, in order, and the fault of all others. */
const faults: Fault[] = [];
let fault: Fault = null;

/** Forwards a request to the service. A page of the invoice run has two businesses. */
async function forward(...[request, response]: Parameters<RequestListener>) {
  const { method = '', url = '', headers } = request;
  const body = await buffer(request);
  const now = faults.shift() ?? fault;
  if (now === 'silent') return;
  if (now === 'unreachable') return response.destroy();
  if (now !== null && now !== 'lost')
    return response.writeHead(FAILURES[now], { 'Error-Code': now, 'Retry-After': '0' }).end('{"message":"Not now"}');
  const sent = Object.entries(headers).filter(([name]) => ['authorization', 'idempotency-key'].includes(name));
  const init = { method, headers: Object.fromEntries(sent) as Record<string, string>, body: body.length ? body : null };
  const answer = await fetch(service.url + url + (url.includes('ended=') ? '&limit=2' : ''), init);
  const text = await answer.text();
  if (now === 'lost') return response.destroy();
  response.writeHead(answer.status, { 'Error-Code': answer.headers.get('Error-Code') ?? '' }).end(text);
}

const PROGRAMS = ['sign-up', 'recording', 'invoices'] as const;
const fileOf = (program: string) => resolve(`docs/examples/${program}.mjs`);
const running: ChildProcess[] = [];
const folder = newFolder(); // the programs share one database
let log = '';
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  [fault, log, faults.length] = [null, '', 0];
});

function run(program: (typeof PROGRAMS)[number], args: string[] = [], variables = {}) {
  const API = `http://127.0.0.1:${(front.address() as AddressInfo).port}/api/v1`;
  const keys = { OPERATOR_KEY: full.operator_key, RECORD_KEY: record.operator_key, READ_KEY: read.operator_key };
  const env = { API, ...keys, ...variables };
  const all = ['--disable-warning=ExperimentalWarning', fileOf(program), ...args];
  const child = spawn(process.execPath, all, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  running.push(child);
  child.stderr.on('data', (text) => (log += text));
  return { child, ended: once(child, 'close').then(([code]) => code as number | null) };
}
/** Starts a program, and waits until it listens. */
async function start(program: 'sign-up' | 'recording', variables = {}) {
  const PORT = `${await freePort()}`;
  const { child, ended } = run(program, [], { PORT, ...variables });
  const url = `http://127.0.0.1:${PORT}`;
  await vi.waitFor(() => fetch(url), { timeout: 30_000, interval: 20 });
  async function post(path: string, headers: Record<string, string>, body?: object) {
    const init = { method: 'POST', headers, redirect: 'manual', body: body ? JSON.stringify(body) : null } as const;
    const answer = await fetch(url + path, init);
    return { status: answer.status, body: await answer.json(), location: answer.headers.get('Location') };
  }
  return { post, stop: async () => child.kill() && (await ended) };
}
function sql(text: string, readOnly = true) {
  const database = new DatabaseSync(join(folder, 'product.db'), { readOnly });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the columns that it expects
  const rows = database.prepare(text).all() as any[];
  database.close();
  return rows;
}

/** Sends a request directly to the service. */
async function call(method: string, path: string, body?: object, key: string | null = full.operator_key) {
  const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` };
  const init = { method, headers, body: body ? JSON.stringify(body) : null };
  const answer = await fetch(`${service.url}/api/v1${path}`, init);
  expect({ method, path, status: answer.status }).toMatchObject({ status: 200 });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return ((await answer.json()) as any).data;
}
async function used(business: number, from = dayFromNow(-1), to = dayFromNow(1)): Promise<number> {
  const report = await call('GET', `/business/usage/${business}?from=${from}&to=${to}`);
  return report.used.reduce((sum: number, day: { count: number }) => sum + day.count, 0);
}
async function newBusiness(user_id: number, limits = {}): Promise<number> {
  const acme = { name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example' };
  return (await call('POST', '/business', { user_id, ...acme, country_id: 1, business_size: 'small', ...limits })).id;
}

test.each(PROGRAMS)('%s.mjs has at most 80 lines, and names missing variables', async (program) => {
  expect(readFileSync(fileOf(program), 'utf8').split('\n').length).toBeLessThanOrEqual(81);
  expect(await run(program, [], { API: '' }).ended).toBe(1);
  expect(log).toContain('Set API and ');
});

test('a customer who signs up several times gets one business, and a link that opens the console', async () => {
  const { post } = await start('sign-up');
  async function signUp(user: number | string, name: string, domain = 'acme.example') {
    const { status, body } = await post('/sign-up', { 'X-User': `${user}` }, { name, domain });
    return [status, body];
  }
  const businesses = async (user: number) => (await call('GET', `/business?user_id=${user}`)).businesses;

  expect((await post('/console', { 'X-User': '1' })).status).toBe(404);
  expect(await signUp(1, '')).toEqual([422, { message: expect.stringMatching(/^name must /) }]);
  for (const [index, first] of (['lost', 'unreachable', 'unavailable', 'rate_limited'] as const).entries()) {
    faults.push(first);
    const answer = await signUp(10 + index, 'Acme');
    const [business, ...others] = await businesses(10 + index);
    expect([first, answer, others]).toEqual([first, [200, { business_id: business.id }], []]);
    expect(await signUp(10 + index, 'Other')).toEqual(answer);
  }
  faults.push('lost', 'lost'); // and then the customer corrects the form
  expect(await signUp(2, 'Blot', 'blot.example')).toEqual([502, { message: 'Try again later' }]);
  expect((await signUp(2, 'Bolt', 'bolt.example'))[0]).toBe(200);
  const [{ id }, ...others] = await businesses(2);
  const bolt = { name: 'Bolt', main_domain: 'bolt.example', site: 'https://bolt.example' };
  const access_list = [{ site: 'https://blot.example' }, { site: 'https://bolt.example' }];
  expect([await call('GET', `/business/${id}`), others]).toMatchObject([{ ...bolt, access_list }, []]);

  for (const user of ['', '0', '7.5', '7/../8']) expect([user, (await signUp(user, 'A'))[0]]).toEqual([user, 401]);
  const { status, location } = await post('/console', { 'X-User': '2' });
  expect([status, location]).toEqual([303, expect.stringMatching(/\/owner#code=0[0-9A-Za-z]{33}$/)]);
  const { session_key } = await call('POST', '/session', { code: location?.split('code=')[1] }, null);
  expect((await call('GET', '/business', undefined, session_key)).businesses).toMatchObject([{ id }]);
});

test('through an outage, each use counts once, and no work is done at a limit or with a full outbox', async () => {
  const [acme, bolt, gone] = [await newBusiness(20), await newBusiness(21), await newBusiness(22)];
  const [limited, fresh] = [await newBusiness(23, { monthly_limit: 2 }), await newBusiness(24, { monthly_limit: 2 })];
  let program = await start('recording');
  const ask = (business: number | string) => program.post('/work', { 'X-Business': `${business}` });
  const work = async (business: number | string) => (await ask(business)).status;
  const waiting = () =>
    Object.fromEntries(sql('select business_id, count(*) from outbox group by 1').map(Object.values));

  expect(await ask(acme)).toMatchObject({ status: 200, body: { answer: 42 } });
  for (const business of ['', '0', '1/..']) expect([business, await work(business)]).toEqual([business, 401]);
  expect([await work(limited), await work(limited)]).toEqual([200, 200]);
  const reached = { status: 429, body: { message: 'This business has used its 2 uses for this month.' } };
  expect(await ask(limited)).toMatchObject(reached);
  faults.push('rate_limited'); // customers can cause it on purpose, so it is not an outage
  expect([await work(acme), await work(999_999_999), waiting()]).toEqual([429, 502, {}]);

  for (const outage of ['silent', 'unavailable', 'server_error', 'lost', 'unreachable'] as const) {
    fault = outage;
    expect([outage, await work(acme)]).toEqual([outage, 200]);
  }
  expect(await ask(limited)).toMatchObject(reached);
  for (const business of [fresh, fresh, fresh, gone]) expect(await work(business)).toBe(200);
  const statuses = await Promise.all(Array.from({ length: 103 }, () => work(bolt)));
  expect(statuses.toSorted()).toEqual([...Array(100).fill(200), 503, 503, 503]);
  await call('DELETE', `/business/${gone}?name=Acme`);
  await program.stop();
  expect(waiting()).toEqual({ [acme]: 5, [bolt]: 100, [gone]: 1, [fresh]: 3 });

  // The first list is counted, but its response is lost. So the next run sends it again.
  fault = null;
  faults.push('lost');
  for (const left of [{ [acme]: 5, [gone]: 1 }, { [gone]: 1 }]) {
    program = await start('recording');
    await vi.waitFor(() => expect(waiting()).toEqual(left), 20_000);
    await program.stop();
  }
  expect(log).toContain(`business ${gone}: 1 uses wait`);
  expect([await used(acme), await used(bolt), await used(limited), await used(fresh)]).toEqual([6, 100, 2, 3]);

  // A use that is never accepted does not stop the others.
  const kept = [`'now', '${new Date().toISOString()}'`, `'old', '2020-01-01T00:00:00Z'`].map(
    (use) => `(${acme}, ${use})`,
  );
  sql(`insert into outbox values ${kept}`, false);
  program = await start('recording');
  await vi.waitFor(() => expect(waiting()).toEqual({ [acme]: 1, [gone]: 1 }), 20_000);
  await program.stop();
  expect(await used(acme)).toBe(7);

  // An API key, unlike an operator key, records nothing for a suspended business.
  const { api_key } = await call('POST', '/user/20/keys', { role: 'record', business_id: acme });
  await call('PATCH', `/business/${acme}`, { status: 'suspended' });
  program = await start('recording', { RECORD_KEY: api_key });
  const inactive = { status: 402, body: { message: 'This business is not active.' } };
  expect(await ask(acme)).toMatchObject(inactive);
  fault = 'unavailable';
  expect(await ask(acme)).toMatchObject(inactive);
});

const dayAfter = (day: string, days = 1) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
/** The first day of the month `months` months ago. */
const monthAgo = (months: number) =>
  new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - months, 1)).toISOString().slice(0, 10);

test('invoices and late uses add up to the counts of the service, and a rerun changes nothing', async () => {
  const [first, second, third] = [monthAgo(5), monthAgo(4), monthAgo(3)];
  const ids = { 30: await newBusiness(30), 31: await newBusiness(31), 32: await newBusiness(32) };
  const count = (user: keyof typeof ids, date: string, count: number) =>
    call('PUT', `/business/${ids[user]}/history`, { days: [{ date, count }], replace: true });
  async function night(day: string) {
    log = '';
    return [await run('invoices', [day]).ended, log];
  }
  /** The rows of a month: the user, the uses, those that cost money, and the cents. */
  const line = `user_id || ' ' || kind || ': ' || count || ' ' || units || ' ' || amount as line`;
  const rows = (month: string) =>
    sql(`select ${line} from invoices where starts_on = '${month}' order by 1`).map((row) => row.line);

  const earlier = count(30, monthAgo(6), 5_000); // ended before the first night, so it is never billed
  await Promise.all([earlier, count(30, first, 12_000), count(31, first, 999)]);
  await Promise.all([count(30, second, 8_000), count(31, second, 500), count(32, second, 1_000)]);
  expect(await night(second)).toEqual([0, '']);
  const billed = ['30 month: 12000 11000 22000', '31 month: 999 0 0'];
  expect(rows(first)).toEqual(billed);

  // Late uses are settled 40 nights later. A run catches up on the nights in between, one of which ends the second month.
  const last = dayAfter(second, -1);
  await Promise.all([count(30, last, 445), count(31, last, 2), count(32, last, 1_500)]);
  expect(await night(dayAfter(second, 39))).toEqual([0, '']);
  const next = ['30 month: 8000 7000 14000', '31 month: 500 0 0', '32 month: 1000 0 0'];
  expect([rows(first), rows(second)]).toEqual([billed, next]);
  faults.push(null, 'unavailable'); // a night that fails bills nothing
  expect(await night(dayAfter(second, 40))).toEqual([1, expect.stringContaining('Error: 503')]);
  expect(rows(first)).toEqual(billed);
  expect(await night(dayAfter(second, 40))).toEqual([0, '']);
  const late = ['30 late: 445 445 890', '31 late: 2 1 2', '32 late: 1500 500 1000'];
  expect(rows(first)).toEqual([...billed, ...late].sort());

  await count(30, second, 900); // a count that falls becomes a credit
  expect(await night(dayAfter(third, 40))).toEqual([0, '']);
  expect(rows(second)).toEqual(['30 late: -7100 -7000 -14000', ...next]);
  const months = sql('select business_id, starts_on, ends_on, sum(count) as count from invoices group by 1, 2');
  expect(months).toHaveLength(6);
  for (const { business_id, starts_on, ends_on, count } of months)
    expect({ starts_on, count: await used(business_id, starts_on, ends_on) }).toEqual({ starts_on, count });
  const before = sql('select * from invoices');
  expect([await night(second), await night(dayAfter(third, 40))]).toEqual(Array(2).fill([0, '']));
  expect(await night(dayFromNow(1))).toEqual([1, expect.stringContaining('ended must be a date before today')]);
  expect(sql('select * from invoices')).toEqual(before);
});
