// A business's limits (docs/api.md, "Limits"): the maximum number of uses per day and per billing month, in UTC. Null means no limit.
import { DAY_MS, dayOf } from './time.ts';

/** Per business. Each threshold is at most MAX_PERCENT. */
export const MAX_THRESHOLDS = 5;
export const MAX_PERCENT = 1000;

/** The highest daily count. Up to this value, JavaScript parses JSON integers exactly. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

export type Limits = {
  daily_limit: number | null;
  monthly_limit: number | null;
  /**
   * The maximum number of uses counted beyond a limit. Null means unlimited. Uses recorded with a token stop at the limit, unless the
   * business has `page_overage`.
   */
  overage: number | null;
};
export type LimitedPeriod = 'day' | 'month';

/** The billing day, 1 to 28, and its pending change: `from` is the first day on which a month starts on `next_billing_day`. */
export type Billing = { billing_day: number; next_billing_day: number | null; from: string | null };

/**
 * Limits, the uses that count towards each, and the first and last day of the billing month. If a limit is not set, its values are not read
 * and are null.
 */
export type LimitUsage = Limits & {
  today: number | null;
  month: number | null;
  month_starts_on: string | null;
  month_ends_on: string | null;
};

/** Returns the midnight at the end of a day. */
export const endOfDay = (day: string): Date => new Date(Date.parse(day) + DAY_MS);

/**
 * A limit that would be exceeded. `overage` is the number of uses allowed beyond it, and `left` is the number that remain, including
 * overage.
 */
export type RefusingLimit = { period: LimitedPeriod; limit: number; overage: number; left: number };
/** A limit that would be exceeded, with the first and last day of its period. */
type RefusingPeriod = RefusingLimit & { starts_on: string; ends_on: string };

/**
 * Returns the limit that a use of this quantity would exceed today, or null. If it would exceed both, returns the monthly limit, because
 * its period ends later.
 */
export function refusingLimit(
  { overage, ...usage }: LimitUsage,
  quantity: number,
  today: string,
): RefusingPeriod | null {
  if (overage === null) return null;
  const refusing = limitsOf(usage, today).find(({ limit, used }) => used - limit + quantity > overage);
  if (refusing === undefined) return null;
  const { used, ...period } = refusing;
  return { ...period, overage, left: Math.max(0, period.limit - used + overage) };
}

/** Returns the number of seconds until the period of the exceeded limit ends, rounded up. Null if the limits never allow this quantity. */
export function secondsUntilAllowed(
  { ends_on, overage }: RefusingPeriod,
  usage: LimitUsage,
  quantity: number,
  now: Date,
): number | null {
  if (limitsOf(usage, dayOf(now)).some(({ limit }) => quantity - overage > limit)) return null;
  return secondsUntilEndOf(ends_on, now);
}

/**
 * A limit that a list's new uses would exceed. `adds` is how many uses the list adds to the period, and `total` how many new uses it has in
 * all. `has_dated` is 1 if the caller sent a timestamp for one of them. Such a use counts on the day of its timestamp, no matter how late
 * it is sent.
 */
export type PeriodBeyond = RefusingPeriod & { adds: number; has_dated: 0 | 1; total: number };

/**
 * Returns the limit that refuses a list, and the number of seconds until the list fits. Of several limits, monthly ones come first, then
 * earlier periods. `wait` is null if the list will never fit, because a period is not the current one, the list alone exceeds a period's
 * limit, or a use in a period has a timestamp.
 */
export function refusalOfList(periods: PeriodBeyond[], now: Date): { refusing: PeriodBeyond; wait: number | null } {
  const keyOf = ({ period, starts_on }: PeriodBeyond) => `${period === 'month' ? 0 : 1} ${starts_on}`;
  const [refusing, ...others] = periods.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (refusing === undefined) throw new Error('a list within the limits was not counted');
  const today = dayOf(now);
  const fitsLater = periods.every(
    ({ starts_on, ends_on, adds, limit, overage, has_dated }) =>
      starts_on <= today && today <= ends_on && adds <= limit + overage && has_dated === 0,
  );
  const last = others.reduce((latest, { ends_on }) => (ends_on > latest ? ends_on : latest), refusing.ends_on);
  return { refusing, wait: fitsLater ? secondsUntilEndOf(last, now) : null };
}
const secondsUntilEndOf = (day: string, now: Date) => Math.ceil((endOfDay(day).getTime() - now.getTime()) / 1000);

/** Returns how many uses are left before a limit is reached, at least 0. Null if there is no limit. */
export function remainingOf(usage: LimitUsage, today: string): number | null {
  const left = limitsOf(usage, today).map(({ limit, used }) => limit - used);
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

/** Returns the usage after `quantity` more uses on `day`. */
export const addUses = (usage: LimitUsage, quantity: number, day: string, today: string): LimitUsage => {
  const isInMonth = (usage.month_starts_on ?? '') <= day && day <= (usage.month_ends_on ?? '');
  return {
    ...usage,
    today: usage.today === null ? null : usage.today + (day === today ? quantity : 0),
    month: usage.month === null ? null : usage.month + (isInMonth ? quantity : 0),
  };
};

/** Returns the limits that are set, monthly first, each with the uses in its period. */
function limitsOf(usage: Omit<LimitUsage, 'overage'>, day: string) {
  const { daily_limit, monthly_limit, today, month, month_starts_on, month_ends_on } = usage;
  const limits: { period: LimitedPeriod; starts_on: string; ends_on: string; limit: number; used: number }[] = [];
  if (monthly_limit !== null && month !== null && month_starts_on !== null && month_ends_on !== null)
    limits.push({
      period: 'month',
      starts_on: month_starts_on,
      ends_on: month_ends_on,
      limit: monthly_limit,
      used: month,
    });
  if (daily_limit !== null && today !== null)
    limits.push({ period: 'day', starts_on: day, ends_on: day, limit: daily_limit, used: today });
  return limits;
}

/** The default alert thresholds, in percent of a limit, ascending. */
export const DEFAULT_ALERT_AT: readonly number[] = [80, 100];

/** The thresholds as stored: a JSON list. Null means the default. */
export type StoredThresholds = { alert_at: string | null };
export const thresholdsOf = ({ alert_at }: StoredThresholds): readonly number[] =>
  alert_at === null ? DEFAULT_ALERT_AT : JSON.parse(alert_at);
