// The sessions of the owner's console (docs/api.md, "Start a session"): starting them, their permissions, and ending them.
import { createExecutionContext } from 'cloudflare:test';
import { and, eq, gt, isNotNull } from 'drizzle-orm';
import { describe, expect, test, vi } from 'vitest';
import { createApp } from '../src/app.ts';
import { deleteBusiness } from '../src/business/deletion.ts';
import { ALPHABET, sha256Hex } from '../src/core/credential.ts';
import { databaseOfId } from '../src/core/database.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { apiKeys, changes, codes } from '../src/db/schema.ts';
import { answerOf, granted, invalid, refused, SERVER_ERROR, UNAUTHENTICATED, UNAVAILABLE } from './answers.ts';
import { asking, listKeys, revokeKey } from './ask.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { may } from './sim/model/may.ts';
import {
  ask,
  BASE,
  type Business,
  type CallOptions,
  call,
  databaseClock,
  databases,
  dumpAll,
  eachOf,
  env,
  failingHalfway,
  failingWith,
  homes,
  later,
  NOW,
  newBusiness,
  newCode,
  newKey,
  recordStatements,
  type Scope,
  withBatch,
} from './support.ts';

type Answer = Awaited<ReturnType<typeof call>>;

const PATH = '/api/v1/session';
const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const start = (as: string, options: CallOptions = {}) => call('POST', PATH, { as, ...options });
const end = (as: string, options: CallOptions = {}) => call('DELETE', PATH, { as, ...options });
/** Starts a session with an API key. Returns the session key. */
async function sessionOf(as: string, options: CallOptions = {}): Promise<string> {
  const { status, body } = await start(as, options);
  expect(status).toBe(200);
  return body.data.session_key;
}
const statusOf = async (as: string, at: Date) => (await call('GET', '/api/v1/business', { as, at })).status;
const running = (business: Business, at = NOW) => {
  const isRunning = and(eq(apiKeys.user_id, business.user_id), gt(apiKeys.ends_at, formatTimestamp(at)));
  return business.db.$count(apiKeys, isRunning);
};
const keyId = async ({ db, user_id }: Business) => {
  const [key] = await db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.user_id, user_id));
  return key?.id ?? 0;
};

const redeem = (code: string, options: CallOptions = {}) => call('POST', PATH, { body: { code }, ...options });

const ofUser = ({ user_id }: Business) => ({ user_id, read_only: false, can_create_keys: false });

