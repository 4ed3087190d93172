// Alerts are signed and sent to the receiver oldest first, and none is lost (docs/alerts.md). The tests pass the clock as an argument and
// act as the receiver.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runAlerts } from '../src/alerts.ts';
import { BINDINGS } from '../src/core/database.ts';
import { formatTimestamp } from '../src/core/time.ts';
import { noCost } from '../src/db/batch.ts';
import { endMessage, leaseNextMessage, type Message } from '../src/db/messages.ts';
import { metered } from '../src/db/meter.ts';
import { alerts, dailyUsage, messages, businesses as rows } from '../src/db/schema.ts';
import type { Bindings } from '../src/env.ts';
import { expectSent } from './contract.ts';
import { logged } from './log-lines.ts';
import {
  call,
  databases,
  type Home,
  homes,
  later,
  NOW,
  newBusiness,
  OPERATOR,
  STAMP,
  TODAY,
  withBatch,
} from './support.ts';

const SECRET = `whsec_${btoa('s'.repeat(32))}`;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const [home] = homes;

// A run sends the new alerts of every business, so each test starts without alerts.
beforeEach(async () => {
  for (const { db } of homes) await db.batch([db.delete(messages), db.delete(alerts), db.delete(dailyUsage)]);
});
afterEach(() => {
  vi.useRealTimers();
});

const businesses = new Map<Home, Awaited<ReturnType<typeof newBusiness>>>();
/** Returns a database's business for these tests. Creates the business on the first call. */
async function businessIn(home: Home) {
  for (let found = businesses.get(home); ; found = businesses.get(home)) {
    if (found !== undefined) return found;
    const made = await newBusiness();
    if (made.home === home) businesses.set(home, made);
  }
}

let limit = 0;
/** Stores alerts of one business, each for a different limit. Returns them in the format of a message. */
async function newAlerts(count: number, at = NOW, home_ = home) {
  const { id: business_id, user_id } = await businessIn(home_);
  const first = limit + 1;
  limit += count;
  const rows = `insert into alerts (business_id, period, starts_on, ends_on, "limit", threshold, used, at)
    with recursive n(i) as (select cast(?1 as integer) union all select i + 1 from n where i < cast(?2 as integer))
    select cast(?3 as integer), 'month', '2026-03-01', '2026-03-31', i, 80, i * 4 / 5, ?4 from n returning id, "limit", used, at`;
  type Row = { id: number; limit: number; used: number; at: string };
  const made = home_.d1.prepare(rows).bind(first, limit, business_id, formatTimestamp(at));
  const { results } = await made.all<Row>();
  const period = { period: 'month', starts_on: '2026-03-01', ends_on: '2026-03-31' };
  return results.map(({ id, limit, ...row }) => ({
    id,
    business_id,
    user_id,
    ...period,
    limit,
    threshold: 80,
    ...row,
  }));
}
type Alert = Awaited<ReturnType<typeof newAlerts>>[number];

type Sent = { id: string; headers: Record<string, string>; text: string; ids: number[] };
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
    async fetch(address: string, init: RequestInit) {
      const request = new Request(address, init);
      const text = await request.text();
      const headers = Object.fromEntries(request.headers);
      const body = new Webhook(SECRET).verify(text, headers) as { data: { alerts: Alert[] } };
      expectSent(headers, text);
      const got = { id: headers['webhook-id'] ?? '', headers, text, ids: body.data.alerts.map(({ id }) => id) };
      sent.push(got);
      return receiver.answer(request, got);
    },
  };
  return receiver;
}
type Receiver = ReturnType<typeof newReceiver>;
/** A receiver that never responds. `asked` resolves to the abort signal of the first request that it receives. */
function newSilentReceiver() {
  const asked = Promise.withResolvers<AbortSignal>();
  const receiver = newReceiver((request) => {
    asked.resolve(request.signal);
    return new Promise(() => {});
  });
  return { receiver, asked: asked.promise };
}

