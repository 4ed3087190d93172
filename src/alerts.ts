// The alerts run (docs/alerts.md), once a minute: stores missing alerts and sends new ones to the receiver in signed messages. A message
// can arrive twice, with the same id, because it is retried until the receiver's response shows that it was accepted.
import { drizzle } from 'drizzle-orm/d1';
import { BINDINGS, type Binding } from './core/database.ts';
import { DAY_MS, formatTimestamp, HOUR_MS, MINUTE_MS } from './core/time.ts';
import { ADDRESS_RULE, isAddress, parseSecret, SECRET_RULE, webhookHeaders } from './core/webhook.ts';
import { sweep } from './db/alerts.ts';
import type { Cost } from './db/batch.ts';
import {
  END_STATEMENTS,
  type EndedMessage,
  endMessage,
  LEASE_STATEMENTS,
  leaseNextMessage,
  type Message,
} from './db/messages.ts';
import { metered } from './db/meter.ts';
import type { Database } from './db/schema.ts';
import { stackOf } from './db/stack.ts';
import { withTimeout } from './db/timeout.ts';
import type { Bindings, Clock, Log } from './env.ts';

/** Service bindings ignore the hostname. */
const BINDING_ADDRESS = 'https://alerts/';
const RUN_MS = 25_000;
const MESSAGE_MS = 10_000;
const DATABASE_MS = 5_000;
/** Retries continue for at least this long while the receiver is down or rejects messages. */
const GIVE_UP_DAYS = 3;
/** Delay before a rejected message is sent again. */
const SET_ASIDE_MS = HOUR_MS;
/**
 * Client errors that can be temporary. After one of them, the next run retries the same message: 401 (the secrets differ, RFC 9110
 * §15.5.2), 408 (a timeout, RFC 9110 §15.5.9), 425 (too early, RFC 8470) and 429 (too many requests, RFC 6585 §4).
 */
const PASSING = [401, 408, 425, 429];
/** The free plan allows 50 statements per invocation. */
const MIN_STATEMENTS = 49; // the 50th stores the end of the run (schedule.ts)
const SWEEP_STATEMENTS = 1;
/** More than a database usually needs. With 10 or more databases, this raises the budget above MIN_STATEMENTS. */
const STATEMENTS_PER_DATABASE = 5;

type Receiver = { post: (init: RequestInit) => Promise<Response>; secret: Uint8Array<ArrayBuffer> };
type ErrorLog = Pick<Log, 'error'>;
type SweptDatabase = { binding: Binding; db: Database };
/** `scheduled` is when the run was due. The run adds its own cost to `cost`. */
type RunOptions = { clock: Clock; log: ErrorLog; scheduled: Date; cost: Cost };
/** `end` is the deadline, in milliseconds since 1970. `statements` is the remaining budget. */
type Run = { receiver: Receiver; clock: Clock; log: ErrorLog; end: number; statements: number; did: Did };
/**
 * The results of a run. `oldest` is the storage time of the oldest alert that the run tried to send. `receiver_ms` is the receiver's
 * longest response time.
 */
type Did = { messages: number; alerts: number; oldest: string | null; receiver_ms: number };

/**
 * Sweeps all databases, then sends each database's new alerts, oldest first, until the invocation runs out of time or statements. Sets
 * aside messages that the receiver rejects. Any other receiver failure ends the run, and the next run retries. A failing database does not
 * stop the others. Logs each failure. Returns the results and the databases that failed.
 */
export async function runAlerts(
  bindings: Bindings,
  { clock, log, scheduled, cost }: RunOptions,
): Promise<Did & { failed: Binding[] }> {
  const end = clock().getTime() + RUN_MS;
  const bound = BINDINGS.flatMap((binding) => {
    const d1 = bindings[binding];
    return d1 === undefined ? [] : [{ binding, db: drizzle(metered(d1, cost)) as Database }];
  });
  const failed = await sweepAll(bound, scheduled, log);
  const did: Did = { messages: 0, alerts: 0, oldest: null, receiver_ms: 0 };
  const receiver = receiverOf(bindings, log);
  if (receiver === null) return { failed: [...failed], ...did };
  // Each run starts one database later than the previous run, because a run may not reach every database. Databases whose sweep failed
  // come last.
  const first = Math.floor(scheduled.getTime() / MINUTE_MS) % bound.length;
  const rotated = [...bound.slice(first), ...bound.slice(0, first)];
  const databases = [
    ...rotated.filter(({ binding }) => !failed.has(binding)),
    ...rotated.filter(({ binding }) => failed.has(binding)),
  ];
  const statements = Math.max(MIN_STATEMENTS, STATEMENTS_PER_DATABASE * bound.length) - bound.length * SWEEP_STATEMENTS;
  const run = { receiver, clock, log, end, statements, did };
  for (const [index, database] of databases.entries()) {
    const others = databases.length - index - 1;
    try {
      if (!(await sendFrom(database, run, others * (LEASE_STATEMENTS + END_STATEMENTS)))) break;
    } catch (error) {
      failed.add(database.binding);
      log.error({ operation: 'send_alerts', database: database.binding, error: stackOf(error) });
    }
  }
  return { failed: [...failed], ...did };
}

