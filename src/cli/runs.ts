// The operator's commands: what each runs. What it takes, and so the types of its values, is in commands.ts, under the same name.
import { readFile } from 'node:fs/promises';
import { OPERATOR_SECRETS } from '../core/operator.ts';
import { consoleUrl } from '../core/session.ts';
import { addDays, dayOf, rangeOf, rangeProblem } from '../core/time.ts';
import { businessInFull } from '../db/business.ts';
import { createConsoleLink } from '../db/console-links.ts';
import { createBusiness } from '../db/creation.ts';
import { deleteBusiness } from '../db/deletion.ts';
import { parseJson } from '../db/json.ts';
import { createKey } from '../db/keys.ts';
import { forgetDeleted, isDeleting } from '../db/purge.ts';
import type { Statement } from '../db/statement.ts';
import { requireHome, updateBusiness } from '../db/update.ts';
import { checkOrigin } from './access.ts';
import { listAlerts } from './alerts.ts';
import { findBusiness, listBusinesses, listEntries, rotateToken, stopFormerTokens } from './businesses.ts';
import { listChanges } from './changes.ts';
import { asking, type BoundDatabase, type Databases, eachOfOwners } from './databases.ts';
import { UsageError } from './errors.ts';
import type { CommandName, GivenTo } from './former-commands.ts';
import { importHistory, readHistory } from './history.ts';
import { listKeys, revokeKey } from './keys.ts';
import { createOperatorKey } from './operator-keys.ts';
import { summaryOf } from './summary.ts';
import { listTotals } from './totals.ts';

/** What a command prints. `failures` is not part of it: there are some if it lacks what is in a database that failed. */
type Result = { failures?: string[]; [name: string]: unknown };
/** The type of a method, which may declare `given` more narrowly than its caller knows it. commandLineOf has read it as declared. */
type Runner<G = Record<string, unknown>> = { run(databases: Databases, given: G, now: Date): Promise<Result> }['run'];

function found<T>(row: T | null | undefined, what: string): T {
  if (row === undefined || row === null) throw new Error(`There is no ${what} with that id.`);
  return row;
}
/** A business as commands show it beside its limits. */
const withLimits = ({ business, daily_limit, monthly_limit, billing_day }: RowOf<typeof businessInFull>) => ({
  business: parseJson(business),
  limits: { daily: daily_limit, monthly: monthly_limit, billing_day },
});
type RowOf<S> = S extends Statement<infer Row> ? Row : never;

const homeOfBusiness = (databases: Databases, id: number): BoundDatabase => found(databases.holding(id), 'business');
/** What is read from each database, under this name, in one list: database by database, or in `order`. */
async function listed<T>(
  databases: Databases,
  name: string,
  read: (database: BoundDatabase) => Promise<T[]>,
  order: (a: T, b: T) => number = () => 0,
) {
  const { values, failures } = await eachOfOwners(databases, read);
  return { [name]: values.flat().sort(order), ...(failures.length > 0 ? { failures } : {}) };
}

