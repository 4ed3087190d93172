// Runs npm run deploy (docs/deploying.md): checks the databases with an id, creates those without one, applies the migrations to each, and
// uploads the Worker. Stops with a message at the first step that fails.
import { readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BINDINGS, bindingOf, otherDatabaseOf } from '../core/database.ts';
import { isServiceName, SERVICE_NAME_RULE } from '../core/fields.ts';
import { ADDRESS_RULE, isAddress } from '../core/webhook.ts';
import { type Configuration, type ConfiguredDatabase, readConfiguration } from './configuration.ts';
import { idLines, repeatedId, writeDatabaseId } from './database-id.ts';
import { SNAPSHOT_SQL } from './snapshot.ts';

/** Runs wrangler. `read` captures its output, `show` shows it, and `ask` shows it and also allows prompts. */
export type Run = (
  args: string[],
  mode: 'read' | 'show' | 'ask',
) => {
  isDone: boolean;
  stdout: string;
  /** stdout and stderr. */
  output: string;
};
type Printer = Record<'log' | 'warn', (line: string) => void>;
/** The environment variables that every step uses. */
type Environment = {
  CI?: string | undefined;
  CLOUDFLARE_ACCOUNT_ID?: string | undefined;
  /** The Worker that Workers Builds uploads to, regardless of the configuration. */
  WRANGLER_CI_OVERRIDE_NAME?: string | undefined;
};

const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.';
const NEXT =
  'To check the deployment, with an operator key (npm run -s admin -- operator-key create): OPERATOR_KEY=… npm run -s verify -- URL';
const UNCHANGED = 'Nothing was changed.';

/**
 * Deploys the project in `root` with the arguments of npm run deploy. Throws an error with a message for the user if a step fails. Sets the
 * account in `environment`, so every step uses the same account.
 */
export function deploy(
  root: string,
  args: string[],
  wrangler: Run,
  { log, warn }: Printer,
  environment: Environment,
): void {
  const { isDryRun, isRollback, upload, ...options } = optionsOf(args);
  const config = readConfiguration(resolve(root, options.config ?? 'wrangler.toml'), options.env);
  const { file, env, databases } = config;
  const folder = resolve(root, 'migrations');
  requireValid(config, folder, environment);
  const added = databases.filter(({ id }) => id === null);
  const missingIds = `${basename(file)} has no database_id for ${added.map(({ binding }) => binding).join(', ')}.`;
  // CI would discard the edited file.
  if (added.length > 0 && !['', '0', 'false'].includes(environment.CI ?? ''))
    throw new Error(`${missingIds} Run npm run deploy on your own machine, and commit what it adds. ${UNCHANGED}`);
  const missing = REFUSED_LIMITS.filter((limit) => !config.ratelimits?.some(({ name }) => name === limit));
  if (missing.length > 0)
    warn(
      `Warning: without [[ratelimits]] for ${missing.join(' and ')}, every refused origin is written to the database.`,
    );

  const run: Run = (args, mode) => wrangler([...args, '--config', file, `--env=${env ?? ''}`], mode);
  /** Runs a wrangler command and parses its JSON output. */
  function read<T>(label: string, args: string[]): T {
    const { isDone, stdout, output } = run([...args, '--json'], 'read');
    const reasons = [...output.matchAll(/"text": "(.*)"/g)].map(([, text]) => text);
    if (!isDone) throw new Error(`${label}: ${reasons.join(' ') || output}`);
    return JSON.parse(stdout);
  }
  const account = accountOf(run(['whoami', '--json'], 'read'), config.account_id ?? environment.CLOUDFLARE_ACCOUNT_ID);
  environment.CLOUDFLARE_ACCOUNT_ID = account.id;
  log(`Account: ${account.label}. Worker: ${config.name}.`);

  const migrations = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const states = readStates(databases, read, isRollback ? null : migrations);
  if (added.length > 0) requireNewNames(added, read<Listed[]>('The databases', ['d1', 'list']), missingIds);

  // Detects unknown options and build errors before anything changes.
  const built = isDryRun ? null : run(['deploy', ...upload, '--dry-run'], 'read');
  if (built?.isDone === false) throw new Error(`${built.output.trim()}\n${UNCHANGED}`);

  for (const database of databases) {
    if (isDryRun) announce(database, states.get(database.number) ?? NEW, migrations, log);
    else prepare(database, config, run, log);
  }
  if (!run(['deploy', ...upload, ...(isDryRun ? ['--dry-run'] : [])], 'ask').isDone)
    throw new Error('wrangler deploy failed.');
  if (isDryRun) return;
  if (added.length > 0) log(`Commit ${file}: it now contains the ids of the new databases.`);
  log(NEXT);
}

