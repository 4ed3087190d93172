// Kills the service and breaks the receiver, and checks that each alert still arrives in exactly one message and that requests do not wait
// for alerts.
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test, vi } from 'vitest';
import { createOperatorKey } from '../../src/cli/operator-keys.ts';
import { createBusiness } from '../ask.ts';
import { threeDatabases } from '../cli/support.ts';
import { withDatabases as withOpen } from '../node/local.ts';
import { freePort, type Service, startService, withDatabases } from '../node/server.ts';

const BUSINESSES = 1000;
const SENDERS = 20;
const LIMIT = 10;
const MEASURED_USES = 40;
const MAX_RATIO = 2;
const RUN_MS = 20_000;
/** The number of minutes within which the sweeps cover every business. */
const MINUTES = 15;
const LOST_ON_PURPOSE = 5;

/** The receiver's behavior. `slow` delays the response, and `silent` never sends it. */
type Behaviour = 'takes' | 'down' | 'slow' | 'silent' | 500 | 301 | 429;
/**
 * The step after which the service is killed. It is a response to a use (`response`), the last use before a run (`row`), or one of the
 * steps of sending a message.
 */
type Point = 'response' | 'row' | 'connection' | 'request' | 'answer';
const LIVES: { receiver: Behaviour; killedAt: Point }[] = [
  { receiver: 'down', killedAt: 'response' },
  { receiver: 500, killedAt: 'connection' },
  { receiver: 301, killedAt: 'request' },
  { receiver: 429, killedAt: 'answer' },
  { receiver: 'slow', killedAt: 'response' },
  { receiver: 'silent', killedAt: 'row' },
];

const ALERT_SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
const webhook = new Webhook(ALERT_SECRET);
type Alert = { id: number; business_id: number; at: string } & Record<string, unknown>;
type Received = { id: string; body: string; alerts: Alert[]; taken: boolean };

let behaviour: Behaviour = 'takes';
const received: Received[] = [];
const wrong: string[] = [];
const held: ServerResponse[] = [];
const inProgress = new Set<string>();
let reached = (_point: Point): void => {};

const listener: RequestListener = async (request, response) => {
  let body = '';
  try {
    for await (const part of request) body += part;
  } catch {
    return; // the service was killed while sending
  }
  const id = `${request.headers['webhook-id']}`;
  try {
    webhook.verify(body, request.headers as Record<string, string>);
  } catch (error) {
    wrong.push(`${id}: ${error}`);
  }
  if (request.method !== 'POST' || request.url !== '/hooks') wrong.push(`${request.method} ${request.url}`);
  if (inProgress.has(id)) wrong.push(`${id} is sent twice at the same time`);
  inProgress.add(id);
  response.on('close', () => inProgress.delete(id));
  response.setHeader('Connection', 'close'); // one connection per message, so the service can be killed after any of them
  const status = typeof behaviour === 'number' ? behaviour : 204;
  received.push({ id, body, alerts: JSON.parse(body).data.alerts, taken: status === 204 && behaviour !== 'silent' });
  reached('request');
  if (behaviour === 'slow' || behaviour === 'silent') return held.push(response);
  response.on('finish', () => reached('answer'));
  response.writeHead(status, status === 301 ? { Location: '/elsewhere' } : {}).end();
};
const receiver = createServer(listener).on('connection', () => reached('connection'));
const receiverPort = await freePort();

async function setBehaviour(to: Behaviour): Promise<void> {
  const wasDown = !receiver.listening;
  behaviour = to;
  if (to === 'down') {
    receiver.close();
    receiver.closeAllConnections();
  } else if (wasDown) {
    receiver.listen(receiverPort, '127.0.0.1');
    await once(receiver, 'listening');
  }
}

let service: Service | undefined;
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await service?.stop('SIGKILL'); // otherwise, the service would wait for the scheduled run to end
});

const { operator_key, secret } = await createOperatorKey('full', 'OPERATOR_KEY_1');
const secrets = { OPERATOR_KEY_1: secret, ALERT_SECRET, ALERT_URL: `http://127.0.0.1:${receiverPort}/hooks` };

/** Records a use and returns the status, or null if the service was killed before it responded. */
async function record(id: number, quantity: number, key: string): Promise<number | null> {
  const sent = fetch(`${service?.url}/api/v1/business/usage/${id}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${operator_key}`,
      'Idempotency-Key': key,
      'CF-Connecting-IP': `192.0.2.${id % 250}`, // a single address would exceed its rate limit
    },
    body: JSON.stringify({ quantity }),
  });
  return sent.then(
    ({ status }) => status,
    () => null,
  );
}

/** The median duration of sequential uses, in milliseconds. */
async function medianOfUses(id: number, name: string): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < MEASURED_USES; index++) {
    const start = performance.now();
    expect(await record(id, 1, `${name}-${index}`)).toBe(200);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[MEASURED_USES / 2] as number;
}

