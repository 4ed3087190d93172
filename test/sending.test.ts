// How alerts are signed and sent to the receiver, one in each message, and when again (docs/alerts.md). The tests pass the clock as an
// argument and act as the receiver. The simulator (test/sim) checks that none is lost.
import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runAlerts } from '../src/alerts/sending.ts';
import { BINDINGS } from '../src/core/database.ts';
import { SCHEDULES } from '../src/core/schedule.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { noCost } from '../src/db/batch.ts';
import { metered } from '../src/db/meter.ts';
import { alerts, businesses } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { runScheduled } from '../src/schedule.ts';
import { expectSent } from './contract.ts';
import { logged } from './log-lines.ts';
import { type Business, databases, type Home, homes, later, NOW, newBusiness, STAMP } from './support.ts';

const secretOf = (letter: string) => `whsec_${btoa(letter.repeat(32))}`;
const [SECRET, NEXT] = [secretOf('s'), secretOf('n')];
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const [home] = homes;

// A run sends the alerts of every business, so each test starts without alerts.
beforeEach(async () => {
  for (const { db } of homes) await db.delete(alerts);
});
afterEach(() => {
  vi.useRealTimers();
});

const owners = new Map<Home, Business>();
/** Returns a database's business for these tests. Creates the business on the first call. */
async function businessIn(home: Home) {
  for (let found = owners.get(home); ; found = owners.get(home)) {
    if (found !== undefined) return found;
    const made = await newBusiness();
    owners.set(made.home, made);
  }
}
let limit = 0;
/** Stores due alerts of one business, each for a different limit. Returns their ids. */
async function newEvents(count: number, at = NOW, home_ = home): Promise<string[]> {
  const { id: business_id } = await businessIn(home_);
  const month = { period: 'month' as const, starts_on: '2026-03-01', ends_on: '2026-03-31', threshold: 80, used: 8 };
  const stamp = formatTimestamp(at);
  const rows = Array.from({ length: count }, () => {
    limit += 1;
    return { id: crypto.randomUUID(), business_id, ...month, limit, at: stamp, due_at: stamp };
  });
  for (let start = 0; start < count; start += 9) await home_.db.insert(alerts).values(rows.slice(start, start + 9));
  return rows.map(({ id }) => id);
}
const stored = async (id: string | undefined, { db } = home) => {
  const [row] = await db
    .select()
    .from(alerts)
    .where(eq(alerts.id, `${id}`));
  return row && { due_at: row.due_at, attempts: row.attempts, sent_at: row.sent_at };
};

