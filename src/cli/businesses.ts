// How the operator reads businesses, and creates and changes them in a database that is known.
import { eq } from 'drizzle-orm';
import { newCredential } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { createBusinessIn, type NewBusiness } from '../db/creation.ts';
import { parseJson } from '../db/json.ts';
import { readVerdict } from '../db/permission.ts';
import { access, type BusinessRow, businessColumns, businesses, type Database, type Entry } from '../db/schema.ts';
import { stopFormerTokens as dropFormer, rotateToken as replaceToken } from '../db/tokens.ts';
import { asking, type NumberedDatabase } from './databases.ts';

/** Creates a business in the home of its owner. A token that is given must be claimed before. */
export async function createBusiness(home: NumberedDatabase, fields: NewBusiness, now: Date): Promise<BusinessRow> {
  const { business } = await createBusinessIn(asking(home, 'create_business', now), home.number, fields);
  return parseJson(business);
}

/** All businesses, or those of one user, by id. */
export const listBusinesses = (db: Database, userId?: number) =>
  db
    .select(businessColumns)
    .from(businesses)
    .where(userId === undefined ? undefined : eq(businesses.user_id, userId))
    .orderBy(businesses.id);

/** The business, or undefined. */
export const findBusiness = (db: Database, id: number): Promise<BusinessRow | undefined> =>
  db.select(businessColumns).from(businesses).where(eq(businesses.id, id)).get();

/** The entries of a business, by id. */
export const listEntries = (db: Database, id: number): Promise<Entry[]> =>
  db.select().from(access).where(eq(access.business_id, id)).orderBy(access.id);

/**
 * Gives the business a new token. The old one keeps working for `keepOld` milliseconds. Without `keepOld`, it and all earlier
 * ones stop working with the next request.
 */
export async function rotateToken(
  home: NumberedDatabase,
  id: number,
  now: Date,
  keepOld?: number,
): Promise<BusinessRow | undefined> {
  const token = newCredential('bua_pk_', home.number);
  const keepUntil = keepOld === undefined ? null : timestampOf(new Date(now.getTime() + keepOld));
  const ask = asking(home, 'rotate_token', now, id);
  const [business] = (await ask(readVerdict, replaceToken(token, keepUntil))).decided;
  return business && { ...business, token };
}

/** Stops the former tokens of a business now. */
export async function stopFormerTokens(home: NumberedDatabase, id: number, now: Date): Promise<void> {
  await asking(home, 'stop_former_tokens', now, id)(readVerdict, dropFormer());
}
