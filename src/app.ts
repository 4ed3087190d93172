// Assembles the service from its middleware and routes.
import type { ExecutionContext } from 'hono';
import type { HonoBase } from 'hono/hono-base';
import type { Schema } from 'hono/types';
import { getPath } from 'hono/utils/url';
import { routes as alerts } from './alerts/handlers.ts';
import { routes as business } from './business/handlers.ts';
import { routes as changes } from './changes/handlers.ts';
import { routes as databases } from './databases/handlers.ts';
import { health } from './databases/health.ts';
import type { Bindings, Clock, Env, Log } from './env.ts';
import { CONSOLE_PATH, consolePage } from './http/console-page.ts';
import { notFound, onError } from './http/errors.ts';
import { logged } from './http/log.ts';
import { openapi } from './http/openapi.ts';
import { preflightFor } from './http/response.ts';
import { methodsOf, newRoutes, withMethodNotAllowed } from './http/router.ts';
import { routes as keys } from './keys/handlers.ts';
import { RecentRefusals } from './memory/recent-refusals.ts';
import { UnstoredRefusals } from './memory/unstored-refusals.ts';
import { type All, API } from './operation.ts';
import type { ResourceName } from './operations.ts';
import { routes as sessions } from './sessions/handlers.ts';
import { routes as sites } from './sites/handlers.ts';
import { routes as tokens } from './tokens/handlers.ts';
import { routes as usage } from './usage/handlers.ts';
import { routes as users } from './users/handlers.ts';

/** The routes of each resource. Those of `usage` come first. */
const ROUTES = {
  usage,
  sites,
  business,
  tokens,
  changes,
  alerts,
  keys,
  users,
  sessions,
  databases,
} satisfies Record<ResourceName, object>;
/** Hono would infer these only from a chain of calls. */
type SchemaOf<Routes> = Routes extends HonoBase<Env, infer Own extends Schema, '/'> ? Own : never;
type AllSchemas = All<SchemaOf<(typeof ROUTES)[ResourceName]>>;

/**
 * Creates the service, which logs a line for each API request except preflights. `databaseClock` is the clock by which the
 * databases check deadlines. It differs from `clock` in tests and rehearsals, which can set `clock` but not the clock of a database.
 */
export function createApp(clock: Clock, log: Log, databaseClock: Clock = clock) {
  const recentRefusals = new RecentRefusals();
  const unstoredRefusals = new UnstoredRefusals();
  const routes = newRoutes()
    .use(logged(clock, log, databaseClock))
    .use((c, next) => {
      c.set('recentRefusals', recentRefusals);
      c.set('unstoredRefusals', unstoredRefusals);
      return next();
    })
    .notFound(notFound)
    .onError(onError)
    .route(API, withMethodNotAllowed(health()))
    .route(API, withMethodNotAllowed(openapi));
  for (const [name, own] of Object.entries(ROUTES)) {
    routes.route('/', own as never);
    if (name === 'usage') routes.all(`${API}/business/usage/*`, notFound); // `usage` is never a business id
  }
  const api = routes as unknown as HonoBase<Env, SchemaOf<typeof routes> & AllSchemas, '/'>;

  const preflight = preflightFor(methodsOf(api.routes));
  function fetch(request: Request, bindings: Bindings, context: ExecutionContext): Response | Promise<Response> {
    if (getPath(request) === CONSOLE_PATH) return consolePage(request, bindings, log);
    return request.method === 'OPTIONS' ? preflight() : api.fetch(request, bindings, context);
  }
  return { fetch, api };
}

/** For Hono's client: `hc<AppType>('https://…')`. */
export type AppType = ReturnType<typeof createApp>['api'];
