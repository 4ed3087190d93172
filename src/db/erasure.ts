// Erases a user who has no business: whatever names the user, in the home and in DB (docs/operating.md, "Personal data"). The home goes
// last: if something fails before, the same request goes on.
import { and, eq, inArray, isNotNull, isNull, not, type SQL, sql } from 'drizzle-orm';
import type { Action } from '../core/change.ts';
import { Conflict, ownsRule, RECENT_RULE } from '../core/conflict.ts';
import { MINUTE_MS, timestampOf } from '../core/time.ts';
import type { BoundDatabases } from './batch.ts';
import { isBeforeDeadline } from './call.ts';
import { boundHome, homeAfter, readHome } from './homes.ts';
import { ifPermitted, isPermitted } from './permission.ts';
import { apiKeys, businesses, changes, codes, homes, importedTokens, messages, userIn } from './schema.ts';
import { readVerdict, statement, withVerdict } from './statement.ts';
import { type BuiltQuery, builder, type Placeholders } from './text.ts';

/** No user has this id. */
const NOBODY = 0;
/** Much longer than a request can take: clocks differ. */
const RECENT_MS = MINUTE_MS;

const firstBusiness = ({ user_id }: Placeholders<'user_id'>) =>
  sql<number | null>`(select min(${businesses.id}) from ${businesses} where ${eq(businesses.user_id, user_id)})`;
/** Whether the newest API key of the user was created after `recent`. */
function hasNewKey({ user_id, recent }: Placeholders<'user_id' | 'recent'>) {
  const isKey = and(eq(apiKeys.user_id, user_id), isNull(apiKeys.ends_at));
  const newest = sql`(select ${apiKeys.created_at} from ${apiKeys} where ${isKey} order by ${apiKeys.id} desc limit 1)`;
  return sql<number>`coalesce(${newest} > ${recent}, 0)`;
}
/** Why nothing is erased in a database: the first business of the user, or a new key. */
const readObstacles = statement(['user_id', 'recent'], (permission, $) => {
  const business = sql<number | null>`case when ${isPermitted(permission)} then ${firstBusiness($)} end`;
  const new_key = sql<number>`case when ${isPermitted(permission)} then ${hasNewKey($)} end`;
  return withVerdict(permission, { business: business.as('business'), new_key: new_key.as('new_key') });
});

/** Defines a step in the home. `erased` is the user, or null if the call is not permitted or there is an obstacle. */
const step = <Q extends BuiltQuery>(write: (erased: SQL) => Q) =>
  statement(['user_id', 'recent'], (permission, $) => {
    const isPossible = and(isPermitted(permission), isBeforeDeadline, isNull(firstBusiness($)), not(hasNewKey($)));
    return write(sql`(select ${$.user_id} from ${permission} where ${isPossible})`);
  });

