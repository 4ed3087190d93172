// The command line: help, options and mistakes, all taken from the schemas of the service.
import { describe, expect, test } from 'vitest';
import { commandLineOf, optionOf, UsageError } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { printed } from './stub.ts';

const helpOf = (...argv: string[]) => (commandLineOf(argv) as { help: string }).help;
const givenBy = (...argv: string[]) => (commandLineOf(argv) as { given: object }).given;

test.each([
  ...[
    ['user_id', '--user'],
    ['country_id', '--country'],
    ['business_id', '--business'],
    ['business_size', '--size'],
  ],
  ...[
    ['main_domain', '--main-domain'],
    ['keep_old', '--keep-old'],
    ['expires_on', '--expires'],
    ['name', '--name'],
  ],
  ...[
    ['id', '--id'],
    ['billing_day', '--billing-day'],
    ['alert_at', '--alert-at'],
  ],
])('the field %s is the option %s', (name, option) => {
  expect(optionOf(name as string)).toBe(option);
});

describe('help', () => {
  test.each(['', '--help', '-h', 'business --help', 'business burn --help'])('names every command for "%s"', (line) => {
    const help = helpOf(...line.split(' ').filter((word) => word !== ''));
    for (const [usage, { does }] of Object.entries(COMMANDS)) {
      expect(help).toContain(`\n  ${usage}`);
      expect(help).toContain(`\n      ${does}\n`);
    }
  });

  test('of a command has the rule of each option, in the words of the service', () => {
    expect(helpOf('console-link', 'create', '--user', '7', '-h')).toBe(`npm run -s admin -- <command>

  console-link create --user 7 [--business 7] [--role …] [--minutes …] [--return-url …]
      Creates a link that opens the console of a user once, within two minutes.
      --user must be a positive whole number, such as 7
      --business must be a positive whole number, such as 7
      --role must be full or read
      --minutes must be a whole number from 1 to 1440
      --return-url must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2000 characters, without credentials, spaces or control characters
`);
  });

  test('of words with two forms has both', () => {
    expect(helpOf('changes', 'list', '--help')).toMatch(/^ {2}changes list ID .*^ {2}changes list --user 7$/ms);
  });
});

describe('values', () => {
  test('can begin with a dash, or be --help', () => {
    expect(givenBy('key', 'create', '--user=7', '--name=-x')).toEqual({ user_id: 7, name: '-x' });
    expect(givenBy('access', 'check', '1', '--', '--help')).toEqual({ ID: 1, ORIGIN: '--help' });
  });

  test('are null for none, but only where a field can be null', () => {
    expect(givenBy('business', 'update', '1', '--daily-limit', 'none', '--name', 'none')).toEqual({
      ...{ ID: 1, daily_limit: null, name: 'none' },
    });
  });
});

describe('a wrong call is refused in clear lines', () => {
  const ID = 'ID must be a positive whole number, such as 7';
  test.each<[name: string, argv: string[], message: string]>([
    ['an unknown command', ['business', 'burn'], 'Unknown command: business burn. See npm run -s admin -- --help'],
    ['half a command', ['key'], 'Unknown command: key. See npm run -s admin -- --help'],
    ['a name of Object', ['__proto__', 'constructor'], 'Unknown command: __proto__ constructor. See npm run -s admin -- --help'],
    ['an unknown option', ['key', 'list', '--owner', '7'], `Unknown option '--owner'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "--owner"`],
    ['an option of former versions', ['business', 'list', '--remote'], `Unknown option '--remote'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "--remote"`],
    ['a missing option', ['business', 'create', '--user', '7'], 'business create needs --name …'],
    ['an option without a value', ['key', 'list', '--user'], "Option '--user <value>' argument missing"],
    ['a value for a flag', ['usage', 'import', '1', 'a', '--replace=1'], "Option '--replace' does not take an argument"],
    ['a missing argument', ['business', 'status', '1'], 'Usage: business status ID STATUS'],
    ['a list without an entry', ['access', 'add', '1'], 'Usage: access add ID SITE…'],
    ['an extra argument', ['business', 'show', '1', '2'], 'Usage: business show ID'],
    ['an option of the other form', ['alerts', 'list', '1', '2'], 'Usage: alerts list ID, or alerts list'],
    ['nothing to change', ['business', 'update', '1'], 'Usage: business update ID [--user 7] [--name …] [--main-domain …] [--site …] [--country 7] [--size …] [--status …] [--daily-limit …] [--monthly-limit …] [--billing-day …] [--overage …] [--alert-at 80]'],
    ...['', '0', '-1', '+1', '01', '1.0', '1e3', '0x1', ' 1', '1\n', '٣', '9007199254740992', '1/token', '..'].map(
      (id): [string, string[], string] => [`the id ${JSON.stringify(id)}`, ['business', 'show', '--', id], ID],
    ),
    ['an entry that is none', ['access', 'remove', '1', '--', ''], 'ENTRY_ID must be a positive whole number, such as 7'],
    ['a user that is none', ['key', 'list', '--user=x'], '--user must be a positive whole number, such as 7'],
    ['an empty origin', ['access', 'check', '1', ''], 'ORIGIN must not be empty'],
    ['a status', ['business', 'status', '1', 'Active'], 'STATUS must be active, suspended or closed'],
    ['a limit', ['business', 'update', '1', '--daily-limit', '1.5'], '--daily-limit must be a whole number from 0 to 1000000000000, or none for no limit'],
    ['a site', ['access', 'add', '1', 'https://a.example', 'b'], 'SITE… b must be an http or https URL, such as https://example.com'],
    ['a slot', ['operator-key', 'create', '--slot', '5'], '--slot must be a number from 1 to 4, such as 2'],
    ['all that is wrong', ['key', 'create', '--user', 'x', '--role', 'write', '--expires', '2096-02-30'], '--user must be a positive whole number, such as 7\n--role must be full, read, or record\n--expires must be today or a later day, written YYYY-MM-DD'],
  ])('%s', async (_, argv, message) => {
    await expect(printed({}, ...argv)).rejects.toThrow(new UsageError(message));
    await expect(printed({}, ...argv)).rejects.toBeInstanceOf(UsageError);
  }); // biome-ignore format: a row on a line
});
