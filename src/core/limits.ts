// A business's limits (docs/api.md, "Limits"): the maximum number of uses per day and per billing month, in UTC. Null means no limit.
import { DAY_MS, dayOf } from './time.ts';

/** Per business. Each threshold is at most MAX_PERCENT. */
export const MAX_THRESHOLDS = 5;
export const MAX_PERCENT = 1000;

/** The highest limit. The lowest is 0. */
export const MAX_LIMIT = 1e12;

/** The highest daily count. Up to this value, JavaScript parses JSON integers exactly. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** The billing day, 1 to 28, and its pending change: `from` is the first day on which a month starts on `next_billing_day`. */
export type Billing = { billing_day: number; next_billing_day: number | null; from: string | null };

/**
 * Today's limits, the uses that count towards each, and the first and last day of the billing month. If a limit is not set, its uses are not
 * read and are null.
 */
export type LimitUsage = {
  daily_limit: number | null;
  monthly_limit: number | null;
  /** What is added to the monthly limit in this billing month. */
  extra: number;
  /**
   * The maximum number of uses counted beyond a limit. Null means unlimited. Uses recorded with a token stop at the limit, unless the
   * business has `page_overage`.
   */
  overage: number | null;
  today: number | null;
  month: number | null;
  month_starts_on: string;
  month_ends_on: string;
};

/** Returns the midnight at the end of a day. */
export const endOfDay = (day: string): Date => new Date(Date.parse(day) + DAY_MS);
const secondsUntilEndOf = (day: string, now: Date) => Math.ceil((endOfDay(day).getTime() - now.getTime()) / 1000);

type Period = { period: 'day' | 'month'; starts_on: string; ends_on: string };
/**
 * A limit that would be exceeded. `overage` is the number of uses allowed beyond it, and `left` is the number that remain, including
 * overage.
 */
export type RefusingLimit = Pick<Period, 'period'> & { limit: number; overage: number; left: number };

/** Tests whether this many more uses would exceed a limit and its overage. Null means unlimited. */
const exceeds = ({ limit, used }: { limit: number; used: number }, quantity: number, overage: number | null) =>
  overage !== null && used - limit + quantity > overage;

/** Whose next use a limit refuses. */
export const REFUSES = ['nobody', 'pages', 'everybody'] as const;
/** `page_allowance` is the part of the overage that uses with a token may use. */
export function refusesToday(
  { overage, page_allowance, ...usage }: LimitUsage & { page_allowance: number | null },
  today: string,
): (typeof REFUSES)[number] {
  const refusesBeyond = (allowed: number | null) => limitsOf(usage, today).some((one) => exceeds(one, 1, allowed));
  if (refusesBeyond(overage)) return 'everybody';
  return refusesBeyond(page_allowance) ? 'pages' : 'nobody';
}

/**
 * Returns the limit that a use of this quantity would exceed today, or null. If it would exceed both, returns the monthly limit, because
 * its period ends later. `wait` is the number of seconds until that period ends, or null if the limits never allow this quantity.
 */
export function refusalOfUse(
  { overage, ...usage }: LimitUsage,
  quantity: number,
  now: Date,
): { refusing: RefusingLimit; wait: number | null } | null {
  const limits = limitsOf(usage, dayOf(now));
  const found = limits.find((one) => exceeds(one, quantity, overage));
  if (overage === null || found === undefined) return null;
  const { period, limit, used, ends_on } = found;
  const fitsLater = limits.every(({ limit }) => quantity - overage <= limit);
  return {
    refusing: { period, limit, overage, left: Math.max(0, limit - used + overage) },
    wait: fitsLater ? secondsUntilEndOf(ends_on, now) : null,
  };
}

/**
 * A limit that a list's new uses would exceed. `adds` is how many uses the list adds to the period, and `total` how many new uses it has in
 * all. `has_dated` is 1 if the caller sent a timestamp for one of them. Such a use counts on the day of its timestamp, no matter how late
 * it is sent.
 */
export type PeriodBeyond = Period & RefusingLimit & { adds: number; has_dated: 0 | 1; total: number };

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
/** Returns how many uses are left before a limit is reached, at least 0, after `quantity` more on `day`. Null if there is no limit. */
export function remainingOf(usage: LimitUsage, today: string, quantity = 0, day = today): number | null {
  const left = limitsOf(usage, today).map(
    ({ starts_on, ends_on, limit, used }) => limit - used - (starts_on <= day && day <= ends_on ? quantity : 0),
  );
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

type UsedLimit = Period & { limit: number; used: number };
/** Returns the limits that are set, monthly first, each with the uses in its period. */
function limitsOf(usage: Omit<LimitUsage, 'overage'>, today: string): UsedLimit[] {
  const { monthly_limit, extra, month, month_starts_on, month_ends_on, daily_limit, today: used } = usage;
  const limits: UsedLimit[] = [];
  if (monthly_limit !== null) {
    const [starts_on, ends_on] = [month_starts_on, month_ends_on];
    limits.push({ period: 'month', starts_on, ends_on, limit: monthly_limit + extra, used: month ?? 0 });
  }
  if (daily_limit !== null)
    limits.push({ period: 'day', starts_on: today, ends_on: today, limit: daily_limit, used: used ?? 0 });
  return limits;
}

/** The default alert thresholds, in percent of a limit, ascending. */
export const DEFAULT_ALERT_AT: readonly number[] = [80, 100];

/** The thresholds as stored: a JSON list. Null means the default. */
export type StoredThresholds = { alert_at: string | null };
export const thresholdsOf = ({ alert_at }: StoredThresholds): readonly number[] =>
  alert_at === null ? DEFAULT_ALERT_AT : JSON.parse(alert_at);
