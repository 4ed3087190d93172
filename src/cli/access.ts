// Whether an origin would pass, decided by the rules of the service itself.
import { and, asc, eq, inArray } from 'drizzle-orm';
import { sitesCovering } from '../core/site.ts';
import { access, type Database } from '../db/schema.ts';

/** Whether a page of `origin` may use the token of a business, and the entry that allows it, or null if none does. */
export async function checkOrigin(db: Database, business_id: number, origin: string) {
  const entries = eq(access.business_id, business_id);
  const covering = and(entries, inArray(access.site, sitesCovering(origin)));
  const [[entry], restricted] = await db.batch([
    db.select({ site: access.site }).from(access).where(covering).orderBy(asc(access.id)).limit(1),
    db.select({ id: access.id }).from(access).where(entries).limit(1),
  ]);
  return { allowed: entry !== undefined || restricted.length === 0, site: entry?.site ?? null };
}
