// The limits of a business and the uses that count towards them, as SQL (core/limits.ts).
import { and, between, eq, type SQLWrapper, sql } from 'drizzle-orm';
import { $call, type CallShape } from './call.ts';
import { type Permission, permittedId } from './permission.ts';
import { dailyUsage } from './schema.ts';

/**
 * The first and the last day of the month of a limit in which `today` is, or of one that was `ago` months before: as periodOf in
 * core/limits.ts has it, a month of the calendar, some days later.
 */
export function monthOfLimit(today: string | SQLWrapper, billing_day: SQLWrapper, ago = sql.raw('0')) {
  const first = sql`${today}, (1 - ${billing_day}) || ' days', 'start of month'`;
  return {
    starts_on: sql`date(${first}, -${ago} || ' months', (${billing_day} - 1) || ' days')`,
    ends_on: sql`date(${first}, (1 - ${ago}) || ' months', (${billing_day} - 2) || ' days')`,
  };
}

/** The uses of today, and of this month, as far as a limit needs them: without one, null, and nothing is read. */
function usesOfLimits(permission: Permission) {
  const { daily_limit, monthly_limit, billing_day } = permission;
  const ofToday = and(eq(dailyUsage.business_id, permittedId(permission)), eq(dailyUsage.day, $call.today));
  const { starts_on, ends_on } = monthOfLimit($call.today, billing_day);
  const ofMonth = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, starts_on, ends_on));
  return {
    today: sql<number | null>`case when ${daily_limit} is not null
      then coalesce((select ${dailyUsage.count} from ${dailyUsage} where ${ofToday}), 0) end`,
    month: sql<number | null>`case when ${monthly_limit} is not null
      then (select coalesce(sum(${dailyUsage.count}), 0) from ${dailyUsage} where ${ofMonth}) end`,
  };
}

/** How many uses of this caller are counted beyond a limit. Null: any number. A token is public, so it stops at the limit. */
const overageFor = ({ caller }: CallShape, { overage }: Permission) => (caller === 'token' ? sql`0` : overage);

/** Whether a limit refuses a use of this quantity. `refusingLimit` in core/limits.ts tells the caller which one. */
export function isOverLimit(permission: Permission, quantity: SQLWrapper, shape: CallShape) {
  const { today, month } = usesOfLimits(permission);
  const { daily_limit, monthly_limit } = permission;
  const allowed = overageFor(shape, permission);
  return sql`coalesce(${today} + ${quantity} > ${daily_limit} + ${allowed}, 0)
    or coalesce(${month} + ${quantity} > ${monthly_limit} + ${allowed}, 0)`;
}

/** The limits, and the uses that count towards them so far (core/limits.ts). */
export function standingOf(permission: Permission, shape: CallShape) {
  const { today, month } = usesOfLimits(permission);
  const { daily_limit, monthly_limit, billing_day, alert_at } = permission;
  // Null only where there is no business, and so a refusal.
  const billing = sql<number>`${billing_day}`.as('billing_day');
  const overage = sql<number | null>`${overageFor(shape, permission)}`.as('overage');
  const used = { today: today.as('today'), month: month.as('month') };
  return { daily_limit, monthly_limit, billing_day: billing, overage, alert_at, ...used };
}
