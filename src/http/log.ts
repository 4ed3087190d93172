// One structured line a request: what was asked, what was answered and what it cost. Never a credential, never a parameter.
import { legibleOrigin } from '../core/request.ts';
import type { Known } from '../env.ts';
import { BrokenBody, Denied, InvalidInput } from './errors.ts';

/** Where lines go, those of our own failures by `error`: `console` in the Worker. */
export type Log = Record<'log' | 'error', (line: object) => void>;

/** Whether an answer is a failure of the service or its database, which an alert is for. */
export const isFailure = (status: number): boolean => status >= 500;

/** The line of a request that was answered with `status` after `ms` milliseconds. */
export function lineOf({ credential, call, error, cost, requestId }: Known, status: number, ms: number): object {
  const refusal = refusalOf(error);
  return {
    operation: call?.operation ?? null,
    status,
    refusal,
    business_id: call?.business_id ?? null,
    ...(refusal === 'origin_not_authorized' ? { origin: legibleOrigin(call?.origin ?? null) } : {}),
    credential,
    ms,
    d1: cost,
    request_id: requestId,
    // A stack names no values; D1's messages name a statement's tokens, never what was bound to it.
    ...(error !== null && isFailure(status) ? { error: stackOf(error) } : {}),
  };
}

function refusalOf(error: Error | null): string | null {
  if (error instanceof Denied) return error.refusal;
  if (error instanceof InvalidInput) return 'invalid_input';
  return error instanceof BrokenBody ? 'broken_body' : null;
}

/** The stack of an error and of what caused it: of an outage, it is the cause that says which. */
const stackOf = ({ stack, cause }: Error): string =>
  cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : `${stack}`;
