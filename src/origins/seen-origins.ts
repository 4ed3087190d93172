// Stores origins that were refused although the credential was valid, and those that were let in only because no site was registered. They
// are only a hint for the owner: no call depends on them.
import { and, asc, eq, gte, inArray, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { sitesCovering } from '../core/site.ts';
import { addDays, dayOf, formatTimestamp } from '../core/time.ts';
import { $call, isBeforeDeadline } from '../db/call.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { ifPermitted, permittedId } from '../db/permission.ts';
import { businesses, seenOrigins, sites } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder } from '../db/text.ts';
import { KEEP_ORIGINS_DAYS, MAX_ORIGINS } from './rules.ts';

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
  const own = eq(seenOrigins.business_id, business_id);
  const known = sql`exists (select 1 from ${seenOrigins} where ${and(own, eq(seenOrigins.origin, origin))})`;
  const isFull = sql`(select count(*) from ${seenOrigins} where ${own}) >= ${MAX_ORIGINS}`;
  const rarest = db
    .select({ origin: seenOrigins.origin })
    .from(seenOrigins)
    .where(own)
    .orderBy(asc(seenOrigins.count), asc(seenOrigins.last_seen))
    .limit(1);
  const seen = formatTimestamp(now);
  const candidates = sitesCovering(origin);
  const isCovered = sql`exists (select 1 from ${sites}
    where ${and(eq(sites.business_id, business_id), inArray(sites.site, candidates))})`;
  const isSame = eq(seenOrigins.let_in, let_in);
  await db.batch([
    db
      .delete(seenOrigins)
      .where(and(own, eq(seenOrigins.origin, rarest), sql`not ${known}`, isFull, sql`not ${isCovered}`)),
    db
      .insert(seenOrigins)
      // Selects from businesses, so nothing is stored for a deleted business.
      .select(
        sql`select ${rowValues(seenOrigins, {
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
        target: [seenOrigins.business_id, seenOrigins.origin],
        set: {
          count: sql`iif(${isSame}, ${seenOrigins.count} + 1, 1)`,
          first_seen: sql`iif(${isSame}, ${seenOrigins.first_seen}, ${seen})`,
          last_seen: seen,
          let_in,
        },
      }),
  ]);
}

/** Tests whether a site is registered. Without one, the business refuses no origin. */
const hasSite = (business_id: SQL) =>
  sql<0 | 1>`exists (select 1 from ${sites} where ${eq(sites.business_id, business_id)})`;

/** Reads the verdict, whether the business has a site, and the origins refused or let in since the day `since`. */
export const originsSince = statement(['since'], (permission, $) => {
  const { origin, count, first_seen, last_seen, let_in } = seenOrigins;
  const ofBusiness = and(eq(seenOrigins.business_id, permittedId(permission)), gte(last_seen, $.since));
  const origins = jsonList(jsonObject({ origin, count, first_seen, last_seen, let_in }));
  return withVerdict(permission, {
    has_site: hasSite(permittedId(permission)),
    origins: selectOne(origins, sql`from ${seenOrigins} where ${ofBusiness}`),
  });
});

/** The number of origins that a business refused since the day `since`. 0 if it has no site. */
export function refusedBy(business_id: SQL, since: Placeholder) {
  const isRefused = and(
    eq(seenOrigins.business_id, business_id),
    eq(seenOrigins.let_in, 0),
    gte(seenOrigins.last_seen, since),
  );
  return sql<number>`iif(${hasSite(business_id)}, (select count(*) from ${seenOrigins} where ${isRefused}), 0)`;
}

/** Deletes the origins that one of a business's sites lets in. */
export const deleteCoveredOrigins = (business_id: SQL) =>
  builder.delete(seenOrigins).where(
    and(
      eq(seenOrigins.business_id, business_id),
      sql`exists (select 1 from json_each(${seenOrigins.candidates}) cross join ${sites}
          where ${and(eq(sites.business_id, seenOrigins.business_id), sql`${sites.site} = value`)})`,
    ),
  );

export const deleteSeenOrigins = statement([], (permission) =>
  builder
    .delete(seenOrigins)
    .where(and(eq(seenOrigins.business_id, ifPermitted(permission, $call.business_id)), isBeforeDeadline)),
)({});
