// Opens the database for the operator: the local one, or the deployed one through a remote binding.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/d1';
import { getPlatformProxy, unstable_readConfig } from 'wrangler';
import type { Database } from '../db/schema.ts';
import { reasonOf } from './errors.ts';

const CONFIG = resolve(import.meta.dirname, '../../wrangler.toml');
const LOCK_WAIT_MS = 10_000;
/** The second is for reads: miniflare writes a bookmark in the transaction of each. */
const MET_LOCK = /database is locked|Failed to get session commit token/;

// Otherwise wrangler looks up the location of this machine.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';

export type Where = { remote?: boolean | undefined; 'persist-to'?: string | undefined };

/** Opens a database for `work` and closes it afterwards. If `work` meets a lock it runs again, so it must be repeatable. */
export async function withDatabase<T>(where: Where, work: (db: Database) => Promise<T>): Promise<T> {
  const { remote = false, 'persist-to': state } = where;
  const proxy = await getPlatformProxy<{ DB: D1Database }>({
    configPath: remote ? remoteConfig() : CONFIG,
    persist: remote ? false : { path: resolve(state || join(CONFIG, '../.wrangler/state'), 'v3') },
    remoteBindings: remote,
    envFiles: [],
  });
  const run = () => work(drizzle(proxy.env.DB));
  try {
    return await (remote ? run() : patiently(run));
  } finally {
    await proxy.dispose();
  }
}

/** A dev server locks the local database for moments. Work that met the lock has changed nothing, so it runs again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!MET_LOCK.test(reasonOf(error)) || Date.now() > deadline) throw error;
      await wait(50);
    }
  }
}

/** Writes a configuration whose DB is the deployed database. It needs the id; the project only has the name. */
function remoteConfig(): string {
  const { name, compatibility_date, d1_databases } = unstable_readConfig({ config: CONFIG });
  const database_name = d1_databases[0]?.database_name;
  if (!database_name) throw new Error('wrangler.toml names no database.');
  const shell = process.platform === 'win32';
  const listed = execFileSync('wrangler', ['d1', 'info', database_name, '--json'], { encoding: 'utf8', shell });
  const { uuid } = JSON.parse(listed) as { uuid: string };
  const directory = mkdtempSync(join(tmpdir(), 'admin-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const remote = { binding: 'DB', database_name, database_id: uuid, remote: true };
  const file = join(directory, 'wrangler.json');
  writeFileSync(file, JSON.stringify({ name, compatibility_date, d1_databases: [remote] }));
  return file;
}
