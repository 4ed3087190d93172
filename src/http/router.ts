// How routes are found, and which methods a path has: the routes say so. ORDER is their order, with each method that there may be.
import { HonoBase } from 'hono/hono-base';
import { TrieRouter } from 'hono/router/trie-router';
import type { RouterRoute } from 'hono/types';
import { getPath } from 'hono/utils/url';
import type { Env } from '../env.ts';
import { json } from './response.ts';

/**
 * Hono with the router that can have `/usage/:business_id` beside `/:business_id/access`. The class `Hono` would try another one first,
 * without success, and the Worker would carry that.
 */
export const newRoutes = () => new HonoBase<Env>({ router: new TrieRouter(), getPath: pathOf });

/** Ignores a trailing slash, except for DELETE and PATCH: `/access/` without its id must not mean the whole list. */
function pathOf(request: Request): string {
  const path = getPath(request);
  return path.length > 1 && path.endsWith('/') && !['DELETE', 'PATCH'].includes(request.method)
    ? path.slice(0, -1)
    : path;
}

const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods of some routes. Hono responds to HEAD as to GET. */
export const methodsOf = (routes: RouterRoute[]): string[] =>
  ORDER.filter((name) => routes.some(({ method }) => method === (name === 'HEAD' ? 'GET' : name)));

/** The same routes, and a 405 for the other methods of each of their paths. (Hono responds with 404.) */
export function withMethodNotAllowed<Routes extends ReturnType<typeof newRoutes>>(routes: Routes): Routes {
  const all = newRoutes().route('/', routes);
  for (const path of new Set(routes.routes.map((route) => route.path))) {
    const allow = methodsOf(routes.routes.filter((route) => route.path === path)).join(', ');
    const headers = { Allow: allow, 'Error-Code': 'method_not_allowed' };
    all.all(path, (c) => json(c, { message: 'Method Not Allowed' }, 405, headers));
  }
  return all as unknown as Routes; // mounted at /, the paths are the same, which TypeScript cannot tell
}