let minute = Math.floor(Date.now() / 60_000);
const runTimes: number[] = [];
/** Starts two overlapping runs of the next minute. A run that is killed does not respond. */
async function overlappingRuns(): Promise<void> {
  minute += 1;
  const schedule = new URLSearchParams({ cron: '* * * * *', time: `${minute * 60_000}` });
  const run = async () => {
    const start = performance.now();
    const answer = await fetch(`${service?.url}/cdn-cgi/handler/scheduled?${schedule}`).catch(() => null);
    if (answer === null) return;
    expect([answer.status, await answer.text().catch(() => 'ok')]).toEqual([200, 'ok']);
    runTimes.push(performance.now() - start);
  };
  await Promise.all([run(), run()]);
}

/** Runs a statement in all databases and returns its rows. No service may be running, because D1 locks its databases. */
function rowsIn(state: string, statement: string): Record<string, unknown>[] {
  const files = globSync(join(state, 'v3/d1/*/*.sqlite')).filter((file) => !file.endsWith('metadata.sqlite'));
  return files.flatMap((file) => {
    using database = new DatabaseSync(file);
    database.exec('pragma busy_timeout = 10000'); // a killed workerd releases its lock a moment later
    return database.prepare(statement).all();
  });
}
const COPIED =
  'name, main_domain, site, country_id, business_size, status, created_at, updated_at, monthly_limit, billing_day, limits_at';
/** Copies business ?1 for every ?2nd user after its owner, up to user ?3. */
const COPIES = `insert into businesses (id, user_id, token, ${COPIED})
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
  select id + i, user_id + i * ?2, printf('token-%030d', id + i), ${COPIED} from businesses, n where id = ?1 and user_id + i * ?2 <= ?3
  returning id, user_id`;
const WITHOUT_ROW = `select business_id as id from daily_usage join businesses on businesses.id = business_id
  where monthly_limit is not null and business_id not in (select business_id from alerts)`;
const UNCLAIMED = 'id > (select coalesce(max(last_id), 0) from messages)';

