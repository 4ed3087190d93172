// The businesses read so far, page by page. Each page replaces the businesses in its range of ids, so a refresh keeps the rest visible
// until newer pages arrive.
import type { Businesses, ListedBusiness } from '../../business/description.ts';

export type Listing = {
  /** Sorted by id. */
  businesses: readonly ListedBusiness[];
  /** The cursor for the next page, or null after the last page. */
  after: number | null;
  /** The time when the first page of this pass was read, in milliseconds since 1970. */
  startedAt: number | null;
  /** The time when the oldest page of the last complete pass was read. Null until all businesses have been read. */
  readAt: number | null;
};

/** Sorts Shop 9 before Shop 10, and Émile next to Emil. */
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
export const byName = (a: ListedBusiness, b: ListedBusiness): number => names.compare(a.name, b.name) || a.id - b.id;

export const NOTHING_READ: Listing = { businesses: [], after: 0, startedAt: null, readAt: null };

export const restart = (listing: Listing): Listing => ({ ...listing, after: 0, startedAt: null });

/** Adds a page that was read at `now`. */
export function withPage(listing: Listing, { businesses: page, next }: Businesses, now: number): Listing {
  const { businesses, after, readAt } = listing;
  const startedAt = listing.startedAt ?? now;
  return {
    businesses: [
      ...businesses.filter(({ id }) => id <= (after ?? 0)),
      ...page,
      ...businesses.filter(({ id }) => next !== null && id > next),
    ],
    after: next,
    startedAt,
    readAt: next === null ? startedAt : readAt,
  };
}
