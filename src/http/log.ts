// One structured log line per request: the operation, the outcome and the cost. Never contains a full credential or a query parameter.
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import { printableOrigin, requestIdOf } from '../core/request.ts';
import { noCost } from '../db/batch.ts';
import { stackOf } from '../db/stack.ts';
import type { Clock, Env, Log, LogEntry } from '../env.ts';
import { ServiceError, Unauthenticated } from './errors.ts';

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
    const line = logLine(logEntry, {
      method: c.req.method,
      route: matchedRoutes(c).findLast(({ path }) => !path.includes('*'))?.path ?? null,
      status: c.res.status,
      ms: clock().getTime() - began.getTime(),
      version: c.env.VERSION?.id ?? null,
    });
    if (isFailure(c.res.status)) log.error(line);
    else log.log(line);
  });

const isFailure = (status: number): boolean => status >= 500;

/** The parts of a log line that are known after the response. `route` contains parameter names, not values. */
type Served = { method: string; route: string | null; status: number; ms: number; version: string | null };

function logLine(
  { request_id, d1, credential, database, call, limiter, error }: LogEntry,
  { method, route, status, ms, version }: Served,
): object {
  const refusal = refusalOf(error);
  return {
    operation: call?.operation ?? null,
    method,
    route,
    status,
    refusal,
    ...(limiter === null ? {} : { limiter }),
    ...(error instanceof Unauthenticated ? { reason: error.reason } : {}),
    business_id: call?.business_id ?? null,
    ...(call?.user_id ? { user_id: call.user_id } : {}),
    ...(refusal === 'origin_not_authorized' ? { origin: printableOrigin(call?.origin ?? null) } : {}),
    credential,
    ms,
    database,
    d1,
    request_id,
    version,
    // Safe to log: stacks contain no values, and D1's messages quote SQL but never bound values.
    ...(error !== null && isFailure(status) ? { error: stackOf(error) } : {}),
  };
}

/** Returns the error code to log, or null if the status implies it. */
function refusalOf(error: Error | null): string | null {
  return error instanceof ServiceError && !UNLOGGED.includes(error.code) ? error.code : null;
}
const UNLOGGED = ['unknown_entry', 'too_large', 'unavailable', 'server_error'];