type Sent = { id: string; headers: Record<string, string>; text: string };
type Answer = (request: Request, sent: Sent) => Response | Promise<Response>;
const answers =
  (status: number, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(null, { status, headers });
/** A receiver that verifies and collects messages. */
function newReceiver(answer: Answer = answers(204)) {
  const sent: Sent[] = [];
  const receiver = {
    answer,
    sent,
    ids: () => sent.map(({ id }) => id),
    async fetch(address: string, init: RequestInit) {
      const request = new Request(address, init);
      const text = await request.text();
      const headers = Object.fromEntries(request.headers);
      const { data } = new Webhook(SECRET).verify(text, headers) as { data: { id: string } };
      expectSent(headers, text);
      expect(headers['webhook-id']).toBe(data.id);
      const got = { id: data.id, headers, text };
      sent.push(got);
      return receiver.answer(request, got);
    },
  };
  return receiver;
}
type Receiver = ReturnType<typeof newReceiver>;

/** Starts a run at `at`. Returns the logged lines and what the run did. */
async function run(receiver: Receiver | null, at = NOW, bindings: object = databases(), clock = () => at) {
  vi.useFakeTimers({ toFake: ['Date'], now: at }); // the Standard Webhooks library compares the message's timestamp with the clock
  const lines: object[] = [];
  const cost = noCost();
  const to = receiver === null ? {} : { ALERTS: receiver as unknown as Fetcher, ALERT_SECRET: SECRET };
  const log = { error: (line: object) => lines.push(logged(line)) };
  const did = await runAlerts({ ...to, ...bindings } as Bindings, { clock, log, scheduled: clock(), cost });
  return { lines, did, cost };
}
const lineOf = (alert_id: unknown, why: object) => ({ operation: 'send_alerts', database: 'DB', alert_id, ...why });

test('receiver_ms is the time that the receiver took, without that of the database', async () => {
  await newEvents(1);
  let asked = 0; // each look at the clock finds it a second later
  const { did } = await run(newReceiver(), NOW, databases(), () => later(1000 * asked++));
  expect(did.receiver_ms).toBe(1000);
});

test('a message contains one alert with its current owner, and is signed with both secrets as Standard Webhooks specifies', async () => {
  const [id] = await newEvents(1);
  const { id: business_id } = await businessIn(home);
  await home.db.update(businesses).set({ user_id: 77_000 }).where(eq(businesses.id, business_id));
  owners.clear();
  const requests: string[] = [];
  const receiver = newReceiver(({ method, url, redirect }) => {
    requests.push(`${method} ${url}, redirect: ${redirect}`);
    return new Response();
  });
  // The binding takes precedence over ALERT_URL.
  const settings = { ...databases(), ALERT_SECRET: `${SECRET} ${NEXT}`, ALERT_URL: 'not an address' };
  const { lines, did } = await run(receiver, later(30_000), settings);
  expect({ lines, did }).toEqual({ lines: [], did: { alerts: 1, oldest: STAMP, receiver_ms: 0, failed: [] } });
  expect(requests).toEqual(['POST https://alerts/, redirect: manual']);
  const [{ text, headers }] = receiver.sent as [Sent];
  const period = { period: 'month', starts_on: '2026-03-01', ends_on: '2026-03-31', limit };
  const data = { id, business_id, user_id: 77_000, ...period, threshold: 80, used: 8, at: STAMP };
  expect(JSON.parse(text)).toEqual({ type: 'limit.reached', timestamp: STAMP, data });
  expect(headers).toEqual({
    'content-type': 'application/json',
    'user-agent': 'business-usage-access',
    'webhook-id': id,
    'webhook-timestamp': '1773576030',
    'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/),
  });
  for (const secret of [SECRET, NEXT]) expect(() => new Webhook(secret).verify(text, headers)).not.toThrow();
  expect(() => new Webhook(secretOf('x')).verify(text, headers)).toThrow();
  expect(await stored(id)).toEqual({ due_at: null, attempts: 1, sent_at: '2026-03-15T12:00:30.000000Z' });
});

describe('without a receiver', () => {
  const ADDRESS =
    'ALERT_URL must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2048 characters, without credentials, spaces or control characters';
  const secret = (is: string) =>
    `ALERT_SECRET ${is}must be whsec_ followed by the base64 encoding of 24 to 64 random bytes, or two such secrets separated by a space`;
  const ALERTS = newReceiver() as unknown as Fetcher;
  test.each<[string, object, string | null]>([
    ['no settings', {}, null],
    ['only a secret', { ALERT_SECRET: SECRET }, ADDRESS],
    ['an http URL', { ALERT_URL: 'http://hooks.example/k3y', ALERT_SECRET: SECRET }, ADDRESS],
    ['a URL and an invalid secret', { ALERT_URL: 'https://hooks.example/', ALERT_SECRET: 'whsec_k3y' }, secret('')],
    ['a binding and no secret', { ALERTS }, secret('is missing. It ')],
  ])('but with %s, a run sends nothing, claims nothing, and logs the required format', async (_, settings, error) => {
    const [id] = await newEvents(1);
    const { lines, cost } = await run(null, NOW, { ...databases(), ...settings });
    expect(lines).toEqual(error === null ? [] : [{ operation: 'send_alerts', error }]);
    expect(JSON.stringify(lines)).not.toContain('k3y');
    expect(cost).toEqual(noCost());
    expect(await stored(id)).toEqual({ due_at: STAMP, attempts: 0, sent_at: null });
  });
});

describe('the receiver', () => {
  test.each([200, 500])('can send an endless body with status %i, which the service cancels', async (status) => {
    await newEvents(1);
    let cancelled = false;
    const cancel = () => (cancelled = true);
    const pull = (stream: ReadableStreamDefaultController) => stream.enqueue(new Uint8Array(1024));
    await run(newReceiver(() => new Response(new ReadableStream({ pull, cancel: () => void cancel() }), { status })));
    expect(cancelled, 'body cancelled').toBe(true);
  });

  // After a rejection, the run goes on. After any other failure, it claims no more alerts.
  test.each([
    ...[301, 302, 307, 304, 401, 408, 425, 429, 500, 503].map((status) => [status, 6]),
    ...[400, 403, 404, 410, 413, 422, 499].map((status) => [status, 7]),
  ] as [number, number][])('that responds to one of 7 alerts with %i gets %i', async (status, sent) => {
    const [id] = await newEvents(7);
    const location = { location: 'https://elsewhere.example/' };
    const receiver = newReceiver(
      (_, alert) => new Response(null, alert.id === id ? { status, headers: location } : {}),
    );
    expect((await run(receiver)).lines).toEqual([lineOf(id, { status })]);
    expect(receiver.sent).toHaveLength(sent);
  });

  test('that rejects an alert gets it again, with the same id and body, after 1, 2, 4 … minutes', async () => {
    const [id] = await newEvents(1);
    const receiver = newReceiver(answers(404));
    await run(receiver);
    for (const [minute, attempts] of [
      [1, 2],
      [2, 2],
      [3, 3],
      [6, 3],
      [7, 4],
      [14, 4],
      [15, 5],
      [31, 6],
      [63, 7],
      [122, 7],
      [123, 8],
      [183, 9],
    ] as const) {
      await run(receiver, later(minute * MINUTE_MS));
      expect((await stored(id))?.attempts, `after ${minute} minutes`).toBe(attempts);
    }
    expect(new Set(receiver.sent.map(({ text }) => text)).size).toBe(1);
  });

  test.each([
    ['90', '2026-03-15T12:01:30.000000Z'],
    ['Sun, 15 Mar 2026 13:00:00 GMT', '2026-03-15T13:00:00.000000Z'],
    ['9999999', '2026-03-16T12:00:00.000000Z'], // at most a day
    ['Sun, 15 Mar 2099 13:00:00 GMT', '2026-03-16T12:00:00.000000Z'],
    ['0', '2026-03-15T12:01:00.000000Z'], // not earlier than without it
    ['soon', undefined],
  ])('that responds with Retry-After: %s gets the alert then', async (value, due_at) => {
    for (const status of [429, 404]) {
      const [id] = await newEvents(1);
      const { lines } = await run(newReceiver(answers(status, { 'retry-after': value })));
      const retry_at = value === '0' ? STAMP : due_at;
      expect(lines).toEqual([lineOf(id, { status, ...(retry_at && { retry_at }) })]);
      expect(await stored(id)).toEqual({ due_at: due_at ?? '2026-03-15T12:01:00.000000Z', attempts: 1, sent_at: null });
      await home.db.delete(alerts);
    }
  });

  test('that throws gets the alert again, and its URL is not logged', async () => {
    const [id] = await newEvents(1);
    const receiver = newReceiver(() => {
      throw new TypeError('Fetch API cannot load: https://user:k3y@hooks.example/k3y?token=k3y#k3y (reset)');
    });
    const error = 'the receiver: TypeError: Fetch API cannot load: its address (reset)';
    expect((await run(receiver)).lines).toEqual([lineOf(id, { error })]);
    receiver.answer = answers(200);
    await run(receiver, later(MINUTE_MS));
    expect(receiver.ids()).toEqual([id, id]);
  });

  test('has ten seconds to respond', async () => {
    const [id] = await newEvents(1);
    const asked = Promise.withResolvers<AbortSignal>();
    const receiver = newReceiver((request) => {
      asked.resolve(request.signal);
      return new Promise(() => {});
    });
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: NOW });
    const lines: object[] = [];
    const log = { error: (line: object) => lines.push(logged(line)) };
    const all = { ...databases(), ALERTS: receiver, ALERT_SECRET: SECRET } as unknown as Bindings;
    const ran = runAlerts(all, { clock: () => new Date(), log, scheduled: NOW, cost: noCost() });
    const signal = await asked.promise;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ran).toEqual({ alerts: 0, oldest: STAMP, receiver_ms: 10_000, failed: [] });
    expect(lines).toEqual([lineOf(id, { error: 'the receiver: Error: no response within 10000 ms' })]);
    expect(signal.aborted).toBe(true);
  });

  test('that is down for three days gets no alert that is older, and each of these is logged as given up', async () => {
    const [first] = await newEvents(1);
    const receiver = newReceiver(answers(503));
    for (const minutes of [0, 60, 2 * 24 * 60]) await run(receiver, later(minutes * MINUTE_MS));
    const old = await newEvents(20, later(1));
    const [fresh] = await newEvents(1, later(2 * DAY_MS));
    receiver.answer = answers(204);
    const before = receiver.sent.length;
    const { lines, did } = await run(receiver, later(3 * DAY_MS + 2));
    const given_up = lineOf(expect.any(String), { error: 'gave up: it is older than 3 days' });
    expect(lines).toEqual([first, ...old].map(() => given_up));
    expect([receiver.ids().slice(before), did.alerts]).toEqual([[fresh], 1]);
    expect(await stored(first)).toEqual({ due_at: null, attempts: 3, sent_at: null });
    expect((await run(receiver, later(4 * DAY_MS))).lines).toEqual([]);
  });
});

