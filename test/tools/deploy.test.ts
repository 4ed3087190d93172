// npm run deploy, with a stand-in for wrangler that logs how it is called and plays what the test says.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';

/** What wrangler does when called with words that start so; where nothing is said, it succeeds in silence. */
type Plays = Record<string, { code?: number; stdout?: string; stderr?: string }>;

const STAND_IN = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
const stdin = readFileSync(0, 'utf8');
appendFileSync(__dirname + '/calls', words + (stdin && ' < ' + stdin) + '\\n');
const plays = Object.entries(JSON.parse(readFileSync(__dirname + '/plays', 'utf8')));
const [, { code = 0, stdout = '', stderr = '' }] = plays.find(([start]) => words.startsWith(start)) ?? [, {}];
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
`;

/** `npm run deploy -- …args`, by somebody who types `yes`: how it ends, and what wrangler was called with. */
function deploy(plays: Plays, ...args: string[]) {
  const folder = newFolder();
  writeFileSync(join(folder, 'wrangler'), STAND_IN, { mode: 0o755 });
  writeFileSync(join(folder, 'wrangler.cmd'), '@node "%~dp0wrangler" %*\r\n');
  writeFileSync(join(folder, 'plays'), JSON.stringify(plays));
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  type Ended = { code: number | string | null | undefined; stdout: string; stderr: string; calls: string[] };
  return new Promise<Ended>((done) => {
    const script = join(ROOT, 'src/tools/deploy.ts');
    const child = execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      const log = join(folder, 'calls');
      const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
      done({ code: error === null ? 0 : error.code, stdout, stderr, calls });
    });
    child.stdin?.end('yes');
  });
}

const NAME = 'business-usage-access';
const INFO = `d1 info ${NAME} --json`;
const CREATE = `d1 create ${NAME}`;
const MIGRATE = 'd1 migrations apply DB --remote';
const WHOAMI = 'whoami --json';
const MISSING = "Couldn't find a D1 DB named";
const UNKNOWN = { code: 1, stderr: `${MISSING} '${NAME}' (bound as 'DB') in the API.\n` };
const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.\n';

describe.concurrent('npm run deploy', () => {
  test('applies the migrations to the database that it finds, then uploads; only the upload may ask', async () => {
    const plays = {
      'd1 info': { stdout: '{}' },
      'd1 migrations': { stdout: 'applied\n' },
      deploy: { stdout: 'live\n' },
    };
    expect(await deploy(plays, '--domain', 'usage.example.com')).toEqual({
      code: 0,
      stdout: 'applied\nlive\n',
      stderr: '',
      calls: [INFO, MIGRATE, 'deploy --domain usage.example.com < yes'],
    });
  });

  test('makes the database where there is none, and says so', async () => {
    expect(await deploy({ 'd1 info': UNKNOWN })).toEqual({
      code: 0,
      stdout: `Created the database ${NAME}.\n`,
      stderr: '',
      calls: [INFO, CREATE, MIGRATE, 'deploy < yes'],
    });
  });

  test.each<[string, Plays, string, string[]]>([
    [
      'the database cannot be looked up',
      { 'd1 info': { code: 1, stderr: 'fetch failed\n\n' } },
      'fetch failed',
      [INFO],
    ],
    [
      'the database cannot be made',
      { 'd1 info': UNKNOWN, 'd1 create': { code: 1, stderr: 'the limit of databases is reached\n' } },
      'the limit of databases is reached',
      [INFO, CREATE],
    ],
    [
      'a migration fails',
      { 'd1 migrations': { code: 1 } },
      'The migrations were not applied: nothing was uploaded.',
      [INFO, MIGRATE],
    ],
    ['the upload fails', { deploy: { code: 1 } }, 'wrangler deploy failed.', [INFO, MIGRATE, 'deploy < yes']],
  ])('ends with one line and 1 where %s, and goes no further', async (_, plays, line, calls) => {
    const whoami = { whoami: { stdout: '{ "loggedIn": true }' } };
    const ended = { code: 1, stdout: '', stderr: `${line}\n`, calls: [...calls, WHOAMI] };
    expect(await deploy({ ...whoami, ...plays })).toEqual(ended);
  });

  test('tells those who are not logged in how to log in, and goes no further', async () => {
    const plays = {
      whoami: { code: 1, stdout: '{ "loggedIn": false }' },
      'd1 info': { code: 1, stderr: 'In a non-interactive environment, …\n' },
    };
    expect(await deploy(plays)).toEqual({ code: 1, stdout: '', stderr: LOGIN, calls: [INFO, WHOAMI] });
  });
});

test('wrangler says what its stand-in says of a database that is not there', () => {
  const wrangler = readFileSync(join(ROOT, 'node_modules/wrangler/wrangler-dist/cli.js'), 'utf8');
  expect(wrangler.includes(MISSING)).toBe(true);
});
