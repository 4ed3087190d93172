// A business's limits, and the uses that count towards them, in SQL (core/limits.ts).
import { and, between, eq, type SQLWrapper, sql } from 'drizzle-orm';
import { MAX_COUNT } from '../core/limits.ts';
import { $call } from '../db/call.ts';
import { type Permission, permittedId } from '../db/permission.ts';
import { extraIn } from '../db/plan.ts';
import { dailyUsage } from '../db/schema.ts';
import { billingDayOf, billingMonth } from './billing.ts';

/**
 * The sum of counts, capped at MAX_COUNT. Uses total(), which is exact up to there, because sum() fails beyond 2^63 - 1. The cap is inlined,
 * because D1 would not bind it as an integer.
 */
export const boundedSumOfCounts = sql<number>`min(cast(total(${dailyUsage.count}) as integer), ${sql.raw(`${MAX_COUNT}`)})`;

/**
 * The permission, the id in the path, which is null if the call is refused, and the billing month that contains today. A statement on limits
 * selects `from` this. Because of its limit, SQLite computes the month once.
 */
export function withMonth(permission: Permission) {
  const { billing_day, has_billing_changes } = permission;
  const id = permittedId(permission);
  const { starts_on, ends_on } = billingMonth({ id, billing_day, has_billing_changes }, $call.today);
  return {
    permission,
    from: sql`(select *, ${id} as permitted_id, ${starts_on} as month_starts_on, ${ends_on} as month_ends_on from ${permission} limit 1)`,
    id: sql`permitted_id`,
    starts_on: sql<string>`month_starts_on`,
    ends_on: sql<string>`month_ends_on`,
  };
}
export type WithMonth = ReturnType<typeof withMonth>;

/** What is added to the monthly limit in this billing month. */
const extraOf = ({ permission: { extras_until }, id, starts_on }: WithMonth) =>
  extraIn({ id, extras_until }, starts_on);

/** The numbers of uses today and in this billing month. If a period has no limit, its number is null and nothing is read. */
function usesOfLimits({ permission: { daily_limit, monthly_limit }, id, starts_on, ends_on }: WithMonth) {
  const ofToday = and(eq(dailyUsage.business_id, id), eq(dailyUsage.day, $call.today));
  const ofMonth = and(eq(dailyUsage.business_id, id), between(dailyUsage.day, starts_on, ends_on));
  return {
    today: sql<number | null>`case when ${daily_limit} is not null
      then coalesce((select ${dailyUsage.count} from ${dailyUsage} where ${ofToday}), 0) end`,
    month: sql<number | null>`case when ${monthly_limit} is not null
      then (select coalesce(sum(${dailyUsage.count}), 0) from ${dailyUsage} where ${ofMonth}) end`,
  };
}

/**
 * Tests whether a use of this quantity would exceed a limit. `refusalOfUse` in core/limits.ts determines which limit the response names.
 */
export function isOverLimit(current: WithMonth, quantity: SQLWrapper) {
  const { today, month } = usesOfLimits(current);
  const { daily_limit, monthly_limit, allowed_overage } = current.permission;
  return sql`coalesce(${today} + ${quantity} > ${daily_limit} + ${allowed_overage}, 0)
    or coalesce(${month} + ${quantity} > ${monthly_limit} + ${extraOf(current)} + ${allowed_overage}, 0)`;
}

/** The fields of a LimitUsage (core/limits.ts). */
export function limitUsageOf(current: WithMonth) {
  const { daily_limit, monthly_limit, allowed_overage } = current.permission;
  return {
    daily_limit: sql<number | null>`${daily_limit}`,
    monthly_limit: sql<number | null>`${monthly_limit}`,
    extra: extraOf(current),
    overage: sql<number | null>`${allowed_overage}`,
    ...usesOfLimits(current),
    month_starts_on: current.starts_on,
    month_ends_on: current.ends_on,
  };
}

export const billingOf = ({ permission: { billing_day, has_billing_changes }, id }: WithMonth) =>
  billingDayOf({ id, billing_day, has_billing_changes });
