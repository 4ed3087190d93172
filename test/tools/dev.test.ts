// npm run dev where it ends before it serves; test/docs starts it.
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { problemOf } from '../../src/tools/port.ts';
import { node, nodeIn, ROOT } from '../cli/support.ts';
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

describe.concurrent('npm run dev', () => {
  test.each<[string, string[], string]>([
    ['a wrong option', ['--wrong'], "Unknown option '--wrong'"],
    ['a wrong port', ['--port', '65536'], '--port must be a number from 1 to 65535, such as 8788'],
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

  test('ends with the exit code of a server that does not start, and prints nothing to paste', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'wrangler'), '#!/bin/sh\ntest "$1" != dev || exit 3\n', { mode: 0o755 });
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    const args = ['--port', `${await freePort()}`, '--persist-to', newDatabase()];
    expect(await nodeIn(env, DEV, ...args)).toEqual({ code: 3, stdout: '', stderr: '' });
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
