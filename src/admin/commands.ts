// The operator's commands: what each takes, and what it does.

import { isImportable } from '../core/credential.ts';
import { idOf } from '../core/policy.ts';
import { dayOf, isDay } from '../core/time.ts';
import type { Database } from '../db/queries.ts';
import { createBusiness, findBusiness, listBusinesses, rotateToken, updateBusiness } from './businesses.ts';
import { describe } from './database.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';

/** The operator asked for something that cannot be: one line, exit code 2. */
export class UsageError extends Error {}
/** It was asked rightly and could not be done: one line, exit code 1. */
export class Failure extends Error {}

/** How an option is read: the value, or UsageError. */
type Reader = (text: string, option: string) => unknown;
type Option = { read: Reader; shows: string; required?: boolean };
export type Command = {
  /** Its words and arguments, as one types them. */
  usage: string;
  does: string;
  arguments: Record<string, Reader>;
  options: Record<string, Option>;
  // biome-ignore lint/suspicious/noExplicitAny: read by the readers above, one for each name
  run: (db: Database, values: any, now: Date) => Promise<object>;
};

const id: Reader = (text, option) => {
  const value = idOf(text);
  if (value === null) throw new UsageError(`${option} must be a positive integer, such as 7`);
  return value;
};
const words: Reader = (text, option) => {
  if (text.trim() === '' || /\p{Cc}/u.test(text)) throw new UsageError(`${option} must be a line of text`);
  return text.trim();
};
const url: Reader = (text, option) => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError(`${option} must be an http or https URL, such as https://acme.example`);
  }
  return text;
};
const importedToken: Reader = (text, option) => {
  if (!isImportable(text)) {
    throw new UsageError(`${option} must be 24 to 255 of A-Z a-z 0-9 . _ ~ + / = -, and not start with bua_`);
  }
  return text;
};
const expiry: Reader = (text, option) => {
  if (!isDay(text) || text < dayOf(new Date())) {
    throw new UsageError(`${option} must be a day that is not past, written YYYY-MM-DD`);
  }
  return text;
};

const fields = {
  user: { read: id, shows: '7' },
  name: { read: words, shows: 'Acme' },
  'main-domain': { read: words, shows: 'acme.example' },
  site: { read: url, shows: 'https://acme.example' },
  country: { read: id, shows: '1' },
  size: { read: words, shows: 'small' },
} satisfies Record<string, Option>;
const required = <T extends Record<string, Option>>(options: T) =>
  Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, required: true }]));
const user = { user: fields.user };

// biome-ignore lint/suspicious/noExplicitAny: the values of `fields`
const columns = (values: any) => ({
  user_id: values.user,
  name: values.name,
  main_domain: values['main-domain'],
  site: values.site,
  country_id: values.country,
  business_size: values.size,
});

function found<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw new Failure(`There is no ${what} with that id.`);
  return row;
}

export const COMMANDS: Record<string, Command> = {
  'business create': {
    usage: 'business create',
    does: 'makes a business with a new token, or with one imported from the system before this one',
    arguments: {},
    options: { ...required(fields), token: { read: importedToken, shows: 'T' } },
    async run(db, values, now) {
      try {
        return { business: await createBusiness(db, { ...columns(values), token: values.token }, now) };
      } catch (error) {
        if (!describe(error).includes('UNIQUE')) throw error;
        throw new Failure('Another business has that token.');
      }
    },
  },
  'business list': {
    usage: 'business list',
    does: 'lists all businesses, or those of one user',
    arguments: {},
    options: user,
    run: async (db, values) => ({ businesses: await listBusinesses(db, values.user) }),
  },
  'business show': {
    usage: 'business show ID',
    does: 'shows a business',
    arguments: { ID: id },
    options: {},
    run: async (db, values) => ({ business: found(await findBusiness(db, values.ID), 'business') }),
  },
  'business update': {
    usage: 'business update ID',
    does: 'changes the fields given',
    arguments: { ID: id },
    options: fields,
    async run(db, values, now) {
      const changes = Object.fromEntries(Object.entries(columns(values)).filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) throw new UsageError('business update needs a field to change');
      return { business: found(await updateBusiness(db, values.ID, changes, now), 'business') };
    },
  },
  'business status': {
    usage: 'business status ID STATUS',
    does: 'sets the status; with any other than active, the token is refused',
    arguments: { ID: id, STATUS: words },
    options: {},
    run: async (db, values, now) => ({
      business: found(await updateBusiness(db, values.ID, { status: values.STATUS }, now), 'business'),
    }),
  },
  'business rotate-token': {
    usage: 'business rotate-token ID',
    does: 'gives a new token at once; the old one is refused from then on',
    arguments: { ID: id },
    options: {},
    run: async (db, values, now) => ({ business: found(await rotateToken(db, values.ID, now), 'business') }),
  },
  'key create': {
    usage: 'key create',
    does: 'makes an API key and shows it, this one time',
    arguments: {},
    options: {
      ...required(user),
      name: { read: words, shows: '"Billing server"' },
      expires: { read: expiry, shows: '2027-01-31' },
    },
    run: (db, values, now) =>
      createKey(db, { user_id: values.user, name: values.name ?? 'API key', expires_on: values.expires ?? null }, now),
  },
  'key list': {
    usage: 'key list',
    does: 'lists the keys of a user, revoked and expired ones included',
    arguments: {},
    options: required(user),
    run: async (db, values) => ({ keys: await listKeys(db, values.user) }),
  },
  'key revoke': {
    usage: 'key revoke ID',
    does: 'revokes a key, from the next request on',
    arguments: { ID: id },
    options: {},
    run: async (db, values, now) => ({ key: found(await revokeKey(db, values.ID, now), 'key') }),
  },
};
