// Runs npm run verify against services run by wrangler: correct services with one and with three databases, and, for each promise, a proxy
// that breaks it. Each client address is limited to 100 requests in ten seconds. The requests that test this limit use an address that no
// other request uses, so the result does not depend on the speed of the machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceAt } from '../../src/cli/client.ts';
import { newOperatorKey, sha256Hex } from '../../src/core/credential.ts';
import { formatSecret } from '../../src/core/operator.ts';
import { differences, type Figures, STATED } from '../../src/tools/figures.ts';
import { NotVerified, OF_DATABASE, OF_SERVICE, type Target } from '../../src/tools/promises.ts';
import { ROOT, runScript, threeDatabases } from '../cli/support.ts';
import { freePort, startService, withDatabases } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';

const VERIFY = join(ROOT, 'src/tools/verify.ts');
const TIMEOUT = { timeout: 300_000 };
const KEY = newOperatorKey();
const RECORD_KEY = newOperatorKey();
const USERS = Array.from({ length: 10 }, (_, index) => 9_000_000_000 + index);
const PROMISES = Object.keys(OF_DATABASE).length + Object.keys(OF_SERVICE).length + 2;

const ADDRESS_LIMIT = 100;

/** Starts a service that accepts KEY and RECORD_KEY, behind a proxy that sets the client address. */
async function newService(state = newDatabase(), databases = 1) {
  const secrets = {
    OPERATOR_KEY_1: formatSecret('full', sha256Hex(KEY)),
    OPERATOR_KEY_2: formatSecret('record', sha256Hex(RECORD_KEY)),
  };
  const { url, stop } = await startService(state, { secrets, config: withDatabases(databases, ADDRESS_LIMIT) });
  const front = await serviceInFrontOf(url, () => undefined);
  return {
    url: front.url,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await stop();
    },
  };
}

/** Runs npm run verify until it exits. Sends the signal as soon as the output contains `until`. */
async function verified(
  url: string,
  { key = KEY, until = '', signal = 'SIGINT' as NodeJS.Signals, options = [] as string[] } = {},
) {
  const env = { ...process.env, OPERATOR_KEY: key };
  const child = spawn(process.execPath, [VERIFY, url, ...options], { cwd: ROOT, env });
  const closed = once(child, 'close');
  const printed = { stdout: '', stderr: '' };
  child.stderr.on('data', (text) => (printed.stderr += text));
  child.stdout.on('data', (text) => {
    printed.stdout += text;
    if (!child.killed && until !== '' && printed.stdout.includes(until)) child.kill(signal);
  });
  const [code] = await closed;
  const [lines = '', ...more] = printed.stdout.split('\n\n');
  const [summary = '', figures = ''] = more.reverse();
  return { code, stderr: printed.stderr, lines: lines.split('\n'), summary, ...(figures && { figures }) };
}

/** Returns the businesses and keys of the users that the checks use. */
async function ownedBy(url: string) {
  const { ok } = serviceAt(url, KEY);
  const lists = USERS.flatMap((user) => [`/business?user_id=${user}`, `/user/${user}/keys`]);
  const owned = await Promise.all(lists.map((list) => ok<{ businesses?: object[]; keys?: object[] }>(`GET ${list}`)));
  return owned.flatMap(({ businesses, keys }) => businesses ?? keys);
}

/** A break may change a request, or respond to it in place of the service. */
type Request = { method: string; path: string; headers: NodeJS.Dict<string[]>; body: string };
type Response = { status: number; body: unknown; headers?: Record<string, string> };
type Break = (
  request: Request,
  pass: (request: Request) => Promise<Response>,
) => Response | undefined | Promise<Response | undefined>;

let others = 0;
/** HEAD requests, which test the rate limit, use one address. Other requests rotate through 250. */
const addressOf = (method: string) => (method === 'HEAD' ? '192.0.2.1' : `198.51.100.${others++ % 250}`);

