// API keys: what calls with them cost, and what the database refuses. The simulator and test/permissions.test.ts check what each key may do.
import { describe, expect, test } from 'vitest';
import { answerOf, invalid } from './answers.ts';
import { ROUTES } from './routes.ts';
import { may } from './sim/model/may.ts';
import {
  ask,
  type Business,
  call,
  dumpAll,
  newBusiness,
  newKey,
  newSession,
  OPERATOR,
  TODAY,
  withNoise,
} from './support.ts';

const keysOf = ({ user_id }: Business) => `/api/v1/user/${user_id}/keys`;
const create = (business: Business, as: string, fields = {}) =>
  call('POST', keysOf(business), { as, body: { role: 'read', ...fields } });

test('a request costs the same with a record-only key or a session as with a full key, whatever the number of sessions', {
  tags: 'slow',
}, async () => {
  const business = await newBusiness({ sites: ['https://shop.example'] });
  for (let started = 0; started < 20; started++) await call('POST', '/api/v1/session', { as: business.key });
  const { key } = await newKey(business, { role: 'record' });
  const { key: session } = await newSession(business);
  for (const [caller, as] of [
    ['record', key],
    ['session', session],
  ] as const)
    for (const route of ROUTES.filter(({ operation }) => may(caller, operation) && may('full', operation))) {
      if (caller === 'session' && route.method !== 'GET') continue;
      const by = async (as: string) => {
        const { status, cost } = await ask(route, business, { as });
        return { name: route.name, status, ...cost, ms: 0 };
      };
      await by(business.key); // creates the day's row, which costs more than an update
      expect(await by(as)).toEqual({ ...(await by(business.key)), status: 200 });
    }
});

test('a key has a known role', async () => {
  const { home } = await newBusiness();
  const { id } = await newKey({ user_id: 7, home });
  const unknown = `update api_keys set role = 'of_a_later_version' where id = ${id}`;
  await expect(home.d1.exec(unknown)).rejects.toThrow('CHECK constraint failed');
});

describe('a key that its user creates', () => {
  test('expires with the key that created it at the latest, or at most 366 days after a session created it', async () => {
    const business = await newBusiness();
    const { key } = await newKey(business, { expires_on: TODAY });
    const session = await newKey(business, { ends_at: '2026-03-15T13:00:00.000000Z', can_create_keys: 1 });
    for (const [as, latest, tooLate] of [
      [key, TODAY, '2026-03-16'],
      [session.key, '2027-03-16', '2027-03-17'],
    ] as const) {
      const message = `expires_on must be at most ${latest}`;
      expect(answerOf(await create(business, as, { expires_on: tooLate }))).toEqual(invalid('expires_on', message));
      expect((await create(business, as, { expires_on: latest })).body.data.expires_on).toBe(latest);
    }
  });

  test('is one of at most 20 that work, and 20 a day, even if 25 are created concurrently, whatever the operator created', async () => {
    const business = await newBusiness();
    for (let made = 0; made < 3; made++) await newKey(business);
    const answers = await Promise.all(Array.from({ length: 25 }, () => create(business, business.key)));
    const [made, refused] = [200, 422].map((wanted) => answers.filter(({ status }) => status === wanted));
    expect(made).toHaveLength(20);
    for (const answer of refused ?? [])
      expect(answerOf(answer)).toEqual(invalid('keys', 'keys must not exceed 20 working keys: revoke one first'));
    await call('DELETE', `${keysOf(business)}/${made?.[0]?.body.data.id}`, { as: business.key });
    const ofToday = invalid('keys', 'keys must not exceed 20 created per day (UTC)');
    expect(answerOf(await create(business, business.key))).toEqual(ofToday);
    expect((await create(business, OPERATOR.full)).status).toBe(200);
  });

  test('is not revoked by a refused call, which reads few rows, whatever the database writes between its statements', async () => {
    const business = await newBusiness();
    const creator = await newKey(business);
    for (let made = 0; made < 20; made++) await create(business, creator.key);
    const reader = (await create(business, OPERATOR.full)).body.data.api_key;
    await call('POST', '/api/v1/session', { as: creator.key });
    const unknown = `bua_sk_${business.key[7]}${'q'.repeat(33)}`;
    const callers = [reader, unknown, business.token, (await newBusiness()).key];
    const before = await dumpAll();
    for (const as of callers) {
      const revoke = (bindings = {}) => call('DELETE', `${keysOf(business)}/${creator.id}`, { as, bindings });
      for (const { status, cost } of [await revoke(), await create(business, as), await revoke(withNoise())]) {
        expect([401, 403, 404]).toContain(status);
        expect(cost.rows_read).toBeLessThanOrEqual(24);
      }
    }
    expect(await dumpAll()).toBe(before);
  });
});

const OLD = '2026-01-01T00:00:00.000000Z';
test('creating a key deletes the oldest keys that no longer work beyond 200, but none that the operator created', async () => {
  const business = await newBusiness();
  const { user_id, key, home } = business;
  await home.d1
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
        insert into api_keys (user_id, name, hash, last_four, role, created_at, revoked_at, expires_on, created_by, creator_id)
        select ${user_id}, 'ended ' || i, lower(hex(randomblob(32))), '0000', 'read', '${OLD}', iif(i % 2, '${OLD}', null), '2026-03-01',
          'key 1 (…abcd)', 1 from n`,
    )
    .run();
  const keys = async () => (await call('GET', keysOf(business), { as: key })).body.data.keys as { name: string }[];
  expect(await keys()).toHaveLength(301);
  expect((await create(business, key, { role: 'full' })).status).toBe(422); // a refused call deletes none
  expect(await keys()).toHaveLength(301);
  expect((await create(business, key)).status).toBe(200);
  const kept = (await keys()).map(({ name }) => name);
  expect(kept).toEqual([kept[0], ...Array.from({ length: 200 }, (_, index) => `ended ${index + 101}`), 'API key']);
  await newKey(business, { role: 'read' }); // by the operator
  expect(await keys()).toHaveLength(203);
});
