// One structured log line per request: what was requested, how it ended and what it cost. Never a credential or a parameter.
import { createMiddleware } from 'hono/factory';
import type { Credential } from '../core/credential.ts';
import type { Binding } from '../core/database.ts';
import type { Operation } from '../core/policy.ts';
import { legibleOrigin, requestIdOf } from '../core/request.ts';
import { type Cost, noCost } from '../db/batch.ts';
import type { Clock, Env } from '../env.ts';
import { BrokenBody, Denied, InvalidInput, LimitReached, Unauthenticated } from './errors.ts';

/** What the log line of a request will say, collected while it is served. */
export type LogEntry = {
  /** Also in the response. */
  readonly request_id: string;
  readonly d1: Cost;
  /** The credential that was sent, valid or not. */
  credential: { kind: Credential['kind']; last_four: string } | null;
  /** The database that was asked. Null if none was. */
  database: Binding | null;
  /** Null before the operation is known: without a credential, or over a rate limit. `origin` is null for a server. */
  call: { operation: Operation; business_id: number | null; origin: string | null } | null;
  /** Why it failed. */
  error: Error | null;
};

/** Where lines go: `console` in the Worker. `error` is for our own failures. */
export type Log = Record<'log' | 'error', (line: object) => void>;

/** Logs a line for each request. Sets `clock` and `entry` for the handlers after it. */
export const logged = (clock: Clock, log: Log) =>
  createMiddleware<Env>(async function logged(c, next) {
    const began = clock();
    const request_id = requestIdOf(c.req.header('X-Request-Id'));
    const entry: LogEntry = { request_id, d1: noCost(), credential: null, database: null, call: null, error: null };
    c.set('clock', clock);
    c.set('log', log);
    c.set('entry', entry);
    await next();
    const line = lineOf(entry, c.res.status, clock().getTime() - began.getTime());
    if (isFailure(c.res.status)) log.error(line);
    else log.log(line);
  });

/** Whether the service or its database failed, which deserves an alert. */
const isFailure = (status: number): boolean => status >= 500;

function lineOf({ request_id, d1, credential, database, call, error }: LogEntry, status: number, ms: number): object {
  const refusal = refusalOf(error);
  return {
    operation: call?.operation ?? null,
    status,
    refusal,
    business_id: call?.business_id ?? null,
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

function refusalOf(error: Error | null): string | null {
  if (error instanceof Unauthenticated) return 'unauthenticated';
  if (error instanceof Denied) return error.refusal;
  if (error instanceof InvalidInput) return 'invalid_input';
  if (error instanceof LimitReached) return 'limit_reached';
  return error instanceof BrokenBody ? 'broken_body' : null;
}

/** The stack of an error and of its causes; for an outage, the cause says which one. */
const stackOf = ({ stack, cause }: Error): string =>
  cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : `${stack}`;