/** Starts a proxy that applies `change` to each request. */
async function serviceInFrontOf(url: string, change: Break) {
  const pass = async ({ method, path, headers, body }: Request): Promise<Response> => {
    const { authorization: [authorization = ''] = [] } = headers;
    const sent = { authorization, 'cf-connecting-ip': addressOf(method) };
    const init = { method, headers: sent, ...(body !== '' && { body }) };
    const response = await fetch(url + path, init);
    return { status: response.status, body: await response.json() };
  };
  const server = createServer(async (incoming, response) => {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    const { method = '', url: path = '', headersDistinct: headers } = incoming;
    const asked = { method, path, headers, body: Buffer.concat(parts).toString() };
    const answer = await change(asked, pass);
    if (answer !== undefined) {
      response
        .writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers })
        .end(JSON.stringify(answer.body));
      return;
    }
    const own = { 'content-length': `${Buffer.byteLength(asked.body)}`, 'cf-connecting-ip': addressOf(method) };
    const options: RequestOptions = { method, path, headers: { ...headers, ...own, host: `${headers.host}` } };
    const passed = request(url, options, (given) => {
      response.writeHead(given.statusCode ?? 500, given.headers);
      given.pipe(response);
    });
    passed.on('error', () => response.destroy()).end(asked.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('npm run verify', TIMEOUT, () => {
  const usage = 'Usage: OPERATOR_KEY=… npm run verify -- https://usage.example.com';
  const origin = 'URL must be an origin, such as https://usage.example.com. http is allowed only for this machine.';
  const operatorKey =
    'Set the environment variable OPERATOR_KEY to an operator key: bua_op_ followed by 43 letters and digits.';

  test.each<[string, string, string[], string]>([
    ['a missing URL', KEY, [], usage],
    ['text that is not a URL', KEY, ['usage.example.com'], origin],
    ['a URL with a path', KEY, ['https://usage.example.com/api/v1'], origin],
    ['http to another machine', KEY, ['http://usage.example.com'], origin],
    ['an unknown option', KEY, ['--fast', 'https://a.example'], "Unknown option '--fast'"],
    ['a missing key', '', ['https://a.example'], operatorKey],
    ['an API key', `bua_sk_0${'a'.repeat(33)}`, ['https://a.example'], operatorKey],
  ])('rejects %s with one line on stderr and exit code 2', async (_, OPERATOR_KEY, args, line) => {
    const { code, stdout, stderr } = await runScript({ OPERATOR_KEY }, VERIFY, ...args);
    expect({ code, stdout, stderr: stderr.replace(/\. To specify a positional.*/s, '\n') }).toEqual({
      ...{ code: 2, stdout: '', stderr: `${line}\n` },
    });
  });

  test('prints its arguments and variables with --help', async () => {
    const { code, stdout, stderr } = await runScript({ OPERATOR_KEY: '' }, VERIFY, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^npm run verify -- URL .*OPERATOR_KEY/s);
  });

  test('reports an unreachable service in one line, and exits with 1', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await runScript({ OPERATOR_KEY: KEY }, VERIFY, url)).toEqual({
      ...{ code: 1, stdout: '', stderr: `${new URL(url).host} cannot be reached: ECONNREFUSED\n` },
    });
  });

  test.each([200, 302, 403])(
    'exits with 1, and reports in one line that a different service responded with %s',
    async (status) => {
      const other = createServer((_, response) => response.writeHead(status, { Location: '/login' }).end('{}'));
      await once(other.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const stderr = `${url} is not this service: it responded to GET /api/v1/business with ${status}.\n`;
      expect(await runScript({ OPERATOR_KEY: KEY }, VERIFY, url)).toEqual({ code: 1, stdout: '', stderr });
      other.close();
    },
  );
});

describe('the figures', () => {
  /** What docs/performance.md states for a use that takes 5 ms, `without` and `withIds` times as long. */
  const stated = (kind: keyof Figures, without = 1, withIds = 1): [number, number] => [
    5 * STATED[kind] * without,
    5 * STATED[kind] * withIds,
  ];
  const AS_STATED = Object.fromEntries(
    Object.keys(STATED).map((kind) => [kind, stated(kind as keyof Figures)]),
  ) as Figures;
  const compared = (measured: Partial<Figures>) => differences({ ...AS_STATED, ...measured });

  test('differ if a multiple of the time of a use is more than twice as high or as low as documented', () => {
    const [use, report, list] = ['a use', 'a report', 'a list of 1,000 uses'] as const;
    expect(compared({})).toEqual([]);
    expect(
      compared({ [use]: stated(use, 1, 2), [report]: stated(report, 0.51, 1.99), [list]: stated(list, 0.5, 2) }),
    ).toEqual([]);
    expect(
      compared({ [use]: stated(use, 1, 2.02), [report]: stated(report, 0.49), [list]: stated(list, 1, 2.02) }),
    ).toEqual([
      'differs:  a use with 100,000 ids takes 2.0 times as long as a use; docs/performance.md states 1.0 times',
      `differs:  a report takes ${(0.49 * STATED[report]).toFixed(1)} times as long as a use; docs/performance.md states ${STATED[report].toFixed(1)} times`,
      'differs:  a list of 1,000 uses with 100,000 ids takes 20.2 times as long as a use; docs/performance.md states 10.0 times',
    ]);
    expect(compared({ 'a use': [0, 5] })).toEqual([
      'differs:  a use takes less than the clock can measure, so nothing can be compared',
    ]);
  });

  test('are compared with what docs/performance.md states', () => {
    const text = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8');
    const msOf = (row: string) => Number(new RegExp(`^\\| ${row}.*?([\\d.]+) ms`, 'm').exec(text)?.[1]);
    expect(STATED).toEqual({
      'a use': 1,
      'a use with an id': msOf('… with an `Idempotency-Key`') / msOf('record a use'),
      'a report': msOf('usage report, 31 days') / msOf('record a use'),
      'a list of 1,000 uses': msOf('[^|]*in lists of 1,000') / msOf('[^|]*single uses per second'),
    });
  });
});

/** For each promise, the break that violates it. */
const BREAKS: Record<string, Break> = {
  'a use is in the report as soon as it is confirmed': ({ path }) => answerIf(path.startsWith(USE), 200),
  '20 concurrent uses with 10 ids count as 10'({ headers }) {
    delete headers['idempotency-key'];
    return undefined;
  },
  'a limit of 1 refuses the second of two concurrent uses': (request) => without(request, ',"daily_limit":1'),
  'a revoked key stops working immediately': ({ method, path }) =>
    answerIf(method === 'DELETE' && path.includes('/keys/'), 200),
  'the token of a suspended business stops working immediately': ({ method }) => answerIf(method === 'PATCH', 200),
  'a token works only on pages of its site, and a refused origin is listed': (request) =>
    without(request, ',"sites":["https://verify.example"]'),
  'a duplicate header is rejected'({ headers }) {
    for (const name of ['authorization', 'origin']) headers[name]?.splice(1);
    return undefined;
  },
  async 'a console link opens the console at this address, and works once'(request, pass) {
    if (request.path !== '/api/v1/session') return undefined;
    started ??= pass(request);
    return started;
  },
  'a deleted business is unknown immediately': ({ path }) => answerIf(path.includes('?name='), 200),
  'the health check reports that every database responds': ({ path }) => answerIf(path.endsWith('/health'), 503),
  'the scheduled runs finish': ({ path }) => answerIf(path.startsWith('/cdn-cgi/'), 404),
  'the pages, the chart and the description are served': ({ path }) => answerIf(path === '/owner', 404),
  'responses require HTTPS, allow every origin and are never cached': async (request, pass) =>
    request.method === 'GET' ? { ...(await pass(request)), headers: { 'Cache-Control': 'public' } } : undefined,
  'a body over 1 MiB is refused': ({ body }) => answerIf(body.length > 2 ** 20, 200),
  'an address over its rate limit is refused for a while': ({ method }) => answerIf(method === 'HEAD', 200),
};
const USE = '/api/v1/business/usage/';
let started: Promise<Response> | undefined;
const answerIf = (condition: boolean, status: number) => (condition ? { status, body: { status: true } } : undefined);
function without(request: Request, text: string) {
  request.body = request.body.replace(text, '');
  return undefined;
}

describe.concurrent('the check', () => {
  let service: Awaited<ReturnType<typeof newService>>;
  beforeAll(async () => {
    service = await newService();
    // Freezes the clock that the checks use, because 3,000 requests may take longer than `MAX_MS` on a slow machine.
    vi.spyOn(performance, 'now').mockReturnValue(0);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await service[Symbol.asyncDispose]();
  });

  async function problemAt(url: string, name: string): Promise<Error | undefined> {
    const target: Target = {
      service: serviceAt(url, KEY),
      database: 0,
      user_id: 9_000_000_000,
      stopped: new AbortController().signal,
    };
    const check = OF_DATABASE[name]?.(target) ?? OF_SERVICE[name]?.(target.service, target.stopped);
    return check?.then(
      () => undefined,
      (error: Error) => error,
    );
  }

  test.each([...Object.keys(OF_DATABASE), ...Object.keys(OF_SERVICE)])(
    '"%s" passes on a service that keeps this promise and fails on one that breaks it',
    TIMEOUT,
    async (name) => {
      expect(await problemAt(service.url, name)).toBeUndefined();
      await using broken = await serviceInFrontOf(service.url, BREAKS[name] as Break);
      const problem = await problemAt(broken.url, name);
      expect(problem).toBeInstanceOf(Error);
      expect(problem).not.toBeInstanceOf(NotVerified);
    },
  );
});

describe.concurrent('npm run verify against a running service', () => {
  test('deletes all that it creates, even if interrupted, and what a killed run left behind', TIMEOUT, async () => {
    await using service = await newService();
    const { url } = service;
    const refused = { code: 1, lines: [''], summary: '' };
    const unknown = `${url} rejected the key in OPERATOR_KEY.\n`;
    expect(await verified(url, { key: newOperatorKey() })).toEqual({ ...refused, stderr: unknown });
    const recordOnly = { ...refused, stderr: expect.stringMatching(/^GET \/business returned 403 record_only_key, /) };
    expect(await verified(url, { key: RECORD_KEY })).toEqual(recordOnly);

    const fields = { user_id: USERS[0], name: 'Acme', main_domain: 'a.example', site: 'https://a.example' };
    const body = { ...fields, country_id: 1, business_size: 'small' };
    const own = await serviceAt(url, KEY).ok<{ id: number }>('POST /business', { body });
    const until = '20 concurrent uses';
    expect(await verified(url, { until, signal: 'SIGKILL' })).toMatchObject({ code: null });
    expect((await ownedBy(url)).length).toBeGreaterThan(1);
    const interrupted = await verified(url, { until });
    expect(interrupted).toMatchObject({ code: 1, stderr: '' });
    expect(interrupted.lines).toContain('Stopping: deleting what was created.');
    expect(interrupted.lines.at(-1)).toBe('ok       everything created was deleted');
    expect(interrupted.summary).toMatch(/^http:\S+: \d+ passed, 0 failed, 0 skipped; stopped by a signal\.\n$/);
    expect(await ownedBy(url)).toMatchObject([{ id: own.id, name: 'Acme' }]);
    expect(await verified(url)).toEqual({
      ...{ code: 0, stderr: '', summary: `${url}: ${PROMISES} passed, 0 failed, 0 skipped.\n` },
      lines: Array(PROMISES).fill(expect.stringMatching(/^ok {7}[a-z0-9]/)),
    });
    expect(await ownedBy(url)).toMatchObject([{ id: own.id, name: 'Acme' }]);
  });

  test('with --figures, measures the first database, and deletes its business with 105,000 ids', TIMEOUT, async () => {
    const { 'persist-to': state } = await threeDatabases();
    await using service = await newService(state, 3);
    const { code, stderr, figures = '', lines } = await verified(service.url, { options: ['--figures'] });
    expect({ code, stderr, wrong: lines.filter((line) => !line.startsWith('ok ')) }).toEqual({
      ...{ code: 0, stderr: '', wrong: [] },
    });
    expect(lines.slice(-2)).toEqual([
      'ok       the first database can be measured',
      'ok       everything created was deleted',
    ]);
    const printed = figures.split('\n').filter((line) => !line.startsWith('differs:  '));
    const times = (what: string) => expect.stringMatching(new RegExp(`^${what} {4,}\\d+\\.\\d {4,}\\d+\\.\\d$`));
    expect(printed).toEqual([
      'Figures of DB: means in milliseconds, from sending a batch to its response (Server-Timing)',
      '                             0 ids   100,000 ids',
      ...['a use', 'a use with an id', 'a report', 'a list of 1,000 uses'].map(times),
      expect.stringMatching(/^rows: {5}are only in the log\. /),
      expect.stringMatching(/^ {10}jq -c 'select\(\.business_id == \d+\) \| \{operation, d1\}' log\.ndjson$/),
    ]);
    expect(await ownedBy(service.url)).toEqual([]);
    const business = printed.at(-1)?.match(/\d+/)?.[0];
    const { outcome } = await serviceAt(service.url, KEY).send(`GET /business/${business}`);
    expect(outcome).toBe('401 unknown_business');
  });

  test('checks each of three databases', TIMEOUT, async () => {
    const { 'persist-to': state } = await threeDatabases();
    await using service = await newService(state, 3);
    const { url } = service;
    // Deletions have no effect in DB_1. The immediate 429 avoids waiting ten seconds for the rate limit to reset.
    const refuses = ({ method }: Request) => answerIf(method === 'HEAD', 429);
    await using broken = await serviceInFrontOf(
      url,
      (request) => refuses(request) ?? answerIf(/\/business\/1\d{9}\?name=/.test(request.path), 200),
    );
    const differing = await verified(broken.url);
    const lines = differing.lines.filter((line) => !line.startsWith('ok '));
    expect(lines).toEqual([
      'FAILED   a deleted business is unknown immediately: DB_1: ["200","200"], not ["401 unauthenticated","422 unknown_business"]',
      'FAILED   an address over its rate limit is refused for a while: ["429",null], not ["429 rate_limited","10"]',
      expect.stringMatching(
        /^FAILED {3}everything created was deleted: DB_1: business 1\d{9} is still listed after its deletion$/,
      ),
    ]);
    const summary = `${broken.url}: ${PROMISES - 3} passed, 3 failed, 0 skipped.\n`;
    expect(differing).toMatchObject({ code: 1, stderr: '', summary });

    const unavailable = { status: 503, body: { message: 'Service Unavailable' } };
    await using partial = await serviceInFrontOf(url, (request) => {
      const isForLast = request.method === 'POST' && request.body.includes('"database":2');
      return refuses(request) ?? (isForLast ? unavailable : undefined);
    });
    const unseen = await verified(partial.url);
    expect(unseen.code).toBe(1);
    expect(unseen.lines[0]).toBe(
      'FAILED   every database up to DB_9 creates a business, and the clock is right: DB_2: Service Unavailable',
    );
    const ofDatabases = Object.keys(OF_DATABASE).map((name) => `SKIPPED  ${name}: DB_2: Service Unavailable`);
    expect(unseen.lines.filter((line) => line.startsWith('SKIPPED'))).toEqual(ofDatabases);
  });
});
