// The service's operations and who may use them (docs/api.md, "Credentials"). db/permission.ts converts a row of this table to the SQL rule
// that permits or refuses each call.

/** The roles of API keys: full access, read-only, or record-only, which can read usage and record uses. */
export const ROLES = ['full', 'read', 'record'] as const;
export type Role = (typeof ROLES)[number];

type Rule = {
  /** The tag in the OpenAPI description. Also determines the refusal of a call for an unknown business. */
  resource: 'usage' | 'access' | 'businesses' | 'session';
  /** Completes a refusal: "A business token cannot …". */
  does: string;
  /** If false, only the operator may do this. */
  allowsKey: boolean;
  allowsToken: boolean;
  allowsOperator: boolean;
  /** The API keys that may do this: any, all except session keys, or only session keys. */
  session: 'any' | 'none' | 'only';
  /** True if this changes or records anything. A read-only key may not do this. */
  writes: boolean;
  allowsRecordKey: boolean;
  /**
   * True if an API key may do this while the business is not active. An operator key always may. A token is invalid while the business is
   * not active.
   */
  allowsInactive: boolean;
  /** When a retry is safe: always, only with an Idempotency-Key, or never. If a retry is never safe, the operation rejects the header. */
  repeatable: boolean | 'with_key';
};

/** Allowed for API keys, even while the business is not active, but not for tokens. */
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
/** Allowed only for the operator. */
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
    does: 'record lists of uses',
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
  // Starting and ending a session count as reads, so a read-only key may do both.
  start_session: {
    ...READ,
    resource: 'session',
    does: 'start sessions',
    allowsOperator: false,
    session: 'none', // otherwise a copied session key could start a session that outlives it
    repeatable: false,
  },
  end_session: { ...READ, resource: 'session', does: 'end sessions', allowsOperator: false, session: 'only' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;

/** Returns whether a request that received no response is safe to retry. */
export const isRepeatable = (operation: Operation, hasIdempotencyKey: boolean): boolean => {
  const { repeatable } = POLICY[operation];
  return repeatable === 'with_key' ? hasIdempotencyKey : repeatable;
};

/** The reasons to refuse a call, in the order in which they are checked. */
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

/** The reasons that a stored credential is invalid. Callers receive the same response as for an unknown one. */
export const INVALIDITIES = ['revoked_key', 'expired_key', 'ended_session', 'token_of_inactive_business'] as const;
export type Invalidity = (typeof INVALIDITIES)[number];
export const isInvalidity = (reason: Refusal | Invalidity): reason is Invalidity =>
  (INVALIDITIES as readonly string[]).includes(reason);
