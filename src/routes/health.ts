// /api/v1/health: whether the service and its databases respond. Public, so it asks the databases at most every few seconds.
import { faultsIn } from '../db/health.ts';
import type { ContextOf, Env } from '../env.ts';
import { unavailable } from '../http/errors.ts';
import { openToAll } from '../http/public.ts';
import { json } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import type { Health } from '../wire/responses.ts';

const REUSE_MS = 5000;
/** While a database is asked, an older outcome would hide that it hangs. */
const MAX_AGE_MS = 2 * REUSE_MS;
/** How often a request that came before the first outcome looks for it. (It cannot await what another request awaits.) */
const POLL_MS = 50;

/** With an outcome of its own, which the requests of an isolate share. */
export function health() {
  let asked = Number.NEGATIVE_INFINITY;
  let answered = Number.NEGATIVE_INFINITY;
  let outcome: Error[] | undefined;

  /** One request asks. Meanwhile the others get the outcome before, or wait if there is none or it is old. */
  async function currentOutcome(c: ContextOf<Env>): Promise<Error[]> {
    for (;;) {
      const now = c.get('clock')().getTime();
      if (now - asked >= REUSE_MS) {
        asked = now;
        const asking = faultsIn(c.env, c.get('logEntry').d1).then((faults) => {
          answered = c.get('clock')().getTime();
          outcome = faults;
        });
        c.executionCtx.waitUntil(asking); // a caller who leaves must not keep the outcome from the others
        await asking;
      }
      if (outcome !== undefined && c.get('clock')().getTime() - answered < MAX_AGE_MS) return outcome;
      await scheduler.wait(POLL_MS);
    }
  }

  return newRoutes().get('/health', openToAll, async (c) => {
    const faults = await currentOutcome(c);
    if (faults.length > 0) throw unavailable(new AggregateError(faults, `${faults.length} of the databases failed`));
    return json<Health>(c, { status: true });
  });
}
