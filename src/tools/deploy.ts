// npm run deploy: for each database, finds or creates it by its name and applies new migrations. Then it uploads the Worker. It stops
// at the first step that fails. Arguments after `--` go to `wrangler deploy`; --config counts for every step. wrangler.toml does not
// change.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { unstable_readConfig } from 'wrangler';
import { boundIn } from '../cli/open.ts';
import { placesIn } from './places.ts';

const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.';
const REFUSED_LIMITS = ['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT'];
const HOMES = 'select distinct database from homes order by database';
const root = resolve(import.meta.dirname, '../..');
const args = process.argv.slice(2);

const { config, databases } = planned();
const configArgs = config === undefined ? [] : ['--config', config];

for (const { number, binding, name, place } of databases) {
  const label = `${name} (${binding})`;
  const found = wrangler(['d1', 'info', name, '--json', ...configArgs], 'pipe');
  if (!found.done) {
    if (!found.output.includes("Couldn't find a D1 DB")) fail(`${label}: ${found.output}`);
    const where = place === undefined ? [] : [`--${place.kind}`, place.value];
    const made = wrangler(['d1', 'create', name, ...where, ...configArgs], 'pipe');
    if (!made.done) fail(`${label}: ${made.output}`);
    console.log(`Created the database ${label}${place === undefined ? '' : ` with ${place.kind} ${place.value}`}.`);
  }
  if (!wrangler(['d1', 'migrations', 'apply', binding, '--remote', ...configArgs], 'inherit').done)
    fail(`The migrations of ${label} were not applied: nothing was uploaded.`);
  if (number === 0) requireHomes(label);
}
if (!wrangler(['deploy', ...args], 'inherit', 'inherit').done) fail('wrangler deploy failed.');

/** Reads the configuration. What is wrong with it stops the deployment before anything is done. */
function planned() {
  try {
    const { config } = parseArgs({
      args,
      options: { config: { type: 'string', short: 'c' } },
      strict: false, // the other options are wrangler's
    }).values;
    if (config === true) throw new Error('--config needs a file.');
    const file = config === undefined ? undefined : resolve(root, `${config}`);
    const { bound, file: read } = boundIn(file);
    requireComplete(bound);
    warnOfLimits(read);
    const known = file === undefined ? bound : [...bound, ...boundIn(undefined).bound];
    const setting = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).config?.databases;
    const places = placesIn(
      setting,
      known.map(({ binding }) => binding),
    );
    return { config: file, databases: bound.map((database) => ({ ...database, place: places.get(database.binding) })) };
  } catch (error) {
    return stop((error as Error).message);
  }
}

function requireComplete(bound: ReturnType<typeof boundIn>['bound']): void {
  if (bound[0]?.number !== 0) throw new Error('The configuration binds no database DB.');
  const bindings = new Map<string, string>();
  for (const { binding, name, migrations } of bound) {
    if (name === '') throw new Error(`The database ${binding} has no database_name.`);
    const other = bindings.get(name);
    if (other !== undefined) throw new Error(`${other} and ${binding} have the same database_name, ${name}.`);
    bindings.set(name, binding);
    const right = resolve(root, 'migrations');
    if (migrations !== right)
      throw new Error(`The migrations_dir of ${binding} is ${migrations}. It must be ${right}.`);
  }
}

/** Without these limits the deployment goes on, but whoever sends refused origins makes the service write. */
function warnOfLimits(file: string): void {
  // Its type here, because the Worker's tests do not see wrangler's.
  const { ratelimits }: { ratelimits: { name: string }[] } = unstable_readConfig({ config: file });
  const missing = REFUSED_LIMITS.filter((limit) => !ratelimits.some(({ name }) => name === limit));
  if (missing.length > 0)
    process.stderr.write(
      `Warning: without a [[ratelimits]] block ${missing.join(' and ')}, each refused origin is written to the database.\n`,
    );
}

/** Stops where owners have their data in a database that is not bound: none may ever be taken away. */
function requireHomes(label: string): void {
  const asked = wrangler(['d1', 'execute', 'DB', '--remote', '--json', '--command', HOMES, ...configArgs], 'pipe');
  if (!asked.done) fail(`${label}: ${asked.output}`);
  const [{ results }] = JSON.parse(asked.stdout) as [{ results: { database: number }[] }];
  const unbound = results.flatMap(({ database }) =>
    databases.some(({ number }) => number === database) ? [] : [`DB_${database}`],
  );
  if (unbound.length > 0)
    stop(
      `Owners have their data in ${unbound.join(', ')}, which the configuration does not bind: nothing was uploaded.`,
    );
}

/** Runs wrangler. Only the upload gets a terminal: the earlier steps must not ask questions. */
function wrangler(words: string[], stdio: 'pipe' | 'inherit', stdin: 'ignore' | 'inherit' = 'ignore') {
  const env = { ...process.env, WRANGLER_HIDE_BANNER: 'true' };
  const shell = process.platform === 'win32';
  const quoted = shell ? words.map((word) => `"${word}"`) : words;
  const run = spawnSync('wrangler', quoted, { cwd: root, env, shell, stdio: [stdin, stdio, stdio], encoding: 'utf8' });
  const stdout = run.stdout ?? '';
  return { done: run.status === 0, stdout, output: `${stdout}${run.stderr ?? ''}` };
}

function fail(message: string): never {
  const loggedOut = /"loggedIn":\s*false/.test(wrangler(['whoami', '--json'], 'pipe').output);
  return stop(loggedOut ? LOGIN : message);
}

function stop(message: string): never {
  process.stderr.write(`${message.trim()}\n`);
  process.exit(1);
}
