// /api/v1/health: whether the databases respond, which are large, and when the scheduled runs ended. Public, so results are cached for a few seconds.

import type { ContextOf, Env } from '../env.ts';
import { unavailable } from '../http/errors.ts';
import { publicAccess } from '../http/public.ts';
import { json } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import type { Health } from './description.ts';
import { probe } from './probe.ts';

const REUSE_MS = 5000;
/** An older result would hide a database that hangs. */
const MAX_AGE_MS = 2 * REUSE_MS;
/** Requests poll for the result, because one request cannot await another request's promise. */
const POLL_MS = 50;

/** Creates the route. An app's requests in one isolate share a cached result. */
export function health() {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let latest: Awaited<ReturnType<typeof probe>> | undefined;

  /** Lets one request query the databases. The other requests use the previous result, or wait if that result is missing or too old. */
  async function latestResult(c: ContextOf<Env>) {
    for (;;) {
      const now = c.get('clock')().getTime();
      if (now - askedAt >= REUSE_MS) {
        askedAt = now;
        const asking = probe(c.env, c.get('logEntry').d1).then((result) => {
          answeredAt = c.get('clock')().getTime();
          c.get('logEntry').d1.ms += answeredAt - now;
          latest = result;
        });
        c.executionCtx.waitUntil(asking); // other requests need the result even if this caller disconnects
        await asking;
      }
      if (latest !== undefined && c.get('clock')().getTime() - answeredAt < MAX_AGE_MS) return latest;
      await scheduler.wait(POLL_MS);
    }
  }

  return newRoutes().get('/health', publicAccess, async (c) => {
    const { faults, runs, large } = await latestResult(c);
    if (faults.length > 0) throw unavailable(new AggregateError(faults, `${faults.length} of the databases failed`));
    return json<Health>(c, {
      status: true,
      runs: { alerts: runs.alerts ?? null, purge: runs.purge ?? null },
      large_databases: large,
    });
  });
}