describe('a session started with an API key', () => {
  test('can start without a body, works for 12 hours, and has a key in the format of the same database’s API keys', async () => {
    for (const _ of homes) {
      const business = await newBusiness({ sites: [SHOP] });
      const { status, body, headers, cost, lines } = await start(business.key);
      const { session_key } = body.data;
      expect({ status, body }).toEqual(
        granted({ session_key, expires_at: '2026-03-16T00:00:00.000000Z', ...ofUser(business), return_url: null }),
      );
      expect(session_key).toMatch(new RegExp(`^bua_sk_${ALPHABET[business.home.number]}[0-9A-Za-z]{33}$`));
      expect(session_key).not.toBe(business.key);
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(cost.round_trips).toBe(1);
      expect(lines).toMatchObject([{ operation: 'start_session', status: 200, business_id: null }]);
      expect(JSON.stringify(lines)).not.toContain(session_key);
      const [stored] = await business.db
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.hash, await sha256Hex(session_key)));
      expect(databaseOfId(stored?.id ?? 0)).toBe(business.home.number);
      expect(await statusOf(session_key, later(12 * HOUR_MS - 1))).toBe(200);
      expect(await statusOf(session_key, later(12 * HOUR_MS))).toBe(401);
      expect(await statusOf(business.key, later(12 * HOUR_MS))).toBe(200);
    }
  });

  test('is stored in DB if the API key has the older format', async () => {
    const key = `bua_sk_0${'k'.repeat(33)}`;
    const row = {
      user_id: 9_999_001,
      name: 'old',
      hash: await sha256Hex(key),
      last_four: 'kkkk',
      role: 'full' as const,
      created_at: formatTimestamp(NOW),
      created_by: 'operator',
    };
    await homes[0]?.db.insert(apiKeys).values(row);
    expect(await sessionOf(key)).toMatch(/^bua_sk_0[0-9A-Za-z]{33}$/);
  });

  test('can start with a whitespace-only body, and from a page of any site', async () => {
    const { key } = await newBusiness({ sites: [SHOP] });
    for (const options of [{ body: ' \r\n\t' }, { origin: EVIL }, { origin: BASE }, { origin: SHOP }]) {
      expect((await start(key, options)).status, JSON.stringify(options)).toBe(200);
    }
  });

  test('cannot start with a non-empty body, which gets 422 if the key is valid and does not spend a code', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const before = await dumpAll();
    const message = 'body must be empty: this operation takes no body';
    for (const body of ['{}', '[]', 'x', '0', { code }]) {
      const answer = await start(business.key, { body });
      expect(answerOf(answer)).toEqual(invalid('body', message));
      expect(answerOf(await start(`bua_sk_0${'x'.repeat(33)}`, { body }))).toEqual(UNAUTHENTICATED);
      expect(answerOf(await call('POST', PATH, { body, headers: { 'X-API-Key': 'x' } }))).toEqual(UNAUTHENTICATED);
    }
    expect(await dumpAll()).toBe(before);
    expect((await redeem(code)).status).toBe(200);
  });

  test('marks the API key as used today, and records no use', async () => {
    const business = await newBusiness();
    await start(business.key);
    const [key] = await business.db.select().from(apiKeys).where(eq(apiKeys.user_id, business.user_id));
    expect(key?.last_used_on).toBe('2026-03-15');
    const { body } = await call('GET', `${business.usage}?from=2026-03-15`, { as: business.key });
    expect(body.data.used).toEqual([{ date: '2026-03-15', count: 0 }]);
  });

  test('ends no later than the API key’s last day, and the response that starts it contains its end time', async () => {
    const business = await newBusiness();
    const keyUntil = (expires_on: string) => newKey(business, { expires_on });
    const today = await start((await keyUntil('2026-03-15')).key, { at: later(6 * HOUR_MS) });
    expect(today.body.data.expires_at).toBe('2026-03-16T00:00:00.000000Z');
    const as = today.body.data.session_key;
    expect([await statusOf(as, later(12 * HOUR_MS - 1)), await statusOf(as, later(12 * HOUR_MS))]).toEqual([200, 401]);
    const tomorrow = await start((await keyUntil('2026-03-16')).key, { at: later(6 * HOUR_MS) });
    expect(tomorrow.body.data.expires_at).toBe('2026-03-16T06:00:00.000000Z');
    expect((await start((await keyUntil('9999-12-31')).key)).body.data.expires_at).toBe('2026-03-16T00:00:00.000000Z');
  });
});

