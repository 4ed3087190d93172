// Opens the databases for the operator: the local ones, or the deployed ones through remote bindings.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { drizzle } from 'drizzle-orm/d1';
import { getPlatformProxy, unstable_readConfig } from 'wrangler';
import { numberOf } from '../core/database.ts';
import { Databases, failingDatabase, metLock } from './databases.ts';
import { recognized } from './identity.ts';
import { isLoggedOut, LOGIN } from './login.ts';
import { requireDatabases, requireRoom } from './state.ts';

const CONFIG = resolve(import.meta.dirname, '../../wrangler.toml');
const LOCK_WAIT_MS = 10_000;

// Otherwise wrangler looks up the location of this machine.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';

export type Where = {
  remote?: boolean | undefined;
  'persist-to'?: string | undefined;
  /** Another configuration than wrangler.toml. */
  config?: string | undefined;
};

/** What we read of a configuration. Its type here, because the Worker's tests do not see wrangler's. */
type Config = {
  name?: string | undefined;
  account_id?: string | undefined;
  compatibility_date?: string | undefined;
  d1_databases: {
    binding: string;
    database_name?: string | undefined;
    database_id?: string | undefined;
    migrations_dir?: string | undefined;
  }[];
};

/** The databases that a configuration binds, by number. `name` is empty if it names none; `migrations` is the folder of theirs. */
export function boundIn(config: string | undefined) {
  const file = config === undefined ? CONFIG : resolve(config);
  const { name, account_id, compatibility_date, d1_databases } = configIn(file);
  const bound = d1_databases.flatMap(({ binding, database_name = '', database_id, migrations_dir = 'migrations' }) => {
    const number = numberOf(binding);
    if (number === null && /^db[-_]?\d+$/i.test(binding))
      throw new Error(`${file} binds a database as ${binding}. The names are DB, DB_1, DB_2, and so on up to DB_61.`);
    const migrations = resolve(dirname(file), migrations_dir);
    return number === null
      ? []
      : [{ number, binding, name: database_name, hasId: database_id !== undefined, migrations }];
  });
  bound.sort((a, b) => a.number - b.number);
  return { file, worker: { name, account_id, compatibility_date }, bound };
}

/** Reads a configuration. Fails with a line that says where it is wrong. */
function configIn(file: string): Config {
  try {
    return unstable_readConfig({ config: file });
  } catch (error) {
    const { message, location } = error as Error & { location?: { line: number } };
    if (location !== undefined) throw new Error(`${file}, line ${location.line}: ${message.replace(/\n.*/s, '')}`);
    // What can be read and is wrong: wrangler's first line names the file, and the others what is wrong in it.
    const [first, ...mistakes] = message.split('\n').map((line) => line.replace(/^[\s-]+/, ''));
    throw new Error(mistakes.length === 0 ? first : `${file}: ${mistakes.join(' ')}`);
  }
}

/** Where local databases are. */
export const folderOf = ({ 'persist-to': state, config }: Where): string =>
  resolve(state ?? join(dirname(config === undefined ? CONFIG : resolve(config)), '.wrangler/state'));

/** Fails with a line that says why if there are no local databases, or nothing can be written there. */
export function requireLocal(where: Where): void {
  boundIn(where.config); // what is wrong with the configuration comes first
  requireDatabases(folderOf(where));
  requireRoom(folderOf(where));
}

/** Opens the databases for `work` and closes them afterwards. If `work` meets a lock it runs again, so it must be repeatable. */
export async function withDatabases<T>(where: Where, work: (databases: Databases) => Promise<T>): Promise<T> {
  const { all, close } = await openDatabases(where);
  const run = <R>(step: () => Promise<R>) => (where.remote ? step() : patiently(step));
  try {
    const databases = await run(() => recognized(all));
    return await run(() => work(new Databases(databases)));
  } finally {
    await close();
  }
}

/** For `work` that needs no database. */
export const withoutDatabases = <T>(_: Where, work: (databases: Databases) => Promise<T>): Promise<T> =>
  work(new Databases([{ number: 0, binding: 'DB', name: '', db: failingDatabase('no database is open') }]));

/** Opens the databases until `close`. */
export async function openDatabases(where: Where) {
  const { remote = false } = where;
  const configured = boundIn(where.config);
  const { file, bound } = configured;
  const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
    configPath: remote ? remoteConfig(configured) : file,
    persist: remote ? false : { path: join(folderOf(where), 'v3') },
    remoteBindings: remote,
    envFiles: [],
  });
  const all = bound.map(({ number, binding, name }) => {
    const d1 = env[binding];
    const db = d1 === undefined ? failingDatabase(`no database ${name} is deployed`) : drizzle(d1);
    return { number, binding, name, db };
  });
  return { all, close: dispose };
}

/** A dev server locks a local database for moments. A step that met the lock has done nothing but claims, so it runs again. */
async function patiently<T>(step: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!metLock(error) || Date.now() > deadline) throw error;
      await wait(50);
    }
  }
}

/**
 * Writes a configuration that binds the deployed databases. It needs their ids; the project only has the names. One that is not
 * deployed is left out.
 */
function remoteConfig({ file, worker, bound }: ReturnType<typeof boundIn>): string {
  // All at once, however many are bound: each call of wrangler takes seconds.
  const listed: { name: string; uuid: string }[] = JSON.parse(
    outputOf(['d1', 'list', '--json', '--config', process.platform === 'win32' ? `"${file}"` : file]),
  );
  const ids = new Map(listed.map(({ name, uuid }) => [name, uuid]));
  const d1_databases = bound.flatMap(({ binding, name }) => {
    const database_id = ids.get(name);
    return database_id === undefined ? [] : [{ binding, database_name: name, database_id, remote: true }];
  });
  const directory = mkdtempSync(join(tmpdir(), 'admin-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const config = join(directory, 'wrangler.json');
  writeFileSync(config, JSON.stringify({ ...worker, d1_databases }));
  return config;
}

/** What wrangler prints. If it fails, so does this, with one line. */
function outputOf(words: string[]): string {
  const wrangler = (words: string[]) =>
    spawnSync('wrangler', words, { encoding: 'utf8', shell: process.platform === 'win32' });
  const { status, stdout, stderr, error } = wrangler(words);
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  if (isLoggedOut(wrangler(['whoami', '--json']).stdout)) throw new Error(LOGIN);
  const [, reason = 'no reason given'] = /\[ERROR\]\s*(.+)/.exec(stripVTControlCharacters(`${stderr}${stdout}`)) ?? [];
  throw new Error(`wrangler ${words.slice(0, 2).join(' ')} failed: ${reason}`);
}
