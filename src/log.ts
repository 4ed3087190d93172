// One structured line a request: what was asked, what was answered and what it cost. Never a credential, never a parameter.
import type { Known } from './env.ts';
import { BrokenBody, Denied, InvalidInput } from './errors.ts';

/** Where lines go: `console.log` in the Worker. */
export type Log = (line: object) => void;

/** The line of a request that was answered with `status` after `ms` milliseconds. */
export function lineOf({ credential, call, error, cost, requestId }: Known, status: number, ms: number): object {
  return {
    operation: call?.operation ?? null,
    status,
    refusal: refusalOf(error),
    business_id: call?.business_id ?? null,
    credential,
    ms,
    d1: cost,
    request_id: requestId,
    // A stack names no values; D1's messages name a statement's tokens, never what was bound to it.
    ...(error !== null && status >= 500 ? { error: stackOf(error) } : {}),
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