/** The arguments of a run that begins on time. */
const given = (clock: () => Date, lines: object[]) => ({
  clock,
  log: { error: (line: object) => lines.push(logged(line)) },
  scheduled: clock(),
  cost: noCost(),
});
/** Starts an alerts run at `at`. Returns the logged lines. */
async function run(receiver: Receiver | null, at = NOW, bindings: object = databases(), clock = () => at) {
  vi.useFakeTimers({ toFake: ['Date'], now: at }); // the Standard Webhooks library compares the message's timestamp with the clock
  const lines: object[] = [];
  const to = receiver === null ? {} : { ALERTS: receiver as unknown as Fetcher, ALERT_SECRET: SECRET };
  await runAlerts({ ...to, ...bindings } as Bindings, given(clock, lines));
  return lines;
}
/** Starts a run with fake timers, which the test advances. */
function begin(receiver: Receiver, bindings: object = databases(), clock = () => new Date()) {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: NOW });
  const lines: object[] = [];
  const all = { ...bindings, ALERTS: receiver, ALERT_SECRET: SECRET } as unknown as Bindings;
  return { lines, ran: runAlerts(all, given(clock, lines)) };
}
/** The line logged for an undelivered message. */
const notSent = (why: { status: number } | { error: string }) => ({
  ...{ operation: 'send_alerts', database: 'DB', message_id: isMessageId },
  ...why,
});
const stored = (home_ = home) => home_.db.select().from(messages).orderBy(messages.last_id);
const idsOf = (list: Alert[]) => list.map(({ id }) => id);
const isMessageId = expect.stringMatching(/^msg_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);

describe('a message', () => {
  test('contains the new alerts and is signed as Standard Webhooks specifies', async () => {
    const made = await newAlerts(2);
    const receiver = newReceiver();
    expect(await run(receiver)).toEqual([]);
    const [message] = receiver.sent;
    expect(receiver.sent).toEqual([
      {
        id: isMessageId,
        ids: idsOf(made),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'business-usage-access',
          'webhook-id': isMessageId,
          'webhook-timestamp': '1773576000',
          'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
        },
        text: JSON.stringify({ type: 'limits.reached', timestamp: STAMP, data: { alerts: made } }),
      },
    ]);
    expect(await stored()).toEqual([
      {
        last_id: made[1]?.id,
        id: message?.id,
        body: null,
        created_at: STAMP,
        leased_until: '2026-03-15T12:00:30.000000Z',
        retry_at: null,
        sent_at: STAMP,
      },
    ]);
    expect(await run(receiver, later(MINUTE_MS))).toEqual([]);
    expect(receiver.sent).toHaveLength(1);
  });

  test('is sent in a POST to the binding, which takes precedence over ALERT_URL', async () => {
    await newAlerts(1);
    const requests: string[] = [];
    const receiver = newReceiver(({ method, url, redirect }) => {
      requests.push(`${method} ${url}, redirect: ${redirect}`);
      return new Response();
    });
    expect(await run(receiver, NOW, { ...databases(), ALERT_URL: 'not an address' })).toEqual([]);
    expect(requests).toEqual(['POST https://alerts/, redirect: manual']);
  });

  test('contains at most 100 alerts, and the next message contains the alerts that follow', async () => {
    const made = await newAlerts(250);
    const receiver = newReceiver();
    expect(await run(receiver)).toEqual([]);
    const ids = idsOf(made);
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([ids.slice(0, 100), ids.slice(100, 200), ids.slice(200)]);
    expect(new Set(receiver.sent.map(({ id }) => id)).size).toBe(3);
    expect((await stored()).map(({ sent_at, body }) => [sent_at, body])).toEqual(Array(3).fill([STAMP, null]));
  });

  test('contains a limit of 2^53 − 1 without rounding', async () => {
    limit = Number.MAX_SAFE_INTEGER - 1;
    await newAlerts(1);
    limit = 0;
    const receiver = newReceiver();
    await run(receiver);
    expect(receiver.sent[0]?.text).toContain('"limit":9007199254740991,"threshold":80,');
  });

  test('is sent for each database with new alerts', async () => {
    const made = [];
    for (const home of homes) made.push(await newAlerts(1, NOW, home));
    const receiver = newReceiver();
    await run(receiver);
    expect(receiver.sent.flatMap(({ ids }) => ids).sort()).toEqual(made.flatMap(idsOf).sort());
  });
});

