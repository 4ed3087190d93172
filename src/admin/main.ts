// npm run admin -- <command>: one JSON object on stdout; messages on stderr; 2 for a wrong call, 1 for one that failed.
import { parseArgs } from 'node:util';
import { COMMANDS, type Command, UsageError } from './commands.ts';
import { describe, withDatabase } from './database.ts';

const WHERE = {
  remote: { type: 'boolean', default: false },
  'persist-to': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function usageOf({ usage, options }: Command): string {
  const shown = Object.entries(options).map(([name, { shows, required }]) =>
    required ? `--${name} ${shows}` : `[--${name} ${shows}]`,
  );
  return [usage, ...shown].join(' ');
}

const HELP = `npm run admin -- <command> [--remote | --persist-to DIR]

${Object.values(COMMANDS)
  .map((command) => `  ${usageOf(command)}\n      ${command.does}`)
  .join('\n')}

The database is the local one; --remote: the deployed one; --persist-to DIR: a local one elsewhere.
`;

/** Reads the words behind the command's name: its arguments in order, and its options. */
function read(name: string, command: Command, args: string[]) {
  const options = Object.fromEntries(
    Object.keys(command.options).map((option) => [option, { type: 'string' as const }]),
  );
  let parsed: { values: Record<string, string | boolean | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({ args, options: { ...options, ...WHERE }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('\n')[0]);
  }
  const { values: given, positionals } = parsed;
  if (given.help) return null;
  if (given.remote && given['persist-to'] !== undefined) {
    throw new UsageError('--persist-to names a local database, --remote the deployed one: give one of them');
  }
  const names = Object.keys(command.arguments);
  if (positionals.length !== names.length) {
    throw new UsageError(`${name} takes ${names.length === 0 ? 'no arguments, only options' : names.join(' and ')}`);
  }
  const values: Record<string, unknown> = {};
  names.forEach((argument, index) => {
    values[argument] = command.arguments[argument]?.(positionals[index] as string, argument);
  });
  for (const [option, { read, required }] of Object.entries(command.options)) {
    const text = given[option];
    if (typeof text === 'string') values[option] = read(text, `--${option}`);
    else if (required) throw new UsageError(`${name} needs --${option}`);
  }
  return {
    values,
    where: { remote: given.remote === true, 'persist-to': given['persist-to'] as string | undefined },
  };
}

async function main(argv: string[]): Promise<void> {
  const [noun = '', verb = '', ...args] = argv;
  const name = `${noun} ${verb}`;
  const command = COMMANDS[name];
  if (command === undefined) {
    if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) {
      process.stdout.write(HELP);
      return;
    }
    throw new UsageError(`${name.trim()} is no command: see npm run admin -- --help`);
  }
  const call = read(name, command, args);
  if (call === null) process.stdout.write(`npm run admin -- ${usageOf(command)}\n${command.does}\n`);
  else console.log(JSON.stringify(await withDatabase(call.where, (db) => command.run(db, call.values, new Date()))));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const asked = error instanceof UsageError;
  const untold = describe(error).includes('no such table');
  const message = untold ? 'The database has no tables yet: start `npm run dev` once.' : (error as Error).message;
  process.stderr.write(`${message}\n`);
  process.exitCode = asked ? 2 : 1;
}
