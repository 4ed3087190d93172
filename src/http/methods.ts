// Which methods a path has. The routes say so; nothing else lists them.
import type { Hono } from 'hono';
import type { Env } from '../env.ts';
import { json } from './response.ts';

const ORDER = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** The methods of the routes with each path. Hono responds to HEAD as to GET. */
function methodsByPath({ routes }: Pick<Hono<Env>, 'routes'>): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const { path, method } of routes) {
    if (method === 'ALL') continue;
    const known = paths.get(path) ?? [];
    const methods = [...known, method, ...(method === 'GET' ? ['HEAD'] : [])];
    paths.set(
      path,
      ORDER.filter((name) => methods.includes(name)),
    );
  }
  return paths;
}

/** Every method that a route has. */
export const allMethods = (app: Pick<Hono<Env>, 'routes'>): string[] =>
  ORDER.filter((name) => [...methodsByPath(app).values()].some((methods) => methods.includes(name)));

/** Responds with 405 to the other methods of every path that `routes` has so far. (Hono responds with 404.) */
export function refuseOtherMethods(routes: Hono<Env>): void {
  for (const [path, methods] of methodsByPath(routes)) {
    const headers = { Allow: methods.join(', ') };
    routes.all(path, (c) => json(c, { message: 'Method Not Allowed' }, 405, headers));
  }
}