/** Stores the missing alerts of all databases in parallel. Returns the databases that failed. */
async function sweepAll(databases: SweptDatabase[], now: Date, log: ErrorLog): Promise<Set<Binding>> {
  const failed = new Set<Binding>();
  const sweeps = databases.map(async ({ binding, db }) => {
    try {
      await withTimeout(sweep(db, now), DATABASE_MS);
    } catch (error) {
      failed.add(binding);
      log.error({ operation: 'sweep_alerts', database: binding, error: stackOf(error) });
    }
  });
  await Promise.all(sweeps);
  return failed;
}

/** Returns the receiver, or null if none is configured or its settings are invalid. Logs invalid settings without their values. */
function receiverOf({ ALERTS, ALERT_URL, ALERT_SECRET = '' }: Bindings, log: ErrorLog): Receiver | null {
  if (ALERTS === undefined && ALERT_URL === undefined && ALERT_SECRET === '') return null;
  const secret = parseSecret(ALERT_SECRET);
  const isAddressed = ALERTS !== undefined || isAddress(ALERT_URL ?? '');
  if (secret === null || !isAddressed) {
    const missing = ALERT_SECRET === '' ? 'is missing. It ' : '';
    const error = isAddressed ? `ALERT_SECRET ${missing}${SECRET_RULE}` : `ALERT_URL ${ADDRESS_RULE}`;
    log.error({ operation: 'send_alerts', error });
    return null;
  }
  const post = (init: RequestInit) =>
    ALERTS === undefined ? fetch(ALERT_URL ?? '', init) : ALERTS.fetch(BINDING_ADDRESS, init);
  return { post, secret };
}

/** Sends one database's new alerts, leaving `reserved` statements for the other databases. Returns whether the run may continue. */
async function sendFrom({ binding, db }: SweptDatabase, run: Run, reserved: number): Promise<boolean> {
  const { receiver, clock, log, end } = run;
  let ended: EndedMessage | null = null;
  let goesOn = true;
  while (goesOn) {
    const ending = ended === null ? 0 : END_STATEMENTS;
    // Leases a message only if there is time for a slow database and then a slow receiver.
    const isInTime = clock().getTime() + DATABASE_MS + MESSAGE_MS <= end;
    if (!isInTime || run.statements - reserved < ending + LEASE_STATEMENTS + END_STATEMENTS) break;
    run.statements -= ending + LEASE_STATEMENTS;
    const message: Message | null = await withTimeout(leaseNextMessage(db, clock(), ended), DATABASE_MS);
    if (message === null) return true;
    const line = { operation: 'send_alerts', database: binding, message_id: message.id };
    const now = clock();
    if (message.newest < formatTimestamp(new Date(now.getTime() - GIVE_UP_DAYS * DAY_MS))) {
      log.error({ ...line, error: `gave up: its latest alert is older than ${GIVE_UP_DAYS} days` });
      ended = { message, sentAt: null };
      continue;
    }
    if (run.did.oldest === null || message.oldest < run.did.oldest) run.did.oldest = message.oldest;
    const failure = await trySend(receiver, message, now);
    const answered = clock();
    run.did.receiver_ms = Math.max(run.did.receiver_ms, answered.getTime() - now.getTime());
    if (failure === null) {
      run.did.messages += 1;
      run.did.alerts += message.count;
      ended = { message, sentAt: answered };
      continue;
    }
    const isRejected = rejects(failure);
    // A message that was set aside before is set aside again after any failure. Otherwise, every run would try it first and then end.
    const retryAt: Date | null =
      isRejected || message.retry_at !== null ? new Date(answered.getTime() + SET_ASIDE_MS) : null;
    log.error({ ...line, ...failure, ...(retryAt && { retry_at: formatTimestamp(retryAt) }) });
    ended = retryAt && { message, retryAt };
    goesOn = isRejected;
  }
  if (ended !== null) {
    run.statements -= END_STATEMENTS;
    await withTimeout(endMessage(db, ended).run(), DATABASE_MS);
  }
  return goesOn;
}

/** The reason that a message was not accepted: the response status, or the error if the receiver did not respond. */
type Failure = { status?: number; error?: string };
/** Returns whether the receiver rejected the message, that is, whether the status is a client error that is not temporary. */
const rejects = ({ status = 0 }: Failure) => status >= 400 && status < 500 && !PASSING.includes(status);

/** Sends a message. Returns null after a 2xx response, otherwise the failure to log. */
async function trySend({ post, secret }: Receiver, { id, body }: Message, now: Date): Promise<Failure | null> {
  const stop = new AbortController();
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'business-usage-access',
      ...(await webhookHeaders(secret, id, body, now)),
    };
    // Treats redirects as failures: their targets are not validated.
    const request = { method: 'POST', headers, body, redirect: 'manual', signal: stop.signal } as const;
    const { ok, status, body: answer } = await withTimeout(post(request), MESSAGE_MS);
    answer?.cancel().catch(() => {}); // the body is not used
    return ok ? null : { status };
  } catch (error) {
    stop.abort();
    // The error can quote the receiver's URL, which may contain a secret.
    return { error: `the receiver: ${error}`.replace(/https?:\S*/gi, 'its address') };
  }
}