describe('a session', () => {
  const SCOPES: { name: string; narrow: boolean; scope: Scope }[] = [
    { name: 'a key for all businesses', narrow: false, scope: {} },
    { name: 'a key for one business', narrow: true, scope: {} },
    { name: 'a read-only key', narrow: false, scope: { role: 'read' } },
    { name: 'a read-only key for one business', narrow: true, scope: { role: 'read' } },
  ];

  describe.each(SCOPES)('of $name', ({ narrow, scope }) => {
    eachOf(
      test,
      ROUTES.filter(({ operation }) => may('session', operation) === may('full', operation)),
    )('gets the same response as its key: $name', async (route) => {
      const twins = await Promise.all(
        ['key', 'session'].map(async (kind) => {
          const business = await newBusiness({ sites: [SHOP] });
          const { key } = await newKey(business, { ...scope, ...(narrow ? { business_id: business.id } : {}) });
          return { business, as: kind === 'key' ? key : await sessionOf(key) };
        }),
      );
      for (const origin of [undefined, SHOP, EVIL, BASE]) {
        const [byKey, bySession] = await Promise.all(
          twins.map(async ({ business, as }) => {
            const { status, body } = await ask(route, business, { as, origin });
            return { status, message: body.message, read_only: body.data?.read_only };
          }),
        );
        expect(bySession).toEqual(byKey);
      }
    });

    test('is read-only if its key is, and lists the same businesses', async () => {
      const business = await newBusiness();
      const sibling = await newBusiness({ user_id: business.user_id });
      const { key } = await newKey(business, { ...scope, ...(narrow ? { business_id: business.id } : {}) });
      const { body } = await start(key);
      expect(body.data.read_only).toBe(scope.role === 'read');
      const list = async (as: string) => (await call('GET', '/api/v1/business', { as })).body.data;
      const listed = await list(body.data.session_key);
      expect(listed).toEqual(await list(key));
      expect(listed.businesses).toHaveLength(narrow ? 1 : 2);
      expect((await call('GET', sibling.access, { as: body.data.session_key })).status).toBe(narrow ? 401 : 200);
    });
  });

  eachOf(test, ROUTES)('that has ended gets 401: $name', async (route) => {
    const business = await newBusiness({ sites: [SHOP] });
    const session = await sessionOf(business.key);
    await end(session);
    const before = await dumpAll();
    const answer = await ask(route, business, { as: session });
    expect(answerOf(answer)).toEqual(UNAUTHENTICATED);
    expect(answer.headers.get('Error-Code')).toBe('unauthenticated');
    expect(answer.lines).toMatchObject([{ reason: 'ended_session' }]);
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(await dumpAll()).toBe(before);
  });

  test('costs the same as its key in every read, whatever the number of sessions', { tags: 'slow' }, async () => {
    const business = await newBusiness({ sites: [SHOP] });
    for (let index = 0; index < 30; index++) await sessionOf(business.key);
    const session = await sessionOf(business.key);
    const costOf = async (route: AnyRoute, as: string) => {
      const { status, cost } = await ask(route, business, { as });
      return { name: route.name, status, ...cost, ms: 0 };
    };
    for (const route of ROUTES.filter(({ method, operation }) => method === 'GET' && may('session', operation))) {
      expect(await costOf(route, session)).toEqual({ ...(await costOf(route, business.key)), status: 200 });
    }
  });

  test('does not write its day of last use on the day it begins', async () => {
    const business = await newBusiness();
    const session = await sessionOf(business.key);
    const before = await business.db.select().from(apiKeys).where(eq(apiKeys.user_id, business.user_id));
    await call('GET', business.usage, { as: session });
    expect(await business.db.select().from(apiKeys).where(eq(apiKeys.user_id, business.user_id))).toEqual(before);
  });

  test('makes changes that are listed under its key’s name', async () => {
    const business = await newBusiness();
    const { key, actor } = await newKey(business);
    const session = await sessionOf(key);
    await call('POST', business.access, { as: session, body: { sites: [SHOP] } });
    await call('POST', `/api/v1/business/${business.id}/token`, { as: session });
    const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as: session });
    const made = body.data.changes.map(({ actor, action }: { actor: string; action: string }) => ({ actor, action }));
    expect(made).toEqual([
      { actor, action: 'rotate_token' },
      { actor, action: 'add_sites' },
    ]);
  });

  test('adds no change to the list when it starts or ends', async () => {
    const business = await newBusiness();
    const stored = () => business.db.$count(changes);
    const before = await stored();
    await end(await sessionOf(business.key));
    await end((await redeem(await newCode(business))).body.data.session_key);
    expect(await stored()).toBe(before);
  });

  test('is not listed as an API key and cannot be revoked by its id', async () => {
    const business = await newBusiness();
    const session = await sessionOf(business.key);
    const id = await keyId(business);
    const keys = await listKeys(business.db, business.user_id, NOW);
    expect(keys).toEqual([expect.objectContaining({ id, last_four: business.key.slice(-4) })]);
    expect(Object.keys(keys[0] ?? {})).not.toContain('ends_at');
    const [row] = await business.db.select().from(apiKeys).where(eq(apiKeys.session_of, id));
    expect(await revokeKey(business.db, row?.id ?? 0, business.user_id, NOW)).toBeNull();
    expect(await statusOf(session, NOW)).toBe(200);
  });
});

