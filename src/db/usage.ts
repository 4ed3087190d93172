// The statements of usage: reading a report, counting uses, and remembering those that have an id.
import { and, between, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type Permission, permittedId, statement } from './permission.ts';
import { dailyUsage, ledger } from './schema.ts';
import { db } from './statement.ts';

/** The refusal, with the days from `from` to `to` that have a count: an object from day to count, as JSON, in one row. */
export const usageInRange = statement(['from', 'to'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const days = sql<string>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count}) from ${dailyUsage}
    where ${inRange})`;
  // The condition keeps SQLite from evaluating the rule twice, for the refusal and for the days.
  return db
    .select({ refusal: permission.refusal, days: days.as('days') })
    .from(permission)
    .where(sql`true`);
});

/** Adds what is selected, as (business_id, day, count), to the counts. The rows that come back have the new counts. */
const addToCounts = (select: SQL) =>
  db
    .insert(dailyUsage)
    .select(select)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      set: { count: sql`${dailyUsage.count} + excluded.count` },
    })
    .returning({ date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count });

/** Whether the ledger has no such id. For a refused call it reads nothing. */
const isNew = (permission: Permission, digest: SQL) => sql`not exists (select 1 from ${ledger}
  where ${eq(ledger.business_id, permittedId(permission))} and ${ledger.digest} = unhex(${digest}))`;

/** Counts one use on `day`. */
export const countUse = statement(['day'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, ${$.day}, 1 from ${permission} where ${isNull(permission.refusal)}`,
  ),
);

/** Counts one use on `day` if the ledger does not have its `digest`. No row comes back where it has. */
export const countNewUse = statement(['digest', 'day'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, ${$.day}, 1 from ${permission}
      where ${and(isNull(permission.refusal), isNew(permission, sql`${$.digest}`))}`,
  ),
);

/** Whether the statement directly in front, which counts, has counted anything: then the call is permitted. */
const hasCounted = sql`changes() > 0`;

/** Directly behind `countNewUse`: puts what that has counted into the ledger. */
export const rememberUse = statement(['digest', 'day'], (_, $) =>
  db
    .insert(ledger)
    .select(sql`select ${$.business_id}, unhex(${$.digest}), ${$.day}, ${$.today}, ${$.keep_days} where ${hasCounted}`),
);

/**
 * The refusal, with the day on which the use of that digest was counted before, and that day's count; `date` is null where the use
 * is new.
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

/** A use with an id, which counts once: a digest of the id in hex, and the day on which it counts. */
export type IdentifiedUse = { digest: string; day: string };

/** Many uses as one value: D1 binds at most 100 to a statement. Each digest once. */
export const listOf = (uses: IdentifiedUse[]) => ({
  uses: JSON.stringify(uses.map(({ digest, day }) => [digest, day])),
});
const listedDigest = sql.raw('value ->> 0');

/** Counts those of `uses` (see listOf) that the ledger does not have. */
export const countNewUses = statement(['uses'], (permission, $) =>
  addToCounts(
    sql`select ${permittedId(permission)}, value ->> 1, count(*) from ${permission} cross join json_each(${$.uses})
      where ${isNull(permission.refusal)} and ${isNew(permission, listedDigest)} group by value ->> 1`,
  ),
);

/** Directly behind `countNewUses`: puts what that has counted into the ledger. A row comes back for each. */
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
