// The service's operations and who may use them (docs/api.md, "Credentials"). db/permission.ts converts a row of this table to the SQL rule
// that permits or refuses each call.

/** The roles of API keys: full access, read-only, or record-only, which can read usage and record uses. */
export const ROLES = ['full', 'read', 'record'] as const;
export type Role = (typeof ROLES)[number];
export const OPERATOR_ROLES = ['full', 'record'] as const; // from widest to narrowest
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** An answer for each role. Total, so that a new role does not compile until every set answers for it. */
type Answers<R extends string> = { readonly [role in R]: boolean };
type Keys = Answers<Role>;
const NOBODY: Keys = { full: false, read: false, record: false };
const FULL: Keys = { full: true, read: false, record: false };
const READERS: Keys = { full: true, read: true, record: false };
const RECORDERS: Keys = { full: true, read: false, record: true };
const EVERY_KEY: Keys = { full: true, read: true, record: true };
type Operators = Answers<OperatorRole>;
const NO_OPERATOR: Operators = { full: false, record: false };
const FULL_OPERATOR: Operators = { full: true, record: false };
const EVERY_OPERATOR: Operators = { full: true, record: true };

/** Who may do something. Who is not listed may not. */
type Callers = {
  token: boolean;
  /** By role: API keys, and sessions, which have the role of a key. */
  keys: Keys;
  /** Which of these: any, all except sessions, or only sessions. */
  session: 'any' | 'none' | 'only';
  operators: Operators;
};
const by = (keys: Keys, operators = FULL_OPERATOR) => ({ token: false, keys, session: 'any', operators }) as const;
const OPERATOR = by(NOBODY);

type Rule = Callers & {
  /** The tag in the OpenAPI description. Also determines the refusal of a call for an unknown business. */
  resource: 'usage' | 'access' | 'businesses' | 'session';
  /** Completes a refusal: "A business token cannot …". */
  does: string;
  /**
   * True if an API key may do this while the business is not active. An operator key always may. A token is invalid while the business is
   * not active.
   */
  whileInactive: boolean;
  /** When a retry is safe: always, only with an Idempotency-Key, or never. If a retry is never safe, the operation rejects the header. */
  retry: 'always' | 'with_key' | 'never';
  /** True if a call can take more than five milliseconds of the database. Such calls share one more rate limit. */
  isDear?: true;
};

/** What most operations have in common. */
const USUAL = { whileInactive: true, retry: 'always' } as const;
const USAGE = { ...USUAL, resource: 'usage' } as const;
const ACCESS = { ...USUAL, resource: 'access' } as const;
const BUSINESSES = { ...USUAL, resource: 'businesses' } as const;
const SESSION = { ...USUAL, resource: 'session' } as const;

export const POLICY = {
  read_usage: { ...USAGE, ...by(EVERY_KEY, EVERY_OPERATOR), does: 'read usage', token: true },
  record_use: {
    ...USAGE,
    ...by(RECORDERS, EVERY_OPERATOR),
    does: 'record a use',
    token: true,
    whileInactive: false,
    retry: 'with_key',
  },
  record_quantity: {
    ...USAGE,
    ...by(RECORDERS, EVERY_OPERATOR),
    does: 'record quantities',
    whileInactive: false,
    retry: 'with_key',
  },
  record_uses: {
    ...USAGE,
    ...by(RECORDERS, EVERY_OPERATOR),
    does: 'record lists of uses',
    whileInactive: false,
    isDear: true,
  },
  lower_uses: { ...USAGE, ...by(NOBODY, EVERY_OPERATOR), does: 'lower uses', isDear: true },
  read_access: { ...ACCESS, ...by(READERS), does: 'read access domains' },
  change_access: { ...ACCESS, ...by(FULL), does: 'change access domains' },
  read_refused_origins: { ...ACCESS, ...by(READERS), does: 'read refused origins' },
  change_refused_origins: { ...ACCESS, ...by(FULL), does: 'change refused origins' },
  rotate_token: { ...ACCESS, ...by(FULL), does: 'rotate tokens', retry: 'never' },
  stop_former_tokens: { ...ACCESS, ...by(FULL), does: 'stop former tokens' },
  create_business: { ...BUSINESSES, ...OPERATOR, does: 'create businesses', retry: 'with_key' },
  update_business: { ...ACCESS, ...OPERATOR, does: 'change businesses' },
  delete_business: { ...ACCESS, ...OPERATOR, does: 'delete businesses' },
  import_history: { ...ACCESS, ...OPERATOR, does: 'import histories', isDear: true },
  list_keys: { ...BUSINESSES, ...OPERATOR, does: 'list API keys' },
  create_key: { ...BUSINESSES, ...OPERATOR, does: 'create API keys', retry: 'never' },
  revoke_key: { ...BUSINESSES, ...OPERATOR, does: 'revoke API keys' },
  create_console_link: { ...BUSINESSES, ...OPERATOR, does: 'create console links', retry: 'never' },
  read_user_changes: { ...BUSINESSES, ...OPERATOR, does: 'read the changes of users', isDear: true },
  export_user: { ...BUSINESSES, ...OPERATOR, does: 'export users' },
  erase_user: { ...BUSINESSES, ...OPERATOR, does: 'erase users' },
  list_businesses: { ...BUSINESSES, ...by(READERS), does: 'list businesses' },
  read_business: { ...ACCESS, ...by(READERS), does: 'read businesses' },
  read_changes: { ...ACCESS, ...by(READERS), does: 'read changes', isDear: true },
  read_alerts: { ...ACCESS, ...by(READERS), does: 'read alerts' },
  read_all_usage: { ...BUSINESSES, ...by(NOBODY, EVERY_OPERATOR), does: 'read the usage of all businesses' },
  read_all_alerts: { ...BUSINESSES, ...OPERATOR, does: 'read the alerts of all businesses' },
  read_databases: { ...BUSINESSES, ...OPERATOR, does: 'read databases' },
  // A session may not start another. Otherwise, a copied session key could start a session that outlives it.
  start_session: { ...SESSION, ...by(READERS, NO_OPERATOR), session: 'none', does: 'start sessions', retry: 'never' },
  end_session: { ...SESSION, ...by(READERS, NO_OPERATOR), session: 'only', does: 'end sessions' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;

/** Returns whether a call can take more than five milliseconds of the database. */
export const isDear = (operation: Operation): boolean => 'isDear' in POLICY[operation];

/** Returns the roles that may do something. */
export const rolesIn = <R extends string>(answers: Answers<R>): R[] =>
  (Object.keys(answers) as R[]).filter((role) => answers[role]);
/** Returns whether a key may do something. What a token may do, some key may. */
export const allowsKeys = (operation: Operation): boolean => rolesIn<Role>(POLICY[operation].keys).length > 0;
export const allowsOperators = (operation: Operation): boolean =>
  rolesIn<OperatorRole>(POLICY[operation].operators).length > 0;

/** Returns whether a request that received no response is safe to retry. */
export const isRepeatable = (operation: Operation, hasIdempotencyKey: boolean): boolean => {
  const { retry } = POLICY[operation];
  return retry === 'with_key' ? hasIdempotencyKey : retry === 'always';
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