const { before, after, action, subject, subject_id } = changes;
/** In this order: the names of keys are found by the keys. */
const STEPS = {
  /** Of a deleted business, the one change that stays has nothing of its owner. The others go with the purge. */
  before: step((erased) => {
    const others = sql`case when ${action} <> 'delete_business' then json_remove(${before}, '$.user_id') end`;
    return builder
      .update(changes)
      .set({ before: others })
      .where(sql`${userIn(before)} = ${erased}`);
  }),
  after: step((erased) =>
    builder
      .update(changes)
      .set({ after: sql`json_remove(${after}, '$.user_id')` })
      .where(sql`${userIn(after)} = ${erased}`),
  ),
  /** A business that was given away has changes with the names of the former owner's keys, which its owner never sees. */
  key_names: step((erased) => {
    const ofUser = eq(apiKeys.user_id, erased);
    const given = sql`(select ${apiKeys.business_id} from ${apiKeys} where ${ofUser})`;
    const ids = sql`(select ${apiKeys.id} from ${apiKeys} where ${ofUser})`;
    const isNamed = sql`coalesce(${after}, ${before}) ->> 'id' in ${ids}`;
    return builder
      .update(changes)
      .set({ before: sql`json_remove(${before}, '$.name')`, after: sql`json_remove(${after}, '$.name')` })
      .where(
        and(
          eq(subject, 'business'),
          inArray(subject_id, given),
          inArray(action, ['create_key', 'revoke_key'] satisfies Action[]),
          isNamed,
        ),
      );
  }),
  /**
   * In an open message, the alerts of a business that was given away name its new owner, and those of deleted businesses are left out. A
   * message that has no others is given up.
   */
  unsent: step((erased) => {
    const owner = sql`(select ${businesses.user_id} from ${businesses} where ${businesses.id} = value ->> 'business_id')`;
    const listed = sql`from json_each(${messages.body}, '$.data.alerts')`;
    const isKept = sql`(value ->> 'user_id' <> ${erased} or ${owner} is not null)`;
    const alert = sql`case when value ->> 'user_id' = ${erased} then json_set(value, '$.user_id', ${owner}) else value end`;
    const kept = sql`(select json_group_array(json(${alert}) order by key) ${listed} where ${isKept})`;
    const isLeft = sql`exists (select 1 ${listed} where ${isKept})`;
    return builder
      .update(messages)
      .set({ body: sql`case when ${isLeft} then json_set(${messages.body}, '$.data.alerts', ${kept}) end` })
      .where(and(isNotNull(messages.body), sql`exists (select 1 ${listed} where value ->> 'user_id' = ${erased})`));
  }),
  changes: step((erased) => builder.delete(changes).where(and(eq(subject, 'user'), eq(subject_id, erased)))),
  codes: step((erased) => builder.delete(codes).where(eq(codes.user_id, erased))),
  keys: step((erased) => builder.delete(apiKeys).where(eq(apiKeys.user_id, erased))),
};

/** Only if nothing was created for the user since the home was read. */
const eraseHome = statement(['user_id', 'claimed_at'], (permission, $) => {
  const isOwn = eq(homes.user_id, ifPermitted(permission, $.user_id));
  return builder.delete(homes).where(and(isOwn, isBeforeDeadline, sql`${homes.claimed_at} is ${$.claimed_at}`));
});
/** The token stays claimed, so that nobody can import it again. */
const disownTokens = statement(['user_id'], (permission, $) => {
  const isOwn = eq(importedTokens.user_id, ifPermitted(permission, $.user_id));
  const isHomeless = sql`not exists (select 1 from ${homes} where ${eq(homes.user_id, $.user_id)})`;
  return builder
    .update(importedTokens)
    .set({ user_id: NOBODY, retriable: 0 })
    .where(and(isOwn, isBeforeDeadline, isHomeless));
});

/**
 * Erases a user, also one who is unknown: without a home, in all databases, since a database that was restored can still have what names the
 * user. Throws a Conflict if the user has a business, or may be about to get one: then the home, at least, stays. Between two databases
 * there is no transaction, so whatever creates something for a user first leaves the time in the home. A batch that creates begins within
 * 10 seconds of that, and never after the home was erased.
 */
export async function eraseUser(databases: BoundDatabases, user_id: number, now: Date): Promise<void> {
  const { row } = await databases.askIn(0)(readHome({ user_id }));
  const { database, claimed_at } = boundHome(databases, row.home);
  const recent = timestampOf(new Date(now.getTime() - RECENT_MS));
  const isRecent = claimed_at !== null && claimed_at > recent;
  const steps = Object.fromEntries(Object.entries(STEPS).map(([name, define]) => [name, define({ user_id, recent })]));
  for (const number of database === null ? databases.numbers : [database]) {
    const obstacles = readObstacles({ user_id, recent });
    const { business, new_key } = (await databases.askIn(number)(obstacles, isRecent ? undefined : steps)).row;
    if (business !== null) throw new Conflict('user_id', ownsRule(business));
    if (isRecent || new_key) throw new Conflict('user_id', RECENT_RULE);
  }
  const { left } = await databases.askIn(0)(readVerdict, {
    erased: eraseHome({ user_id, claimed_at }),
    disowned: disownTokens({ user_id }),
    left: homeAfter({ user_id }),
  });
  if (left[0]?.home !== null) throw new Conflict('user_id', RECENT_RULE);
}
