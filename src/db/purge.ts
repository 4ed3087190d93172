// Forgets the ids of uses, and former tokens, once they need not be known any more: on a schedule, never within a request.
import { lt, lte, sql } from 'drizzle-orm';
import { dayOf, timestampOf } from '../core/time.ts';
import { type Database, formerTokens, ledger } from './schema.ts';

/** D1 serves one query at a time: requests get their turn between two statements. */
export const IDS_PER_STATEMENT = 4000;
/** Each minute. More than one database records in a minute, one use at a time; the rest waits for the next run. */
export const ID_STATEMENTS = 3;

/** Deletes the former tokens that have expired, and as many as fit of the ids whose day to be forgotten lies before `now`. */
export async function purge(db: Database, now: Date): Promise<void> {
  await db.delete(formerTokens).where(lte(formerTokens.expires_at, timestampOf(now)));
  const due = db
    .select({ business_id: ledger.business_id, digest: ledger.digest })
    .from(ledger)
    .where(lt(ledger.forget_on, dayOf(now)))
    .limit(IDS_PER_STATEMENT);
  for (let statement = 0; statement < ID_STATEMENTS; statement++) {
    const { meta } = await db.delete(ledger).where(sql`(business_id, digest) in ${due}`);
    if (meta.changes < IDS_PER_STATEMENT) return;
  }
}
