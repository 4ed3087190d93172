// What needs attention in a list of businesses.
import type { ListedBusiness } from '../../../business/description.ts';
import { limitStatusOf } from '../limit-status.ts';

/** The filters of the list, as named in the URL. The first is the default. */
export const FILTERS = ['all', 'attention', 'full', 'near', 'refused', 'inactive'] as const;
export type Filter = (typeof FILTERS)[number];
export const FILTER_NAMES: Record<Filter, string> = {
  all: 'All',
  attention: 'Needs attention',
  full: 'Limit reached',
  near: 'Near or over limit',
  refused: 'Refused',
  inactive: 'Not active',
};
export const filterOf = (word: string | null): Filter => FILTERS.find((filter) => filter === word) ?? 'all';

/** The most urgent first. */
const REASONS = ['full', 'inactive', 'near', 'refused'] as const;
type Needy = Pick<ListedBusiness, 'limits' | 'status' | 'refused_origins'>;

const needs = ({ limits, status, refused_origins }: Needy, reason: (typeof REASONS)[number]): boolean => {
  if (reason === 'inactive') return status !== 'active';
  return reason === 'refused' ? refused_origins > 0 : limitStatusOf(limits)?.level === reason;
};

/** Ranks the businesses that need attention by urgency, above the others, whose rank is 0. */
export const urgencyOf = (business: Needy): number => {
  const index = REASONS.findIndex((reason) => needs(business, reason));
  return index < 0 ? 0 : REASONS.length - index;
};

export function matchesFilter(business: Needy, filter: Filter): boolean {
  if (filter === 'all') return true;
  return filter === 'attention' ? urgencyOf(business) > 0 : needs(business, filter);
}
