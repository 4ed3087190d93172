// npm run verify, against services as wrangler serves them: one that is as it should be, on one database and on three, and some that
// a proxy breaks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashOf, newOperatorKey } from '../../src/core/credential.ts';
import { secretTextOf } from '../../src/core/operator.ts';
import { nodeIn, ROOT } from '../cli/support.ts';
import { startService as startDev } from '../docs/service.ts';
import { freePort, startService } from '../node/server.ts';
import { newDatabase } from '../node/state.ts';

const VERIFY = join(ROOT, 'src/tools/verify.ts');
const SLOW = { tags: 'slow', timeout: 300_000 };
const KEY = newOperatorKey();
const RECORD_KEY = newOperatorKey();
const USERS = Array.from({ length: 10 }, (_, index) => 9_000_000_000 + index);
const BODY = {
  ...{ name: 'npm run verify', main_domain: 'a.example', site: 'https://a.example', country_id: 1 },
  business_size: 'small',
};

/** A service with two operator keys, on a database of its own. */
async function newService() {
  const secrets = {
    OPERATOR_KEY_1: secretTextOf('full', await hashOf(KEY)),
    OPERATOR_KEY_2: secretTextOf('record', await hashOf(RECORD_KEY)),
  };
  const { url, stop } = await startService(newDatabase(), { secrets });
  return { url, [Symbol.asyncDispose]: () => stop() };
}

/** Runs it to its end. With `until`, a signal is sent as soon as this is printed. */
async function verified(url: string, { key = KEY, until = '', signal = 'SIGINT' as NodeJS.Signals } = {}) {
  const env = { ...process.env, OPERATOR_KEY: key };
  const child = spawn(process.execPath, [VERIFY, url], { cwd: ROOT, env });
  const closed = once(child, 'close');
  const printed = { stdout: '', stderr: '' };
  child.stderr.on('data', (text) => (printed.stderr += text));
  child.stdout.on('data', (text) => {
    printed.stdout += text;
    if (!child.killed && until !== '' && printed.stdout.includes(until)) child.kill(signal);
  });
  const [code] = await closed;
  const [lines = '', summary = ''] = printed.stdout.split('\n\n');
  return { code, stderr: printed.stderr, lines: lines.split('\n'), summary };
}

/** The lines of what is not as promised, each without what was seen. */
const differing = (lines: string[]) =>
  lines.filter((line) => !line.startsWith('ok ')).map((line) => line.replace(/: .*/, ''));

async function call(url: string, method: string, path: string, body?: object, key = KEY) {
  const init = { method, headers: { Authorization: `Bearer ${key}` }, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}/api/v1${path}`, init);
  return ((await response.json()) as { data: { businesses: object[]; id: number; keys: object[] } }).data;
}

/** What the users of the checks have. */
async function ownedBy(url: string, key = KEY) {
  const lists = USERS.flatMap((user) => [`/business?user_id=${user}`, `/user/${user}/keys`]);
  const owned = await Promise.all(lists.map((list) => call(url, 'GET', list, undefined, key)));
  return owned.flatMap(({ businesses, keys }) => businesses ?? keys);
}

describe('npm run verify', () => {
  const usage = 'Usage: OPERATOR_KEY=… npm run verify -- URL';
  const origin = 'URL must be the origin of a service, such as https://usage.example.com; http only for this machine';
  const operatorKey = 'OPERATOR_KEY must be an operator key: bua_op_ and 43 letters and digits';

  test.each<[string, string, string[], string]>([
    ['no URL', KEY, [], `${usage}, such as https://usage.example.com`],
    ['two URLs', KEY, ['https://a.example', 'https://b.example'], `${usage}, such as https://usage.example.com`],
    ['what is no URL', KEY, ['usage.example.com'], origin],
    ['a URL with a path', KEY, ['https://usage.example.com/api/v1'], origin],
    ['a URL with a password', KEY, ['https://me:secret@usage.example.com'], origin],
    ['http to another machine', KEY, ['http://usage.example.com'], origin],
    ['an unknown option', KEY, ['--fast', 'https://a.example'], "Unknown option '--fast'"],
    ['no key', '', ['https://a.example'], `${usage}: OPERATOR_KEY must be an operator key of the role full`],
    ['an API key', `bua_sk_0${'a'.repeat(33)}`, ['https://a.example'], operatorKey],
  ])('answers %s with one line on stderr and 2', async (_, OPERATOR_KEY, args, line) => {
    const { code, stdout, stderr } = await nodeIn({ OPERATOR_KEY }, VERIFY, ...args);
    expect({ code, stdout, stderr: stderr.replace(/\. To specify a positional.*/s, '\n') }).toEqual({
      ...{ code: 2, stdout: '', stderr: `${line}\n` },
    });
  });

  test('says with --help what it needs', async () => {
    const { code, stdout, stderr } = await nodeIn({ OPERATOR_KEY: '' }, VERIFY, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^npm run verify -- URL\n.*OPERATOR_KEY/s);
  });

  test('says in one line, and with 1, that nothing answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await nodeIn({ OPERATOR_KEY: KEY }, VERIFY, url)).toEqual({
      ...{ code: 1, stdout: '', stderr: 'GET /api/v1/business has no response: ECONNREFUSED\n' },
    });
  });

  test.each([200, 302, 403])('says in one line, and with 1, that something else answers with %s', async (status) => {
    const other = createServer((_, response) => response.writeHead(status, { Location: '/login' }).end('{}'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const stderr = `${url} is not this service: it answers GET /api/v1/business with ${status}.\n`;
    expect(await nodeIn({ OPERATOR_KEY: KEY }, VERIFY, url)).toEqual({ code: 1, stdout: '', stderr });
    other.close();
  });
});

