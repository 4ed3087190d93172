// Who may do what: the oracle of permissions, written by hand after docs/api.md ("Basics").
// The simulator's model, the matrix and the expectations in test/routes.ts follow from it. It shares no code with the service.

type OfRole = {
  /** Who the callers are that have a session of such a key. Null if it starts none. */
  session: 'session' | 'read_session' | null;
  /** Whether it sees whole tokens, and not only their ends. */
  seesToken: boolean;
  readOnly: boolean;
  /** Whether a user's own key or session creates such keys. */
  ownersMayCreate: boolean;
  /** Completes "This API key can only …". Null for full access. */
  only: string | null;
};
/** The roles of API keys, and what follows from each. */
export const ROLES = {
  full: { session: 'session', seesToken: true, readOnly: false, ownersMayCreate: false, only: null },
  read: { session: 'read_session', seesToken: false, readOnly: true, ownersMayCreate: true, only: 'read' },
  record: { session: null, seesToken: false, readOnly: false, ownersMayCreate: true, only: 'record' },
} as const satisfies Record<string, OfRole>;
export type KeyRole = keyof typeof ROLES;
export const KEY_ROLES = Object.keys(ROLES) as KeyRole[];
/** The roles of the keys that users create. */
export const OWN_ROLES = KEY_ROLES.filter((role) => ROLES[role].ownersMayCreate);
/** The callers with an operator key, by its role. */
export const OPERATORS = { full: 'operator', record: 'recorder' } as const;
/**
 * API keys by role; full and read-only sessions, and sessions that may create keys; full and record operator keys. `code` is a console link's.
 */
export type Caller = KeyRole | 'token' | 'session' | 'read_session' | 'key_session' | 'operator' | 'recorder' | 'code';

const READERS = 'full read session read_session key_session operator';
const CHANGERS = 'full session key_session operator';
/** Who manages the keys of a user. */
const OWNERS = 'full key_session operator';
type Rule = {
  who: string;
  /** Completes "A business token cannot …" and "Only the operator can …". */
  does: string;
  /** Whether the owner may do it while the business is not active. */
  inactive: boolean;
  /** When a retry is safe. `never` rejects an Idempotency-Key. Every row says it, so that a forgotten answer does not compile. */
  retry: 'always' | 'with_key' | 'never';
  /** The path of a read without input. What the tests and the simulator send to it follows. */
  path?: `/${string}`;
};
const RULES = {
  read_usage: { who: `token record recorder ${READERS}`, does: 'read usage', inactive: true, retry: 'always' },
  read_sources: { who: READERS, does: 'read usage by source', inactive: true, retry: 'always' },
  record_use: {
    who: `token record recorder ${CHANGERS}`,
    does: 'record a use',
    inactive: false,
    retry: 'with_key',
  },
  record_quantity: {
    who: `record recorder ${CHANGERS}`,
    does: 'record quantities or labels',
    inactive: false,
    retry: 'with_key',
  },
  record_uses: { who: `record recorder ${CHANGERS}`, does: 'record lists of uses', inactive: false, retry: 'always' },
  lower_uses: { who: 'operator recorder', does: 'lower uses', inactive: true, retry: 'always' },
  read_access: {
    who: READERS,
    does: 'read access domains',
    inactive: true,
    retry: 'always',
    path: '/business/:business_id/access',
  },
  change_access: { who: CHANGERS, does: 'change access domains', inactive: true, retry: 'always' },
  read_refused_origins: {
    who: READERS,
    does: 'read refused origins',
    inactive: true,
    retry: 'always',
    path: '/business/:business_id/access/refused',
  },
  change_refused_origins: { who: CHANGERS, does: 'change refused origins', inactive: true, retry: 'always' },
  rotate_token: { who: CHANGERS, does: 'rotate tokens', retry: 'never', inactive: true },
  stop_former_tokens: { who: CHANGERS, does: 'stop former tokens', inactive: true, retry: 'always' },
  read_business: { who: READERS, does: 'read businesses', inactive: true, retry: 'always' },
  read_changes: { who: READERS, does: 'read changes', inactive: true, retry: 'always' },
  read_alerts: { who: READERS, does: 'read alerts', inactive: true, retry: 'always' },
  update_business: { who: 'operator', does: 'change businesses', inactive: true, retry: 'always' },
  delete_business: { who: 'operator', does: 'delete businesses', inactive: true, retry: 'always' },
  import_history: { who: 'operator', does: 'import histories', inactive: true, retry: 'always' },
  list_businesses: { who: READERS, does: 'list businesses', inactive: true, retry: 'always' },
  create_business: { who: 'operator', does: 'create businesses', retry: 'with_key', inactive: true },
  list_keys: { who: OWNERS, does: 'list API keys', inactive: true, retry: 'always' },
  create_key: { who: OWNERS, does: 'create API keys', retry: 'never', inactive: true },
  revoke_key: { who: OWNERS, does: 'revoke API keys', inactive: true, retry: 'always' },
  create_console_link: { who: 'operator', does: 'create console links', retry: 'never', inactive: true },
  read_user_changes: { who: 'operator', does: 'read the changes of users', inactive: true, retry: 'always' },
  erase_user: { who: 'operator', does: 'erase users', inactive: true, retry: 'always' },
  read_all_usage: {
    who: 'operator recorder',
    does: 'read the usage of all businesses',
    inactive: true,
    retry: 'always',
  },
  read_all_alerts: { who: 'operator', does: 'read the alerts of all businesses', inactive: true, retry: 'always' },
  read_databases: { who: 'operator', does: 'read databases', inactive: true, retry: 'always' },
  start_session: { who: 'full read code', does: 'start sessions', retry: 'never', inactive: true },
  end_session: { who: 'session read_session key_session', does: 'end sessions', inactive: true, retry: 'always' },
} as const satisfies Record<string, Rule>;
export type Operation = keyof typeof RULES;
export const OPERATIONS = Object.keys(RULES) as Operation[];