describe('without a receiver', () => {
  test('a run creates and sends no message and logs nothing', async () => {
    await newAlerts(1);
    expect(await run(null)).toEqual([]);
    expect(await stored()).toEqual([]);
  });

  const ADDRESS_LINE = {
    operation: 'send_alerts',
    error:
      'ALERT_URL must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2048 characters, without credentials, spaces or control characters',
  };
  const secretLine = (is: string) => ({
    operation: 'send_alerts',
    error: `ALERT_SECRET ${is}must be whsec_ followed by the base64 encoding of 24 to 64 random bytes`,
  });
  const [NO_SECRET_LINE, SECRET_LINE] = [secretLine('is missing. It '), secretLine('')];
  const ALERTS = newReceiver() as unknown as Fetcher;
  test.each([
    ['only a secret', { ALERT_SECRET: SECRET }, ADDRESS_LINE],
    ['only an invalid secret', { ALERT_SECRET: 'k3y' }, ADDRESS_LINE],
    ['an empty URL', { ALERT_URL: '', ALERT_SECRET: SECRET }, ADDRESS_LINE],
    ['an http URL', { ALERT_URL: 'http://hooks.example/k3y', ALERT_SECRET: SECRET }, ADDRESS_LINE],
    ['a URL and no secret', { ALERT_URL: 'https://hooks.example/k3y' }, NO_SECRET_LINE],
    ['a URL and an invalid secret', { ALERT_URL: 'https://hooks.example/', ALERT_SECRET: 'whsec_k3y' }, SECRET_LINE],
    ['a binding and no secret', { ALERTS }, NO_SECRET_LINE],
    ['a binding and an invalid secret', { ALERTS, ALERT_SECRET: 'k3y' }, SECRET_LINE],
    ['an invalid URL and an invalid secret', { ALERT_URL: 'k3y', ALERT_SECRET: 'k3y' }, ADDRESS_LINE],
  ])('but with %s, a run sends nothing and logs one line with the required format', async (_, settings, line) => {
    await newAlerts(1);
    const lines = await run(null, NOW, { ...databases(), ...settings });
    expect(lines).toEqual([line]);
    expect(JSON.stringify(lines)).not.toContain('k3y');
    expect(await stored()).toEqual([]);
  });
});

/** A response with an endless body. */
function endless(status: number, cancelled: () => void) {
  const body = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024)), cancel: cancelled });
  return new Response(body, { status });
}

