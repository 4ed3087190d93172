// Help, options and errors of the command line, all derived from the service's schemas.
import { describe, expect, test } from 'vitest';
import { commandLineOf, UsageError } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { printed } from './stub.ts';

const helpOf = (...argv: string[]) => (commandLineOf(argv) as { help: string }).help;
const givenBy = (...argv: string[]) => (commandLineOf(argv) as { given: object }).given;

describe('help', () => {
  test.each(['', '--help', '-h', 'business --help', 'business burn --help'])('lists every command for "%s"', (line) => {
    const help = helpOf(...line.split(' ').filter((word) => word !== ''));
    for (const [usage, { summary }] of Object.entries(COMMANDS)) {
      expect(help).toContain(`\n  ${usage}`);
      expect(help).toContain(`\n      ${summary}\n`);
    }
  });

  test("for a command prints each option's rule in the service's words", () => {
    expect(helpOf('console-link', 'create', '--user', '7', '-h')).toBe(`npm run -s admin -- <command>

  console-link create --user 7 [--business 7] [--role …] [--minutes …] [--return-url …] [--as …] [--can-create-keys]
      Create a console link
      --user must be a positive whole number, such as 7
      --business must be a positive whole number, such as 7
      --role must be full or read
      --minutes must be a whole number from 1 to 1440
      --return-url must be an https URL (http only for localhost, 127.0.0.1 and [::1]) of at most 2000 characters, without credentials, spaces or control characters, or none
      --as must be one line of 1 to 64 characters with visible text, and without control characters or direction overrides
`);
  });

  test('for a command with two usages prints both', () => {
    expect(helpOf('changes', 'list', '--help')).toMatch(/^ {2}changes list --user 7$.*^ {2}changes list ID /ms);
  });
});

describe('values', () => {
  test('may start with a dash or be --help', () => {
    expect(givenBy('key', 'create', '--user=7', '--name=-x')).toEqual({ user_id: 7, name: '-x' });
    expect(givenBy('access', 'check', '1', '--', '--help')).toEqual({ ID: 1, ORIGIN: '--help' });
  });

  test('of `none` are null only if the field is nullable', () => {
    expect(givenBy('business', 'update', '1', '--daily-limit', 'none', '--name', 'none')).toEqual({
      ...{ ID: 1, daily_limit: null, name: 'none' },
    });
  });
});

describe('an invalid call is refused with one line per problem', () => {
  const ID = 'ID must be a positive whole number, such as 7';
  test.each<[name: string, argv: string[], message: string]>([
    ['an unknown command', ['business', 'burn'], 'Unknown command: business burn. See npm run -s admin -- --help'],
    ['an incomplete command', ['key'], 'Unknown command: key. See npm run -s admin -- --help'],
    ['a property inherited from Object', ['__proto__', 'constructor'], 'Unknown command: __proto__ constructor. See npm run -s admin -- --help'],
    ['an unknown option', ['key', 'list', '--owner', '7'], `Unknown option '--owner'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "--owner"`],
    ['a removed option', ['business', 'list', '--remote'], `Unknown option '--remote'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "--remote"`],
    ['a missing option', ['business', 'create', '--user', '7'], 'business create requires --name …'],
    ['an option without a value', ['key', 'list', '--user'], "Option '--user <value>' argument missing"],
    ['a value for a flag', ['usage', 'import', '1', 'a', '--replace=1'], "Option '--replace' does not take an argument"],
    ['a missing argument', ['business', 'status', '1'], 'Usage: business status ID STATUS'],
    ['an empty list', ['access', 'add', '1'], 'Usage: access add ID SITE…'],
    ['an extra argument', ['business', 'show', '1', '2'], 'Usage: business show ID'],
    ['too many arguments for either usage', ['alerts', 'list', '1', '2'], 'Usage: alerts list [--since 2026-01-31T12:00:00Z], or alerts list ID [--since 2026-01-31T12:00:00Z]'],
    ['an update without changes', ['business', 'update', '1'], expect.stringMatching(/^Usage: business update ID \[--user 7\] .* \[--alert-at 80\] \[--limits-from YYYY-MM-DD\]$/)],
    ...['', '0', '-1', '+1', '01', '1.0', '1e3', '0x1', ' 1', '1\n', '٣', '9007199254740992', '1/token', '..'].map(
      (id): [string, string[], string] => [`the id ${JSON.stringify(id)}`, ['business', 'show', '--', id], ID],
    ),
    ['an invalid id of a site', ['access', 'remove', '1', '--', ''], 'SITE_ID must be a positive whole number, such as 7'],
    ['an invalid user id', ['key', 'list', '--user=x'], '--user must be a positive whole number, such as 7'],
    ['an empty origin', ['access', 'check', '1', ''], 'ORIGIN must not be empty'],
    ['an invalid status', ['business', 'status', '1', 'Active'], 'STATUS must be active, suspended or closed'],
    ['a fractional limit', ['business', 'update', '1', '--daily-limit', '1.5'], '--daily-limit must be a whole number from 0 to 1000000000000, or none for no limit'],
    ['an invalid site', ['access', 'add', '1', 'https://a.example', 'b'], 'SITE… b must be an http or https URL, such as https://example.com'],
    ['an unknown slot', ['operator-key', 'create', '--slot', '5'], '--slot must be a number from 1 to 4, such as 2'],
    ['three invalid options', ['key', 'create', '--user', 'x', '--role', 'write', '--expires', '2096-02-30'], '--user must be a positive whole number, such as 7\n--role must be full, read, or record\n--expires must be today or a later date, in the format YYYY-MM-DD'],
  ])('%s', async (_, argv, message) => {
    const error = await printed({}, ...argv).catch((error) => error);
    expect(error).toBeInstanceOf(UsageError); // toThrow compares messages only
    expect(error.message).toEqual(message);
  }); // biome-ignore format: one row per line
});
