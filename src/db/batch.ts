// The round trip that a request makes to its database, and the cost.
import { type Call, valuesOf } from './permission.ts';
import type { RowsOf, Statement, Value } from './statement.ts';

/** The cost of a request so far: round trips to D1, the milliseconds they took, and rows as D1 bills them. */
export type Cost = { round_trips: number; ms: number; rows_read: number; rows_written: number };

export const noCost = (): Cost => ({ round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 });

/**
 * Runs the statements of a call in order, in one transaction, and returns the rows of each. Adds to `cost`; a batch that fails
 * adds no rows.
 */
export async function runBatch<First, Rest extends readonly Statement[]>(
  d1: D1Database,
  call: Call,
  first: Statement<First>,
  rest: Rest,
  cost: Cost,
): Promise<[First[], ...RowsOf<Rest>]> {
  const { form, values } = valuesOf(call);
  const bound = [first, ...rest].map(({ textFor, values: own }) => {
    const all: Record<string, Value> = { ...values, ...own };
    const { sql, names } = textFor(form);
    return d1.prepare(sql).bind(...names.map((name) => all[name]));
  });
  cost.round_trips += 1;
  const began = Date.now();
  const results = await d1.batch(bound).finally(() => {
    cost.ms += Date.now() - began;
  });
  for (const { meta } of results) {
    cost.rows_read += meta.rows_read;
    cost.rows_written += meta.rows_written;
  }
  return results.map((result) => result.results) as [First[], ...RowsOf<Rest>];
}
