// GET /api/v1/health: the status of the service and its databases.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { describe, expect, test, vi } from 'vitest';
import { createApp } from '../src/app.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import type { Bindings } from '../src/env.ts';
import { expectValidResponse } from './contract.ts';
import { BASE, type Business, databases, env, homes, limiter, NOW, newApp, newBusiness } from './support.ts';

const PATH = '/api/v1/health';
const OK = { status: 200, text: '{"status":true,"runs":{"alerts":null,"purge":null},"large_databases":[]}' };
const DOWN = { status: 503, text: '{"message":"Service Unavailable"}' };

/** Returns a database whose statements run `all`. */
const instead = (all: () => Promise<unknown>) =>
  ({ prepare: () => ({ bind: () => ({ all }), all }) }) as unknown as D1Database;
const failing = (message: string) => instead(() => Promise.reject(new Error(message)));
const empty = () => Promise.resolve({ results: [], meta: { rows_read: 1 } });

/** Creates an isolate of the service with an adjustable clock. `asked` counts each database's queries. */
function isolate(bindings: Partial<Bindings> = databases()) {
  const clock = { now: NOW.getTime() };
  const asked: Record<string, number> = {};
  const errors: { status?: number; error?: string }[] = [];
  const { fetch } = createApp(() => new Date(clock.now), {
    log() {},
    error: (line) => errors.push(line),
  });
  const counting = Object.fromEntries(
    Object.entries(bindings).map(([name, d1]) => {
      asked[name] = 0;
      const prepare = (sql: string) => {
        asked[name] = (asked[name] ?? 0) + 1;
        return (d1 as D1Database).prepare(sql);
      };
      return [name, { prepare }];
    }),
  ) as unknown as Bindings;
  async function ask(method = 'GET') {
    const answer = await fetch(new Request(BASE + PATH, { method }), counting, createExecutionContext());
    const { status, headers } = answer;
    const text = await answer.text();
    expectValidResponse({ method, path: PATH, answer: { status, headers, text } });
    return { status, text, headers };
  }
  const each = (times: number) => Object.fromEntries(homes.map(({ binding }) => [binding, times]));
  return { clock, asked, errors, ask, each };
}
const bodyOf = ({ status, text }: { status: number; text: string }) => ({ status, text });

test('the health check returns 200 to every caller while every database responds, and clients must not cache it', async () => {
  const sent: Record<string, string>[] = [{}, { Authorization: 'Bearer nonsense' }, { 'X-API-Key': 'nonsense' }];
  for (const headers of sent) {
    const cost = noCost();
    const { app, lines } = newApp(); // of its own, because the result is cached
    const answer = await app.fetch(
      new Request(BASE + PATH, { headers }),
      databases((d1) => metered(d1, cost)),
    );
    expect({ status: answer.status, text: await answer.text() }).toEqual(OK);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(cost).toMatchObject({ round_trips: homes.length, rows_written: 0 });
    expect(cost.rows_read).toBeLessThanOrEqual(2 * homes.length + 5);
    expect(lines).toMatchObject([
      { status: 200, refusal: null, credential: null, d1: { ...cost, ms: expect.any(Number) } },
    ]);
  }
});

test.each(homes)('the health check returns 503 if $binding fails or lacks a table', async ({ binding, d1 }) => {
  const rename = (from: string, to: string) => d1.prepare(`alter table ${from} rename to ${to}`).run();
  const lost = 'D1_ERROR: Network connection lost.';
  for (const [cause, database] of [
    [lost, failing(lost)],
    ['no such table: businesses', d1],
  ] as const) {
    if (database === d1) await rename('businesses', 'elsewhere');
    const { ask, errors } = isolate({ ...databases(), [binding]: database });
    const answer = await ask();
    expect(bodyOf(answer)).toEqual(DOWN);
    expect(answer.headers.get('Retry-After')).toBe('10');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(errors).toEqual([expect.objectContaining({ status: 503, error: expect.stringContaining(cause) })]);
    expect(errors[0]?.error).toContain(`${binding} failed`);
  }
  await rename('elsewhere', 'businesses');
  expect(bodyOf(await isolate().ask())).toEqual(OK);
});