type Read = <T>(label: string, args: string[]) => T;
type Listed = { name: string; uuid: string };

/**
 * Reads the state of each database that has an id. Throws if one is unusable. `migrations` lists the allowed migrations, or is null if all
 * are allowed.
 */
function readStates(databases: ConfiguredDatabase[], read: Read, migrations: string[] | null): Map<number, State> {
  const states = new Map<number, State>();
  for (const database of databases.filter(({ id }) => id !== null)) {
    const query = <Row>(sql: string) => {
      const args = ['d1', 'execute', database.binding, '--remote', '--command', sql];
      return read<[{ results: [Row] }]>(labelOf(database), args)[0].results[0];
    };
    const tables: string[] = JSON.parse(query<{ names: string }>(TABLES).names);
    const isCreated = tables.includes('businesses');
    if (isCreated && query<{ is_snapshot: number }>(SNAPSHOT_SQL).is_snapshot)
      throw new Error(
        `${labelOf(database)} was created by a version before 1.0.0-rc, which cannot be upgraded. Create a new database. ${UNCHANGED}`,
      );
    const state = isCreated ? query<State>(STATE) : NEW;
    const problem = problemWith(database, tables, state, databases, migrations ?? appliedIn(state));
    if (problem !== null) throw new Error(`${problem} ${UNCHANGED}`);
    states.set(database.number, state);
  }
  const lost = lostDatabase(databases, states);
  if (lost !== null) throw new Error(`${lost} ${UNCHANGED}`);
  return states;
}

/** Throws if a new database's name is already taken in the account. */
function requireNewNames(added: ConfiguredDatabase[], listed: Listed[], missingIds: string): void {
  const taken = added.flatMap(({ binding, name }) => {
    const found = listed.find((other) => other.name === name);
    return found === undefined ? [] : [`\n# ${binding}\n${idLines(binding, found.uuid)}`];
  });
  if (taken.length > 0)
    throw new Error(
      `${missingIds} The account already has databases with these names. If they belong to this service, add these lines to their blocks. If not, choose another database_name. ${UNCHANGED}\n${taken.join('\n')}`,
    );
}

/** Logs what `prepare` would do. */
function announce({ binding, name, id }: ConfiguredDatabase, state: State, migrations: string[], log: Printer['log']) {
  const applied = appliedIn(state);
  const pending = migrations.filter((migration) => !applied.includes(migration));
  if (id === null) log(`Would create the database ${name} (${binding}).`);
  if (pending.length > 0) log(`Would apply to ${binding}: ${pending.join(', ')}`);
}

