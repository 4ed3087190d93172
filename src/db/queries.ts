// Every statement of a request, as functions that return statements; guard.ts runs them as one batch. No HTTP here.
import { and, asc, between, eq, gte, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';

import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { sitesCovering } from '../core/site.ts';
import { dayOf, type Range, timestampOf } from '../core/time.ts';
import { access, apiKeys, businesses, dailyUsage, formerTokens, ledger } from './schema.ts';

export type Database = DrizzleD1Database;

/** The most sites a business can have. */
export const MAX_SITES = 500;

/** Who asks for what, from where. */
export type Call = {
  operation: Operation;
  /** An API key by its hash, a business token as it is. */
  credential: { kind: 'key'; hash: string } | { kind: 'token'; token: string };
  /** 0 where the path names none: no business has that id. */
  business_id: number;
  /** Null: the call comes from a server. */
  origin: string | null;
  /** The origin of the service itself, from which an API key is always accepted. */
  own_origin: string;
  now: Date;
};

/** What a route makes its statements of. */
export type Scope = { db: Database; grant: Grant; business_id: number; now: Date };

/**
 * The one rule of who may do what: a subquery of one column, `refusal`, null when the call is granted. It has no row when
 * the credential is not valid. What a refused caller is told is read from it, and every write is made of it, so that the
 * two cannot disagree.
 */
export function grantFor(db: Database, call: Call) {
  const { credential, origin } = call;
  const policy = POLICY[call.operation];
  const everywhere = credential.kind === 'key' && (origin === null || origin === call.own_origin);
  const covering = origin === null ? [] : sitesCovering(origin);
  const entries = sql`select 1 from ${access} where ${eq(access.business_id, businesses.id)}`;
  const unexpired = or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, dayOf(call.now)));
  // Nested, as Drizzle takes the table's name from a column that stands in a select of one table by itself.
  const rule = sql<Refusal | null>`case
    when ${businesses.id} is not ${call.business_id} then 'unknown_business'
    when ${credential.kind === 'token' && !policy.token} then 'token_not_allowed'
    when ${!policy.inactive} and ${businesses.status} <> 'active' then 'inactive_business'
    when ${everywhere} or exists (${entries} and ${inArray(access.site, covering)}) then null
    when exists (${entries}) then ${origin === null ? 'origin_missing' : 'origin_not_authorized'}
  end`;
  const fields = { refusal: sql<Refusal | null>`(${rule})`.as('refusal') };
  const caller =
    credential.kind === 'token'
      ? db
          .select(fields)
          .from(businesses)
          .where(and(isTokenOf(credential.token, call.now), eq(businesses.status, 'active')))
      : db
          .select(fields)
          .from(apiKeys)
          .leftJoin(businesses, and(eq(businesses.id, call.business_id), eq(businesses.user_id, apiKeys.user_id)))
          .where(and(eq(apiKeys.hash, credential.hash), isNull(apiKeys.revoked_at), unexpired));
  // The limit also keeps SQLite from evaluating the rule once for each row that is joined to it.
  return caller.limit(1).as('grant');
}

/** Whether the token is a business's, or was until lately. */
const isTokenOf = (token: string, now: Date) =>
  or(
    eq(businesses.token, token),
    sql`${businesses.id} = (select ${formerTokens.business_id} from ${formerTokens}
      where ${eq(formerTokens.token, token)} and ${formerTokens.expires_at} > ${timestampOf(now)})`,
  );

export type Grant = ReturnType<typeof grantFor>;

/** The refusal alone. */
export const refusalOf = ({ db, grant }: Pick<Scope, 'db' | 'grant'>) =>
  db.select({ refusal: grant.refusal }).from(grant);

/** The id of the business where the call is granted, else null: a search by it then finds nothing and reads nothing. */
const granted = ({ grant, business_id }: Scope) => sql`case when ${isNull(grant.refusal)} then ${business_id} end`;

/** The refusal, with the days of `range` that have a count: one row without a day where there is none. */
export const usageInRange = (scope: Scope, { from, to }: Range) =>
  scope.db
    .select({ refusal: scope.grant.refusal, day: dailyUsage.day, count: dailyUsage.count })
    .from(scope.grant)
    .leftJoin(dailyUsage, and(eq(dailyUsage.business_id, granted(scope)), between(dailyUsage.day, from, to)));

/** A use with an id of its own, which counts once: a digest of the id in hex, and the day to count it on. */
export type IdentifiedUse = { digest: string; day: string };

const isNew = ({ business_id }: Scope, digest: SQL) => sql`not exists (
  select 1 from ${ledger} where ${eq(ledger.business_id, business_id)} and ${ledger.digest} = unhex(${digest}))`;

const counted = { date: dailyUsage.day, count: dailyUsage.count };

/** Adds what is selected, as (business_id, day, count), to the counts. The rows that come back have the new counts. */
const addToCounts = ({ db }: Scope, select: SQL) =>
  db
    .insert(dailyUsage)
    .select(select)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      set: { count: sql`${dailyUsage.count} + excluded.count` },
    })
    .returning(counted);

