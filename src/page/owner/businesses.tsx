// The businesses of a key, in pages as the service has them, and a search over all of them.
import { useEffect, useRef, useState } from 'hono/jsx/dom';
import { sum } from '../scale.ts';
import { type Api, type Businesses, Failure, type ListedBusiness } from './api.ts';
import { FailureNotice, Loading, Status, Title } from './parts.tsx';
import { useQuery } from './query.ts';
import { businessesHref, businessHref, searchFor } from './route.ts';
import type { Session, Visited } from './session.ts';
import { Sparkline } from './sparkline.tsx';
import { compact, failureWords, number, plural } from './words.ts';

const MOST_SHOWN = 50;
const LOADING_ROWS = 6;

type Props = { session: Session; after: number; search: string; visited: Visited };

export function BusinessesView({ session, after, search: text, visited }: Props) {
  const { api, first } = session;
  const { data, failure, busy, reload } = useQuery(() => api.businesses(after), [after], after === 0 ? first : null);
  const search = useSearch(api);
  const wanted = text.trim();
  const isShown = wanted === '' ? data !== null : search.businesses.length > 0;

  useEffect(() => {
    if (wanted !== '') search.start();
  }, [wanted]);
  useEffect(() => {
    const top = visited.tops.get(location.hash);
    if (!isShown || top === undefined) return;
    visited.tops.delete(location.hash);
    scrollTo(0, top);
  }, [isShown]);

  return (
    <>
      <div class="heading">
        <Title name="Businesses">Businesses</Title>
        <input
          type="search"
          class="search"
          aria-label="Search by name, domain or id"
          placeholder="Search by name, domain or id"
          autocomplete="off"
          value={text}
          onInput={(event: Event) => searchFor((event.target as HTMLInputElement).value, after)}
        />
      </div>
      {wanted !== '' ? (
        <Found wanted={wanted} search={search} tops={visited.tops} />
      ) : data !== null ? (
        <>
          <List businesses={data.businesses} empty={emptyWords(after, data)} busy={busy} tops={visited.tops} />
          {failure && <FailureNotice failure={failure} reload={reload} />}
          <Pages after={after} next={data.next} earlier={visited.earlier} />
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
  return after === 0 ? 'There is no business for this key yet. Ask whoever runs the service to add one.' : 'No more.';
}

type ListProps = { businesses: ListedBusiness[]; empty: string; busy: boolean; tops: Visited['tops'] };

function List({ businesses, empty, busy, tops }: ListProps) {
  const leave = () => tops.set(location.hash, scrollY);
  if (businesses.length === 0) return <p class="card empty">{empty}</p>;
  return (
    <div class="card list" aria-busy={busy ? 'true' : undefined}>
      <p class="columns" aria-hidden="true">
        <span>Business</span>
        <span>Uses in 30 days</span>
      </p>
      <ul>
        {businesses.map((business) => (
          <Row key={business.id} business={business} leave={leave} />
        ))}
      </ul>
    </div>
  );
}

function Row({ business, leave }: { business: ListedBusiness; leave: () => void }) {
  const { id, name, main_domain, status, used } = business;
  const total = sum(used);
  return (
    <li>
      <a class="row" href={businessHref(id)} onClick={leave}>
        <span class="named">
          <b class="label">{name}</b>
          <small>
            {main_domain} · {`${id}`}
          </small>
        </span>
        <Status status={status} />
        <Sparkline used={used} />
        <span class="count" title={plural(total, 'use')}>
          {compact(total)}
          <span class="sr-only">{total === 1 ? ' use' : ' uses'} in 30 days</span>
        </span>
      </a>
    </li>
  );
}

function Pages({ after, next, earlier }: Pick<Props, 'after'> & Pick<Visited, 'earlier'> & { next: number | null }) {
  if (after === 0 && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {after > 0 && (
        <a class="button" rel="prev" href={businessesHref(earlier.get(after) ?? 0)}>
          ← Previous
        </a>
      )}
      {next !== null && (
        <a class="button next" rel="next" href={businessesHref(next)} onClick={() => earlier.set(next, after)}>
          Next →
        </a>
      )}
    </nav>
  );
}

type Search = { businesses: ListedBusiness[]; busy: boolean; failure: Failure | null; start: () => void };

/** Reads all businesses, page by page, from the first letter that is typed. The service has no search of its own. */
function useSearch(api: Api): Search {
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

type FoundProps = { wanted: string; search: Search; tops: Visited['tops'] };

function Found({ wanted, search: { businesses, busy, failure, start }, tops }: FoundProps) {
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
        <List
          businesses={found.slice(0, MOST_SHOWN)}
          empty={`No business matches “${wanted}”.`}
          busy={busy}
          tops={tops}
        />
      )}
    </>
  );
}
