// Which database a new owner gets, and which owner has an imported token. Both are claimed in DB, the first database, so that two
// commands at once agree.
import { and, eq, gt, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { hashOf } from '../core/credential.ts';
import { bindingOf, IDS_PER_DATABASE } from '../core/database.ts';
import { timestampOf } from '../core/time.ts';
import { apiKeys, businesses, formerTokens, homes, importedTokens, retiredTokens } from '../db/schema.ts';
import { type BoundDatabase, type Databases, type NumberedDatabase, nameOf } from './databases.ts';

/**
 * The database of a user. A user who has none yet gets the one that is `wanted`, or the one with the fewest businesses. Fails if a
 * database does not respond: the user may be in that one.
 */
export async function homeOf(databases: Databases, user_id: number, wanted?: number): Promise<BoundDatabase> {
  // Before the claim, which stays.
  if (wanted !== undefined && databases.numbered(wanted) === undefined)
    throw new Error(`Database ${wanted} is not bound.`);
  const known = await databases.every(async ({ db }) => {
    const found = await db.batch([
      db.select({ id: businesses.id }).from(businesses).where(eq(businesses.user_id, user_id)).limit(1),
      db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.user_id, user_id)).limit(1),
    ]);
    return found.some((rows) => rows.length > 0);
  });
  const current = databases.all.filter((_, index) => known[index]);
  if (current.length > 1) throw new Error(`User ${user_id} is in ${current.map(nameOf).join(' and in ')}.`);
  const number = await claimHome(
    databases.first,
    user_id,
    current[0]?.number ?? wanted ?? (await emptiest(databases)).number,
  );
  const home = databases.numbered(number);
  if (home === undefined) throw new Error(`User ${user_id} is in database ${number}, which is not bound.`);
  if (current[0] !== undefined && current[0] !== home) {
    throw new Error(`User ${user_id} is in ${nameOf(current[0])}, but DB says ${nameOf(home)}.`);
  }
  if (wanted !== undefined && wanted !== number) {
    throw new Error(`User ${user_id} is in database ${number}, ${nameOf(home)}, and cannot be in another.`);
  }
  return home;
}

/** Reads from each database (`Databases.each`). Owners whose database is not bound are a failure, too: the result lacks what they have. */
export async function eachOfOwners<T>(databases: Databases, read: (database: BoundDatabase) => Promise<T>) {
  const { values, failures } = await databases.each(async (database) => {
    const homesIn =
      database === databases.first ? database.db.selectDistinct({ number: homes.database }).from(homes) : [];
    return { value: await read(database), claimed: await homesIn };
  });
  const unbound = values
    .flatMap(({ claimed }) => claimed)
    .filter(({ number }) => databases.numbered(number) === undefined);
  const missing = unbound
    .sort((a, b) => a.number - b.number)
    .map(({ number }) => `${bindingOf(number)} has owners, but the configuration does not bind it`);
  return { values: values.map(({ value }) => value), failures: [...failures, ...missing] };
}

/** Fails if owners are in a database that is not bound: whoever gets something new, or the token that is imported, could be there. */
export async function requireHomesBound(databases: Databases): Promise<void> {
  const { failures } = await eachOfOwners(databases, async () => null);
  if (failures.length > 0) throw new Error(failures.join('; '));
}

/** Claims a database for a user. Returns the one that was claimed first. */
async function claimHome({ db }: BoundDatabase, user_id: number, database: number): Promise<number> {
  const [, [claimed]] = await db.batch([
    db.insert(homes).values({ user_id, database }).onConflictDoNothing(),
    db.select().from(homes).where(eq(homes.user_id, user_id)),
  ]);
  return (claimed as typeof homes.$inferSelect).database;
}

/** The database with the fewest businesses: of several, the one with the lowest number. */
async function emptiest(databases: Databases): Promise<BoundDatabase> {
  if (databases.all.length === 1) return databases.first;
  const counts = await databases.every(({ db }) => db.$count(businesses));
  return databases.all[counts.indexOf(Math.min(...counts))] as BoundDatabase;
}

/** Claims an imported token for a user. Fails if a business has it or had it until it was deleted, or if another user has claimed it. */
export async function claimToken(databases: Databases, token: string, user_id: number, now: Date): Promise<void> {
  const hash = await hashOf(token);
  const used = await databases.every(async ({ db }) => {
    const kept = and(eq(formerTokens.token, token), gt(formerTokens.expires_at, timestampOf(now)));
    const isOwn = eq(businesses.token, token);
    const found = await db.batch([
      db.select({ id: businesses.id }).from(businesses).where(isOwn).limit(1),
      db.select({ id: formerTokens.business_id }).from(formerTokens).where(kept).limit(1),
      db.select().from(retiredTokens).where(eq(retiredTokens.hash, hash)).limit(1),
    ]);
    return found.some((rows) => rows.length > 0);
  });
  const refusal = 'This token is already in use.';
  if (used.includes(true)) throw new Error(refusal); // and no claim, which would stay
  const { db } = databases.first;
  const [, [claimed]] = await db.batch([
    db.insert(importedTokens).values({ hash, user_id, retriable: 1 }).onConflictDoNothing(),
    db.select().from(importedTokens).where(eq(importedTokens.hash, hash)),
  ]);
  if (claimed?.user_id !== user_id || claimed.retriable === 0) throw new Error(refusal);
}

/** SQLite's own table of the last id of each AUTOINCREMENT table. */
const sequence = sqliteTable('sqlite_sequence', { name: text().notNull(), seq: integer().notNull() });

/**
 * Two statements that bring the next ids into the range of the database, where they are not. They go into the batch of every command
 * that creates something, so no database needs a step of its own before its first row.
 */
export function raiseIds({ db, number }: NumberedDatabase) {
  const last = number * IDS_PER_DATABASE;
  const tables = sql`json_each('["businesses","access","api_keys"]')`;
  const isThere = sql`select 1 from ${sequence} where ${sequence.name} = value`;
  const raised = db
    .update(sequence)
    .set({ seq: last })
    .where(and(sql`${sequence.name} in (select value from ${tables})`, sql`${sequence.seq} < ${last}`));
  const added = db.insert(sequence).select(sql`select value, ${last} from ${tables} where not exists (${isThere})`);
  return [added, raised] as const;
}
