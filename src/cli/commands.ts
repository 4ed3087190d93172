// The operator's commands: what each takes and does.
import { readFile } from 'node:fs/promises';
import { addDays, dayOf } from '../core/time.ts';
import { checkOrigin } from './access.ts';
import { createBusiness, findBusiness, listBusinesses, rotateToken, updateBusiness } from './businesses.ts';
import type { Databases, Home } from './databases.ts';
import { UsageError } from './errors.ts';
import { importHistory, readHistory } from './history.ts';
import { claimToken, homeOf } from './homes.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { summaryOf } from './summary.ts';
import {
  database,
  duration,
  expiry,
  flag,
  type Given,
  id,
  line,
  status,
  text,
  token,
  url,
  type Values,
} from './values.ts';

type Spec<A extends Values, R extends Values, O extends Values> = {
  does: string;
  arguments?: A;
  /** Options, named after the columns they fill. */
  required?: R;
  optional?: O;
  run(databases: Databases, given: Given<A> & Given<R> & Partial<Given<O>>, now: Date): Promise<object>;
};
export type Command = Required<Spec<Values, Values, Values>>;

type None = Record<never, never>;
/** A command whose `run` gets its values with their types. */
const command = <A extends Values = None, R extends Values = None, O extends Values = None>(
  spec: Spec<A, R, O>,
): Command => ({ arguments: {}, required: {}, optional: {}, ...spec });

const ID = id('1');
const user_id = id('7');
const number = database('1');
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
const homeOfBusiness = (databases: Databases, id: number): Home => found(databases.holding(id), 'business');
const byId = (rows: { id: number }[][]) => rows.flat().sort((a, b) => a.id - b.id);

export const COMMANDS: Record<string, Command> = {
  'business create': command({
    does: 'creates a business with a new token, or with one from another system; --database chooses where a new user goes',
    required: fields,
    optional: { token: token('8f14e45fceea167a5a36dedd4bea2543'), database: number },
    async run(databases, { database, ...row }, now) {
      const home = await homeOf(databases, row.user_id, database);
      if (row.token !== undefined) await claimToken(databases, row.token, row.user_id, now);
      return { business: await createBusiness(home, row, now) };
    },
  }),
  'business list': command({
    does: 'lists all businesses, or those of one user',
    optional: { user_id },
    run: async (databases, given) => ({
      businesses: byId(await databases.each(({ db }) => listBusinesses(db, given.user_id))),
    }),
  }),
  'business show': command({
    does: 'shows a business',
    arguments: { ID },
    run: async (databases, { ID }) => ({
      business: found(await findBusiness(homeOfBusiness(databases, ID).db, ID), 'business'),
    }),
  }),
  'business update': command({
    does: 'changes the fields given',
    arguments: { ID },
    optional: fields,
    async run(databases, { ID, ...changes }, now) {
      if (Object.keys(changes).length === 0) throw new UsageError('business update needs a field to change');
      const { db, number } = homeOfBusiness(databases, ID);
      found(await findBusiness(db, ID), 'business');
      // The new owner must have the same home, or get it.
      if (changes.user_id !== undefined) await homeOf(databases, changes.user_id, number);
      return { business: found(await updateBusiness(db, ID, changes, now), 'business') };
    },
  }),
  'business status': command({
    does: 'sets the status: active, suspended or closed; the token works only while it is active',
    arguments: { ID, STATUS: status('suspended') },
    run: async (databases, { ID, STATUS }, now) => ({
      business: found(await updateBusiness(homeOfBusiness(databases, ID).db, ID, { status: STATUS }, now), 'business'),
    }),
  }),
  'business rotate-token': command({
    does: 'creates a new token; old tokens stop working at once, or with --keep-old the last one works that much longer',
    arguments: { ID },
    optional: { keep_old: duration('24h') },
    run: async (databases, { ID, keep_old }, now) => ({
      business: found(await rotateToken(homeOfBusiness(databases, ID), ID, now, keep_old), 'business'),
    }),
  }),
  'access check': command({
    does: 'says whether a page of this origin may use the token, and which entry allows it',
    arguments: { ID, ORIGIN: text('https://shop.example') },
    async run(databases, { ID, ORIGIN }, now) {
      const { db } = homeOfBusiness(databases, ID);
      return checkOrigin(db, found(await findBusiness(db, ID), 'business'), ORIGIN, now);
    },
  }),
  'usage import': command({
    does: 'imports a CSV file of date,count lines, for days before today: all lines or none; --replace overwrites counts',
    arguments: { ID, FILE: text('history.csv') },
    optional: { replace: flag },
    async run(databases, { ID, FILE, replace = false }, now) {
      const { db } = homeOfBusiness(databases, ID);
      found(await findBusiness(db, ID), 'business');
      return importHistory(db, ID, readHistory(await readFile(FILE, 'utf8'), dayOf(now)), replace);
    },
  }),
  'key create': command({
    does: 'creates an API key and prints it, this one time only; --database chooses where a new user goes',
    required: { user_id },
    optional: { name: line('"Billing server"'), expires_on: expiry('2027-01-31'), database: number },
    run: async (databases, { user_id, name = 'API key', expires_on = null, database }, now) =>
      createKey(await homeOf(databases, user_id, database), { user_id, name, expires_on }, now),
  }),
  'key list': command({
    does: 'lists the keys of a user, revoked and expired ones included',
    required: { user_id },
    run: async (databases, given) => ({
      keys: byId(await databases.each(({ db }) => listKeys(db, given.user_id))),
    }),
  }),
  'key revoke': command({
    does: 'revokes a key, from the next request on',
    arguments: { ID },
    run: async (databases, { ID }, now) => ({
      key: found(await revokeKey(found(databases.holding(ID), 'key').db, ID, now), 'key'),
    }),
  }),
  'database list': command({
    does: 'lists the databases: letter in credentials, name, region if known, bytes, businesses, and uses of yesterday (UTC)',
    run: async (databases, _, now) => ({
      databases: await databases.each((home) => summaryOf(home, addDays(dayOf(now), -1))),
    }),
  }),
};
