// Compares the last 14 whole days with the 14 before them.
import { type Day, sum } from '../../scale.ts';

const DAYS = 14;

/** Drops the last day, which was not over when the list was read. */
export const wholeDays = (used: readonly Day[]): readonly Day[] => used.slice(0, -1);

/** The uses of the last 14 whole days up to `to`, and of the 14 before them. */
export type Growth = { now: number; before: number; to: string };

export function growthOf(used: readonly Day[]): Growth {
  const days = wholeDays(used);
  return { now: sum(days.slice(-DAYS)), before: sum(days.slice(-2 * DAYS, -DAYS)), to: days.at(-1)?.date ?? '' };
}

/** Ranks new businesses highest, and businesses without uses lowest. */
export function growthRank({ now, before }: Growth): number {
  if (before > 0) return now / before;
  return now > 0 ? Number.POSITIVE_INFINITY : -1;
}
