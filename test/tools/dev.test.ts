// npm run dev. Most tests replace wrangler with a script.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test, vi } from 'vitest';
import { newOperatorKey, sha256Hex } from '../../src/core/credential.ts';
import { formatSecret } from '../../src/core/operator.ts';
import { readConfiguration } from '../../src/tools/configuration.ts';
import { portProblem } from '../../src/tools/port.ts';
import { node, ROOT, runScript } from '../cli/support.ts';
import { freePort } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';

const DEV = join(ROOT, 'src/tools/dev.ts');

async function listenAt(host: string) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => server.close() };
}
const inUse = (port: number) => `Port ${port} is in use. Choose another: npm run dev -- --port NUMBER`;

/** Searches below the ports that systems give to outgoing connections, because one of another test could take the second port. */
async function firstOfTwoFreePorts(): Promise<number> {
  for (let port = 20_000 + 2 * Math.floor(Math.random() * 5000); ; port += 2)
    if ((await portProblem(port)) === null && (await portProblem(port + 1)) === null) return port;
}

/** Returns environment variables that replace `wrangler` with this script. */
function playing(script: string) {
  const folder = newFolder();
  writeFileSync(join(folder, 'wrangler'), `#!/usr/bin/env node\n${script}`, { mode: 0o755 });
  return { PATH: `${folder}${delimiter}${process.env.PATH}` };
}

/** A fake wrangler that prints its arguments, and responds with 204, then 503, then 422 to all later requests. */
const REFUSES = `
const [command, , , , port] = process.argv.slice(2);
if (command === 'dev') {
  console.log(process.argv.slice(2).join(' '));
  const statuses = [204, 503];
  const answer = (_, response) => response.writeHead(statuses.shift() ?? 422).end('{}');
  require('node:http').createServer(answer).listen(+port, '127.0.0.1', () => console.log('Ready on', process.env.X_LOCAL_EXPLORER));
  setTimeout(() => process.exit(1), 50_000);
}
`;

/** Runs npm run dev until it is ready and `inspect` has returned. Then sends SIGINT and waits until the server has closed the output. */
async function stoppedOnceReady({ cwd = ROOT, env = {}, inspect = async (_: string) => {} }, ...args: string[]) {
  const dev = spawn(process.execPath, ['src/tools/dev.ts', ...args], { cwd, env: { ...process.env, ...env } });
  const closed = once(dev, 'close');
  const printed = { stdout: '', stderr: '' };
  dev.stderr.on('data', (text) => (printed.stderr += text));
  dev.stdout.on('data', (text) => (printed.stdout += text));
  await vi
    .waitUntil(() => /^Ready: .*OPERATOR_KEY=/ms.test(printed.stdout) || dev.exitCode !== null, 100_000)
    .then(() => inspect(printed.stdout))
    .finally(() => dev.kill('SIGINT'));
  const [code] = await closed;
  return { code, ...printed };
}

