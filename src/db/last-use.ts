// Stores the day on which an API key or a former token was last used.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { apiKeys, formerTokens } from './schema.ts';

/** `used`: the id of the key, or the token. Never moves the day back, because concurrent calls around midnight can store different days. */
export async function markUsed(d1: D1Database, used: number | string, day: string): Promise<void> {
  const [table, isUsed] =
    typeof used === 'number' ? [apiKeys, eq(apiKeys.id, used)] : [formerTokens, eq(formerTokens.token, used)];
  const isEarlier = sql`coalesce(${table.last_used_on}, '') < ${day}`;
  await drizzle(d1).update(table).set({ last_used_on: day }).where(and(isUsed, isEarlier));
}
