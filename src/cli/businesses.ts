// How the operator creates and changes businesses.
import { eq, sql } from 'drizzle-orm';
import { newCredential } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { type Business, businessColumns, businesses, type Database, formerTokens } from '../db/schema.ts';
import type { Home } from './databases.ts';
import { raiseIds } from './homes.ts';

type Fields = Pick<Business, 'user_id' | 'name' | 'main_domain' | 'site' | 'country_id' | 'business_size'>;

/** Creates an active business, with a new token unless one is given, which must be claimed before. Fails if a business has it. */
export async function createBusiness(
  home: Pick<Home, 'db' | 'number'>,
  fields: Fields & { token?: string | undefined },
  now: Date,
): Promise<Business> {
  const { db, number } = home;
  const stamp = timestampOf(now);
  const token = fields.token ?? newCredential('bua_pk_', number);
  const row = { ...fields, token, status: 'active', created_at: stamp, updated_at: stamp };
  const insert = db
    .insert(businesses)
    .values(row)
    .onConflictDoNothing({ target: businesses.token })
    .returning(businessColumns);
  const [, , [created]] = await db.batch([...raiseIds(home), insert]);
  if (created === undefined) throw new Error('This token is already in use.');
  return created;
}

/** All businesses, or those of one user, by id. */
export const listBusinesses = (db: Database, userId?: number) =>
  db
    .select(businessColumns)
    .from(businesses)
    .where(userId === undefined ? undefined : eq(businesses.user_id, userId))
    .orderBy(businesses.id);

/** The business, or undefined. */
export const findBusiness = (db: Database, id: number): Promise<Business | undefined> =>
  db.select(businessColumns).from(businesses).where(eq(businesses.id, id)).get();

/** Changes the given fields. Returns the changed business, or undefined if there is none with that id. */
export async function updateBusiness(
  db: Database,
  id: number,
  fields: Partial<Fields & Pick<Business, 'status'>>,
  now: Date,
): Promise<Business | undefined> {
  const changed = { ...fields, updated_at: timestampOf(now) };
  const [updated] = await db.update(businesses).set(changed).where(eq(businesses.id, id)).returning(businessColumns);
  return updated;
}

/**
 * Gives the business a new token. The old one keeps working for `keepOld` milliseconds. Without `keepOld`, it and all earlier
 * ones stop working with the next request.
 */
export async function rotateToken(
  { db, number }: Pick<Home, 'db' | 'number'>,
  id: number,
  now: Date,
  keepOld?: number,
): Promise<Business | undefined> {
  const changed = { token: newCredential('bua_pk_', number), updated_at: timestampOf(now) };
  const update = db.update(businesses).set(changed).where(eq(businesses.id, id)).returning(businessColumns);
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
