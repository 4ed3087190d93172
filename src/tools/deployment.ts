// What a deployment does: it looks up every database by its name, and stops where one is not the one that it was (recognition.ts).
// Then it creates those that are missing, applies new migrations to each, marks those that have no mark, and uploads the Worker. It
// stops at the first step that fails, with an error of one line. wrangler.toml does not change.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { unstable_readConfig } from 'wrangler';
import { numberOf } from '../core/database.ts';
import { OPERATOR_SECRETS } from '../core/operator.ts';
import { ADDRESS_RULE, isAddress } from '../core/webhook.ts';
import { boundIn } from './configuration.ts';
import { deployOptions } from './deploy-options.ts';
import { isLoggedOut, LOGIN } from './login.ts';
import { placesIn } from './places.ts';
import { type Found, type Identity, markOf, problemWith } from './recognition.ts';

/** Runs wrangler: its output is only read, or shown, or shown and it may ask questions. */
export type Run = (
  words: string[],
  mode: 'read' | 'show' | 'ask',
) => {
  done: boolean;
  /** What was read. */
  stdout: string;
  /** With stderr. */
  output: string;
};
type Printer = Record<'log' | 'warn', (line: string) => void>;

const REFUSED_LIMITS = ['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT'];
/** What wrangler says of a Worker that is not deployed: the code is of Cloudflare's API. */
const NOT_DEPLOYED = /\[code: 10007\]|has no deployments/;

/** Deploys the project in `root` with the options of npm run deploy. Throws an error of one line where it stops. */
export function deploy(root: string, args: string[], wrangler: Run, { log, warn }: Printer): void {
  const { config, upload, worker, databases, missingLimits } = planOf(root, args);
  // Of every step the same: without it, wrangler would choose among files of several names.
  const run: Run = (words, mode) => wrangler([...words, '--config', config], mode);
  const failed = (message: string) =>
    new Error(isLoggedOut(wrangler(['whoami', '--json'], 'read').output) ? LOGIN : message);
  /** What a command of wrangler prints as JSON. */
  function read<T>(label: string, words: string[]): T {
    const { done, stdout, output } = run([...words, '--json'], 'read');
    if (!done) throw failed(`${label}: ${output}`);
    return JSON.parse(stdout);
  }
  /** The rows of the last of some statements. */
  function rowsOf<Row>({ label, binding }: { label: string; binding: string }, sql: string): Row[] {
    type Answer = { results: Row[] }[];
    return read<Answer>(label, ['d1', 'execute', binding, '--remote', '--command', sql]).at(-1)?.results ?? [];
  }

  /** The databases of the service that the deployed versions of the Worker use. None if it is not deployed. */
  function usedDatabases(): { binding: string; id: string }[] {
    const status = run(['deployments', 'status', '--json'], 'read');
    if (!status.done) {
      if (NOT_DEPLOYED.test(status.output)) return [];
      throw failed(`The Worker ${worker}: ${status.output}`);
    }
    const { versions } = JSON.parse(status.stdout) as { versions: { version_id: string }[] };
    return versions.flatMap(({ version_id }) => {
      type Version = { resources: { bindings: { type: string; name: string; id: string }[] } };
      const { resources } = read<Version>(`The Worker ${worker}`, ['versions', 'view', version_id]);
      const databases = resources.bindings.filter(({ type, name }) => type === 'd1' && numberOf(name) !== null);
      return databases.map(({ name, id }) => ({ binding: name, id }));
    });
  }

  if (missingLimits.length > 0)
    warn(
      `Warning: without a [[ratelimits]] block ${missingLimits.join(' and ')}, each refused origin is written to the database.`,
    );

  const listed = read<{ name: string; uuid: string }[]>('The databases', ['d1', 'list']);
  // Of a database that was deleted since, there is no name.
  const used = usedDatabases().map(({ binding, id }) => {
    return { binding, name: listed.find(({ uuid }) => uuid === id)?.name };
  });
  let homes: number[] = [];
  const found = databases.map((database): Found => {
    const { number, name, label, binding } = database;
    const exists = listed.some((other) => other.name === name);
    const live = used.filter((other) => other.binding === binding);
    const tables = exists ? rowsOf<{ name: string }>(database, TABLES).map(({ name }) => name) : [];
    const [state] = tables.includes('businesses') ? rowsOf<State>(database, stateSql(tables)) : [];
    const { lastId = null, identity = null, homes: here = null } = state ?? {};
    if (number === 0 && here !== null) homes = JSON.parse(here);
    return {
      ...{ number, name, label, exists, tables, lastId, identity: identity && JSON.parse(identity) },
      live: live.length === 0 ? null : live.flatMap(({ name }) => name ?? []),
    };
  });
  const existing = used.flatMap(({ binding, name }) => (name === undefined ? [] : [{ binding, name }]));
  const problem = problemWith(found, homes, worker, existing);
  if (problem !== null) throw new Error(`${problem}: nothing was changed.`);

  const mark = markOf(found) ?? randomBytes(16).toString('hex');
  for (const [index, database] of databases.entries()) {
    const { number, binding, name, label, place } = database;
    if (found[index]?.exists) {
      if (place !== undefined) log(`${label} exists already, so its ${place.kind} does not change.`);
    } else {
      const where = place === undefined ? [] : [`--${place.kind}`, place.value];
      const made = run(['d1', 'create', name, ...where], 'read');
      if (!made.done) throw failed(`${label}: ${made.output}`);
      log(`Created the database ${label}${place === undefined ? '' : ` with ${place.kind} ${place.value}`}.`);
    }
    if (!run(['d1', 'migrations', 'apply', binding, '--remote'], 'show').done)
      throw failed(`The migrations of ${label} were not applied: nothing was uploaded.`);
    if (found[index]?.identity) continue;
    const own = { number, mark, worker };
    const [marked] = rowsOf<Identity>(database, markSql(own));
    // Two first deployments at once.
    if (JSON.stringify(marked) !== JSON.stringify(own))
      throw new Error(`${label} was marked by another deployment at the same time: nothing was uploaded.`);
  }
  if (!run(['deploy', ...upload], 'ask').done) throw failed('wrangler deploy failed.');
  const secrets = run(['secret', 'list'], 'read');
  if (secrets.done && !OPERATOR_SECRETS.some((name) => secrets.stdout.includes(`"${name}"`))) log(NO_OPERATOR_KEY);
  log(PROOF);
}

