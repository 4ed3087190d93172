// Billing months, day by day (docs/api.md, "Billing months"), and the limits of a day and a month ("Limits that change on a date", "Extras").
import type { Business, Plan, State } from './state.ts';
import { dayNumber, plusDays } from './time.ts';

/** Whether a month of the business begins on this day. */
function isFirst({ billing_day, billing_changes }: Business, day: string): boolean {
  const change = billing_changes.filter(({ starts_on }) => starts_on <= day).at(-1);
  if (change === undefined) return dayNumber(day) === billing_day;
  if (day < change.changes_on) return day === change.starts_on;
  return dayNumber(day) === change.billing_day;
}

export type Month = { starts_on: string; ends_on: string };

export function monthOf(business: Business, day: string): Month {
  let starts_on = day;
  while (!isFirst(business, starts_on)) starts_on = plusDays(starts_on, -1);
  let next = plusDays(day, 1);
  while (!isFirst(business, next)) next = plusDays(next, 1);
  return { starts_on, ends_on: plusDays(next, -1) };
}

/** The billing day on a day, and the change that is pending then. */
export function billingDayOn({ billing_day, billing_changes }: Business, day: string) {
  const current = billing_changes.filter(({ changes_on }) => changes_on <= day).at(-1);
  const pending = billing_changes.filter(({ changes_on }) => changes_on > day).at(-1);
  return {
    billing_day: current?.billing_day ?? billing_day,
    next_billing_day: pending?.billing_day ?? null,
    from: pending?.changes_on ?? null,
  };
}

/** The billing day with a pending change applied. */
export const latestBillingDay = ({ billing_day, billing_changes }: Business): number =>
  billing_changes.at(-1)?.billing_day ?? billing_day;

/** Plans a change after the current month. The month before it has at least 28 days. */
export function changeBillingDay(business: Business, billing_day: number, today: string): void {
  business.billing_changes = business.billing_changes.filter(({ starts_on }) => starts_on <= today);
  if (billing_day === latestBillingDay(business)) return;
  const starts_on = plusDays(monthOf(business, today).ends_on, 1);
  let changes_on = plusDays(starts_on, 28);
  while (dayNumber(changes_on) !== billing_day) changes_on = plusDays(changes_on, 1);
  business.billing_changes.push({ starts_on, changes_on, billing_day });
}

/** The uses of a business from one day to another. Not exact beyond 2^53 − 1, like every sum that the service does not show. */
export function usesIn({ counts }: State, business_id: number, from: string, to: string): number {
  let sum = 0;
  for (const [day, count] of Object.entries(counts[business_id] ?? {})) if (from <= day && day <= to) sum += count;
  return sum;
}

/** The limits of a business on a day. */
export const planOn = ({ plans }: Business, day: string): Plan =>
  plans.findLast(({ from }) => from <= day) as Business['plans'][number];

export type Period = Month & { period: 'day' | 'month'; limit: number; used: number; plan: Plan };

/** The limited periods that contain a day, the month first. Each is judged by the limits of its time. */
export function periodsOf(state: State, business: Business, day: string, today: string): Period[] {
  const { id } = business;
  const periods: Period[] = [];
  const month = monthOf(business, day);
  const started = month.starts_on > today ? month.starts_on : today;
  const ofMonth = planOn(business, started > month.ends_on ? month.ends_on : started);
  if (ofMonth.monthly_limit !== null) {
    const limit = ofMonth.monthly_limit + (business.extras[month.starts_on] ?? 0);
    const used = usesIn(state, id, month.starts_on, month.ends_on);
    periods.push({ ...month, period: 'month', limit, used, plan: ofMonth });
  }
  const ofDay = planOn(business, day);
  if (ofDay.daily_limit !== null) {
    const used = usesIn(state, id, day, day);
    periods.push({ starts_on: day, ends_on: day, period: 'day', limit: ofDay.daily_limit, used, plan: ofDay });
  }
  return periods;
}