export const RUNS: Record<CommandName, Runner> = {
  async 'business create'(databases, { id, ...fields }, now) {
    const { business } = await createBusiness(databases.asking('create_business', now), fields, { id });
    return { business: parseJson(business) };
  },
  'business list': (databases, given) => listed(databases, 'businesses', ({ db }) => listBusinesses(db, given.user_id)),
  async 'business show'(databases, { ID }, now) {
    const { row } = await asking(homeOfBusiness(databases, ID), 'read_business', now, ID)(businessInFull);
    return { ...withLimits(row), former_tokens: parseJson(row.former_tokens) };
  },
  async 'business update'(databases, { ID, ...given }, now) {
    if (Object.keys(given).length === 0) throw new UsageError('business update needs a field to change');
    const home = homeOfBusiness(databases, ID);
    found(await findBusiness(home.db, ID), 'business'); // nobody gets a home for a business that is unknown
    if (given.user_id !== undefined)
      await requireHome(databases.asking('update_business', now), given.user_id, home.number);
    const { daily_limit, monthly_limit, ...others } = given;
    const limits = {
      daily_limit: daily_limit === 'none' ? null : daily_limit,
      monthly_limit: monthly_limit === 'none' ? null : monthly_limit,
    };
    return withLimits(await updateBusiness(asking(home, 'update_business', now, ID), { ...others, ...limits }));
  },
  async 'business delete'(databases, { ID, confirm }, now) {
    const home = homeOfBusiness(databases, ID);
    if (await isDeleting(home.db, ID)) {
      await forgetDeleted(home.db); // an earlier run was interrupted
      return { deleted: { id: ID, name: confirm } };
    }
    const business = found(await findBusiness(home.db, ID), 'business');
    if (confirm !== business.name) throw new UsageError(`--confirm must be the name of the business: ${business.name}`);
    await deleteBusiness(asking(home, 'delete_business', now, ID), confirm);
    await forgetDeleted(home.db);
    return { deleted: { id: ID, name: business.name } };
  },
  async 'business status'(databases, { ID, STATUS }, now) {
    const ask = asking(homeOfBusiness(databases, ID), 'update_business', now, ID);
    return { business: parseJson((await updateBusiness(ask, { status: STATUS })).business) };
  },
  'business rotate-token': async (databases, { ID, keep_old }, now) => ({
    business: found(await rotateToken(homeOfBusiness(databases, ID), ID, now, keep_old), 'business'),
  }),
  async 'business stop-former-tokens'(databases, { ID }, now) {
    const home = homeOfBusiness(databases, ID);
    const business = found(await findBusiness(home.db, ID), 'business');
    await stopFormerTokens(home, ID, now);
    return { business };
  },
  async 'access list'(databases, { ID }) {
    const { db } = homeOfBusiness(databases, ID);
    const business = found(await findBusiness(db, ID), 'business');
    return { business: { ...business, access_list: await listEntries(db, ID) } };
  },
  async 'access check'(databases, { ID, ORIGIN }, now) {
    const { db } = homeOfBusiness(databases, ID);
    return checkOrigin(db, found(await findBusiness(db, ID), 'business'), ORIGIN, now);
  },
  async 'changes list'(databases, { ID, user_id }) {
    if ((ID === undefined) === (user_id === undefined))
      throw new UsageError('changes list needs either ID or --user 7');
    if (ID !== undefined) {
      const { db } = homeOfBusiness(databases, ID);
      return { changes: await listChanges(db, { subject: 'business', subject_id: ID }) };
    }
    const subject = { subject: 'user', subject_id: user_id ?? 0 } as const;
    return listed(databases, 'changes', ({ db }) => listChanges(db, subject));
  },
  async 'alerts list'(databases, { ID }) {
    if (ID === undefined)
      return listed(
        databases,
        'alerts',
        ({ db }) => listAlerts(db),
        (a, b) => b.at.localeCompare(a.at),
      );
    const { db } = homeOfBusiness(databases, ID);
    found(await findBusiness(db, ID), 'business');
    return { alerts: await listAlerts(db, ID) };
  },
  async 'usage import'(databases, { ID, FILE, replace = false }, now) {
    const { db } = homeOfBusiness(databases, ID);
    found(await findBusiness(db, ID), 'business');
    return importHistory(db, ID, readHistory(await readFile(FILE, 'utf8'), dayOf(now)), replace, now);
  },
  async 'usage totals'(databases, given, now) {
    const range = rangeOf(given, dayOf(now));
    const problem = rangeProblem(range, given.to === undefined);
    if (problem !== null) throw new UsageError(`--from ${problem}`);
    return { ...range, ...(await listed(databases, 'usage', ({ db }) => listTotals(db, range, now))) };
  },
  async 'key create'(
    databases,
    {
      user_id,
      name = 'API key',
      expires_on = null,
      business_id,
      read_only,
      role = read_only ? 'read' : 'full',
      database,
    },
    now,
  ) {
    if (read_only && role !== 'read') throw new UsageError(`--read-only means --role read: leave out --role ${role}`);
    return createKey(databases.asking('create_key', now), { user_id, name, expires_on, business_id, role }, database);
  },
  'key list': (databases, given, now) => listed(databases, 'keys', ({ db }) => listKeys(db, given.user_id, now)),
  'key revoke': async (databases, { ID }, now) => ({
    key: found(await revokeKey(found(databases.holding(ID), 'key').db, ID, now), 'key'),
  }),
  async 'console-link create'(databases, { url, ...given }, now) {
    const asked = databases.asking('create_console_link', now);
    const { code, expires_at } = found(await createConsoleLink(asked, given, now), 'user');
    return { url: consoleUrl(url, code), expires_at };
  },
  'operator-key create': (_, { record = false, slot = OPERATOR_SECRETS[0] }) =>
    createOperatorKey(record ? 'record' : 'full', slot),
  'database list': (databases, _, now) =>
    listed(databases, 'databases', async (database) => [await summaryOf(database, addDays(dayOf(now), -1))]),
} satisfies { [N in CommandName]: Runner<GivenTo<N>> };
