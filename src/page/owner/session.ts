// State that the views share during a session.
import type { ListedBusiness } from '../../business/description.ts';
import type { Business, BusinessDetails } from '../../shown-business/description.ts';
import type { RefusedOrigins } from '../../sites/description.ts';
import type { Api } from './api.ts';
import { type Listing, NOTHING_READ } from './listing.ts';
import type { Query } from './query.ts';
import { BUSINESSES } from './route.ts';
import type { StoredSession } from './storage.ts';

export type Session = { api: Api; stored: StoredSession };

/** State that outlives a view. Each session begins with a new `Memory`. */
export type Memory = {
  list: ListMemory;
  /** The last opened business, as it appeared in the list. It is shown until the business itself has been read. */
  opened: ListedBusiness | null;
};

/** The state to restore when the owner returns to the list. */
export type ListMemory = {
  listing: Listing;
  rows: number;
  /** The scroll position. */
  top: number;
  /** The URL's hash, with the search and the sort order. */
  href: string;
  /** If true, the search field is focused when the list appears. */
  isSearching: boolean;
};

/** The initial number of rows, and the number that "Show more" adds. */
export const ROWS = 100;

export const newMemory = (): Memory => ({
  list: { listing: NOTHING_READ, rows: ROWS, top: 0, href: BUSINESSES, isSearching: false },
  opened: null,
});

export type TabProps = {
  api: Api;
  business: BusinessDetails;
  readOnly: boolean;
  /** The query in the URL's hash. */
  query: URLSearchParams;
  /** Counts the refreshes. */
  revision: number;
  refused: Query<RefusedOrigins>;
  /** Call it with the response to a change. */
  onChanged: (business: Business) => void;
  /** Reads the business again. Call it after a failed change, which may have been made anyway. */
  reload: () => void;
};

/** The state of a tab's own data. `readAt` is in milliseconds since 1970, or null before the first read. */
export type ReadState = Pick<Query<unknown>, 'readAt' | 'busy' | 'failure'>;
/** Called with null while the tab reads no data of its own. */
export type OnRead = (state: ReadState | null) => void;
export const NOT_READ: ReadState = { readAt: null, busy: true, failure: null };
