// Operator keys (docs/api.md, "Operator keys"). They are not in a database: a Worker secret contains each key's role and hash.
import { allowsOperators, type Callers, OPERATOR_ROLES, type OperatorRole, type Refusal } from './policy.ts';

/** Several secrets allow one key to be rotated while another works. */
export const OPERATOR_SECRETS = ['OPERATOR_KEY_1', 'OPERATOR_KEY_2', 'OPERATOR_KEY_3', 'OPERATOR_KEY_4'] as const;
export type OperatorSecret = (typeof OPERATOR_SECRETS)[number];

/** Formats a secret from a key's role and its SHA-256 in hex. */
export const formatSecret = (role: OperatorRole, hash: string): string => `${role}:${hash}`;

const SECRET = new RegExp(`^(?:${OPERATOR_ROLES.join('|')}):[0-9a-f]{64}$`);

/** Returns the secrets that are set but malformed. */
export const malformedSecrets = (secrets: { [name in OperatorSecret]?: string }): OperatorSecret[] =>
  OPERATOR_SECRETS.filter((name) => secrets[name] !== undefined && !SECRET.test(secrets[name]));

/**
 * Returns the role of the operator key with this hash. If the secrets give it several, returns the last of OPERATOR_ROLES. Null if no
 * secret contains the hash.
 */
export function roleOf(hash: string, secrets: { [name in OperatorSecret]?: string }): OperatorRole | null {
  const texts = OPERATOR_SECRETS.map((name) => secrets[name]);
  return OPERATOR_ROLES.findLast((role) => texts.includes(formatSecret(role, hash))) ?? null;
}

/**
 * Returns whether a page sent the request. Browsers add at least one of these headers to every such request (Fetch, §3.2; Fetch Metadata,
 * §2).
 */
export const isFromPage = (headers: Headers): boolean => headers.has('Origin') || headers.has('Sec-Fetch-Site');

/** Returns the reason to refuse an operator key's call before its business is looked up, or null. Calls from pages are always refused. */
export function operatorRefusal(role: OperatorRole, callers: Callers, isFromServer: boolean): Refusal | null {
  if (!isFromServer) return 'operator_key_in_page';
  if (callers.operators.includes(role)) return null;
  if (role !== 'full' && allowsOperators(callers)) return `${role}_only_key`;
  return callers.session === 'only' ? 'session_only' : 'operator_not_allowed';
}
