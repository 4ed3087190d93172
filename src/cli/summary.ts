// What the operator wants to know about a database: where it is, and how full.
import { and, eq, sql } from 'drizzle-orm';
import { ALPHABET } from '../core/credential.ts';
import { businesses, dailyUsage } from '../db/schema.ts';
import { boundedSumOfCounts } from '../db/usage.ts';
import type { BoundDatabase } from './databases.ts';

/** `region` is null for a local database. `uses` are those of `day`, of all businesses: MAX_COUNT at most. */
export async function summaryOf({ db, number, binding, name }: BoundDatabase, day: string) {
  const ofDay = and(eq(dailyUsage.business_id, businesses.id), eq(dailyUsage.day, day));
  const { results, meta } = await db.run(sql`select count(*) as businesses, ${boundedSumOfCounts} as uses
    from ${businesses} left join ${dailyUsage} on ${ofDay}`);
  const [counts] = results as { businesses: number; uses: number }[];
  return {
    letter: ALPHABET[number],
    binding,
    name,
    region: meta.served_by_region ?? null,
    bytes: meta.size_after,
    ...counts,
  };
}
