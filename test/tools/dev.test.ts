// npm run dev. Most tests replace wrangler with a script.
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { newOperatorKey, sha256Hex } from '../../src/core/credential.ts';
import { formatSecret } from '../../src/core/operator.ts';
import { readConfiguration } from '../../src/tools/configuration.ts';
import { node, ROOT, runScript } from '../cli/support.ts';
import { freePort } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';
import { exportedIn, projectWith, stoppedOnceReady } from './dev.ts';

const DEV = join(ROOT, 'src/tools/dev.ts');
const STARTING = 'Starting the service and its demo …\n';

/** Returns environment variables that replace `wrangler` with this script. */
function playing(script: string) {
  const folder = newFolder();
  writeFileSync(join(folder, 'wrangler'), `#!/usr/bin/env node\n${script}`, { mode: 0o755 });
  return { PATH: `${folder}${delimiter}${process.env.PATH}` };
}

/** A fake wrangler that prints its arguments, and responds with 204, then 422 to all later requests. */
const REFUSES = `
const [command, , , , port] = process.argv.slice(2);
if (command === 'dev') {
  console.log(process.argv.slice(2).join(' '));
  console.log('X_LOCAL_EXPLORER=' + process.env.X_LOCAL_EXPLORER);
  const statuses = [204];
  const answer = (_, response) => response.writeHead(statuses.shift() ?? 422).end('{}');
  require('node:http').createServer(answer).listen(+port, '127.0.0.1');
  setTimeout(() => process.exit(1), 50_000);
}
`;

