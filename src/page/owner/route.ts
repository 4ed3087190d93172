// The hash contains the view and, as a query, the owner's choices in that view, so back, forward, bookmarks and copied links work.
import { useEffect, useState } from 'preact/hooks';
import { parseId } from '../../core/request.ts';
import { TABS, type Tab } from './tabs.ts';

type Route = { query: URLSearchParams } & (
  | { view: 'businesses' }
  | { view: 'keys' }
  /** `part`: the section of the tab to focus, or empty. */
  | { view: 'business'; id: number; tab: Tab; part: string }
);

function routeOf(hash: string): Route {
  const [path = '', search] = hash.split('?');
  const [, first = '', second = '', part = ''] = path.split('/');
  const query = new URLSearchParams(search);
  if (`#/${first}` === KEYS) return { view: 'keys', query };
  const id = parseId(first);
  if (id === null) return { view: 'businesses', query };
  return { view: 'business', id, tab: TABS.find((tab) => tab === second) ?? TABS[0], part, query };
}

export const BUSINESSES = '#/';
export const KEYS = '#/keys';
export const businessHref = (id: number, tab: Tab = TABS[0], part = ''): string =>
  tab === TABS[0] && part === '' ? `#/${id}` : `#/${[id, tab, part].filter(Boolean).join('/')}`;

/** Sets query parameters. Null deletes a parameter. Typing uses `replace`, which adds no history entry. */
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

/** Navigates without adding a history entry. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

const CODE_PREFIX = '#code=';

/**
 * Returns the code of a sign-in link, /owner#code=…, and removes it from the URL, so neither the history nor a bookmark contains it.
 * Browsers never send the fragment, so the code appears in no log and no Referer.
 */
export function takeCode(): string | null {
  if (!location.hash.startsWith(CODE_PREFIX)) return null;
  const code = location.hash.slice(CODE_PREFIX.length);
  history.replaceState(null, '', location.pathname);
  return code;
}

/** Returns the current route. Calls `open` with the code of a link that is opened while the page is running. */
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