describe('a run', () => {
  test('claims nothing later than 12 seconds before its end', async () => {
    await newEvents(12);
    let seconds = 0;
    const receiver = newReceiver(() => {
      seconds = 13.001;
      return new Response();
    });
    await run(receiver, NOW, { DB: home.d1 }, () => later(seconds * 1000));
    expect(receiver.sent).toHaveLength(6);
  });

  test('begins with another database each minute', async () => {
    const made = await Promise.all(homes.map((home) => newEvents(1, NOW, home)));
    const order: (string | undefined)[] = [];
    for (const minute of homes.keys()) {
      const receiver = newReceiver(answers(500));
      await run(receiver, later((60 + minute) * MINUTE_MS));
      order.push(...receiver.ids());
      for (const { db } of homes) await db.update(alerts).set({ due_at: STAMP });
    }
    expect(order.toSorted()).toEqual(made.flat().toSorted());
  });

  test.each([
    [1, 50, 30],
    [3, 50, 24],
    [10, 50, 24],
    [11, 1000, 642],
    [62, 1000, 540],
  ])(
    'with %i databases makes at most %i subrequests, folds what is due and sends %i of many alerts',
    { tags: 'slow' },
    async (count, most, alerts) => {
      await newEvents(700);
      let subrequests = 0;
      type Bound = { bound: D1PreparedStatement };
      const counted = {
        prepare: (sql: string) => ({
          bind(...values: unknown[]) {
            const bound = home.d1.prepare(sql).bind(...values);
            const one =
              <R>(run: () => R) =>
              () => {
                subrequests += 1;
                return run();
              };
            return { bound, run: one(() => bound.run()), all: one(() => bound.all()) };
          },
        }),
        batch(all: Bound[]) {
          subrequests += all.length;
          return home.d1.batch(all.map(({ bound }) => bound));
        },
      };
      const receiver = newReceiver(() => {
        subrequests += 1;
        return new Response();
      });
      const bindings = Object.fromEntries(BINDINGS.slice(0, count).map((binding) => [binding, counted]));
      vi.useFakeTimers({ toFake: ['Date'], now: NOW });
      const lines: object[] = [];
      const log = { log() {}, error: (line: object) => lines.push(line) };
      const all = { ...bindings, ALERTS: receiver as unknown as Fetcher, ALERT_SECRET: SECRET } as unknown as Bindings;
      await runScheduled({ cron: SCHEDULES.alerts, scheduledTime: NOW.getTime() }, all, () => NOW, log);
      expect(lines).toEqual([]);
      expect(subrequests).toBeLessThanOrEqual(most);
      expect(receiver.sent).toHaveLength(alerts);
    },
  );

  test('reads few rows, whatever the number of alerts that were sent', async () => {
    const costOf = async (count: number) => {
      await newEvents(count);
      const cost = noCost();
      expect((await run(newReceiver(), later(MINUTE_MS), { DB: metered(home.d1, cost) })).lines).toEqual([]);
      return cost;
    };
    const idle = { round_trips: 1, rows_read: 8, rows_written: 0 };
    expect(await costOf(0)).toMatchObject(idle);
    expect(await costOf(1)).toMatchObject({ round_trips: 2, rows_read: 13, rows_written: 3 });
    await newEvents(200);
    await home.db.update(alerts).set({ due_at: null, sent_at: STAMP });
    expect(await costOf(0)).toMatchObject(idle);
    // Six alerts, and a second round that finds nothing.
    expect(await costOf(6)).toMatchObject({ round_trips: 3, rows_read: 71, rows_written: 18 });
  });
});
