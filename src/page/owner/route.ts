// Where the console is: in the hash, so that back, forward and bookmarks work. A key is never in it.
import { useEffect, useState } from 'hono/jsx/dom';
import { idOf } from '../../core/request.ts';

export type Route = { view: 'businesses'; after: number } | { view: 'business'; id: number };

export function routeOf(hash: string): Route {
  const [, first = '', second = ''] = hash.split('/');
  const id = idOf(first);
  if (id !== null) return { view: 'business', id };
  return { view: 'businesses', after: first === 'after' ? (idOf(second) ?? 0) : 0 };
}

export const businessHref = (id: number): string => `#/${id}`;
export const businessesHref = (after: number): string => (after === 0 ? '#/' : `#/after/${after}`);

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
