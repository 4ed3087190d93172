// Forgets the ids of uses, and former tokens, once they need not be known any more: on a schedule, never within a request.
import { lte, sql } from 'drizzle-orm';
import { addDays, dayOf, timestampOf } from './core/time.ts';
import { LEDGER_DAYS } from './core/use.ts';
import { type Database, formerTokens, ledger } from './db/schema.ts';

const ROWS_PER_STATEMENT = 2000; // D1 serves one query at a time: requests get their turn in between
const MAX_STATEMENTS = 40; // an invocation may make 50 on the free plan; the rest waits for the next run

/**
 * Deletes the former tokens that have expired, and the ids of uses that were recorded more than LEDGER_DAYS days before `now`:
 * the day of recording counts, not the day of the use.
 */
export async function purge(db: Database, now: Date): Promise<void> {
  await db.delete(formerTokens).where(lte(formerTokens.expires_at, timestampOf(now)));
  const before = addDays(dayOf(now), -LEDGER_DAYS);
  const old = sql`select business_id, digest from ${ledger} where recorded_on < ${before} limit ${ROWS_PER_STATEMENT}`;
  for (let statement = 0; statement < MAX_STATEMENTS; statement++) {
    const { meta } = await db.delete(ledger).where(sql`(business_id, digest) in (${old})`);
    if (meta.changes < ROWS_PER_STATEMENT) return;
  }
}
