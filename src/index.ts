// The Worker's entry.
import { createApp } from './app.ts';
import type { Bindings, Log } from './env.ts';
import { runScheduled } from './schedule.ts';

/** `npx wrangler dev` does not apply the migrations. Only the log says so: the cause of an error never reaches the caller. */
const log: Log = {
  log: (line) => console.log(JSON.stringify(line)),
  error(line) {
    console.error(JSON.stringify(line));
    const { error = '', database } = line as { error?: string; database?: string | null };
    if (!/no such (table|column)/.test(error)) return;
    console.error(
      `A table or a column is missing. Apply the migrations: npx wrangler d1 migrations apply ${database ?? 'DB'} --local for the local database, with --persist-to if wrangler dev has it; npm run deploy for the deployed one.`,
    );
  },
};

const clock = () => new Date();
const app = createApp(clock, log);

export default {
  fetch: app.fetch,
  scheduled: (controller, bindings) => runScheduled(controller, bindings, clock, log),
} satisfies ExportedHandler<Bindings>;
