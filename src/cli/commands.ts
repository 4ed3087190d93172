// The operator's commands: what each takes and does.
import { readFile } from 'node:fs/promises';
import { dayOf } from '../core/time.ts';
import type { Database } from '../db/schema.ts';
import { checkOrigin } from './access.ts';
import { createBusiness, findBusiness, listBusinesses, rotateToken, updateBusiness } from './businesses.ts';
import { UsageError } from './errors.ts';
import { importHistory, readHistory } from './history.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { duration, expiry, flag, type Given, id, line, status, text, token, url, type Values } from './values.ts';

type Spec<A extends Values, R extends Values, O extends Values> = {
  does: string;
  arguments?: A;
  /** Options, named after the columns they fill. */
  required?: R;
  optional?: O;
  run(db: Database, given: Given<A> & Given<R> & Partial<Given<O>>, now: Date): Promise<object>;
};
export type Command = Required<Spec<Values, Values, Values>>;

type None = Record<never, never>;
/** A command whose `run` gets its values with their types. */
const command = <A extends Values = None, R extends Values = None, O extends Values = None>(
  spec: Spec<A, R, O>,
): Command => ({ arguments: {}, required: {}, optional: {}, ...spec });

const ID = id('1');
const user_id = id('7');
const fields = {
  user_id,
  name: line('Acme'),
  main_domain: line('acme.example'),
  site: url('https://acme.example'),
  country_id: id('1'),
  business_size: line('small'),
};

function found<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw new Error(`There is no ${what} with that id.`);
  return row;
}

export const COMMANDS: Record<string, Command> = {
  'business create': command({
    does: 'creates a business with a new token, or with one from another system',
    required: fields,
    optional: { token: token('8f14e45fceea167a5a36dedd4bea2543') },
    run: async (db, given, now) => ({ business: await createBusiness(db, given, now) }),
  }),
  'business list': command({
    does: 'lists all businesses, or those of one user',
    optional: { user_id },
    run: async (db, given) => ({ businesses: await listBusinesses(db, given.user_id) }),
  }),
  'business show': command({
    does: 'shows a business',
    arguments: { ID },
    run: async (db, given) => ({ business: found(await findBusiness(db, given.ID), 'business') }),
  }),
  'business update': command({
    does: 'changes the fields given',
    arguments: { ID },
    optional: fields,
    async run(db, { ID, ...changes }, now) {
      if (Object.keys(changes).length === 0) throw new UsageError('business update needs a field to change');
      return { business: found(await updateBusiness(db, ID, changes, now), 'business') };
    },
  }),
  'business status': command({
    does: 'sets the status: active, suspended or closed; the token works only while it is active',
    arguments: { ID, STATUS: status('suspended') },
    run: async (db, { ID, STATUS }, now) => ({
      business: found(await updateBusiness(db, ID, { status: STATUS }, now), 'business'),
    }),
  }),
  'business rotate-token': command({
    does: 'creates a new token; old tokens stop working at once, or with --keep-old the last one works that much longer',
    arguments: { ID },
    optional: { keep_old: duration('24h') },
    run: async (db, given, now) => ({
      business: found(await rotateToken(db, given.ID, now, given.keep_old), 'business'),
    }),
  }),
  'access check': command({
    does: 'says whether a page of this origin may use the token, and which entry allows it',
    arguments: { ID, ORIGIN: text('https://shop.example') },
    run: async (db, { ID, ORIGIN }, now) => checkOrigin(db, found(await findBusiness(db, ID), 'business'), ORIGIN, now),
  }),
  'usage import': command({
    does: 'imports a CSV file of date,count lines, for days before today: all lines or none; --replace overwrites counts',
    arguments: { ID, FILE: text('history.csv') },
    optional: { replace: flag },
    async run(db, { ID, FILE, replace = false }, now) {
      found(await findBusiness(db, ID), 'business');
      return importHistory(db, ID, readHistory(await readFile(FILE, 'utf8'), dayOf(now)), replace);
    },
  }),
  'key create': command({
    does: 'creates an API key and prints it, this one time only',
    required: { user_id },
    optional: { name: line('"Billing server"'), expires_on: expiry('2027-01-31') },
    run: (db, { user_id, name = 'API key', expires_on = null }, now) =>
      createKey(db, { user_id, name, expires_on }, now),
  }),
  'key list': command({
    does: 'lists the keys of a user, revoked and expired ones included',
    required: { user_id },
    run: async (db, given) => ({ keys: await listKeys(db, given.user_id) }),
  }),
  'key revoke': command({
    does: 'revokes a key, from the next request on',
    arguments: { ID },
    run: async (db, given, now) => ({ key: found(await revokeKey(db, given.ID, now), 'key') }),
  }),
};
