// Reads all businesses of a session, one page after the other. What is there stays while it is read again, and if that breaks off.

import { useEffect, useState } from 'preact/hooks';
import type { Api, Failure } from '../api.ts';
import { now } from '../clock.ts';
import { failureOf, useLatest } from '../query.ts';
import type { ListMemory } from '../session.ts';
import { again, further, type Listing, withPage } from './listing.ts';

export type Reading = {
  listing: Listing;
  /** Why it broke off. It stays until the next page has come. */
  failure: Failure | null;
  busy: boolean;
  /** Goes on where it broke off. */
  goOn: () => void;
  /** Reads those that were left out. */
  readOn: () => void;
};

/** Starts with what `memory` has, and reads it again whenever `revision` changes. */
export function useReading(api: Api, memory: ListMemory, revision: number): Reading {
  const [state, setState] = useState({ listing: memory.listing, failure: null as Failure | null, busy: true });
  const begin = useLatest();
  async function run(start: Listing): Promise<void> {
    const isLatest = begin();
    setState((last) => ({ ...last, listing: start, busy: true }));
    try {
      for (let listing = start; listing.after !== null; ) {
        const page = await api.businesses(listing.after);
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
    void run(again(memory.listing));
  }, [revision]);
  return {
    ...state,
    goOn: () => void run(state.listing),
    readOn: () => void run(further(state.listing)),
  };
}