test('the health check returns 503 if database ids were swapped, and while a business remains that was created while they were', async () => {
  const made = (await Promise.all(homes.map(() => newBusiness()))).find(({ home }) => home.number === 1) as Business;
  const { d1, binding } = made.home;
  const { id } = await newBusiness({ user_id: made.user_id });
  const move = (from: number, to: number) => d1.exec(`update businesses set id = ${to} where id = ${from}`);
  const expectFault = async (bindings: Partial<Bindings>, error: string) => {
    const { errors, ask } = isolate({ ...databases(), ...bindings });
    expect(bodyOf(await ask())).toEqual(DOWN);
    expect(errors).toEqual([expect.objectContaining({ status: 503, error: expect.stringContaining(error) })]);
  };
  expect(bodyOf(await isolate().ask())).toEqual(OK);
  await expectFault({ DB_3: d1 }, `DB_3 contains businesses of ${binding}\n`);
  for (const [foreign, other] of [
    [999_999_999, 'DB'],
    [3_000_000_001, 'DB_3'],
  ] as const) {
    await move(id, foreign);
    await expectFault({}, `${binding} contains businesses of ${other}\n`);
    await move(foreign, id);
  }
});

test('the health check logs every failed database and its error in one line', async () => {
  const causeOf = (binding: string) => `D1_ERROR: D1 DB of ${binding} is overloaded.`;
  const { ask, errors } = isolate({
    ...databases(),
    ...Object.fromEntries(homes.map(({ binding }) => [binding, failing(causeOf(binding))])),
  });
  expect(bodyOf(await ask())).toEqual(DOWN);
  expect(errors).toHaveLength(1);
  const named = [...(errors[0]?.error ?? '').matchAll(/^caused by Error: (?:(\w+) failed|(D1_ERROR: .*))$/gm)];
  expect(named.map(([, binding, cause]) => binding ?? cause)).toEqual(
    homes.flatMap(({ binding }) => [binding, causeOf(binding)]),
  );
});

test('the health check names the databases over 7 GB, and returns 200, because they work', async () => {
  const sized = (bytes: number) => (d1: D1Database) => {
    const all = async (statement: D1PreparedStatement) => {
      const { meta, ...result } = await statement.all();
      expect(meta.size_after).toBeGreaterThan(100_000);
      return { ...result, meta: { ...meta, size_after: bytes } };
    };
    const wrap = (statement: D1PreparedStatement) => ({
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: () => all(statement),
    });
    return { prepare: (sql: string) => wrap(d1.prepare(sql)) } as unknown as D1Database;
  };
  const largeIn = async (bindings: Partial<Bindings>) => {
    const { status, text } = await isolate({ ...databases(), ...bindings }).ask();
    return { status, large: JSON.parse(text).large_databases };
  };
  expect(await largeIn(databases(sized(7_000_000_000)))).toEqual({ status: 200, large: [] });
  const names = homes.map(({ binding }) => binding);
  expect(await largeIn(databases(sized(7_000_000_001)))).toEqual({ status: 200, large: names });
  for (const { binding, d1 } of homes)
    expect(await largeIn({ [binding]: sized(9_999_000_000)(d1) })).toEqual({ status: 200, large: [binding] });
});

test('the health check returns 503 if a database has not responded within 4 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { ask, errors } = isolate({ ...databases(), DB: instead(() => new Promise(() => {})) });
    const waiting = ask();
    await vi.advanceTimersByTimeAsync(5000);
    expect(bodyOf(await waiting)).toEqual(DOWN);
    expect(errors).toEqual([expect.objectContaining({ error: expect.stringContaining('DB failed') })]);
    expect(errors[0]?.error).toContain('no response within 4000 ms');
  } finally {
    vi.useRealTimers();
  }
});

