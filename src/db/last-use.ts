// Stores the day on which an API key was last used.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { apiKeys } from './schema.ts';

/** Never moves the day back, because concurrent calls around midnight can store different days. */
export async function markKeyUsed(d1: D1Database, key_id: number, day: string): Promise<void> {
  const unmarked = and(eq(apiKeys.id, key_id), sql`coalesce(${apiKeys.last_used_on}, '') < ${day}`);
  await drizzle(d1).update(apiKeys).set({ last_used_on: day }).where(unmarked);
}
