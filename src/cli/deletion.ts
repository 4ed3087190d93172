// How the operator deletes a business and all that is its own.
import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { hashOf } from '../core/credential.ts';
import { IDS_PER_STATEMENT } from '../db/purge.ts';
import {
  access,
  apiKeys,
  businesses,
  changes,
  type Database,
  dailyUsage,
  formerTokens,
  ledger,
  refusedOrigins,
  retiredTokens,
} from '../db/schema.ts';
import { findBusiness, rotateToken, updateBusiness } from './businesses.ts';
import { changeByOperator } from './changes.ts';
import type { NumberedDatabase } from './databases.ts';

/** One can be 130 KB. */
const CHANGES_PER_STATEMENT = 500;

/**
 * Deletes a business: first it is closed and its tokens stop working, then its ids and changes go in steps, then the rest at once. If
 * it is interrupted, it goes on when it is run again. What stays is one change, which says that it was deleted, and the digests of its
 * tokens, so that none is imported again.
 */
export async function deleteBusiness(home: NumberedDatabase, id: number, now: Date): Promise<void> {
  const { db } = home;
  const business = await updateBusiness(db, id, { status: 'closed' }, now);
  if (business === undefined) return;
  await retireTokens(db, id);
  await rotateToken(home, id, now);

  const ids = db
    .select({ business_id: ledger.business_id, digest: ledger.digest })
    .from(ledger)
    .where(eq(ledger.business_id, id))
    .limit(IDS_PER_STATEMENT);
  for (let deleted = IDS_PER_STATEMENT; deleted === IDS_PER_STATEMENT; ) {
    const { meta } = await db.delete(ledger).where(sql`(business_id, digest) in ${ids}`);
    deleted = meta.changes;
  }

  const ofBusiness = and(eq(changes.subject, 'business'), eq(changes.subject_id, id));
  const oldest = db.select({ id: changes.id }).from(changes).where(ofBusiness).orderBy(changes.id);
  const due = inArray(changes.id, oldest.limit(CHANGES_PER_STATEMENT));
  // If another command has deleted the business meanwhile, what is left is its last change.
  const isThere = sql`exists (select 1 from ${businesses} where ${eq(businesses.id, id)})`;
  for (let deleted = CHANGES_PER_STATEMENT; deleted === CHANGES_PER_STATEMENT; ) {
    const { meta } = await db.delete(changes).where(and(ofBusiness, due, isThere));
    deleted = meta.changes;
  }

  const { user_id, name, main_domain } = business;
  const latest = sql`(select max(${changes.id}) from ${changes} where ${ofBusiness})`;
  const change = { before: { user_id, name, main_domain }, after: null };
  await db.batch([
    db.delete(apiKeys).where(eq(apiKeys.business_id, id)),
    db.delete(access).where(eq(access.business_id, id)),
    db.delete(dailyUsage).where(eq(dailyUsage.business_id, id)),
    db.delete(formerTokens).where(eq(formerTokens.business_id, id)),
    db.delete(refusedOrigins).where(eq(refusedOrigins.business_id, id)),
    db.delete(businesses).where(eq(businesses.id, id)),
    changeByOperator(db, { subject: 'business', subject_id: id }, 'delete_business', change, now),
    db.delete(changes).where(and(ofBusiness, lt(changes.id, latest))),
  ]);
}

/** Keeps the digests of the tokens of a business, the current one and the former ones. */
async function retireTokens(db: Database, id: number): Promise<void> {
  const former = await db.select().from(formerTokens).where(eq(formerTokens.business_id, id));
  const current = await findBusiness(db, id);
  const tokens = [...former, ...(current === undefined ? [] : [current])].map(({ token }) => token);
  const hashes = await Promise.all(tokens.map(hashOf));
  for (const hash of hashes) await db.insert(retiredTokens).values({ hash }).onConflictDoNothing();
}
