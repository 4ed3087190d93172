// Keys that a user's own keys and sessions create and revoke: they never give more, or last longer, than what created them.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { apiKeys } from '../src/db/schema.ts';
import { answerOf, invalid, refused, UNAUTHENTICATED } from './answers.ts';
import { ROUTES } from './routes.ts';
import { either } from './sim/model/input.ts';
import { may, OWN_ROLES, ROLES, refusalOf } from './sim/model/may.ts';
import {
  type Business,
  call,
  dumpAll,
  homes,
  inBatches,
  later,
  newBusiness,
  newKey,
  newSession,
  OPERATOR,
  TODAY,
  withNoise,
} from './support.ts';

const DAY_MS = 86_400_000;
type Fields = { name?: string; role?: string; business_id?: number; expires_on?: string };
const keysOf = ({ user_id }: Pick<Business, 'user_id'>) => `/api/v1/user/${user_id}/keys`;
const create = (business: Business, as: string, body: Fields = {}, at?: Date) =>
  call('POST', keysOf(business), { as, body: { role: 'read', ...body }, at });
const revoke = (business: Business, as: string, id: number, at?: Date) =>
  call('DELETE', `${keysOf(business)}/${id}`, { as, at });
const list = async (business: Business, at?: Date) =>
  (await call('GET', keysOf(business), { as: OPERATOR.full, at })).body.data.keys as {
    id: number;
    revoked_at: string | null;
  }[];
const works = async ({ access }: Business, as: string, at?: Date) => (await call('GET', access, { as, at })).status;
/** Starts the session of a console link. */
async function linkSession({ user_id }: Business, link: object, at?: Date): Promise<string> {
  const path = `/api/v1/user/${user_id}/console-link`;
  const { url } = (await call('POST', path, { as: OPERATOR.full, body: link, at })).body.data;
  return (await call('POST', '/api/v1/session', { body: { code: url.split('#code=')[1] }, at })).body.data.session_key;
}
const WIDE = { can_create_keys: true, as: 'Anna' };

describe('a key that a user creates', () => {
  test('is read-only or record-only, works at once, and names who created it', async () => {
    const business = await newBusiness();
    const made = await create(business, business.key, { name: 'Agency', role: 'record', business_id: business.id });
    const { api_key, id } = made.body.data;
    const shown = {
      ...{ id, user_id: business.user_id, name: 'Agency', last_four: api_key.slice(-4) },
      ...{ created_at: '2026-03-15T12:00:00.000000Z', expires_on: null, revoked_at: null, last_used_on: null },
      ...{ business_id: business.id, read_only: false, role: 'record', created_by_name: null },
      created_by: expect.stringMatching(new RegExp(`^key \\d+ \\(…${business.key.slice(-4)}\\)$`)),
    };
    expect(made).toMatchObject({ status: 200, cost: { round_trips: 1 } });
    expect(made.body.data).toEqual({ api_key, ...shown });
    expect((await call('POST', business.usage, { as: api_key })).status).toBe(200);
    const listed = await call('GET', keysOf(business), { as: business.key });
    expect(listed.body.data.keys).toContainEqual({ ...shown, last_used_on: TODAY });
    expect(listed.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    const session = await linkSession(business, WIDE);
    const ofSession = await create(business, session, { expires_on: '2026-04-15' });
    expect(ofSession.body.data).toMatchObject({
      created_by: `console link (…${session.slice(-4)})`,
      created_by_name: 'Anna',
    });
  });

  test('is recorded with its maker in the list of changes, and so is its end', async () => {
    const business = await newBusiness();
    const session = await linkSession(business, WIDE);
    const made = await create(business, session, {
      name: 'Agency',
      business_id: business.id,
      expires_on: '2026-04-15',
    });
    const { id, last_four } = made.body.data;
    await revoke(business, session, id);
    const { changes } = (await call('GET', `/api/v1/business/${business.id}/changes`, { as: business.key })).body.data;
    const by = { actor: `console link (…${session.slice(-4)})`, actor_name: 'Anna', key_name: null };
    const of = { id, key: `…${last_four}`, name: 'Agency' };
    expect(changes.slice(0, 2)).toMatchObject([
      { ...by, action: 'revoke_key', before: of, after: null },
      { ...by, action: 'create_key', before: null, after: { ...of, role: 'read', expires_on: '2026-04-15' } },
    ]);
  });

  test.each(['full', undefined])('is never a key with full access (role %s)', async (role) => {
    const business = await newBusiness();
    const ids = async () => (await list(business)).map(({ id }) => id);
    const before = await ids();
    for (const as of [business.key, await linkSession(business, WIDE)]) {
      const answer = await call('POST', keysOf(business), { as, body: { role, expires_on: TODAY } });
      expect(answerOf(answer)).toEqual(
        invalid('role', `role must be ${either(OWN_ROLES)}: only the operator can create a key with full access`),
      );
    }
    expect(await ids()).toEqual(before);
  });

  test('is for a business of the user', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    expect(answerOf(await create(business, business.key, { business_id: other.id }))).toEqual(
      invalid('business_id', `business_id must be a business of user ${business.user_id}`),
    );
  });

  test('cannot create, list or revoke keys itself', async () => {
    const business = await newBusiness();
    for (const role of OWN_ROLES) {
      const { api_key, id } = (await create(business, business.key, { role })).body.data;
      const refusal = refused(`This API key can only ${ROLES[role].only}.`);
      for (const as of may(role, 'start_session') ? [api_key, await sessionOf(api_key)] : [api_key])
        for (const answer of [
          await create(business, as),
          await call('GET', keysOf(business), { as }),
          await revoke(business, as, id),
        ])
          expect([answer.status, answer.cost.rows_written]).toEqual([403, 0]);
      expect(answerOf(await create(business, api_key))).toEqual(refusal);
    }
  });
});