describe('a running session', () => {
  test('ends immediately when a request with its session key ends it, while its API key keeps working', async () => {
    const business = await newBusiness();
    const [session, other] = [await sessionOf(business.key), await sessionOf(business.key)];
    const { cost, ...answer } = await end(session);
    expect(answerOf(answer as Answer)).toEqual(granted({ ended: true }));
    expect(cost.round_trips).toBe(1);
    expect(answer.lines).toMatchObject([{ operation: 'end_session', status: 200 }]);
    expect(answerOf(await end(session))).toEqual(UNAUTHENTICATED);
    const statuses = [session, other, business.key].map((as) => statusOf(as, NOW));
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });

  test('can be ended even if it is read-only', async () => {
    const business = await newBusiness();
    const session = await sessionOf((await newKey(business, { role: 'read' })).key);
    expect((await end(session)).status).toBe(200);
    expect(await statusOf(session, NOW)).toBe(401);
  });

  test('ends when its API key is revoked, even if the clock of the revocation is ahead, and other keys’ sessions continue', async () => {
    for (const ahead of [0, HOUR_MS]) {
      const business = await newBusiness();
      const other = await newKey(business);
      const sessions = [await sessionOf(business.key), await sessionOf(business.key)];
      const linked = (await redeem(await newCode(business))).body.data.session_key;
      const ofOther = await sessionOf(other.key);
      await revokeKey(business.db, await keyId(business), business.user_id, later(ahead));
      for (const session of sessions) expect(await statusOf(session, NOW), 'a session of the revoked key').toBe(401);
      expect([await statusOf(ofOther, NOW), await statusOf(linked, NOW)]).toEqual([200, 200]);
      await revokeKey(business.db, await keyId(business), business.user_id, later(ahead + SECOND_MS));
      await revokeKey(business.db, other.id, business.user_id, later(ahead));
      expect([await statusOf(ofOther, NOW), await statusOf(linked, NOW)]).toEqual([401, 200]);
    }
  });

  test('is ended by its user’s 21st session if it is the oldest from the same source (API key or links), or else the oldest of all', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const other = await newKey(business, { role: 'read', business_id: business.id });
    const stranger = await newBusiness();
    const foreign = await sessionOf(stranger.key);
    const byLink = async () =>
      (await redeem(await newCode(business, { minutes: 1440 }))).body.data.session_key as string;
    const sessions = [await byLink()];
    for (let index = 1; index < 20; index++) sessions.push(await sessionOf(business.key));
    expect(await running(business), 'running sessions').toBe(20);
    const ended = async () => {
      const statuses = await Promise.all(sessions.map((as) => statusOf(as, NOW)));
      return statuses.flatMap((status, index) => (status === 401 ? [index] : []));
    };
    expect(await ended()).toEqual([]);
    sessions.push(await sessionOf(business.key));
    expect(await ended()).toEqual([1]);
    sessions.push(await byLink());
    expect(await ended()).toEqual([0, 1]);
    // The other key's first session ends the oldest of all sessions. Each later session ends that key's oldest session.
    for (let index = 0; index < 30; index++) sessions.push(await sessionOf(other.key));
    expect(await ended()).toEqual([0, 1, 2, ...Array.from({ length: 29 }, (_, index) => 22 + index)]);
    expect(await running(business), 'running sessions').toBe(20);
    expect(await statusOf(foreign, NOW)).toBe(200);
  });

  test('is deleted when it and 50 newer sessions have ended, which bounds the storage', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    for (let index = 0; index < 60; index++) await end(await sessionOf(business.key));
    const stored = await business.db.$count(
      apiKeys,
      and(eq(apiKeys.user_id, business.user_id), isNotNull(apiKeys.ends_at)),
    );
    expect(stored, 'stored ended sessions').toBe(50);
  });

  test('does not end when another session begins while only 19 sessions are running', async () => {
    const business = await newBusiness();
    const sessions = [];
    for (let index = 0; index < 20; index++) sessions.push(await sessionOf(business.key));
    await end(sessions[5] ?? '');
    await sessionOf(business.key);
    expect(await statusOf(sessions[0] ?? '', NOW)).toBe(200);
    expect(await running(business), 'running sessions').toBe(20);
  });

  test('is one of at most 20, even if 25 sessions begin concurrently', { tags: 'slow' }, async () => {
    const business = await newBusiness();
    const sessions = await Promise.all(Array.from({ length: 25 }, () => sessionOf(business.key)));
    expect(new Set(sessions).size).toBe(25);
    const statuses = await Promise.all(sessions.map((as) => statusOf(as, NOW)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(await running(business), 'running sessions').toBe(20);
  });

  test('ends when its business is deleted, which also deletes the business’s codes', async () => {
    const business = await newBusiness();
    const narrow = await newKey(business, { business_id: business.id });
    const session = await sessionOf(narrow.key);
    const code = await newCode(business, { business_id: business.id });
    await deleteBusiness(asking(business.home, 'delete_business', NOW, business.id), business.name);
    expect(answerOf(await redeem(code))).toEqual(UNAUTHENTICATED);
    expect(await statusOf(session, NOW)).toBe(401);
    expect(await business.db.$count(codes, eq(codes.business_id, business.id))).toBe(0);
  });
});

