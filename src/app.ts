// The table of contents: what every request passes through, and the routes.
import { Hono } from 'hono';
import { requestIdOf } from './core/request.ts';
import { noCost } from './db/batch.ts';
import type { Bindings, Env, Known } from './env.ts';
import { notAllowed, notFound, onError } from './http/errors.ts';
import { isFailure, type Log, lineOf } from './http/log.ts';
import { preflight } from './http/response.ts';
import { access } from './routes/access.ts';
import { openapi } from './routes/openapi.ts';
import { record } from './routes/record.ts';
import { report } from './routes/report.ts';

/** The service. `clock` tells the time; `log` takes one line for each that is no preflight. */
export function createApp(clock: () => Date, log: Log) {
  const api = new Hono<Env>()
    .onError(onError)
    .route('/api/v1/business/usage', report)
    .route('/api/v1/business/usage', record)
    .route('/api/v1/business', access)
    .route('/api/v1', openapi);
  const methods = methodsByPath(api);
  for (const [path, allowed] of methods) api.all(path, (c) => notAllowed(c.env.known, allowed));
  const isPath = patternOf([...methods.keys()]);

  async function fetch(request: Request, bindings: Bindings): Promise<Response> {
    if (request.method === 'OPTIONS') return preflight();
    const began = clock();
    const requestId = requestIdOf(request.headers.get('X-Request-Id'));
    const known: Known = {
      ...{ began, clock, now: began, body: '' },
      ...{ requestId, cost: noCost(), credential: null, call: null, error: null },
    };
    const answer = isPath.test(api.getPath(request))
      ? await api.fetch(request, { ...bindings, known })
      : notFound(known);
    const line = lineOf(known, answer.status, clock().getTime() - began.getTime());
    if (isFailure(answer.status)) log.error(line);
    else log.log(line);
    return answer;
  }
  return { fetch, api };
}

/** The methods of each path that has a route. */
function methodsByPath({ routes }: { routes: { method: string; path: string }[] }): Map<string, string[]> {
  const paths = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD'); // Hono answers it by the GET route
  }
  return new Map(Array.from(paths, ([path, methods]) => [path, [...methods]]));
}

/** Matches the paths that have a route, and no other. Hono's router knows them too, but takes long to find that it has none. */
function patternOf(paths: string[]): RegExp {
  const parts = paths.map((path) =>
    path.replaceAll('.', '\\.').replace(/:\w+(?:\{([^}]+)\})?/g, (_, rule = '[^/]+') => rule),
  );
  return new RegExp(`^(?:${parts.join('|')})$`);
}

/** For Hono's client: `hc<AppType>('https://…')`. */
export type AppType = ReturnType<typeof createApp>['api'];
