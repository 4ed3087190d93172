// How the operator creates and revokes API keys. The key itself is only visible when it is created.
import { and, eq, getTableColumns, isNull } from 'drizzle-orm';
import { hashOf, newCredential } from '../core/credential.ts';
import type { Role } from '../core/policy.ts';
import { timestampOf } from '../core/time.ts';
import { apiKeys, type Database } from '../db/schema.ts';
import { changeByOperator, lastFourOf, type Subject } from './changes.ts';
import type { NumberedDatabase } from './databases.ts';
import { raiseIds } from './homes.ts';

const { hash: _, ...columns } = getTableColumns(apiKeys);
type Row = Omit<typeof apiKeys.$inferSelect, 'hash'>;

/** How a role is shown. `read_only` is older than roles. */
const roleFields = (role: Role) => ({ read_only: role === 'read', role });

/** A key as it is listed: everything stored about it except the hash. */
export type Key = Omit<Row, 'read_only' | 'record_only'> & { read_only: boolean; role: Role };
const shown = ({ read_only, record_only, ...row }: Row): Key => ({
  ...row,
  ...roleFields(read_only === 1 ? 'read' : record_only === 1 ? 'record' : 'full'),
});

/** A key for one business is listed with what happens to that business, any other with its user. */
const subjectOf = ({ user_id, business_id }: Pick<Key, 'user_id' | 'business_id'>): Subject =>
  business_id === null ? { subject: 'user', subject_id: user_id } : { subject: 'business', subject_id: business_id };

/**
 * Creates a key for a user. `expires_on` is the last day on which it works; null if it never expires. `business_id` makes it a key
 * for that business only, which must be the user's.
 */
export async function createKey(
  home: NumberedDatabase,
  key: { user_id: number; name: string; expires_on: string | null; business_id?: number | null; role?: Role },
  now: Date,
): Promise<Key & { api_key: string }> {
  const { db, number } = home;
  const api_key = newCredential('bua_sk_', number);
  const { user_id, name, expires_on, business_id = null, role = 'full' } = key;
  const insert = {
    ...{ user_id, name, expires_on, business_id },
    ...{ read_only: Number(role === 'read'), record_only: Number(role === 'record') },
    ...{ hash: await hashOf(api_key), last_four: api_key.slice(-4), created_at: timestampOf(now) },
  };
  const after = { key: lastFourOf(api_key), name, expires_on, business_id, ...roleFields(role) };
  const [, , [created]] = await db.batch([
    ...raiseIds(home),
    db.insert(apiKeys).values(insert).returning(columns),
    changeByOperator(db, subjectOf({ user_id, business_id }), 'create_key', { before: null, after }, now),
  ]);
  return { api_key, ...shown(created as Row) };
}

/** The keys of a user, including revoked and expired ones. */
export const listKeys = async (db: Database, userId: number): Promise<Key[]> =>
  (await db.select(columns).from(apiKeys).where(eq(apiKeys.user_id, userId)).orderBy(apiKeys.id)).map(shown);

/** Revokes a key unless it is revoked already. Returns the key, or undefined if there is none with that id. */
export async function revokeKey(db: Database, id: number, now: Date): Promise<Key | undefined> {
  const find = () => db.select(columns).from(apiKeys).where(eq(apiKeys.id, id)).get();
  const key = await find();
  if (key === undefined) return undefined;
  const before = { id, key: lastFourOf(key.last_four), name: key.name };
  await db.batch([
    db
      .update(apiKeys)
      .set({ revoked_at: timestampOf(now) })
      .where(and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at))),
    changeByOperator(db, subjectOf(key), 'revoke_key', { before, after: null }, now),
  ]);
  return shown((await find()) as Row);
}
