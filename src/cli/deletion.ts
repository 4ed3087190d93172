// How the operator deletes a business and everything that belongs to it.
import { and, eq, inArray, lt, ne, sql } from 'drizzle-orm';
import { hashOf, newCredential } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { IDS_PER_STATEMENT } from '../db/purge.ts';
import {
  access,
  apiKeys,
  type BusinessRow,
  businesses,
  changes,
  type Database,
  dailyUsage,
  formerTokens,
  ledger,
  refusedOrigins,
  retiredTokens,
} from '../db/schema.ts';
import { findBusiness } from './businesses.ts';
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
  const { db, number } = home;
  const business = await findBusiness(db, id);
  if (business === undefined) return;
  await closeBusiness(db, business, newCredential('bua_pk_', number), now);

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

/** In one batch: closes a business, so that no token of it works, replaces its token, and keeps the digests of all of them. */
async function closeBusiness(db: Database, { id, token }: BusinessRow, newToken: string, now: Date): Promise<void> {
  const former = await db.select().from(formerTokens).where(eq(formerTokens.business_id, id));
  const hashes = await Promise.all([token, ...former.map((row) => row.token)].map(hashOf));
  const own = eq(businesses.id, id);
  const status = sql`(select json_object('status', ${businesses.status}) from ${businesses} where ${own})`;
  const change = { before: status, after: { status: 'closed' } };
  const isOpen = sql`exists (select 1 from ${businesses} where ${and(own, ne(businesses.status, 'closed'))})`;
  await db.batch([
    changeByOperator(db, { subject: 'business', subject_id: id }, 'update_business', change, now, isOpen),
    db
      .update(businesses)
      .set({ status: 'closed', token: newToken, updated_at: timestampOf(now) })
      .where(own),
    db
      .insert(retiredTokens)
      .select(sql`select value from json_each(${JSON.stringify(hashes)}) where true`)
      .onConflictDoNothing(),
  ]);
}
