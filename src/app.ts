// The table of contents: what every request passes through, and the routes.
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Env } from './env.ts';
import { notAllowed, notFound, onError } from './errors.ts';
import { access } from './routes/access.ts';
import { openapi } from './routes/openapi.ts';
import { record } from './routes/record.ts';
import { report } from './routes/report.ts';

/** The service. `clock` tells the time at which a request begins. */
export function createApp(clock: () => Date) {
  const app = new Hono<Env>();
  // Constant and public: what a page may do is said by the status of an answer, which it can always read.
  app.use(
    cors({
      origin: '*',
      allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
      allowHeaders: ['*', 'Authorization', 'Content-Type', 'Idempotency-Key'],
      exposeHeaders: ['Retry-After'],
      maxAge: 86_400,
    }),
  );
  app.use(methodNotAllowed({ app, onMethodNotAllowed: notAllowed }));
  app.use(async function begin(c, next) {
    c.set('now', clock());
    c.set('cost', { round_trips: 0, rows_read: 0, rows_written: 0 });
    c.header('Cache-Control', 'no-store');
    await next();
  });
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
