// What a deployment does: for each database, finds or creates it by its name and applies new migrations. Then it uploads the Worker.
// It stops at the first step that fails, with an error of one line. wrangler.toml does not change.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { unstable_readConfig } from 'wrangler';
import { boundIn } from '../cli/open.ts';
import { placesIn } from './places.ts';

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

const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.';
/** Options of wrangler deploy that would not do what one expects, because the databases are created and migrated before it. */
const NOT_PASSED_ON: Record<string, string> = {
  'dry-run': '--dry-run would still create and migrate the databases. To build only: npm run build',
  help: 'npm run deploy takes --config FILE, and the options of wrangler deploy except --env and --dry-run: npx wrangler deploy --help',
  env: '--env would upload with other databases than those that are migrated. Use a configuration of its own: --config FILE',
};
const REFUSED_LIMITS = ['REFUSED_ORIGIN_LIMIT', 'REFUSED_BUSINESS_LIMIT'];
const HOMES = 'select distinct database from homes order by database';

/** Deploys the project in `root` with the arguments of `wrangler deploy`. Throws an error of one line where it stops. */
export function deploy(root: string, args: string[], wrangler: Run, { log, warn }: Printer): void {
  const { config, databases, missingLimits } = planOf(root, args);
  const configArgs = config === undefined ? [] : ['--config', config];
  const run: Run = (words, mode) => wrangler([...words, ...configArgs], mode);
  const failed = (message: string) => {
    const loggedOut = /"loggedIn":\s*false/.test(wrangler(['whoami', '--json'], 'read').output);
    return new Error(loggedOut ? LOGIN : message);
  };

  if (missingLimits.length > 0)
    warn(
      `Warning: without a [[ratelimits]] block ${missingLimits.join(' and ')}, each refused origin is written to the database.`,
    );
  for (const { number, binding, name, place } of databases) {
    const label = `${name} (${binding})`;
    const found = run(['d1', 'info', name, '--json'], 'read');
    if (found.done) {
      if (place !== undefined) log(`${label} exists already, so its ${place.kind} does not change.`);
    } else {
      if (!found.output.includes("Couldn't find a D1 DB")) throw failed(`${label}: ${found.output}`);
      const where = place === undefined ? [] : [`--${place.kind}`, place.value];
      const made = run(['d1', 'create', name, ...where], 'read');
      if (!made.done) throw failed(`${label}: ${made.output}`);
      log(`Created the database ${label}${place === undefined ? '' : ` with ${place.kind} ${place.value}`}.`);
    }
    if (!run(['d1', 'migrations', 'apply', binding, '--remote'], 'show').done)
      throw failed(`The migrations of ${label} were not applied: nothing was uploaded.`);
    if (number !== 0) continue;
    // Stops where owners have their data in a database that is not bound: none may ever be taken away.
    const homes = run(['d1', 'execute', 'DB', '--remote', '--json', '--command', HOMES], 'read');
    if (!homes.done) throw failed(`${label}: ${homes.output}`);
    const bound = databases.map(({ number }) => number);
    const unbound = homesIn(homes.stdout).filter((home) => !bound.includes(home));
    if (unbound.length > 0) {
      const names = unbound.map((home) => `DB_${home}`).join(', ');
      throw new Error(
        `Owners have their data in ${names}, which the configuration does not bind: nothing was uploaded.`,
      );
    }
  }
  if (!wrangler(['deploy', ...args], 'ask').done) throw failed('wrangler deploy failed.');
}

/** Reads the configuration. What is wrong with it stops the deployment before anything is done. */
function planOf(root: string, args: string[]) {
  const { config, ...others } = parseArgs({
    args,
    options: {
      config: { type: 'string', short: 'c' },
      env: { type: 'string', short: 'e' },
      help: { type: 'boolean', short: 'h' },
    },
    strict: false, // the other options are wrangler's
  }).values;
  const refused = Object.keys(NOT_PASSED_ON).find((name) => others[name] !== undefined);
  if (refused !== undefined) throw new Error(NOT_PASSED_ON[refused]);
  if (config === true) throw new Error('--config needs a file.');
  const own = resolve(root, 'wrangler.toml');
  const file = config === undefined ? undefined : resolve(root, `${config}`);
  const { bound } = boundIn(file ?? own);
  requireComplete(bound, resolve(root, 'migrations'));
  const known = file === undefined ? bound : [...bound, ...boundIn(own).bound];
  const setting = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).config?.databases;
  const places = placesIn(
    setting,
    known.map(({ binding }) => binding),
  );
  return {
    config: file,
    databases: bound.map((database) => ({ ...database, place: places.get(database.binding) })),
    missingLimits: missingLimitsIn(file ?? own),
  };
}

function requireComplete(bound: ReturnType<typeof boundIn>['bound'], folder: string): void {
  if (bound[0]?.number !== 0) throw new Error('The configuration binds no database DB.');
  const bindings = new Map<string, string>();
  for (const { binding, name, migrations } of bound) {
    if (name === '') throw new Error(`The database ${binding} has no database_name.`);
    const other = bindings.get(name);
    if (other !== undefined) throw new Error(`${other} and ${binding} have the same database_name, ${name}.`);
    bindings.set(name, binding);
    if (migrations !== folder)
      throw new Error(`The migrations_dir of ${binding} is ${migrations}. It must be ${folder}.`);
  }
}

/** Without these limits the deployment goes on, but whoever sends refused origins makes the service write. */
function missingLimitsIn(file: string): string[] {
  // Its type here, because the Worker's tests do not see wrangler's.
  const { ratelimits }: { ratelimits: { name: string }[] } = unstable_readConfig({ config: file });
  return REFUSED_LIMITS.filter((limit) => !ratelimits.some(({ name }) => name === limit));
}

/** The databases in which owners have their data, by number. */
function homesIn(stdout: string): number[] {
  const [{ results }] = JSON.parse(stdout) as [{ results: { database: number }[] }];
  return results.map(({ database }) => database);
}
