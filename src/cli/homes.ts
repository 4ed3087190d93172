// Which database an owner has, and which owner has an imported token. Both are claimed in DB, the first database, and are known there
// only: two commands at once agree, and a database that is down stops nobody but its own owners.
import { and, eq, exists, gt, inArray, ne, not, or, type SQL, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { hashOf } from '../core/credential.ts';
import { bindingOf, IDS_PER_DATABASE } from '../core/database.ts';
import { timestampOf } from '../core/time.ts';
import { businesses, type Database, formerTokens, homes, importedTokens, retiredTokens } from '../db/schema.ts';
import { type BoundDatabase, type Databases, type NumberedDatabase, nameOf, naming } from './databases.ts';
import { TokenInUse } from './errors.ts';

type Home = typeof homes.$inferSelect;

/** The database of a user. A user who has none yet gets the one that is `wanted`, or the one with the fewest owners. */
export async function homeOf(databases: Databases, user_id: number, wanted?: number): Promise<BoundDatabase> {
  const { db } = databases.first;
  const { claim, read } = homeIn(db, user_id, candidatesOf(databases, wanted));
  const [, [home]] = await naming(databases.first, db.batch([claim(), read]));
  return boundHome(databases, home as Home, wanted);
}

/**
 * The database of a user for a business with an imported token, which is claimed in the same batch. If the user cannot have the token or
 * the database, nothing is claimed. The user can claim the token again until a business has it, which only the home knows.
 */
export async function homeForImport(
  databases: Databases,
  user_id: number,
  token: string,
  now: Date,
  wanted?: number,
): Promise<BoundDatabase> {
  const { db } = databases.first;
  const { claim, read, isCandidate } = homeIn(db, user_id, candidatesOf(databases, wanted));
  const hash = await hashOf(token);
  const taken = and(
    eq(importedTokens.hash, hash),
    or(ne(importedTokens.user_id, user_id), eq(importedTokens.retriable, 0)),
  );
  const kept = and(eq(formerTokens.token, token), gt(formerTokens.expires_at, timestampOf(now)));
  // Other databases need not be asked: only a token of DB can be older than the claims.
  const isFree = and(
    not(exists(db.select().from(importedTokens).where(taken))),
    not(exists(db.select().from(businesses).where(eq(businesses.token, token)))),
    not(exists(db.select().from(formerTokens).where(kept))),
    not(exists(db.select().from(retiredTokens).where(eq(retiredTokens.hash, hash)))),
  );
  const claimToken = db
    .insert(importedTokens)
    .select(sql`select ${hash}, ${user_id}, 1 where ${and(isFree, isCandidate)}`)
    .onConflictDoNothing({ target: importedTokens.hash });
  const readToken = db
    .select()
    .from(importedTokens)
    .where(and(eq(importedTokens.hash, hash), isFree));
  const [, [home], , [claimed]] = await naming(databases.first, db.batch([claim(isFree), read, claimToken, readToken]));
  if (home === undefined) throw new TokenInUse();
  const bound = boundHome(databases, home, wanted);
  if (claimed === undefined) throw new TokenInUse();
  return bound;
}

/** The numbers of the databases that a user may be in, to get something new. */
function candidatesOf(databases: Databases, wanted: number | undefined): number[] {
  if (wanted === undefined) return databases.all.map(({ number }) => number);
  if (databases.numbered(wanted) === undefined) throw new Error(`Database ${wanted} is not bound.`);
  return [wanted];
}

/**
 * Statements about the home of a user. If `condition` is true, `claim` gives a user who has none the candidate with the fewest owners, or
 * of several the lowest. It counts in the same statement, so that of commands that run at once, each counts what the others have claimed.
 */
function homeIn(db: Database, user_id: number, candidates: number[]) {
  const own = eq(homes.user_id, user_id);
  const read = db.select().from(homes).where(own);
  const owners = sql`select ${homes.database} as number, count(*) as owners from ${homes} group by number`;
  const fewest = sql`select value from json_each(${JSON.stringify(candidates)}) left join (${owners}) on number = value
    order by coalesce(owners, 0), value limit 1`;
  const chosen = candidates.length === 1 ? sql`${candidates[0]}` : sql`(${fewest})`;
  return {
    claim: (condition?: SQL) =>
      db.insert(homes).select(sql`select ${user_id}, ${chosen} where ${and(not(exists(read)), condition)}`),
    read,
    isCandidate: exists(
      db
        .select()
        .from(homes)
        .where(and(own, inArray(homes.database, candidates))),
    ),
  };
}

/** The database of a home. Fails if it is not bound, or not the one that is wanted. */
function boundHome(databases: Databases, { user_id, database }: Home, wanted: number | undefined): BoundDatabase {
  const home = databases.numbered(database);
  if (home === undefined)
    throw new Error(`User ${user_id} is in ${bindingOf(database)}, which the configuration does not bind.`);
  if (wanted !== undefined && wanted !== database)
    throw new Error(`User ${user_id} is in database ${database}, ${nameOf(home)}, and cannot be in another.`);
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
