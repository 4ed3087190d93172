// Every statement of a request, as functions that return statements; guard.ts runs them as one batch. No HTTP here.
import { and, asc, between, eq, gte, isNull, or, sql } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';
import { alias } from 'drizzle-orm/sqlite-core';

import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { dayOf, type Range, timestampOf } from '../core/time.ts';
import { access, apiKeys, businesses, dailyUsage } from './schema.ts';

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
  const entries = sql`select 1 from ${access} where ${eq(access.business_id, businesses.id)}`;
  const fields = {
    refusal: sql<Refusal | null>`case
      when ${businesses.id} is null then 'unknown_business'
      when ${credential.kind === 'token' && !policy.token} then 'token_not_allowed'
      when ${!policy.inactive} and ${businesses.status} <> 'active' then 'inactive_business'
      when ${everywhere} or exists (${entries} and ${access.site} = ${origin}) then null
      when exists (${entries}) then ${origin === null ? 'origin_missing' : 'origin_not_authorized'}
    end`.as('refusal'),
  };
  const asked = eq(businesses.id, call.business_id);
  if (credential.kind === 'token') {
    const holder = alias(businesses, 'holder');
    return db
      .select(fields)
      .from(holder)
      .leftJoin(businesses, and(asked, eq(businesses.id, holder.id)))
      .where(and(eq(holder.token, credential.token), eq(holder.status, 'active')))
      .limit(1) // also keeps SQLite from evaluating the rule once for each row that is joined to it
      .as('grant');
  }
  const unexpired = or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, dayOf(call.now)));
  return db
    .select(fields)
    .from(apiKeys)
    .leftJoin(businesses, and(asked, eq(businesses.user_id, apiKeys.user_id)))
    .where(and(eq(apiKeys.hash, credential.hash), isNull(apiKeys.revoked_at), unexpired))
    .limit(1)
    .as('grant');
}

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

/**
 * Stores those of `sites` (canonical, each once) that are new, in their order: all of them, or none where the call is
 * refused or the business would have too many.
 */
export function addSites(scope: Scope, sites: string[]) {
  const { db, grant, business_id, now } = scope;
  const stamp = timestampOf(now);
  const known = sql`select ${access.site} from ${access} where ${eq(access.business_id, business_id)}`;
  const fresh = sql`select key, value from json_each(${JSON.stringify(sites)}) where value not in (${known})`;
  return db.insert(access).select(
    sql`select null, ${granted(scope)}, value, ${stamp}, ${stamp} from ${grant} join (${fresh})
      where ${isNull(grant.refusal)}
        and (select count(*) from (${known})) + (select count(*) from (${fresh})) <= ${MAX_SITES}
      order by key`,
  );
}

/**
 * Marks the business as changed where one of `sites` was stored at this very moment. It goes by what `addSites` wrote and
 * not by the grant, which the new sites may have changed.
 */
export function touchBusiness({ db, business_id, now }: Scope, sites: string[]) {
  const stamp = timestampOf(now);
  return db
    .update(businesses)
    .set({ updated_at: stamp })
    .where(
      and(
        eq(businesses.id, business_id),
        sql`exists (select 1 from ${access} where ${eq(access.business_id, business_id)} and ${eq(access.created_at, stamp)}
          and ${access.site} in (select value from json_each(${JSON.stringify(sites)})))`,
      ),
    );
}

/** The business as the API shows it, but for its access_list. */
export const business = ({ db, business_id }: Scope) =>
  db.select().from(businesses).where(eq(businesses.id, business_id));

/** The access_list of the business. */
export const accessList = ({ db, business_id }: Scope) =>
  db.select().from(access).where(eq(access.business_id, business_id)).orderBy(asc(access.id));
