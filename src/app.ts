// The table of contents: what every request passes through, and the routes.
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { secureHeaders } from 'hono/secure-headers';
import { noCost } from './db/meter.ts';
import type { Env } from './env.ts';
import { notAllowed, notFound, onError } from './errors.ts';
import { limits } from './limits.ts';
import { type Log, lineOf } from './log.ts';
import { access } from './routes/access.ts';
import { openapi } from './routes/openapi.ts';
import { record } from './routes/record.ts';
import { report } from './routes/report.ts';

/** The service. `clock` tells the time at which a request begins; `log` takes one line for each that is no preflight. */
export function createApp(clock: () => Date, log: Log) {
  const app = new Hono<Env>();
  // Constant and public: what a page may do is said by the status of an answer, which it can always read.
  app.use(
    cors({
      origin: '*',
      allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
      allowHeaders: ['*', 'Authorization', 'Content-Type', 'Idempotency-Key'],
      exposeHeaders: ['Retry-After', 'X-Request-Id'],
      maxAge: 86_400,
    }),
  );
  app.use(requestId());
  app.use(async function begin(c, next) {
    const now = clock();
    c.set('now', now);
    c.set('cost', noCost());
    c.header('Cache-Control', 'no-store');
    await next();
    if (c.var.cost.round_trips > 0) c.header('Server-Timing', `d1;dur=${c.var.cost.ms}`);
    log(lineOf(c, clock().getTime() - now.getTime()));
  });
  app.use(
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      crossOriginResourcePolicy: 'cross-origin', // every answer is for other sites' pages to read
      crossOriginOpenerPolicy: false, // these and the following are about documents
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xFrameOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
  app.use(methodNotAllowed({ app, onMethodNotAllowed: notAllowed }));
  app.use('/api/v1/business/*', limits);
  app.notFound(notFound);
  app.onError(onError);
  return app
    .route('/api/v1/business/usage', report)
    .route('/api/v1/business/usage', record)
    .route('/api/v1/business', access)
    .route('/api/v1', openapi);
}

/** For Hono's client: `hc<AppType>('https://…')`. */
export type AppType = ReturnType<typeof createApp>;
