// How a business has grown: the last 14 whole days against the 14 before them.
import { type Day, sum } from '../../scale.ts';

const DAYS = 14;

/** The days that are over: the last one of a list is the day on which it was read. */
export const wholeDays = (used: readonly Day[]): readonly Day[] => used.slice(0, -1);

/** Uses of the last 14 whole days up to `to`, and of the 14 before them. */
export type Growth = { now: number; before: number; to: string };

export function growthOf(used: readonly Day[]): Growth {
  const days = wholeDays(used);
  return {
    now: sum(days.slice(-DAYS)),
    before: sum(days.slice(-2 * DAYS, -DAYS)),
    to: days.at(-1)?.date ?? '',
  };
}

/** By which growth is ordered: what is new has grown most, and what was never used least. */
export function growthRank({ now, before }: Growth): number {
  if (before > 0) return now / before;
  return now > 0 ? Number.POSITIVE_INFINITY : -1;
}
