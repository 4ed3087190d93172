// One structured log line a request: what was requested, how it ended and what it cost. Never a credential, never a parameter.
import { createMiddleware } from 'hono/factory';
import type { Credential } from '../core/credential.ts';
import type { Operation } from '../core/policy.ts';
import { legibleOrigin, requestIdOf } from '../core/request.ts';
import { type Cost, noCost } from '../db/batch.ts';
import type { Clock, Env } from '../env.ts';
import { BrokenBody, Denied, InvalidInput, Unauthenticated } from './errors.ts';

/** What is written down of a request while it is served, for its log line alone. */
export type LogEntry = {
  /** Also in the response. */
  readonly request_id: string;
  readonly d1: Cost;
  /** What was sent as a credential, valid or not. */
  credential: { kind: Credential['kind']; last_four: string } | null;
  /** Null before the operation is known: without a credential, or over a rate limit. `origin` is null for a server. */
  call: { operation: Operation; business_id: number; origin: string | null } | null;
  /** Why it failed. */
  error: Error | null;
};

/** Where lines go, those of our own failures to `error`: `console` in the Worker. */
export type Log = Record<'log' | 'error', (line: object) => void>;

/** Logs a line for each request that passes. `clock` and the entry are there for what follows. */
export const logged = (clock: Clock, log: Log) =>
  createMiddleware<Env>(async function logged(c, next) {
    const began = clock();
    const request_id = requestIdOf(c.req.header('X-Request-Id'));
    const entry: LogEntry = { request_id, d1: noCost(), credential: null, call: null, error: null };
    c.set('clock', clock);
    c.set('entry', entry);
    await next();
    const line = lineOf(entry, c.res.status, clock().getTime() - began.getTime());
    if (isFailure(c.res.status)) log.error(line);
    else log.log(line);
  });

/** Whether the service or its database failed: what an alert is for. */
const isFailure = (status: number): boolean => status >= 500;

function lineOf({ request_id, d1, credential, call, error }: LogEntry, status: number, ms: number): object {
  const refusal = refusalOf(error);
  return {
    operation: call?.operation ?? null,
    status,
    refusal,
    business_id: call?.business_id ?? null,
    ...(refusal === 'origin_not_authorized' ? { origin: legibleOrigin(call?.origin ?? null) } : {}),
    credential,
    ms,
    d1,
    request_id,
    // A stack names no values; D1's messages name a statement's tokens, never what was bound to it.
    ...(error !== null && isFailure(status) ? { error: stackOf(error) } : {}),
  };
}

function refusalOf(error: Error | null): string | null {
  if (error instanceof Unauthenticated) return 'unauthenticated';
  if (error instanceof Denied) return error.refusal;
  if (error instanceof InvalidInput) return 'invalid_input';
  return error instanceof BrokenBody ? 'broken_body' : null;
}

/** The stack of an error and of what caused it: of an outage, the cause says which. */
const stackOf = ({ stack, cause }: Error): string =>
  cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : `${stack}`;
