// The order of the list.
import type { ListedBusiness } from '../../../wire/responses.ts';
import { sum } from '../../scale.ts';
import { growthOf, growthRank } from './growth.ts';

/** As the address has them. The first needs no word there. */
export const ORDERS = ['name', 'uses', 'growth', 'changed'] as const;
export type Order = (typeof ORDERS)[number];

export const orderOf = (word: string | null): Order => ORDERS.find((order) => order === word) ?? ORDERS[0];

/** Shop 9 comes before shop 10, and Émile beside Emil. */
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

type Placed = { business: ListedBusiness; rank: number };

/** What is more comes first. By name, all are equal, so that only the name decides. */
const RANKS: Record<Order, (business: ListedBusiness) => number> = {
  name: () => 0,
  uses: ({ used }) => sum(used),
  growth: ({ used }) => growthRank(growthOf(used)),
  changed: ({ updated_at }) => Date.parse(updated_at),
};

/** Those of equal rank by name, then by id. */
export function ordered(businesses: readonly ListedBusiness[], order: Order): ListedBusiness[] {
  const place = (business: ListedBusiness): Placed => ({ business, rank: RANKS[order](business) });
  const compare = (a: Placed, b: Placed) =>
    // Not by their difference: what is new has an infinite rank.
    (a.rank === b.rank ? 0 : b.rank > a.rank ? 1 : -1) ||
    names.compare(a.business.name, b.business.name) ||
    a.business.id - b.business.id;
  return businesses
    .map(place)
    .sort(compare)
    .map(({ business }) => business);
}
