// What a caller is told when the database fails: to try again, but only if that cannot count anything twice.
import { outageOf } from '../db/outage.ts';
import { unavailable } from './errors.ts';

/** The error for a batch that failed. `repeatable`: running it twice has the same effect as running it once. */
export function batchError(cause: unknown, repeatable: boolean): Error {
  const outage = outageOf(cause);
  if (outage === null || (outage === 'unknown' && !repeatable)) {
    return cause instanceof Error ? cause : new Error(`${cause}`); // Hono handles only errors
  }
  return unavailable(cause);
}
