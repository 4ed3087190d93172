// What needs attention in a list of businesses.
import type { ListedBusiness } from '../../../business/description.ts';
import { now } from '../clock.ts';
import { dropOf } from '../drop.ts';
import { limitStatusOf } from '../limit-status.ts';
import { monthPace } from '../pace.ts';

/** The filters of the list, as named in the URL. The first is the default. */
export const FILTERS = [
  'all',
  'attention',
  'silent',
  'fewer',
  'full',
  'reaching',
  'near',
  'refused',
  'inactive',
] as const;
export type Filter = (typeof FILTERS)[number];
export const FILTER_NAMES: Record<Filter, string> = {
  all: 'All',
  attention: 'Needs attention',
  silent: 'No uses',
  fewer: 'Fewer uses',
  full: 'Limit reached',
  reaching: 'Will reach its limit',
  near: 'Near or over limit',
  refused: 'Refused',
  inactive: 'Not active',
};
export const filterOf = (word: string | null): Filter => FILTERS.find((filter) => filter === word) ?? 'all';

/** The most urgent first. A forecast alone is not urgent. */
const REASONS = ['silent', 'fewer', 'full', 'inactive', 'near', 'refused'] as const;
type Reason = (typeof REASONS)[number] | 'reaching';
type Needy = Pick<ListedBusiness, 'limits' | 'status' | 'refused_origins' | 'used'>;

function needs(business: Needy, reason: Reason): boolean {
  const { limits, status, refused_origins, used } = business;
  if (reason === 'reaching') return monthPace(business, used, now())?.is === 'reaching';
  if (reason === 'inactive') return status !== 'active';
  if (reason === 'refused') return refused_origins > 0;
  const found = reason === 'silent' || reason === 'fewer' ? dropOf(status, used)?.is : limitStatusOf(limits)?.level;
  return found === reason;
}

/** Ranks the businesses that need attention by urgency, above the others, whose rank is 0. */
export const urgencyOf = (business: Needy): number => {
  const index = REASONS.findIndex((reason) => needs(business, reason));
  return index < 0 ? 0 : REASONS.length - index;
};

export function matchesFilter(business: Needy, filter: Filter): boolean {
  if (filter === 'all') return true;
  return filter === 'attention' ? urgencyOf(business) > 0 : needs(business, filter);
}