const MAKERS: Record<string, (business: Business) => Promise<string>> = {
  'an operator key': async () => OPERATOR.full,
  'a full key': async ({ key }) => key,
  'the session of a link': (business) => linkSession(business, WIDE),
};
describe.each(Object.keys(MAKERS))('a key that %s creates', (maker) => {
  test.each(OWN_ROLES)(
    'with the role %s may do what any such key may, and nothing else',
    { tags: 'slow' },
    async (role) => {
      const business = await newBusiness();
      const as = (await MAKERS[maker]?.(business)) ?? '';
      const wide = (await create(business, as, { role, expires_on: TODAY })).body.data.api_key;
      const narrow = (await create(business, as, { role, expires_on: TODAY, business_id: business.id })).body.data
        .api_key;
      const before = await dumpAll();
      const found = await inBatches(ROUTES, async (route) => {
        const path = `${route.path(business)}${route.path(business).includes('?') ? '&' : '?'}matrix=1`;
        const [ofWide, ofNarrow] = await Promise.all(
          [wide, narrow].map((key) => call(route.method, path, { as: key, body: route.body, headers: route.headers })),
        );
        const refusal = refusalOf(role, route.operation)?.[0] ?? 'invalid_input';
        const codes = [ofWide, ofNarrow].map((answer) => answer?.headers.get('Error-Code'));
        return codes.every((code) => code === refusal) ? [] : [`${route.name}: ${codes}, not ${refusal}`];
      });
      expect(found.flat()).toEqual([]);
      expect(await dumpAll()).toBe(before);
    },
  );
});

const sessionOf = async (as: string): Promise<string> =>
  (await call('POST', '/api/v1/session', { as })).body.data.session_key;

describe('the user in the path', () => {
  test.each(['9', '', '0', 'x'])('must be the caller’s (%j is appended to the id)', async (more) => {
    const business = await newBusiness();
    const user = more === '9' ? `${business.user_id}9` : more === '' ? (await newBusiness()).user_id : more;
    for (const as of [business.key, await linkSession(business, WIDE)])
      for (const [method, path] of [
        ['GET', `/api/v1/user/${user}/keys`],
        ['POST', `/api/v1/user/${user}/keys`],
        ['DELETE', `/api/v1/user/${user}/keys/1`],
      ] as const) {
        const answer = await call(method, path, { as });
        expect(answerOf(answer)).toEqual({ status: 404, body: { status: false, message: 'User id is not valid' } });
        expect(answer.headers.get('Error-Code')).toBe('unknown_user');
        expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      }
    const unknown = `bua_sk_${business.key[7]}${'x'.repeat(33)}`;
    expect(answerOf(await call('GET', `/api/v1/user/${user}/keys`, { as: unknown }))).toEqual(UNAUTHENTICATED);
  });
});

