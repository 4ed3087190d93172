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

const billed = (permission: Permission) => {
  const { billing_day, has_billing_changes } = permission;
  return { id: permittedId(permission), billing_day, has_billing_changes };
};
/** What is added to the monthly limit in this billing month. */
export const extraOf = (permission: Permission) =>
  extraIn({ id: permittedId(permission), extras_until: permission.extras_until }, monthOf(permission).starts_on);
/** The billing month that contains today. */
export const monthOf = (permission: Permission) => billingMonth(billed(permission), $call.today);

/** The numbers of uses today and in this billing month. If a period has no limit, its number is null and nothing is read. */
function usesOfLimits(permission: Permission) {
  const { daily_limit, monthly_limit } = permission;
  const ofToday = and(eq(dailyUsage.business_id, permittedId(permission)), eq(dailyUsage.day, $call.today));
  const { starts_on, ends_on } = monthOf(permission);
  const ofMonth = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, starts_on, ends_on));
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
export function isOverLimit(permission: Permission, quantity: SQLWrapper) {
  const { today, month } = usesOfLimits(permission);
  const { daily_limit, monthly_limit, allowed_overage } = permission;
  return sql`coalesce(${today} + ${quantity} > ${daily_limit} + ${allowed_overage}, 0)
    or coalesce(${month} + ${quantity} > ${monthly_limit} + ${extraOf(permission)} + ${allowed_overage}, 0)`;
}

/** The fields of a LimitUsage (core/limits.ts). */
export function limitUsageOf(permission: Permission) {
  const { today, month } = usesOfLimits(permission);
  const { daily_limit, monthly_limit, allowed_overage } = permission;
  const { starts_on, ends_on } = monthOf(permission);
  return {
    daily_limit: sql<number | null>`${daily_limit}`,
    monthly_limit: sql<number | null>`${monthly_limit}`,
    extra: extraOf(permission),
    overage: sql<number | null>`${allowed_overage}`,
    today,
    month,
    month_starts_on: starts_on,
    month_ends_on: ends_on,
  };
}

export const billingOf = (permission: Permission) => billingDayOf(billed(permission));
