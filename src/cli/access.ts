// Whether an origin would pass, decided by the rule of the service itself.
import { and, asc, eq, inArray } from 'drizzle-orm';
import { sitesCovering } from '../core/site.ts';
import { noCost, runBatch } from '../db/batch.ts';
import type { Call } from '../db/call.ts';
import { readVerdict } from '../db/permission.ts';
import { access, type BusinessRow, type Database } from '../db/schema.ts';

/** Whether a page of `origin` may use the token of a business now, and the entry that covers the origin, or null if none does. */
export async function checkOrigin(db: Database, { id, token }: BusinessRow, origin: string, now: Date) {
  const credential = { kind: 'token', lookupValue: token } as const;
  const call: Call = {
    operation: 'read_usage',
    credential,
    business_id: id,
    origin,
    ownOrigin: '',
    now,
    deadline: Number.MAX_SAFE_INTEGER,
  };
  const { row } = await runBatch(db.$client, call, readVerdict, {}, noCost());
  const covering = and(eq(access.business_id, id), inArray(access.site, sitesCovering(origin)));
  const entry = await db
    .select({ site: access.site })
    .from(access)
    .where(covering)
    .orderBy(asc(access.id))
    .limit(1)
    .get();
  return { allowed: row?.refusal === null, site: entry?.site ?? null };
}
