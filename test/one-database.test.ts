// A deployment with one database, the default: DB stores everything, and the service neither queries any other database nor offers one as a
// choice.
import { createScheduledController } from 'cloudflare:test';
import { describe, expect, test, vi } from 'vitest';
import { databaseOfId } from '../src/core/database.ts';
import { SCHEDULES } from '../src/core/schedule.ts';
import { events, formerTokens } from '../src/db/schema.ts';
import worker from '../src/index.ts';
import { answerOf, granted, invalid, UNAUTHENTICATED } from './answers.ts';
import {
  addFormerToken,
  BASE,
  type CallOptions,
  call,
  env,
  homes,
  later,
  newApp,
  newBusiness,
  OPERATOR,
  STAMP,
  TODAY,
} from './support.ts';

const bindings = { DB_1: undefined, DB_2: undefined };
const send = (method: string, path: string, options: CallOptions = {}) =>
  call(method, `/api/v1${path}`, { as: OPERATOR.full, bindings, ...options });
const [home] = homes;
const FIELDS = { name: 'Acme', main_domain: 'acme.example', site: 'https://acme.example', country_id: 1 };
let user = 3_000_000;
/** Creates a business in DB. */
const newOne = (token?: string) => {
  user += homes.length;
  return newBusiness({ user_id: user, ...(token !== undefined && { token }) });
};

test('with one database, every new user is stored in it, and a request for another database is refused', async () => {
  for (const user_id of [11, 12, 13, 14]) {
    const body = { user_id, ...FIELDS, business_size: 'small' };
    const [first, second] =
      user_id % 2 ? ['/business', `/user/${user_id}/keys`] : [`/user/${user_id}/keys`, '/business'];
    const made = [];
    for (const path of [first, second])
      made.push(await send('POST', path as string, path === '/business' ? { body } : {}));
    for (const answer of made) {
      expect(answer.status).toBe(200);
      expect(answer.cost.round_trips).toBe(2);
      expect(databaseOfId(answer.body.data.id)).toBe(0);
    }
    const refused = await send('POST', '/business', { body: { ...body, user_id: 20 + user_id, database: 1 } });
    expect(answerOf(refused)).toEqual(invalid('database', 'database must be the number of a bound database: 0'));
  }
});

test('with one database, the health check and the list of databases query only that database', async () => {
  await newOne();
  const queries: string[] = [];
  const DB = {
    prepare(sql: string) {
      queries.push(sql);
      return env.DB.prepare(sql);
    },
  } as D1Database;
  expect((await newApp().app.fetch(new Request(`${BASE}/api/v1/health`), { DB })).status).toBe(200);
  expect(queries).toHaveLength(1);
  const { status, body, cost } = await send('GET', '/database');
  expect({ status, round_trips: cost.round_trips }).toEqual({ status: 200, round_trips: 1 });
  expect(body.data.databases).toEqual([expect.objectContaining({ number: 0, letter: '0', binding: 'DB' })]);
});

describe('with one database', () => {
  const LISTS = { businesses: '/business?limit=2', usage: '/usage?limit=2', alerts: '/alerts?limit=2' };
  test.each(Object.entries(LISTS))(
    'the operator’s list of all %s contains each row once and ends after the last row',
    async (name, path) => {
      const made = [await newOne(), await newOne(), await newOne()];
      const alert = { period: 'day', starts_on: TODAY, ends_on: TODAY, limit: 10, threshold: 80, used: 8 } as const;
      for (const { id } of made)
        await home.db.insert(events).values({ id: crypto.randomUUID(), business_id: id, ...alert, at: STAMP });
      const ids: number[] = [];
      let pages = 0;
      for (let next: number | string | null = ''; next !== null; pages += 1) {
        const answer = await send(
          'GET',
          next === '' ? path : `${path}&${name === 'alerts' ? 'cursor' : 'after'}=${next}`,
        );
        expect(answer.cost.round_trips).toBe(1);
        type Row = { id: number; business_id?: number };
        ids.push(...answer.body.data[name].map(({ id, business_id = id }: Row) => business_id));
        next = answer.body.data.next;
        expect(pages).toBeLessThan(100);
      }
      expect(ids).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
      expect(new Set(ids).size).toBe(ids.length);
      expect(pages).toBeLessThanOrEqual(Math.ceil(ids.length / 2) + 1);
    },
  );
});

test('with one database, an imported token is looked up in it, whatever id the path contains', async () => {
  const { id, token } = await newOne('Token-of-another-system-1');
  const read = (path: number | string) => send('GET', `/business/usage/${path}`, { as: token });
  expect((await read(id)).status).toBe(200);
  for (const path of ['0', 'abc', 999_999_999, 1_000_000_001, 61_000_000_001, 99_000_000_001]) {
    const answer = await read(path);
    const unknown = { status: 422, body: { status: false, message: 'business id is not valid' } };
    expect({ path, ...answerOf(answer) }).toEqual({ path, ...unknown });
    expect(answer.cost.round_trips).toBe(1);
  }
});

test('with one database, a credential with another database’s letter gets 401 without a query', async () => {
  const { usage, key, token } = await newOne();
  for (const credential of [key, token]) {
    for (const letter of ['1', '2', 'z']) {
      const as = credential.slice(0, 7) + letter + credential.slice(8);
      const answer = await call('GET', usage, { as, bindings });
      expect(answerOf(answer)).toEqual(UNAUTHENTICATED);
      expect(answer.cost.round_trips).toBe(0);
    }
  }
});

test('with one database, keys and tokens work, and businesses can be changed and deleted', async () => {
  const { id, usage, access, key, token } = await newOne();
  for (const as of [key, token]) expect((await call('POST', usage, { as, bindings })).status).toBe(200);
  const added = await call('POST', access, { as: key, bindings, body: { sites: ['https://a.example'] } });
  expect(added.body.data.access_list).toHaveLength(1);
  expect((await send('PATCH', `/business/${id}`, { body: { name: 'Other' } })).status).toBe(200);
  const deleted = await send('DELETE', `/business/${id}?name=Other`);
  expect(answerOf(deleted)).toEqual(granted({ deleted: { id, name: 'Other' } }));
});

test('with one database, the scheduled runs purge it and send its alerts', async () => {
  const business = await newOne();
  await addFormerToken(business, STAMP);
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  for (const cron of Object.values(SCHEDULES)) {
    for (let turn = 0; turn < 9; turn++) {
      const scheduledTime = later(86_400_000 + turn * 120_000).getTime();
      await worker.scheduled(createScheduledController({ scheduledTime, cron }), { ASSETS: env.ASSETS, DB: env.DB });
    }
  }
  expect(errors.mock.calls).toEqual([]);
  errors.mockRestore();
  expect(await home.db.$count(formerTokens)).toBe(0);
});
