// The list of businesses. Reads all of them, then sorts and searches in the browser, because the service lists them only by id.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ListedBusiness } from '../../../business/description.ts';
import { SHOWN_DAYS } from '../../scale.ts';
import { DownloadButton, DownloadNotice, useDownload } from '../download.tsx';
import { rangeName } from '../file-name.ts';
import { useFocusFallback } from '../focus.ts';
import { number, plural } from '../formats.ts';
import type { Listing } from '../listing.ts';
import { Button, Field, Loading, Notice, useDocumentTitle } from '../parts.tsx';
import { Refresh, useRefresh } from '../refresh.tsx';
import { BUSINESSES, businessHref, replaceAddress, setQuery } from '../route.ts';
import { type Memory, ROWS, type Session } from '../session.ts';
import { useListing } from '../use-listing.ts';
import { failureWords } from '../words.ts';
import { filterOf, matchesFilter } from './attention.ts';
import { BusinessList } from './business-list.tsx';
import { saveDays } from './daily-file.ts';
import { lastEnds, monthsCsv } from './ended-months.ts';
import { Filters } from './filters.tsx';
import { indexBusinesses, searchBusinesses } from './find.ts';
import { growthOf } from './growth.ts';
import { ORDERS, type Order, ordered, orderOf } from './order.ts';
import { SEARCH_ID } from './search-key.ts';

const LOADING_ROWS = 6;
const ORDER_NAMES: Record<Order, string> = {
  attention: 'Needs attention',
  name: 'Name',
  uses: 'Most uses',
  growth: 'Most growth',
  changed: 'Last changed',
};

/** `firstNew`: the first row that "Show more" added, which receives the focus. */
type Rows = { href: string; rows: number; firstNew?: number };
type Props = { session: Session; query: URLSearchParams; memory: Memory };

