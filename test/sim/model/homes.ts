// Which database stores a user, and which user may import a token (docs/design.md, "Several databases"). The first database decides.
import { type Call, invalidField } from './call.ts';
import type { State } from './state.ts';
import { stamp } from './time.ts';

/** Whether no other user has claimed the token. */
function isTokenFree({ claims }: State, user_id: number, token: string): boolean {
  const claim = claims[token];
  return claim === undefined || claim.user_id === user_id;
}

/**
 * The user's database. A new user is assigned `wanted`, or the database with the fewest users. Remembers that something is about to be
 * created for the user.
 */
export function claimHome(
  call: Call,
  user_id: number,
  { wanted, token }: { wanted?: number | undefined; token?: string | undefined } = {},
): { home: number | null; isFree: boolean } {
  const { state, now } = call;
  if (wanted !== undefined && !state.databases.includes(wanted))
    throw invalidField('database', `must be the number of a bound database: ${state.databases.join(', ')}`);
  const isFree = token === undefined || isTokenFree(state, user_id, token);
  let home = state.homes[user_id];
  if (home === undefined) {
    if (!isFree) return { home: null, isFree };
    const ownersOf = (database: number) =>
      Math.max(0, ...Object.values(state.homes).flatMap((other) => (other.database === database ? other.place : [])));
    const [database = 0] = (wanted === undefined ? state.databases : [wanted]).toSorted(
      (a, b) => ownersOf(a) - ownersOf(b) || a - b,
    );
    home = { database, place: ownersOf(database) + 1, claimed_at: stamp(now) };
    state.homes[user_id] = home;
  }
  home.claimed_at = stamp(now);
  if (token !== undefined && isFree && (wanted === undefined || wanted === home.database))
    state.claims[token] ??= { user_id };
  return { home: home.database, isFree };
}
