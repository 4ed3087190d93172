// Who calls the service. Written by hand after docs/api.md ("Basics"). It shares no code with the service.
type OfRole = {
  /** Who the callers are that have a session of such a key. Null if it starts none. */
  session: 'session' | 'read_session' | null;
  /** Whether it sees whole tokens, and not only their ends. */
  seesToken: boolean;
  /** Whether a user's own key or session creates such keys. */
  ownersMayCreate: boolean;
  /** Completes "This API key can only …". Null for full access. */
  only: string | null;
};
/** The roles of API keys, and what follows from each. */
export const ROLES = {
  full: { session: 'session', seesToken: true, ownersMayCreate: false, only: null },
  read: { session: 'read_session', seesToken: false, ownersMayCreate: true, only: 'read' },
  record: { session: null, seesToken: false, ownersMayCreate: true, only: 'record' },
} as const satisfies Record<string, OfRole>;
export type KeyRole = keyof typeof ROLES;
export const KEY_ROLES = Object.keys(ROLES) as KeyRole[];
/** The roles of the keys that users create. */
export const OWN_ROLES = KEY_ROLES.filter((role) => ROLES[role].ownersMayCreate);
/** The callers with an operator key, by its role. */
export const OPERATORS = { full: 'operator', record: 'recorder', read: 'reader' } as const;
/**
 * API keys by role; full and read-only sessions, and sessions that may create keys; full, record and read operator keys. `code` is a console link's.
 */
export type Caller =
  | KeyRole
  | 'token'
  | 'session'
  | 'read_session'
  | 'key_session'
  | 'operator'
  | 'recorder'
  | 'reader'
  | 'code';

export const READERS = 'full read session read_session key_session operator reader';
export const CHANGERS = 'full session key_session operator';
/** Who manages the keys of a user. */
export const OWNERS = 'full key_session operator';
