// Stores origins that were refused although the credential was valid, and those that were let in only because no site was registered. They
// are only a hint for the owner: no call depends on them.
import { and, asc, eq, gte, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { covers } from '../core/site.ts';
import { addDays, dayOf, formatTimestamp } from '../core/time.ts';
import { isBeforeDeadline } from './call.ts';
import { asJson, jsonList, jsonObject, selectOne } from './json.ts';
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

const sitesOf = (business_id: SQL) =>
  selectOne(jsonList(access.site), sql`from ${access} where ${eq(access.business_id, business_id)}`);

/** Reads the verdict, the business's sites, and the origins refused or let in since the day `since`. */
export const originsSince = statement(['since'], (permission, $) => {
  const { origin, count, first_seen, last_seen, let_in } = refusedOrigins;
  const ofBusiness = and(eq(refusedOrigins.business_id, permittedId(permission)), gte(last_seen, $.since));
  const origins = jsonList(jsonObject({ origin, count, first_seen, last_seen, let_in }));
  return withVerdict(permission, {
    sites: sitesOf(permittedId(permission)),
    origins: selectOne(origins, sql`from ${refusedOrigins} where ${ofBusiness}`),
  });
});

/** The origins that a business refused since the day `since` and, if there are any, its sites. */
export function refusedBy(business_id: SQL, since: Placeholder) {
  const { origin, last_seen, let_in } = refusedOrigins;
  const isOwn = and(eq(refusedOrigins.business_id, business_id), eq(let_in, 0), gte(last_seen, since));
  const found = {
    origins: jsonList(origin),
    sites: asJson<string[]>(sql`case when count(*) > 0 then ${sitesOf(business_id)} else '[]' end`),
  };
  return selectOne(jsonObject(found), sql`from ${refusedOrigins} where ${isOwn}`);
}

/** Returns the origins that the sites would still refuse. A business without sites accepts every origin. */
export const stillRefused = <T>(origins: T[], sites: ReadonlySet<string>, originOf: (one: T) => string): T[] =>
  sites.size === 0 ? [] : origins.filter((one) => !covers(sites, originOf(one)));

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