describe.concurrent('npm run dev', () => {
  test.each<[string, string[], string]>([
    ['an unknown option', ['--wrong'], "Unknown option '--wrong'"],
    ['too many databases', ['--databases', '63'], '--databases must be a number from 1 to 62, such as 3'],
    ['an invalid time', ['--now', 'tomorrow'], '--now must be a time, such as 2026-11-30T23:55:00Z'],
    ['an invalid port', ['--port', '65536'], '--port must be a number from 1 to 65535, such as 8788'],
  ])('rejects %s with one line on stderr and exit code 2, and starts nothing', async (_, args, line) => {
    expect(await node(DEV, ...args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  test.each(['127.0.0.1', '0.0.0.0', '::'])(
    'reports a port on which a process listens at %s with one line on stderr and exit code 1, and changes nothing',
    async (host) => {
      const other = createServer().listen(0, host);
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const state = newFolder();
      const stderr = `Port ${port} is in use. Choose another: npm run dev -- --port NUMBER\n`;
      const ended = await node(DEV, '--port', `${port}`, '--persist-to', state);
      expect(ended).toEqual({ code: 1, stdout: '', stderr });
      expect(readdirSync(state)).toEqual([]);
      other.close();
    },
  );

  test('exits with the code of a server that does not start, and prints no variables', async () => {
    const env = playing('process.exitCode = process.argv[2] === "dev" ? 3 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newDatabase()];
    expect(await runScript(env, DEV, ...args)).toEqual({ code: 3, stdout: STARTING, stderr: '' });
  });

  test('reports which database could not be migrated', async () => {
    const env = playing('process.exitCode = process.argv.includes("DB_1") ? 1 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newFolder(), '--databases', '2'];
    const stderr = 'The migrations of DB_1 were not applied.\n';
    expect(await runScript(env, DEV, ...args)).toEqual({ code: 1, stdout: STARTING, stderr });
  });

  test('keeps serving if the demo is not prepared, and lets nobody read the databases of a shared server without a key', async () => {
    const [port, state] = [await freePort(), newFolder()];
    const args = ['--ip', '0.0.0.0', '--port', `${port}`, '--persist-to', state, '--databases', '3'];
    const { code, stdout, stderr } = await stoppedOnceReady({ env: playing(REFUSES) }, ...args);
    const reason = `localhost:${port} returned 422, but does not look like this service. Check its URL.`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: `\nThe demo was not prepared: ${reason}\n` });
    const [called, printed = ''] = stdout.split('\nReady: ');
    const exported = [...printed.matchAll(/^export (\w+)=(.*)/gm)].map(([, name, value]) => [name, value]);
    const [, [, operatorKey = ''] = []] = exported;
    expect(exported).toEqual([
      ['API', `http://localhost:${port}/api/v1`],
      ['OPERATOR_KEY', expect.stringMatching(/^bua_op_\w{43}$/)],
    ]);
    const variable = `--var OPERATOR_KEY_4:full:${sha256Hex(operatorKey)}`;
    expect(called).toBe(
      `${STARTING}dev --ip 0.0.0.0 --port ${port} --assets dist/dev-${port} --config wrangler.dev-3.toml --persist-to ${state} ${variable}
X_LOCAL_EXPLORER=false
`,
    );
    const { file, databases } = readConfiguration('wrangler.dev-3.toml');
    expect(databases.map(({ binding, name }) => [binding, name])).toEqual([
      ['DB', 'business-usage-access'],
      ['DB_1', 'business-usage-access-1'],
      ['DB_2', 'business-usage-access-2'],
    ]);
    expect(dirname(file)).toBe(ROOT);
  });

  test('serves two databases and the demo, keeps the developer’s operator key, and stops on SIGINT', {
    timeout: 180_000,
  }, async () => {
    const own = newOperatorKey();
    const cwd = projectWith('.dev.vars', `OPERATOR_KEY_1=${formatSecret('full', sha256Hex(own))}\n`);
    const port = await freePort();
    async function inspect(output: string) {
      const { API, API_KEY, BUSINESS, TOKEN, SHOP, SHOP_TOKEN, OPERATOR_KEY } = exportedIn(output);
      const opens: [who: string, key: string | undefined, business: string | undefined][] = [
        ['owner', API_KEY, SHOP],
        ['token', TOKEN, BUSINESS],
        ['token of the shop', SHOP_TOKEN, SHOP],
        ['operator', OPERATOR_KEY, SHOP],
        ['operator with the key in .dev.vars', own, BUSINESS],
      ];
      for (const [who, key, business] of opens) {
        const headers = { Authorization: `Bearer ${key}` };
        const { status } = await fetch(`${API}/business/usage/${business}`, { headers });
        expect({ who, status }).toEqual({ who, status: 200 });
      }
      const listed = await fetch(`${API}/database`, { headers: { Authorization: `Bearer ${own}` } });
      const { data } = (await listed.json()) as { data: { databases: { number: number }[] } };
      expect(data.databases.map(({ number }) => number)).toEqual([0, 1]);
      const live = `<usage-chart id="live" business="${BUSINESS}" token="${TOKEN}"`;
      await vi.waitFor(
        async () => expect(await (await fetch(`http://localhost:${port}`)).text()).toContain(live),
        5000,
      );
      const [link = ''] = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(output) ?? [];
      for (let visit = 0; visit < 2; visit++) {
        const { status, headers } = await fetch(link, { redirect: 'manual' });
        const [page, code] = headers.get('Location')?.split('#code=') ?? [];
        expect([status, page]).toEqual([303, `http://localhost:${port}/owner`]);
        const started = await fetch(`${API}/session`, { method: 'POST', body: JSON.stringify({ code }) });
        expect(started.status).toBe(200);
      }
    }
    const { stdout } = await stoppedOnceReady({ cwd, inspect }, '--port', `${port}`, '--databases', '2');
    expect(stdout).not.toContain('create_business'); // would be logged while the demo is prepared
  });

  test('serves with another clock, which its scheduled runs and its pages follow', { timeout: 180_000 }, async () => {
    const cwd = projectWith('.dev.vars', '');
    const port = await freePort();
    async function inspect(output: string) {
      const { API, BUSINESS, TOKEN } = exportedIn(output);
      const get = async (url: string) => (await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } })).text();
      const { used } = JSON.parse(await get(`${API}/business/usage/${BUSINESS}`)).data;
      expect(used.at(-1).date).toBe('2030-11-30');
      await get(`http://localhost:${port}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`);
      expect(JSON.parse(await get(`${API}/health`)).runs.alerts).toMatch(/^2030-11-30T23:/);
      for (const page of ['v1/usage-recorder.js', 'owner.js']) {
        const ownClock = /\bDate\.now\b/;
        expect(await get(`http://localhost:${port}/${page}`)).not.toMatch(ownClock);
        expect(readFileSync(join(cwd, 'dist/assets', page), 'utf8')).toMatch(ownClock);
      }
    }
    await stoppedOnceReady({ cwd, inspect }, '--port', `${port}`, '--now', '2030-11-30T23:30:00Z');
  });
});

test('an npm script that is run by an older Node than npm ci installs says in one line how to get it', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const direct = Object.values<string>(scripts).filter((script) => /^node .*\.ts\b/.test(script));
  const check = '--import ./src/tools/node.js';
  expect(direct.filter((script) => !script.startsWith(`node ${check} `))).toEqual([]);
  const old = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`;
  const stderr =
    'This needs Node 24, which npm ci installs unless npm skips install scripts: run npm rebuild node --ignore-scripts=false\n';
  const ran = ['--eval', 'console.log("ran")'];
  expect(await node('--import', old, ...check.split(' '), ...ran)).toEqual({ code: 1, stdout: '', stderr });
  expect(await node(...check.split(' '), ...ran)).toEqual({ code: 0, stdout: 'ran\n', stderr: '' });
});