/** Counts one use: today, or where it has an id on its day, if the id is new. No row comes back where it was not counted. */
export function countUse(scope: Scope, use?: IdentifiedUse) {
  const condition = and(isNull(scope.grant.refusal), use && isNew(scope, sql`${use.digest}`));
  const day = use?.day ?? dayOf(scope.now);
  return addToCounts(scope, sql`select ${granted(scope)}, ${day}, 1 from ${scope.grant} where ${condition}`);
}

/** Puts a use into the ledger, if it is new. It goes with `countUse`, behind it: until then both find it new. */
export const rememberUse = (scope: Scope, { digest, day }: IdentifiedUse) =>
  scope.db
    .insert(ledger)
    .select(
      sql`select ${granted(scope)}, unhex(${digest}), ${day}, ${dayOf(scope.now)} from ${scope.grant}
        where ${isNull(scope.grant.refusal)} and ${isNew(scope, sql`${digest}`)}`,
    )
    .returning({ day: ledger.day });

const newUses = (scope: Scope, uses: IdentifiedUse[]) => {
  const list = JSON.stringify(uses.map(({ digest, day }) => [digest, day]));
  const digest = sql.raw('value ->> 0');
  return sql`(select ${digest} as digest, value ->> 1 as day from json_each(${list}) where ${isNew(scope, digest)})`;
};

/** Counts those of `uses` (each digest once) that are new. */
export const countUses = (scope: Scope, uses: IdentifiedUse[]) =>
  addToCounts(
    scope,
    sql`select ${granted(scope)}, day, count(*) from ${scope.grant} join ${newUses(scope, uses)}
      where ${isNull(scope.grant.refusal)} group by day`,
  );

/** Puts those of `uses` that are new into the ledger. A row comes back for each. It goes with `countUses`, behind it. */
export const rememberUses = (scope: Scope, uses: IdentifiedUse[]) =>
  scope.db
    .insert(ledger)
    .select(
      sql`select ${granted(scope)}, unhex(digest), day, ${dayOf(scope.now)} from ${scope.grant} join ${newUses(scope, uses)}
        where ${isNull(scope.grant.refusal)}`,
    )
    .returning({ day: ledger.day });

/** The day on which the use of this digest was counted, with that day's count now. */
export const countedUse = ({ db, business_id }: Scope, digest: string) =>
  db
    .select(counted)
    .from(ledger)
    .innerJoin(dailyUsage, and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, ledger.day)))
    .where(and(eq(ledger.business_id, business_id), eq(ledger.digest, sql`unhex(${digest})`)));

const known = ({ business_id }: Scope) =>
  sql`select ${access.site} from ${access} where ${eq(access.business_id, business_id)}`;

/** The business where the call is granted and `condition` holds, else null. Both writes of a change go by it. */
const changed = (scope: Scope, condition: SQL) =>
  sql`(select ${granted(scope)} from ${scope.grant} where ${condition})`;

/** Marks the business as changed. It comes before the change itself, which can change what is granted. */
const touch = (scope: Scope, condition: SQL) =>
  scope.db
    .update(businesses)
    .set({ updated_at: timestampOf(scope.now) })
    .where(eq(businesses.id, changed(scope, condition)));

/**
 * Stores those of `sites` (canonical, each once) that are new, in their order: all of them, or none where the call is
 * refused or the business would have too many.
 */
export function addSites(scope: Scope, sites: string[]) {
  const stamp = timestampOf(scope.now);
  const fresh = sql`select key, value from json_each(${JSON.stringify(sites)}) where value not in (${known(scope)})`;
  const condition = sql`exists (${fresh})
    and (select count(*) from (${known(scope)})) + (select count(*) from (${fresh})) <= ${MAX_SITES}`;
  const insert = scope.db.insert(access).select(
    sql`select null, business, value, ${stamp}, ${stamp}
      from (select ${changed(scope, condition)} as business) join (${fresh}) where business is not null order by key`,
  );
  return [touch(scope, condition), insert] as const;
}

/** Removes an entry, unless it is the last. */
export function removeSite(scope: Scope, accessId: number) {
  const others = sql`select 1 from ${access} where ${eq(access.business_id, scope.business_id)}`;
  const condition = sql`exists (${others} and ${access.id} = ${accessId}) and exists (${others} and ${access.id} <> ${accessId})`;
  const remove = scope.db
    .delete(access)
    .where(and(eq(access.id, accessId), eq(access.business_id, changed(scope, condition))));
  return [touch(scope, condition), remove] as const;
}

/** Removes all entries: the token works everywhere again. */
export function removeAllSites(scope: Scope) {
  const condition = sql`exists (${known(scope)})`;
  const remove = scope.db.delete(access).where(eq(access.business_id, changed(scope, condition)));
  return [touch(scope, condition), remove] as const;
}

/** The refusal, with the id of the entry where the business has it. */
export const entryOf = (scope: Scope, accessId: number) =>
  scope.db
    .select({ refusal: scope.grant.refusal, access_id: access.id })
    .from(scope.grant)
    .leftJoin(access, and(eq(access.id, accessId), eq(access.business_id, granted(scope))));

/** The business as the API shows it, but for its access_list. */
export const business = ({ db, business_id }: Scope) =>
  db.select().from(businesses).where(eq(businesses.id, business_id));

/** The access_list of the business. */
export const accessList = ({ db, business_id }: Scope) =>
  db.select().from(access).where(eq(access.business_id, business_id)).orderBy(asc(access.id));
