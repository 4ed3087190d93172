// The limits of a business (docs/api.md, "Limits"): the most uses of a day and of a month, UTC. Null: no limit.
import { addDays, addMonths, DAY_MS, dayOf } from './time.ts';

/** A day counts at most this many uses: all whole numbers up to it are exact in JSON. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

export type Limits = {
  daily_limit: number | null;
  monthly_limit: number | null;
  /** The day on which a month of the monthly limit begins: 1 to 28. */
  billing_day: number;
  /** How many uses are counted beyond a limit; null for any number. A token stops at the limit. */
  overage: number | null;
};
export type LimitedPeriod = 'day' | 'month';

/** Limits, and the uses that count towards each: null where there is no limit, because those are not read. */
export type Standing = Limits & { today: number | null; month: number | null } & StoredThresholds;

/** The first and the last day of the day or month in which `today` is. */
export function periodOf(period: LimitedPeriod, today: string, { billing_day }: Pick<Limits, 'billing_day'>) {
  if (period === 'day') return { starts_on: today, ends_on: today };
  // The months begin as those of the calendar do, `billing_day` - 1 days later.
  const shift = billing_day - 1;
  const first = `${addDays(today, -shift).slice(0, 8)}01`;
  return { starts_on: addDays(first, shift), ends_on: addDays(addMonths(first, 1), shift - 1) };
}

/** When a period ends: the instant at which the next one begins. */
export const endOfPeriod = (period: LimitedPeriod, today: string, limits: Pick<Limits, 'billing_day'>): Date =>
  new Date(Date.parse(periodOf(period, today, limits).ends_on) + DAY_MS);

/** A limit that refuses a use: how many uses it allows, how many beyond it, and how many of both are left. */
export type RefusingLimit = { period: LimitedPeriod; limit: number; overage: number; left: number };

/** The limit that refuses a use of this quantity, or null. If both do, the month's: it lasts longer. */
export function refusingLimit({ overage, ...standing }: Standing, quantity: number): RefusingLimit | null {
  if (overage === null) return null;
  const refusing = limitsOf(standing).find(({ limit, used }) => used - limit + quantity > overage);
  if (refusing === undefined) return null;
  const { period, limit, used } = refusing;
  return { period, limit, overage, left: Math.max(0, limit - used + overage) };
}

/** The seconds until the period of a limit that refuses a use ends, rounded up; null if the limits never allow this quantity. */
export function secondsUntilAllowed(
  { period, overage }: RefusingLimit,
  standing: Standing,
  quantity: number,
  now: Date,
): number | null {
  if (limitsOf(standing).some(({ limit }) => quantity - overage > limit)) return null;
  return secondsUntilEndOf(periodOf(period, dayOf(now), standing).ends_on, now);
}

/** A day or month that the new uses of a list would take beyond a limit: what is `left` of it, and how many uses the list `adds`. */
export type PeriodBeyond = RefusingLimit & { starts_on: string; ends_on: string; adds: number };

/** A use of a list. `isDated`: it has an instant of its own, so it counts on the same day however late it is sent. */
export type ListedUse = { day: string; quantity: number; isDated: boolean };

/**
 * Why a list is refused: the first use that does not fit, the limit that refuses it, and the seconds until the list fits. Null if it never
 * does: a period is over, the list is too long for one, or a use in one has an instant of its own. `uses` has the new ones, in order.
 */
export function refusalOfList<Use extends ListedUse>(uses: Use[], periods: PeriodBeyond[], now: Date) {
  const left = periods.map((period) => ({ period, left: period.left }));
  for (const use of uses) {
    for (const rest of left.filter(({ period }) => period.starts_on <= use.day && use.day <= period.ends_on)) {
      rest.left -= use.quantity;
      if (rest.left < 0) return { use, refusing: rest.period, wait: waitFor(uses, periods, now) };
    }
  }
  throw new Error('a list that fits was not counted');
}
function waitFor(uses: ListedUse[], periods: PeriodBeyond[], now: Date): number | null {
  const today = dayOf(now);
  const fitsLater = periods.every(
    ({ starts_on, ends_on, adds, limit, overage }) =>
      starts_on <= today &&
      today <= ends_on &&
      adds <= limit + overage &&
      !uses.some(({ day, isDated }) => isDated && starts_on <= day && day <= ends_on),
  );
  const last = periods
    .map(({ ends_on }) => ends_on)
    .toSorted()
    .at(-1);
  return fitsLater && last !== undefined ? secondsUntilEndOf(last, now) : null;
}
const secondsUntilEndOf = (day: string, now: Date) => Math.ceil((Date.parse(day) + DAY_MS - now.getTime()) / 1000);

/** How many uses are left of the limits, or null without a limit. 0, never less, where more is counted. */
export function remainingOf(standing: Standing): number | null {
  const left = limitsOf(standing).map(({ limit, used }) => limit - used);
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

/** The standing once `quantity` more uses are counted. */
export const standingAfter = (standing: Standing, quantity: number): Standing => ({
  ...standing,
  today: standing.today === null ? null : standing.today + quantity,
  month: standing.month === null ? null : standing.month + quantity,
});

/** The limits that are set, the month's first, each with the uses that count towards it. */
function limitsOf({ daily_limit, monthly_limit, today, month }: Omit<Standing, 'overage'>) {
  const limits: { period: LimitedPeriod; limit: number; used: number }[] = [];
  if (monthly_limit !== null && month !== null) limits.push({ period: 'month', limit: monthly_limit, used: month });
  if (daily_limit !== null && today !== null) limits.push({ period: 'day', limit: daily_limit, used: today });
  return limits;
}

/** Where a business has alerts: in percent of a limit, ascending. */
export const DEFAULT_ALERT_AT: readonly number[] = [80, 100];

/** The thresholds as the database has them: a JSON list. Null: the default. */
export type StoredThresholds = { alert_at: string | null };
export const thresholdsOf = ({ alert_at }: StoredThresholds): readonly number[] =>
  alert_at === null ? DEFAULT_ALERT_AT : JSON.parse(alert_at);

/**
 * The highest threshold of a limit that `used` uses reach, or null. A limit of 0 has none. The sweep has this rule in SQL (db/alerts.ts),
 * in whole numbers too: a percentage of a great limit is not exact as a number of JavaScript.
 */
export function thresholdOf(limit: number, used: number, alert_at: readonly number[]): number | null {
  if (limit === 0) return null;
  return alert_at.findLast((percent) => BigInt(used) * 100n >= BigInt(limit) * BigInt(percent)) ?? null;
}

/** A threshold that was passed: of which limit, after how many uses, and the first and last day of its period. */
export type Passed = {
  period: LimitedPeriod;
  limit: number;
  threshold: number;
  used: number;
  starts_on: string;
  ends_on: string;
};

/** What `quantity` more uses of today pass: of each limit the highest threshold that is reached then, and was not before. */
export const thresholdsPassedBy = (before: Standing, quantity: number, today: string): Passed[] =>
  limitsOf(before).flatMap(({ period, limit, used: usedBefore }) => {
    const used = usedBefore + quantity;
    const alert_at = thresholdsOf(before);
    const threshold = thresholdOf(limit, used, alert_at);
    if (threshold === null || threshold === thresholdOf(limit, usedBefore, alert_at)) return [];
    return [{ period, limit, threshold, used, ...periodOf(period, today, before) }];
  });
