// Who may do what, as SQL: the permission that every statement of a request depends on.
import { and, eq, gte, inArray, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type Credential, namespaceOf } from '../core/credential.ts';
import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { sitesCovering } from '../core/site.ts';
import { monthOf, timestampOf } from '../core/time.ts';
import { KEEP_ID_DAYS } from '../core/use.ts';
import { access, apiKeys, businesses, formerTokens, limitColumns } from './schema.ts';
import {
  type Bindable,
  type BuiltQuery,
  builder,
  type Form,
  type Placeholders,
  placeholders,
  type RowOf,
  type Statement,
  textsOf,
} from './statement.ts';

/** Who requests what, and from where. The guard makes one for each request. */
export type Call = {
  operation: Operation;
  /** `lookupValue` is the hash of an API key, or a business token as it is. The operator's commands need no credential. */
  credential: { kind: Credential['kind']; lookupValue: string } | { kind: 'operator' };
  /** 0, which no business has, if the path has no valid id. */
  business_id: number;
  /** Null if the caller is a server. */
  origin: string | null;
  /** The origin of the service itself. API keys are always accepted from there. */
  ownOrigin: string;
  now: Date;
  /** When the caller is told that the database did not respond, in milliseconds since 1970. A batch that begins later does nothing. */
  deadline: number;
};

/** A call by a command of the operator. */
export const callByOperator = (operation: Operation, business_id: number, now: Date): Call => ({
  ...{ operation, business_id, now },
  ...{ credential: { kind: 'operator' }, origin: null, ownOrigin: '', deadline: Number.MAX_SAFE_INTEGER },
});

const CALL_VALUES = [
  'business_id',
  'lookup_value',
  'today',
  'first_of_month',
  'last_of_month',
  'now',
  'deadline',
  'keep_days',
  'token_refused',
  'writes',
  'names_business',
  'must_be_active',
  'origin_is_exempt',
  'origin_refusal',
] as const;
type CallValue = (typeof CALL_VALUES)[number];
/** The placeholders for the values of a call. */
export const $call = placeholders(CALL_VALUES);

/** The name of the value for one of the sites that could cover the origin. */
const candidate = (index: number) => `site_${index}`;

/** The form of a call and its values. The policy is bound as values, so operations share their SQL. */
export function valuesOf({ operation, credential, business_id, origin, ownOrigin, now, deadline }: Call) {
  const { kind } = credential;
  const policy = POLICY[operation];
  const timestamp = timestampOf(now);
  const isExempt = kind !== 'token' && (origin === null || origin === ownOrigin);
  const sites = origin === null || isExempt ? [] : sitesCovering(origin);
  const values: Record<string, Bindable> = {
    business_id,
    lookup_value: kind === 'operator' ? '' : credential.lookupValue,
    today: timestamp.slice(0, 10),
    ...monthOf(timestamp),
    now: timestamp,
    deadline: deadline / 1000,
    keep_days: KEEP_ID_DAYS[namespaceOf(kind)],
    token_refused: Number(kind === 'token' && !policy.allowsToken),
    writes: Number(policy.writes),
    names_business: Number(policy.resource !== 'businesses'),
    must_be_active: Number(!policy.allowsInactive),
    origin_is_exempt: Number(isExempt),
    origin_refusal: origin === null ? 'origin_missing' : 'origin_not_authorized',
  } satisfies Record<CallValue, Bindable>;
  for (const [index, site] of sites.entries()) values[candidate(index)] = site;
  return { form: { caller: kind, candidates: sites.length }, values };
}

/** Matches the current token of a business, or one that was replaced and has not expired. */
const isToken = or(
  eq(businesses.token, $call.lookup_value),
  sql`${businesses.id} = (select ${formerTokens.business_id} from ${formerTokens}
    where ${eq(formerTokens.token, $call.lookup_value)} and ${formerTokens.expires_at} > ${$call.now})`,
);
const isValidKey = and(
  eq(apiKeys.hash, $call.lookup_value),
  isNull(apiKeys.revoked_at),
  or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, $call.today)),
);
const ownSites = sql`select 1 from ${access} where ${eq(access.business_id, businesses.id)}`;

/**
 * The one rule of who may do what with a business, as an expression over its row: null if the call is permitted. `readOnly` says
 * whether the key can only read. Without a site, every origin is allowed.
 */
export function ruleFor({ candidates }: Form, readOnly: SQLWrapper) {
  const covering = Array.from({ length: candidates }, (_, index) => sql.placeholder(candidate(index)));
  return sql<Refusal | null>`case
    when ${$call.names_business} and ${businesses.id} is not ${$call.business_id} then 'unknown_business'
    when ${$call.token_refused} then 'token_not_allowed'
    when ${readOnly} and ${$call.writes} then 'read_only_key'
    when ${$call.must_be_active} and ${businesses.status} <> 'active' then 'inactive_business'
    when ${$call.origin_is_exempt} or exists (${ownSites} and ${inArray(access.site, covering)}) then null
    when exists (${ownSites}) then ${$call.origin_refusal}
  end`;
}

