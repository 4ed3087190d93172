// The uses of a listed business: those of the days that its view shows at first, compared as there.
import type { ListedBusiness } from '../../../business/description.ts';
import type { Range } from '../../../core/time.ts';
import { type Day, fullDays, sum } from '../../scale.ts';
import { daysOf } from '../loaded-days.ts';
import { comparedDays, recordedFrom, shownBy, withData } from '../ranges.ts';

type Days = Range & { days: readonly Day[]; total: number };
/** `now`: the full days. `before`: the days they are compared with, or null if the business has no data before the day `since`. */
export type Growth = { now: Days; before: Days | null; since: string };

/** `used` ends with the day on which the list was read, which was not over. */
export function growthOf({ used, created_at }: Pick<ListedBusiness, 'used' | 'created_at'>): Growth {
  const today = used.at(-1)?.date ?? '';
  const shown = shownBy(new URLSearchParams(), today);
  const pick = (range: Range): Days => {
    const days = daysOf(used, range) ?? [];
    return { ...range, days, total: sum(days) };
  };
  const { range } = shown;
  const since = recordedFrom(created_at, used);
  const compared = withData(comparedDays(shown, 'previous', today), since);
  return { now: pick(fullDays(range, today) ?? range), before: compared && pick(compared), since };
}

/** Ranks businesses without a comparison lowest. */
export const growthRank = ({ now, before }: Growth): number => (before?.total ? now.total / before.total : -1);
