// The file for accounting: the last billing month that ended, of each business.
import type { ListedBusiness } from '../../../business/description.ts';
import { type Cell, csvOf } from '../../../core/csv.ts';
import { addDays, type Range } from '../../../core/time.ts';
import type { EndedMonths } from '../../../usage/description.ts';
import type { Api } from '../api.ts';

const COLUMNS = ['business_id', 'business', 'from', 'to', 'uses', 'monthly_limit', 'extra', 'overage', 'final'];

/** Returns the days on which the last months of these businesses ended, each once, in order. */
const endsOf = (businesses: readonly ListedBusiness[]): string[] =>
  [...new Set(businesses.map(({ limits }) => addDays(limits.month_starts.slice(0, 'YYYY-MM-DD'.length), -1)))].sort();

/** Returns the first and last day on which a last month of these businesses ended. There must be a business. */
export function lastEnds(businesses: readonly ListedBusiness[]): Range {
  const ends = endsOf(businesses);
  return { from: ends[0] ?? '', to: ends.at(-1) ?? '' };
}

/** `overage`: the uses beyond the monthly limit and its extra. Empty without a limit. */
function rowOf({ business_id, name, starts_on, ends_on, ...month }: EndedMonths['usage'][number]): Cell[] {
  const { count, monthly_limit, extra, final } = month;
  const overage = monthly_limit === null ? null : Math.max(0, count - monthly_limit - extra);
  return [business_id, name, starts_on, ends_on, count, monthly_limit, extra, overage, final ? 'yes' : 'no'];
}

/** Reads the last months of these businesses. Those that were created since have none. */
export async function monthsCsv({ months }: Api, businesses: readonly ListedBusiness[]): Promise<string> {
  const wanted = new Set(businesses.map(({ id }) => id));
  const rows: EndedMonths['usage'] = [];
  for (const ended of endsOf(businesses))
    for (let after: number | null = 0; after !== null; ) {
      const page: EndedMonths = await months(ended, after);
      rows.push(...page.usage.filter(({ business_id }) => wanted.has(business_id)));
      after = page.next;
    }
  return csvOf([COLUMNS, ...rows.sort((a, b) => a.business_id - b.business_id).map(rowOf)]);
}
