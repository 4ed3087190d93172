// How the operator gets a key for their own servers. It is in no database: the Worker has a hash of it, as a secret.
import { hashOf, newOperatorKey } from '../core/credential.ts';
import { type OperatorRole, type OperatorSecret, secretTextOf } from '../core/operator.ts';

/** A new operator key, which is shown only now, the text of its secret, and the command that stores it. */
export async function createOperatorKey(role: OperatorRole, name: OperatorSecret) {
  const operator_key = newOperatorKey();
  const secret = secretTextOf(role, await hashOf(operator_key));
  return { operator_key, role, secret, store: `echo ${secret} | npx wrangler secret put ${name}` };
}