describe('the receiver', () => {
  test.each([200, 201, 202, 204, 299])('accepts a message by responding with %i', async (status) => {
    await newAlerts(1);
    expect(await run(newReceiver(answers(status)))).toEqual([]);
    expect(await stored()).toMatchObject([{ body: null, sent_at: STAMP }]);
  });

  test.each([200, 500])(
    'can send an endless response body with status %i, and the service cancels the body',
    async (status) => {
      await newAlerts(1);
      let cancelled = false;
      const receiver = newReceiver(() => endless(status, () => (cancelled = true)));
      expect(await run(receiver)).toEqual(status === 200 ? [] : [notSent({ status })]);
      expect(cancelled, 'body cancelled').toBe(true);
    },
  );

  const elsewhere = { location: 'https://elsewhere.example/' };
  test.each([
    [300, {}],
    [301, elsewhere],
    [302, elsewhere],
    [304, {}],
    [307, elsewhere],
    [308, elsewhere],
    [401, {}],
    [408, {}],
    [425, {}],
    [429, { 'retry-after': '1' }],
    [500, {}],
    [503, {}],
  ])('gets the same message again from the next run if it responds with %i', async (status, headers) => {
    const made = await newAlerts(101);
    const receiver = newReceiver(answers(status, headers as Record<string, string>));
    const failed = [notSent({ status })];
    expect(await run(receiver)).toEqual(failed);
    expect(receiver.sent).toHaveLength(1);
    expect(await stored()).toMatchObject([{ body: receiver.sent[0]?.text, sent_at: null }]);
    expect(await run(receiver, later(MINUTE_MS))).toEqual(failed);
    receiver.answer = answers(200);
    expect(await run(receiver, later(2 * MINUTE_MS))).toEqual([]);
    const [first, second, third, last] = receiver.sent;
    expect(receiver.sent).toHaveLength(4);
    expect([second, third].map((again) => [again?.id, again?.text])).toEqual(Array(2).fill([first?.id, first?.text]));
    expect(third?.headers['webhook-timestamp']).toBe('1773576120');
    expect([first, last].flatMap((message) => message?.ids)).toEqual(idsOf(made));
    expect(last?.id).not.toBe(first?.id);
  });

  const REJECTIONS = [400, 403, 404, 409, 410, 413, 422, 451, 499];
  test.each(REJECTIONS)('gets a message again an hour after it rejects the message with %i', async (status) => {
    const made = await newAlerts(350);
    const isRejected = (text: string) => text.includes(`"id":${made[150]?.id},`);
    const receiver = newReceiver((_, { text }) => new Response(null, { status: isRejected(text) ? status : 200 }));
    const rejected = (hours: number) => [
      { ...notSent({ status }), retry_at: `2026-03-15T${12 + hours}:00:00.000000Z` },
    ];
    expect(await run(receiver)).toEqual(rejected(1));
    expect(receiver.sent.flatMap(({ ids }) => ids)).toEqual(idsOf(made)); // four messages, each sent once
    expect(await run(receiver, later(59 * MINUTE_MS))).toEqual([]);
    expect(receiver.sent).toHaveLength(4);
    const others = await newAlerts(1);
    expect(await run(receiver, later(60 * MINUTE_MS))).toEqual(rejected(2));
    // The rejected message is sent unchanged after the new one.
    expect(receiver.sent.slice(4).map(({ ids }) => ids)).toEqual([idsOf(others), receiver.sent[1]?.ids]);
    expect([receiver.sent[5]?.id, receiver.sent[5]?.text]).toEqual([receiver.sent[1]?.id, receiver.sent[1]?.text]);
    receiver.answer = answers(200);
    expect(await run(receiver, later(120 * MINUTE_MS))).toEqual([]);
    expect(receiver.sent).toHaveLength(7);
    expect((await stored()).map(({ body }) => body)).toEqual(Array(5).fill(null));
  });

  test('gets each message once an hour for three days if it rejects everything', {
    tags: 'slow',
  }, async () => {
    const made = await newAlerts(201);
    const receiver = newReceiver(answers(404));
    const given = [];
    for (let hour = 0; hour <= 73; hour++) {
      const lines = await run(receiver, later(hour * 60 * MINUTE_MS));
      given.push(...lines.filter((line) => 'error' in line));
    }
    expect(receiver.sent).toHaveLength(73 * 3);
    expect(given).toEqual(Array(3).fill(notSent({ error: 'gave up: its latest alert is older than 3 days' })));
    vi.useRealTimers();
    const { body } = await call('GET', '/api/v1/alerts?limit=1', { as: OPERATOR.full });
    expect(body.data.alerts[0]).toMatchObject({ id: made.at(-1)?.id, state: 'given_up', sent_at: null });
  });

  test('gets new messages before a rejected message, even if it responded to a retry of that message with 503', async () => {
    const [first] = await newAlerts(1);
    const receiver = newReceiver(answers(400));
    await run(receiver);
    receiver.answer = answers(503);
    expect(await run(receiver, later(HOUR_MS))).toEqual([
      { ...notSent({ status: 503 }), retry_at: '2026-03-15T14:00:00.000000Z' },
    ]);
    const [second] = await newAlerts(1);
    receiver.answer = answers(200);
    expect(await run(receiver, later(HOUR_MS + MINUTE_MS))).toEqual([]);
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([[first?.id], [first?.id], [second?.id]]);
  });

  test('gets a message again a minute after a request that throws, and the receiver’s URL is not logged', async () => {
    await newAlerts(1);
    const receiver = newReceiver(() => {
      throw new TypeError('Fetch API cannot load: https://user:k3y@hooks.example/k3y?token=k3y#k3y (reset)');
    });
    const lines = await run(receiver);
    const error = 'the receiver: TypeError: Fetch API cannot load: its address (reset)';
    expect(lines).toEqual([notSent({ error })]);
    receiver.answer = answers(200);
    await run(receiver, later(MINUTE_MS));
    expect(receiver.sent).toHaveLength(2);
    expect(receiver.sent[1]?.text).toBe(receiver.sent[0]?.text);
  });

  test('has ten seconds to respond', async () => {
    await newAlerts(101);
    const { receiver, asked } = newSilentReceiver();
    const { ran, lines } = begin(receiver);
    const signal = await asked;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await ran;
    expect(lines).toEqual([notSent({ error: 'the receiver: Error: no response within 10000 ms' })]);
    expect(signal.aborted).toBe(true);
    expect(receiver.sent).toHaveLength(1);
  });
});

