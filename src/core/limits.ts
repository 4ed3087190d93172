// The limits of a business (docs/api.md, "Limits"): the most uses of a day and of a month, UTC. Null: no limit.

export type Limits = { daily_limit: number | null; monthly_limit: number | null };

/** Limits, and the uses that count towards each. Uses without a limit are not looked up: null. */
export type Standing = Limits & { today: number | null; month: number | null };

export type ReachedLimit = { limit: number; period: 'day' | 'month' };

/** The limit that refuses one more use, or null. If both do, the month's: it lasts longer. */
export function reachedLimit({ daily_limit, monthly_limit, today, month }: Standing): ReachedLimit | null {
  if (monthly_limit !== null && month !== null && month >= monthly_limit)
    return { limit: monthly_limit, period: 'month' };
  if (daily_limit !== null && today !== null && today >= daily_limit) return { limit: daily_limit, period: 'day' };
  return null;
}

/** How many uses are left until a limit refuses one, or null without a limit. Never below 0, though lists can exceed a limit. */
export function remainingOf({ daily_limit, monthly_limit, today, month }: Standing): number | null {
  const left: number[] = [];
  if (daily_limit !== null && today !== null) left.push(daily_limit - today);
  if (monthly_limit !== null && month !== null) left.push(monthly_limit - month);
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

/** The seconds from `now` until a new day or month begins, rounded up. */
export function secondsUntilNext(period: ReachedLimit['period'], now: Date): number {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const next = period === 'month' ? Date.UTC(year, month + 1) : Date.UTC(year, month, day + 1);
  return Math.ceil((next - now.getTime()) / 1000);
}