const ruleOf = (operation: Operation): Rule => RULES[operation];
/** Reads without input, and their paths. */
export const READS = OPERATIONS.flatMap((operation): [Operation, `/${string}`][] => {
  const { path } = ruleOf(operation);
  return path === undefined ? [] : [[operation, path]];
});
const whoMay = Object.fromEntries(
  OPERATIONS.map((operation) => [operation, RULES[operation].who.split(' ')]),
) as Record<Operation, string[]>;

/** Whether a request that may have been carried out can be sent again. */
export function isRepeatable(operation: Operation, hasKey: boolean): boolean {
  const { retry } = ruleOf(operation);
  return retry === 'always' || (retry === 'with_key' && hasKey);
}
export const rejectsKey = (operation: Operation): boolean => ruleOf(operation).retry === 'never';
export const mayWhileInactive = (operation: Operation): boolean => ruleOf(operation).inactive;

/** Whether the user in the path must be the key's, and the key be for all of the user's businesses. */
export const isOfKeys = (operation: Operation): boolean => (RULES[operation].who as string) === OWNERS;

export const may = (caller: Caller, operation: Operation): boolean => whoMay[operation].includes(caller);

/** Why this kind of caller may not do this, or null. In the order of docs/api.md, "Errors". */
export function refusalOf(caller: Caller, operation: Operation): [code: string, message: string] | null {
  if (may(caller, operation)) return null;
  const { does } = ruleOf(operation);
  const isOperator = caller === 'operator' || caller === 'recorder';
  const isOnly = (...callers: string[]) => whoMay[operation].every((other) => callers.includes(other));
  if (isOnly('operator', 'recorder') && !isOperator) return ['operator_only', `Only the operator can ${does}.`];
  if (isOnly('session', 'read_session', 'key_session')) return ['session_only', `Only a session key can ${does}.`];
  if (isOperator && !may('operator', operation))
    return ['operator_not_allowed', `An operator key cannot ${does}. Use an API key.`];
  if (caller === 'token') return ['token_not_allowed', `A business token cannot ${does}. Use an API key.`];
  const isSession = ['session', 'read_session', 'key_session'].includes(caller);
  if (isSession && !may('session', operation))
    return ['session_not_allowed', `A session key cannot ${does}. Use an API key.`];
  const role = KEY_ROLES.find(
    (one) => one === caller || ROLES[one].session === caller || (isOperator && one === 'record'),
  );
  if (role === undefined) throw new Error(`${caller} has no role`);
  return [`${role}_only_key`, `This ${isOperator ? 'operator' : 'API'} key can only ${ROLES[role].only}.`];
}