describe('a run', () => {
  test('still allows the receiver ten seconds if a database is slow', async () => {
    await newAlerts(1);
    let ms = 0;
    const slow = withBatch(home.d1, (batch) => {
      ms += 14_000;
      return batch();
    });
    const { receiver, asked } = newSilentReceiver();
    const { ran, lines } = begin(receiver, { DB: slow }, () => later(ms));
    await asked;
    await vi.advanceTimersByTimeAsync(10_000);
    await ran;
    expect(lines).toMatchObject([{ error: 'the receiver: Error: no response within 10000 ms' }]);
  });

  test('sends no further message if fewer than 15 of its 25 seconds remain', async () => {
    const made = await newAlerts(500);
    let ms = 0;
    const receiver = newReceiver(() => {
      ms += 5_001;
      return new Response();
    });
    expect(await run(receiver, NOW, databases(), () => later(ms))).toEqual([]);
    expect(receiver.sent.map(({ ids }) => ids.length)).toEqual([100, 100]);
    expect(await stored()).toMatchObject([
      { body: null, sent_at: '2026-03-15T12:00:05.001000Z' },
      { body: null, sent_at: '2026-03-15T12:00:10.002000Z' },
    ]);
    expect(await run(receiver, later(MINUTE_MS))).toEqual([]);
    expect(receiver.sent.flatMap(({ ids }) => ids)).toEqual(idsOf(made));
  });

  test('does not send a message that another run is sending', async () => {
    const made = await newAlerts(150);
    const sending = Promise.withResolvers<Response>();
    const asked = Promise.withResolvers<void>();
    const receiver = newReceiver(() => {
      asked.resolve();
      return sending.promise;
    });
    const first = run(receiver);
    await asked.promise;
    expect(await run(receiver, later(29_999))).toEqual([]);
    expect(receiver.sent).toHaveLength(1);
    sending.resolve(new Response());
    expect(await first).toEqual([]);
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([idsOf(made).slice(0, 100), idsOf(made).slice(100)]);
  });

  test('sends each alert once, even if it overlaps with other runs', async () => {
    const made = await newAlerts(450);
    const receiver = newReceiver();
    const lines = await Promise.all([run(receiver), run(receiver), run(receiver)]);
    expect(lines).toEqual([[], [], []]);
    expect(receiver.sent.flatMap(({ ids }) => ids).sort((a, b) => a - b)).toEqual(idsOf(made));
  });

  test('that is killed before it sends its message leaves the message to a run 30 seconds later', async () => {
    await newAlerts(1);
    const taken = await leaseNextMessage(home.db, NOW, null);
    await newAlerts(1, later(1));
    const receiver = newReceiver();
    expect(await run(receiver, later(29_999))).toEqual([]);
    expect(receiver.sent).toEqual([]);
    expect(await run(receiver, later(30_000))).toEqual([]);
    expect(receiver.sent.map(({ id, text }) => ({ id, text }))).toEqual([
      { id: taken?.id, text: taken?.body },
      { id: isMessageId, text: expect.any(String) },
    ]);
  });

  test('that is killed after it sends its message leaves the message to a later run, which sends it again with the same id', async () => {
    const made = await newAlerts(1);
    const receiver = newReceiver();
    let batches = 0;
    const killed = withBatch(home.d1, (batch) =>
      batches++ === 0 ? batch() : Promise.reject(new Error('Network connection lost.')),
    );
    expect(await run(receiver, NOW, { DB: killed })).toEqual([
      { operation: 'send_alerts', database: 'DB', error: expect.stringMatching(/^Error: Network connection lost\.\n/) },
    ]);
    const newer = await newAlerts(1, later(1));
    expect(await run(receiver, later(MINUTE_MS))).toEqual([]);
    const [first, again, next] = receiver.sent;
    expect([again?.id, again?.text]).toEqual([first?.id, first?.text]);
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([idsOf(made), idsOf(made), idsOf(newer)]);
    expect(next?.id).not.toBe(first?.id);
  });

  test('does not change a message that a faster run has closed', async () => {
    await newAlerts(1);
    const message = (await leaseNextMessage(home.db, NOW, null)) as Message;
    await endMessage(home.db, { message, sentAt: NOW }).run();
    await endMessage(home.db, { message, sentAt: later(MINUTE_MS) }).run();
    await endMessage(home.db, { message, sentAt: null }).run();
    expect(await stored()).toMatchObject([{ body: null, sent_at: formatTimestamp(NOW) }]);
  });

  test('does not send new alerts while an older message is undelivered', async () => {
    const made = await newAlerts(1);
    const receiver = newReceiver(answers(500));
    await run(receiver);
    const newer = await newAlerts(1, later(1));
    await run(receiver, later(MINUTE_MS));
    receiver.answer = answers(200);
    await run(receiver, later(2 * MINUTE_MS));
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([...Array(3).fill(idsOf(made)), idsOf(newer)]);
  });

  test.each([
    ['fails', 'D1_ERROR: no such table: messages'],
    ['is unreachable', 'Network connection lost.'],
  ])('sends the other databases’ alerts if a database %s', async (_, message) => {
    const made = await newAlerts(1);
    const broken = withBatch(home.d1, () => Promise.reject(new Error(message)));
    const error = expect.stringContaining(message);
    for (const minute of [0, 1, 2]) {
      const receiver = newReceiver();
      const bindings = { DB: broken, DB_7: home.d1, DB_61: broken };
      const lines = await run(receiver, later(minute * MINUTE_MS), bindings);
      expect(lines).toHaveLength(2);
      for (const database of ['DB', 'DB_61'])
        expect(lines).toContainEqual({ operation: 'send_alerts', database, error });
      if (minute === 0) expect(receiver.sent.map(({ ids }) => ids)).toEqual([idsOf(made)]);
    }
  });

  test('reads at most 310 rows and writes four for a message of 100 alerts, whatever the number of waiting alerts', async () => {
    await newAlerts(1000);
    const cost = noCost();
    const d1 = metered(home.d1, cost);
    const message = await leaseNextMessage(drizzle(d1), NOW, null);
    await endMessage(drizzle(d1), { message: message as Message, sentAt: NOW }).run();
    expect(cost).toMatchObject({ round_trips: 2, rows_written: 4 });
    expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(310);
  });

  test('begins with a different database each minute, and stops if the receiver responds with 500', async () => {
    const asked: string[] = [];
    const noted = (database: string) =>
      withBatch(home.d1, (batch) => {
        asked.push(database);
        return batch();
      });
    const bindings = { DB: noted('DB'), DB_1: noted('DB_1'), DB_2: noted('DB_2') };
    const at = [0, 1, 2, 3].map((minute) => later(minute * MINUTE_MS));
    for (const time of at) await run(newReceiver(), time, bindings);
    expect(asked).toEqual([
      ...['DB', 'DB_1', 'DB_2', 'DB_1', 'DB_2', 'DB', 'DB_2', 'DB', 'DB_1', 'DB', 'DB_1', 'DB_2'],
    ]);
    asked.length = 0;
    await newAlerts(1);
    for (const time of at.slice(0, 2)) await run(newReceiver(answers(500)), time, bindings);
    expect(asked).toEqual(['DB', 'DB_1']);
  });

  test('reads at most 22 rows if there are no new alerts, whatever the number of sent messages', async () => {
    await newAlerts(300);
    await run(newReceiver());
    const cost = noCost();
    await run(newReceiver(), later(MINUTE_MS), { DB: metered(home.d1, cost) });
    expect(cost).toMatchObject({ round_trips: 2, rows_written: 0 });
    // The sweep reads 15 of these rows.
    expect(cost.rows_read, 'rows read').toBeLessThanOrEqual(22);
  });
});

