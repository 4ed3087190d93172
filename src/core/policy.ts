// Who may do something (docs/api.md, "Credentials"). Each operation's definition contains such a rule, and db/permission.ts converts it to
// the SQL that permits or refuses each call.

import type { Work } from './work.ts';

/** The roles of API keys: full access, read-only, or record-only, which can read usage and record uses. */
export const ROLES = ['full', 'read', 'record'] as const;
export type Role = (typeof ROLES)[number];
type RoleProperties = {
  /** Whether responses show it the whole token of a business, which can record uses. */
  seesToken: boolean;
  /** Whether a user's own key or session can create a key with it. */
  ownersMayCreate: boolean;
};
/** Total, so that a new role does not compile without its properties. */
export const ROLE_PROPERTIES = {
  full: { seesToken: true, ownersMayCreate: false },
  read: { seesToken: false, ownersMayCreate: true },
  record: { seesToken: false, ownersMayCreate: true },
} as const satisfies Record<Role, RoleProperties>;

/** The roles that a user's own key or session can give to a key. */
export type OwnRole = { [R in Role]: (typeof ROLE_PROPERTIES)[R]['ownersMayCreate'] extends true ? R : never }[Role];
export const OWN_ROLES: readonly Role[] = ROLES.filter((role) => ROLE_PROPERTIES[role].ownersMayCreate);

/** The roles that are refused what does not list them. A key with full access can do whatever keys can. */
export const NARROW_ROLES = ROLES.filter((role) => role !== 'full');
/** The refusal of a key whose role is not listed. */
type RoleRefusal = `${Exclude<Role, 'full'>}_only_key`;
/** Completes each: "This API key can only …". */
export const ABILITIES: Record<RoleRefusal, string> = { read_only_key: 'read', record_only_key: 'record' };

/** The roles of sessions that console links start. */
export const LINK_ROLES = ['full', 'read'] as const;
export type LinkRole = (typeof LINK_ROLES)[number];
/** The roles of operator keys. A key with several has the last of them. */
export const OPERATOR_ROLES = ['full', 'record', 'read'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Who may do something. Who is not listed may not. */
export type Callers = {
  token: boolean;
  /** The roles of API keys, and of sessions, which have the role of a key. A role that is not listed is refused. */
  keys: readonly Role[];
  /** Which of these: any, all except sessions, only sessions, or keys and those sessions whose console link said `can_create_keys`. */
  session: 'any' | 'none' | 'only' | 'can_create_keys';
  operators: readonly OperatorRole[];
};
export type Rule = Callers & {
  /** The name in the log. */
  name: string;
  /** Completes a refusal: "A business token cannot …". */
  does: string;
  /**
   * True if an API key may do this while the business is not active. An operator key always may. A token is invalid while the business is
   * not active.
   */
  whileInactive: boolean;
  /** When a retry is safe: always, only with an Idempotency-Key, or never. If a retry is never safe, the operation rejects the header. */
  retry: 'always' | 'with_key' | 'never';
  /** Completes the error for an Idempotency-Key, if another reason than `retry` rules it out. */
  rejectsKey?: string;
  /** True if limits never refuse it to an operator key, because it reports what has already happened. */
  passesLimits?: true;
  /** True if a call can take more than five milliseconds of the database. Such calls share one more rate limit. */
  isDear?: true;
  /**
   * What a call spends of its owner's allowance. What ends a danger, such as revoking a key, replacing a token or removing a site, must spend
   * nothing, so that it is never refused.
   */
  work?: Work;
  /** True below /business/usage, where an unknown business is refused with 422 in place of 401. */
  isOfUsage: boolean;
};

/**
 * Sets of callers. Each answers for tokens, sessions and roles. A definition must add when a retry is safe, and `whileInactive` unless
 * only operators are permitted. Otherwise, it does not compile.
 */
export const CHANGERS: Callers = { token: false, keys: ['full'], session: 'any', operators: ['full'] };
export const READERS: Callers = { ...CHANGERS, keys: ['full', 'read'] };
export const RECORDERS: Callers = { ...CHANGERS, keys: ['full', 'record'], operators: ['full', 'record'] };
export const EVERYBODY: Callers = { ...RECORDERS, token: true, keys: ['full', 'read', 'record'] };
export const FULL_OPERATOR: Callers & { whileInactive: true } = { ...CHANGERS, keys: [], whileInactive: true };
export const RECORDING_OPERATOR: typeof FULL_OPERATOR = { ...FULL_OPERATOR, operators: RECORDERS.operators };

/** Returns the rule for a GET, which changes nothing. A `read` operator key may make every GET, and nothing else. */
export const reading = (callers: Callers) =>
  ({ ...callers, operators: [...callers.operators, 'read'], whileInactive: true, retry: 'always' }) as const;

/** Returns whether a key may do something. What a token may do, some key may. */
export const allowsKeys = ({ keys }: Callers): boolean => keys.length > 0;
export const allowsOperators = ({ operators }: Callers): boolean => operators.length > 0;

/** Returns whether a request that received no response is safe to retry. */
export const isRepeatable = ({ retry }: Pick<Rule, 'retry'>, hasIdempotencyKey: boolean): boolean =>
  retry === 'with_key' ? hasIdempotencyKey : retry === 'always';

/** The reasons to refuse a call, in the order in which they are checked. */
export const REFUSALS = [
  'operator_key_in_page',
  'unknown_business',
  'unknown_user',
  'operator_only',
  'operator_not_allowed',
  'session_only',
  'token_not_allowed',
  'session_not_allowed',
  ...(Object.keys(ABILITIES) as RoleRefusal[]),
  'narrow_key',
  'inactive_business',
  'origin_missing',
  'origin_not_authorized',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The reasons that a stored credential is invalid. Callers receive the same response as for an unknown one. */
export const INVALIDITIES = ['revoked_key', 'expired_key', 'ended_session', 'token_of_inactive_business'] as const;
export type Invalidity = (typeof INVALIDITIES)[number];
export const isInvalidity = (reason: Refusal | Invalidity): reason is Invalidity =>
  (INVALIDITIES as readonly string[]).includes(reason);
