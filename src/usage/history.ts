// Imports the counts of past days from another system. Imports either all of them or none.
import { and, eq, inArray, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { recentDays, storeReached } from '../alerts/statements.ts';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import { businesses, dailyUsage, importedDays } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder, NULL } from '../db/text.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';
import { firstRememberedDay } from './lowering.ts';

// The list is one JSON value of [day, count] pairs, because D1 binds at most 100 values.
const listedDay = sql.raw('value ->> 0');
const listedCount = sql.raw('value ->> 1');

/** Matches the stored count of a listed day. */
const isStored = (business_id: SQLWrapper) =>
  and(eq(dailyUsage.business_id, business_id), eq(dailyUsage.day, listedDay));
/** Tests whether the listed count differs from the stored count. */
const isChanged = (business_id: SQLWrapper) =>
  sql`${listedCount} <> coalesce((select ${dailyUsage.count} from ${dailyUsage} where ${isStored(business_id)}), 0)`;
/** Selects the listed days with a different stored count. `cross join` makes SQLite look up each day by primary key. */
const taken = (list: SQL, business_id: SQLWrapper) => sql`from json_each(${list}) cross join ${dailyUsage}
  where ${isStored(business_id)} and ${dailyUsage.count} <> ${listedCount}`;

const readTaken = statement(['days', 'replace'], (permission, $) => {
  const id = permittedId(permission);
  // json_each returns no rows for null, so a refused call does not read the list.
  const list = sql`case when ${id} is not null and not ${$.replace} then ${$.days} end`;
  const counts = sql<Json<Record<string, number>>>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count})
    ${taken(list, id)})`;
  return withVerdict(permission, { taken: counts });
});

const importing = change('import_usage', ['days', 'replace', 'total'], {
  keepsUpdatedAt: true,
  decideIf($) {
    const differs = sql`exists (select 1 from json_each(${$.days}) where ${isChanged(businesses.id)})`;
    const isFree = sql`(${$.replace} or not exists (select 1 ${taken(sql`${$.days}`, businesses.id)}))`;
    return sql`${isFree} and ${differs}`;
  },
  before: ($) => sql`(select ${jsonObject({ days: sql`count(*)`, uses: boundedSumOfCounts })}
    from json_each(${$.days}) cross join ${dailyUsage} where ${isStored($call.business_id)} having count(*) > 0)`,
  after: ($) => sql`${$.total}`,
  apply: {
    /** Deletes the rows of days whose uses can no longer be lowered. */
    forgotten: () =>
      builder
        .delete(importedDays)
        .where(and(eq(importedDays.business_id, decidedId), lt(importedDays.day, firstRememberedDay))),
    imported: ($) =>
      builder
        .insert(importedDays)
        .select(
          sql`select ${rowValues(importedDays, { business_id: businesses.id, day: listedDay })}
            from ${businesses} cross join json_each(${$.days})
            where ${isDecided} and ${listedDay} >= ${firstRememberedDay} and ${isChanged(businesses.id)}`,
        )
        .onConflictDoNothing({ target: [importedDays.business_id, importedDays.day] }),
    applied: ($) =>
      builder
        .insert(dailyUsage)
        .select(
          sql`select ${rowValues(dailyUsage, { business_id: businesses.id, day: listedDay, count: listedCount })}
            from ${businesses} cross join json_each(${$.days}) where ${isDecided} and ${listedCount} > 0`,
        )
        .onConflictDoUpdate({
          target: [dailyUsage.business_id, dailyUsage.day],
          // Nothing is known about the sources of an imported count.
          set: { count: sql`excluded.count`, sources: NULL },
          setWhere: sql`${dailyUsage.count} <> excluded.count`,
        }),
    /** Days without uses have no row. */
    dropped($) {
      const zeros = sql`(select ${listedDay} from json_each(${$.days}) where ${listedCount} = 0)`;
      const isZero = and(eq(dailyUsage.business_id, decidedId), inArray(dailyUsage.day, zeros));
      return builder.delete(dailyUsage).where(isZero);
    },
    reached: ($) => storeReached(decidedId, recentDays($.days, listedDay)),
  },
});

/**
 * Sets the counts of the given days, which must be distinct. Without `replace`, changes nothing if any day already has a different count.
 * In that case, `read` returns those days. With `replace`, the new counts replace the old ones, and 0 removes a count. The change records
 * `total`.
 */
export function importHistory(days: { date: string; count: number }[], replace: boolean) {
  const total = { days: days.length, uses: days.reduce((sum, { count }) => sum + count, 0) };
  const values = { days: JSON.stringify(days.map(({ date, count }) => [date, count])), replace: Number(replace) };
  return {
    read: readTaken(values),
    steps: importing({ ...values, total: JSON.stringify(total) }),
    total,
  };
}
