// Starts the runs scheduled in wrangler.toml: alerts every minute, the purge every two minutes.
import { runAlerts } from './alerts/sending.ts';
import { type RunName, SCHEDULES } from './core/schedule.ts';
import { formatTimestamp } from './core/time.ts';
import { noCost } from './db/batch.ts';
import { recordEnd } from './db/health.ts';
import { stackOf } from './db/stack.ts';
import { withTimeout } from './db/timeout.ts';
import type { Bindings, Clock, Log } from './env.ts';
import { purgeAll } from './purge.ts';

const RUNS = { alerts: runAlerts, purge: purgeAll };
const RECORD_MS = 5000;

/**
 * Starts the run for a cron expression. An unknown expression starts all runs and logs an error, because changing an expression must never
 * stop a run. Runs use `scheduledTime`, the time at which they were due, even if they start late.
 */
export async function runScheduled(
  { cron, scheduledTime }: Pick<ScheduledController, 'cron' | 'scheduledTime'>,
  bindings: Bindings,
  clock: Clock,
  log: Log,
): Promise<void> {
  const names = ['alerts', 'purge'] as const;
  const due = names.filter((name) => SCHEDULES[name] === cron);
  if (due.length === 0) {
    const known = Object.values(SCHEDULES).join(' or ');
    log.error({ operation: 'schedule', cron, error: `The schedule must be ${known}. This one starts both runs.` });
  }
  const all = due.length === 0 ? names : due;
  const ended = await Promise.allSettled(all.map((name) => run(name, bindings, clock, log, new Date(scheduledTime))));
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}

/** Runs `name`, stores the end time and logs the results. Throws if a database failed, so the platform reports a failed run. */
async function run(name: RunName, bindings: Bindings, clock: Clock, log: Log, scheduled: Date): Promise<void> {
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
