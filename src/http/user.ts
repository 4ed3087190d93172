// The user in a path, whom the operator numbers.
import { parseId } from '../core/request.ts';
import { findHome } from '../db/homes.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { unknownEntry } from './errors.ts';

/** Returns the id of the user in the path. Throws if it is malformed. */
export function userOf(c: ContextOf<Guarded>): number {
  const user_id = parseId(c.req.param('user_id') ?? '');
  if (user_id !== null) return user_id;
  throw unknownEntry('User id');
}

/** Returns the user in the path, and the `ask` for that user's database. For an unknown user, `ask` queries DB and finds no rows. */
export async function askForUser(c: ContextOf<Guarded>) {
  const user_id = userOf(c);
  const home = await findHome(c.get('databases'), user_id);
  return { user_id, ask: c.get('databases').askIn(home ?? 0) };
}
