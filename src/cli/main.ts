// npm run admin -- <command>: prints one JSON object on stdout and messages on stderr. Exits with 2 for a wrong command line, 1 for
// a command that failed.
import { Console } from 'node:console';
import { type Call, callOf } from './call.ts';
import { reasonOf, UsageError } from './errors.ts';

// wrangler reports on stdout what it does.
globalThis.console = new Console(process.stderr);

try {
  const call = callOf(process.argv.slice(2));
  process.stdout.write('help' in call ? call.help : `${JSON.stringify(await resultOf(call))}\n`);
} catch (error) {
  const reason = reasonOf(error);
  const message = reason.includes('no such table')
    ? 'A table is missing. Apply the migrations: run npm run dev for the local database, npm run deploy for the deployed one.'
    : reason;
  // Processes that wrangler has started would keep this one alive.
  process.stderr.write(`${message}\n`, () => process.exit(error instanceof UsageError ? 2 : 1));
}

async function resultOf({ command, given, where }: Call) {
  // Loaded late: wrangler takes most of a second to load, and help and errors need not wait for it.
  const { withDatabase } = await import('./database.ts');
  return withDatabase(where, (db) => command.run(db, given, new Date()));
}