describe('a console link’s code', () => {
  test('starts a session without a credential, for exactly the link’s duration', async () => {
    for (const _ of homes) {
      const business = await newBusiness();
      const code = await newCode(business, { minutes: 60 });
      expect(code).toMatch(/^[0-9A-Za-z]{34}$/);
      const at = new Date('2026-03-15T12:01:02.345Z');
      const { status, body, headers, cost, lines } = await redeem(code, { at });
      const { session_key } = body.data;
      expect({ status, body }).toEqual(
        granted({ session_key, expires_at: '2026-03-15T13:01:02.345000Z', ...ofUser(business), return_url: null }),
      );
      expect(session_key).toMatch(new RegExp(`^bua_sk_${ALPHABET[business.home.number]}[0-9A-Za-z]{33}$`));
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(cost.round_trips).toBe(1);
      expect(lines).toEqual([
        {
          ...{ operation: 'start_session', method: 'POST', route: '/api/v1/session', status: 200, refusal: null },
          ...{ business_id: null, credential: null, ms: 0, version: null },
          ...{ database: business.home.binding, d1: { ...cost, ms: expect.any(Number) } },
          request_id: headers.get('X-Request-Id'),
        },
      ]);
      expect(await statusOf(session_key, new Date('2026-03-15T13:01:02.344Z'))).toBe(200);
      expect(await statusOf(session_key, new Date('2026-03-15T13:01:02.345Z'))).toBe(401);
    }
  });

  test.each([1, 60, 1440])('starts a session of %i minutes', async (minutes) => {
    const business = await newBusiness();
    const { body } = await redeem(await newCode(business, { minutes }));
    expect(body.data.expires_at).toBe(formatTimestamp(later(minutes * MINUTE_MS)));
  });

  test('starts a session for all of the user’s businesses or for one of them, with full or read-only access', async () => {
    for (const [narrow, role] of [
      [false, 'full'],
      [true, 'full'],
      [false, 'read'],
      [true, 'read'],
    ] as const) {
      const business = await newBusiness();
      const sibling = await newBusiness({ user_id: business.user_id });
      const code = await newCode(business, { role, ...(narrow ? { business_id: business.id } : {}) });
      const { session_key: as, read_only: shown } = (await redeem(code)).body.data;
      expect(shown).toBe(role === 'read');
      const body = { sites: [SHOP] };
      const statuses = [business, sibling].map(async ({ access }) => (await call('POST', access, { as, body })).status);
      expect(await Promise.all(statuses)).toEqual([
        role === 'read' ? 403 : 200,
        narrow ? 401 : role === 'read' ? 403 : 200,
      ]);
      expect(answerOf(await start(as))).toEqual(refused('A session key cannot start sessions. Use an API key.'));
      expect((await end(as)).status).toBe(200);
    }
  });

  test('starts a session whose changes are listed under the console link', async () => {
    const business = await newBusiness();
    const as = (await redeem(await newCode(business))).body.data.session_key;
    await call('POST', business.access, { as, body: { sites: [SHOP] } });
    const { body } = await call('GET', `/api/v1/business/${business.id}/changes`, { as });
    expect(body.data.changes).toMatchObject([{ actor: `console link (…${as.slice(-4)})`, action: 'add_sites' }]);
  });

  test('works once', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    expect((await redeem(code)).status).toBe(200);
    const before = await dumpAll();
    const again = await redeem(code);
    expect(answerOf(again)).toEqual(UNAUTHENTICATED);
    expect(again.lines).toMatchObject([
      { operation: 'start_session', refusal: 'unauthenticated', reason: 'unknown_code' },
    ]);
    expect(await dumpAll()).toBe(before);
    expect(await running(business), 'running sessions').toBe(1);
  });

  test('works for only one of twenty concurrent requests', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => redeem(code)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array(19).fill(401)]);
    expect(await running(business), 'running sessions').toBe(1);
  });

  test('works for two minutes', async () => {
    const business = await newBusiness();
    const [used, late] = [await newCode(business), await newCode(business)];
    expect((await redeem(used, { at: later(2 * MINUTE_MS - 1) })).status).toBe(200);
    const before = await dumpAll();
    expect(answerOf(await redeem(late, { at: later(2 * MINUTE_MS) }))).toEqual(UNAUTHENTICATED);
    expect(await dumpAll()).toBe(before);
  });

  test('does not work if the request begins within two minutes but its body arrives later', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const clock = { now: later(2 * MINUTE_MS - 1) };
    const { fetch } = createApp(() => clock.now, { log() {}, error() {} }, databaseClock);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const init = { method: 'POST', body: readable, duplex: 'half' } as RequestInit;
    const answer = fetch(new Request(BASE + PATH, init), env, createExecutionContext());
    clock.now = later(2 * MINUTE_MS);
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify({ code })));
    await writer.close();
    expect((await answer).status).toBe(401);
  });

  test('appears in no log and no response', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const [first, second] = [await redeem(code), await redeem(code)];
    const shown = JSON.stringify([first, second].map(({ text, lines, headers }) => [text, lines, [...headers]]));
    expect(shown).not.toContain(code);
    expect(shown).not.toContain(code.slice(-6));
    const failed = await redeem(code, { bindings: failingWith('D1_ERROR: no such table: codes') });
    expect(failed.status).toBe(500);
    expect(JSON.stringify(failed.errors)).not.toContain(code.slice(-6));
  });
});

