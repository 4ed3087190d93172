// One structured log line per request: what was requested, how it ended and what it cost. Never a credential or a parameter.
import { createMiddleware } from 'hono/factory';
import { legibleOrigin, requestIdOf } from '../core/request.ts';
import { noCost } from '../db/batch.ts';
import { stackOf } from '../db/stack.ts';
import type { Clock, Env, Log, LogEntry } from '../env.ts';
import { ServiceError, Unauthenticated } from './errors.ts';

/** Logs a line for each request. Sets `clock`, `log` and `logEntry` for the handlers after it. */
export const logged = (clock: Clock, log: Log) =>
  createMiddleware<Env>(async function logged(c, next) {
    const began = clock();
    const request_id = requestIdOf(c.req.header('X-Request-Id'));
    const logEntry: LogEntry = { request_id, d1: noCost(), credential: null, database: null, call: null, error: null };
    c.set('clock', clock);
    c.set('log', log);
    c.set('logEntry', logEntry);
    await next();
    const line = logLine(logEntry, c.res.status, clock().getTime() - began.getTime());
    if (isFailure(c.res.status)) log.error(line);
    else log.log(line);
  });

/** Whether the service or its database failed, which deserves an alert. */
const isFailure = (status: number): boolean => status >= 500;

function logLine({ request_id, d1, credential, database, call, error }: LogEntry, status: number, ms: number): object {
  const refusal = refusalOf(error);
  return {
    operation: call?.operation ?? null,
    status,
    refusal,
    ...(error instanceof Unauthenticated ? { reason: error.reason } : {}),
    business_id: call?.business_id ?? null,
    ...(call?.user_id ? { user_id: call.user_id } : {}),
    ...(refusal === 'origin_not_authorized' ? { origin: legibleOrigin(call?.origin ?? null) } : {}),
    credential,
    ms,
    database,
    d1,
    request_id,
    // A stack has no values, and D1's messages quote SQL but never bound values.
    ...(error !== null && isFailure(status) ? { error: stackOf(error) } : {}),
  };
}

/** Why the request was refused, as the log says it: in one word, or null where its status says as much. */
function refusalOf(error: Error | null): string | null {
  return error instanceof ServiceError && !UNLOGGED.includes(error.code) ? error.code : null;
}
const UNLOGGED = ['unknown_entry', 'too_large', 'rate_limited', 'unavailable', 'server_error'];
