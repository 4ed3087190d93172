// What each business used in a range of days, for an invoice run.
import type { Range } from '../core/time.ts';
import { MAX_TOTALS_PER_PAGE } from '../core/use.ts';
import { noCost, runBatch } from '../db/batch.ts';
import { callByOperator } from '../db/call.ts';
import type { Database } from '../db/schema.ts';
import { exactTotals, type Total, totalsAfter } from '../db/usage.ts';

/** The uses of each business of a database, by id: all pages of `GET /api/v1/usage`, whose statement this is. */
export async function listTotals({ $client }: Database, range: Range, now: Date): Promise<Total[]> {
  const call = callByOperator('read_all_usage', 0, now);
  const all: Total[] = [];
  for (;;) {
    const page = totalsAfter({ ...range, after: all.at(-1)?.business_id ?? 0, limit: MAX_TOTALS_PER_PAGE });
    const { row } = await runBatch($client, call, page, undefined, noCost());
    if (row === undefined) throw new Error('the operator has no permission');
    const totals = exactTotals(row.totals, range);
    all.push(...totals);
    if (totals.length < MAX_TOTALS_PER_PAGE) return all;
  }
}
