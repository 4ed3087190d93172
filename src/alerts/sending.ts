// The alerts run (docs/alerts.md), once a minute: sends alerts to the receiver in signed messages, one alert in each. An alert can arrive
// twice, with the same id, because it is sent until the receiver's response shows that it was accepted.
import { drizzle } from 'drizzle-orm/d1';
import { type Binding, boundIn } from '../core/database.ts';
import { subrequestsWith } from '../core/schedule.ts';
import { DAY_MS, formatTimestamp, MINUTE_MS } from '../core/time.ts';
import type { Cost } from '../db/batch.ts';
import { metered } from '../db/meter.ts';
import type { Database } from '../db/schema.ts';
import { stackOf } from '../db/stack.ts';
import { withTimeout } from '../db/timeout.ts';
import type { Bindings, Clock, Log } from '../env.ts';
import { ALERTS_PER_CLAIM, type Claimed, claim, giveUp, type Outcome, settle } from './outbox.ts';
import {
  ADDRESS_RULE,
  isAddress,
  parseSecrets,
  retryTime,
  SECRET_RULE,
  type Secret,
  webhookHeaders,
} from './webhook.ts';

/** Service bindings ignore the hostname. */
const BINDING_ADDRESS = 'https://alerts/';
const RUN_MS = 25_000;
const MESSAGE_MS = 10_000;
const DATABASE_MS = 5_000;
/** A round starts only if this much of the run is left: enough for a slow receiver, if the database is not slow too. */
const ROUND_MS = MESSAGE_MS + 2_000;
/** Alerts are sent for at least this long while the receiver is down or rejects them. */
const GIVE_UP_DAYS = 3;
/**
 * Client errors that can be temporary. After one of them, the run sends nothing more: 401 (the secrets differ, RFC 9110 §15.5.2), 408 (a
 * timeout, RFC 9110 §15.5.9), 425 (too early, RFC 8470) and 429 (too many requests, RFC 6585 §4).
 */
const PASSING = [401, 408, 425, 429];
/** A round gives up old alerts and claims others. If there are any, it sends them and stores what became of them. */
const subrequestsOf = (claimed: number) => 2 + (claimed === 0 ? 0 : claimed + 1);
const MAX_PER_ROUND = subrequestsOf(ALERTS_PER_CLAIM);

type Receiver = { post: (init: RequestInit) => Promise<Response>; secrets: Secret[] };
type BoundDatabase = { binding: Binding; db: Database };
/** `scheduled` is when the run was due. The run adds its own cost to `cost`. `used` is how many subrequests the invocation made before it. */
type RunOptions = { clock: Clock; log: Pick<Log, 'error'>; scheduled: Date; cost: Cost; used?: number };
type Run = Pick<RunOptions, 'clock' | 'log'> & { receiver: Receiver; did: Did };
/**
 * The results of a run. `alerts` is how many the receiver accepted. `oldest` is the storage time of the oldest alert that the run tried to
 * send. `receiver_ms` is the receiver's longest response time.
 */
type Did = { alerts: number; oldest: string | null; receiver_ms: number };

/**
 * Sends due alerts, in rounds of one database each, until nothing is due or the invocation runs out of time or subrequests. A failure that
 * is not a rejection ends the run, so a receiver that is down does not use up the attempts of other alerts. A failing database does not
 * stop the others. Logs each failure. Returns the results and the databases that failed.
 */
export async function runAlerts(
  bindings: Bindings,
  { clock, log, scheduled, cost, used = 0 }: RunOptions,
): Promise<Did & { failed: Binding[] }> {
  const end = clock().getTime() + RUN_MS;
  const did: Did = { alerts: 0, oldest: null, receiver_ms: 0 };
  const failed: Binding[] = [];
  const receiver = receiverOf(bindings, log);
  if (receiver === null) return { failed, ...did };
  const bound = boundIn(bindings).map(
    ({ binding, d1 }): BoundDatabase => ({ binding, db: drizzle(metered(d1, cost)) }),
  );
  // Each run starts one database later than the previous run, because a run may not reach every database.
  const first = Math.floor(scheduled.getTime() / MINUTE_MS) % bound.length;
  const queue = [...bound.slice(first), ...bound.slice(0, first)];
  let left = subrequestsWith(bound.length) - used;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (left < MAX_PER_ROUND || clock().getTime() + ROUND_MS > end) break;
    const { binding } = next;
    try {
      const { claimed, goesOn } = await sendRound(next, { receiver, clock, log, did });
      left -= subrequestsOf(claimed);
      if (!goesOn) break;
      if (claimed === ALERTS_PER_CLAIM) queue.push(next);
    } catch (error) {
      left -= MAX_PER_ROUND;
      failed.push(binding);
      log.error({ operation: 'send_alerts', database: binding, error: stackOf(error) });
    }
  }
  return { failed, ...did };
}

