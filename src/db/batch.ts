// The one round trip of a request to the database, and what it costs.
import type { Statement } from './statement.ts';

/** What a request has cost so far: round trips to D1, the milliseconds they took, and rows as D1 bills them. */
export type Cost = { round_trips: number; ms: number; rows_read: number; rows_written: number };

export const noCost = (): Cost => ({ round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 });

/** Runs statements in their order, all or none, and adds to `cost`: of a batch that fails, all but its rows. */
export async function runBatch(d1: D1Database, statements: Statement[], cost: Cost): Promise<D1Result[]> {
  cost.round_trips += 1;
  const began = Date.now();
  const bound = statements.map(({ sql, values }) => d1.prepare(sql).bind(...values));
  const results = await d1.batch(bound).finally(() => {
    cost.ms += Date.now() - began;
  });
  for (const { meta } of results) {
    cost.rows_read += meta.rows_read;
    cost.rows_written += meta.rows_written;
  }
  return results;
}
