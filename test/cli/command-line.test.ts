import { describe, expect, test } from 'vitest';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { UsageError } from '../../src/cli/errors.ts';

const HERE = { remote: false, 'persist-to': undefined, config: undefined };
const ACME = [
  ...['--user', '7', '--name', 'Acme', '--main-domain', 'acme.example'],
  ...['--site', 'https://acme.example', '--country', '1', '--size', 'small'],
];
const FIELDS = '--user 7 --name Acme --main-domain acme.example --site https://acme.example --country 1 --size small';
/** Of each command: how it is called, and what it does. */
const HELP_OF: Record<string, [usage: string, does: string]> = {
  'business create': [
    `business create ${FIELDS} [--token 8f14e45fceea167a5a36dedd4bea2543] [--id 1000] [--database 1]`,
    'creates a business with a new token, or with the token and the id of another system; --database chooses where a new user goes',
  ],
  'business list': ['business list [--user 7]', 'lists all businesses, or those of one user'],
  'business show': ['business show ID', 'shows a business and its limits'],
  'business update': [
    'business update ID [--user 7] [--name Acme] [--main-domain acme.example] [--site https://acme.example] [--country 1] [--size small] [--daily-limit 1000] [--monthly-limit none] [--billing-day 15]',
    'changes the fields given; a limit is the most uses of a day or a month (UTC), or none, and the month begins on the billing day',
  ],
  'business delete': [
    'business delete ID --confirm Acme',
    'permanently deletes a business and everything that belongs to it; --confirm repeats its name',
  ],
  'business status': [
    'business status ID STATUS',
    'sets the status: active, suspended or closed; the token works only while it is active',
  ],
  'business rotate-token': [
    'business rotate-token ID [--keep-old 24h]',
    'creates a new token; old tokens stop working at once, or with --keep-old the last one works that much longer',
  ],
  'business stop-former-tokens': [
    'business stop-former-tokens ID',
    'stops replaced tokens that still work, from the next request on; the token of the business stays',
  ],
  'access list': ['access list ID', 'shows a business with its registered domains'],
  'access check': [
    'access check ID ORIGIN',
    'says whether a page of this origin may use the token, and which entry allows it',
  ],
  'changes list': [
    'changes list [ID] [--user 7]',
    'lists who changed what of a business, newest first, or of the keys that a user has for all businesses',
  ],
  'alerts list': [
    'alerts list [ID]',
    'lists when a business used 80 % or all of a limit, newest first; without ID, of all businesses',
  ],
  'usage import': [
    'usage import ID FILE [--replace]',
    'imports a CSV file of date,count lines, for days before today: all lines or none; --replace overwrites counts',
  ],
  'usage totals': [
    'usage totals [--from 2026-01-01] [--to 2026-01-31]',
    'lists how many uses each business had, for an invoice run; without --from and --to, in the last 30 days (UTC)',
  ],
  'key create': [
    'key create --user 7 [--name "Billing server"] [--expires 2027-01-31] [--business 1] [--role record] [--read-only] [--database 1]',
    'creates an API key and prints it, this one time only; --business is for a key of one business, --role is full (the default), read or record, --database chooses where a new user goes',
  ],
  'key list': ['key list --user 7', 'lists the keys of a user, revoked and expired ones included'],
  'key revoke': ['key revoke ID', 'revokes a key, from the next request on'],
  'console-link create': [
    'console-link create --user 7 --url https://usage.example [--business 1] [--role read] [--minutes 60]',
    'creates a link that opens the console of a user once, within two minutes; --url is where the service is, and --minutes how long the session lasts',
  ],
  'operator-key create': [
    'operator-key create [--record] [--slot 2]',
    'creates a key for your own servers and prints it, this one time only, with the command that stores its hash; --record is for one that only records, and --slot for another one beside it',
  ],
  'database list': [
    'database list',
    'lists the databases: letter in credentials, name, region if known, bytes, businesses, and uses of yesterday (UTC)',
  ],
};
const LINES = Object.values(HELP_OF).map(([usage, does]) => `  ${usage}\n      ${does}\n`);
const HELP = `npm run admin -- <command> [--remote | --persist-to DIR] [--config FILE]

${LINES.join('')}
Commands use the local databases. --remote uses the deployed ones; --persist-to DIR uses local ones in another directory.
--config FILE uses the databases of that configuration instead of wrangler.toml.
`;

describe('help', () => {
  test.each(['', '--help', '-h', 'business --help', 'business burn --help'])(
    'names every command for "%s"',
    (words) => {
      expect(commandLineOf(words.split(' ').filter((word) => word !== ''))).toEqual({ help: HELP });
    },
  );

  test.each(Object.entries(HELP_OF))('tells how to call %s, whatever else is said', (name, [usage, does]) => {
    const help = `npm run admin -- ${usage}\n${does}\n`;
    expect(commandLineOf([...name.split(' '), '--help'])).toEqual({ help });
    expect(commandLineOf([...name.split(' '), 'x', '-h', 'y', '--remote'])).toEqual({ help });
  });
});

