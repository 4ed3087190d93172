// Assigns owners to databases, and imported tokens to owners. Both assignments are made and stored only in DB, the first database.
// Concurrent callers therefore receive the same home, and an outage of any other database affects only the owners assigned to it.
import { and, eq, inArray, ne, type SQLWrapper, sql } from 'drizzle-orm';
import { sha256Hex } from '../core/credential.ts';
import { gapsIn, NotBound } from '../core/database.ts';
import { Conflict } from '../core/field-errors.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { isBeforeDeadline } from '../db/call.ts';
import { type Json, jsonObject, parseJson } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted, type Verdict } from '../db/permission.ts';
import { homes, importedTokens } from '../db/schema.ts';
import { operatorStatement, readVerdict, type Statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { withTimeout } from '../db/timeout.ts';

type Claim = Placeholders<'user_id' | 'hash'>;
const ofUser = (user_id: SQLWrapper) => eq(homes.user_id, user_id);

const NO_HOME = { database: null, claimed_at: null };
type Home = Pick<typeof homes.$inferSelect, 'database' | 'claimed_at'> | typeof NO_HOME;

/** Parses a home. All fields are null if the user has none. Throws NotBound if the home's database is not bound. */
export function boundHome({ numbers }: BoundDatabases, stored: Json<Home> | null): Home {
  const home = stored === null ? NO_HOME : parseJson(stored);
  if (home.database !== null && !numbers.includes(home.database)) throw new NotBound([home.database]);
  return home;
}

/** Reads the verdict and the user's home. Only DB has it. */
export const readHome = operatorStatement(['user_id'], (permission, $) => {
  const { database, claimed_at } = homes;
  const isOwn = and(isPermitted(permission), ofUser($.user_id));
  const home = jsonObject({ database, claimed_at });
  return withVerdict(permission, {
    home: sql<Json<Home> | null>`(select ${home} from ${homes} where ${isOwn})`,
  });
});
/** Returns the number of the user's database, or null if the user has none yet. */
export async function findHome(databases: BoundDatabases, user_id: number): Promise<number | null> {
  const { row } = await databases.askIn(0)(readHome({ user_id }));
  return boundHome(databases, row.home).database;
}

/** Returns the `ask` for the user's database. For an unknown user, it queries DB and finds no rows. */
export async function askOfUser(databases: BoundDatabases, user_id: number): Promise<Ask> {
  return databases.askIn((await findHome(databases, user_id)) ?? 0);
}

/** Tests whether no other user has claimed the token. If there is no token, `hash` is null, which never equals anything in SQL. */
function isFree({ user_id, hash }: Claim) {
  const isTaken = ne(importedTokens.user_id, user_id);
  return sql`not exists (select 1 from ${importedTokens} where ${and(eq(importedTokens.hash, hash), isTaken)})`;
}

const CLAIM = ['user_id', 'candidates', 'open', 'hash'] as const;
/**
 * Assigns a user without a home to one of the `open` databases: the one to which the fewest users have been assigned or, in a tie, the one
 * with the lowest number. Erased users count, too, because the highest place is the count. The same statement counts and assigns, so
 * concurrent callers see each other's claims.
 */
const insertHome = operatorStatement(CLAIM, (permission, $) => {
  const owners = sql`coalesce((select max(${homes.place}) from ${homes} where ${homes.database} = value), 0)`;
  const chosen = sql`(select value as number, ${owners} as owners from json_each(${$.open})
    order by owners, number limit 1)`;
  const isHomeless = sql`not exists (select 1 from ${homes} where ${ofUser($.user_id)})`;
  return builder.insert(homes).select(
    // The first subquery is empty for a user with a home, so SQLite does not count owners.
    sql`select ${rowValues(homes, { user_id: $.user_id, database: sql`number`, place: sql`owners + 1`, claimed_at: $.now })}
      from (select 1 where ${and(isHomeless, isFree($))}) cross join ${permission} cross join ${chosen}
      where ${and(isPermitted(permission), isBeforeDeadline)}`,
  );
});
/** Stores the current time in the home, because something is about to be created for the user (users/statements.ts). */
const touchHome = operatorStatement(['user_id'], (permission, $) =>
  builder
    .update(homes)
    .set({ claimed_at: sql`${$.now}` })
    .where(and(ofUser(ifPermitted(permission, $.user_id)), isBeforeDeadline, sql`${homes.claimed_at} <> ${$.now}`)),
);
const claimToken = operatorStatement(CLAIM, (permission, $) => {
  const isCandidate = inArray(homes.database, sql`(select value from json_each(${$.candidates}))`);
  const hasHome = sql`exists (select 1 from ${homes} where ${and(ofUser($.user_id), isCandidate)})`;
  return builder
    .insert(importedTokens)
    .select(
      sql`select ${rowValues(importedTokens, { hash: $.hash, user_id: $.user_id })} from ${permission}
        where ${$.hash} is not null and ${and(isPermitted(permission), isBeforeDeadline, hasHome, isFree($))}`,
    )
    .onConflictDoNothing({ target: importedTokens.hash });
});
/** Reads the user's claim, if the user may import the token. */
const ownClaim = operatorStatement(CLAIM, (permission, $) =>
  builder
    .select({ user_id: importedTokens.user_id })
    .from(importedTokens)
    .where(and(eq(importedTokens.hash, ifPermitted(permission, $.hash)), isFree($))),
);

/** A database that takes longer to respond receives no new owners. */
const RESPONDING_MS = 2000;
/**
 * Returns the numbers of the databases that respond. If none responds, returns all of them, so that the next batch fails with the cause.
 */
async function responding({ numbers, askIn }: BoundDatabases): Promise<readonly number[]> {
  const probes = await Promise.allSettled(
    numbers.map((number) => withTimeout(askIn(number)(readVerdict), RESPONDING_MS).then(() => number)),
  );
  const up = probes.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return up.length === 0 ? numbers : up;
}

/**
 * Returns the number of the user's database. Assigns a user without one to `wanted`, or to the responding database with the fewest assigned users.
 * In the same batch, claims the `token` to import, if any. If the user may not import it, `isFree` is false and nothing is claimed, so a
 * new user's `home` is null. The user can claim the token again until a business uses it. Only the user's database can tell whether a
 * business has used it.
 */
export async function claimHome(
  databases: BoundDatabases,
  user_id: number,
  { wanted, token }: { wanted?: number | undefined; token?: string | undefined } = {},
): Promise<{ home: number | null; isFree: boolean }> {
  const { numbers } = databases;
  if (wanted !== undefined && !numbers.includes(wanted))
    throw new Conflict('database', `must be the number of a bound database: ${numbers.join(', ')}`);
  const candidates = wanted === undefined ? numbers : [wanted];
  const hash = token === undefined ? null : sha256Hex(token);
  async function claim(open: readonly number[]) {
    const lists = { candidates: JSON.stringify(candidates), open: JSON.stringify(open) };
    const values = { user_id, hash, ...lists };
    const { home, owned } = await databases.askIn(0)(
      readVerdict,
      {
        claimed: insertHome(values),
        touched: touchHome(values),
        home: readHome(values),
        token: claimToken(values),
        owned: ownClaim(values),
      },
      true,
    );
    const isFree = token === undefined || owned.length > 0;
    return { home: boundHome(databases, home[0]?.home ?? null).database, isFree };
  }
  if (candidates.length === 1) return claim(candidates);
  const known = await claim([]); // only a new owner requires a probe of every database
  return known.home === null ? claim(await responding(databases)) : known;
}

/**
 * For each gap in the JSON list `gaps` (`gapsIn`), selects the first database in the gap that has owners, with one index lookup. Valid only
 * in DB.
 */
export const unboundWithOwners = (gaps: SQLWrapper) => sql`(select number from (
    select (select min(${homes.database}) from ${homes} where ${homes.database} between value ->> 0 and value ->> 1) as number
    from json_each(${gaps})
  ) where number is not null)`;
const selectUnbound = operatorStatement(['gaps'], (permission, $) =>
  builder.select({ number: sql<number>`number` }).from(unboundWithOwners(ifPermitted(permission, $.gaps))),
);

/**
 * Reads the first page of a list that spans all databases. This page comes from DB. Throws NotBound if an unbound database has owners,
 * because the list would omit their data.
 */
export async function readFirstPage<Row extends Verdict>({ numbers, askIn }: BoundDatabases, page: Statement<Row>) {
  const gaps = JSON.stringify(gapsIn(numbers));
  const { row, unbound } = await askIn(0)(page, { unbound: selectUnbound({ gaps }) }, true);
  if (unbound.length > 0) throw new NotBound(unbound.map(({ number }) => number));
  return row;
}
