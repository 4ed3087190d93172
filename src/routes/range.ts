// Reads a report's range of days from its query.
import type * as z from 'zod/mini';
import { dayOf, type Range, rangeOf, rangeProblem } from '../core/time.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { invalidField } from '../http/input.ts';
import type { rangeQuery } from '../wire/requests.ts';

/** Returns the range that a query selects, with defaults for missing days. */
export async function rangeOfReport(c: ContextOf<Guarded>, query: z.output<typeof rangeQuery.schema>): Promise<Range> {
  const range = rangeOf(query, dayOf(c.get('call').now));
  const problem = rangeProblem(range, query.to === undefined);
  if (problem !== null) throw await invalidField(c, 'from', problem);
  return range;
}
