// Stores origins that were refused although the credential was valid, and those that were let in only because no site was registered. They
// are only a hint for the owner: no call depends on them.
import { and, asc, eq, gt, gte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { addDays, dayOf, formatTimestamp } from '../core/time.ts';
import { isBeforeDeadline } from './call.ts';
import { jsonList, jsonObject, selectOne } from './json.ts';
import { rowValues } from './new-row.ts';
import { permittedId } from './permission.ts';
import { access, businesses, refusedOrigins } from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { builder } from './text.ts';

/** The maximum number of stored origins per business. */
export const MAX_ORIGINS = 50;
const KEEP_ORIGINS_DAYS = 90;

/** Origins last seen before this day are purged. */
export const originsRetainedFrom = (now: Date): string => addDays(dayOf(now), -KEEP_ORIGINS_DAYS);

/**
 * Counts a call from `origin` that was refused or let in. If the origin's last call had the other outcome, the count begins anew. If the
 * business already has MAX_ORIGINS other origins, evicts the one with the lowest count. If several have that count, evicts the least
 * recently seen. Invented origins therefore evict each other, not real origins that recur. Writes at most two rows.
 */
export async function recordOrigin(
  d1: D1Database,
  business_id: number,
  origin: string,
  let_in: 0 | 1,
  now: Date,
): Promise<void> {
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
  const seen = formatTimestamp(now);
  const isSame = eq(refusedOrigins.let_in, let_in);
  await db.batch([
    db.delete(refusedOrigins).where(and(own, eq(refusedOrigins.origin, rarest), sql`not ${known}`, isFull)),
    db
      .insert(refusedOrigins)
      // Selects from businesses, so nothing is stored for a deleted business.
      .select(
        sql`select ${rowValues(refusedOrigins, {
          business_id: businesses.id,
          origin,
          count: 1,
          first_seen: seen,
          last_seen: seen,
          let_in,
        })} from ${businesses} where ${eq(businesses.id, business_id)}`,
      )
      .onConflictDoUpdate({
        target: [refusedOrigins.business_id, refusedOrigins.origin],
        set: {
          count: sql`iif(${isSame}, ${refusedOrigins.count} + 1, 1)`,
          first_seen: sql`iif(${isSame}, ${refusedOrigins.first_seen}, ${seen})`,
          last_seen: seen,
          let_in,
        },
      }),
  ]);
}

/** Reads the verdict, the business's sites, and the origins refused or let in since the day `since`. */
export const originsSince = statement(['since'], (permission, $) => {
  const { origin, count, first_seen, last_seen, let_in } = refusedOrigins;
  const ofBusiness = and(eq(refusedOrigins.business_id, permittedId(permission)), gte(last_seen, $.since));
  const ownSites = sql`from ${access} where ${eq(access.business_id, permittedId(permission))}`;
  const origins = jsonList(jsonObject({ origin, count, first_seen, last_seen, let_in }));
  return withVerdict(permission, {
    sites: selectOne(jsonList(access.site), ownSites).as('sites'),
    origins: selectOne(origins, sql`from ${refusedOrigins} where ${ofBusiness}`).as('origins'),
  });
});

/**
 * Counts the origins that were refused since the day `since` and after the last change to the business. The sites have not changed since
 * then, so all of these origins would still be refused.
 */
export function refusedCountOf(business_id: SQL, updated_at: SQLWrapper, since: Placeholder) {
  const { last_seen, let_in } = refusedOrigins;
  const isOwn = and(
    eq(let_in, 0),
    eq(refusedOrigins.business_id, business_id),
    gt(last_seen, sql`${updated_at}`),
    gte(last_seen, since),
  );
  return sql<number>`(select count(*) from ${refusedOrigins} where ${isOwn})`;
}

export const deleteRefusedOrigins = statement([], (permission) =>
  builder
    .delete(refusedOrigins)
    .where(
      and(
        eq(refusedOrigins.business_id, sql`(select ${permittedId(permission)} from ${permission})`),
        isBeforeDeadline,
      ),
    ),
)({});
