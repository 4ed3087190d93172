// What has been read of the businesses, page by page. A page takes the place of those in its range of ids, so the same steps read
// them first and read them again, and what is there stays until something newer is.
import type { Businesses, ListedBusiness } from '../../../wire/responses.ts';

/** How many businesses are read before somebody is asked whether to read on. */
export const STEP = 500;

export type Listing = {
  /** By id. */
  businesses: readonly ListedBusiness[];
  /** `part`: they are being read. `most`: there are more than were to be read. `all`: there are no more. */
  extent: 'part' | 'most' | 'all';
  /** After which id the reading goes on. Null: it is done. */
  after: number | null;
  /** How many are to be read. */
  most: number;
  /** When the first page of this reading came, in milliseconds since 1970. Null: it has not. */
  startedAt: number | null;
  /** When the oldest of what is there was read. Null: it has not been read to its end. */
  readAt: number | null;
};

export const NOTHING_READ: Listing = {
  businesses: [],
  extent: 'part',
  after: 0,
  most: STEP,
  startedAt: null,
  readAt: null,
};

/** Reads again, from the start. */
export const again = (listing: Listing): Listing => ({ ...listing, after: 0, startedAt: null });

/** Reads those that were left out. `extent` says that there are more: where to go on is behind the last one. */
export const further = (listing: Listing): Listing => ({
  ...listing,
  extent: 'part',
  after: listing.businesses.at(-1)?.id ?? 0,
  most: listing.most + STEP,
  startedAt: listing.readAt,
});

/** After a page that came at `now`. */
export function withPage(listing: Listing, { businesses: page, next }: Businesses, now: number): Listing {
  const after = listing.after ?? 0;
  const startedAt = listing.startedAt ?? now;
  const read = [...listing.businesses.filter(({ id }) => id <= after), ...page];
  if (next !== null && read.length < listing.most) {
    const later = listing.businesses.filter(({ id }) => id > next);
    return { ...listing, businesses: [...read, ...later], after: next, startedAt };
  }
  return {
    ...listing,
    businesses: read,
    extent: next === null ? 'all' : 'most',
    after: null,
    startedAt,
    readAt: startedAt,
  };
}
