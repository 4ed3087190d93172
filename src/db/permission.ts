// Determines in SQL whether a call is permitted: builds the permission on which every statement of the call depends.
import { and, eq, inArray, isNotNull, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { allowsKeys, type Invalidity, type Refusal, type Role } from '../core/policy.ts';
import type { Spent } from '../core/work.ts';
import { $call, type CallShape, candidate } from './call.ts';
import { asJson, type Json, jsonObject } from './json.ts';
import type { FormerUse } from './last-use.ts';
import { hasOtherLimits, type Limit, limitOn } from './plan.ts';
import { apiKeys, billingColumns, businesses, codes, formerTokens, sites, sources } from './schema.ts';
import { spentBy } from './spent.ts';
import { NULL, subqueryOf } from './text.ts';

/** Matches a business by its current token, or by a former token that has not expired. */
const isToken = or(
  eq(businesses.token, $call.lookup_value),
  sql`${businesses.id} = (select ${formerTokens.business_id} from ${formerTokens}
    where ${eq(formerTokens.token, $call.lookup_value)} and ${formerTokens.expires_at} > ${$call.now})`,
);
const sitesOf = (business_id: SQLWrapper) => sql`select 1 from ${sites} where ${eq(sites.business_id, business_id)}`;
const ownSites = sitesOf(businesses.id);

/**
 * The number of the source of a call's uses that have no label: of the label of its key, or else of the site that lets its origin in, which
 * is the origin itself or else the narrowest wildcard.
 */
function sourceOfCall(business_id: SQLWrapper, { caller, candidates }: CallShape): SQL {
  const ofSites = Array.from({ length: candidates }, (_, index) => {
    const site = sql.placeholder(candidate(index));
    return sql`(select ${sources.number} from ${sites} cross join ${sources}
      where ${and(eq(sites.business_id, business_id), eq(sites.site, site), eq(sources.business_id, business_id), eq(sources.name, site))})`;
  });
  // In the order of sitesCovering. SQLite's coalesce requires two values.
  return sql`coalesce(${sql.join([caller === 'key' ? apiKeys.source : NULL, ...ofSites, NULL], sql`, `)})`;
}

type OverageOf = (limit: 'overage' | 'page_overage') => SQLWrapper;
/**
 * The part of the overage that uses with a token may use: all of it if the business has `page_overage` and a site that visitors can reach,
 * of which the index sites_reachable needs one row. Otherwise none, because a page on any machine could use it up.
 */
export const pageAllowance = (overageOf: OverageOf, business_id: SQLWrapper = businesses.id) =>
  sql<
    number | null
  >`case when ${overageOf('page_overage')} and exists (${sitesOf(business_id)} and ${sites.is_reachable} = 1)
    then ${overageOf('overage')} else 0 end`;
/** The overage that this caller may use, as a field of a query of `businesses`. */
export const allowedOverage = ({ caller }: CallShape, overageOf: OverageOf) =>
  caller === 'token' ? pageAllowance(overageOf) : sql<number | null>`${overageOf('overage')}`;

type KeyColumns = Record<'role' | 'is_session' | 'key_user_id' | 'key_business_id' | 'can_create_keys', SQLWrapper>;

/**
 * The rule that permits or refuses every call, as an expression over a business's row: the refusal, or null if the call is permitted. The
 * SQL contains only the conditions that can apply to calls of this shape. A business without sites allows every origin. `permitted` is the
 * result if a site lets the origin in, and `otherwise` if no condition applies.
 */
export function ruleFor(
  { caller, rule, namesBusiness, namesUser, origin, candidates }: CallShape,
  key: KeyColumns,
  permitted = NULL,
  otherwise = permitted,
) {
  const { token, keys, session, whileInactive } = rule;
  const isOfUser = namesUser && caller === 'key' && allowsKeys(rule);
  // Not an `in` list: SQLite would build an index of the roles, and read a row of it.
  const isUnlisted = keys.map((role) => sql`${key.role} <> ${sql.raw(`'${role}'`)}`);
  const covering = Array.from({ length: candidates }, (_, index) => sql.placeholder(candidate(index)));
  const cases: [boolean, SQL, Refusal | SQL][] = [
    [namesBusiness, sql`${businesses.id} is not ${$call.business_id}`, 'unknown_business'],
    [isOfUser, sql`${key.key_user_id} <> ${$call.user_id}`, 'unknown_user'],
    [!allowsKeys(rule) && caller !== 'operator', sql`true`, 'operator_only'],
    [session === 'only', sql`${key.is_session} is not 1`, 'session_only'],
    [!token && caller === 'token', sql`true`, 'token_not_allowed'],
    [session === 'none', sql`${key.is_session}`, 'session_not_allowed'],
    [
      session === 'can_create_keys' && caller === 'key',
      sql`${key.is_session} and ${key.can_create_keys} is not 1`,
      'session_not_allowed',
    ],
    // What is not listed is refused, even a role that a later version stored.
    [caller === 'key', sql`(${sql.join([sql`true`, ...isUnlisted], sql` and `)})`, sql`${key.role} || '_only_key'`],
    [isOfUser, sql`${key.key_business_id} is not null`, 'narrow_key'],
    [!whileInactive && caller !== 'operator', sql`${businesses.status} <> 'active'`, 'inactive_business'],
    [candidates > 0, sql`exists (${ownSites} and ${inArray(sites.site, covering)})`, permitted],
    [origin === 'missing', sql`exists (${ownSites})`, 'origin_missing'],
    [origin === 'sent', sql`exists (${ownSites})`, 'origin_not_authorized'],
  ];
  const whens = cases.flatMap(([applies, condition, refusal]) =>
    applies ? sql`when ${condition} then ${typeof refusal === 'string' ? sql.raw(`'${refusal}'`) : refusal}` : [],
  );
  return sql<Refusal | null>`${whens.length === 0 ? otherwise : sql`case ${sql.join(whens, sql` `)} else ${otherwise} end`}`;
}

/** Takes the place of a refusal if a page is permitted only because no site is registered. */
export const OPEN = 'open';

const NO_KEY: KeyColumns = {
  role: NULL,
  is_session: NULL,
  key_user_id: NULL,
  key_business_id: NULL,
  can_create_keys: NULL,
};
const isSession = sql`(${isNotNull(apiKeys.ends_at)})`;
const KEY: KeyColumns = {
  role: apiKeys.role,
  is_session: isSession,
  key_user_id: apiKeys.user_id,
  key_business_id: apiKeys.business_id,
  can_create_keys: apiKeys.can_create_keys,
};

/** The reason why a stored credential is invalid. Null if it is valid. */
const invalidity: Record<CallShape['caller'], SQL> = {
  key: sql`case
    when ${apiKeys.ends_at} <= ${$call.now} then 'ended_session'
    when ${apiKeys.revoked_at} is not null then 'revoked_key'
    when ${apiKeys.expires_on} < ${$call.today} then 'expired_key'
  end`,
  token: sql`case when ${businesses.status} <> 'active' then 'token_of_inactive_business' end`,
  operator: NULL,
  code: NULL,
};

/** The id of a key that is not marked as used today. */
const unmarkedKey = sql`case when ${apiKeys.last_used_on} is not ${$call.today} then ${apiKeys.id} end`;
/** What is stored of a former token's use. The current token needs no lookup. */
const formerUse = sql`case when ${businesses.token} <> ${$call.lookup_value} then (select ${jsonObject({
  last_used_on: formerTokens.last_used_on,
  used_from: asJson(formerTokens.used_from),
})} from ${formerTokens} where ${eq(formerTokens.token, $call.lookup_value)}) end`;

/**
 * Builds a call's permission as a subquery. It selects the `refusal`, which is null or OPEN if the call is permitted, and the columns of
 * the business and the key that statements need. The key's columns are null unless the caller uses an API key. It returns no row if the
 * credential is unknown. The response and every write depend on this subquery, so they cannot disagree.
 */
export function permissionFor(shape: CallShape) {
  const isKey = shape.caller === 'key';
  const today = <Data>(limit: Limit) => limitOn<Data>(limit, businesses, $call.today);
  const spent = isKey && shape.work ? spentBy(apiKeys.user_id, isNotNull(apiKeys.business_id), shape.work) : NULL;
  const open = spent === NULL ? sql.raw(`'${OPEN}'`) : sql`coalesce(${spent}, '${sql.raw(OPEN)}')`;
  const otherwise = shape.origin === 'sent' && shape.namesBusiness ? open : spent;
  const ofKey = <Data>(column: SQLiteColumn | SQL) => sql<Data | null>`${isKey ? column : NULL}`;
  const fields = {
    refusal: sql<
      Refusal | Invalidity | Spent | typeof OPEN | null
    >`coalesce(${invalidity[shape.caller]}, ${ruleFor(shape, isKey ? KEY : NO_KEY, spent, otherwise)})`,
    key_id: ofKey<number>(apiKeys.id),
    key_last_four: ofKey<string>(apiKeys.last_four),
    key_user_id: ofKey<number>(apiKeys.user_id),
    key_business_id: ofKey<number>(apiKeys.business_id),
    role: sql<Role | null>`${isKey ? apiKeys.role : shape.caller === 'operator' ? $call.operator_role : NULL}`,
    is_session: ofKey<number>(isSession),
    unmarked: ofKey<number>(unmarkedKey),
    former_use: sql<Json<FormerUse> | null>`${shape.caller === 'token' ? formerUse : NULL}`,
    key_session_of: ofKey<number>(apiKeys.session_of),
    key_actor_name: ofKey<string>(apiKeys.actor_name),
    daily_limit: today<number>('daily_limit'),
    monthly_limit: today<number>('monthly_limit'),
    overage: today<number>('overage'),
    page_overage: today<number>('page_overage'),
    alert_at: today<string>('alert_at'),
    /** The maximum number of uses that this caller can record beyond a limit today. Null means unlimited. */
    allowed_overage: sql<number | null>`${allowedOverage(shape, today)}`,
    has_other_limits: hasOtherLimits(businesses),
    extras_until: sql<string | null>`${businesses.extras_until}`,
    billing_day: sql<number>`${billingColumns.billing_day}`,
    has_billing_changes: sql<number>`${billingColumns.has_billing_changes}`,
    owner_id: sql<number | null>`${businesses.user_id}`,
    source: sql<number | null>`${sourceOfCall(businesses.id, shape)}`,
  };
  const isOwn = and(
    eq(businesses.id, $call.business_id),
    eq(businesses.user_id, apiKeys.user_id),
    or(isNull(apiKeys.business_id), eq(apiKeys.business_id, businesses.id)),
  );
  const isNamed = eq(businesses.id, $call.business_id);
  const lookups = {
    key: sql`${apiKeys} left join ${businesses} on ${isOwn} where ${eq(apiKeys.hash, $call.lookup_value)}`,
    token: sql`${businesses} where ${isToken}`,
    operator: sql`(select 1) left join ${businesses} on ${isNamed}`,
    code: sql`${codes} left join ${businesses} on ${isNamed}
      where ${eq(codes.hash, $call.lookup_value)} and ${codes.expires_at} > ${$call.now}`,
  };
  // At most one row matches. Without `limit`, SQLite would evaluate the rule again for each joined row.
  // A column of the same name would be ambiguous in a join with businesses, because Drizzle writes an alias without its table.
  const aliasOf = (name: string) => (name in businesses ? `own_${name}` : name);
  return subqueryOf('permission', fields, aliasOf, sql`from ${lookups[shape.caller]} limit 1`);
}

export type Permission = ReturnType<typeof permissionFor>['subquery'];

/** The fields that the first statement of every batch reads for the guard and the responses. */
export const verdictOf = (permission: Permission) => ({
  refusal: permission.refusal,
  role: permission.role,
  unmarked: permission.unmarked,
  former_use: permission.former_use,
  key_user_id: permission.key_user_id,
  /** The seconds until the deadline, by the database's clock. */
  time_left: sql<number>`${$call.deadline} - unixepoch('subsec')`.as('time_left'),
});
export type Verdict = {
  refusal: Refusal | Invalidity | Spent | typeof OPEN | null;
  /** The role of an API key, a session or an operator key. Null for any other caller. */
  role: Role | null;
  /** The id of the key, if this is its first call today. */
  unmarked: number | null;
  /** What is stored of the use of a former token. Null for any other credential. */
  former_use: Json<FormerUse> | null;
  /** The user of an API key or a session. Null for any other caller. */
  key_user_id: number | null;
  time_left: number;
};

/** The id in the path if the call is permitted. Otherwise null, which equals no id, so a lookup reads nothing. */
export const permittedId = (permission: Permission) =>
  sql`case when ${isPermitted(permission)} then ${$call.business_id} end`;

/** The value if the call is permitted. Otherwise null, which never equals anything in SQL. */
export const ifPermitted = (permission: Permission, value: SQLWrapper) =>
  sql`(select ${value} from ${permission} where ${isPermitted(permission)})`;

/** Tests whether the call is permitted. Every statement that reads or writes for the caller depends on this, or on one before it that does. */
export const isPermitted = ({ refusal }: Pick<Permission, 'refusal'>) =>
  sql`ifnull(${refusal}, '${sql.raw(OPEN)}') = '${sql.raw(OPEN)}'`;
