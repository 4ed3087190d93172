// Summarizes how close a business is to its limits.
import type { Limits } from '../../shown-business/description.ts';

/** `near`: an alert threshold is reached, or uses count beyond the limit. `full`: the limit is reached, and pages are refused. */
export type Level = 'near' | 'full';

const monthlyLimit = ({ monthly, extra }: Limits): number | null => (monthly === null ? null : monthly + extra);

/** Returns null below the first threshold. */
export function levelOf(limits: Limits, limit: number, used: number): Level | null {
  const [first = 100] = limits.alert_at;
  if (used >= limit) return limits.refuses === 'nobody' ? 'near' : 'full'; // including a limit of 0
  return used * 100 >= limit * first ? 'near' : null;
}

type LimitStatus = { level: Level | null; share: number; period: string; words: string };

/** Describes the limit that is closest to being reached, as a percentage that is never rounded up. Returns null without limits. */
export function limitStatusOf(limits: Limits): LimitStatus | null {
  const { daily, today, month } = limits;
  const used = [
    { limit: monthlyLimit(limits), count: month ?? 0, period: 'monthly limit' },
    { limit: daily, count: today ?? 0, period: 'daily limit' },
  ].flatMap(({ limit, count, period }) =>
    limit === null
      ? []
      : {
          level: levelOf(limits, limit, count),
          share: Math.floor((count / limit) * 100),
          period,
          isOver: count >= limit,
        },
  );
  const over = used.find(({ isOver }) => isOver);
  if (over) return { ...over, share: 100, words: over.level === 'full' ? 'Limit reached' : 'Over limit' };
  const [nearest] = used.toSorted((a, b) => b.share - a.share);
  return nearest === undefined ? null : { ...nearest, words: `${nearest.share}% of ${nearest.period}` };
}
