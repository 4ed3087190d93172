// Counts the uses that limits refused. The counts are only a hint for the operator and the owner: no call depends on them.
import { and, eq, gte, type SQLWrapper, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { MAX_COUNT } from '../core/limits.ts';
import { rowValues } from '../db/new-row.ts';
import { businesses, limitRefusals } from '../db/schema.ts';

/** Adds `uses` to those that limits refused on a day. */
export async function recordLimitRefusal(d1: D1Database, id: number, today: string, uses: number): Promise<void> {
  const { business_id, day, count } = limitRefusals;
  // Selects from businesses, so nothing is stored for a deleted business.
  const row = rowValues(limitRefusals, { business_id: businesses.id, day: today, count: Math.min(uses, MAX_COUNT) });
  await drizzle(d1)
    .insert(limitRefusals)
    .select(sql`select ${row} from ${businesses} where ${eq(businesses.id, id)}`)
    .onConflictDoUpdate({
      target: [business_id, day],
      set: { count: sql`min(${count} + excluded.count, ${sql.raw(`${MAX_COUNT}`)})` },
    });
}

/** The number of uses that limits refused since the day `from`. Counts each retry, and some may be missing. */
export const refusedByLimit = (id: SQLWrapper, from: SQLWrapper) =>
  sql<number>`(select min(cast(total(${limitRefusals.count}) as integer), ${sql.raw(`${MAX_COUNT}`)}) from ${limitRefusals}
    where ${and(eq(limitRefusals.business_id, id), gte(limitRefusals.day, from))})`;
