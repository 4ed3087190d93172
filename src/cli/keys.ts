// API keys, as the operator makes and revokes them. The key itself is in hand once, when it is made.
import { and, eq, getTableColumns, isNull } from 'drizzle-orm';
import { hashOf, newSecret } from '../core/credential.ts';
import { timestampOf } from '../core/time.ts';
import { apiKeys, type Database } from '../db/schema.ts';

const { hash: _, ...shown } = getTableColumns(apiKeys);

/** A key as it is listed: everything stored of it but the hash. */
export type Key = Omit<typeof apiKeys.$inferSelect, 'hash'>;

/** Makes a key for a user. `expires_on` is the last day on which it is accepted; null: it never expires. */
export async function createKey(
  db: Database,
  key: { user_id: number; name: string; expires_on: string | null },
  now: Date,
): Promise<Key & { api_key: string }> {
  const api_key = newSecret('bua_sk_');
  const row = { ...key, hash: await hashOf(api_key), last_four: api_key.slice(-4), created_at: timestampOf(now) };
  const [created] = await db.insert(apiKeys).values(row).returning(shown);
  return { api_key, ...(created as Key) };
}

/** The keys of a user, revoked and expired ones included. */
export const listKeys = (db: Database, userId: number) =>
  db.select(shown).from(apiKeys).where(eq(apiKeys.user_id, userId)).orderBy(apiKeys.id);

/** Revokes a key, if it is not yet; the key as it is then, or undefined where there is none of that id. */
export async function revokeKey(db: Database, id: number, now: Date): Promise<Key | undefined> {
  const revoked_at = timestampOf(now);
  await db
    .update(apiKeys)
    .set({ revoked_at })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at)));
  return db.select(shown).from(apiKeys).where(eq(apiKeys.id, id)).get();
}
