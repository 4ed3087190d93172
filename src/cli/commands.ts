// The operator's commands: what each takes and does.
import { readFile } from 'node:fs/promises';
import { addDays, dayOf } from '../core/time.ts';
import { checkOrigin } from './access.ts';
import {
  createBusiness,
  findBusiness,
  limitsOfBusiness,
  listBusinesses,
  listEntries,
  rotateToken,
  updateBusiness,
} from './businesses.ts';
import { listChanges } from './changes.ts';
import type { BoundDatabase, Databases } from './databases.ts';
import { deleteBusiness } from './deletion.ts';
import { UsageError } from './errors.ts';
import { importHistory, readHistory } from './history.ts';
import { claimToken, eachOfOwners, homeOf } from './homes.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { summaryOf } from './summary.ts';
import {
  database,
  duration,
  expiry,
  flag,
  type Given,
  id,
  limit,
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
  /** The arguments may be left out. */
  isOptional?: true;
  /** Options, named after the columns they fill. */
  required?: R;
  optional?: O;
  run(databases: Databases, given: Given<A> & Given<R> & Partial<Given<O>>, now: Date): Promise<object>;
};
export type Command = Required<Omit<Spec<Values, Values, Values>, 'isOptional'>> & { isOptional: boolean };

type None = Record<never, never>;
/** A command whose `run` gets its values with their types. */
const command = <A extends Values = None, R extends Values = None, O extends Values = None>(
  spec: Spec<A, R, O>,
): Command => ({ arguments: {}, required: {}, optional: {}, isOptional: false, ...spec });

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

function found<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw new Error(`There is no ${what} with that id.`);
  return row;
}
const homeOfBusiness = (databases: Databases, id: number): BoundDatabase => found(databases.holding(id), 'business');
const byId = (rows: { id: number }[][]) => rows.flat().sort((a, b) => a.id - b.id);

