// The table of contents: what every request passes through, and the routes.
import { Hono } from 'hono';
import { preflight } from './answer.ts';
import { requestIdOf } from './core/request.ts';
import { noCost } from './db/meter.ts';
import type { Env } from './env.ts';
import { notAllowed, notFound, onError } from './errors.ts';
import { type Log, lineOf } from './log.ts';
import { access } from './routes/access.ts';
import { openapi } from './routes/openapi.ts';
import { record } from './routes/record.ts';
import { report } from './routes/report.ts';

/** The service. `clock` tells the time at which a request begins; `log` takes one line for each that is no preflight. */
export function createApp(clock: () => Date, log: Log) {
  const app = new Hono<Env>();
  // A preflight is answered before everything else, and without any of it.
  const { fetch } = app;
  app.fetch = (request, ...rest) => (request.method === 'OPTIONS' ? preflight() : fetch(request, ...rest));
  app.use(async function begin(c, next) {
    const now = clock();
    c.set('now', now);
    c.set('cost', noCost());
    c.set('requestId', requestIdOf(c.req.header('X-Request-Id')));
    await next();
    log(lineOf(c, clock().getTime() - now.getTime()));
  });
  app.notFound(notFound);
  app.onError(onError);
  const routed = app
    .route('/api/v1/business/usage', report)
    .route('/api/v1/business/usage', record)
    .route('/api/v1/business', access)
    .route('/api/v1', openapi);
  for (const [path, methods] of methodsByPath(app)) app.all(path, (c) => notAllowed(c, methods));
  return routed;
}

/** The methods of each path that has a route. */
function methodsByPath({ routes }: { routes: { method: string; path: string }[] }): Map<string, string[]> {
  const paths = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    if (method === 'ALL') continue;
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD'); // Hono answers it by the GET route
  }
  return new Map(Array.from(paths, ([path, methods]) => [path, [...methods]]));
}

/** For Hono's client: `hc<AppType>('https://…')`. */
export type AppType = ReturnType<typeof createApp>;
