// The file for accounting: the last billing month that ended, of each business.
import type { ListedBusiness } from '../../../business/description.ts';
import { type Cell, csvOf } from '../../../core/csv.ts';
import { addDays, type Range } from '../../../core/time.ts';
import type { EndedMonths } from '../../../usage/description.ts';
import type { Api } from '../api.ts';
import { patiently } from '../patience.ts';

const COLUMNS = ['business_id', 'business', 'from', 'to', 'uses', 'monthly_limit', 'extra', 'overage', 'final'];

/** Returns the day on which a business's last month ended. */
const endOf = ({ limits }: ListedBusiness): string => addDays(limits.month_starts.slice(0, 'YYYY-MM-DD'.length), -1);

/** Returns the first and the last day on which the last months of these businesses ended. There must be a business. */
export function lastEnds(businesses: readonly ListedBusiness[]): Range {
  const ends = businesses.map(endOf).sort();
  return { from: ends[0] ?? '', to: ends.at(-1) ?? '' };
}

/** `overage`: the uses beyond the monthly limit and its extra. Empty without a limit. */
function rowOf({ business_id, name, starts_on, ends_on, ...month }: EndedMonths['usage'][number]): Cell[] {
  const { count, monthly_limit, extra, final } = month;
  const overage = monthly_limit === null ? null : Math.max(0, count - monthly_limit - extra);
  return [business_id, name, starts_on, ends_on, count, monthly_limit, extra, overage, final ? 'yes' : 'no'];
}

/** Reads the last months of these businesses. Those that were created since have none. */
export async function monthsCsv(
  { months }: Pick<Api, 'months'>,
  businesses: readonly ListedBusiness[],
): Promise<string> {
  const rows: EndedMonths['usage'] = [];
  for (const [ended, own] of Map.groupBy(businesses, endOf)) {
    // An earlier month of another business can have ended on the same day.
    const ids = new Set(own.map(({ id }) => id));
    const last = Math.max(...ids);
    for (let after: number | null = Math.min(...ids) - 1; after !== null && after < last; ) {
      const from: number = after;
      const page: EndedMonths = await patiently(() => months(ended, from));
      rows.push(...page.usage.filter(({ business_id }) => ids.has(business_id)));
      after = page.next;
    }
  }
  return csvOf([COLUMNS, ...rows.sort((a, b) => a.business_id - b.business_id).map(rowOf)]);
}