describe.concurrent('a service', () => {
  test('that is as it should be is checked as often as one likes, and nothing of it is left', SLOW, async () => {
    await using service = await newService();
    const { url } = service;
    const unknown = newOperatorKey();
    for (const [key, problem] of [
      [unknown, `${url} does not know the key in OPERATOR_KEY.`],
      [RECORD_KEY, 'The key in OPERATOR_KEY can only record. It must have the role full.'],
    ] as const)
      expect(await verified(url, { key })).toEqual({ code: 1, lines: [''], stderr: `${problem}\n`, summary: '' });

    const first = await verified(url);
    const { code, lines, stderr, summary } = first;
    const promises = `${url} keeps all ${lines.length} promises.\n`;
    expect({ code, stderr, summary, differing: differing(lines) }).toEqual({
      ...{ code: 0, stderr: '', summary: promises, differing: [] },
    });
    expect(lines[0]).toBe('ok       what an earlier run left is deleted (0 businesses)');
    expect(lines).toContain('ok       a business is made in each database (DB)');
    expect(await ownedBy(url)).toEqual([]);

    const until = '20 uses at once';
    const interrupted = await verified(url, { until });
    expect(interrupted).toMatchObject({ code: 1, stderr: '' });
    expect(interrupted.lines).toContain('Stopping: what was made is being deleted.');
    expect(interrupted.lines.at(-1)).toMatch(/^ok {7}what was made is deleted \([1-9]\d* businesses\)$/);
    expect(interrupted.summary).toMatch(/^http:\S+: \d+ kept, 0 differ, 0 not looked at; stopped by a signal\.\n$/);
    expect(await ownedBy(url)).toEqual([]);

    expect(await verified(url, { until, signal: 'SIGKILL' })).toMatchObject({ code: null });
    expect(await ownedBy(url)).not.toEqual([]);
    const again = await verified(url);
    expect(again).toMatchObject({ code: 0, stderr: '', summary: promises });
    expect(again.lines[0]).toMatch(/^ok {7}what an earlier run left is deleted \([1-9]\d* businesses\)$/);
    expect(await ownedBy(url)).toEqual([]);

    const { id } = await call(url, 'POST', '/business', { ...BODY, user_id: USERS[3], name: 'Acme' });
    const occupied = await verified(url, { until });
    const problem = `user 9000000003 has business ${id}, Acme, which is not of this and stays`;
    expect(occupied.code).toBe(1);
    expect(occupied.lines[0]).toBe(`DIFFERS  what an earlier run left is deleted: ${problem}`);
    expect(occupied.lines.at(-1)).toBe(`DIFFERS  what was made is deleted: ${problem}`);
    expect(differing(occupied.lines)).toEqual([
      'DIFFERS  what an earlier run left is deleted',
      'Stopping',
      'DIFFERS  what was made is deleted',
    ]);
    expect(await ownedBy(url)).toMatchObject([{ id, name: 'Acme' }]);
  });

  test('with three databases is checked in each, whoever is where', SLOW, async () => {
    const { variables, stop } = await startDev('--databases', '3');
    const [url, key] = [variables.API.replace('/api/v1', ''), variables.OPERATOR_KEY];
    try {
      await call(url, 'POST', '/business', { ...BODY, user_id: USERS[1], database: 0 }, key);
      const { code, lines, stderr, summary } = await verified(url, { key });
      const promises = `${url} keeps all ${lines.length} promises.\n`;
      expect({ code, stderr, summary, differing: differing(lines) }).toEqual({
        ...{ code: 0, stderr: '', summary: promises, differing: [] },
      });
      expect(lines[0]).toBe('ok       what an earlier run left is deleted (1 business)');
      expect(lines).toContain('ok       a business is made in each database (DB, DB_1, DB_2)');
      expect(await ownedBy(url, key)).toEqual([]);
    } finally {
      await stop();
    }
  });

  /** A request of a run, which a break may change, and what a break may answer itself. */
  type Request = { method: string; path: string; headers: IncomingMessage['headers']; body: string };
  type Answer = { status: number; body: unknown };
  /** `url` is that of the service behind the break. */
  type Break = (request: Request, url: string) => Answer | undefined | Promise<Answer | undefined>;

  /** What each code gave first. */
  const started = new Map<string, Promise<unknown>>();
  const takesCodesTwice: Break = async ({ method, path, body }, url) => {
    if (method !== 'POST' || path !== '/api/v1/session') return undefined;
    const first = started.get(body) ?? fetch(url + path, { method, body }).then((response) => response.json());
    started.set(body, first);
    return { status: 200, body: await first };
  };

  test.each<[string, Break, string[], string]>([
    [
      'counts an id twice',
      ({ headers, path }) => {
        if (path.startsWith('/api/v1/business/usage/')) delete headers['idempotency-key'];
        return undefined;
      },
      [
        'the same id twice counts once',
        '20 uses at once with 10 ids count 10',
        'a use that a limit refused is not remembered, and counts once the limit is raised',
      ],
      'the same id twice counts once: DB: the uses of one id, twice from a token and twice from the operator: 4, not 2',
    ],
    [
      'ignores limits',
      (request) => {
        request.body = request.body.replace(/,"daily_limit":1\b/, '');
        return undefined;
      },
      [
        'a limit of 1 refuses the second of two at once',
        'a use that a limit refused is not remembered, and counts once the limit is raised',
        'a list of uses counts past a limit',
      ],
      'a limit of 1 refuses the second of two at once: DB: both were counted (200, 200), and the report has 2',
    ],
    [
      'keeps a token that was replaced',
      (request) => {
        if (request.path.endsWith('/token') && request.body === '') request.body = '{"keep_old":"1h"}';
        return undefined;
      },
      ['a replaced token stops at once'],
      'a replaced token stops at once: DB: the old token: "200", not "401 unauthenticated"',
    ],
    [
      'says that a business is deleted, and keeps it',
      ({ method, path }) => {
        const [, id] = (method === 'DELETE' && /^\/api\/v1\/business\/(\d+)\?name=npm/.exec(path)) || [];
        if (id === undefined) return undefined;
        return { status: 200, body: { status: true, data: { deleted: { id: Number(id), name: 'npm run verify' } } } };
      },
      ['a deleted business is unknown at once, to everybody', 'what was made is deleted'],
      'a deleted business is unknown at once, to everybody: DB: a credential of it: "200", not "401 unauthenticated"',
    ],
    [
      'takes the code of a console link twice',
      takesCodesTwice,
      ['a console link opens the console of this service, and works once'],
      'a console link opens the console of this service, and works once: DB: it worked more than once (200, 200, 200)',
    ],
    [
      'lets sessions last too long',
      (request) => {
        request.body = request.body.replace('"minutes":1}', '"minutes":60}');
        return undefined;
      },
      ['a session of one minute ends when its time is over'],
      'a session of one minute ends when its time is over: DB: reading after 62 seconds: "200", not "401 unauthenticated"',
    ],
  ])('that %s is found out, and the rest is as it should be', SLOW, async (_, change, names, line) => {
    await using service = await newService();
    await using broken = await brokenService(service.url, change);
    const { code, lines, stderr, summary } = await verified(broken.url);
    expect({ code, stderr, differing: differing(lines) }).toEqual({
      ...{ code: 1, stderr: '', differing: names.map((name) => `DIFFERS  ${name}`) },
    });
    expect(lines).toContainEqual(expect.stringContaining(`DIFFERS  ${line}`));
    const kept = lines.length - names.length;
    expect(summary).toBe(`${broken.url}: ${kept} kept, ${names.length} differ, 0 not looked at.\n`);
  });

  test('that makes no business cannot be looked at, which counts as a failure', SLOW, async () => {
    await using service = await newService();
    const refuses: Break = ({ method, path }) =>
      method === 'POST' && path === '/api/v1/business' ? { status: 503, body: {} } : undefined;
    await using broken = await brokenService(service.url, refuses);
    const { code, lines, summary } = await verified(broken.url);
    expect(code).toBe(1);
    expect(lines.filter((line) => line.startsWith('UNSEEN')).length).toBeGreaterThan(15);
    expect(summary).toMatch(/^http:\S+: \d+ kept, 1 differ, \d+ not looked at\.\n$/);
  });

  /** A service in front of the one at `url`, which changes requests or answers them itself. */
  async function brokenService(url: string, change: Break) {
    const server = createServer(async (incoming, response) => {
      const parts = [];
      for await (const part of incoming) parts.push(part);
      const { method = '', url: path = '', headers } = incoming;
      const asked = { method, path, headers, body: Buffer.concat(parts).toString() };
      const answer = await change(asked, url);
      if (answer !== undefined) {
        response.writeHead(answer.status).end(JSON.stringify(answer.body));
        return;
      }
      const length = { 'content-length': `${Buffer.byteLength(asked.body)}` };
      const options: RequestOptions = { method, path, headers: { ...headers, ...length } };
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
});