describe('a session', () => {
  test('manages keys only if its console link said so', async () => {
    const business = await newBusiness();
    const sessions = [
      await newSession(business).then(({ key }) => key),
      await sessionOf(business.key),
      await linkSession(business, {}),
      await linkSession(business, { can_create_keys: false }),
    ];
    for (const as of sessions)
      expect(answerOf(await create(business, as, { expires_on: TODAY }))).toEqual(
        refused('A session key cannot create API keys. Use an API key.'),
      );
    const started = await call('POST', '/api/v1/session', { as: business.key });
    expect(started.body.data).toMatchObject({ user_id: business.user_id, can_create_keys: false });
  });

  test.each([{ role: 'read' }, { business_id: 1 }])('of a link with %j cannot be allowed to', async (narrow) => {
    const business = await newBusiness();
    const body = { ...narrow, ...('business_id' in narrow && { business_id: business.id }), can_create_keys: true };
    const answer = await call('POST', `/api/v1/user/${business.user_id}/console-link`, { as: OPERATOR.full, body });
    expect(answerOf(answer)).toEqual(
      invalid(
        'can_create_keys',
        'can_create_keys can be true only with full access to all businesses, without business_id',
      ),
    );
  });

  test('must say when its key expires, at most 366 days ahead, and the key outlives the session', async () => {
    const business = await newBusiness();
    const session = await linkSession(business, { ...WIDE, minutes: 15 });
    expect(answerOf(await create(business, session))).toEqual(
      invalid('expires_on', 'expires_on is required in a console session'),
    );
    expect(answerOf(await create(business, session, { expires_on: '2027-03-17' }))).toEqual(
      invalid('expires_on', 'expires_on must be at most 2027-03-16'),
    );
    const { api_key } = (await create(business, session, { expires_on: '2027-03-16' })).body.data;
    await call('DELETE', '/api/v1/session', { as: session });
    expect(await works(business, api_key)).toBe(200);
    expect(answerOf(await create(business, session, { expires_on: TODAY }))).toEqual(UNAUTHENTICATED);
  });
});

describe('a key with an expiry', () => {
  test('creates keys that expire with it at the latest, at the end of that day', async () => {
    const business = await newBusiness();
    const { key } = await newKey(business, { expires_on: TODAY });
    expect(answerOf(await create(business, key, { expires_on: '2026-03-16' }))).toEqual(
      invalid('expires_on', 'expires_on must be at most 2026-03-15'),
    );
    const lastMoment = new Date('2026-03-15T23:59:59.999Z');
    const { data } = (await create(business, key, {}, lastMoment)).body;
    expect(data.expires_on).toBe(TODAY);
    expect(await works(business, data.api_key, lastMoment)).toBe(200);
    const midnight = new Date('2026-03-16T00:00:00.000Z');
    expect(await works(business, data.api_key, midnight)).toBe(401);
    expect(answerOf(await create(business, key, {}, midnight))).toEqual(UNAUTHENTICATED);
  });
});

