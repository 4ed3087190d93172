// Reads a report's range of days from its query.
import type { FieldErrors } from '../core/conflict.ts';
import { dayOf, type Range, rangeOf, rangeProblem } from '../core/time.ts';
import type { ContextOf, Guarded } from '../env.ts';

type Query = { from?: string | undefined; to?: string | undefined };

/** Returns the range that a query selects, with defaults for missing days. */
export const rangeOfReport = (c: ContextOf<Guarded>, query: Query): Range => rangeOf(query, dayOf(c.get('call').now));

/** Returns the error of a range that is too long or ends before it starts. If either day is wrong, there is no range yet. */
export function rangeErrors(query: Query, c: ContextOf<Guarded>, errors: FieldErrors): FieldErrors {
  if (errors.from ?? errors.to) return {};
  const problem = rangeProblem(rangeOfReport(c, query), query.to === undefined);
  return problem === null ? {} : { from: [`from ${problem}`] };
}
