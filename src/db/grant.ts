// Who may do what, as SQL: the grant, which every statement of a request goes by.
import { and, eq, gte, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Credential } from '../core/credential.ts';
import { type Operation, POLICY, type Refusal } from '../core/policy.ts';
import { sitesCovering } from '../core/site.ts';
import { dayOf, timestampOf } from '../core/time.ts';
import { KEEP_DAYS } from '../core/use.ts';
import { access, apiKeys, businesses, formerTokens } from './schema.ts';
import { $, $business_id, db, type Query, statement } from './statement.ts';

/** Who asks for what, from where. */
export type Call = {
  operation: Operation;
  /** An API key is stored by its hash, a business token as it is. */
  credential: { kind: Credential['kind']; stored: string };
  /** 0 where the path names none: no business has that id. */
  business_id: number;
  /** Null: the call comes from a server. */
  origin: string | null;
  /** The origin of the service itself, from which an API key is always accepted. */
  ownOrigin: string;
  now: Date;
};

/** What a route makes its statements of: the kind of the call, for which SQL is written, and the values of this one. */
export type Scope = { kind: CallKind; values: Record<string, unknown> };

/** What of a call decides the SQL: there are some dozens of kinds, whatever is sent. */
type CallKind = {
  operation: Operation;
  credential: Credential['kind'];
  /** What an origin can do: 'any' passes without being looked up. */
  origin: 'any' | 'none' | 'sent';
  /** By how many sites a sent origin can be covered. */
  covering: number;
};

/** What a call may do is looked up by the values; what needs no look-up, as a server with an API key, the kind says. */
export function scopeOf({ operation, credential, business_id, origin, ownOrigin, now }: Call): Scope {
  const { kind, stored } = credential;
  const anywhere = kind === 'key' && (origin === null || origin === ownOrigin);
  const from = anywhere ? 'any' : origin === null ? 'none' : 'sent';
  const sites = from === 'sent' ? sitesCovering(origin ?? '') : [];
  return {
    kind: { operation, credential: kind, origin: from, covering: sites.length },
    values: {
      business_id,
      stored,
      keep_days: KEEP_DAYS[kind],
      today: dayOf(now),
      now: timestampOf(now),
      ...Object.fromEntries(sites.map((site, index) => [`site_${index}`, site])),
    },
  };
}

/** Whether the token is the business's, or was until lately. */
const isToken = or(
  eq(businesses.token, $('stored')),
  sql`${businesses.id} = (select ${formerTokens.business_id} from ${formerTokens}
    where ${eq(formerTokens.token, $('stored'))} and ${formerTokens.expires_at} > ${$('now')})`,
);

/**
 * The one rule of who may do what: a subquery of one column, `refusal`, null when the call is granted. It has no row when
 * the credential is not valid. What a refused caller is told is read from it, and every write is made of it, so that the
 * two cannot disagree.
 */
export function grantFor({ operation, credential, origin, covering }: CallKind) {
  const policy = POLICY[operation];
  const sites = Array.from({ length: covering }, (_, index) => $(`site_${index}`));
  const entries = sql`select 1 from ${access} where ${eq(access.business_id, businesses.id)}`;
  const unexpired = or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, $('today')));
  // Nested, as Drizzle takes the table's name from a column that stands in a select of one table by itself.
  const rule = sql<Refusal | null>`case
    when ${businesses.id} is not ${$business_id} then 'unknown_business'
    when ${credential === 'token' && !policy.token} then 'token_not_allowed'
    when ${!policy.inactive} and ${businesses.status} <> 'active' then 'inactive_business'
    when ${origin === 'any'} or exists (${entries} and ${inArray(access.site, sites)}) then null
    when exists (${entries}) then ${origin === 'none' ? 'origin_missing' : 'origin_not_authorized'}
  end`;
  const fields = { refusal: sql<Refusal | null>`(${rule})`.as('refusal') };
  const caller =
    credential === 'token'
      ? db
          .select(fields)
          .from(businesses)
          .where(and(isToken, eq(businesses.status, 'active')))
      : db
          .select(fields)
          .from(apiKeys)
          .leftJoin(businesses, and(eq(businesses.id, $business_id), eq(businesses.user_id, apiKeys.user_id)))
          .where(and(eq(apiKeys.hash, $('stored')), isNull(apiKeys.revoked_at), unexpired));
  // The limit also keeps SQLite from evaluating the rule once for each row that is joined to it.
  return caller.limit(1).as('grant');
}

export type Grant = ReturnType<typeof grantFor>;

/** A statement that goes by the grant. */
export const granting = <Q extends Query>(write: (grant: Grant) => Q) =>
  statement((kind: CallKind) => write(grantFor(kind)));

/** The refusal alone. */
export const refusalOf = granting((grant) => db.select({ refusal: grant.refusal }).from(grant));

/** The id of the business where the call is granted, else null: a search by it then finds nothing and reads nothing. */
export const granted = (grant: Grant) => sql`case when ${isNull(grant.refusal)} then ${$business_id} end`;