describe('revoking a key', () => {
  test('revokes the keys that it created and ends the sessions of all of them, but no other', async () => {
    const business = await newBusiness();
    const copied = await newKey(business);
    const made = (await create(business, copied.key)).body.data;
    const ofBusiness = (await create(business, copied.key, { business_id: business.id })).body.data;
    const kept = (await create(business, business.key)).body.data;
    const ended = [copied.key, made.api_key, ofBusiness.api_key];
    ended.push(await sessionOf(copied.key), await sessionOf(made.api_key));
    const keptSession = await sessionOf(kept.api_key);
    for (const as of ended) expect(await works(business, as)).toBe(200);
    const answer = await revoke(business, OPERATOR.full, copied.id, later(1000));
    expect(answer.body.data.key).toMatchObject({ id: copied.id, revoked_at: '2026-03-15T12:00:01.000000Z' });
    for (const as of ended) expect(await works(business, as, later(1000)), as).toBe(401);
    for (const as of [business.key, kept.api_key, keptSession]) expect(await works(business, as)).toBe(200);
    const changes = (await call('GET', `/api/v1/user/${business.user_id}/changes`, { as: OPERATOR.full })).body.data
      .changes;
    expect(changes.at(-1)).toMatchObject({ action: 'create_key', key_name: 'narrow' });
    const recorded = async (path: string) =>
      (await call('GET', path, { as: OPERATOR.full })).body.data.changes.map(
        ({ action, before }: { action: string; before: { id: number } | null }) => [action, before?.id],
      );
    expect((await recorded(`/api/v1/user/${business.user_id}/changes`)).slice(0, 2)).toEqual([
      ['revoke_key', made.id],
      ['revoke_key', copied.id],
    ]);
    const [ofIt] = await recorded(`/api/v1/business/${business.id}/changes`);
    expect(ofIt).toEqual(['revoke_key', ofBusiness.id]);
  });

  test('is not done for a refused call, whatever the database writes between the statements, and reads few rows', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const copied = await newKey(business);
    for (let made = 0; made < 20; made++) await create(business, copied.key);
    const reader = (await create(business, OPERATOR.full, { role: 'read' })).body.data.api_key;
    await sessionOf(copied.key);
    const bindings = withNoise();
    for (const as of [
      reader,
      `bua_sk_${business.key[7]}${'q'.repeat(33)}`,
      business.token,
      (await newBusiness()).key,
    ]) {
      const path = `${keysOf(business)}/${copied.id}`;
      for (const answer of [await call('DELETE', path, { as }), await create(business, as)]) {
        expect([401, 403, 404]).toContain(answer.status);
        expect(answer.cost.rows_read).toBeLessThanOrEqual(24);
        expect(answer.cost.rows_written).toBe(0);
      }
      await call('DELETE', path, { as, bindings });
    }
    expect((await list(business)).filter(({ revoked_at }) => revoked_at !== null)).toEqual([]);
  });

  test('leaves the keys that it created and that have expired as they are', async () => {
    const business = await newBusiness();
    const { id } = (await create(business, business.key, { expires_on: TODAY })).body.data;
    const maker = (await list(business))[0]?.id ?? 0;
    await revoke(business, OPERATOR.full, maker, later(DAY_MS));
    expect((await list(business)).find((key) => key.id === id)?.revoked_at).toBeNull();
  });

  test('by the key itself works, and has no effect the second time', async () => {
    const business = await newBusiness();
    const own = await newKey(business);
    const session = await sessionOf(own.key);
    const first = await revoke(business, own.key, own.id);
    expect(first).toMatchObject({ status: 200, cost: { round_trips: 1 } });
    expect(first.body.data.key.revoked_at).toBe('2026-03-15T12:00:00.000000Z');
    for (const as of [own.key, session]) expect(await works(business, as)).toBe(401);
    const again = await revoke(business, business.key, own.id, later(1000));
    expect(again.body.data.key.revoked_at).toBe('2026-03-15T12:00:00.000000Z');
    expect(again.cost.rows_written).toBe(0);
  });

  test('does not accept the id of a session, not even of one that created keys, or another user’s key', async () => {
    const [business, other] = [await newBusiness(), await newBusiness()];
    const session = await linkSession(business, WIDE);
    const { api_key } = (await create(business, session, { expires_on: '2026-04-15' })).body.data;
    const rows = await business.db.select().from(apiKeys).where(eq(apiKeys.user_id, business.user_id));
    const sessionId = rows.find(({ ends_at }) => ends_at !== null)?.id ?? 0;
    const otherId = (await list(other))[0]?.id ?? 0;
    for (const as of [business.key, OPERATOR.full])
      for (const id of [sessionId, otherId]) {
        const answer = await revoke(business, as, id);
        expect(answerOf(answer)).toEqual({ status: 404, body: { status: false, message: 'Key id is not valid' } });
        expect(answer.cost.rows_written).toBe(0);
      }
    for (const as of [session, api_key]) expect(await works(business, as)).toBe(200);
    expect(await works(other, other.key)).toBe(200);
  });
});

