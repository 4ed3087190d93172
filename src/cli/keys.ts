// How the operator creates and revokes API keys. The key itself is only visible when it is created.
import { and, eq, getTableColumns, isNull } from 'drizzle-orm';
import { hashOf, newCredential } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { apiKeys, type Database } from '../db/schema.ts';
import type { Home } from './databases.ts';
import { raiseIds } from './homes.ts';

const { hash: _, ...shown } = getTableColumns(apiKeys);

/** A key as it is listed: everything stored about it except the hash. */
export type Key = Omit<typeof apiKeys.$inferSelect, 'hash'>;

/** Creates a key for a user. `expires_on` is the last day on which it works; null if it never expires. */
export async function createKey(
  home: Pick<Home, 'db' | 'number'>,
  key: { user_id: number; name: string; expires_on: string | null },
  now: Date,
): Promise<Key & { api_key: string }> {
  const { db, number } = home;
  const api_key = newCredential('bua_sk_', number);
  const row = { ...key, hash: await hashOf(api_key), last_four: api_key.slice(-4), created_at: timestampOf(now) };
  const [, , [created]] = await db.batch([...raiseIds(home), db.insert(apiKeys).values(row).returning(shown)]);
  return { api_key, ...(created as Key) };
}

/** The keys of a user, including revoked and expired ones. */
export const listKeys = (db: Database, userId: number) =>
  db.select(shown).from(apiKeys).where(eq(apiKeys.user_id, userId)).orderBy(apiKeys.id);

/** Revokes a key unless it is revoked already. Returns the key, or undefined if there is none with that id. */
export async function revokeKey(db: Database, id: number, now: Date): Promise<Key | undefined> {
  const revoked_at = timestampOf(now);
  await db
    .update(apiKeys)
    .set({ revoked_at })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at)));
  return db.select(shown).from(apiKeys).where(eq(apiKeys.id, id)).get();
}