describe('the cached result of the health check', () => {
  test('is shared by concurrent requests, both an isolate’s first and later ones, for 5 seconds', async () => {
    const { clock, asked, ask, each } = isolate();
    for (const times of [1, 2]) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask()));
      clock.now += 4999;
      for (const answer of [...answers, await ask()]) expect(bodyOf(answer)).toEqual(OK);
      expect(asked).toEqual(each(times));
      clock.now += 1;
    }
  });

  test('is also shared while a database is down, and shows its recovery after 5 seconds', async () => {
    let isDown = true;
    const all = () => (isDown ? Promise.reject(new Error('down')) : empty());
    const { clock, asked, ask, errors } = isolate({ ...databases(), DB: instead(all) });
    for (let index = 0; index < 10; index++) expect(bodyOf(await ask())).toEqual(DOWN);
    isDown = false;
    clock.now += 4999;
    expect(bodyOf(await ask())).toEqual(DOWN);
    expect(asked.DB).toBe(1);
    expect(errors).toHaveLength(11);
    clock.now += 1;
    expect(bodyOf(await ask())).toEqual(OK);
  });

  /** An isolate with a result that is `age` old, and a database that hangs from then on, until `fail` is called. */
  async function stalling(age: number) {
    const stalled = Promise.withResolvers<unknown>();
    let stalls = false;
    const { clock, asked, ask } = isolate({
      ...databases(),
      DB: instead(() => (stalls ? stalled.promise : empty())),
    });
    await ask();
    stalls = true;
    clock.now += age;
    return { asked, ask, fail: () => stalled.reject(new Error('down')) };
  }

  test('is returned to other callers while a newer query hangs', async () => {
    const { asked, ask, fail } = await stalling(5000);
    const waiting = ask();
    expect(bodyOf(await ask())).toEqual(OK);
    expect(asked.DB).toBe(2);
    fail();
    expect(bodyOf(await waiting)).toEqual(DOWN);
    expect(bodyOf(await ask())).toEqual(DOWN);
  });

  test('is never older than 10 seconds, even while a newer query hangs', async () => {
    const { asked, ask, fail } = await stalling(10_000);
    const waiting = [ask(), ask()];
    fail();
    expect((await Promise.all(waiting)).map(bodyOf)).toEqual([DOWN, DOWN]);
    expect(asked.DB).toBe(2);
  });

  test('is stored even if the caller disconnects', async () => {
    const context = createExecutionContext();
    const begun = Promise.withResolvers<void>();
    let asked = 0;
    const all = async () => {
      begun.resolve();
      await scheduler.wait(20);
      asked += 1;
      throw new Error('down');
    };
    const { fetch } = createApp(() => NOW, { log() {}, error() {} });
    const bindings = { DB: instead(all) } as unknown as Bindings;
    void fetch(new Request(BASE + PATH), bindings, context);
    await begun.promise;
    await waitOnExecutionContext(context);
    expect(asked).toBe(1);
    expect((await fetch(new Request(BASE + PATH), bindings, createExecutionContext())).status).toBe(503);
    expect(asked).toBe(1);
  });

  test('is renewed 5 seconds after an isolate’s first query if that query hangs', async () => {
    const all = () => (asked.DB === 1 ? new Promise<never>(() => {}) : empty());
    const { clock, asked, ask } = isolate({ ...databases(), DB: instead(all) });
    void ask();
    const waiting = ask();
    await Promise.resolve();
    expect(asked.DB).toBe(1);
    clock.now += 5000;
    expect(bodyOf(await waiting)).toEqual(OK);
    expect(asked.DB).toBe(2);
  });
});

test('the health check counts towards the rate limit per address and queries no database if that limit is exceeded', async () => {
  const cost = noCost();
  const bindings = { ASSETS: env.ASSETS, ...databases((d1) => metered(d1, cost)), ADDRESS_LIMIT: limiter(1).binding };
  const ask = async (address: string) => {
    const request = new Request(BASE + PATH, { headers: { 'CF-Connecting-IP': address } });
    const answer = await newApp().app.fetch(request, bindings);
    return { status: answer.status, text: await answer.text(), retry: answer.headers.get('Retry-After') };
  };
  expect((await ask('192.0.2.1')).status).toBe(200);
  expect(await ask('192.0.2.1')).toEqual({ status: 429, text: '{"message":"Too Many Attempts."}', retry: '10' });
  expect(cost.round_trips).toBe(homes.length);
  expect((await ask('192.0.2.2')).status).toBe(200);
});
