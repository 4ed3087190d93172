// A search over all businesses of a session. The service has none of its own, so this reads them all.
import { useRef, useState } from 'hono/jsx/dom';
import { type Api, Failure, type ListedBusiness } from './api.ts';
import { BusinessList } from './business-list.tsx';
import { FailureNotice } from './parts.tsx';
import type { Memory } from './session.ts';
import { failureWords, number, plural } from './words.ts';

const MOST_SHOWN = 50;

type Search = { businesses: ListedBusiness[]; busy: boolean; failure: Failure | null; start: () => void };

/** Reads page by page once it is started, and goes on where it broke off. */
export function useSearch(api: Api): Search {
  const [state, setState] = useState<Omit<Search, 'start'>>({ businesses: [], busy: false, failure: null });
  const next = useRef<number | null>(0);
  const running = useRef(false);
  async function start(): Promise<void> {
    if (running.current) return;
    running.current = true;
    try {
      while (next.current !== null) {
        setState((last) => ({ ...last, busy: true, failure: null }));
        const page = await api.manyBusinesses(next.current);
        next.current = page.next;
        setState((last) => ({ ...last, businesses: [...last.businesses, ...page.businesses] }));
      }
      setState((last) => ({ ...last, busy: false }));
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure(0, 'The search broke off.');
      setState((last) => ({ ...last, busy: false, failure }));
    } finally {
      running.current = false;
    }
  }
  return { ...state, start };
}

type Props = { wanted: string; search: Search; memory: Memory };

export function SearchResults({ wanted, search: { businesses, busy, failure, start }, memory }: Props) {
  const lowerCase = wanted.toLowerCase();
  const found = businesses.filter(
    ({ id, name, main_domain }) =>
      `${id}` === wanted || name.toLowerCase().includes(lowerCase) || main_domain.toLowerCase().includes(lowerCase),
  );
  const more = found.length - MOST_SHOWN;
  const words = busy
    ? `Searching… ${plural(businesses.length, 'business', 'businesses')} so far.`
    : `${number(found.length)} of ${plural(businesses.length, 'business', 'businesses')}${more > 0 ? `; the first ${MOST_SHOWN} are shown` : ''}.`;
  return (
    <>
      <p class="note" role="status">
        {failure === null ? words : failureWords(failure)}
      </p>
      {failure !== null && <FailureNotice failure={failure} reload={start} />}
      {(found.length > 0 || !busy) && failure === null && (
        <BusinessList
          businesses={found.slice(0, MOST_SHOWN)}
          empty={`No business matches “${wanted}”.`}
          busy={busy}
          memory={memory}
        />
      )}
    </>
  );
}
