// Deletes ledger rows and former tokens that are no longer needed. It runs on a schedule, never during a request.
import { lt, lte, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { BINDINGS, type Binding } from '../core/database.ts';
import { dayOf, timestampOf } from '../core/time.ts';
import { type Database, formerTokens, ledger } from './schema.ts';

/** D1 runs one query at a time, so requests get their turn between two statements. */
export const IDS_PER_STATEMENT = 4000;
/** Per run, and there is one each minute: 200 ids a second, as many as one database records use by use. The rest waits. */
export const ID_STATEMENTS = 3;

/**
 * Purges each of the databases. One that fails does not stop the others: it gets a line in the log, and the run fails at the end.
 */
export async function purgeAll(
  bindings: { [binding in Binding]?: D1Database },
  now: Date,
  log: { error: (line: object) => void },
): Promise<void> {
  const failed: Binding[] = [];
  const purges = BINDINGS.map(async (database) => {
    const d1 = bindings[database];
    if (d1 === undefined) return;
    try {
      await purge(drizzle(d1), now);
    } catch (error) {
      failed.push(database);
      log.error({ operation: 'purge', database, error: `${error instanceof Error ? error.stack : error}` });
    }
  });
  await Promise.all(purges);
  if (failed.length > 0) throw new Error(`the purge of ${failed.join(' and ')} failed`);
}

/** Deletes expired former tokens, and up to ID_STATEMENTS × IDS_PER_STATEMENT ids whose `forget_on` is before today. */
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
