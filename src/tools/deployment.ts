// Runs npm run deploy (docs/deploying.md): checks the configuration and its databases, applies the migrations, and runs wrangler deploy.
// Stops with a message at the first step that fails.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BINDINGS, bindingOf, otherDatabaseOf } from '../core/database.ts';
import { type Configuration, type ConfiguredDatabase, readConfiguration, repeatedId } from './configuration.ts';

/** Runs wrangler, and throws if it fails. `read` returns its output, `show` shows it, and `ask` also allows prompts. */
export type Wrangler = (args: string[], mode: 'read' | 'show' | 'ask') => string;

const NEXT =
  'To check the deployment, with an operator key (npm run -s admin -- operator-key create): OPERATOR_KEY=… npm run -s verify -- URL';
/** The options that the checks need, too. wrangler accepts both spellings of --dry-run. */
const OPTIONS = {
  config: { type: 'string', short: 'c' },
  env: { type: 'string', short: 'e' },
  'dry-run': { type: 'boolean' },
  dryRun: { type: 'boolean' },
} as const;

/** Deploys the project in `root`, and passes `args` on to wrangler deploy. Throws an error with a message for the user if a step fails. */
export function deploy(root: string, args: string[], wrangler: Wrangler, log: (line: string) => void): void {
  const { values } = parseArgs({ args, options: OPTIONS, strict: false });
  if (args.includes('--')) throw new Error('Use -- only once: npm run deploy -- --env staging');
  const isOn = (value: string | boolean | undefined) => value !== undefined && value !== 'false';
  const isDryRun = isOn(values['dry-run']) || isOn(values.dryRun);
  const textOf = (value: string | boolean | undefined) => {
    if (typeof value === 'boolean') throw new Error('--config and --env need a value.');
    return value;
  };
  const config = readConfiguration(resolve(root, textOf(values.config) ?? 'wrangler.toml'), textOf(values.env));
  requireIds(config);

  const { file, env, databases } = config;
  const run: Wrangler = (args, mode) => wrangler([...args, '--config', file, `--env=${env ?? ''}`], mode);
  const states = databases.map((database) => {
    const args = ['d1', 'execute', database.binding, '--remote', '--json', '--command'];
    return { database, ...readState((sql) => JSON.parse(JSON.parse(run([...args, sql], 'read'))[0].results[0].json)) };
  });
  const known = readdirSync(resolve(root, 'migrations'));
  for (const state of states) {
    const { binding, name, id, number } = state.database;
    const problem = problemWith(number, state, known) ?? conflictWith(state, states);
    if (problem !== null) throw new Error(`${binding} (${name}, ${id}) ${problem}. Nothing was changed.`);
  }
  for (const { binding } of isDryRun ? [] : databases) run(['d1', 'migrations', 'apply', binding, '--remote'], 'show');
  wrangler(['deploy', ...args], 'ask');
  if (!isDryRun) log(NEXT);
}

/** Throws unless DB is bound and each database has an id of its own. */
function requireIds({ file, databases }: Configuration): void {
  if (databases[0]?.number !== 0) throw new Error(`${file} does not bind the database DB.`);
  const missing = databases.find(({ id }) => !id);
  if (missing !== undefined)
    throw new Error(
      `${file} has no database_id for ${missing.binding}. Create the database with npx wrangler d1 create ${missing.name}, and add the id that it prints.`,
    );
  const id = repeatedId(file);
  if (id !== undefined) throw new Error(`${file} contains the database_id ${id} twice.`);
}

/** Whether the applied migrations are those of a version before 1.0.0-rc.1, whose tables are different. The first one had another name. */
const isSnapshot = (applied: string[]): boolean => applied.includes('0001_init.sql');

/** `migrations` lists the applied migrations, and `homes` the numbers of the databases with owners' data. */
type State = { tables: string[]; migrations: string[]; ids: (number | null)[]; homes: number[] };
type Found = State & { database: ConfiguredDatabase };

/** Lists all tables except D1's and SQLite's. */
const TABLES =
  "select json_group_array(name) as json from sqlite_master where type = 'table' and substr(name, 1, 4) <> '_cf_' and name not in ('sqlite_sequence', 'd1_migrations')";
const MIGRATIONS = 'select json_group_array(name) as json from d1_migrations';
/** Reads the lowest and the highest id. This and the next statement use index lookups only. */
const IDS = 'select json_array((select min(id) from businesses), (select max(id) from businesses)) as json';
const HOMES = `select json_group_array(value) as json from json_each('${JSON.stringify(BINDINGS.map((_, number) => number))}')
  where exists (select 1 from homes where database = value)`;

/** Reads only what the tables allow: the database can be empty, another application's, or one of an earlier version. */
function readState(query: <T>(sql: string) => T): State {
  const tables = query<string[]>(TABLES);
  const migrations = tables.includes('businesses') ? query<string[]>(MIGRATIONS) : [];
  if (migrations.length === 0 || isSnapshot(migrations)) return { tables, migrations, ids: [], homes: [] };
  return { tables, migrations, ids: query(IDS), homes: query(HOMES) };
}

/** Returns why a database cannot be used as `number` with the `known` migrations, as the rest of a sentence. Null if it can. */
function problemWith(number: number, { tables, migrations, ids }: State, known: string[]): string | null {
  if (tables.length > 0 && !tables.includes('businesses'))
    return `is not a database of this service: it contains the tables ${tables.join(', ')}`;
  if (isSnapshot(migrations))
    return 'was created by a version before 1.0.0-rc.1, which cannot be upgraded. Create a new database';
  const newer = migrations.filter((name) => !known.includes(name));
  if (newer.length > 0)
    return `has migrations that are missing from this checkout: ${newer.join(', ')}. Deploy the newer version`;
  const other = otherDatabaseOf(number, ids);
  return other === null ? null : `contains businesses of ${other}: their ids were swapped`;
}

/** Returns why a database does not fit the others, as the rest of a sentence. */
function conflictWith({ database: { number }, tables, homes }: Found, states: Found[]): string | null {
  const unbound = homes.filter((home) => !states.some(({ database }) => database.number === home));
  if (unbound.length > 0)
    return `assigns owners to ${unbound.map(bindingOf).join(', ')}, which the configuration does not bind`;
  const hasOwners = states.some(({ homes, ids }) => homes.includes(number) || (number === 0 && ids.some(Boolean)));
  return tables.length === 0 && hasOwners
    ? 'is empty, but owners have their data in it. Correct its database_id'
    : null;
}
