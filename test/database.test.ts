import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ALPHABET } from '../src/core/credential.ts';
import { alerts, businesses, dailyUsage } from '../src/db/schema.ts';
import { answerOf, granted } from './answers.ts';
import {
  BASE,
  type Business,
  call,
  env,
  failingWith,
  type Home,
  homes,
  newApp,
  newBusiness,
  OPERATOR,
  STAMP,
  setCount,
  TODAY,
  withBatch,
} from './support.ts';

const PATH = '/api/v1/database';
const YESTERDAY = '2026-03-14';
const read = async () => {
  const { status, body, cost } = await call('GET', PATH, { as: OPERATOR.full });
  expect({ status, body }).toEqual(granted({ databases: expect.any(Array) }));
  return { states: body.data.databases as Record<string, unknown>[], cost };
};
const stateOf = async ({ number }: { number: number }) => (await read()).states[number];
const named = ({ number, binding }: Home) => ({ number, letter: ALPHABET[number], binding });
const [home] = homes;

beforeEach(async () => {
  for (const { db } of homes) await db.batch([db.delete(alerts), db.delete(dailyUsage)]);
});

test('the list of databases contains each database with its size, yesterday’s uses, capped at the largest exact integer, and its backlog', async () => {
  const all = await Promise.all([...homes, ...homes].map(() => newBusiness()));
  const most = (number: number) => (number === 0 ? Number.MAX_SAFE_INTEGER : 5);
  for (const { id, home } of all) {
    await setCount(id, YESTERDAY, most(home.number));
    await setCount(id, TODAY, 70);
    await setCount(id, '2026-03-13', 900);
  }
  const { states } = await read();
  expect(states).toEqual(
    homes.map((home) => {
      const uses_yesterday = Math.min(2 * most(home.number), Number.MAX_SAFE_INTEGER);
      return { ...named(home), bytes: expect.any(Number), uses_yesterday, backlog: { alerts: 0 } };
    }),
  );
  for (const { bytes } of states) expect(Number(bytes)).toBeGreaterThan(4096);
});

test('the backlog counts alerts that are not sent or given up', async () => {
  const { id, db, home } = await newBusiness();
  const backlog = async () => (await stateOf(home))?.backlog;
  expect(await backlog()).toEqual({ alerts: 0 });
  const alert = (limit: number, fields: object) => ({
    ...{ id: crypto.randomUUID(), business_id: id, period: 'day' as const, starts_on: TODAY, ends_on: TODAY, limit },
    ...{ threshold: 80, used: 8, at: STAMP, ...fields },
  });
  const states = [{ due_at: STAMP }, { due_at: '2026-03-16T12:00:00.000000Z' }, { sent_at: STAMP }, {}];
  await db.insert(alerts).values(states.map((fields, index) => alert(index + 1, fields)));
  expect(await backlog()).toEqual({ alerts: 2 });
});

test('the list of databases reads a bounded number of rows, because each count stops at 10,000', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const { d1 } = home;
  const { id, db } = (await Promise.all(homes.map(() => newBusiness()))).find((made) => made.home === home) as Business;
  const range = (from: number, to: number) =>
    `with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to})`;
  const store = async (from: number, to: number, firstBusiness = from) => {
    await d1
      .prepare(
        `${range(from, to)} insert into alerts select printf('%036d', i), ?, 'day', '2026-03-15', '2026-03-15', i, 80, 8, '${STAMP}', '${STAMP}', 0, null from n`,
      )
      .bind(id)
      .run();
    await d1
      .prepare(
        `${range(firstBusiness, to)}
        insert into businesses (user_id, name, main_domain, site, country_id, business_size, token, status, created_at, updated_at)
        select 3000000 + i, 'Acme', 'acme.example', 'https://acme.example', 1, 'small', printf('stored-%030d', i), 'active', '', '' from n`,
      )
      .run();
  };
  await store(1, 9000, 1 + (await db.$count(businesses)));
  for (const day of [YESTERDAY, '2026-01-01'])
    await d1
      .prepare('insert into daily_usage (business_id, day, count) select id, ?, 2 from businesses')
      .bind(day)
      .run();
  const others = 20 * homes.length + 20; // rows in the other databases, which contain other tests' businesses
  const some = await read();
  expect(some.states[0]).toMatchObject({ uses_yesterday: 18_000, backlog: { alerts: 9000 } });
  expect(some.cost).toMatchObject({ round_trips: homes.length, rows_written: 0 });
  expect(some.cost.rows_read).toBeLessThanOrEqual(4 * 9000 + others);

  await store(9001, 30_000);
  const more = await read();
  expect(more.states[0]).toMatchObject({ uses_yesterday: null, backlog: { alerts: null } });
  expect(more.cost.rows_read).toBeLessThanOrEqual(4 * 10_001 + others);
  await d1.batch([
    d1.prepare('delete from alerts'),
    d1.prepare('delete from daily_usage'),
    d1.prepare('delete from businesses where user_id > 3000000'),
  ]);
});

describe('while a database is unavailable', () => {
  const causes: [string, string][] = [
    ['D1_ERROR: D1 DB is overloaded.', 'does not respond'],
    ['D1_ERROR: Network connection lost.', 'does not respond'],
    ['D1_ERROR: no such table: businesses: SQLITE_ERROR', 'failed'],
  ];
  const askWith = (bindings: object) => call('GET', PATH, { as: OPERATOR.full, bindings });
  const working = (home: Home) => ({
    ...named(home),
    ...{ bytes: expect.any(Number), uses_yesterday: expect.any(Number), backlog: expect.any(Object) },
  });

  test.each(causes.map(([cause, error], index) => ({ home: homes[index] as Home, cause, error })))(
    'the list of databases reports it and includes the others, and only the log contains the cause: $home.binding, $cause',
    async ({ home, cause, error }) => {
      const answer = await askWith(failingWith(cause, 'before', home));
      const expected = homes.map((other) => (other === home ? { ...named(home), error } : working(other)));
      expect(answerOf(answer)).toEqual(granted({ databases: expected }));
      expect(answer.text).not.toContain('D1_ERROR');
      expect(answer.errors).toEqual([
        {
          ...{ operation: 'read_databases', database: home.binding },
          ...{ request_id: answer.headers.get('X-Request-Id'), error: expect.stringContaining(cause) },
        },
      ]);
    },
  );

  test('the list of databases reports a hanging database after 4 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = askWith({ DB: withBatch(env.DB, () => new Promise(() => {})) });
      await vi.advanceTimersByTimeAsync(4000);
      expect((await answer).body.data.databases).toEqual(
        homes.map((home) => (home.number === 0 ? { ...named(home), error: 'does not respond' } : working(home))),
      );
    } finally {
      vi.useRealTimers();
    }
  });
});

test('with one database, the health check and the list of databases query only that database', async () => {
  await env.DB.prepare('delete from homes where database > 0').run(); // owners of the other tests
  const queries: string[] = [];
  const DB = {
    prepare(sql: string) {
      queries.push(sql);
      return env.DB.prepare(sql);
    },
  } as D1Database;
  expect((await newApp().app.fetch(new Request(`${BASE}/api/v1/health`), { DB })).status).toBe(200);
  expect(queries).toHaveLength(1);
  const { status, body, cost } = await call('GET', PATH, {
    as: OPERATOR.full,
    bindings: { DB_1: undefined, DB_2: undefined },
  });
  expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 1 });
  expect(body.data.databases).toEqual([expect.objectContaining({ number: 0, letter: '0', binding: 'DB' })]);
});
