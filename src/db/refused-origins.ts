// Origins that were refused although the credential was valid: a hint for the owner, never a ground for a decision.
import { and, asc, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { addDays, dayOf, timestampOf } from '../core/time.ts';
import { businesses, refusedOrigins } from './schema.ts';

const MAX_ORIGINS = 50;
const KEEP_DAYS = 90;

/** Origins that were last seen before this are forgotten. */
export const forgottenBefore = (now: Date): string => addDays(dayOf(now), -KEEP_DAYS);

/**
 * Counts a refusal of `origin`. If the business has MAX_ORIGINS others, the one seen least often makes room, and of several the one
 * seen longest ago: so invented origins evict each other, not those that keep coming. Writes at most two rows.
 */
export async function rememberRefusal(d1: D1Database, business_id: number, origin: string, now: Date): Promise<void> {
  const db = drizzle(d1);
  const own = eq(refusedOrigins.business_id, business_id);
  const known = sql`exists (select 1 from ${refusedOrigins} where ${and(own, eq(refusedOrigins.origin, origin))})`;
  const isFull = sql`(select count(*) from ${refusedOrigins} where ${own}) >= ${MAX_ORIGINS}`;
  const rarest = db
    .select({ origin: refusedOrigins.origin })
    .from(refusedOrigins)
    .where(own)
    .orderBy(asc(refusedOrigins.count), asc(refusedOrigins.last_seen))
    .limit(1);
  const seen = timestampOf(now);
  await db.batch([
    db.delete(refusedOrigins).where(and(own, eq(refusedOrigins.origin, rarest), sql`not ${known}`, isFull)),
    db
      .insert(refusedOrigins)
      // The columns of the table, in their order. A business that is gone remembers nothing.
      .select(
        sql`select ${businesses.id}, ${origin}, 1, ${seen}, ${seen} from ${businesses} where ${eq(businesses.id, business_id)}`,
      )
      .onConflictDoUpdate({
        target: [refusedOrigins.business_id, refusedOrigins.origin],
        set: { count: sql`${refusedOrigins.count} + 1`, last_seen: seen },
      }),
  ]);
}
