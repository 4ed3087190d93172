// The filters above the list of businesses.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ListedBusiness } from '../../../business/description.ts';
import { number } from '../formats.ts';
import { BUSINESSES } from '../route.ts';
import { FILTER_NAMES, FILTERS, type Filter, matchesFilter } from './attention.ts';

type FiltersProps = { businesses: readonly ListedBusiness[]; filter: Filter; query: URLSearchParams };

/** Offers only filters that match something. On a phone, they scroll sideways, but not under a pointer. */
export function Filters({ businesses, filter, query }: FiltersProps) {
  const nav = useRef<HTMLElement>(null);
  const reveal = (which: string) =>
    nav.current?.querySelector(which)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  useLayoutEffect(() => reveal('[aria-current]'), [filter]);
  const offered = FILTERS.map((one) => ({
    one,
    count: businesses.filter((business) => matchesFilter(business, one)).length,
  })).filter(({ one, count }) => count > 0 || one === filter);
  const hrefOf = (one: Filter) => {
    const next = new URLSearchParams(query);
    if (one === 'all') next.delete('show');
    else next.set('show', one);
    return next.size > 0 ? `${BUSINESSES}?${next}` : BUSINESSES;
  };
  return (
    <nav class="rooms filters" aria-label="Filter" ref={nav} onFocusIn={() => reveal(':focus-visible')}>
      {offered.map(({ one, count }) => (
        <a key={one} href={hrefOf(one)} aria-current={one === filter ? 'true' : undefined}>
          {FILTER_NAMES[one]} {number(count)}
        </a>
      ))}
    </nav>
  );
}
