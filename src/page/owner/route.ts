// Which view is shown is in the hash, so that back, forward and bookmarks work. A key is never in it.
import { useEffect, useState } from 'hono/jsx/dom';
import { idOf } from '../../core/request.ts';

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
  history.replaceState(null, '', businessesHref(after) + query);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return routeOf(hash);
}
