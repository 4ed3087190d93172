// Stores the day on which an API key or a former token was last used, and the page that used the token.
import { and, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { apiKeys, formerTokens } from './schema.ts';

/** A call of a key, by its id, or of a former token. `origin` is null unless it can be registered. */
type Use = { used: number | string; day: string; origin: string | null };

/** Never moves the day back, because concurrent calls around midnight can store different days. */
export async function markUsed(d1: D1Database, { used, day, origin }: Use): Promise<void> {
  const db = drizzle(d1);
  const isEarlier = (last_used_on: SQLiteColumn) => sql`coalesce(${last_used_on}, '') < ${day}`;
  if (typeof used === 'number') {
    const isUsed = and(eq(apiKeys.id, used), isEarlier(apiKeys.last_used_on));
    await db.update(apiKeys).set({ last_used_on: day }).where(isUsed);
  } else {
    const isUsed = and(eq(formerTokens.token, used), isEarlier(formerTokens.last_used_on));
    await db.update(formerTokens).set({ last_used_on: day, last_used_from: origin }).where(isUsed);
  }
}