/** Returns a copy of the project with one file added or replaced. */
function projectWith(name: string, text: string): string {
  const copy = newFolder();
  for (const name of ['src', 'migrations', 'package.json', 'wrangler.toml'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
  writeFileSync(join(copy, name), text);
  return copy;
}

describe.concurrent('npm run dev', () => {
  test.each<[string, string[], string]>([
    ['an unknown option', ['--wrong'], "Unknown option '--wrong'"],
    ['too many databases', ['--databases', '63'], '--databases must be a number from 1 to 62, such as 3'],
    ['an invalid port', ['--port', '65536'], '--port must be a number from 1 to 65535, such as 8788'],
    ['a host name', ['--ip', 'example.com'], '--ip must be an IP address, such as 0.0.0.0'],
    ['an empty directory name', ['--persist-to', ''], '--persist-to must name a directory, such as ./other'],
  ])('rejects %s with one line on stderr and exit code 2, and starts nothing', async (_, args, line) => {
    expect(await node(DEV, ...args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  test('reports a port in use with one line on stderr and exit code 1, and changes nothing', async () => {
    using other = await listenAt('127.0.0.1');
    const state = newFolder();
    const stderr = `${inUse(other.port)}\n`;
    const ended = await node(DEV, '--port', `${other.port}`, '--persist-to', state);
    expect(ended).toEqual({ code: 1, stdout: '', stderr });
    expect(readdirSync(state)).toEqual([]);
  });

  test('reports an invalid line in wrangler.toml', async () => {
    const copy = projectWith('wrangler.toml', 'name = "x"\n[[d1_databases]\n');
    const file = join(copy, 'wrangler.toml');
    const stderr = `${file}, line 2: Invalid TOML document: expected end of table array declaration\n`;
    const dev = await node(join(copy, 'src/tools/dev.ts'), '--port', `${await freePort()}`);
    expect(dev).toEqual({ code: 1, stdout: '', stderr });
  });

  test('exits with the code of a server that does not start, and prints no variables', async () => {
    const env = playing('process.exitCode = process.argv[2] === "dev" ? 3 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newDatabase()];
    const stderr = 'wrangler dev exited with code 3 before the service responded.\n';
    expect(await runScript(env, DEV, ...args)).toEqual({ code: 3, stdout: '', stderr });
  });

  test('rejects local databases of a version before 1.0.0-rc with one line on stderr, before it starts wrangler', async () => {
    const state = newDatabase();
    for (const file of globSync('v3/d1/*/*.sqlite', { cwd: state }).filter(
      (name) => !name.endsWith('metadata.sqlite'),
    )) {
      using database = new DatabaseSync(join(state, file));
      database.exec(`update d1_migrations set name = '0001_init.sql'`);
    }
    const args = ['--port', `${await freePort()}`, '--persist-to', state];
    const stderr = `${state} was created by a version before 1.0.0-rc, which cannot be upgraded. Delete it, or use --persist-to.\n`;
    expect(await runScript(playing('process.stdout.write("started")'), DEV, ...args)).toEqual({
      code: 1,
      stdout: '',
      stderr,
    });
  });

  test('reports which database could not be migrated', async () => {
    const env = playing('process.exitCode = process.argv.includes("DB_1") ? 1 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newFolder(), '--databases', '2'];
    const stderr = 'The migrations of DB_1 were not applied.\n';
    expect(await runScript(env, DEV, ...args)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('reports in one line why the demo was not prepared, and keeps serving', async () => {
    const [port, state] = [await freePort(), newFolder()];
    const args = ['--port', `${port}`, '--persist-to', state, '--databases', '3'];
    const { code, stdout, stderr } = await stoppedOnceReady({ env: playing(REFUSES) }, ...args);
    const line = '\nThe demo was not prepared: GET /business?user_id=1 returned 422 {}\n';
    expect({ code, stderr }).toEqual({ code: 0, stderr: line });
    const [called, printed = ''] = stdout.split('\nReady: ');
    const operatorKey = /^export OPERATOR_KEY=(bua_op_\w{43})$/m.exec(printed)?.[1] ?? '';
    expect([...printed.matchAll(/^export (\w+)/gm)].map(([, name]) => name)).toEqual(['API', 'OPERATOR_KEY']);
    const variable = `--var OPERATOR_KEY_4:full:${await sha256Hex(operatorKey)}`;
    expect(called?.trimEnd().split('\n')).toEqual([
      `dev --ip localhost --port ${port} --assets dist/dev-${port} ${variable} --config wrangler.dev-3.toml --persist-to ${state}`,
      'Ready on undefined',
    ]);

    const { file, databases } = readConfiguration('wrangler.dev-3.toml');
    expect(databases.map(({ binding, name }) => [binding, name])).toEqual([
      ['DB', 'business-usage-access'],
      ['DB_1', 'business-usage-access-1'],
      ['DB_2', 'business-usage-access-2'],
    ]);
    expect(dirname(file)).toBe(ROOT);
  });

  test('with --ip 0.0.0.0 prints an address that can be opened, and lets nobody read the databases without a key', async () => {
    const port = await freePort();
    const args = ['--ip', '0.0.0.0', '--port', `${port}`, '--persist-to', newFolder()];
    const { code, stdout, stderr } = await stoppedOnceReady({ env: playing(REFUSES) }, ...args);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^\nOther machines can reach the service, too\. Requests are not encrypted, so use a network that you trust\.\n/,
    );
    expect(stdout).toContain(`dev --ip 0.0.0.0 --port ${port} `);
    expect(stdout).toContain('\nReady on false\n'); // wrangler's explorer is off
    expect(stdout).toContain(`\nexport API=http://localhost:${port}/api/v1\n`);
  });

  test('tries the next port if another program takes the port during the start, and uses nothing of that program', async () => {
    const port = await firstOfTwoFreePorts();
    const held = createServer();
    const asked: string[] = [];
    // The migrations last until another server listens on the port.
    const control = createServer((socket) => {
      held.on('connection', (other) =>
        other.on('data', (data) => asked.push(`${data}`)).end('HTTP/1.1 204 OK\r\n\r\n'),
      );
      held.listen(port, '127.0.0.1', () => socket.end());
    }).listen(0, '127.0.0.1');
    await once(control, 'listening');
    const wrangler = `if (process.argv[2] === 'd1') require('node:net').connect(+process.env.CONTROL, '127.0.0.1').resume(); ${REFUSES}`;
    const env = { ...playing(wrangler), CONTROL: `${(control.address() as AddressInfo).port}` };
    const { stdout, stderr } = await stoppedOnceReady({ env }, '--port', `${port}`, '--persist-to', newFolder());
    held.close();
    control.close();
    expect(stderr).toContain(`\nAnother program took port ${port}. Trying ${port + 1}.\n`);
    expect(stdout.match(/^export API=.*/gm)).toEqual([`export API=http://localhost:${port + 1}/api/v1`]);
    expect(asked).toEqual([]);
  });

  test('serves two databases and the demo, keeps the developer’s operator key, and stops on SIGINT', {
    timeout: 180_000,
  }, async () => {
    const own = newOperatorKey();
    const cwd = projectWith('.dev.vars', `OPERATOR_KEY_1=${formatSecret('full', await sha256Hex(own))}\n`);
    const port = await freePort();
    async function inspect(output: string) {
      const exported = [...output.matchAll(/^export .*/gm)].join(' ').matchAll(/(\w+)=(\S+)/g);
      const variables = Object.fromEntries([...exported].map(([, name, value]) => [name, value]));
      const { API, API_KEY, BUSINESS, TOKEN, SHOP, SHOP_TOKEN, OPERATOR_KEY } = variables;
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
});

test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('a port is in use if a process listens on it at %s', async (host) => {
  using other = await listenAt(host);
  expect(await portProblem(other.port)).toBe(inUse(other.port));
});

test('a port can be opened at the addresses that this machine has', async () => {
  for (const ip of ['localhost', '127.0.0.1', '0.0.0.0']) expect(await portProblem(await freePort(), ip)).toBeNull();
  const problem = 'This machine does not have the address 203.0.113.9.';
  expect(await portProblem(await freePort(), '203.0.113.9')).toBe(problem);
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