/** Returns the receiver, or null if none is configured or its settings are invalid. Logs invalid settings without their values. */
function receiverOf({ ALERTS, ALERT_URL, ALERT_SECRET = '' }: Bindings, log: RunOptions['log']): Receiver | null {
  if (ALERTS === undefined && ALERT_URL === undefined && ALERT_SECRET === '') return null;
  const secrets = parseSecrets(ALERT_SECRET);
  const isAddressed = ALERTS !== undefined || isAddress(ALERT_URL ?? '');
  if (secrets === null || !isAddressed) {
    const missing = ALERT_SECRET === '' ? 'is missing. It ' : '';
    const error = isAddressed ? `ALERT_SECRET ${missing}${SECRET_RULE}` : `ALERT_URL ${ADDRESS_RULE}`;
    log.error({ operation: 'send_alerts', error });
    return null;
  }
  const post = (init: RequestInit) =>
    ALERTS === undefined ? fetch(ALERT_URL ?? '', init) : ALERTS.fetch(BINDING_ADDRESS, init);
  return { post, secrets };
}

/** Sends the alerts that a database claims, at the same time. Returns how many these were, and whether the run may go on. */
async function sendRound({ binding, db }: BoundDatabase, { receiver, clock, log, did }: Run) {
  const line = { operation: 'send_alerts', database: binding };
  const now = clock();
  const since = new Date(now.getTime() - GIVE_UP_DAYS * DAY_MS);
  const [given_up, claimed] = await withTimeout(db.batch([giveUp(db, now, since), claim(db, now)]), DATABASE_MS);
  for (const { id } of given_up)
    log.error({ ...line, alert_id: id, error: `gave up: it is older than ${GIVE_UP_DAYS} days` });
  let goesOn = true;
  const outcomes: Outcome[] = [];
  const sending = claimed.map(async (alert) => {
    const sent = clock();
    const failure = await trySend(receiver, alert, sent);
    const answered = clock();
    did.receiver_ms = Math.max(did.receiver_ms, answered.getTime() - sent.getTime());
    if (did.oldest === null || alert.at < did.oldest) did.oldest = alert.at;
    if (failure === null) {
      did.alerts += 1;
      outcomes.push({ id: alert.id, sent_at: formatTimestamp(answered), due_at: null });
      return;
    }
    const { retry_after, ...reason } = failure;
    const retryAt = retryTime(retry_after, answered);
    const due_at = retryAt && formatTimestamp(retryAt);
    log.error({ ...line, alert_id: alert.id, ...reason, ...(due_at && { retry_at: due_at }) });
    if (due_at) outcomes.push({ id: alert.id, sent_at: null, due_at });
    goesOn &&= rejects(failure);
  });
  await Promise.all(sending);
  if (outcomes.length > 0) await withTimeout(settle(db, outcomes).run(), DATABASE_MS);
  return { claimed: claimed.length, goesOn };
}

/** The reason that an alert was not accepted: the response, or the error if the receiver did not respond. */
type Failure = { status: number; retry_after: string | null } | { error: string; retry_after: null };
/** Returns whether the receiver rejected the alert, that is, whether the status is a client error that is not temporary. */
const rejects = (failure: Failure) =>
  'status' in failure && failure.status >= 400 && failure.status < 500 && !PASSING.includes(failure.status);

/** Sends an alert. Returns null after a 2xx response, otherwise the failure. */
async function trySend({ post, secrets }: Receiver, { id, body }: Claimed, now: Date): Promise<Failure | null> {
  const stop = new AbortController();
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'business-usage-access',
      ...(await webhookHeaders(secrets, id, body, now)),
    };
    // Treats redirects as failures: their targets are not validated.
    const request = { method: 'POST', headers, body, redirect: 'manual', signal: stop.signal } as const;
    const { ok, status, headers: answered, body: answer } = await withTimeout(post(request), MESSAGE_MS);
    answer?.cancel().catch(() => {}); // the body is not used
    return ok ? null : { status, retry_after: answered.get('retry-after') };
  } catch (error) {
    stop.abort();
    // The error can quote the receiver's URL, which may contain a secret.
    return { error: `the receiver: ${error}`.replace(/https?:\S*/gi, 'its address'), retry_after: null };
  }
}
