// Erases a user who has no businesses. This covers all data that names the user, both in the user's database and in DB (docs/operating.md,
// "Personal data"). Erases the home last, so a failed request can be retried.
import { and, type Column, eq, inArray, isNull, not, type SQL, sql } from 'drizzle-orm';
import { KEY_ACTIONS } from '../core/change.ts';
import { Conflict } from '../core/field-errors.ts';
import { formatTimestamp, MINUTE_MS } from '../core/time.ts';
import type { BoundDatabases } from '../db/batch.ts';
import { isBeforeDeadline } from '../db/call.ts';
import { ifPermitted, isPermitted } from '../db/permission.ts';
import { apiKeys, businesses, changes, codes, homes, importedTokens, userIn, work } from '../db/schema.ts';
import { operatorStatement, readVerdict, withVerdict } from '../db/statement.ts';
import { type BuiltQuery, builder, type Placeholders } from '../db/text.ts';
import { boundHome, readHome } from '../homes/homes.ts';
import { ownsRule, RECENT_RULE } from './rules.ts';

/** No user has this id. */
const NO_USER = 0;
/** The maximum number of changes that one batch deletes, because other requests wait for the batch. */
const CHANGES_PER_BATCH = 8000;
/** Much longer than a request can take, to allow for clock differences. */
const RECENT_MS = MINUTE_MS;

const firstBusiness = ({ user_id }: Placeholders<'user_id'>) =>
  sql<number | null>`(select min(${businesses.id}) from ${businesses} where ${eq(businesses.user_id, user_id)})`;
/** Tests whether the user's newest API key was created after `recent`. */
function hasNewKey({ user_id, recent }: Placeholders<'user_id' | 'recent'>) {
  const isKey = and(eq(apiKeys.user_id, user_id), isNull(apiKeys.ends_at));
  const newest = sql`(select ${apiKeys.created_at} from ${apiKeys} where ${isKey} order by ${apiKeys.id} desc limit 1)`;
  return sql<number>`coalesce(${newest} > ${recent}, 0)`;
}
/** Reads the verdict and what would prevent an erasure: the user's first business, or a recently created key. */
const readObstacles = operatorStatement(['user_id', 'recent'], (permission, $) => {
  return withVerdict(permission, { business: firstBusiness($), new_key: hasNewKey($) });
});

/** Defines a step that runs in the user's database. `erased` is the user's id, or null if the call is refused or an obstacle exists. */
const step = <Q extends BuiltQuery>(write: (erased: SQL) => Q) =>
  operatorStatement(['user_id', 'recent'], (permission, $) => {
    const isPossible = and(isPermitted(permission), isBeforeDeadline, isNull(firstBusiness($)), not(hasNewKey($)));
    return write(sql`(select ${$.user_id} from ${permission} where ${isPossible})`);
  });

const { before, after, action, subject, subject_id, id } = changes;
const keyOfChange = sql`(${subject}, ${subject_id}, ${id})`;
/** Selects the keys of the changes in which `text` names the user as an owner. */
const naming = (text: Column, erased: SQL) =>
  sql`select ${subject}, ${subject_id}, ${id} from ${changes} where ${userIn(text)} = ${erased}`;
/** A subquery, because SQLite looks up rows by several columns only if a simple select lists them. */
const namingOnEitherSide = (erased: SQL) => sql`(${naming(before, erased)} union all ${naming(after, erased)})`;
/** Keeps `text`, unless it names the user as an owner. Then it is cleared, as it is the user's (`shownTo`). */
const clearedOf = (text: Column, erased: SQL) => sql`case when ${userIn(text)} is not ${erased} then ${text} end`;