test('each of 1,000 alerts arrives in one message, even if the service is killed and the receiver fails', async () => {
  const { config, 'persist-to': state } = await threeDatabases();
  const fields = { main_domain: 'acme.example', site: 'https://acme.example', country_id: 1, business_size: 'small' };
  const [passing, unlimited] = await withOpen({ config, 'persist-to': state }, async ({ all }) => {
    const create = (home: (typeof all)[number], user_id: number, monthly_limit: number | null) =>
      createBusiness(home, { ...fields, monthly_limit, user_id, name: 'Acme' }, new Date());
    const made = all.map(async (home, number) => {
      const { id } = await create(home, 1 + number, LIMIT);
      const copied = await home.db.$client.prepare(COPIES).bind(id, all.length, BUSINESSES).all();
      return [{ id, user_id: 1 + number }, ...(copied.results as { id: number; user_id: number }[])];
    });
    return [(await Promise.all(made)).flat(), await create(all[0] as (typeof all)[number], BUSINESSES + 1, null)];
  });
  passing.sort((a, b) => a.user_id - b.user_id); // spreads each share over all databases
  const events = passing.map(({ id, user_id }, index) => {
    const used = index % 2 === 0 ? 8 : LIMIT;
    return { business_id: id, user_id, period: 'month', limit: LIMIT, threshold: used * 10, used };
  });

  const start = async () => {
    service = await startService(state, { config: withDatabases(3), secrets });
  };
  let killed: Promise<void> | undefined;
  const kill = () => {
    killed ??= service?.stop('SIGKILL');
  };
  const waiting = [...events];
  let unanswered = 0;
  /** Records the uses of `count` businesses. Uses without a response are retried after a restart. */
  async function pass(count: number, onResponse: (responses: number) => void = () => {}): Promise<void> {
    let responses = 0;
    const due = waiting.splice(0, count);
    const send = async () => {
      for (let event = due.shift(); event !== undefined; event = due.shift()) {
        const status = killed === undefined ? await record(event.business_id, event.used, 'passing') : null;
        if (status === 200) onResponse(++responses);
        else {
          expect([null, 500, 503]).toContain(status);
          waiting.push(event);
          unanswered += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  const lost = new Set<number>();
  const share = Math.floor(BUSINESSES / (2 * LIVES.length + 1));
  const compared: string[] = [];
  for (const { receiver: fault, killedAt } of LIVES) {
    await start();
    killed = undefined;
    await setBehaviour(fault);
    await pass(share);
    const before = received.length;
    const isHolding = fault === 'slow' || fault === 'silent';
    const alone = isHolding ? await medianOfUses(unlimited.id, `${fault}-alone`) : 0;
    const runs = overlappingRuns();
    if (isHolding) {
      await vi.waitUntil(() => held.length > 0, { timeout: RUN_MS });
      const ended = runTimes.length;
      const beside = await medianOfUses(unlimited.id, `${fault}-beside`);
      expect([runTimes.length, held.every(({ destroyed }) => !destroyed)]).toEqual([ended, true]);
      compared.push(`${fault}: ${alone.toFixed(1)} ms without a run, ${beside.toFixed(1)} ms during a run`);
      expect(beside / alone).toBeLessThan(MAX_RATIO);
      if (fault === 'slow') {
        await setBehaviour('takes');
        for (const response of held) response.writeHead(204).end();
      }
    }
    await runs;
    held.length = 0;
    // The two runs send messages of different databases, because the first run holds the lease on the first database's message.
    if (fault !== 'down') expect(received.length).toBeGreaterThanOrEqual(before + 2);
    await setBehaviour('takes');
    reached = (point) => point === killedAt && kill();
    const passed = pass(share, (responses) => responses === Math.floor(share / 2) && reached('response'));
    if (killedAt === 'row') {
      await passed;
      kill();
    } else await Promise.all([passed, overlappingRuns()]);
    expect(killed, `the service reaches the step ${killedAt}`).toBeDefined();
    await killed;
    await vi.waitUntil(() => inProgress.size === 0, { timeout: RUN_MS });
    reached = () => {};

    const unwritten = rowsIn(state, WITHOUT_ROW);
    for (const { id } of unwritten) lost.add(id as number);
    const unclaimed = rowsIn(state, `select id from alerts where ${UNCLAIMED}`);
    const open = rowsIn(state, 'select id from messages where body is not null');
    console.log(
      `killed at step ${killedAt}: ${unwritten.length} uses without an alert, ${unclaimed.length} alerts without a message, ${open.length} unfinished messages`,
    );
    // Leases use the real clock, but this test does not wait between runs. Scheduled runs are further apart than a lease lasts, so this
    // statement expires all leases.
    rowsIn(state, 'update messages set leased_until = created_at where body is not null');
  }

  // The kills lose a random number of alerts. This statement deletes some more alerts that are not yet in a message.
  const newest = `select id from alerts where ${UNCLAIMED} order by id desc limit ${LOST_ON_PURPOSE}`;
  const deleted = rowsIn(state, `delete from alerts where id in (${newest}) returning business_id as id`);
  expect(deleted).toHaveLength(3 * LOST_ON_PURPOSE);
  const lostByKills = lost.size;
  for (const { id } of deleted) lost.add(id as number);

  await start();
  killed = undefined;
  while (waiting.length > 0) await pass(waiting.length);
  const arrived = () =>
    new Set(received.flatMap(({ taken, alerts }) => (taken ? alerts : [])).map((alert) => alert.business_id));
  let runsBehind = 0;
  while (arrived().size < BUSINESSES && runsBehind < MINUTES) {
    await overlappingRuns();
    runsBehind += 1;
  }
  const sentBefore = received.length;
  await overlappingRuns();
  expect(received).toHaveLength(sentBefore);
  await service?.stop('SIGKILL');

  const byId = Map.groupBy(received, ({ id }) => id);
  for (const copies of byId.values()) expect(new Set(copies.map(({ body }) => body)).size).toBe(1);
  const taken = [...byId.values()].filter((copies) => copies.some((message) => message.taken));
  expect(taken).toHaveLength(byId.size);
  const alerts = taken.flatMap(([first]) => first?.alerts ?? []);
  const byBusiness = (a: { business_id: number }, b: { business_id: number }) => a.business_id - b.business_id;
  const eventsSent = alerts.map(({ id, at, starts_on, ends_on, ...event }) => event as (typeof events)[number]);
  expect(eventsSent.sort(byBusiness)).toEqual(events.sort(byBusiness));
  expect(wrong).toEqual([]);
  expect(rowsIn(state, 'select id from messages where body is not null or sent_at is null')).toEqual([]);
  for (const ms of runTimes) expect(ms).toBeLessThan(RUN_MS);

  // The timestamp of a sweep's alert is the full minute for which its run was scheduled.
  const found = alerts.filter(({ at }) => at.endsWith(':00.000000Z')).map(({ business_id }) => business_id);
  expect(found).toEqual(expect.arrayContaining([...lost]));
  console.log(`sweeps found ${found.length} alerts: ${lostByKills} lost by kills, ${deleted.length} lost on purpose
${unanswered} uses without a response were retried; ${byId.size} messages were sent ${received.length} times
the last alert arrived ${runsBehind} minutes after the last kill; the longest run took ${Math.round(Math.max(...runTimes))} ms
${compared.join('; ')}`);
}, 300_000);
