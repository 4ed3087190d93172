// The entry point of the Worker.
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

const clock = () => new Date();
const app = createApp(clock, log);

export default {
  fetch: app.fetch,
  scheduled: (controller, bindings) => runScheduled(controller, bindings, clock, log),
} satisfies ExportedHandler<Bindings>;
