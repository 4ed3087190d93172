// The Worker. Its entry points are index.ts and, for `npm run dev -- --now`, rehearsal.ts.
import { createApp } from './app.ts';
import type { Bindings, Log } from './env.ts';
import { runScheduled } from './schedule.ts';

/** Hints for fixing setup errors, by error pattern. They appear only in the log, because callers never see the cause of an error. */
const HINTS: [RegExp, (database: string) => string][] = [
  [
    /no such (table|column)|has no column named/,
    (database) =>
      `A table or a column is missing. If ${database} had data, check first that it is the same database. Then apply the migrations: npx wrangler d1 migrations apply ${database} --local for the local database, with --persist-to if wrangler dev has it; npm run deploy for the deployed one. If none is missing, this version is older than the tables.`,
  ],
  [
    /SQLITE_BUSY|database is locked|session commit token/,
    (database) => `If ${database} is a local database, another process has locked it.`,
  ],
];
const log: Log = {
  log: (line) => console.log(JSON.stringify(line)),
  error(line) {
    const { error = '', database } = line as { error?: string; database?: string | null };
    // The health check queries all databases, and its error names those that failed.
    const named = database ?? /\bDB(_\d+)?(?= failed)/.exec(error)?.[0] ?? 'DB';
    const hint = HINTS.find(([fault]) => fault.test(error))?.[1](named);
    console.error(JSON.stringify({ ...line, hint }));
  },
};

/** Returns a Worker whose clock is `ms` ahead of the platform's. The databases check deadlines by the platform's clock. */
export function workerAhead(ms: number) {
  const clock = () => new Date(Date.now() + ms);
  return {
    fetch: createApp(clock, log, () => new Date()).fetch,
    scheduled: ({ cron, scheduledTime }, bindings) =>
      runScheduled({ cron, scheduledTime: scheduledTime + ms }, bindings, clock, log),
  } satisfies ExportedHandler<Bindings>;
}
