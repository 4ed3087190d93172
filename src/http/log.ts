// One structured log line per request: the operation, the outcome and the cost. Never contains a full credential or a query parameter.
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { printableOrigin, requestIdOf } from '../core/request.ts';
import { noCost } from '../db/batch.ts';
import { stackOf } from '../db/stack.ts';
import type { Clock, Env, Log, LogEntry } from '../env.ts';
import { AllowanceSpent, ServiceError, Unauthenticated } from './errors.ts';

/** Logs a line for each request. Sets `clock`, `databaseClock`, `log` and `logEntry` for later handlers. */
export const logged = (clock: Clock, log: Log, databaseClock: Clock) =>
  createMiddleware<Env>(async function logged(c, next) {
    const began = clock();
    const request_id = requestIdOf(c.req.header('X-Request-Id'));
    const logEntry: LogEntry = {
      request_id,
      d1: noCost(),
      credential: null,
      database: null,
      call: null,
      limiter: null,
      error: null,
    };
    c.set('clock', clock);
    c.set('databaseClock', databaseClock);
    c.set('log', log);
    c.set('logEntry', logEntry);
    await next();
    const { credential, database, d1, call, limiter, error } = logEntry;
    const { status } = c.res;
    const path = routePath(c); // of the handler that responded
    const isFailure = status >= 500;
    const refusal = refusalOf(error);
    log[isFailure ? 'error' : 'log']({
      operation: call?.operation ?? null,
      method: c.req.method,
      route: path.includes('*') ? null : path, // with parameter names, not values
      status,
      refusal,
      ...(limiter === null ? {} : { limiter }),
      ...(error instanceof Unauthenticated || error instanceof AllowanceSpent ? { reason: error.reason } : {}),
      business_id: call?.business_id ?? null,
      ...(call?.user_id ? { user_id: call.user_id } : {}),
      ...(refusal === 'origin_not_authorized' ? { origin: printableOrigin(call?.origin ?? null) } : {}),
      credential,
      ms: clock().getTime() - began.getTime(),
      database,
      d1,
      request_id,
      version: c.env.VERSION?.id ?? null,
      // Safe to log: stacks contain no values, and D1's messages quote SQL but never bound values.
      ...(error !== null && isFailure ? { error: stackOf(error) } : {}),
    });
  });

/** Returns the error code to log, or null if the status implies it. */
function refusalOf(error: Error | null): string | null {
  return error instanceof ServiceError && !UNLOGGED.includes(error.code) ? error.code : null;
}
const UNLOGGED = ['unknown_entry', 'too_large', 'unavailable', 'server_error'];
