// Stores origins that were refused although the credential was valid, and those that were let in only because no site was registered. They
// are only a hint for the owner: no call depends on them.
import { and, asc, eq, gte, inArray, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { sitesCovering } from '../core/site.ts';
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
 * recently seen. Invented origins therefore evict each other, not real origins that recur. Writes at most two rows, and none if a site was
 * registered in the meantime that lets the origin in.
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
  const candidates = sitesCovering(origin);
  const isCovered = sql`exists (select 1 from ${access}
    where ${and(eq(access.business_id, business_id), inArray(access.site, candidates))})`;
  const isSame = eq(refusedOrigins.let_in, let_in);
  await db.batch([
    db
      .delete(refusedOrigins)
      .where(and(own, eq(refusedOrigins.origin, rarest), sql`not ${known}`, isFull, sql`not ${isCovered}`)),
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
          candidates: JSON.stringify(candidates),
        })} from ${businesses} where ${eq(businesses.id, business_id)} and not ${isCovered}`,
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

/** Tests whether a site is registered. Without one, the business refuses no origin. */
const hasSite = (business_id: SQL) =>
  sql<0 | 1>`exists (select 1 from ${access} where ${eq(access.business_id, business_id)})`;

/** Reads the verdict, whether the business has a site, and the origins refused or let in since the day `since`. */
export const originsSince = statement(['since'], (permission, $) => {
  const { origin, count, first_seen, last_seen, let_in } = refusedOrigins;
  const ofBusiness = and(eq(refusedOrigins.business_id, permittedId(permission)), gte(last_seen, $.since));
  const origins = jsonList(jsonObject({ origin, count, first_seen, last_seen, let_in }));
  return withVerdict(permission, {
    has_site: hasSite(permittedId(permission)),
    origins: selectOne(origins, sql`from ${refusedOrigins} where ${ofBusiness}`),
  });
});

/** The number of origins that a business refused since the day `since`. 0 if it has no site. */
export function refusedBy(business_id: SQL, since: Placeholder) {
  const isRefused = and(
    eq(refusedOrigins.business_id, business_id),
    eq(refusedOrigins.let_in, 0),
    gte(refusedOrigins.last_seen, since),
  );
  return sql<number>`iif(${hasSite(business_id)}, (select count(*) from ${refusedOrigins} where ${isRefused}), 0)`;
}

/** Deletes the origins that one of a business's sites lets in. */
export const deleteCoveredOrigins = (business_id: SQL) =>
  builder.delete(refusedOrigins).where(
    and(
      eq(refusedOrigins.business_id, business_id),
      sql`exists (select 1 from json_each(${refusedOrigins.candidates}) cross join ${access}
          where ${and(eq(access.business_id, refusedOrigins.business_id), sql`${access.site} = value`)})`,
    ),
  );

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
