// Databases whose clocks differ, and work without a caller, do not exceed their deadlines either (docs/operating.md, "Outages"). The
// simulator (test/sim) checks the deadlines of requests.
import { createExecutionContext } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noCost } from '../src/db/batch.ts';
import { purgeAll } from '../src/purge.ts';
import { logged } from './log-lines.ts';
import { type AnyRoute, NOT_REPEATABLE, ROUTES } from './routes.ts';
import {
  BASE,
  type Business,
  callerOf,
  countsByDay,
  databases,
  eachOf,
  newApp,
  newBusiness,
  OPERATOR_SECRETS,
  withBatch,
} from './support.ts';

const DEADLINE_MS = 10_000;
const TOKEN_DEADLINE_MS = 3000;
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

/** Returns the response once the deadline has passed. */
async function answerAtDeadline(request: Request, bindings: ReturnType<typeof databases>, ms = DEADLINE_MS) {
  const answered = newApp().app.fetch(request, { ...OPERATOR_SECRETS, ...bindings }, createExecutionContext());
  await vi.advanceTimersByTimeAsync(ms);
  const response = await answered;
  return { status: response.status, text: await response.text() };
}

eachOf(
  test,
  ROUTES.filter(({ method }) => method !== 'GET'),
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
    expect(await answerAtDeadline(await requestOf(route, business), slow)).toEqual(expected);
  },
);

test.each([
  ['with an id, which can retry', { 'Idempotency-Key': 'visit-1' }, unavailable],
  ['without an id, which cannot', {}, broken],
])(
  'a page %s, learns after three seconds that its database does not respond, and no batch counts its use later',
  async (_, headers, expected) => {
    const business = await newBusiness();
    vi.setSystemTime(Date.now() - TOKEN_DEADLINE_MS); // by the database's clock, the deadline has passed
    let late = async (): Promise<unknown> => null;
    const silent = through((batch) => {
      late = batch;
      return never();
    });
    const init = { method: 'POST', headers: { ...headers, Authorization: `Bearer ${business.token}` } };
    expect(await answerAtDeadline(new Request(BASE + business.usage, init), silent, TOKEN_DEADLINE_MS)).toEqual(
      expected,
    );
    await late();
    expect(await countsByDay(business)).toEqual({});
  },
);

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
    expect.objectContaining({ operation: 'mark_used', error: expect.stringContaining('no response within') }),
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
