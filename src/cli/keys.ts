// How the operator creates, lists and revokes API keys in a database that is known.
import { createKeyIn, type Key, keysOf, type NewKey, revokeKey as revoke } from '../db/keys.ts';
import type { Database } from '../db/schema.ts';
import { asking, type NumberedDatabase } from './databases.ts';

/** Creates a key in the home of its user. */
export const createKey = (home: NumberedDatabase, key: NewKey, now: Date): Promise<Key & { api_key: string }> =>
  createKeyIn(asking(home, 'create_key', now), home.number, key);

/** The keys of a user that are in a database. */
export const listKeys = (db: Database, user_id: number, now: Date): Promise<Key[]> =>
  keysOf(asking({ db }, 'list_keys', now), user_id);

/** Revokes a key unless it is revoked already. Null if there is none with that id. */
export const revokeKey = (db: Database, id: number, now: Date): Promise<Key | null> =>
  revoke(asking({ db }, 'revoke_key', now), id);
