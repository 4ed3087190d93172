// npm run admin -- <command>: prints one JSON object on stdout and messages on stderr. Exits with 2 for a wrong command line, 1 for
// a command that failed.
import { Console } from 'node:console';
import { Conflict } from '../core/conflict.ts';
import { type CommandLine, commandLineOf } from './command-line.ts';
import { COMMANDS, type Command } from './commands.ts';
import { reasonOf, UsageError } from './errors.ts';
import { optionOf } from './values.ts';

// wrangler reports on stdout what it does.
globalThis.console = new Console(process.stderr);

try {
  const commandLine = commandLineOf(process.argv.slice(2));
  if ('help' in commandLine) process.stdout.write(commandLine.help);
  else await run(commandLine);
} catch (error) {
  const reason = error instanceof Conflict ? `--${optionOf(error.field)} ${error.rule}` : reasonOf(error);
  const message = reason.includes('no such table')
    ? 'A table is missing. Apply the migrations: npm run dev for the local database, with --persist-to if this command had it; npm run deploy for the deployed one.'
    : reason;
  // Processes that wrangler has started would keep this one alive.
  process.stderr.write(`${message}\n`, () => process.exit(error instanceof UsageError ? 2 : 1));
}

/** Prints the result. A database that failed is named on stderr, and the exit code is 1: the result lacks what is in it. */
async function run({ name, given, where }: CommandLine) {
  // Loaded late: wrangler and drizzle take most of a second to load, and help and errors need not wait for them.
  const [{ requireLocal, withDatabases, withoutDatabases }, { RUNS }] = await Promise.all([
    import('./open.ts'),
    import('./runs.ts'),
  ]);
  const { isOffline }: Command = COMMANDS[name];
  if (!where.remote && !isOffline) requireLocal(where);
  const { failures = [], ...result } = await (isOffline ? withoutDatabases : withDatabases)(where, (databases) =>
    RUNS[name](databases, given, new Date()),
  );
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (failures.length > 0) throw new Error(failures.join('; '));
}
