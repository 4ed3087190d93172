// npm run admin -- <command>: one JSON object on stdout; messages on stderr; 2 for a wrong call, 1 for one that failed.
import { Console } from 'node:console';
import { type Call, callOf } from './call.ts';
import { reasonOf, UsageError } from './errors.ts';

// wrangler says on stdout what it does.
globalThis.console = new Console(process.stderr);

try {
  const call = callOf(process.argv.slice(2));
  process.stdout.write('help' in call ? call.help : `${JSON.stringify(await resultOf(call))}\n`);
} catch (error) {
  const reason = reasonOf(error);
  const message = reason.includes('no such table')
    ? 'The database lacks a table: apply the migrations (npm run dev does it locally, npm run deploy remotely).'
    : reason;
  // What wrangler has started would keep the process alive.
  process.stderr.write(`${message}\n`, () => process.exit(error instanceof UsageError ? 2 : 1));
}

async function resultOf({ command, given, where }: Call) {
  // Loaded here: wrangler takes most of a second, for which help and refusals need not wait.
  const { withDatabase } = await import('./database.ts');
  return withDatabase(where, (db) => command.run(db, given, new Date()));
}
