// How the operator creates and changes businesses.
import { and, eq, gt, sql } from 'drizzle-orm';
import { newCredential } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { type Business, businesses, type Database, formerTokens } from '../db/schema.ts';

type Fields = Pick<Business, 'user_id' | 'name' | 'main_domain' | 'site' | 'country_id' | 'business_size'>;

/** Creates an active business, with a new token unless one is given. Fails if another business has that token. */
export async function createBusiness(
  db: Database,
  fields: Fields & { token?: string | undefined },
  now: Date,
): Promise<Business> {
  const stamp = timestampOf(now);
  const token = fields.token ?? newCredential('bua_pk_');
  const row = { ...fields, token, status: 'active', created_at: stamp, updated_at: stamp };
  const kept = and(eq(formerTokens.token, token), gt(formerTokens.expires_at, stamp));
  const isFormer = (await db.$count(formerTokens, kept)) > 0;
  const insert = db.insert(businesses).values(row).onConflictDoNothing({ target: businesses.token }).returning();
  const [created] = isFormer ? [] : await insert;
  if (created === undefined) throw new Error('This token is already in use.');
  return created;
}

/** All businesses, or those of one user, by id. */
export const listBusinesses = (db: Database, userId?: number) =>
  db
    .select()
    .from(businesses)
    .where(userId === undefined ? undefined : eq(businesses.user_id, userId))
    .orderBy(businesses.id);

/** The business, or undefined. */
export const findBusiness = (db: Database, id: number): Promise<Business | undefined> =>
  db.select().from(businesses).where(eq(businesses.id, id)).get();

/** Changes the given fields. Returns the changed business, or undefined if there is none with that id. */
export async function updateBusiness(
  db: Database,
  id: number,
  fields: Partial<Fields & Pick<Business, 'status'>>,
  now: Date,
): Promise<Business | undefined> {
  const changed = { ...fields, updated_at: timestampOf(now) };
  const [updated] = await db.update(businesses).set(changed).where(eq(businesses.id, id)).returning();
  return updated;
}

/**
 * Gives the business a new token. The old one keeps working for `keepOld` milliseconds. Without `keepOld`, it and all earlier
 * ones stop working with the next request.
 */
export async function rotateToken(
  db: Database,
  id: number,
  now: Date,
  keepOld?: number,
): Promise<Business | undefined> {
  const changed = { token: newCredential('bua_pk_'), updated_at: timestampOf(now) };
  const update = db.update(businesses).set(changed).where(eq(businesses.id, id)).returning();
  const expires = timestampOf(new Date(now.getTime() + (keepOld ?? 0)));
  const old = db
    .select({ token: businesses.token, business_id: businesses.id, expires_at: sql`${expires}`.as('expires_at') })
    .from(businesses)
    .where(eq(businesses.id, id));
  const former =
    keepOld === undefined
      ? db.delete(formerTokens).where(eq(formerTokens.business_id, id))
      : db
          .insert(formerTokens)
          .select(old)
          .onConflictDoUpdate({ target: formerTokens.token, set: { business_id: id, expires_at: expires } });
  const [, [updated]] = await db.batch([former, update]);
  return updated;
}