export const COMMANDS: Record<string, Command> = {
  'business create': command({
    does: 'creates a business with a new token, or with one from another system; --database chooses where a new user goes',
    required: fields,
    optional: { token: token('8f14e45fceea167a5a36dedd4bea2543'), database: databaseNumber },
    async run(databases, { database, ...row }, now) {
      // First: if the token is refused, the user has no home, which could not be changed. A claim of the token can be repeated.
      if (row.token !== undefined) await claimToken(databases, row.token, row.user_id, now);
      const home = await homeOf(databases, row.user_id, database);
      return { business: await createBusiness(home, row, now) };
    },
  }),
  'business list': command({
    does: 'lists all businesses, or those of one user',
    optional: { user_id },
    run: async (databases, given) => ({
      businesses: byId(await eachOfOwners(databases, ({ db }) => listBusinesses(db, given.user_id))),
    }),
  }),
  'business show': command({
    does: 'shows a business and its limits',
    arguments: { ID },
    async run(databases, { ID }) {
      const { db } = homeOfBusiness(databases, ID);
      return { business: found(await findBusiness(db, ID), 'business'), limits: await limitsOfBusiness(db, ID) };
    },
  }),
  'business update': command({
    does: 'changes the fields given; a limit is the most uses of a day or a month (UTC), or none',
    arguments: { ID },
    optional: { ...fields, daily_limit: limit('1000'), monthly_limit: limit('none') },
    async run(databases, { ID, ...given }, now) {
      if (Object.keys(given).length === 0) throw new UsageError('business update needs a field to change');
      const { db, number } = homeOfBusiness(databases, ID);
      found(await findBusiness(db, ID), 'business');
      // The new owner must have the same home, or get it.
      if (given.user_id !== undefined) await homeOf(databases, given.user_id, number);
      const { daily_limit, monthly_limit, ...changes } = given;
      const limits = {
        ...(daily_limit === undefined ? {} : { daily_limit: daily_limit === 'none' ? null : daily_limit }),
        ...(monthly_limit === undefined ? {} : { monthly_limit: monthly_limit === 'none' ? null : monthly_limit }),
      };
      const business = found(await updateBusiness(db, ID, { ...changes, ...limits }, now), 'business');
      return { business, limits: await limitsOfBusiness(db, ID) };
    },
  }),
  'business delete': command({
    does: 'deletes a business and all that is its own, for good; --confirm repeats its name',
    arguments: { ID },
    required: { confirm: line('Acme') },
    async run(databases, { ID, confirm }, now) {
      const home = homeOfBusiness(databases, ID);
      const business = found(await findBusiness(home.db, ID), 'business');
      if (confirm !== business.name)
        throw new UsageError(`--confirm must be the name of the business: ${business.name}`);
      await deleteBusiness(home, ID, now);
      return { deleted: { id: ID, name: business.name } };
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
  'access list': command({
    does: 'shows a business with its registered domains',
    arguments: { ID },
    async run(databases, { ID }) {
      const { db } = homeOfBusiness(databases, ID);
      const business = found(await findBusiness(db, ID), 'business');
      return { business: { ...business, access_list: await listEntries(db, ID) } };
    },
  }),
  'access check': command({
    does: 'says whether a page of this origin may use the token, and which entry allows it',
    arguments: { ID, ORIGIN: text('https://shop.example') },
    async run(databases, { ID, ORIGIN }, now) {
      const { db } = homeOfBusiness(databases, ID);
      return checkOrigin(db, found(await findBusiness(db, ID), 'business'), ORIGIN, now);
    },
  }),
  'changes list': command({
    does: 'lists who changed what of a business, newest first, or of the keys that a user has for all businesses',
    arguments: { ID },
    isOptional: true,
    optional: { user_id },
    async run(databases, given) {
      const { ID, user_id } = given as Partial<typeof given>;
      if ((ID === undefined) === (user_id === undefined))
        throw new UsageError('changes list needs either ID or --user 7');
      if (ID !== undefined) {
        const { db } = homeOfBusiness(databases, ID);
        return { changes: await listChanges(db, { subject: 'business', subject_id: ID }) };
      }
      const of = { subject: 'user', subject_id: user_id ?? 0 } as const;
      return { changes: (await eachOfOwners(databases, ({ db }) => listChanges(db, of))).flat() };
    },
  }),
  'usage import': command({
    does: 'imports a CSV file of date,count lines, for days before today: all lines or none; --replace overwrites counts',
    arguments: { ID, FILE: text('history.csv') },
    optional: { replace: flag },
    async run(databases, { ID, FILE, replace = false }, now) {
      const { db } = homeOfBusiness(databases, ID);
      found(await findBusiness(db, ID), 'business');
      return importHistory(db, ID, readHistory(await readFile(FILE, 'utf8'), dayOf(now)), replace, now);
    },
  }),
  'key create': command({
    does: 'creates an API key and prints it, this one time only; --business is for a key of one business, --database chooses where a new user goes',
    required: { user_id },
    optional: {
      name: line('"Billing server"'),
      expires_on: expiry('2027-01-31'),
      business_id: id('1'),
      read_only: flag,
      database: databaseNumber,
    },
    async run(databases, { user_id, name = 'API key', expires_on = null, business_id, read_only, database }, now) {
      if (business_id !== undefined) {
        const owned = await findBusiness(homeOfBusiness(databases, business_id).db, business_id);
        if (owned?.user_id !== user_id) throw new Error(`User ${user_id} has no business ${business_id}.`);
      }
      const home = await homeOf(databases, user_id, database);
      const key = { user_id, name, expires_on, business_id: business_id ?? null, read_only: read_only ?? false };
      return createKey(home, key, now);
    },
  }),
  'key list': command({
    does: 'lists the keys of a user, revoked and expired ones included',
    required: { user_id },
    run: async (databases, given) => ({
      keys: byId(await eachOfOwners(databases, ({ db }) => listKeys(db, given.user_id))),
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
      databases: await eachOfOwners(databases, (database) => summaryOf(database, addDays(dayOf(now), -1))),
    }),
  }),
};