describe('a caller without a credential', () => {
  const CODE = 'x'.repeat(34);
  const wrong: [string, unknown][] = [
    ['an empty body', ''],
    ['an empty object', {}],
    ['a list', [CODE]],
    ['a string', `"${CODE}"`],
    ['malformed JSON', '{'],
    ['a bare code', CODE],
    ['form data', `code=${CODE}`],
    ['an additional member', { code: `0${CODE.slice(1)}`, minutes: 60 }],
    ['a duplicate member', `{"code":"0${CODE.slice(1)}","code":"0${CODE.slice(1)}"}`],
    ['a code that is not a string', { code: 17 }],
    ['a null code', { code: null }],
    ['a code that is too short', { code: CODE.slice(1) }],
    ['a code that is too long', { code: `${CODE}x` }],
    ['a code with an invalid character', { code: `0${CODE.slice(2)}-` }],
    ['an API key', { code: `bua_sk_0${CODE.slice(1)}` }],
    ['a large body', { code: `0${CODE.slice(1)}`, more: 'x'.repeat(100_000) }],
    ['a long run of white space before the object', ' '.repeat(1000) + JSON.stringify({ code: `0${CODE.slice(1)}` })],
    ['an unbound database’s code', { code: `z${CODE.slice(1)}` }],
  ];

  test.each(wrong)('gets 401 for %s, without a database query or a hash', async (_, body) => {
    const digest = vi.spyOn(crypto.subtle, 'digest');
    const answer = await call('POST', PATH, { body });
    const digests = digest.mock.calls.length;
    digest.mockRestore();
    expect(answerOf(answer)).toEqual(UNAUTHENTICATED);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(answer.headers.get('Error-Code')).toBe('unauthenticated');
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.cost.round_trips).toBe(0);
    expect(digests, 'hashes computed').toBe(0);
    expect(answer.lines).toMatchObject([{ database: null, credential: null, refusal: 'unauthenticated' }]);
  });

  test('gets the same response at the same cost for an unknown, spent or expired code', async () => {
    const business = await newBusiness();
    const [spent, expired] = [await newCode(business), await newCode(business, { expires_at: formatTimestamp(NOW) })];
    await redeem(spent);
    const unknown = ALPHABET[business.home.number] + CODE.slice(1);
    const before = await dumpAll();
    const responses = new Set<string>();
    for (const code of [unknown, spent, expired]) {
      const digest = vi.spyOn(crypto.subtle, 'digest');
      const answer = await redeem(code);
      const digests = digest.mock.calls.length;
      digest.mockRestore();
      const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id');
      responses.add(JSON.stringify({ status: answer.status, text: answer.text, headers, digests }));
      expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
      expect(answer.cost.rows_read, `rows read for ${code}`).toBeLessThanOrEqual(14);
      expect(answer.lines).toMatchObject([{ reason: 'unknown_code', database: business.home.binding }]);
    }
    expect([...responses]).toEqual([expect.stringContaining('Unauthenticated.')]);
    expect(await dumpAll()).toBe(before);
  });

  test('can neither redeem nor spend a code in a request with a query string', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const before = await dumpAll();
    for (const query of [`?code=${code}`, '?_=1', '?a']) {
      expect(answerOf(await call('POST', PATH + query))).toEqual(UNAUTHENTICATED);
      expect(answerOf(await call('POST', PATH + query, { body: { code } }))).toEqual(UNAUTHENTICATED);
    }
    expect(await dumpAll()).toBe(before);
    expect((await call('POST', `${PATH}/?`, { body: { code } })).status).toBe(200);
  });

  test('cannot spend a code in a request with an Idempotency-Key, which gets 422 if the code works', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const unknown = await newCode(business, { expires_at: formatTimestamp(NOW) });
    const before = await dumpAll();
    const message = 'Idempotency-Key must not be sent: this operation cannot detect a repeated request';
    const refusal = invalid('Idempotency-Key', message);
    const headers = { 'Idempotency-Key': 'sign-in-1' };
    const answer = await call('POST', PATH, { body: { code }, headers });
    expect(answerOf(answer)).toEqual(refusal);
    expect(answer.cost).toMatchObject({ round_trips: 1, rows_written: 0 });
    expect(answerOf(await start(business.key, { headers }))).toEqual(refusal);
    for (const body of [{ code: unknown }, { code: 'x' }, {}])
      expect(answerOf(await call('POST', PATH, { body, headers }))).toEqual(UNAUTHENTICATED);
    expect(await dumpAll()).toBe(before);
    expect((await call('POST', PATH, { body: { code } })).status).toBe(200);
  });

  test('is rate-limited by address before all other checks, including that of the body size', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const keys: string[] = [];
    const limit = async ({ key }: { key: string }) => ({ success: keys.push(key) <= 2 });
    const send = (body: unknown) =>
      call('POST', PATH, {
        headers: { 'CF-Connecting-IP': '192.0.2.1' },
        body,
        bindings: { ADDRESS_LIMIT: { limit } },
      });
    expect((await send('x'.repeat(2 ** 20 + 1))).status).toBe(413);
    expect((await send('{}')).status).toBe(401);
    const limited = await send({ code });
    expect(answerOf(limited)).toEqual({ status: 429, body: { message: 'Too Many Attempts.' } });
    expect(limited.headers.get('Error-Code')).toBe('rate_limited');
    expect(keys).toEqual(Array(3).fill('192.0.2.1'));
    expect((await redeem(code)).status).toBe(200);
  });
});

