// npm run dev with a stand-in for wrangler; test/docs starts it with wrangler.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boundIn } from '../../src/cli/open.ts';
import { hashOf } from '../../src/core/credential.ts';
import { problemOf } from '../../src/tools/port.ts';
import { node, nodeIn, ROOT, threeDatabases } from '../cli/support.ts';
import { freePort } from '../node/server.ts';
import { newDatabase, newFolder } from '../node/state.ts';

const DEV = join(ROOT, 'src/tools/dev.ts');

async function listenAt(host: string) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => server.close() };
}
const inUse = (port: number, holder: number | string = process.pid) =>
  new RegExp(`^Port ${port} is in use( by process ${holder}.*)?\\. Choose another: npm run dev -- --port NUMBER\\n?$`);

/** Variables with which `wrangler` is this script. */
function playing(script: string) {
  const folder = newFolder();
  writeFileSync(join(folder, 'wrangler'), `#!/usr/bin/env node\n${script}`, { mode: 0o755 });
  return { PATH: `${folder}${delimiter}${process.env.PATH}` };
}

/** Serves until it is stopped, and says how it was called. */
const SERVES = `
const [command, , port] = process.argv.slice(2);
if (command === 'dev') {
  console.log(process.argv.slice(2).join(' '));
  require('node:http').createServer((_, answer) => answer.end()).listen(+port, 'localhost');
  setTimeout(() => process.exit(1), 50_000);
}
`;

/** Stops it once it is ready, as Ctrl-C does. It has ended when its server has: both write to these pipes. */
async function stoppedOnceReady(env: Record<string, string>, ...args: string[]) {
  const dev = spawn(process.execPath, [DEV, ...args], { cwd: ROOT, env: { ...process.env, ...env } });
  const closed = once(dev, 'close');
  const printed = { stdout: '', stderr: '' };
  dev.stderr.on('data', (text) => (printed.stderr += text));
  dev.stdout.on('data', (text) => {
    printed.stdout += text;
    if (/^Ready: /m.test(printed.stdout)) dev.kill('SIGINT');
  });
  const [code] = await closed;
  return { code, ...printed };
}

describe.concurrent('npm run dev', () => {
  test.each<[string, string[], string]>([
    ['a wrong option', ['--wrong'], "Unknown option '--wrong'"],
    ['too many databases', ['--databases', '63'], '--databases must be a number from 1 to 62, such as 3'],
    ['no databases', ['--databases', '0'], '--databases must be a number from 1 to 62, such as 3'],
    ['a wrong port', ['--port', '65536'], '--port must be a number from 1 to 65535, such as 8788'],
    ['no directory', ['--persist-to', ''], '--persist-to must name a directory, such as ./other'],
  ])('answers %s with one line on stderr and 2, and starts nothing', async (_, args, line) => {
    expect(await node(DEV, ...args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  test('tells of a port that is in use with one line on stderr and 1, and changes nothing', async () => {
    using other = await listenAt('127.0.0.1');
    const state = newFolder();
    const { code, stdout, stderr } = await node(DEV, '--port', `${other.port}`, '--persist-to', state);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(inUse(other.port));
    expect(readdirSync(state)).toEqual([]);
  });

  test('names a folder that cannot be written with one line on stderr and 1, before it starts wrangler', {
    tags: 'slow',
  }, async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    const env = playing('process.stdout.write("started")');
    const stderr = `${file} cannot be written: file already exists\n`;
    const args = ['--port', `${await freePort()}`, '--persist-to', file];
    expect(await nodeIn(env, DEV, ...args)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('names the line in which wrangler.toml is wrong', { tags: 'slow' }, async () => {
    const copy = newFolder();
    for (const name of ['src', 'package.json']) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
    const file = join(copy, 'wrangler.toml');
    writeFileSync(file, 'name = "x"\n[[d1_databases]\n');
    const stderr = `${file}, line 2: Invalid TOML document: expected end of table array declaration\n`;
    const dev = await node(join(copy, 'src/tools/dev.ts'), '--port', `${await freePort()}`);
    expect(dev).toEqual({ code: 1, stdout: '', stderr });
  });

  test('ends with the exit code of a server that does not start, and prints nothing to paste', {
    tags: 'slow',
  }, async () => {
    const env = playing('process.exitCode = process.argv[2] === "dev" ? 3 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newDatabase()];
    expect(await nodeIn(env, DEV, ...args)).toEqual({ code: 3, stdout: '', stderr: '' });
  });

  test('ends with the name of the database whose migrations fail', { tags: 'slow' }, async () => {
    const env = playing('process.exitCode = process.argv.includes("DB_1") ? 1 : 0');
    const args = ['--port', `${await freePort()}`, '--persist-to', newFolder(), '--databases', '2'];
    const stderr = 'The migrations of DB_1 were not applied.\n';
    expect(await nodeIn(env, DEV, ...args)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('with three databases, migrates and serves each, prints a business of another user, and stops when told to', {
    tags: 'slow',
  }, async () => {
    const { 'persist-to': state } = await threeDatabases();
    const port = await freePort();
    const args = ['--port', `${port}`, '--persist-to', state, '--databases', '3'];
    const { code, stdout, stderr } = await stoppedOnceReady(playing(SERVES), ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const where = `--config wrangler.dev-3.toml --persist-to ${state}`;
    const [called, printed = ''] = stdout.split('\nReady: ');
    const operatorKey = /^export OPERATOR_KEY=(bua_op_\w{43})$/m.exec(printed)?.[1] ?? '';
    const variable = `--var OPERATOR_KEY_1:full:${await hashOf(operatorKey)}`;
    expect(called?.trimEnd().split('\n')).toEqual([
      `dev --port ${port} --assets dist/dev-${port} ${variable} ${where}`,
    ]);
    expect(printed).toMatch(/^export OTHER=1000000001 OTHER_KEY=bua_sk_1\w+ OTHER_TOKEN=bua_pk_1\w+$/m);
    expect(printed).toContain('\ncurl $API/business/usage/$OTHER -H "Authorization: Bearer $OTHER_KEY"\n');
    expect(printed).toContain(`\nnpm run -s admin -- database list ${where}\n`);

    const { file, bound } = boundIn('wrangler.dev-3.toml');
    const { bound: deployed } = boundIn(undefined);
    expect(bound.map(({ binding, name }) => [binding, name])).toEqual([
      ['DB', 'business-usage-access'],
      ['DB_1', 'business-usage-access-1'],
      ['DB_2', 'business-usage-access-2'],
    ]);
    expect(bound.map(({ migrations }) => migrations)).toEqual(bound.map(() => deployed[0]?.migrations));
    expect(dirname(file)).toBe(ROOT);
  });
});

describe('a port', () => {
  test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('is in use where a process listens at %s', async (host) => {
    using other = await listenAt(host);
    // Another test's server may have the same port at 127.0.0.1.
    expect(await problemOf(other.port)).toMatch(inUse(other.port, host === '::1' ? '\\d+' : process.pid));
  });

  test('is free where none does', async () => {
    expect(await problemOf(await freePort())).toBeNull();
  });
});