describe('a call', () => {
  test('gives each value to the column it fills', () => {
    const given = {
      user_id: 7,
      name: 'Acme',
      main_domain: 'acme.example',
      site: 'https://acme.example',
      country_id: 1,
      business_size: 'small',
    };
    expect(commandLineOf(['business', 'create', ...ACME])).toEqual({
      name: 'business create',
      given,
      where: HERE,
    });
    expect(commandLineOf(['business', 'update', ...ACME, '3'])).toEqual({
      name: 'business update',
      given: { ID: 3, ...given },
      where: HERE,
    });
  });

  test('takes values that start with a dash', () => {
    expect(commandLineOf(['key', 'create', '--user=7', '--name=-x', '--expires', '9999-12-31'])).toMatchObject({
      given: { user_id: 7, name: '-x', expires_on: '9999-12-31' },
    });
    expect(commandLineOf(['access', 'check', '1', '--', '--help'])).toMatchObject({
      given: { ID: 1, ORIGIN: '--help' },
    });
  });

  test('confirms a name as it is stored, even one that no business could be given now', () => {
    const confirm = ' \u202eAcme\n';
    expect(commandLineOf(['business', 'delete', '1', '--confirm', confirm])).toMatchObject({
      given: { ID: 1, confirm },
    });
  });

  test('is for the local databases, others elsewhere, or the deployed ones', () => {
    expect(commandLineOf(['business', 'list'])).toMatchObject({ where: HERE });
    expect(commandLineOf(['business', 'list', '--persist-to', 'a b'])).toMatchObject({
      where: { 'persist-to': 'a b' },
    });
    expect(commandLineOf(['business', 'list', '--config', 'b.toml'])).toMatchObject({ where: { config: 'b.toml' } });
    expect(commandLineOf(['business', 'list', '--remote'])).toMatchObject({
      where: { remote: true, 'persist-to': undefined },
    });
  });
});

describe('a wrong call is refused in one clear line', () => {
  const hint = `To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- `;
  const day = '--expires must be today or a later day, written YYYY-MM-DD, such as 2027-01-31';

  test.each<[string, string[], string]>([
    ['an unknown command', ['business', 'burn'], 'Unknown command: business burn. See npm run admin -- --help'],
    ['half a command', ['key'], 'Unknown command: key. See npm run admin -- --help'],
    [
      'a name of Object',
      ['__proto__', 'constructor'],
      'Unknown command: __proto__ constructor. See npm run admin -- --help',
    ],
    ['an unknown option', ['business', 'list', '--owner', '7'], `Unknown option '--owner'. ${hint}"--owner"`],
    ['an option of another command', ['key', 'revoke', '1', '--user', '7'], `Unknown option '--user'. ${hint}"--user"`],
    [
      'the token in an update',
      ['business', 'update', '1', '--token', 'x'],
      `Unknown option '--token'. ${hint}"--token"`,
    ],
    ['a missing option', ['business', 'create', '--user', '7'], 'business create needs --name Acme'],
    ['a missing user', ['key', 'list'], 'key list needs --user 7'],
    ['an option without a value', ['key', 'list', '--user'], "Option '--user <value>' argument missing"],
    ['a value for a flag', ['key', 'list', '--user', '7', '--remote=1'], "Option '--remote' does not take an argument"],
    [
      'a value that looks like an option',
      ['key', 'create', '--user', '7', '--name', '-x'],
      "Option '--name' argument is ambiguous. Did you forget to specify the option argument for '--name'? To specify an option argument starting with a dash use '--name=-XYZ'.",
    ],
    ['a missing argument', ['business', 'status', '1'], 'business status takes ID and STATUS'],
    ['an extra argument', ['business', 'show', '1', '2'], 'business show takes ID'],
    ['an argument where none is', ['key', 'list', '7'], 'key list takes no arguments, only options'],
    ['an id that is none', ['key', 'revoke', '01'], 'ID must be a positive integer, such as 1'],
    ['an empty id', ['business', 'show', ''], 'ID must be a positive integer, such as 1'],
    ['a user that is none', ['key', 'list', '--user=-7'], '--user must be a positive integer, such as 7'],
    ...['', 'Active', 'active ', 'suspend', 'on hold', '--help'].map((status): [string, string[], string] => [
      `the status ${JSON.stringify(status)}`,
      ['business', 'status', '1', '--', status],
      'STATUS must be active, suspended or closed',
    ]),
    [
      'a name of two lines',
      ['business', 'update', '1', '--name', 'a\nb'],
      '--name must have no control characters or overrides of direction, and be a line of 1 to 255 characters with visible text, such as Acme',
    ],
    [
      'a name that reads backwards',
      ['key', 'create', '--user', '7', '--name', '\u202eAcme'],
      '--name must have no control characters or overrides of direction, and be a line of 1 to 255 characters with visible text, such as "Billing server"',
    ],
    [
      'a site that is no URL',
      ['business', 'update', '1', '--site', 'acme.example'],
      '--site must be an http or https URL of at most 2048 characters, such as https://acme.example',
    ],
    [
      'a token of ours',
      ['business', 'create', ...ACME, '--token', `bua_pk_${'x'.repeat(33)}`],
      '--token must be 24 to 255 characters from A-Z a-z 0-9 . _ ~ + / = - and must not start with bua_, such as 8f14e45fceea167a5a36dedd4bea2543',
    ],
    ['a day that is none', ['key', 'create', '--user', '7', '--expires', '2096-02-30'], day],
    [
      'a role that there is not',
      ['key', 'create', '--user', '7', '--role', 'write'],
      '--role must be full, read or record',
    ],
    ['a day that is past', ['key', 'create', '--user', '7', '--expires', '2020-01-01'], day],
    ...['', ' '].map((directory): [string, string[], string] => [
      `the directory ${JSON.stringify(directory)}`,
      ['business', 'list', '--persist-to', directory],
      '--persist-to must name a directory, such as ./other',
    ]),
    [
      'no directory and the deployed databases',
      ['business', 'list', '--remote', '--persist-to='],
      '--persist-to must name a directory, such as ./other',
    ],
    [
      'two databases',
      ['business', 'list', '--remote', '--persist-to', 'elsewhere'],
      'Use either --persist-to (local databases) or --remote (the deployed ones), not both',
    ],
  ])('%s', (_, argv, line) => {
    expect(() => commandLineOf(argv)).toThrow(new UsageError(line));
  });
});
