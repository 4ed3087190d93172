// What a caller may do when the database fails: it is told to try again only where that cannot count anything twice.
import { outageOf } from '../db/outage.ts';
import { Unavailable } from './errors.ts';

/** The error of a call whose batch failed. `repeatable`: running the batch twice does no more than running it once. */
export function batchError(cause: unknown, repeatable: boolean): unknown {
  const outage = outageOf(cause);
  if (outage === null || (outage === 'unknown' && !repeatable)) return cause;
  return new Unavailable('the database cannot serve', { cause });
}
