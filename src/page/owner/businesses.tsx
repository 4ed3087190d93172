// The businesses of a session: a list in pages as the service has them, or what a search finds.
import { useEffect, useLayoutEffect } from 'hono/jsx/dom';
import { idOf } from '../../core/request.ts';
import type { Businesses } from './api.ts';
import { BusinessList } from './business-list.tsx';
import { SearchResults, useSearch } from './business-search.tsx';
import { FailureNotice, Loading, Title } from './parts.tsx';
import { useQuery } from './query.ts';
import { BUSINESSES, businessHref, replaceAddress, setQuery } from './route.ts';
import type { Memory, Session } from './session.ts';

const LOADING_ROWS = 6;

type Props = { session: Session; query: URLSearchParams; memory: Memory };

export function BusinessesView({ session, query, memory }: Props) {
  const { api } = session;
  const after = idOf(query.get('after') ?? '') ?? 0;
  const text = query.get('q') ?? '';
  const { data, failure, busy, reload } = useQuery(() => api.businesses(after), [after]);
  const search = useSearch(api);
  const wanted = text.trim();
  const isShown = wanted === '' ? data !== null : search.businesses.length > 0;

  // Whoever has one business starts there. It is done before the list is painted, and not on the way back to the list.
  useLayoutEffect(() => {
    const [only, second] = data?.businesses ?? [];
    if (location.hash !== '' || only === undefined || second !== undefined || data?.next !== null) return;
    memory.opened = only;
    replaceAddress(businessHref(only.id));
  }, [data]);
  useEffect(() => {
    if (wanted !== '') search.start();
  }, [wanted]);
  useEffect(() => {
    const top = memory.tops.get(location.hash);
    if (!isShown || top === undefined) return;
    memory.tops.delete(location.hash);
    scrollTo(0, top);
  }, [isShown]);

  return (
    <>
      <div class="heading">
        <Title name="Businesses" />
        <input
          type="search"
          class="search"
          aria-label="Search by name, domain or id"
          placeholder="Search by name, domain or id"
          autocomplete="off"
          value={text}
          onInput={(event: Event) => setQuery({ q: (event.target as HTMLInputElement).value || null }, 'replace')}
        />
      </div>
      {wanted !== '' ? (
        <SearchResults wanted={wanted} search={search} memory={memory} />
      ) : data !== null ? (
        <>
          <BusinessList businesses={data.businesses} empty={emptyWords(after, data)} busy={busy} memory={memory} />
          {failure && <FailureNotice failure={failure} reload={reload} />}
          <Pages after={after} next={data.next} />
        </>
      ) : failure !== null ? (
        <FailureNotice failure={failure} reload={reload} />
      ) : (
        <Loading rows={LOADING_ROWS} />
      )}
    </>
  );
}

function emptyWords(after: number, { next }: Businesses): string {
  if (next !== null) return 'None on this page. There are more on the next one.';
  return after === 0
    ? 'There is no business that you can see here. Ask whoever runs the service to add one.'
    : 'No more.';
}

function Pages({ after, next }: { after: number; next: number | null }) {
  if (after === 0 && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {after > 0 && (
        <a class="button" rel="prev" href={BUSINESSES}>
          ← Previous
        </a>
      )}
      {next !== null && (
        <a class="button next" rel="next" href={`${BUSINESSES}?after=${next}`}>
          Next →
        </a>
      )}
    </nav>
  );
}
