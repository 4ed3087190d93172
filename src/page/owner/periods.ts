// The periods of a business's limits, and what may still be recorded in them.

import { DAY_MS, dayOf, type Range } from '../../core/time.ts';
import type { Limits } from '../../shown-business/description.ts';

/** `days`: its first and last day. `ends`: in milliseconds since 1970. */
export type Period = { is: 'day' | 'month'; limit: number; used: number; ends: number; days: Range };

const daysBetween = (starts: number, ends: number): Range => ({
  from: dayOf(new Date(starts)),
  to: dayOf(new Date(ends - 1)),
});

/** Returns the periods that are limited, the day first. */
export function periodsOf(limits: Limits): Period[] {
  const { daily, today, day_ends, monthly, extra, month, month_starts, month_ends } = limits;
  const periods: Period[] = [];
  if (daily !== null && day_ends !== null) {
    const ends = Date.parse(day_ends);
    periods.push({ is: 'day', limit: daily, used: today ?? 0, ends, days: daysBetween(ends - DAY_MS, ends) });
  }
  if (monthly !== null) {
    const ends = Date.parse(month_ends);
    const days = daysBetween(Date.parse(month_starts), ends);
    periods.push({ is: 'month', limit: monthly + extra, used: month ?? 0, ends, days });
  }
  return periods;
}

/** The billing month, if it is limited. */
export const monthOf = (limits: Limits): Period | undefined => periodsOf(limits).find(({ is }) => is === 'month');

/** `left`: how many more uses count, or null for no maximum. `refusing`: the periods that refuse uses now. */
export type Allowed = { left: number | null; refusing: Period[] };

/** Returns what may be recorded beyond the limits with this overage. */
export function allowedIn(periods: readonly Period[], overage: number | null): Allowed {
  if (overage === null) return { left: null, refusing: [] };
  const left = ({ limit, used }: Period) => limit + overage - used;
  return { left: Math.max(0, Math.min(...periods.map(left))), refusing: periods.filter((period) => left(period) <= 0) };
}
