// How commands report failures, and when they retry.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { freePort } from '../node/server.ts';
import { newFolder } from '../node/state.ts';
import { CREATE } from './sent.ts';
import { type Answer, cutOff, json, KEY, printed, runAdmin, stub, success } from './stub.ts';
import { ROOT } from './support.ts';

const LIST = ['key', 'list', '--user', '7'];
const API = 'http://127.0.0.1:1/api/v1';
const NO_API =
  'Set the environment variable API to the URL of the service, such as https://usage.example/api/v1. http is allowed only on this machine.';
const NO_KEY =
  'Set the environment variable OPERATOR_KEY to an operator key: bua_op_ followed by 43 letters and digits.';
const see = (command: string) => `\nThe outcome is unknown. To see it: npm run -s admin -- ${command}`;

describe('npm run admin', () => {
  test('prints one line of JSON to stdout and the host to stderr', async () => {
    const { env, host } = await stub(success({ keys: [] }));
    expect(await runAdmin(env, ...LIST)).toEqual({ code: 0, stdout: '{"keys":[]}\n', stderr: `${host}\n` });
  });

  test('exits with 1 when the service rejects the request, and prints every problem', async () => {
    const errors = { name: ['name is taken', 'name is long'], site: ['site is no URL'] };
    const { env, host } = await stub(json({ status: false, message: 'name is taken', errors }, 422));
    const stderr = `${host}\nname is taken\nname is long\nsite is no URL\n`;
    expect(await runAdmin(env, ...CREATE)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('exits with 2 for an invalid command line, without reading the environment', async () => {
    expect(await runAdmin({}, 'key', 'list')).toEqual({ code: 2, stdout: '', stderr: 'key list requires --user 7\n' });
  });

  test('exits with 1 when the service’s URL or the operator key is missing', async () => {
    expect(await runAdmin({}, ...LIST)).toEqual({ code: 1, stdout: '', stderr: `${NO_API}\n` });
    expect(await runAdmin({ API }, ...LIST)).toEqual({ code: 1, stdout: '', stderr: `${NO_KEY}\n` });
  });

  test('creates an operator key without calling the service', async () => {
    expect(await runAdmin({}, 'operator-key', 'create', '--role', 'record', '--slot', '2')).toMatchObject({
      ...{ code: 0, stderr: '' },
      stdout: expect.stringMatching(
        /^\{"operator_key":"bua_op_\w{43}","role":"record","secret":"(record:[0-9a-f]{64})","store":"echo \1 \| npx wrangler secret put OPERATOR_KEY_2"\}\n$/,
      ),
    });
  });
});

describe('the output of npm run admin', () => {
  const run = async (env: Record<string, string>, line: string, input = '') => {
    const script = `set -o pipefail; ${line.replace('ADMIN', `"${process.execPath}" src/cli/main.ts`)}`;
    const child = spawn('bash', ['-c', script], { cwd: ROOT, env: { ...process.env, ...env } });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, stdout, stderr };
  };
  const MANY = { businesses: Array.from({ length: 20_000 }, (_, id) => ({ id })), next: null };
  const FULL = 'The command ran, but its output cannot be written: ENOSPC: no space left on device, write\n';

  test.each([
    ['ADMIN business list | head -c 20', '{"businesses":[{"id"'],
    ['ADMIN business list | true', ''],
    ['ADMIN --help | true', ''],
  ])('%s ends quietly', async (line, stdout) => {
    const { env, host } = await stub(success(MANY));
    expect(await run(env, line)).toEqual({ code: 0, stdout, stderr: line.includes('--help') ? '' : `${host}\n` });
  });

  test.each([
    'ADMIN business list > /dev/full',
    'ADMIN user export 7 > /dev/full',
    'ADMIN key create --user 7 > /dev/full',
  ])('%s says that the disk is full', async (line) => {
    const { env, host } = await stub(success({ ...MANY, keys: [], changes: [], usage: [] }));
    expect(await run(env, line)).toEqual({ code: 1, stdout: '', stderr: `${host}\n${FULL}` });
  });

  test('a full disk for messages does not hide the result', async () => {
    const { env } = await stub(success({ keys: [] }));
    expect(await run(env, 'ADMIN key list --user 7 2> /dev/full')).toEqual({
      code: 0,
      stdout: '{"keys":[]}\n',
      stderr: '',
    });
  });

  test('usage import reads - from standard input', async () => {
    const { env, host, sent } = await stub(success({ days: 1, uses: 5 }));
    const imported = await run(env, 'ADMIN usage import 1 -', 'Date,Count\n2026-01-30,5\n');
    expect(imported).toEqual({ code: 0, stdout: '{"days":1,"uses":5}\n', stderr: `${host}\n` });
    expect(sent[0]?.body).toEqual({ days: [{ date: '2026-01-30', count: 5 }] });
    expect(await run(env, 'ADMIN usage import 1 -')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'standard input must have 1 to 1830 lines such as 2026-01-31,120, but has 0. To split a longer file: split -l 1830 - part-\n',
    });
  });
});

const otherOperatorKeys: [name: string, key: string][] = [
  ['an API key', `bua_sk_${'k'.repeat(34)}`],
  ['a truncated operator key', KEY.slice(0, -1)],
  ['two operator keys', `${KEY} ${KEY}`],
  ['an operator key with a second line', `${KEY}\nX-Other: 1`],
];
test.each<[name: string, env: Record<string, string>, message: string]>([
  ['http to another machine', { API: 'http://usage.example/api/v1' }, NO_API],
  ['http to a hostname that starts with localhost', { API: 'http://localhost.example/api/v1' }, NO_API],
  ['a URL with another scheme', { API: 'ftp://localhost/api/v1' }, NO_API],
  ['a URL without a scheme', { API: 'localhost:8787' }, NO_API],
  ['a URL without the API path', { API: 'https://usage.example' }, NO_API],
  ['a URL with a user name and a password', { API: 'https://a:b@usage.example/api/v1' }, NO_API],
  ['a URL with a query', { API: 'https://usage.example/api/v1?a' }, NO_API],
  ...otherOperatorKeys.map(([name, key]): [string, Record<string, string>, string] => [
    name,
    { OPERATOR_KEY: key },
    NO_KEY,
  ]),
])('a command refuses %s and does not print it', async (_, env, message) => {
  await expect(printed({ API, OPERATOR_KEY: KEY, ...env }, ...LIST)).rejects.toThrow(new Error(message));
});

const moved: Answer = (response) => response.writeHead(302, { Location: 'https://evil.example/' }).end();
const page: Answer = (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>');
const gone: Answer = (response) => response.destroy();

/** Responses, the message that a command prints for each, and whether the outcome of a change is unknown. */
const FAILURES: [name: string, answer: Answer, expected: string, isUnknown: boolean][] = [
  ['401', json({ message: 'Unauthenticated.' }, 401), 'Unauthenticated.', false],
  ['403', json({ status: false, message: 'This operator key can only record.' }, 403), 'This operator key can only record.', false],
  ['429', json({ message: 'Too Many Attempts.' }, 429), 'Too Many Attempts.', false],
  ['503', json({ message: 'Service Unavailable' }, 503), 'Service Unavailable', true],
  ['500', json({ message: 'Server Error' }, 500), 'Server Error', true],
  ['a redirect', moved, 'HOST redirects to https://evil.example/. Use the URL of the service itself.', false],
  ['an HTML page', page, 'HOST returned 200, but does not look like this service. Check its URL.', true],
  ['JSON from another service', json([1]), 'HOST returned 200, but does not look like this service. Check its URL.', true],
  ['a null body', json(null), 'HOST returned 200, but does not look like this service. Check its URL.', true],
  ['404 from another service', json({ error: 1 }, 404), 'HOST returned 404, but does not look like this service. Check its URL.', false],
  ['a truncated response', cutOff, 'HOST sent no complete response: ECONNRESET', true],
  ['a missing response', gone, 'HOST sent no complete response: ECONNRESET', true],
]; // biome-ignore format: one row per line

/** A command that changes nothing, one whose retry is safe, and one whose retry is not. */
const COMMANDS = [LIST, CREATE, ['business', 'delete', '1', '--confirm', 'Acme']];
const SEEN_BY: [argv: string[], command: string][] = [
  [['key', 'create', '--user', '7'], 'key list --user 7'],
  [['access', 'forget-refused', '1'], 'access refused 1'],
  [['business', 'delete', '1', '--confirm', 'Acme'], 'business show 1'],
];

test.each(FAILURES)('a command reports %s', async (_, answer, expected, isUnknown) => {
  for (const argv of COMMANDS) {
    const { env, host, sent } = await stub(answer);
    const message = expected.replace('HOST', host);
    const isLost = isUnknown && argv !== LIST;
    const error = await printed(env, ...argv).catch(({ message }: Error) => message);
    expect(error.split('\n')[0]).toBe(message);
    expect(error.slice(message.length)).toMatch(isLost ? /^\nThe outcome is unknown\./ : /^$/);
    expect({ argv, sent: sent.length }).toEqual({ argv, sent: isLost && argv === CREATE ? 2 : 1 });
  }
});

test('a command reports an unreachable service, and no unknown outcome', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  await expect(printed({ API: `http://${host}/api/v1`, OPERATOR_KEY: KEY }, ...CREATE)).rejects.toThrow(
    new Error(`${host} cannot be reached: ECONNREFUSED`),
  );
});

test('after a lost response, business create retries with the same Idempotency-Key', async () => {
  const { env, sent } = await stub(cutOff, success({ id: 1 }));
  expect(await printed(env, ...CREATE)).toEqual({ id: 1 });
  expect(sent[1]).toMatchObject({ request: sent[0]?.request, body: sent[0]?.body });
  const keys = sent.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
});

test('after a lost response, the outcome stays unknown even if the retry is rejected', async () => {
  const { env } = await stub(gone, json({ message: 'Unauthenticated.' }, 401));
  await expect(printed(env, ...CREATE)).rejects.toThrow(`Unauthenticated.${see('business list --user 7')}`);
});

test.each(SEEN_BY)('after a lost response, %j prints the command that shows the outcome: %s', async (argv, command) => {
  const { env } = await stub(gone);
  await expect(printed(env, ...argv)).rejects.toThrow(see(command));
});

describe('usage import', () => {
  const importing = (env: Record<string, string>, text: string, ...more: string[]) => {
    const file = join(newFolder(), 'history.csv');
    writeFileSync(file, text);
    return printed(env, 'usage', 'import', '1', file, ...more);
  };
  const DAYS = [
    { date: '2026-01-30', count: 120 },
    { date: '2026-01-31', count: 7 },
  ];

  test.each([
    ['a file without a header', '2026-01-30,120\n2026-01-31,7\n'],
    ['a header line', 'date,count\n2026-01-30,120\n2026-01-31,7'],
    ['a byte order mark and CRLF', '\uFEFFdate,count\r\n2026-01-30,120\r\n2026-01-31,7\r\n\r\n'],
    ['quoted fields', '"date","count"\r\n"2026-01-30","120"\r\n"2026-01-31","7"\r\n'],
    ['quotes around some fields', '"date",count\n2026-01-30,"120"\n"2026-01-31",7\n'],
    ['semicolons', '\uFEFFdate;count\r\n2026-01-30;120\r\n"2026-01-31";7\r\n'],
    ['tabs', 'date\tcount\n2026-01-30\t120\n2026-01-31\t7\n'],
    ['a header in any case', 'Date,Count\n2026-01-30,120\n2026-01-31,7\n'],
    [
      'a quoted header in capitals after a byte order mark',
      '\uFEFF"DATE";"COUNT"\r\n2026-01-30;120\r\n2026-01-31;7\r\n',
    ],
    ['spaces around fields and after the last line', ' Date , "Count" \n2026-01-30, 120\n "2026-01-31" ,7 \n \n'],
    ['tabs in capitals, and line ends of old Macs', 'DATE\tCOUNT\r2026-01-30\t120\r2026-01-31\t7\r'],
  ])('accepts %s', async (_, text) => {
    const { env, sent } = await stub(success({ days: 2, uses: 127 }));
    expect(await importing(env, text)).toEqual({ days: 2, uses: 127 });
    expect(sent[0]?.body).toEqual({ days: DAYS });
  });

  const rule = 'must be a date and a count, such as 2026-01-31,120';
  test.each([
    ['invalid columns', '2026-01-30,1,2\nx\n\n2026-01-31,1', `line 1 ${rule}\nline 2 ${rule}\nline 3 ${rule}`],
    ['numbers with separators', '"2026-01-30","1,200"\n2026-01-30;1,5', `line 1 ${rule}\nline 2 ${rule}`],
    [
      'unbalanced quotes',
      '"2026-01-30,1\n2026-01-30",1\n2026-01-30,""1""',
      `line 1 ${rule}\nline 2 ${rule}\nline 3 ${rule}`,
    ],
    ['invalid counts', 'date,count\n2026-01-30,-1\n2026-01-31,1.5', `line 2 ${rule}\nline 3 ${rule}`],
    [
      'a day that does not exist and a count that is too high',
      'date,count\n2026-02-30,1\n2026-01-31,9007199254740992',
      'line 2 date must be a date from 1970-01-01 to 9999-12-31, in the format YYYY-MM-DD\nline 3 count must be a whole number from 0 to 9007199254740991',
    ],
  ])('refuses %s, names each invalid line, and sends nothing', async (_, text, message) => {
    await expect(importing({}, text)).rejects.toThrow(new Error(message));
  });

  test.each([0, 1831])('refuses a file of %i lines and prints how to split it', async (count) => {
    await expect(importing({}, '2026-01-30,1\n'.repeat(count))).rejects.toThrow(
      /history.csv must have 1 to 1830 lines such as 2026-01-31,120, but has (0|1831)\. To split a longer file: split -l 1830 \S+history.csv part-$/,
    );
  });
});
