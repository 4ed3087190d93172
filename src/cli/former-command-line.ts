// Parses the command line: help, or a command with its values and a database.
import { parseArgs } from 'node:util';
import { UsageError } from './errors.ts';
import { COMMANDS, type Command, type CommandName, isCommand } from './former-commands.ts';
import type { Where } from './open.ts';
import { directory, optionOf, readValue, type Values } from './values.ts';

export type CommandLine = { name: CommandName; given: Record<string, unknown>; where: Where };

const EVERYWHERE = {
  remote: { type: 'boolean', default: false },
  'persist-to': { type: 'string' },
  config: { type: 'string', short: 'c' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const HELP = `npm run admin -- <command> [--remote | --persist-to DIR] [--config FILE]

${Object.entries(COMMANDS)
  .map(([name, command]) => `  ${usageOf(name, command)}\n      ${command.does}`)
  .join('\n')}

Commands use the local databases. --remote uses the deployed ones; --persist-to DIR uses local ones in another directory.
--config FILE uses the databases of that configuration instead of wrangler.toml.
`;

/** Parses a command line. Throws UsageError if it is wrong. */
export function commandLineOf(argv: string[]): CommandLine | { help: string } {
  const [noun = '', verb = '', ...args] = argv;
  const name = `${noun} ${verb}`;
  if (!isCommand(name)) {
    if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) return { help: HELP };
    throw new UsageError(`Unknown command: ${name.trim()}. See npm run admin -- --help`);
  }
  const command: Command = COMMANDS[name];
  const { arguments: taken = {}, required = {}, optional } = command;
  const columns: Values = { ...required, ...optional };
  const { values, positionals } = parse(args, columns);
  if (values.help) return { help: `npm run admin -- ${usageOf(name, command)}\n${command.does}\n` };
  const persistTo = values['persist-to'];
  const where: Where = {
    remote: values.remote === true,
    'persist-to': persistTo === undefined ? undefined : readValue(directory, '--persist-to', `${persistTo}`),
    config: values.config as string | undefined,
  };
  if (where.remote && where['persist-to'] !== undefined) {
    throw new UsageError('Use either --persist-to (local databases) or --remote (the deployed ones), not both');
  }
  const names = Object.keys(taken);
  const isLeftOut = command.isOptional && positionals.length === 0;
  if (positionals.length !== names.length && !isLeftOut) {
    throw new UsageError(`${name} takes ${names.length === 0 ? 'no arguments, only options' : names.join(' and ')}`);
  }
  const given: Record<string, unknown> = {};
  for (const [argument, value] of isLeftOut ? [] : Object.entries(taken)) {
    given[argument] = readValue(value, argument, positionals.shift() ?? '');
  }
  for (const [column, value] of Object.entries(columns)) {
    const option = optionOf(column);
    const text = values[option];
    if (text !== undefined) given[column] = readValue(value, `--${option}`, `${text}`);
    else if (column in required) throw new UsageError(`${name} needs --${option} ${value.example}`);
  }
  return { name, given, where };
}

type Parsed = { values: Record<string, string | boolean | undefined>; positionals: string[] };

function parse(args: string[], columns: Values): Parsed {
  const own = Object.fromEntries(
    Object.entries(columns).map(([column, { isFlag }]) => {
      return [optionOf(column), { type: isFlag ? 'boolean' : 'string' } as const];
    }),
  );
  try {
    return parseArgs({ args, options: { ...own, ...EVERYWHERE }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.replaceAll('\n', ' '));
  }
}

function usageOf(name: string, { arguments: taken = {}, isOptional, required = {}, optional }: Command): string {
  const options = Object.entries({ ...required, ...optional }).map(([column, { example }]) => {
    const option = `--${optionOf(column)} ${example}`.trimEnd();
    return column in required ? option : `[${option}]`;
  });
  const names = Object.keys(taken).map((argument) => (isOptional ? `[${argument}]` : argument));
  return [name, ...names, ...options].join(' ');
}
