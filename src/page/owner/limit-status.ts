// Summarizes how close a business is to its limits.
import type { Limits } from '../../business/description.ts';

/** `near`: an alert threshold is reached. `full`: the limit is reached. */
export type Level = 'near' | 'full';

/** Returns null below the first threshold. */
export function levelOf(limit: number, used: number, [first = 100]: readonly number[]): Level | null {
  if (used >= limit) return 'full'; // including a limit of 0
  return used * 100 >= limit * first ? 'near' : null;
}

export type LimitStatus = { level: Level | null; share: number; words: string };

/** Describes the limit that is closest to being reached, as a percentage that is never rounded up. Returns null without limits. */
export function limitStatusOf(limits: Limits): LimitStatus | null {
  if (limits === null) return null;
  const { daily, monthly, today, month, alert_at } = limits;
  const used = [
    { limit: monthly, count: month ?? 0, period: 'monthly limit' },
    { limit: daily, count: today ?? 0, period: 'daily limit' },
  ].flatMap(({ limit, count, period }) =>
    limit === null ? [] : { level: levelOf(limit, count, alert_at), share: Math.floor((count / limit) * 100), period },
  );
  const full = used.find(({ level }) => level === 'full');
  if (full) return { level: 'full', share: 100, words: 'Limit reached' };
  const nearest = used.reduce((most, one) => (one.share > most.share ? one : most));
  return { ...nearest, words: `${nearest.share}% of ${nearest.period}` };
}
