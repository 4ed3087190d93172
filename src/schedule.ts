// Starts the runs scheduled in wrangler.toml: alerts every minute, the purge every two minutes.
import { runAlerts } from './alerts/sending.ts';
import { foldDueLimits } from './business/due.ts';
import { SCHEDULES } from './core/schedule.ts';
import { formatTimestamp } from './core/time.ts';
import { recordEnd } from './databases/probe.ts';
import { noCost } from './db/batch.ts';
import { stackOf } from './db/stack.ts';
import { withTimeout } from './db/timeout.ts';
import type { Bindings, Clock, Log } from './env.ts';
import { purgeAll } from './purge.ts';

/** Folds due limits first, so that their alerts are sent in the same run. */
const alerts: typeof runAlerts = async (bindings, options) => {
  const { failed, statements } = await foldDueLimits(bindings, options);
  const did = await runAlerts(bindings, { ...options, used: statements });
  return { ...did, failed: [...new Set([...failed, ...did.failed])] };
};
const RUNS = { alerts, purge: purgeAll };
const RECORD_MS = 5000;

/**
 * Starts the run for a cron expression, stores its end time and logs the results. `scheduledTime` is when it was due, even if it starts late.
 * Throws if the expression is unknown or a database failed, so the platform reports a failed run.
 */
export async function runScheduled(
  { cron, scheduledTime }: Pick<ScheduledController, 'cron' | 'scheduledTime'>,
  bindings: Bindings,
  clock: Clock,
  log: Log,
): Promise<void> {
  const name = (['alerts', 'purge'] as const).find((name) => SCHEDULES[name] === cron);
  if (name === undefined)
    throw new Error(`unknown schedule ${cron}: it must be ${Object.values(SCHEDULES).join(' or ')}`);
  const scheduled = new Date(scheduledTime);
  const began = clock();
  const late_ms = began.getTime() - scheduled.getTime();
  const cost = noCost();
  const { failed, ...did } = await RUNS[name](bindings, { clock, log, scheduled, cost });
  const ended = clock();
  await withTimeout(recordEnd(bindings.DB, name, ended), RECORD_MS).catch((error: unknown) => {
    log.error({ operation: name, database: 'DB', error: stackOf(error) });
  });
  const version = bindings.VERSION?.id ?? null;
  const { ms: _, ...d1 } = cost;
  const ms = ended.getTime() - began.getTime();
  log.log({ operation: name, scheduled: formatTimestamp(scheduled), late_ms, ms, failed, ...did, d1, version });
  if (failed.length > 0) throw new Error(`${name}: ${failed.join(' and ')} failed`);
}