/** Creates the database if it has no id, writes the id to the configuration, and applies the migrations. */
function prepare(
  { binding, name, id }: ConfiguredDatabase,
  { file, env }: Configuration,
  run: Run,
  log: Printer['log'],
) {
  if (id === null) {
    const created = run(['d1', 'create', name], 'read');
    const [uuid] = UUID.exec(created.stdout) ?? [];
    if (!created.isDone || uuid === undefined) throw new Error(`${binding} (${name}): ${created.output}`);
    log(`Created the database ${name} (${binding}).`);
    if (!writeDatabaseId(file, env, binding, uuid))
      throw new Error(
        `${file} could not be edited. Add these lines to the block of ${binding}, and run npm run deploy again:\n${idLines(binding, uuid)}`,
      );
  }
  if (!run(['d1', 'migrations', 'apply', binding, '--remote'], 'show').isDone)
    throw new Error(`The migrations of ${binding} were not applied. Nothing was uploaded.`);
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const REFUSED_LIMITS = ['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT'];
const labelOf = ({ binding, name, id }: ConfiguredDatabase): string => `${binding} (${name}, ${id})`;

const OPTIONS = {
  config: { type: 'string', short: 'c' },
  env: { type: 'string', short: 'e' },
  'dry-run': { type: 'boolean' },
  dryRun: { type: 'boolean' }, // wrangler accepts both spellings
  rollback: { type: 'boolean' },
} as const;

/** Parses the arguments. Passes unknown ones to the upload. */
function optionsOf(args: string[]) {
  const { values, tokens } = parseArgs({ args, options: OPTIONS, strict: false, tokens: true });
  const ours = tokens.flatMap((token) => {
    if (token.kind !== 'option' || !Object.hasOwn(OPTIONS, token.name)) return [];
    return token.inlineValue === false ? [token.index, token.index + 1] : [token.index];
  });
  const wrong = tokens.find(({ kind }) => kind === 'option-terminator');
  if (wrong !== undefined) throw new Error('Use -- only once: npm run deploy -- --env staging');
  const textOf = (value: string | boolean | undefined) => {
    if (typeof value === 'boolean') throw new Error('--config and --env need a value.');
    return value;
  };
  if (values.name !== undefined) throw new Error('Remove --name: two Workers would share the databases.');
  const isOn = (value: string | boolean | undefined) => value !== undefined && value !== 'false';
  return {
    config: textOf(values.config),
    env: textOf(values.env),
    isDryRun: isOn(values['dry-run']) || isOn(values.dryRun),
    isRollback: isOn(values.rollback),
    upload: args.filter((_, index) => !ours.includes(index)),
  };
}

/** Throws a one-line error if the configuration cannot be deployed. */
function requireValid(
  { file, name, databases, vars, services }: Configuration,
  folder: string,
  { WRANGLER_CI_OVERRIDE_NAME: built = name }: Environment,
): void {
  const requireThat = (isValid: boolean, otherwise: string) => {
    if (!isValid) throw new Error(`${otherwise} ${UNCHANGED}`);
  };
  requireThat(!!name, `${file} does not set the name of the Worker.`);
  requireThat(built === name, `This is a build of the Worker ${built}, but ${file} is for ${name}.`);
  requireThat(databases[0]?.number === 0, `${file} does not bind the database DB.`);
  for (const { binding, name, id, migrations } of databases) {
    requireThat(id !== '', `The database_id of ${binding} is empty.`);
    requireThat(name !== '', `${binding} has no database_name.`);
    requireThat(migrations === folder, `The migrations_dir of ${binding} is ${migrations}. It must be ${folder}.`);
  }
  const id = repeatedId(file);
  requireThat(id === undefined, `${file} contains the database_id ${id} twice.`);
  // Errors in these variables would otherwise appear only in the log.
  const { ALERT_URL: url, ALERT_SECRET: secret, SERVICE_NAME: called = '' } = vars;
  const isBound = services?.some(({ binding }) => binding === 'ALERTS') === true;
  requireThat(
    secret === undefined,
    'Remove ALERT_SECRET from [vars], and store it as a secret: npx wrangler secret put ALERT_SECRET.',
  );
  requireThat(!isBound || url === undefined, 'Remove ALERT_URL or the service ALERTS: alerts have one receiver.');
  requireThat(url === undefined || (typeof url === 'string' && isAddress(url)), `ALERT_URL ${ADDRESS_RULE}.`);
  requireThat(called === '' || isServiceName(called), `SERVICE_NAME ${SERVICE_NAME_RULE}.`);
}

/** Returns the account to deploy to: the chosen account, or the login's only account. */
function accountOf({ isDone, stdout, output }: ReturnType<Run>, chosen: string | undefined) {
  if (/"loggedIn":\s*false/.test(output)) throw new Error(LOGIN);
  // A token may lack permission to list accounts.
  if (!isDone && chosen === undefined) throw new Error(output);
  const accounts: { id: string; name: string }[] = isDone ? JSON.parse(stdout).accounts : [];
  const id = chosen ?? (accounts.length === 1 ? accounts[0]?.id : undefined);
  const list = accounts.map(({ id, name }) => `${id}  ${name}`).join('\n');
  if (id === undefined)
    throw new Error(`The login has several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of:\n${list}`);
  const name = accounts.find((account) => account.id === id)?.name;
  return { id, label: name === undefined ? id : `${name} (${id})` };
}

/** Lists all tables except D1's and SQLite's. */
const TABLES =
  "select json_group_array(name) as names from sqlite_master where type = 'table' and substr(name, 1, 4) <> '_cf_' and name not in ('sqlite_sequence', 'd1_migrations')";
/** `migrations` lists the applied migrations, and `homes` the numbers of the databases with owners. Both are JSON. */
type State = { migrations: string; first_id: number | null; last_id: number | null; homes: string };
const NEW: State = { migrations: '[]', first_id: null, last_id: null, homes: '[]' };
const appliedIn = ({ migrations }: State): string[] => JSON.parse(migrations);

/** Reads a State. It uses index lookups only. */
const STATE = `select (select json_group_array(name) from d1_migrations) as migrations, (select min(id) from businesses) as first_id,
  (select max(id) from businesses) as last_id, (select json_group_array(value)
    from json_each('${JSON.stringify(BINDINGS.map((_, number) => number))}') where exists (select 1 from homes where database = value)) as homes`;

/**
 * Returns the reason why a database cannot be used for its binding or with this version, or null if it can. `known` lists the allowed
 * migrations.
 */
function problemWith(
  database: ConfiguredDatabase,
  tables: string[],
  state: State,
  bound: ConfiguredDatabase[],
  known: string[],
): string | null {
  const label = labelOf(database);
  if (tables.length > 0 && !tables.includes('businesses'))
    return `${label} is not a database of this service: it contains the tables ${tables.join(', ')}.`;
  const newer = appliedIn(state).filter((name) => !known.includes(name));
  if (newer.length > 0)
    return `${label} has migrations that are missing from this checkout: ${newer.join(', ')}. Deploy the newer version. To go back on purpose: npm run deploy -- --rollback.`;
  const other = otherDatabaseOf(database.number, [state.first_id, state.last_id]);
  if (other !== null) return `${label} contains businesses of ${other}: their ids were swapped.`;
  const homes: number[] = JSON.parse(state.homes);
  const unbound = homes.filter((home) => !bound.some(({ number }) => number === home));
  if (unbound.length === 0) return null;
  return `Owners have their data in ${unbound.map(bindingOf).join(', ')}, which the configuration does not bind.`;
}

/** Returns an error message if a new database replaced one with owners' data, or null. */
function lostDatabase(databases: ConfiguredDatabase[], states: Map<number, State>): string | null {
  const isNew = ({ number }: ConfiguredDatabase) => (states.get(number) ?? NEW) === NEW;
  const homes: number[] = JSON.parse((states.get(0) ?? NEW).homes);
  const hasOwners = [...states.values()].some(({ first_id }) => first_id !== null);
  const lost = databases.find((one) => isNew(one) && (one.number === 0 ? hasOwners : homes.includes(one.number)));
  return lost === undefined
    ? null
    : `Owners have their data in ${lost.binding}, but its database_id is missing or names a new database.`;
}
