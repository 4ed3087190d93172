// Statements that read usage.
import { and, between, eq, gt, type SQL, sql } from 'drizzle-orm';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { type Json, jsonList, jsonObject, selectOne } from '../db/json.ts';
import { type Permission, permittedId } from '../db/permission.ts';
import { businesses, dailyUsage, limitRefusals, sources } from '../db/schema.ts';
import { operatorStatement, statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';
import { ofSource, sourceNumberOf } from '../sources/sources.ts';
import type { DayBySource } from './rules.ts';

/** Reads the verdict, and the counts from `from` to `to` as one object that maps days to counts. */
export const usageInRange = statement(['from', 'to'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const counts = sql<Json<Record<string, number>>>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count})
    from ${dailyUsage} where ${inRange})`;
  return withVerdict(permission, { counts });
});

/** Reads the verdict, and how many uses limits refused from `from` to `to`, as one object that maps days to counts. */
export const refusalsInRange = statement(['from', 'to'], (permission, $) => {
  const { business_id, day, count } = limitRefusals;
  const inRange = and(eq(business_id, permittedId(permission)), between(day, $.from, $.to));
  const counts = sql<Json<Record<string, number>>>`(select json_group_object(${day}, ${count})
    from ${limitRefusals} where ${inRange})`;
  return withVerdict(permission, { counts });
});

/** Reads the verdict, the days from `from` to `to` with the counts of their sources, and the names of all the business's sources. */
export const usageBySource = statement(['from', 'to'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const day = sql<DayBySource>`json_array(${dailyUsage.day}, ${dailyUsage.count}, json(${dailyUsage.sources}))`;
  const names = sql<
    Json<Record<string, string>>
  >`(select json_group_object(cast(${sources.number} as text), ${sources.name})
    from ${sources} where ${eq(sources.business_id, permittedId(permission))})`;
  return withVerdict(permission, {
    days: selectOne(jsonList(day), sql`from ${dailyUsage} where ${inRange}`),
    names,
  });
});
/** Reads the verdict, the number of a source, and its counts from `from` to `to`. `number` is null if the business has no such source. */
export const usageOfSource = statement(['from', 'to', 'source'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const number = sourceNumberOf(permittedId(permission), sql`${$.source}`);
  // Because of its limit, SQLite extracts each count only once.
  const days = sql`select ${dailyUsage.day} as day, ${ofSource(dailyUsage.sources, sql`number`)} as count
    from (select ${number} as number) cross join ${dailyUsage} where ${inRange} limit ${sql.raw(`${MAX_RANGE_DAYS}`)}`;
  const counts = sql<
    Json<Record<string, number>>
  >`(select json_group_object(day, count) filter (where count is not null) from (${days}))`;
  return withVerdict(permission, { number: sql<number | null>`${number}`, counts });
});

/**
 * Reads the verdict and a page of totals: each business's uses from `from` to `to`, for at most `limit` businesses after the id `after`,
 * including those without uses. Covers all owners.
 */
export const totalsAfter = operatorStatement(['limit', 'after', 'from', 'to'], (permission, $) =>
  pageOfTotals(undefined, permission, $),
);
/** Like `totalsAfter`, but for one user's businesses. */
export const totalsOfUserAfter = operatorStatement(['user_id', 'limit', 'after', 'from', 'to'], (permission, $) =>
  pageOfTotals(eq(businesses.user_id, $.user_id), permission, $),
);

function pageOfTotals(
  ownerIs: SQL | undefined,
  permission: Permission,
  $: Placeholders<'limit' | 'after' | 'from' | 'to'>,
) {
  const page = builder
    .select({ id: businesses.id, user_id: businesses.user_id, name: businesses.name })
    .from(businesses)
    .where(and(ownerIs, gt(businesses.id, $.after)))
    .orderBy(businesses.id)
    .limit($.limit)
    .as('page');
  const inRange = sql`${dailyUsage.business_id} = ${page.id} and ${between(dailyUsage.day, $.from, $.to)}`;
  const total = jsonObject({
    business_id: sql<number>`${page.id}`,
    user_id: sql<number>`${page.user_id}`,
    name: sql<string>`${page.name}`,
    count: sql<number>`(select ${boundedSumOfCounts} from ${dailyUsage} where ${inRange})`,
  });
  return withVerdict(permission, { totals: selectOne(jsonList(total), sql`from ${page}`) });
}
