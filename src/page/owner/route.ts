// What is shown is in the hash: a view, and in its query what was chosen there. So back, forward, bookmarks and copied links work. The code
// of a link is in it only until the page starts (link.ts).

import { useEffect, useState } from 'preact/hooks';
import { idOf } from '../../core/request.ts';
import { ROOMS, type Room } from './rooms.ts';
import { takeCode } from './sign-in/link.ts';

type Route = { query: URLSearchParams } & (
  | { view: 'businesses' }
  /** `part`: the part of the view that is meant; empty: all of it. */
  | { view: 'business'; id: number; room: Room; part: string }
);

function routeOf(hash: string): Route {
  const [path = '', search] = hash.split('?');
  const [, first = '', second = '', part = ''] = path.split('/');
  const query = new URLSearchParams(search);
  const id = idOf(first);
  if (id === null) return { view: 'businesses', query };
  return { view: 'business', id, room: ROOMS.find((room) => room === second) ?? ROOMS[0], part, query };
}

export const BUSINESSES = '#/';
export const businessHref = (id: number, room: Room = ROOMS[0], part = ''): string =>
  room === ROOMS[0] ? `#/${id}` : `#/${[id, room, part].filter(Boolean).join('/')}`;

/**
 * Writes into the query of the address: text sets an entry, null deletes it. `replace` is for what is typed: it makes no entry in the
 * history.
 */
export function setQuery(entries: Record<string, string | null>, how: 'push' | 'replace'): void {
  const [path = '', search] = location.hash.split('?');
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(entries)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const address = `${path || BUSINESSES}${query.size > 0 ? `?${query}` : ''}`;
  if (address === location.hash) return;
  if (how === 'push') location.hash = address;
  else replaceAddress(address);
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
