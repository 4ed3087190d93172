// Reads all businesses of a session, page by page. Earlier pages stay visible during a refresh and after a failure.
import { useEffect, useState } from 'preact/hooks';
import type { Api, Failure } from './api.ts';
import { now } from './clock.ts';
import { type Listing, restart, withPage } from './listing.ts';
import { patiently } from './patience.ts';
import { failureOf, useLatest } from './query.ts';
import type { ListMemory } from './session.ts';

type ListingQuery = {
  listing: Listing;
  /** Stays set until the next page arrives. */
  failure: Failure | null;
  busy: boolean;
  /** Continues after a failure. */
  resume: () => void;
};

/** Starts with the listing in `memory`, and refreshes it whenever `revision` changes. Null only reads what is missing. */
export function useListing(api: Api, memory: ListMemory, revision: number | null): ListingQuery {
  const [state, setState] = useState({ listing: memory.listing, failure: null as Failure | null, busy: true });
  const begin = useLatest();
  async function run(start: Listing): Promise<void> {
    const isLatest = begin();
    setState((last) => ({ ...last, listing: start, busy: start.after !== null }));
    try {
      for (let listing = start; listing.after !== null; ) {
        const { after } = listing;
        const page = await patiently(() => api.businesses(after), isLatest);
        if (!isLatest()) return;
        listing = withPage(listing, page, now());
        memory.listing = listing;
        setState({ listing, failure: null, busy: listing.after !== null });
      }
    } catch (error) {
      if (isLatest()) setState((last) => ({ ...last, failure: failureOf(error), busy: false }));
    }
  }
  useEffect(() => {
    void run(revision === null ? memory.listing : restart(memory.listing));
  }, [revision]);
  return { ...state, resume: () => void run(state.listing) };
}