describe('the number of keys that users create', () => {
  const FULL = invalid('keys', 'keys must not exceed 20 working keys: revoke one first');
  const TODAYS = invalid('keys', 'keys must not exceed 20 created per day (UTC)');

  test('is at most 20 that work, even if they are created at once, whatever the operator created', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    for (let made = 0; made < 3; made++) await newKey(business, { role: 'read' });
    const session = await linkSession(business, WIDE);
    const expires_on = '2026-03-16';
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) => create(business, index % 2 ? business.key : session, { expires_on })),
    );
    const [made, others] = [200, 422].map((wanted) => answers.filter(({ status }) => status === wanted));
    expect(made).toHaveLength(20);
    for (const answer of others ?? []) expect(answerOf(answer)).toEqual(FULL);
    expect((await create(business, OPERATOR.full)).status).toBe(200);
    // A key that no longer works makes room, but not on the day on which it was created.
    await revoke(business, business.key, made?.[0]?.body.data.id);
    expect(answerOf(await create(business, business.key))).toEqual(TODAYS);
    const tomorrow = later(DAY_MS);
    expect((await create(business, business.key, {}, tomorrow)).status).toBe(200);
    expect(answerOf(await create(business, business.key, {}, tomorrow))).toEqual(FULL);
    expect((await create(business, business.key, {}, later(2 * DAY_MS))).status).toBe(200); // the others have expired
  });

  test('leaves the list of changes whole after 200 creations and revocations', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    for (let day = 0; day < 10; day++)
      for (let made = 0; made < 20; made++) {
        const { id } = (await create(business, business.key, {}, later(day * DAY_MS))).body.data;
        await revoke(business, business.key, id, later(day * DAY_MS));
      }
    const found: string[] = [];
    for (let before = ''; ; ) {
      const path = `/api/v1/user/${business.user_id}/changes?limit=100${before}`;
      const { changes, next } = (await call('GET', path, { as: OPERATOR.full, at: later(10 * DAY_MS) })).body.data;
      found.push(...changes.map(({ action }: { action: string }) => action));
      if (next === null) break;
      before = `&before=${next}`;
    }
    expect(found.slice(0, 400)).toEqual(Array.from({ length: 200 }, () => ['revoke_key', 'create_key']).flat());
  });
});

test('a key for a business ends with its transfer, and stays revoked when the business comes back', async () => {
  const business = await newBusiness();
  const other = await newBusiness({ user_id: business.user_id + homes.length * 100_000 }); // in the same database
  const { api_key } = (await create(business, business.key, { business_id: business.id })).body.data;
  const transfer = async (user_id: number) => {
    const answer = await call('PATCH', `/api/v1/business/${business.id}`, { as: OPERATOR.full, body: { user_id } });
    expect(answer.status, answer.text).toBe(200);
  };
  await transfer(other.user_id);
  expect(await works(business, api_key)).toBe(401);
  expect(answerOf(await create(business, business.key, { business_id: business.id }))).toEqual(
    invalid('business_id', `business_id must be a business of user ${business.user_id}`),
  );
  await transfer(business.user_id);
  expect(await works(business, api_key)).toBe(401);
});

test('the erasure of a user deletes the keys that the user created', async () => {
  const business = await newBusiness();
  const { api_key } = (await create(business, business.key)).body.data;
  const at = later(DAY_MS);
  const path = `/api/v1/business/${business.id}?name=${encodeURIComponent(business.name)}`;
  expect((await call('DELETE', path, { as: OPERATOR.full, at })).status).toBe(200);
  expect((await call('DELETE', `/api/v1/user/${business.user_id}`, { as: OPERATOR.full, at })).status).toBe(200);
  for (const as of [business.key, api_key])
    expect(answerOf(await call('GET', keysOf(business), { as, at }))).toEqual(UNAUTHENTICATED);
});