const NO_OPERATOR_KEY =
  'The service has no operator key. With one, your servers can record for every business: npm run -s admin -- operator-key create --record';
const PROOF =
  'To see whether what is deployed keeps its promises, with an operator key of the role full: OPERATOR_KEY=… npm run verify -- URL';

/** Without the tables of D1 and SQLite. */
const TABLES =
  "select name from sqlite_master where type = 'table' and substr(name, 1, 4) <> '_cf_' and name not in ('d1_migrations', 'sqlite_sequence')";

type State = { lastId: number | null; identity: string | null; homes: string | null };

/** Reads what tells a database from others. A database of an earlier version lacks tables. */
function stateSql(tables: string[]): string {
  const from = (table: string, sql: string) => (tables.includes(table) ? `(${sql})` : 'null');
  return `select ${[
    `(select max(seq) from sqlite_sequence where name in ('businesses', 'access', 'api_keys')) as lastId`,
    `${from('identity', `select json_object('number', number, 'mark', mark, 'worker', worker) from identity`)} as identity`,
    `${from('homes', 'select json_group_array(distinct database) from homes')} as homes`,
  ].join(', ')}`;
}

/** Marks a database that has no mark. Returns the mark that it has. */
function markSql({ number, mark, worker }: Identity): string {
  const values = `${number}, '${mark}', '${worker}'`; // of a Worker's name, wrangler takes only letters, digits and dashes
  return `insert into identity (number, mark, worker) select ${values} where not exists (select 1 from identity); select number, mark, worker from identity`;
}

/** Reads the options and the configuration. What is wrong with them stops the deployment before anything is done. */
function planOf(root: string, args: string[]) {
  const { config: given, upload } = deployOptions(args);
  const own = resolve(root, 'wrangler.toml');
  const config = given === undefined ? own : resolve(root, given);
  const { bound, worker } = boundIn(config);
  if (!worker.name) throw new Error(`${config} gives the Worker no name.`);
  requireComplete(bound, resolve(root, 'migrations'));
  requireReceiver(config);
  const known = config === own ? bound : [...bound, ...boundIn(own).bound];
  const setting = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).config?.databases;
  const places = placesIn(
    setting,
    known.map(({ binding }) => binding),
  );
  return {
    config,
    upload,
    worker: worker.name,
    databases: bound.map((database) => {
      const { binding, name } = database;
      return { ...database, label: `${name} (${binding})`, place: places.get(binding) };
    }),
    missingLimits: missingLimitsIn(config),
  };
}

function requireComplete(bound: ReturnType<typeof boundIn>['bound'], folder: string): void {
  if (bound[0]?.number !== 0) throw new Error('The configuration binds no database DB.');
  const bindings = new Map<string, string>();
  for (const { binding, name, hasId, migrations } of bound) {
    if (name === '') throw new Error(`The database ${binding} has no database_name.`);
    if (hasId) throw new Error(`Remove database_id of ${binding}: a deployment finds the database by its name.`);
    const other = bindings.get(name);
    if (other !== undefined) throw new Error(`${other} and ${binding} have the same database_name, ${name}.`);
    bindings.set(name, binding);
    if (migrations !== folder)
      throw new Error(`The migrations_dir of ${binding} is ${migrations}. It must be ${folder}.`);
  }
}

/** What is wrong with the receiver of alerts would else be seen in the log only. */
function requireReceiver(file: string): void {
  type Settings = { vars: Record<string, unknown>; services?: { binding: string }[] | undefined };
  const { vars, services }: Settings = unstable_readConfig({ config: file });
  const { ALERT_URL, ALERT_SECRET } = vars;
  if (ALERT_SECRET !== undefined)
    throw new Error('Remove ALERT_SECRET from [vars], and store it: npx wrangler secret put ALERT_SECRET');
  if (ALERT_URL === undefined) return;
  if (services?.some(({ binding }) => binding === 'ALERTS'))
    throw new Error('Remove ALERT_URL or the service ALERTS: alerts have one receiver.');
  if (typeof ALERT_URL !== 'string' || !isAddress(ALERT_URL)) throw new Error(`ALERT_URL ${ADDRESS_RULE}.`);
}

/** Without these limits the deployment goes on, but whoever sends refused origins makes the service write. */
function missingLimitsIn(file: string): string[] {
  // Its type here, because the Worker's tests do not see wrangler's.
  const { ratelimits }: { ratelimits: { name: string }[] } = unstable_readConfig({ config: file });
  return REFUSED_LIMITS.filter((limit) => !ratelimits.some(({ name }) => name === limit));
}
