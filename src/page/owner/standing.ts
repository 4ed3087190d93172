// What a business has used of its limits, in few words: for the list and for the head of a business.
import { thresholdOf } from '../../core/limits.ts';
import type { Limits } from '../../wire/responses.ts';

/** `near`: the first threshold of a limit is reached. `full`: all of it. */
export type Level = 'near' | 'full';

/** How near `used` is to a limit. Null: not yet. */
export function levelOf(limit: number, used: number, alert_at: readonly number[]): Level | null {
  if (used >= limit) return 'full'; // also a limit of 0
  return thresholdOf(limit, used, alert_at) === null ? null : 'near';
}

/** Of the limits of a business the one that ends first, if it is near its end or at it. */
export function standingOf(limits: Limits): { level: Level; words: string } | null {
  if (limits === null) return null;
  const { daily, monthly, today, month, alert_at } = limits;
  const used = [
    { limit: monthly, count: month ?? 0, period: 'the month' },
    { limit: daily, count: today ?? 0, period: 'today' },
  ].flatMap(({ limit, count, period }) =>
    limit === null ? [] : { level: levelOf(limit, count, alert_at), share: Math.floor((count / limit) * 100), period },
  );
  if (used.some(({ level }) => level === 'full')) return { level: 'full', words: 'Limit reached' };
  const nearest = used.reduce((most, one) => (one.share > most.share ? one : most));
  return nearest.level === null ? null : { level: 'near', words: `${nearest.share} % of ${nearest.period}` };
}
