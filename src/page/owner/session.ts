// What the views share while somebody is signed in.
import type { Business, BusinessDetails, ListedBusiness, RefusedOrigin } from '../../wire/responses.ts';
import type { Api } from './api.ts';
import { type Listing, NOTHING_READ } from './list/listing.ts';
import type { Query } from './query.ts';
import { BUSINESSES } from './route.ts';
import type { KeptSession } from './sign-in/kept.ts';

/** Somebody who is signed in. */
export type Session = { api: Api; kept: KeptSession };

/** What the page remembers of a session, from view to view. The next session begins without it. */
export type Memory = {
  list: ListMemory;
  /** The business that was opened last, as it was listed: it is shown until the business has been read. */
  opened: ListedBusiness | null;
  /** The refused origins that are hidden, by business. */
  dismissed: Map<number, ReadonlySet<string>>;
};

/** The list as it was left. */
export type ListMemory = {
  listing: Listing;
  /** How many rows were shown, and how far they were scrolled. */
  rows: number;
  top: number;
  /** Its address, with the search and the order. */
  href: string;
  /** Whether the search is to have the focus when the list appears. */
  isSearching: boolean;
};

/** How many rows are shown at first, and how many more are shown on request. */
export const ROWS = 100;

export const newMemory = (): Memory => ({
  list: { listing: NOTHING_READ, rows: ROWS, top: 0, href: BUSINESSES, isSearching: false },
  opened: null,
  dismissed: new Map(),
});

/** What a view of a business gets. */
export type RoomProps = {
  api: Api;
  business: BusinessDetails;
  readOnly: boolean;
  /** What was chosen in this view, as the address has it. */
  query: URLSearchParams;
  /** Counts how often the owner, or the return to the tab, asked to read again. */
  revision: number;
  /** Those that the service has, with the dismissed ones. */
  refused: Query<RefusedOrigin[]>;
  /** The refused origins that are hidden. */
  dismissed: ReadonlySet<string>;
  setDismissed: (origins: ReadonlySet<string>) => void;
  /** Takes what a change has returned. */
  onChanged: (business: Business) => void;
  /** Reads the business again. After a failed change nobody knows whether it was made. */
  reload: () => void;
};

/** What a view says about what it reads itself: when that came, in milliseconds since 1970. Null: it is not there. */
export type ReadState = { readAt: number | null; busy: boolean };
/** Takes that; null: the view reads nothing now. */
export type OnRead = (state: ReadState | null) => void;
export const NOT_READ: ReadState = { readAt: null, busy: true };

/** Those that were not dismissed. */
export const shownRefused = ({ refused, dismissed }: Pick<RoomProps, 'refused' | 'dismissed'>): RefusedOrigin[] =>
  refused.data?.filter(({ origin }) => !dismissed.has(origin)) ?? [];
