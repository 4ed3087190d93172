// Queries a database for a call, and converts its refusal or failure to an error. After the response, stores what no caller should wait for.
import type { Context } from 'hono';
import { bindingOf } from '../core/database.ts';
import { isInvalidity, isRepeatable } from '../core/policy.ts';
import { isRegistrable } from '../core/site.ts';
import { dayOf } from '../core/time.ts';
import { isSpent } from '../core/work.ts';
import { type Ask, runBatch } from '../db/batch.ts';
import type { Call } from '../db/call.ts';
import { parseJson } from '../db/json.ts';
import { type FormerUse, isNewUse, markFormerToken, markKey } from '../db/last-use.ts';
import { OPEN, type Verdict } from '../db/permission.ts';
import { TimedOut, withTimeout } from '../db/timeout.ts';
import type { Bindings, Guarded } from '../env.ts';
import { recordLimitRefusal } from '../limits/refusals.ts';
import { recordOrigin } from '../origins/seen-origins.ts';
import { afterResponse } from './after-response.ts';
import { AllowanceSpent, batchError, refusedCall, Unauthenticated, unavailable } from './errors.ts';
import { mayStoreOrigin } from './rate-limits.ts';

/** Creates a call's `ask` for one database. Sets `isPermitted` when the database permits the call. */
export function newAsk(c: Context<Guarded>, call: Call, number: number): Ask {
  const callIsRepeatable = isRepeatable(call.rule, c.req.header('Idempotency-Key') !== undefined);
  const databaseClock = c.get('databaseClock');
  return async (read, steps, stepsAreRepeatable = steps === undefined) => {
    const d1 = boundDatabase(c.env, number);
    const logEntry = c.get('logEntry');
    logEntry.database = bindingOf(number);
    const batchIsRepeatable = callIsRepeatable || stepsAreRepeatable;
    const sent = databaseClock().getTime();
    const batch = runBatch(d1, call, read, steps, logEntry.d1).finally(() => {
      logEntry.d1.ms += databaseClock().getTime() - sent;
    });
    const { row, rows, bytes } = await withTimeout(batch, call.deadline - sent).catch((cause: unknown) => {
      throw batchError(cause, batchIsRepeatable);
    });
    if (row === undefined) throw new Unauthenticated(call.credential.kind === 'code' ? 'unknown_code' : 'unknown');
    const { refusal, time_left } = row;
    if (refusal !== null && refusal !== OPEN) throw refused(c, d1, call, { ...row, refusal });
    c.set('isPermitted', true);
    if (time_left <= 0) throw unavailable(new Error('the batch started after its deadline and did nothing'));
    // A step may still have run into the deadline if the database's clock is ahead of ours.
    if (steps !== undefined && time_left * 1000 <= databaseClock().getTime() - sent) {
      const late = new TimedOut('no response before the deadline, by the clock of the database');
      throw batchError(late, batchIsRepeatable);
    }
    rememberCall(c, d1, call, row);
    return { ...rows, row, bytes };
  };
}

/** Returns the error for a refused call. Remembers a refused origin for the owner, and a spent allowance for the calls that follow. */
function refused(
  c: Context<Guarded>,
  d1: D1Database,
  call: Call,
  { refusal, time_left, key_user_id }: Verdict & { refusal: Exclude<Verdict['refusal'], typeof OPEN | null> },
): Error {
  if (!isSpent(refusal)) {
    if (refusal === 'origin_not_authorized') rememberOrigin(c, d1, call, 0);
    return isInvalidity(refusal) ? new Unauthenticated(refusal) : refusedCall(refusal, call);
  }
  const error = new AllowanceSpent(refusal, call.deadline / 1000 - time_left);
  const { credential, work } = call;
  if (work && 'lookupValue' in credential) {
    const user_id = refusal === 'spent_time' ? key_user_id : null; // other keys can have a larger volume left
    const now = c.get('databaseClock')().getTime();
    c.get('recentRefusals').add(credential.lookupValue, user_id, work.class, error, now);
  }
  return error;
}

/** Stores what a permitted call tells the owner: an origin that was let in, and the day on which a key or a former token was used. */
function rememberCall(
  c: Context<Guarded>,
  d1: D1Database,
  call: Call,
  { refusal, unmarked, former_use }: Pick<Verdict, 'refusal' | 'unmarked' | 'former_use'>,
): void {
  if (refusal === OPEN) rememberOrigin(c, d1, call, 1);
  if (unmarked !== null) afterResponse(c, 'mark_used', () => markKey(d1, unmarked, dayOf(call.now)));
  if (former_use !== null) rememberUse(c, d1, call, parseJson(former_use));
}

function boundDatabase(bindings: Bindings, number: number): D1Database {
  const binding = bindingOf(number);
  const d1 = binding === null ? undefined : bindings[binding];
  if (d1 === undefined) throw new Error(`${binding} is not bound`);
  return d1;
}

/** Stores the day and the page of a call with a former token, unless they are known. */
function rememberUse(c: Context<Guarded>, d1: D1Database, { credential, origin, now }: Call, stored: FormerUse): void {
  const page = origin !== null && isRegistrable(origin) ? origin : null;
  if (!('lookupValue' in credential) || !isNewUse(stored, dayOf(now), page)) return;
  const { lookupValue } = credential;
  afterResponse(c, 'mark_used', () => markFormerToken(d1, lookupValue, dayOf(now), page));
}

/** Stores the call's origin for the owner if it can be registered and the rate limits allow the write. */
function rememberOrigin(c: Context<Guarded>, d1: D1Database, { business_id, origin, now }: Call, letIn: 0 | 1): void {
  afterResponse(c, 'remember_origin', async () => {
    if (origin === null || !isRegistrable(origin) || !(await mayStoreOrigin(c, business_id, origin))) return;
    await recordOrigin(d1, business_id, origin, letIn, now);
  });
}

/** Counts uses that a limit refused, and stores the count unless an earlier request will. */
export function rememberLimit(c: Context<Guarded>, uses: number): void {
  const { business_id, now } = c.get('call');
  const day = dayOf(now);
  const d1 = boundDatabase(c.env, c.get('database'));
  const clock = c.get('databaseClock');
  const unstored = c.get('unstoredRefusals');
  const wait = unstored.add(business_id, day, uses, clock().getTime());
  if (wait === null) return;
  const store = () => recordLimitRefusal(d1, business_id, day, unstored.take(business_id, day, clock().getTime()));
  afterResponse(c, 'remember_limit', store, wait);
}