export function BusinessesView({ session, query, memory }: Props) {
  const { list } = memory;
  const { revision, refresh } = useRefresh();
  const { listing, failure, busy, resume } = useListing(session.api, list, revision);
  const { businesses, readAt } = listing;
  const href = query.size > 0 ? `${BUSINESSES}?${query}` : BUSINESSES;
  const text = query.get('q') ?? '';
  const wanted = text.trim();
  const order = orderOf(query.get('sort'));
  const all = useMemo(() => indexBusinesses(ordered(businesses, order)), [businesses, order]);
  const filter = filterOf(query.get('show'));
  const matches = useMemo(
    () => searchBusinesses(all, wanted).filter((business) => matchesFilter(business, filter)),
    [all, wanted, filter],
  );
  const [shown, setShown] = useState<Rows>({ href: list.href, rows: list.rows });
  const rows = shown.href === href ? shown.rows : ROWS;
  const view = useRef<HTMLDivElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const total = useRef<HTMLParagraphElement>(null);
  const search = useRef<HTMLInputElement>(null);

  useDocumentTitle('Businesses');
  useFocusFallback(view, () => total.current);
  // If there is only one business, opens it before the list is painted, unless the hash shows that the owner returned to the list.
  const mayRedirect = location.hash === '' && businesses.length < 2;
  const only = mayRedirect && readAt !== null ? businesses[0] : undefined;
  const isHidden = businesses.length === 0 ? readAt === null : only !== undefined || (mayRedirect && busy);
  useLayoutEffect(() => {
    if (only !== undefined) open(only, replaceAddress);
  }, [only]);
  // Restores the scroll position, and focuses the business that was opened.
  useLayoutEffect(() => {
    const { isSearching, top } = list;
    const isBack = list.href === href && businesses.length > 0;
    list.isSearching = false;
    const row = isBack && memory.opened !== null ? rowOf(memory.opened.id) : null;
    (isSearching ? search.current : (row ?? title.current))?.focus({ preventScroll: true });
    scrollTo(0, isBack && !isSearching ? top : 0);
  }, []);
  // A layout effect is cleaned up before the next view scrolls.
  useLayoutEffect(() => {
    const follow = () => {
      list.top = scrollY;
    };
    addEventListener('scroll', follow);
    return () => removeEventListener('scroll', follow);
  }, []);
  useLayoutEffect(() => {
    list.href = href;
    list.rows = rows;
  }, [href, rows]);
  useLayoutEffect(() => {
    const { firstNew = -1 } = shown;
    view.current?.querySelectorAll<HTMLElement>('.row a')[firstNew]?.focus({ preventScroll: true });
  }, [shown]);

  const rowOf = (id: number) => view.current?.querySelector<HTMLElement>(`.row a[href="${businessHref(id)}"]`) ?? null;
  function open(business: ListedBusiness, go: (href: string) => void): void {
    memory.opened = business;
    go(businessHref(business.id));
  }
  function type(value: string): void {
    setQuery({ q: value || null }, 'replace');
  }
  function enter(event: Event): void {
    event.preventDefault();
    const [match, second] = matches;
    if (wanted === '' || match === undefined || second !== undefined || readAt === null) return;
    open(match, (href) => {
      location.hash = href;
    });
  }
  function showMore(): void {
    setShown({ href, rows: rows + ROWS, firstNew: rows });
  }
  const months = useDownload(
    () => `Billing months to ${rangeName(lastEnds(matches))}`,
    () => monthsCsv(session.api, matches),
  );
  function clear(): void {
    setQuery({ q: null, show: null }, 'replace');
    search.current?.focus();
  }

  return (
    <div class="businesses" ref={view}>
      <div class="heading">
        <h1 ref={title} tabIndex={-1}>
          Businesses
        </h1>
        <Refresh readAt={readAt} isBusy={busy} failure={failure} refresh={failure ? resume : refresh} />
      </div>
      <Notice kind="problem" action={{ label: businesses.length > 0 ? 'Continue' : 'Try again', press: resume, busy }}>
        {failure && readAt === null && `${failureWords(failure)} ${incompleteWords(listing)}`}
      </Notice>
      <div class="tools">
        <search>
          <form onSubmit={enter}>
            <input
              ref={search}
              id={SEARCH_ID}
              type="search"
              aria-label="Search by name, main domain or ID"
              aria-keyshortcuts="/"
              placeholder="Search by name, main domain or ID"
              autocomplete="off"
              value={text}
              onInput={({ currentTarget }) => type(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Escape' || event.isComposing || text === '') return;
                event.preventDefault();
                type('');
              }}
            />
          </form>
        </search>
        <Field id="businesses-sort" label="Sort by" class="inline">
          <select
            id="businesses-sort"
            value={order}
            onChange={({ currentTarget: { value } }) => setQuery({ sort: value === ORDERS[0] ? null : value }, 'push')}
          >
            {ORDERS.map((one) => (
              <option key={one} value={one}>
                {ORDER_NAMES[one]}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {!isHidden && <Filters businesses={businesses} filter={filter} query={query} />}
      <div class="summary">
        <p class="total" role="status" ref={total} tabIndex={-1} aria-busy={busy ? 'true' : undefined}>
          {!isHidden && businesses.length > 0 && totalWords(listing, matches)}
        </p>
        {/* A file of the businesses that have been read so far would look complete. */}
        {!isHidden && readAt !== null && matches.length > 0 && (
          <div>
            <Button class="quiet" onClick={() => saveDays(matches)}>
              CSV by day
            </Button>{' '}
            <DownloadButton {...months} words="CSV of last billing month" />
          </div>
        )}
      </div>
      <DownloadNotice {...months} />
      {isHidden ? (
        failure === null && <Loading rows={LOADING_ROWS} />
      ) : businesses.length === 0 ? (
        <p class="card empty">You have no businesses yet. Ask the service operator to add one.</p>
      ) : matches.length === 0 ? (
        <div class="card empty">
          <p>
            No businesses match {wanted === '' ? 'this filter' : `“${wanted}”`}
            {readAt === null ? ' so far' : ''}.
          </p>
          <Button class="quiet" onClick={clear}>
            {filter === 'all' ? 'Clear search' : 'Show all'}
          </Button>
        </div>
      ) : (
        <BusinessList
          businesses={matches.slice(0, rows)}
          order={order}
          onOpen={(business) => {
            memory.opened = business;
          }}
        />
      )}
      {!isHidden && matches.length > rows && (
        <p class="more">
          <Button class="quiet" onClick={showMore}>
            Show more
          </Button>
          <span>{`Showing ${number(rows)} of ${number(matches.length)}.`}</span>
        </p>
      )}
      {!isHidden && matches.length > 0 && (
        <p class="note">
          Uses and growth cover the last {SHOWN_DAYS} full days, without today. Growth compares them with the same
          weekdays {SHOWN_DAYS} days earlier, if the business had data by then. Days are in UTC.
        </p>
      )}
    </div>
  );
}

const businessWords = (count: number): string => plural(count, 'business', 'businesses');

/** Summarizes the list or the search result. */
function totalWords({ businesses, readAt }: Listing, matches: readonly ListedBusiness[]): string {
  const uses = matches.reduce((total, business) => total + growthOf(business).now.total, 0);
  const among = `${businessWords(businesses.length)}${readAt === null ? ' so far' : ''}`;
  const what = matches.length === businesses.length ? among : `${number(matches.length)} of ${among}`;
  return `${what} · ${plural(uses, 'use')} in ${SHOWN_DAYS} full days`;
}

/** Describes what is shown after a failure. */
const incompleteWords = ({ businesses }: Listing): string =>
  businesses.length === 0 ? '' : `Only ${businessWords(businesses.length)} could be loaded.`;
