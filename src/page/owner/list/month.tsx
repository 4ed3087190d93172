// The current billing month of a listed business: its uses, of how many, and whether it lasts. Without a monthly limit, its daily limit.
import type { ListedBusiness } from '../../../business/description.ts';
import { sum } from '../../scale.ts';
import { now } from '../clock.ts';
import { compact, NONE, number } from '../formats.ts';
import { levelOf } from '../limit-status.ts';
import { monthDetails, monthPace } from '../pace.ts';
import { monthOf, periodsOf } from '../periods.ts';

/** Larger numbers are abbreviated. */
const MAX_WHOLE = 1_000_000;
const figure = (count: number): string => (count < MAX_WHOLE ? number : compact)(count);

export function Month({ business }: { business: ListedBusiness }) {
  const { limits, used } = business;
  const month = monthOf(limits);
  const limited = month ?? periodsOf(limits)[0];
  const starts = limits.month_starts.slice(0, 'YYYY-MM-DD'.length);
  const isKnown = (used[0]?.date ?? '') <= starts;
  const counted = isKnown ? figure(sum(used.filter(({ date }) => date >= starts))) : NONE;
  const words = limited && `${figure(limited.used)} of ${figure(limited.limit)}`;
  return (
    <>
      {month ? words : counted}
      {limited && (
        <div class={levelOf(limits, limited.limit, limited.used) ?? ''}>
          <progress
            max={Math.max(1, limited.limit)}
            value={limited.limit === 0 ? 1 : limited.used}
            aria-label={words}
          />
          <small>{month ? monthDetails(month, monthPace(business, used, now())) : `${words} today`}</small>
        </div>
      )}
    </>
  );
}
