// The keys of the operator (docs/api.md, "Operator keys"). They are in no database: the Worker has a role and a hash of each, as secrets.
import { type Operation, POLICY, type Refusal } from './policy.ts';

/** `full` may do whatever an API key may, for every business. `record` reads usage and records uses, and nothing else. */
export const OPERATOR_ROLES = ['full', 'record'] as const; // from wide to narrow
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The secrets: one is replaced while another works. */
export const OPERATOR_SECRETS = ['OPERATOR_KEY_1', 'OPERATOR_KEY_2', 'OPERATOR_KEY_3', 'OPERATOR_KEY_4'] as const;
export type OperatorSecret = (typeof OPERATOR_SECRETS)[number];

/** What a secret says: the role of a key and the SHA-256 of the key in hex. */
export const secretTextOf = (role: OperatorRole, hash: string): string => `${role}:${hash}`;

const SECRET = /^(full|record):[0-9a-f]{64}$/;

/** The secrets that are set and have another form. */
export const malformedSecrets = (secrets: { [name in OperatorSecret]?: string }): OperatorSecret[] =>
  OPERATOR_SECRETS.filter((name) => secrets[name] !== undefined && !SECRET.test(secrets[name]));

/** The role of the operator key with this hash: the narrower one if it has two. Null if no secret has it. */
export function roleOf(hash: string, secrets: { [name in OperatorSecret]?: string }): OperatorRole | null {
  const texts = OPERATOR_SECRETS.map((name) => secrets[name]);
  return OPERATOR_ROLES.findLast((role) => texts.includes(secretTextOf(role, hash))) ?? null;
}

/** Whether a browser sent a request for a page: browsers add one of these headers, or both (Fetch, §3.2; Fetch Metadata, §2). */
export const isFromPage = (headers: Headers): boolean => headers.has('Origin') || headers.has('Sec-Fetch-Site');

/** Why the operator may not make a call, whatever its business. A key that is used from a page is found out on the first day. */
export function operatorRefusal(role: OperatorRole, operation: Operation, isFromServer: boolean): Refusal | null {
  if (!isFromServer) return 'operator_key_in_page';
  const { allowsOperator, session } = POLICY[operation];
  if (!allowsOperator) return session === 'only' ? 'session_only' : 'operator_not_allowed';
  return role === 'record' && !POLICY[operation].allowsRecordKey ? 'record_only_key' : null;
}
