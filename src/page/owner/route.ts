// Which view is shown is in the hash, so that back, forward and bookmarks work. The code of a link is in it only until the page starts (link.ts).
import { useEffect, useState } from 'hono/jsx/dom';
import { idOf } from '../../core/request.ts';
import { takeCode } from './link.ts';

export type Route = { view: 'businesses'; after: number; search: string } | { view: 'business'; id: number };

export function routeOf(hash: string): Route {
  const [path = '', query] = hash.split('?');
  const [, first = '', second = ''] = path.split('/');
  const id = idOf(first);
  if (id !== null) return { view: 'business', id };
  return {
    view: 'businesses',
    after: first === 'after' ? (idOf(second) ?? 0) : 0,
    search: new URLSearchParams(query).get('q') ?? '',
  };
}

export const businessHref = (id: number): string => `#/${id}`;
export const businessesHref = (after: number): string => (after === 0 ? '#/' : `#/after/${after}`);

/** Changes the search without an entry in the history. Empty text returns to the page of the list. */
export function searchFor(text: string, after: number): void {
  const query = text === '' ? '' : `?${new URLSearchParams({ q: text })}`;
  replaceAddress(businessesHref(after) + query);
}

/** Shows another view without an entry in the history. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The view of the address. `open` gets the code of a link that is opened while the page is. */
export function useRoute(open: (code: string) => void): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => {
      const code = takeCode();
      if (code !== null) open(code);
      setHash(location.hash);
    };
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return routeOf(hash);
}