const NULL = sql`null`;

/**
 * The permission of a call: a subquery with the `refusal`, null if the call is permitted, and what the statements need to know of the
 * key (null for a token) and of the business. It has no row if the credential is not valid. Both the refusal that the caller sees and
 * every write come from it, so they cannot disagree.
 */
function permissionFor(form: Form) {
  const isKey = form.caller === 'key';
  const ofKey = <Data>(column: SQLiteColumn, name: string) => sql<Data | null>`${isKey ? column : NULL}`.as(name);
  const keyName = sql`'key ' || ${apiKeys.id} || ' (…' || ${apiKeys.last_four} || ')'`;
  const actors = { key: keyName, token: NULL, operator: sql`'operator'` };
  const fields = {
    // Nested in a second sql`` on purpose: in a select from one table, Drizzle drops the table name of a column that is directly in
    // a field, and a subquery would then find another column of that name.
    refusal: sql<Refusal | null>`(${ruleFor(form, isKey ? apiKeys.read_only : NULL)})`.as('refusal'),
    key_id: ofKey<number>(apiKeys.id, 'key_id'),
    /** As changes name the caller. A token makes none. */
    actor: sql<string>`${actors[form.caller]}`.as('actor'),
    key_user_id: ofKey<number>(apiKeys.user_id, 'key_user_id'),
    key_business_id: ofKey<number>(apiKeys.business_id, 'key_business_id'),
    read_only: ofKey<number>(apiKeys.read_only, 'read_only'),
    last_used_on: ofKey<string>(apiKeys.last_used_on, 'last_used_on'),
    ...limitColumns,
  };
  const isOwn = and(
    eq(businesses.id, $call.business_id),
    eq(businesses.user_id, apiKeys.user_id),
    or(isNull(apiKeys.business_id), eq(apiKeys.business_id, businesses.id)),
  );
  const callers = {
    key: () => builder.select(fields).from(apiKeys).leftJoin(businesses, isOwn).where(isValidKey),
    token: () =>
      builder
        .select(fields)
        .from(businesses)
        .where(and(isToken, eq(businesses.status, 'active'))),
    operator: () =>
      builder.select(fields).from(sql`(select 1)`).leftJoin(businesses, eq(businesses.id, $call.business_id)),
  };
  // At most one row matches. The limit tells SQLite so; otherwise it would evaluate the rule again for each row joined to it.
  return callers[form.caller]().limit(1).as('permission');
}

export type Permission = ReturnType<typeof permissionFor>;

/** Whether a write that decides is in time, by the clock of the database. What follows from it happens with it, or not at all. */
export const isInTime = sql`unixepoch('subsec') < ${$call.deadline}`;

/** What the first statement of every batch reads: the refusal, and what the guard and the responses need of the key. */
export const verdictOf = (permission: Permission) => ({
  refusal: permission.refusal,
  read_only: permission.read_only,
  /** The key, if this is its first call today. Otherwise null. */
  unmarked_key: sql<
    number | null
  >`case when ${permission.last_used_on} is not ${$call.today} then ${permission.key_id} end`.as('unmarked_key'),
  /** The seconds from here to the deadline, by the clock of the database. */
  time_left: sql<number>`${$call.deadline} - unixepoch('subsec')`.as('time_left'),
});
export type Verdict = {
  refusal: Refusal | null;
  read_only: number | null;
  unmarked_key: number | null;
  time_left: number;
};

/**
 * The id in the path if the call is permitted. Otherwise null, which equals no id: a search for it finds and reads nothing. It is the
 * value of the call, not a column: then the search need not wait for the row of the permission.
 */
export const permittedId = (permission: Permission) =>
  sql`case when ${isNull(permission.refusal)} then ${$call.business_id} end`;

/**
 * Reads the verdict beside `fields`, whatever it is: the conditions of your fields must use `permittedId`. `where true` keeps SQLite
 * from merging the two selects, which would evaluate the rule again for each field that depends on it.
 */
export const withVerdict = <Fields extends Record<string, SQL.Aliased | SQLiteColumn>>(
  permission: Permission,
  fields: Fields,
) =>
  builder
    .select({ ...verdictOf(permission), ...fields })
    .from(permission)
    .where(sql`true`);

/**
 * Defines a statement. `names` are its own values. `$` has a placeholder for each of them and for each value of the call.
 */
export function statement<const N extends string, Q extends BuiltQuery>(
  names: readonly N[],
  write: (permission: Permission, $: Placeholders<N | CallValue>, form: Form) => Q,
): (values: Record<N, Bindable>) => Statement<RowOf<Q>> {
  const all = placeholders<N | CallValue>([...CALL_VALUES, ...names]);
  const textFor = textsOf((form) => write(permissionFor(form), all, form));
  return (values) => ({ textFor, values });
}

/** Reads only the verdict, for changes that need nothing else before them. */
export const readVerdict = statement([], (permission) => builder.select(verdictOf(permission)).from(permission))({});