/** The order matters: `values` runs directly after `deleted`, and `key_names` finds changes through the keys, which `keys` deletes. */
const STEPS = {
  /**
   * Deletes up to CHANGES_PER_BATCH changes of deleted businesses that the user owned, because the purge may delete them only later. The
   * changes that name the user remain, because they are needed to find the others.
   */
  deleted: step((erased) => {
    // Names the subquery's column itself, because Drizzle's name for it means the outer row.
    const isGone = sql`not exists (select 1 from ${businesses} where ${businesses.id} = naming.subject_id)`;
    const owned = sql`select naming.subject_id from ${namingOnEitherSide(erased)} as naming where ${isGone}`;
    const due = sql`select ${subject}, ${subject_id}, ${id} from ${changes} where ${eq(subject, 'business')} and ${subject_id} in (${owned})
      and ${action} <> 'delete_business' and ${userIn(before)} is not ${erased} and ${userIn(after)} is not ${erased}
      limit ${sql.raw(`${CHANGES_PER_BATCH}`)}`;
    return builder.delete(changes).where(sql`${keyOfChange} in (${due})`).returning({ id });
  }),
  /** Clears the values that name the user, unless there can be more changes to delete. */
  values: step((erased) =>
    builder
      .update(changes)
      .set({ before: clearedOf(before, erased), after: clearedOf(after, erased) })
      .where(
        sql`changes() < ${sql.raw(`${CHANGES_PER_BATCH}`)} and ${keyOfChange} in (select * from ${namingOnEitherSide(erased)})`,
      ),
  ),
  /** Removes the names of the user's keys from the changes of transferred businesses. New owners never see these names. */
  key_names: step((erased) => {
    const ofUser = eq(apiKeys.user_id, erased);
    const given = sql`(select ${apiKeys.business_id} from ${apiKeys} where ${ofUser})`;
    const ids = sql`(select ${apiKeys.id} from ${apiKeys} where ${ofUser})`;
    const isNamed = sql`coalesce(${after}, ${before}) ->> 'id' in ${ids}`;
    return builder
      .update(changes)
      .set({ before: sql`json_remove(${before}, '$.name')`, after: sql`json_remove(${after}, '$.name')` })
      .where(and(eq(subject, 'business'), inArray(subject_id, given), inArray(action, KEY_ACTIONS), isNamed));
  }),
  actor_names: step((erased) =>
    builder.update(changes).set({ actor_name: null, actor_user_id: null }).where(eq(changes.actor_user_id, erased)),
  ),
  changes: step((erased) => builder.delete(changes).where(and(eq(subject, 'user'), eq(subject_id, erased)))),
  codes: step((erased) => builder.delete(codes).where(eq(codes.user_id, erased))),
  keys: step((erased) => builder.delete(apiKeys).where(eq(apiKeys.user_id, erased))),
  work: step((erased) => builder.delete(work).where(eq(work.user_id, erased))),
};

/** Erases the home, unless something was created for the user after the home was read. */
const eraseHome = operatorStatement(['user_id', 'claimed_at'], (permission, $) => {
  const isOwn = eq(homes.user_id, ifPermitted(permission, $.user_id));
  return builder.delete(homes).where(and(isOwn, isBeforeDeadline, sql`${homes.claimed_at} is ${$.claimed_at}`));
});
/** Removes the user from claimed tokens. The claims remain, so the tokens cannot be imported again. */
const disownTokens = operatorStatement(['user_id'], (permission, $) => {
  const isOwn = eq(importedTokens.user_id, ifPermitted(permission, $.user_id));
  const isHomeless = sql`not exists (select 1 from ${homes} where ${eq(homes.user_id, $.user_id)})`;
  return builder
    .update(importedTokens)
    .set({ user_id: NO_USER })
    .where(and(isOwn, isBeforeDeadline, isHomeless));
});

/**
 * Erases a user. If the user has no home, erases the user from all databases, because a restored database can still name the user. Throws a
 * Conflict, and retains at least the home, if the user has a business or a recent key, or if something may be about to be created for the
 * user. No transaction spans two databases, so what creates a business or the operator's key for a user first stores the current time in the
 * home, and its batch starts within 10 seconds. A home with a time in the last minute is not erased. What else is created needs, in the same
 * transaction, a business or a working key: a console link, a key for one business and a key that an owner's key creates.
 */
export async function eraseUser(databases: BoundDatabases, user_id: number, now: Date): Promise<void> {
  const { row } = await databases.askIn(0)(readHome({ user_id }));
  const { database, claimed_at } = boundHome(databases, row.home);
  const recent = formatTimestamp(new Date(now.getTime() - RECENT_MS));
  const isRecent = claimed_at !== null && claimed_at > recent;
  const steps = Object.fromEntries(Object.entries(STEPS).map(([name, define]) => [name, define({ user_id, recent })]));
  for (const number of database === null ? databases.numbers : [database]) {
    const obstacles = readObstacles({ user_id, recent });
    let hasMore = true;
    while (hasMore) {
      const { row, deleted = [] } = await databases.askIn(number)(obstacles, isRecent ? undefined : steps);
      if (row.business !== null) throw new Conflict('user_id', ownsRule(row.business));
      if (isRecent || row.new_key) throw new Conflict('user_id', RECENT_RULE);
      hasMore = deleted.length === CHANGES_PER_BATCH;
    }
  }
  const { left } = await databases.askIn(0)(readVerdict, {
    erased: eraseHome({ user_id, claimed_at }),
    disowned: disownTokens({ user_id }),
    left: readHome({ user_id }),
  });
  if (left[0]?.home !== null) throw new Conflict('user_id', RECENT_RULE);
}
