// The user in a path, whom the operator numbers.
import { parseId } from '../core/request.ts';
import { askOfUser } from '../db/homes.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { unknownEntry } from './errors.ts';

/** Returns the id of the user in the path. Throws if it is malformed. */
export function userOf(c: ContextOf<Guarded>): number {
  const user_id = parseId(c.req.param('user_id') ?? '');
  if (user_id !== null) return user_id;
  throw unknownEntry('User id');
}

/** Returns the user in the path, and the `ask` for that user's database. */
export async function askForUser(c: ContextOf<Guarded>) {
  const user_id = userOf(c);
  return { user_id, ask: await askOfUser(c.get('databases'), user_id) };
}
