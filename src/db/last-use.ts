// The day on which an API key was used last.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { apiKeys } from './schema.ts';

/** Writes the day unless it is written already: many calls at once find the key unmarked. */
export async function markKeyUsed(d1: D1Database, key_id: number, day: string): Promise<void> {
  const unmarked = and(eq(apiKeys.id, key_id), sql`${apiKeys.last_used_on} is not ${day}`);
  await drizzle(d1).update(apiKeys).set({ last_used_on: day }).where(unmarked);
}
