// The uses of a listed business: those of the days that its view shows at first, compared as there.
import { LISTED_DAYS } from '../../../business/rules.ts';
import type { Range } from '../../../core/time.ts';
import { type Day, sum } from '../../scale.ts';
import { daysOf } from '../loaded-days.ts';
import { comparedDays, fullDays, shownBy } from '../ranges.ts';

/** How many days later the compared days come. */
export const COMPARED_AFTER_DAYS = LISTED_DAYS / 2;
/** Without today. */
export const FULL_DAYS = COMPARED_AFTER_DAYS - 1;

type Days = Range & { days: readonly Day[]; total: number };
/** `now`: the full days. `before`: the days they are compared with. */
export type Growth = { now: Days; before: Days };

/** `used` ends with the day on which the list was read, which was not over. */
export function growthOf(used: readonly Day[]): Growth {
  const today = used.at(-1)?.date ?? '';
  const shown = shownBy(new URLSearchParams(), today);
  const pick = (range: Range): Days => {
    const days = daysOf(used, range) ?? [];
    return { ...range, days, total: sum(days) };
  };
  const { range } = shown;
  return {
    now: pick(fullDays(range, today) ?? range),
    before: pick(comparedDays(shown, 'previous', today) ?? range),
  };
}

/** Ranks businesses without a comparison lowest. */
export const growthRank = ({ now, before }: Growth): number => (before.total > 0 ? now.total / before.total : -1);