test.each(['GET', 'PUT', 'PATCH'])('%s gets 405, because a session can only be started and ended', async (method) => {
  const answer = await call(method, PATH, { as: `bua_sk_0${'x'.repeat(33)}` });
  expect({ ...answerOf(answer), allow: answer.headers.get('Allow') }).toEqual({
    ...{ status: 405, body: { message: 'Method Not Allowed' } },
    allow: 'POST, DELETE',
  });
});

describe('if the database fails, a code', () => {
  const send = async (code: string, bindings: object) => answerOf(await redeem(code, { bindings }));

  test.each([
    ['503 if the batch did not run', 'D1_ERROR: D1 DB is overloaded.', UNAVAILABLE],
    ['500 if the batch may have run', 'D1_ERROR: Network connection lost.', SERVER_ERROR],
    ['500 if a statement failed', 'D1_ERROR: no such table: codes', SERVER_ERROR],
  ])('gets %s, and remains unspent: %s', async (_, message, expected) => {
    const code = await newCode(await newBusiness());
    expect(await send(code, failingWith(message))).toEqual(expected);
    expect((await redeem(code)).status).toBe(200);
  });

  test('starts no session and remains unspent if its batch fails halfway', async () => {
    const business = await newBusiness();
    const code = await newCode(business);
    const before = await dumpAll();
    expect(await send(code, failingHalfway())).toEqual(SERVER_ERROR);
    expect(await dumpAll()).toBe(before);
  });

  test('gets 500 after ten seconds without a response, and a batch that begins later does not spend it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.now() });
    try {
      const code = await newCode(await newBusiness());
      const before = await dumpAll();
      let answer: object | null = null;
      const hanging = databases((d1) => withBatch(d1, () => new Promise(() => {})));
      const sent = send(code, hanging).then((answered) => {
        answer = answered;
      });
      await vi.advanceTimersByTimeAsync(9_999);
      expect(answer).toBeNull();
      await vi.advanceTimersByTimeAsync(10_000);
      await sent;
      expect(answer).toEqual(SERVER_ERROR);
      vi.setSystemTime(Date.now() - 60_000); // by the database's clock, the deadline has passed
      expect(await send(code, databases())).toEqual(UNAVAILABLE);
      expect(await dumpAll()).toBe(before);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the cost of starting or ending a session', () => {
  /** Returns the query plans of a request's statements. */
  async function plansOf(business: Business, method: string, options: CallOptions) {
    const { d1 } = business.home;
    const { sent, bindings } = recordStatements(business.home);
    expect((await call(method, PATH, { ...options, bindings })).status).toBe(200);
    const plans = sent.map(({ sql, values }) =>
      d1
        .prepare(`explain query plan ${sql}`)
        .bind(...values)
        .all<{ detail: string }>(),
    );
    return (await Promise.all(plans)).flatMap(({ results }) => results.map(({ detail }) => detail));
  }
  const scansIn = (details: string[]) =>
    details.filter(
      (detail) => detail.startsWith('SCAN') && !/^SCAN (permission|\(subquery.*\)|CONSTANT ROW)/.test(detail),
    );

  test('is one round trip, at most 130 rows read and 15 written, whatever the number of ended sessions', {
    tags: 'slow',
  }, async () => {
    const business = await newBusiness();
    const stamp = formatTimestamp(NOW);
    const many = `insert into api_keys (user_id, name, hash, last_four, role, created_at, ends_at)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
      select ?, 'console', printf('%060x', ?1) || printf('%04x', i), '0000', 'full', ?2, ?2 from n`;
    await business.home.d1.prepare(many).bind(business.user_id, stamp).run();
    for (let index = 0; index < 25; index++) {
      for (const { status, cost } of [await start(business.key), await redeem(await newCode(business))]) {
        expect(status).toBe(200);
        expect(cost.round_trips).toBe(1);
        expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(130);
        expect(cost.rows_written, 'rows written').toBeLessThanOrEqual(15);
      }
    }
    const ended = await end(await sessionOf(business.key));
    expect(ended.cost).toMatchObject({ round_trips: 1 });
    expect(ended.cost.rows_read, 'rows read').toBeLessThanOrEqual(6);
    expect(ended.cost.rows_written, 'rows written').toBeLessThanOrEqual(3);
  });

  test('includes no full scan', async () => {
    const business = await newBusiness();
    const session = await sessionOf(business.key);
    const details = [
      ...(await plansOf(business, 'POST', { as: business.key })),
      ...(await plansOf(business, 'POST', { body: { code: await newCode(business) } })),
      ...(await plansOf(business, 'DELETE', { as: session })),
    ];
    expect(scansIn(details)).toEqual([]);
    expect(details).toContainEqual(expect.stringContaining('api_keys_user_id_ends_at (user_id=? AND ends_at>?)'));
  });
});
