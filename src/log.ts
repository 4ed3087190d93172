// One structured line a request: what was asked, what was answered and what it cost. Never a credential, never a parameter.
import type { Context } from 'hono';
import type { Env } from './env.ts';
import { Denied, InvalidInput } from './errors.ts';

/** Where lines go: `console.log` in the Worker. */
export type Log = (line: object) => void;

/** The line of a request that has its answer. */
export function lineOf(c: Context<Env>, ms: number): object {
  const call: Env['Variables']['call'] | undefined = c.get('call');
  const error = c.error;
  return {
    operation: call?.operation ?? null,
    status: c.res.status,
    refusal: error instanceof Denied ? error.refusal : error instanceof InvalidInput ? 'invalid_input' : null,
    business_id: call?.business_id ?? null,
    credential: call === undefined ? null : { kind: call.kind, last_four: call.last_four },
    ms,
    d1: c.get('cost'),
    request_id: c.get('requestId'),
    // A stack names no values; D1's messages name a statement's tokens, never what was bound to it.
    ...(c.res.status >= 500 ? { error: error?.stack } : {}),
  };
}
