// No request waits longer than ten seconds for its database, and a batch that starts after that does nothing (docs/operating.md, "Outages").
import { createExecutionContext } from 'cloudflare:test';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { purgeAll } from '../src/db/purge.ts';
import { boundTo, homeOf } from './ask.ts';
import { logged } from './log-lines.ts';
import { type AnyRoute, FAILING, NEW_BUSINESS, NOT_REPEATABLE, ROUTES } from './routes.ts';
import {
  addFormerToken,
  BASE,
  type Business,
  call,
  callerOf,
  databases,
  dumpAll,
  eachOf,
  homes,
  NOW,
  newApp,
  newBusiness,
  newKey,
  OPERATOR_SECRETS,
  withBatch,
} from './support.ts';

const DEADLINE_MS = 10_000;
const unavailable = { status: 503, text: '{"message":"Service Unavailable"}' };
const broken = { status: 500, text: '{"message":"Server Error"}' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

async function requestOf(route: AnyRoute, business: Business) {
  const headers = { ...route.headers, Authorization: `Bearer ${await callerOf(route, business)}` };
  const init: RequestInit = { method: route.method, headers };
  if (route.body !== undefined) init.body = JSON.stringify(route.body);
  return new Request(BASE + route.path(business), init);
}
/** Returns databases whose batches go through `run`. */
const through = (run: (batch: () => Promise<unknown>) => Promise<unknown>) => databases((d1) => withBatch(d1, run));
const never = () => new Promise<never>(() => {});

/** Advances the clock by `ms`. Returns the response, or null if there is none yet. */
async function answerAfter(ms: number, request: Request, bindings: ReturnType<typeof databases>) {
  let answer: { status: number; text: string } | null = null;
  const answered = newApp()
    .app.fetch(request, { ...OPERATOR_SECRETS, ...bindings }, createExecutionContext())
    .then(async (response) => {
      answer = { status: response.status, text: await response.text() };
    });
  await vi.advanceTimersByTimeAsync(ms);
  if (ms >= DEADLINE_MS) await answered;
  return answer;
}

eachOf(describe, FAILING)('a call to $name', (route) => {
  const isRepeatable = !NOT_REPEATABLE.includes(route.name);

  test('waits exactly ten seconds for a database that never responds', async () => {
    const business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
    const [first, second] = [await requestOf(route, business), await requestOf(route, business)];
    const before = await dumpAll();
    expect(await answerAfter(DEADLINE_MS - 1, first, through(never))).toBeNull();
    const expected = isRepeatable ? unavailable : broken;
    expect(await answerAfter(DEADLINE_MS, second, through(never))).toEqual(expected);
    expect(await dumpAll()).toBe(before);
  });

  test('does nothing in a batch that starts after the call’s deadline', async () => {
    const business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
    const { d1 } = business.home;
    const stamp = '2026-03-15T00:00:00.000000Z';
    await d1
      .prepare("insert into refused_origins values (?, 'https://x.example', 1, ?2, ?2)")
      .bind(business.id, stamp)
      .run();
    await addFormerToken(business);
    const request = await requestOf(route, business);
    const before = await dumpAll();
    vi.setSystemTime(Date.now() - DEADLINE_MS - 1); // sets the Worker's clock back, but not that of the database
    const late = through((batch) => batch());
    expect(await answerAfter(DEADLINE_MS, request, late)).toEqual(unavailable);
    expect(await dumpAll()).toBe(before);
    const refused = d1.prepare('select count(*) as n from refused_origins where business_id = ?').bind(business.id);
    expect(await refused.first('n')).toBe(1);
  });

  test('responds as for a lost connection if the database responds late', async () => {
    const business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
    const slow = through(async (batch) => {
      await batch();
      return never();
    });
    const expected = isRepeatable ? unavailable : broken;
    expect(await answerAfter(DEADLINE_MS, await requestOf(route, business), slow)).toEqual(expected);
  });
});

/** Assigns a home to the owner of NEW_BUSINESS in advance, because requests for a new owner need more batches. */
beforeAll(async () => void (await homeOf(boundTo(homes, NOW), NEW_BUSINESS.user_id)));
/** Like the route `revoke a key`, but for an existing key. */
const REVOCATION = {
  ...(ROUTES.find(({ name }) => name === 'revoke a key') as AnyRoute),
  name: 'revoke a key that works',
  path: ({ user_id, key_id }: { user_id?: number; key_id?: number }) => `/api/v1/user/${user_id}/keys/${key_id}`,
};
eachOf(test, [...ROUTES.filter(({ round_trips, writes }) => round_trips === 2 && writes), REVOCATION])(
  'a call to $name does nothing in a second batch that starts after the deadline',
  async (route) => {
    const business = await newBusiness();
    const key_id = (await newKey(business)).id;
    const request = await requestOf(route, Object.assign(business, { key_id }));
    const before = await dumpAll();
    const deadline = (Date.now() + DEADLINE_MS) / 1000;
    let batches = 0;
    const late = databases((d1) => {
      const prepare = (sql: string) => ({
        bind: (...values: unknown[]) =>
          d1.prepare(sql).bind(...values.map((value) => (value === deadline && batches === 1 ? 0 : value))),
      });
      return withBatch(d1, (batch) => batch().finally(() => (batches += 1)), prepare);
    });
    expect(await answerAfter(DEADLINE_MS, request, late)).toEqual(unavailable);
    expect(batches).toBe(2);
    expect(await dumpAll()).toBe(before);
  },
);

/** The first batch claims a home, which is safe to retry. The second creates something, which is not. */
const CREATING = ['create a business', 'create a key', 'create a console link'];
eachOf(
  test,
  ROUTES.filter(({ round_trips }) => round_trips === 2),
)('a call to $name that queries two databases waits ten seconds in total', async (route) => {
  const request = await requestOf(route, await newBusiness());
  const second = Promise.withResolvers<void>();
  let batches = 0;
  const slow = through(async (batch) => {
    batches += 1;
    if (batches > 1) {
      second.resolve();
      return never();
    }
    const results = await batch();
    vi.setSystemTime(Date.now() + 6000);
    return results;
  });
  const answered = newApp().app.fetch(request, { ...OPERATOR_SECRETS, ...slow }, createExecutionContext());
  await second.promise;
  await vi.advanceTimersByTimeAsync(DEADLINE_MS - 6000);
  const response = await answered;
  const expected = CREATING.includes(route.name) ? broken : unavailable;
  expect({ status: response.status, text: await response.text() }).toEqual(expected);
});

test('creating a business for an owner with a home claims no token in a batch that starts after the deadline', async () => {
  const route = ROUTES.find(({ name }) => name === 'create a business') as AnyRoute;
  const business = await newBusiness();
  const body = {
    ...(route.body as object),
    user_id: business.user_id,
    token: `Late-token-of-another-system-${business.user_id}`,
  };
  const request = await requestOf({ ...route, body }, business);
  const before = await dumpAll();
  vi.setSystemTime(Date.now() - DEADLINE_MS - 1);
  expect(
    await answerAfter(
      DEADLINE_MS,
      request,
      through((batch) => batch()),
    ),
  ).toEqual(unavailable);
  expect(await dumpAll()).toBe(before);
});

eachOf(
  test,
  ROUTES.filter(({ writes }) => writes),
)(
  'a call to $name reports no success if a step may have missed the deadline because the database’s clock is ahead',
  async (route) => {
    const business = await newBusiness({ sites: ['https://a.example', 'https://b.example'] });
    // The first batch of a console link has no steps. It only reads the home.
    const isRepeatable = ![...NOT_REPEATABLE, 'create a console link'].includes(route.name);
    const [ahead, took] = [9000, 1001];
    vi.setSystemTime(Date.now() - ahead);
    const slow = through(async (batch) => {
      const results = await batch();
      vi.setSystemTime(Date.now() + took);
      return results;
    });
    const expected = isRepeatable ? unavailable : broken;
    expect(await answerAfter(DEADLINE_MS, await requestOf(route, business), slow)).toEqual(expected);
  },
);

test('a delayed batch that removes all sites does not remove a site that was added after the retry', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const route = ROUTES.find(({ name }) => name === 'remove all sites') as AnyRoute;
  let first: (() => Promise<unknown>) | undefined;
  const lost = through((batch) => {
    first = batch;
    return never();
  });
  const now = Date.now();
  vi.setSystemTime(now - DEADLINE_MS - 1);
  expect(await answerAfter(DEADLINE_MS, await requestOf(route, business), lost)).toEqual(unavailable);
  vi.useRealTimers();
  const as = business.key;
  expect((await call('DELETE', business.access, { as })).status).toBe(200);
  const added = await call('POST', business.access, { as, body: { sites: ['https://new.example'] } });
  await first?.();
  expect((await call('GET', business.access, { as })).body).toEqual(added.body);
});

