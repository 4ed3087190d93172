// Whether a list of uses may count, in SQL: what its limits allow, and which periods it would exceed.
import { and, eq, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { MAX_COUNT, type PeriodBeyond } from '../core/limits.ts';
import { $call, type CallShape, isBeforeDeadline } from '../db/call.ts';
import type { Json } from '../db/json.ts';
import { allowedOverage, isPermitted, type Permission, permittedId } from '../db/permission.ts';
import { extraIn, judgedOn, type Limit, limitOn } from '../db/plan.ts';
import { businesses, dailyUsage } from '../db/schema.ts';
import { previousStepWrote, statement } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { billingMonth } from '../limits/billing.ts';
import { isNewFor } from './counting.ts';

export const listedDigest = sql.raw('value ->> 0');
export const listedDay = sql.raw('value ->> 1');
export const listedQuantity = sql.raw('value ->> 2');
const listedIsDated = sql.raw('value ->> 3');
export const listedLabel = sql.raw('value ->> 4');

/** Tests whether a limit can refuse uses with ids. It can refuse an operator's single use, even one with a time. */
const canRefuse = (
  { daily_limit, monthly_limit, allowed_overage, has_other_limits }: Permission,
  { caller, rule }: CallShape,
) =>
  caller === 'operator' && rule.passesLimits
    ? sql`false`
    : sql`(${has_other_limits} or (${allowed_overage} is not null and coalesce(${daily_limit}, ${monthly_limit}) is not null))`;

/**
 * A subquery that returns rows of PeriodBeyond: the days and months in which a list's new uses would exceed a limit plus its overage. The
 * enclosing query's `from` must include the permission. Evaluate the subquery only if `canRefuse`.
 */
function periodsBeyond(permission: Permission, uses: Placeholder, shape: CallShape) {
  const { daily_limit, monthly_limit, billing_day, has_billing_changes, allowed_overage } = permission;
  const { has_other_limits, extras_until } = permission;
  const bound = {
    id: $call.business_id,
    billing_day: sql`bound.billing_day`,
    has_billing_changes: sql`bound.has_changes`,
  };
  const month = billingMonth(bound, sql`days.day`);
  // The limits of other days than today are read only for a business that has them.
  const limitOfRow = (limit: Limit) => limitOn(limit, businesses, sql`judged_on`);
  const limitThen = (today: SQL, then: SQL) => sql`case when not has_others or judged_on = ${$call.today} then ${today}
    else (select ${then} from ${businesses} where ${eq(businesses.id, $call.business_id)}) end`;
  const overageThen = allowedOverage(shape, limitOfRow);
  const ofPeriod = sql`${dailyUsage.business_id} = ${$call.business_id} and ${dailyUsage.day} between starts_on and ends_on`;
  // Each subquery is materialized, so SQLite computes it only once.
  return sql`(with
      bound as materialized (select ${daily_limit} as daily, ${monthly_limit} as monthly, ${billing_day} as billing_day,
        ${has_billing_changes} as has_changes, ${allowed_overage} as overage, ${has_other_limits} as has_others, ${extras_until} as extras_until),
      days as materialized (select ${listedDay} as day, sum(${listedQuantity}) as added, max(${listedIsDated}) as dated from bound cross join json_each(${uses})
        where ${isNewFor($call.business_id, listedDigest)} group by 1),
      spans as materialized (
        select 'month' as period, ${month.starts_on} as starts_on, ${month.ends_on} as ends_on, sum(added) as adds, max(dated) as has_dated
          from bound cross join days where monthly is not null or has_others group by 2
        union all select 'day', day, day, added, dated from bound cross join days where daily is not null or has_others),
      judged as materialized (select *, ${judgedOn(sql`starts_on`, sql`ends_on`, $call.today)} as judged_on from spans),
      periods as materialized (select judged.*, iif(period = 'day', ${limitThen(sql`daily`, limitOfRow('daily_limit'))},
        ${limitThen(sql`monthly`, limitOfRow('monthly_limit'))} + ${extraIn({ id: $call.business_id, extras_until: sql`bound.extras_until` }, sql`judged.starts_on`)}) as "limit",
        ${limitThen(sql`bound.overage`, overageThen)} as overage from bound cross join judged)
    select period, starts_on, ends_on, "limit", overage, adds, has_dated, (select sum(added) from days) as total, "limit" + overage
      - (select coalesce(sum(${dailyUsage.count}), 0) from ${dailyUsage} where ${ofPeriod}) as "left"
    from periods where adds > "left")`;
}

/**
 * Tests whether a list's new uses would raise the count of a day above MAX_COUNT. `days` are the list's days, each with the sum of its uses, so
 * that new uses are only summed where that could be too much.
 */
function isTooHigh({ uses, days }: Placeholders<'uses' | 'days'>) {
  const ofDay = and(eq(dailyUsage.business_id, $call.business_id), sql`${dailyUsage.day} = total.value ->> 0`);
  const added = sql`(select sum(${listedQuantity}) from json_each(${uses})
    where ${listedDay} = ${dailyUsage.day} and ${isNewFor($call.business_id, listedDigest)})`;
  return sql`exists (select 1 from json_each(${days}) as total cross join ${dailyUsage}
    where ${ofDay} and ${dailyUsage.count} > ${MAX_COUNT} - (total.value ->> 1) and ${dailyUsage.count} > ${MAX_COUNT} - ${added})`;
}

type List = Placeholders<'uses' | 'days'>;
/**
 * Tests whether a list's use may count. In the enclosing query's `from`, `cross join` makes SQLite read the permission first, so a refused
 * call does not read the list.
 */
export const mayCountListed = (permission: Permission, $: List, shape: CallShape) =>
  sql`${isPermitted(permission)} and ${isBeforeDeadline} and ${isNewFor(permittedId(permission), listedDigest)}
    and not (${canRefuse(permission, shape)} and exists (select 1 from ${periodsBeyond(permission, $.uses, shape)})) and not ${isTooHigh($)}`;

/** If the previous steps did not count because of a limit or of MAX_COUNT, reads the exceeded periods, and whether a count is too high. */
export const selectBeyond = statement(['uses', 'days'], (permission, $, shape) => {
  const rows = sql`select json_group_array(json_object('period', period, 'starts_on', starts_on, 'ends_on', ends_on,
    'limit', "limit", 'overage', overage, 'adds', adds, 'has_dated', has_dated, 'total', total, 'left', "left")) from ${periodsBeyond(permission, $.uses, shape)}`;
  // If the list was counted, SQLite does not evaluate the permission again.
  const exceeded = sql`(select case when ${isPermitted(permission)} and ${canRefuse(permission, shape)} then (${rows}) else '[]' end as beyond,
      ${isPermitted(permission)} and ${isTooHigh($)} as is_too_high
    from (select 1 where not ${previousStepWrote}) cross join ${permission} limit 1)`; // without `limit`, SQLite computes `beyond` twice
  return builder
    .select({
      beyond: sql<Json<PeriodBeyond[]>>`beyond`.as('beyond'),
      is_too_high: sql<0 | 1>`is_too_high`.as('is_too_high'),
    })
    .from(sql`${exceeded} where beyond <> '[]' or is_too_high`);
});