describe('a sweep', () => {
  /** Creates a business at 80 % of its daily limit without an alert. Returns its id. */
  async function unnoticed(home_: Home) {
    let business = await newBusiness();
    while (business.home !== home_) business = await newBusiness();
    const { id, db } = business;
    const limits_at = formatTimestamp(NOW);
    await db.batch([
      db.update(rows).set({ daily_limit: 10, limits_at }).where(eq(rows.id, id)),
      db.insert(dailyUsage).values({ business_id: id, day: TODAY, count: 8 }),
    ]);
    return id;
  }
  const HOUR = Array.from({ length: 60 }, (_, minute) => minute);

  test('begins each run in every database, and the same run sends the alerts that the sweep stores', {
    tags: 'slow',
  }, async () => {
    const ids = await Promise.all(homes.map(unnoticed));
    const receiver = newReceiver();
    for (const minute of HOUR) expect(await run(receiver, later(minute * MINUTE_MS))).toEqual([]);
    const sent = receiver.sent.flatMap(({ text }) => JSON.parse(text).data.alerts as Alert[]);
    expect(sent.map(({ business_id, limit, used }) => ({ business_id, limit, used }))).toEqual(
      expect.arrayContaining(ids.map((business_id) => ({ business_id, limit: 10, used: 8 }))),
    );
    expect(sent).toHaveLength(ids.length);
    // Each alert is sent by the run that stored it.
    expect(receiver.sent.map(({ text }) => JSON.parse(text).timestamp)).toEqual(sent.map(({ at }) => at));
  });

  test('covers the minute for which its run was scheduled, even if the run is late', async () => {
    const id = await unnoticed(home);
    const scheduled = later((id % 60) * MINUTE_MS);
    const late = new Date(scheduled.getTime() + 90_000);
    const log = { error() {} };
    await runAlerts({ DB: home.d1 } as Bindings, { clock: () => late, log, scheduled, cost: noCost() });
    expect(await home.db.$count(alerts)).toBe(1);
  });

  test('stores alerts even without a receiver', async () => {
    await unnoticed(home);
    for (const minute of HOUR) await run(null, later(minute * MINUTE_MS));
    expect(await home.db.$count(alerts)).toBe(1);
    expect(await stored()).toEqual([]);
  });

  test('that fails is logged, and the run sweeps the other databases and sends all alerts', async () => {
    await unnoticed(home);
    const [made] = await newAlerts(1);
    const breaks = () => Promise.reject(new Error('D1_ERROR: broken'));
    const prepare = (sql: string) =>
      sql.startsWith('insert into "alerts"') ? { bind: () => ({ run: breaks }) } : home.d1.prepare(sql);
    const failing = withBatch(home.d1, (batch) => batch(), prepare);
    const receiver = newReceiver();
    const line = {
      operation: 'sweep_alerts',
      database: 'DB',
      error: expect.stringMatching(/^Error: D1_ERROR: broken\n/),
    };
    expect(await run(receiver, NOW, { DB: failing })).toEqual([line]);
    expect(receiver.sent.map(({ ids }) => ids)).toEqual([[made?.id]]);
    for (const minute of HOUR)
      expect(await run(receiver, later(minute * MINUTE_MS), { DB: failing, DB_1: home.d1 })).toEqual([line]);
    expect(receiver.sent.flatMap(({ ids }) => ids)).toHaveLength(2);
  });

  test('that hangs times out after five seconds, and the run sends the other databases’ alerts first', async () => {
    const made = await newAlerts(1);
    const asked = Promise.withResolvers<void>();
    const never = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const hanging = { prepare: () => ({ bind: () => ({ run: never }) }), batch: never };
    const receiver = newReceiver();
    // Without the hang, the run would send DB’s alerts first in this minute.
    const { ran, lines } = begin(receiver, { DB: hanging, DB_1: home.d1 });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(receiver.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitUntil(() => receiver.sent.length > 0);
    expect(receiver.sent).toMatchObject([{ ids: idsOf(made), headers: { 'webhook-timestamp': '1773576005' } }]);
    await vi.advanceTimersByTimeAsync(5_000);
    await ran;
    const error = expect.stringMatching(/^Error: no response within 5000 ms\n/);
    expect(lines).toEqual([
      { operation: 'sweep_alerts', database: 'DB', error },
      { operation: 'send_alerts', database: 'DB', error },
    ]);
  });
});

describe('if the receiver is down', () => {
  test('for a day, no alert is lost, and the next successful run sends all of them, oldest first', {
    tags: 'slow',
  }, async () => {
    const receiver = newReceiver(answers(503));
    const made: Alert[] = [];
    let lines = 0;
    // The runs are ten minutes apart instead of one, because simulating every run of a day would take seconds.
    for (let ms = 0; ms < DAY_MS; ms += 10 * MINUTE_MS) {
      made.push(...(await newAlerts(ms === 0 ? 1 : 2, later(ms))));
      lines += (await run(receiver, later(ms))).length;
    }
    expect(lines).toBe(144);
    expect(new Set(receiver.sent.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
    receiver.answer = answers(200);
    const [tried] = receiver.sent.splice(0);
    expect(await run(receiver, later(DAY_MS))).toEqual([]);
    expect(receiver.sent[0]?.id).toBe(tried?.id);
    expect(receiver.sent.map(({ ids }) => ids.length)).toEqual([1, 100, 100, 86]);
    expect(receiver.sent.flatMap(({ ids }) => ids)).toEqual(idsOf(made));
  });

  test('a message is retried until its newest alert is three days old, and is then given up with a log line', async () => {
    const [old] = await newAlerts(1);
    const receiver = newReceiver(answers(503));
    await run(receiver);
    const [, newer] = [await newAlerts(1, later(HOUR_MS)), await newAlerts(1, later(2 * DAY_MS))];
    receiver.sent.length = 0;
    expect(await run(receiver, later(3 * DAY_MS))).toMatchObject([{ status: 503 }]);
    const [last] = receiver.sent.splice(0);
    expect(last?.ids).toEqual([old?.id]);
    const error = 'gave up: its latest alert is older than 3 days';
    const givenUp = { operation: 'send_alerts', database: 'DB', message_id: last?.id, error };
    expect(await run(receiver, later(3 * DAY_MS + MINUTE_MS))).toEqual([
      givenUp,
      expect.objectContaining({ status: 503 }),
    ]);
    // A message is given up when its newest alert is too old. The newest alert in this message is a day old.
    expect(receiver.sent[0]?.ids).toHaveLength(2);
    expect(receiver.sent[0]?.ids).toContain(newer[0]?.id);
    receiver.answer = answers(200);
    expect(await run(receiver, later(5 * DAY_MS))).toEqual([]);
    expect((await stored()).map(({ id, body, sent_at }) => ({ id, body, sent_at }))).toEqual([
      { id: last?.id, body: null, sent_at: null },
      { id: receiver.sent[0]?.id, body: null, sent_at: '2026-03-20T12:00:00.000000Z' },
    ]);
  });

  test('for more than a week, a run gives up the messages that contain only expired alerts and sends the rest', async () => {
    await newAlerts(250);
    const made = await newAlerts(60, later(9 * DAY_MS));
    const receiver = newReceiver();
    const lines = await run(receiver, later(10 * DAY_MS));
    expect(lines).toHaveLength(2);
    expect(receiver.sent.flatMap(({ ids }) => ids).slice(-60)).toEqual(idsOf(made));
    expect((await stored()).map(({ sent_at }) => sent_at === null)).toEqual([true, true, false, false]);
  });
});

describe('an invocation that sends alerts', () => {
  /** Binds one database under `count` names, and counts the statements that it executes. */
  function under(count: number, cost: { statements: number; asked: Set<string> }) {
    type Bound = { bound: D1PreparedStatement };
    const asked = <R>(count: number, results: R) => {
      cost.statements += count;
      return results;
    };
    const bind = (bound: D1PreparedStatement) => ({ bound, run: () => asked(1, bound.run()) });
    const noted = (binding: string) => ({
      prepare: (sql: string) => ({ bind: (...values: unknown[]) => bind(home.d1.prepare(sql).bind(...values)) }),
      batch(all: Bound[]) {
        cost.asked.add(binding);
        return asked(all.length, home.d1.batch(all.map(({ bound }) => bound)));
      },
    });
    return Object.fromEntries(BINDINGS.slice(0, count).map((binding) => [binding, noted(binding)]));
  }

  test.each([
    [1, 50, 16],
    [3, 50, 15],
    [10, 50, 13],
    [11, 55, 14],
    [62, 310, 82],
  ])(
    'with %i databases executes at most %i statements and sends %i messages',
    { tags: 'slow' },
    async (count, most, expected) => {
      const made = await newAlerts(12_000);
      const cost = { statements: 0, asked: new Set<string>() };
      const receiver = newReceiver();
      expect(await run(receiver, NOW, under(count, cost))).toEqual([]);
      expect(cost.statements, 'statements').toBeLessThanOrEqual(most);
      expect(cost.statements, 'statements').toBeGreaterThan(most - 3);
      expect(receiver.sent).toHaveLength(expected);
      expect(cost.asked.size, 'databases').toBe(count);
      expect(receiver.sent.flatMap(({ ids }) => ids)).toEqual(idsOf(made).slice(0, 100 * receiver.sent.length));
      // Every sent message is closed.
      expect((await stored()).map(({ body }) => body)).toEqual(receiver.sent.map(() => null));
    },
  );
});
