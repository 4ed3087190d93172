// /api/v1/health: whether the service and its databases respond, and when the scheduled runs ended. Public, so it asks the databases at most every few seconds.
import { probe } from '../db/health.ts';
import type { ContextOf, Env } from '../env.ts';
import { unavailable } from '../http/errors.ts';
import { openToAll } from '../http/public.ts';
import { json } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import type { Health } from '../wire/responses.ts';

const REUSE_MS = 5000;
/** Older results are not served, or they would hide a database that hangs. */
const MAX_AGE_MS = 2 * REUSE_MS;
/** How often a waiting request looks for the result. (It cannot await what another request awaits.) */
const POLL_MS = 50;

/** A factory, so that each app has its own result, which the requests of an isolate share. */
export function health() {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let latest: Awaited<ReturnType<typeof probe>> | undefined;

  /** One request asks the databases. Meanwhile the others get the previous result, or wait if there is none or it is too old. */
  async function latestResult(c: ContextOf<Env>) {
    for (;;) {
      const now = c.get('clock')().getTime();
      if (now - askedAt >= REUSE_MS) {
        askedAt = now;
        const asking = probe(c.env, c.get('logEntry').d1).then((result) => {
          answeredAt = c.get('clock')().getTime();
          latest = result;
        });
        c.executionCtx.waitUntil(asking); // a caller who leaves must not keep the result from the others
        await asking;
      }
      if (latest !== undefined && c.get('clock')().getTime() - answeredAt < MAX_AGE_MS) return latest;
      await scheduler.wait(POLL_MS);
    }
  }

  return newRoutes().get('/health', openToAll, async (c) => {
    const { faults, runs } = await latestResult(c);
    if (faults.length > 0) throw unavailable(new AggregateError(faults, `${faults.length} of the databases failed`));
    return json<Health>(c, { status: true, runs: { alerts: runs.alerts ?? null, purge: runs.purge ?? null } });
  });
}
