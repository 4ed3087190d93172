// The limits of a business (docs/api.md, "Limits"): the most uses of a day and of a month, UTC. Null: no limit.
import { addDays, addMonths, DAY_MS, dayOf } from './time.ts';

/** A day counts at most this many uses: all whole numbers up to it are exact in JSON. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

export type Limits = {
  daily_limit: number | null;
  monthly_limit: number | null;
  /** The day on which a month of the monthly limit begins: 1 to 28. */
  billing_day: number;
};
export type LimitedPeriod = 'day' | 'month';

/** Limits, and the uses that count towards each: null where there is no limit, because those are not read. */
export type Standing = Limits & { today: number | null; month: number | null };

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

/** A limit that refuses a use: how many uses it allows, and how many of them are left. */
export type RefusingLimit = { period: LimitedPeriod; limit: number; left: number };

/** The limit that refuses a use of this quantity, or null. If both do, the month's: it lasts longer. */
export function refusingLimit(standing: Standing, quantity: number): RefusingLimit | null {
  const refusing = limitsOf(standing).filter(({ limit, used }) => used + quantity > limit);
  const [first] = refusing.map(({ period, limit, used }) => ({ period, limit, left: Math.max(0, limit - used) }));
  return first ?? null;
}

/** The seconds until the period of a limit that refuses a use ends, rounded up; null if the limits never allow this quantity. */
export function secondsUntilAllowed(
  { period }: RefusingLimit,
  standing: Standing,
  quantity: number,
  now: Date,
): number | null {
  if (limitsOf(standing).some(({ limit }) => quantity > limit)) return null;
  return Math.ceil((endOfPeriod(period, dayOf(now), standing).getTime() - now.getTime()) / 1000);
}

/** How many uses are left until a limit refuses one, or null without a limit. Never below 0, though lists can exceed a limit. */
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
function limitsOf({ daily_limit, monthly_limit, today, month }: Standing) {
  const limits: { period: LimitedPeriod; limit: number; used: number }[] = [];
  if (monthly_limit !== null && month !== null) limits.push({ period: 'month', limit: monthly_limit, used: month });
  if (daily_limit !== null && today !== null) limits.push({ period: 'day', limit: daily_limit, used: today });
  return limits;
}

/** In percent of a limit. */
export type Threshold = 80 | 100;

/** The highest threshold of a limit that `used` uses reach, or null. A limit of 0 has none. */
export function thresholdOf(limit: number, used: number): Threshold | null {
  if (limit === 0 || used < Math.ceil((limit * 4) / 5)) return null;
  return used < limit ? 80 : 100;
}

/** A threshold that was passed: of which limit, after how many uses, and the first and last day of its period. */
export type Passed = {
  period: LimitedPeriod;
  limit: number;
  threshold: Threshold;
  used: number;
  starts_on: string;
  ends_on: string;
};

/** What `quantity` more uses of today pass: of each limit the highest threshold that is reached then, and was not before. */
export const thresholdsPassedBy = (before: Standing, quantity: number, today: string): Passed[] =>
  limitsOf(before).flatMap(({ period, limit, used: usedBefore }) => {
    const used = usedBefore + quantity;
    const threshold = thresholdOf(limit, used);
    if (threshold === null || threshold === thresholdOf(limit, usedBefore)) return [];
    return [{ period, limit, threshold, used, ...periodOf(period, today, before) }];
  });
