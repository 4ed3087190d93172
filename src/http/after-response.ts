// Runs work after the response.
import { stackOf } from '../db/stack.ts';
import { withTimeout } from '../db/timeout.ts';
import type { ContextOf, Env } from '../env.ts';

const TIMEOUT_MS = 10_000;

/** Starts `work` after the response is sent, and `wait` ms later. Logs failures instead of throwing. */
export function afterResponse(c: ContextOf<Env>, name: string, work: () => Promise<void>, wait = 0): void {
  const { request_id, database } = c.get('logEntry');
  const done = scheduler
    .wait(wait)
    .then(() => withTimeout(work(), TIMEOUT_MS))
    .catch((error: unknown) => {
      c.get('log').error({ operation: name, database, request_id, error: stackOf(error) });
    });
  c.executionCtx.waitUntil(done);
}
