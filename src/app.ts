// Assembles the service from its middleware and routes.
import type { ExecutionContext } from 'hono';
import { getPath } from 'hono/utils/url';
import type { Bindings, Clock, Log } from './env.ts';
import { CONSOLE_PATH, consolePage } from './http/console-page.ts';
import { notFound, onError } from './http/errors.ts';
import { logged } from './http/log.ts';
import { preflightFor } from './http/response.ts';
import { methodsOf, newRoutes, requireKnownParameters, withMethodNotAllowed } from './http/router.ts';
import { access } from './routes/access.ts';
import { alerts } from './routes/alerts.ts';
import { business } from './routes/business.ts';
import { database } from './routes/database.ts';
import { health } from './routes/health.ts';
import { openapi } from './routes/openapi.ts';
import { session } from './routes/session.ts';
import { totals } from './routes/totals.ts';
import { usage } from './routes/usage.ts';
import { user } from './routes/user.ts';

/**
 * Creates the service. Logs a line for each API request except preflights. `databaseClock` is the clock by which the
 * databases check deadlines. It differs from `clock` only in tests, which can set `clock` but not the clock of a database.
 */
export function createApp(clock: Clock, log: Log, databaseClock: Clock = clock) {
  const usageOnly = withMethodNotAllowed(usage);
  usageOnly.all('/*', notFound); // `usage` is never a business id
  const api = newRoutes()
    .use(logged(clock, log, databaseClock))
    .notFound(notFound)
    .onError(onError)
    .route('/api/v1/business/usage', usageOnly)
    .route('/api/v1/business', withMethodNotAllowed(access))
    .route('/api/v1/business', withMethodNotAllowed(business))
    .route('/api/v1/usage', withMethodNotAllowed(totals))
    .route('/api/v1/alerts', withMethodNotAllowed(alerts))
    .route('/api/v1/database', withMethodNotAllowed(database))
    .route('/api/v1/user', withMethodNotAllowed(user))
    .route('/api/v1/session', withMethodNotAllowed(session))
    .route('/api/v1', withMethodNotAllowed(health()))
    .route('/api/v1', withMethodNotAllowed(openapi));

  requireKnownParameters(api.routes);
  const preflight = preflightFor(methodsOf(api.routes));
  function fetch(request: Request, bindings: Bindings, context: ExecutionContext): Response | Promise<Response> {
    if (getPath(request) === CONSOLE_PATH) return consolePage(request, bindings, log);
    return request.method === 'OPTIONS' ? preflight() : api.fetch(request, bindings, context);
  }
  return { fetch, api };
}

/** For Hono's client: `hc<AppType>('https://…')`. */
export type AppType = ReturnType<typeof createApp>['api'];
