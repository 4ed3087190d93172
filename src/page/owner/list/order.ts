// Sorts the list.
import type { ListedBusiness } from '../../../business/description.ts';
import { byName } from '../listing.ts';
import { urgencyOf } from './attention.ts';
import { growthOf, growthRank } from './growth.ts';

/** The sort orders, as named in the URL. The first is the default. */
export const ORDERS = ['attention', 'name', 'uses', 'growth', 'changed'] as const;
export type Order = (typeof ORDERS)[number];

export const orderOf = (word: string | null): Order => ORDERS.find((order) => order === word) ?? ORDERS[0];

type Ranked = { business: ListedBusiness; rank: number };

/** Higher ranks are listed first. For `name`, all ranks are equal, so the list is sorted by name. */
const RANKS: Record<Order, (business: ListedBusiness) => number> = {
  attention: urgencyOf,
  name: () => 0,
  uses: (business) => growthOf(business).now.total,
  growth: (business) => growthRank(growthOf(business)),
  changed: ({ updated_at }) => Date.parse(updated_at),
};

export function ordered(businesses: readonly ListedBusiness[], order: Order): ListedBusiness[] {
  const compare = (a: Ranked, b: Ranked) =>
    (a.rank === b.rank ? 0 : b.rank > a.rank ? 1 : -1) || // not their difference: ranks can be infinite
    byName(a.business, b.business);
  return businesses
    .map((business) => ({ business, rank: RANKS[order](business) }))
    .sort(compare)
    .map(({ business }) => business);
}
