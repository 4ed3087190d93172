// The operations of the service and who may use them (docs/api.md, "Credentials"). db/permission.ts writes a row of this table as
// the SQL rule that decides every call.

/** What an API key may do: everything, only read, or only read usage and record uses. */
export const ROLES = ['full', 'read', 'record'] as const;
export type Role = (typeof ROLES)[number];

type Rule = {
  /** The kind of path. It decides how an unknown business is refused. Paths of `businesses` and `session` name none. */
  resource: 'usage' | 'access' | 'businesses' | 'session';
  /** The verb phrase for a refusal: "A business token cannot …". */
  does: string;
  /** Whether an API key may do this, or only the operator. */
  allowsKey: boolean;
  /** Whether a business token may do this. */
  allowsToken: boolean;
  /** Whether an operator key may do this. */
  allowsOperator: boolean;
  /** Who may do this: any API key, none that is of a session, or only one of a session. */
  session: 'any' | 'none' | 'only';
  /** Whether it changes or records anything, which a key that can only read may not. */
  writes: boolean;
  /** Whether a key that can only record may do this. */
  allowsRecordKey: boolean;
  /** Whether an API key may do this while the business is not active. (An operator key always may, and the token is not valid then.) */
  allowsInactive: boolean;
  /** Whether it is safe to retry: always, only with an Idempotency-Key, or never, and then it refuses one. */
  repeatable: boolean | 'with_key';
};

/** What an API key may do even if the business is not active, and a token may not. */
const READ = {
  allowsKey: true,
  allowsToken: false,
  allowsOperator: true,
  session: 'any',
  writes: false,
  allowsRecordKey: false,
  allowsInactive: true,
  repeatable: true,
} as const;
const CHANGE = { ...READ, writes: true } as const;
/** What only the operator may do. */
const OPERATE = { ...CHANGE, allowsKey: false } as const;

export const POLICY = {
  read_usage: { ...READ, resource: 'usage', does: 'read usage', allowsToken: true, allowsRecordKey: true },
  record_use: {
    ...CHANGE,
    resource: 'usage',
    does: 'record a use',
    allowsToken: true,
    allowsRecordKey: true,
    allowsInactive: false,
    repeatable: 'with_key',
  },
  record_quantity: {
    ...CHANGE,
    resource: 'usage',
    does: 'record quantities',
    allowsRecordKey: true,
    allowsInactive: false,
    repeatable: 'with_key',
  },
  record_uses: {
    ...CHANGE,
    resource: 'usage',
    does: 'report past uses',
    allowsRecordKey: true,
    allowsInactive: false,
  },
  lower_uses: { ...OPERATE, resource: 'usage', does: 'lower uses', allowsRecordKey: true },
  read_access: { ...READ, resource: 'access', does: 'read access domains' },
  change_access: { ...CHANGE, resource: 'access', does: 'change access domains' },
  read_refused_origins: { ...READ, resource: 'access', does: 'read refused origins' },
  change_refused_origins: { ...CHANGE, resource: 'access', does: 'change refused origins' },
  rotate_token: { ...CHANGE, resource: 'access', does: 'rotate tokens', repeatable: false },
  stop_former_tokens: { ...CHANGE, resource: 'access', does: 'stop former tokens' },
  create_business: { ...OPERATE, resource: 'businesses', does: 'create businesses', repeatable: 'with_key' },
  update_business: { ...OPERATE, resource: 'access', does: 'change businesses' },
  delete_business: { ...OPERATE, resource: 'access', does: 'delete businesses' },
  import_history: { ...OPERATE, resource: 'access', does: 'import histories' },
  list_keys: { ...OPERATE, resource: 'businesses', does: 'list API keys', writes: false },
  create_key: { ...OPERATE, resource: 'businesses', does: 'create API keys', repeatable: false },
  revoke_key: { ...OPERATE, resource: 'businesses', does: 'revoke API keys' },
  create_console_link: { ...OPERATE, resource: 'businesses', does: 'create console links', repeatable: false },
  read_user_changes: { ...OPERATE, resource: 'businesses', does: 'read the changes of users', writes: false },
  export_user: { ...OPERATE, resource: 'businesses', does: 'export users', writes: false },
  erase_user: { ...OPERATE, resource: 'businesses', does: 'erase users' },
  list_businesses: { ...READ, resource: 'businesses', does: 'list businesses' },
  read_business: { ...READ, resource: 'access', does: 'read businesses' },
  read_changes: { ...READ, resource: 'access', does: 'read changes' },
  read_alerts: { ...READ, resource: 'access', does: 'read alerts' },
  read_all_usage: {
    ...READ,
    resource: 'businesses',
    does: 'read the usage of all businesses',
    allowsKey: false,
    allowsRecordKey: true,
  },
  read_all_alerts: {
    ...READ,
    resource: 'businesses',
    does: 'read the alerts of all businesses',
    allowsKey: false,
  },
  read_databases: { ...READ, resource: 'businesses', does: 'read databases', allowsKey: false },
  // A session does not belong to a business: a key that can only read may start one, and end it.
  start_session: {
    ...READ,
    resource: 'session',
    does: 'start sessions',
    allowsOperator: false,
    session: 'none', // otherwise whoever copied a session key could outlive it
    repeatable: false,
  },
  end_session: { ...READ, resource: 'session', does: 'end sessions', allowsOperator: false, session: 'only' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;

/** Whether a caller who got no response may send the same request again. */
export const isRepeatable = (operation: Operation, hasIdempotencyKey: boolean): boolean => {
  const { repeatable } = POLICY[operation];
  return repeatable === 'with_key' ? hasIdempotencyKey : repeatable;
};

/** Whether the path of an operation names a business. */
export const namesBusiness = (operation: Operation): boolean =>
  ['usage', 'access'].includes(POLICY[operation].resource);

/** Why a call is refused, in the order in which the reasons are checked. */
export const REFUSALS = [
  'operator_key_in_page',
  'unknown_business',
  'operator_only',
  'operator_not_allowed',
  'session_only',
  'token_not_allowed',
  'session_not_allowed',
  'read_only_key',
  'record_only_key',
  'inactive_business',
  'origin_missing',
  'origin_not_authorized',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Why a credential that is stored is not valid. Callers are told the same as for one that is unknown. */
export const INVALIDITIES = ['revoked_key', 'expired_key', 'ended_session', 'token_of_inactive_business'] as const;
export type Invalidity = (typeof INVALIDITIES)[number];
export const isInvalidity = (reason: Refusal | Invalidity): reason is Invalidity =>
  (INVALIDITIES as readonly string[]).includes(reason);
