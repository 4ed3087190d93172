// The user in a path, whom the operator numbers.

import type { ContextOf, Guarded } from '../env.ts';
import { askOfUser } from '../homes/homes.ts';
import { unknownId } from './errors.ts';

/** Returns the id of the user in the path. Throws if it is malformed. For other callers than the operator, the permission refuses 0. */
export function userOf(c: ContextOf<Guarded>): number {
  const { credential, user_id } = c.get('call');
  if (user_id === 0 && credential.kind === 'operator') throw unknownId('User id');
  return user_id;
}

/** Returns the user in the path, and the `ask` for that user's database. A key is in the database of its user. */
export async function askForUser(c: ContextOf<Guarded>) {
  const user_id = userOf(c);
  if (c.get('call').credential.kind !== 'operator') return { user_id, ask: c.get('ask') };
  return { user_id, ask: await askOfUser(c.get('databases'), user_id) };
}
