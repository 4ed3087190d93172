// The statements for usage: reading a report, counting uses, and remembering the ids of uses.
import { and, between, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type Permission, permittedId, statement } from './permission.ts';
import { dailyUsage, ledger } from './schema.ts';
import { db } from './statement.ts';

/** Reads the refusal and the counted days from `from` to `to`, as one JSON object of day to count. */
export const usageInRange = statement(['from', 'to'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const days = sql<string>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count}) from ${dailyUsage}
    where ${inRange})`;
  // The condition stops SQLite from evaluating the rule twice, once for the refusal and once for the days.
  return db
    .select({ refusal: permission.refusal, days: days.as('days') })
    .from(permission)
    .where(sql`true`);
});

/** Adds the selected rows (business_id, day, count) to the counts. Returns the new counts. */
const addToCounts = (select: SQL) =>
  db
    .insert(dailyUsage)
    .select(select)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      set: { count: sql`${dailyUsage.count} + excluded.count` },
    })
    .returning({ date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count });

/** Whether the ledger does not have the id. Reads nothing for a refused call. */
const isNew = (permission: Permission, digest: SQL) => sql`not exists (select 1 from ${ledger}
  where ${eq(ledger.business_id, permittedId(permission))} and ${ledger.digest} = unhex(${digest}))`;

/** Counts one use on `day`. */
export const countUse = statement(['day'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, ${$.day}, 1 from ${permission} where ${isNull(permission.refusal)}`,
  ),
);

/** Counts one use on `day` if its `digest` is not in the ledger. Returns no row if it is. */
export const countNewUse = statement(['digest', 'day'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, ${$.day}, 1 from ${permission}
      where ${and(isNull(permission.refusal), isNew(permission, sql`${$.digest}`))}`,
  ),
);

/** Whether the previous statement counted anything, which also means that the call is permitted. */
const hasCounted = sql`changes() > 0`;

/** Goes directly after `countNewUse`: remembers the use that it counted. */
export const rememberUse = statement(['digest', 'day'], (_, $) =>
  db
    .insert(ledger)
    .select(sql`select ${$.business_id}, unhex(${$.digest}), ${$.day}, ${$.today}, ${$.keep_days} where ${hasCounted}`),
);

/**
 * Reads the refusal, the day on which the use with this digest was counted, and that day's count now. `date` is null if the use is
 * new.
 */
export const useBefore = statement(['digest'], (permission, $) => {
  const known = and(eq(ledger.business_id, permittedId(permission)), eq(ledger.digest, sql`unhex(${$.digest})`));
  return db
    .select({
      refusal: permission.refusal,
      date: sql<string | null>`${ledger.day}`.as('date'),
      count: sql<number>`coalesce(${dailyUsage.count}, 0)`.as('count'),
    })
    .from(permission)
    .leftJoin(ledger, known)
    .leftJoin(dailyUsage, and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, ledger.day)));
});

/** A use with an id, which counts once: the digest of its id in hex, and the day on which it counts. */
export type IdentifiedUse = { digest: string; day: string };

/** Many uses as one bound value, because D1 takes at most 100. No digest may occur twice. */
export const listOf = (uses: IdentifiedUse[]) => ({
  uses: JSON.stringify(uses.map(({ digest, day }) => [digest, day])),
});
const listedDigest = sql.raw('value ->> 0');

/** Counts the uses (see listOf) that are not in the ledger. */
export const countNewUses = statement(['uses'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, value ->> 1, count(*) from ${permission} cross join json_each(${$.uses})
      where ${isNull(permission.refusal)} and ${isNew(permission, listedDigest)} group by value ->> 1`,
  ),
);

/** Goes directly after `countNewUses`: remembers the uses that it counted. Returns a row for each. */
export const rememberUses = statement(['uses'], (_, $) =>
  db
    .insert(ledger)
    .select(
      sql`select ${$.business_id}, unhex(${listedDigest}), value ->> 1, ${$.today}, ${$.keep_days} from json_each(${$.uses})
        where ${hasCounted}`,
    )
    .onConflictDoNothing({ target: [ledger.business_id, ledger.digest] })
    .returning({ day: ledger.day }),
);
