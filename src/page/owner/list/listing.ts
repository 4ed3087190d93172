// The businesses read so far, page by page. Each page replaces the businesses in its range of ids, so a refresh keeps the rest visible
// until newer pages arrive.
import type { Businesses, ListedBusiness } from '../../../business/description.ts';

/** The number of businesses to read before offering "Load more". */
export const STEP = 500;

export type Listing = {
  /** Sorted by id. */
  businesses: readonly ListedBusiness[];
  /** `partial`: still reading. `capped`: stopped at the cap. `all`: complete. */
  extent: 'partial' | 'capped' | 'all';
  /** The cursor for the next page, or null after the last page. */
  after: number | null;
  /** The maximum number of businesses to read. */
  cap: number;
  /** The time when the first page of this pass was read, in milliseconds since 1970. */
  startedAt: number | null;
  /** The time when the oldest page of the last complete pass was read. */
  readAt: number | null;
};

export const NOTHING_READ: Listing = {
  businesses: [],
  extent: 'partial',
  after: 0,
  cap: STEP,
  startedAt: null,
  readAt: null,
};

export const restart = (listing: Listing): Listing => ({ ...listing, after: 0, startedAt: null });

/** Raises the cap, and continues after the last business. */
export const extend = (listing: Listing): Listing => ({
  ...listing,
  extent: 'partial',
  after: listing.businesses.at(-1)?.id ?? 0,
  cap: listing.cap + STEP,
  startedAt: listing.readAt,
});

/** Adds a page that was read at `now`. */
export function withPage(listing: Listing, { businesses: page, next }: Businesses, now: number): Listing {
  const after = listing.after ?? 0;
  const startedAt = listing.startedAt ?? now;
  const read = [...listing.businesses.filter(({ id }) => id <= after), ...page];
  if (next !== null && read.length < listing.cap) {
    const later = listing.businesses.filter(({ id }) => id > next);
    return { ...listing, businesses: [...read, ...later], after: next, startedAt };
  }
  return {
    ...listing,
    businesses: read,
    extent: next === null ? 'all' : 'capped',
    after: null,
    startedAt,
    readAt: startedAt,
  };
}
