// docs/operating.md, "What must wake you": each documented command prints nothing in a quiet night, and a line once its condition occurs. The
// conditions are caused in the simulated world, whose log lines and health are those of the real service.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { NEW_BUSINESS } from '../routes.ts';
import { OPERATOR, World } from '../sim/world.ts';
import { newFolder } from './state.ts';

const [, section = ''] = /^## What must wake you\n(.*?)^## /ms.exec(readFileSync('docs/operating.md', 'utf8')) ?? [];
const [, block = ''] = /^```sh\n(.*?)^```/ms.exec(section) ?? [];
/** The commands, keyed by the first words of their comments. */
const commands = Object.fromEntries(
  [...block.matchAll(/^# ([^:]*): .*\n((?:(?!#).*\n)+)/gm)].map(([, condition = '', command = '']) => [
    condition,
    command,
  ]),
);
const MISSING = 'A scheduled run is missing, or a database does not respond';
const FAILED = 'A purge or an alert failed';
const ERRORS = 'More than 1 % of the requests failed';
const LARGE = 'A database is over 7 GB';
const BEHIND = 'The invoices are behind';

const SQLITE = `sqlite3() { node --no-warnings -e 'const [file, sql] = process.argv.slice(1);
  for (const row of new (require("node:sqlite").DatabaseSync)(file).prepare(sql).all()) console.log(...Object.values(row))' "$@"; }`;

/** Runs a command on what the service answered and logged. */
function printed(condition: string, { health = '', lines = [] as object[], cwd = newFolder() }): string[] {
  writeFileSync(join(cwd, 'health.json'), health);
  writeFileSync(join(cwd, 'log.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const script = `curl() { cat health.json; }\n${SQLITE}\n${commands[condition]}`;
  const env = { ...process.env, API: 'https://usage.example/api/v1' };
  const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, encoding: 'utf8' });
  return output.split('\n').filter(Boolean);
}

const get = (path: string) => ({
  method: 'GET',
  path,
  headers: { Authorization: `Bearer ${OPERATOR.full}` },
  body: null,
});
/** A world of two databases with a business that is about to reach its limit, and the log of its calls and runs. */
async function quietNight() {
  const world = new World({ seed: 1, start: Date.now(), databases: 2 });
  const log: object[] = [];
  async function send(method: string, path: string, body: object | null = null) {
    const request = { ...get(`/api/v1${path}`), method, body: body && JSON.stringify(body) };
    const [answer] = await world.send([request]);
    log.push(...world.lines);
    return answer?.text ?? '';
  }
  async function run(name: 'alerts' | 'purge') {
    await world.run(name);
    log.push(...world.lines);
  }
  const { id } = JSON.parse(await send('POST', '/business', { ...NEW_BUSINESS, user_id: 7, monthly_limit: 5 })).data;
  await run('alerts');
  await run('purge');
  const health = () => send('GET', '/health');
  return { world, log, send, run, health, use: () => send('POST', `/business/usage/${id}`, { quantity: 4 }) };
}

describe.skipIf(spawnSync('jq', ['--version']).status !== 0)('what must wake somebody', () => {
  test('nothing, in a quiet night', async () => {
    const { log, use, run, health } = await quietNight();
    await use();
    await run('alerts');
    expect(Object.keys(commands)).toEqual([MISSING, FAILED, ERRORS, LARGE, BEHIND]);
    for (const condition of [MISSING, FAILED, ERRORS, LARGE])
      expect([condition, printed(condition, { health: await health(), lines: log })]).toEqual([condition, []]);
  });

  test('a run that did not start for five minutes, and one that never did', async () => {
    const { world, health } = await quietNight();
    const { runs } = JSON.parse(await health());
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace('Z', '000Z');
    const answer = (alerts: string | null) =>
      JSON.stringify({ status: true, runs: { ...runs, alerts }, large_databases: [] });
    expect(printed(MISSING, { health: answer(ago(301)) })).toEqual(['alerts']);
    expect(printed(MISSING, { health: answer(ago(290)) })).toEqual([]);
    expect(printed(MISSING, { health: answer(null) })).toEqual(['alerts']);
    world.now += 20_000; // the health check caches its result
    world.takeDown(1, 60_000);
    expect(printed(MISSING, { health: await health() })).toEqual(['Service Unavailable']);
  });

  test('a purge that fails, and an alert that the receiver does not accept', async () => {
    const purge = await quietNight();
    purge.world.takeDown(1, 60_000);
    await purge.run('purge');
    const none = { database: null, alert_id: null, status: null, error: null };
    const lines = (log: object[]) => printed(FAILED, { lines: log }).map((line) => JSON.parse(line));
    expect(lines(purge.log)).toEqual([{ ...none, operation: 'purge', failed: ['DB_1'] }]);
    const alert = await quietNight();
    alert.world.receiver = { status: 500, retryAfter: null, ms: 0 };
    await alert.use();
    await alert.run('alerts');
    const line = { operation: 'send_alerts', database: 'DB', alert_id: expect.any(String), status: 500 };
    expect(lines(alert.log)).toEqual([{ ...none, failed: null, ...line }]);
  });

  test('more than one failed request in a hundred', async () => {
    const { world, log, send, use } = await quietNight();
    for (let call = 0; call < 98; call++) await send('GET', '/user/7/keys');
    world.takeDown(0, 60_000);
    await use();
    expect(printed(ERRORS, { lines: log })).toEqual([]);
    await use();
    expect(printed(ERRORS, { lines: log })).toEqual(['{"requests":101,"failed":2}']);
  });

  test('a database over 7 GB', async () => {
    const { world, health } = await quietNight();
    world.now += 20_000;
    const [, second] = world.databases;
    const batch = second?.batch.bind(second);
    Object.assign(second as object, {
      batch: async (...sent: Parameters<NonNullable<typeof batch>>) =>
        (await batch?.(...sent))?.map((result) => ({ ...result, meta: { ...result.meta, size_after: 7_000_000_001 } })),
    });
    expect(printed(LARGE, { health: await health() })).toEqual(['DB_1']);
  });

  test('invoices of a night that is missing', async () => {
    const cwd = newFolder();
    const service = createServer((_, response) => response.end('{"status":true,"data":{"usage":[],"next":null}}'));
    await once(service.listen(0, '127.0.0.1'), 'listening');
    const API = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const today = new Date().toISOString().slice(0, 10);
    const bill = async (day: string) => {
      const child = spawn(process.execPath, [resolve('docs/examples/invoices.mjs'), day], {
        cwd,
        env: { API, READ_KEY: 'key' },
      });
      await once(child, 'close');
    };
    await bill(addDays(today, -3));
    expect(printed(BEHIND, { cwd })).toEqual([addDays(today, -4)]);
    await bill(today);
    expect(printed(BEHIND, { cwd })).toEqual([]);
    service.close();
  });
});
