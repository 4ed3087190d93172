// Matches routes and derives each path's methods from them.
import { HonoBase } from 'hono/hono-base';
import { TrieRouter } from 'hono/router/trie-router';
import type { RouterRoute } from 'hono/types';
import { getPath } from 'hono/utils/url';
import type { Env } from '../env.ts';
import { json } from './response.ts';

/** Uses TrieRouter. `Hono` would also bundle a router that rejects `/usage/:business_id` alongside `/:business_id/access`. */
export const newRoutes = () => new HonoBase<Env>({ router: new TrieRouter(), getPath: pathOf });

/** Ignores a trailing slash, except for DELETE and PATCH, where `/access/` with a missing id must not mean the whole list. */
function pathOf(request: Request): string {
  const path = getPath(request);
  return path.length > 1 && path.endsWith('/') && !['DELETE', 'PATCH'].includes(request.method)
    ? path.slice(0, -1)
    : path;
}

const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Lists the methods of routes. Hono serves HEAD wherever it serves GET. */
export const methodsOf = (routes: RouterRoute[]): string[] =>
  ORDER.filter((name) => routes.some(({ method }) => method === (name === 'HEAD' ? 'GET' : name)));

/**
 * Adds a 405 response for the methods that a path does not support. By default, Hono returns 404. A path's 405 comes before the routes of later
 * paths: `PUT /business/usage/history` is an unsupported method, not the import for a business `usage`.
 */
export function withMethodNotAllowed<Routes extends ReturnType<typeof newRoutes>>(routes: Routes): Routes {
  const all = newRoutes();
  for (const [path, own] of Map.groupBy(routes.routes, (route) => route.path)) {
    for (const { method, handler } of own) all.on(method, path, handler);
    const headers = { Allow: methodsOf(own).join(', '), 'Error-Code': 'method_not_allowed' };
    all.all(path, (c) => json(c, { message: 'Method Not Allowed' }, 405, headers));
  }
  return all as unknown as Routes; // the same paths, which TypeScript cannot infer
}
