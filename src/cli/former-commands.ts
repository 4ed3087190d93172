// The operator's commands: what each does, in words, and what it takes. What it runs is in runs.ts, under the same name: help and
// errors of the command line need not wait until that is loaded.
import {
  billingDay,
  database,
  day,
  duration,
  expiry,
  flag,
  type Given,
  id,
  limit,
  line,
  linkRole,
  minutes,
  role,
  service,
  slot,
  status,
  text,
  token,
  url,
  type Values,
} from './values.ts';

export type Command = {
  does: string;
  arguments?: Values;
  /** The arguments may be left out. */
  isOptional?: true;
  /** It needs no database. */
  isOffline?: true;
  /** Options, named after the columns they fill. */
  required?: Values;
  optional?: Values;
};

const ID = id('1');
const user_id = id('7');
const databaseNumber = database('1');
const fields = {
  user_id,
  name: line('Acme'),
  main_domain: line('acme.example'),
  site: url('https://acme.example'),
  country_id: id('1'),
  business_size: line('small'),
};

export const COMMANDS = {
  'business create': {
    does: 'creates a business with a new token, or with the token and the id of another system; --database chooses where a new user goes',
    required: fields,
    optional: {
      token: token('8f14e45fceea167a5a36dedd4bea2543'),
      id: id('1000'),
      database: databaseNumber,
    },
  },
  'business list': {
    does: 'lists all businesses, or those of one user',
    optional: { user_id },
  },
  'business show': {
    does: 'shows a business and its limits',
    arguments: { ID },
  },
  'business update': {
    does: 'changes the fields given; a limit is the most uses of a day or a month (UTC), or none, and the month begins on the billing day',
    arguments: { ID },
    optional: { ...fields, daily_limit: limit('1000'), monthly_limit: limit('none'), billing_day: billingDay('15') },
  },
  'business delete': {
    does: 'permanently deletes a business and everything that belongs to it; --confirm repeats its name',
    arguments: { ID },
    // Not a line: a name that is stored may be older than the rules for one.
    required: { confirm: text('Acme') },
  },
  'business status': {
    does: 'sets the status: active, suspended or closed; the token works only while it is active',
    arguments: { ID, STATUS: status('suspended') },
  },
  'business rotate-token': {
    does: 'creates a new token; old tokens stop working at once, or with --keep-old the last one works that much longer',
    arguments: { ID },
    optional: { keep_old: duration('24h') },
  },
  'business stop-former-tokens': {
    does: 'stops replaced tokens that still work, from the next request on; the token of the business stays',
    arguments: { ID },
  },
  'access list': {
    does: 'shows a business with its registered domains',
    arguments: { ID },
  },
  'access check': {
    does: 'says whether a page of this origin may use the token, and which entry allows it',
    arguments: { ID, ORIGIN: text('https://shop.example') },
  },
  'changes list': {
    does: 'lists who changed what of a business, newest first, or of the keys that a user has for all businesses',
    arguments: { ID },
    isOptional: true,
    optional: { user_id },
  },
  'alerts list': {
    does: 'lists when a business used 80 % or all of a limit, newest first; without ID, of all businesses',
    arguments: { ID },
    isOptional: true,
  },
  'usage import': {
    does: 'imports a CSV file of date,count lines, for days before today: all lines or none; --replace overwrites counts',
    arguments: { ID, FILE: text('history.csv') },
    optional: { replace: flag },
  },
  'usage totals': {
    does: 'lists how many uses each business had, for an invoice run; without --from and --to, in the last 30 days (UTC)',
    optional: { from: day('2026-01-01'), to: day('2026-01-31') },
  },
  'key create': {
    does: 'creates an API key and prints it, this one time only; --business is for a key of one business, --role is full (the default), read or record, --database chooses where a new user goes',
    required: { user_id },
    optional: {
      name: line('"Billing server"'),
      expires_on: expiry('2027-01-31'),
      business_id: id('1'),
      role: role('record'),
      read_only: flag,
      database: databaseNumber,
    },
  },
  'key list': {
    does: 'lists the keys of a user, revoked and expired ones included',
    required: { user_id },
  },
  'key revoke': {
    does: 'revokes a key, from the next request on',
    arguments: { ID },
  },
  'console-link create': {
    does: 'creates a link that opens the console of a user once, within two minutes; --url is where the service is, and --minutes how long the session lasts',
    required: { user_id, url: service('https://usage.example') },
    optional: { business_id: id('1'), role: linkRole('read'), minutes: minutes('60') },
  },
  'operator-key create': {
    does: 'creates a key for your own servers and prints it, this one time only, with the command that stores its hash; --record is for one that only records, and --slot for another one beside it',
    optional: { record: flag, slot: slot('2') },
    isOffline: true,
  },
  'database list': {
    does: 'lists the databases: letter in credentials, name, region if known, bytes, businesses, and uses of yesterday (UTC)',
  },
} satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
export const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

type ValuesIn<C, Part extends keyof Command> = C extends Record<Part, infer V extends Values> ? Given<V> : unknown;
type ArgumentsOf<C> = C extends { isOptional: true } ? Partial<ValuesIn<C, 'arguments'>> : ValuesIn<C, 'arguments'>;
/** What a command is given: its values after reading, with their types. */
export type GivenTo<N extends CommandName, C = (typeof COMMANDS)[N]> = ArgumentsOf<C> &
  ValuesIn<C, 'required'> &
  Partial<ValuesIn<C, 'optional'>>;
