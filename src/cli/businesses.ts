// How the operator creates and changes businesses.
import { and, eq, sql } from 'drizzle-orm';
import { hashOf, newCredential } from '../core/credential.ts';
import type { Limits } from '../core/limits.ts';
import { timestampOf } from '../core/time.ts';
import { noCost, runBatch } from '../db/batch.ts';
import { callByOperator } from '../db/call.ts';
import { readVerdict } from '../db/permission.ts';
import {
  access,
  type BusinessRow,
  businessColumns,
  businesses,
  type Database,
  type Entry,
  limitColumns,
  retiredTokens,
} from '../db/schema.ts';
import { stopFormerTokens as dropFormer, rotateToken as replaceToken } from '../db/tokens.ts';
import { changeByOperator, lastFourOf } from './changes.ts';
import type { NumberedDatabase } from './databases.ts';
import { TokenInUse } from './errors.ts';
import { raiseIds } from './homes.ts';

type Fields = Pick<BusinessRow, 'user_id' | 'name' | 'main_domain' | 'site' | 'country_id' | 'business_size'>;
type Changeable = Fields & Pick<BusinessRow, 'status'> & Limits;

const subjectOf = (id: number) => ({ subject: 'business', subject_id: id }) as const;

/**
 * Creates an active business, with a new token unless one is given, which must be claimed before. Fails if a business has the token.
 */
export async function createBusiness(
  home: NumberedDatabase,
  fields: Fields & { token?: string | undefined },
  now: Date,
): Promise<BusinessRow> {
  const { db, number } = home;
  const stamp = timestampOf(now);
  const token = fields.token ?? newCredential('bua_pk_', number);
  const row = { ...fields, token, status: 'active' };
  const insert = db
    .insert(businesses)
    .values({ ...row, created_at: stamp, updated_at: stamp })
    .onConflictDoNothing({ target: businesses.token })
    .returning(businessColumns);
  const id = sql`(select ${businesses.id} from ${businesses} where ${eq(businesses.token, token)})`;
  const after = { ...row, token: lastFourOf(token) };
  const change = changeByOperator(
    db,
    { subject: 'business', subject_id: id },
    'create_business',
    { before: null, after },
    now,
  );
  // Now, because nobody knows it any more when it is replaced: what was imported once is never imported again.
  const isCreated = sql`exists (select 1 from ${businesses} where ${eq(businesses.token, token)})`;
  const hash = fields.token === undefined ? null : await hashOf(token);
  const retired = db.insert(retiredTokens).select(sql`select ${hash} where ${hash !== null} and ${isCreated}`);
  const [, , [created]] = await db.batch([...raiseIds(home), insert, change, retired]).catch((error) => {
    throw /retired_tokens\.hash/.test(error.message) ? new TokenInUse() : error;
  });
  if (created === undefined) throw new TokenInUse();
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
export const findBusiness = (db: Database, id: number): Promise<BusinessRow | undefined> =>
  db.select(businessColumns).from(businesses).where(eq(businesses.id, id)).get();

/** The limits of a business, as the API names them. */
export async function limitsOfBusiness(db: Database, id: number) {
  const row = await db.select(limitColumns).from(businesses).where(eq(businesses.id, id)).get();
  return { daily: row?.daily_limit ?? null, monthly: row?.monthly_limit ?? null };
}

/** The entries of a business, by id. */
export const listEntries = (db: Database, id: number): Promise<Entry[]> =>
  db.select().from(access).where(eq(access.business_id, id)).orderBy(access.id);

/** Changes the given fields where they differ. Returns the business, or undefined if there is none with that id. */
export async function updateBusiness(
  db: Database,
  id: number,
  fields: Partial<Changeable>,
  now: Date,
): Promise<BusinessRow | undefined> {
  for (;;) {
    const current = await db.select().from(businesses).where(eq(businesses.id, id)).get();
    if (current === undefined) return undefined;
    const names = (Object.keys(fields) as (keyof Changeable)[]).filter((name) => fields[name] !== current[name]);
    if (names.length === 0) return findBusiness(db, id);
    const pick = (row: Partial<Changeable>) => Object.fromEntries(names.map((name) => [name, row[name]]));
    // Nobody else has changed them since.
    const same = and(eq(businesses.id, id), ...names.map((name) => sql`${businesses[name]} is ${current[name]}`));
    const changed = { ...pick(fields), updated_at: timestampOf(now) };
    const [[updated]] = await db.batch([
      db.update(businesses).set(changed).where(same).returning(businessColumns),
      changeByOperator(db, subjectOf(id), 'update_business', { before: pick(current), after: pick(fields) }, now),
    ]);
    if (updated !== undefined) return updated;
  }
}

/**
 * Gives the business a new token. The old one keeps working for `keepOld` milliseconds. Without `keepOld`, it and all earlier
 * ones stop working with the next request.
 */
export async function rotateToken(
  { db, number }: NumberedDatabase,
  id: number,
  now: Date,
  keepOld?: number,
): Promise<BusinessRow | undefined> {
  const token = newCredential('bua_pk_', number);
  const keepUntil = keepOld === undefined ? null : timestampOf(new Date(now.getTime() + keepOld));
  const call = callByOperator('rotate_token', id, now);
  const { rows } = await runBatch(db.$client, call, readVerdict, replaceToken(token, keepUntil), noCost());
  const [business] = rows.decided;
  return business && { ...business, token };
}

/** Stops the former tokens of a business now. */
export async function stopFormerTokens({ db }: NumberedDatabase, id: number, now: Date): Promise<void> {
  await runBatch(db.$client, callByOperator('stop_former_tokens', id, now), readVerdict, dropFormer(), noCost());
}
