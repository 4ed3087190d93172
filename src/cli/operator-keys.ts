// Creates operator keys. They are never stored in a database: the Worker keeps only a hash, as a secret.
import { newOperatorKey, sha256Hex } from '../core/credential.ts';
import { formatSecret, type OperatorSecret } from '../core/operator.ts';
import type { OperatorRole } from '../core/policy.ts';

/** Returns a new operator key, the text of its secret, and the command that stores the secret. */
export async function createOperatorKey(role: OperatorRole, name: OperatorSecret) {
  const operator_key = newOperatorKey();
  const secret = formatSecret(role, sha256Hex(operator_key));
  return { operator_key, role, secret, store: `echo ${secret} | npx wrangler secret put ${name}` };
}