test('work after a response stops after ten seconds and logs a line', async () => {
  const business = await newBusiness({ sites: ['https://a.example'] });
  const { app, errors } = newApp();
  const context = createExecutionContext();
  const hanging = databases((d1) => {
    const wrapped = { prepare: () => ({ bind: () => ({ run: never, all: never }) }), batch: d1.batch.bind(d1) };
    return {
      ...wrapped,
      prepare: (sql: string) => (/^update/.test(sql) ? wrapped.prepare() : d1.prepare(sql)),
    } as never;
  });
  const request = new Request(BASE + business.usage, { headers: { Authorization: `Bearer ${business.key}` } });
  expect((await app.fetch(request, hanging, context)).status).toBe(200);
  await vi.advanceTimersByTimeAsync(DEADLINE_MS + 1000);
  expect(errors).toEqual([
    expect.objectContaining({ operation: 'mark_key_used', error: expect.stringContaining('no response within') }),
  ]);
});

test('the purge of a database that never responds stops after 30 seconds and logs a line', async () => {
  const lines: object[] = [];
  const hanging = {
    prepare: () => ({ bind: () => ({ run: never, all: never, raw: never }) }),
    batch: never,
  } as unknown as D1Database;
  const purge = purgeAll(
    { DB: hanging },
    {
      scheduled: new Date(),
      log: { error: (line) => lines.push(logged(line)) },
      cost: noCost(),
    },
  );
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await purge).toEqual({ failed: ['DB'], ids: 0 });
  const error = expect.stringContaining('no response within 30000 ms');
  expect(lines).toEqual([{ operation: 'purge', database: 'DB', error }]);
});
