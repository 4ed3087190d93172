// Who may do what, as SQL: the permission that every statement of a request depends on.
import { and, eq, gte, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Credential } from '../core/credential.ts';
import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { sitesCovering } from '../core/site.ts';
import { dayOf, timestampOf } from '../core/time.ts';
import { KEEP_DAYS } from '../core/use.ts';
import { access, apiKeys, businesses, formerTokens } from './schema.ts';
import {
  db,
  type Form,
  type Placeholders,
  placeholders,
  type Query,
  type RowOf,
  type Statement,
  textsOf,
  type Value,
} from './statement.ts';

/** Who requests what, and from where. The guard makes one for each request. */
export type Call = {
  operation: Operation;
  /** The hash of an API key, or a business token as it is. */
  credential: { kind: Credential['kind']; stored: string };
  /** 0, which no business has, if the path has no valid id. */
  business_id: number;
  /** Null if the caller is a server. */
  origin: string | null;
  /** The origin of the service itself. API keys are always accepted from there. */
  ownOrigin: string;
  now: Date;
};

const CALL_VALUES = [
  ...(['business_id', 'stored', 'today', 'now', 'keep_days'] as const),
  ...(['token_refused', 'must_be_active', 'from_anywhere', 'origin_refusal'] as const),
];
const $ = placeholders(CALL_VALUES);

/** The form of a call and its values. The policy is bound as values, so operations share their SQL. */
export function valuesOf({ operation, credential, business_id, origin, ownOrigin, now }: Call) {
  const { kind, stored } = credential;
  const policy = POLICY[operation];
  const fromAnywhere = kind === 'key' && (origin === null || origin === ownOrigin);
  const sites = origin === null || fromAnywhere ? [] : sitesCovering(origin);
  const values: Record<string, Value> = {
    business_id,
    stored,
    today: dayOf(now),
    now: timestampOf(now),
    keep_days: KEEP_DAYS[kind],
    token_refused: Number(kind === 'token' && !policy.token),
    must_be_active: Number(!policy.inactive),
    from_anywhere: Number(fromAnywhere),
    origin_refusal: origin === null ? 'origin_missing' : 'origin_not_authorized',
  };
  for (const [index, site] of sites.entries()) values[`site_${index}`] = site;
  return { form: { credential: kind, sites: sites.length }, values };
}

/** Matches the current token of a business, or one that was replaced and has not expired. */
const isToken = or(
  eq(businesses.token, $.stored),
  sql`${businesses.id} = (select ${formerTokens.business_id} from ${formerTokens}
    where ${eq(formerTokens.token, $.stored)} and ${formerTokens.expires_at} > ${$.now})`,
);
const isValidKey = and(
  eq(apiKeys.hash, $.stored),
  isNull(apiKeys.revoked_at),
  or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, $.today)),
);
const entries = sql`select 1 from ${access} where ${eq(access.business_id, businesses.id)}`;

/**
 * The one rule of who may do what: a subquery with one column, `refusal`, which is null if the call is permitted. It has no row if
 * the credential is not valid. Both the refusal that the caller sees and every write come from it, so they cannot disagree.
 */
function permissionFor({ credential, sites }: Form) {
  const covering = Array.from({ length: sites }, (_, index) => sql.placeholder(`site_${index}`));
  // In brackets: Drizzle drops the table name of a column that is alone in a field of a single-table select.
  const rule = sql<Refusal | null>`case
    when ${businesses.id} is not ${$.business_id} then 'unknown_business'
    when ${$.token_refused} then 'token_not_allowed'
    when ${$.must_be_active} and ${businesses.status} <> 'active' then 'inactive_business'
    when ${$.from_anywhere} or exists (${entries} and ${inArray(access.site, covering)}) then null
    when exists (${entries}) then ${$.origin_refusal}
  end`;
  const fields = { refusal: sql<Refusal | null>`(${rule})`.as('refusal') };
  const isOwn = and(eq(businesses.id, $.business_id), eq(businesses.user_id, apiKeys.user_id));
  const caller =
    credential === 'token'
      ? db
          .select(fields)
          .from(businesses)
          .where(and(isToken, eq(businesses.status, 'active')))
      : db.select(fields).from(apiKeys).leftJoin(businesses, isOwn).where(isValidKey);
  // The limit also stops SQLite from evaluating the rule again for each row that is joined to it.
  return caller.limit(1).as('permission');
}

export type Permission = ReturnType<typeof permissionFor>;

/** The id of the business if the call is permitted. Otherwise null, and a search for it reads nothing. */
export const permittedId = (permission: Permission) =>
  sql`case when ${isNull(permission.refusal)} then ${$.business_id} end`;

/**
 * Defines a statement. `names` are its own values. `$` has a placeholder for each of them and for each value of the call.
 */
export function statement<const N extends string, Q extends Query>(
  names: readonly N[],
  write: (permission: Permission, $: Placeholders<N | (typeof CALL_VALUES)[number]>) => Q,
): (values: Record<N, Value>) => Statement<RowOf<Q>> {
  const all = { ...$, ...placeholders(names) };
  const textFor = textsOf((form) => write(permissionFor(form), all));
  return (values) => ({ textFor, values });
}

/** Reads only the refusal, for changes that need nothing else before them. */
export const permission = statement([], (permission) => db.select({ refusal: permission.refusal }).from(permission))(
  {},
);
