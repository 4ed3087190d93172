// Opens the database for the operator: the local one, or the deployed one through a remote binding.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/d1';
import { getPlatformProxy, unstable_readConfig } from 'wrangler';
import type { Database } from '../db/queries.ts';

const CONFIG = resolve(import.meta.dirname, '../../wrangler.toml');
const LOCK_WAIT_MS = 10_000;

export type Where = { remote?: boolean | undefined; 'persist-to'?: string | undefined };

/** Runs `work` on the database of `where`, and closes it. */
export async function withDatabase<T>(where: Where, work: (db: Database) => Promise<T>): Promise<T> {
  const state = resolve(where['persist-to'] ?? join(CONFIG, '../.wrangler/state'), 'v3');
  const directory = where.remote ? remoteConfig() : null;
  const proxy = await getPlatformProxy<{ DB: D1Database }>({
    configPath: directory === null ? CONFIG : join(directory, 'wrangler.json'),
    persist: directory === null ? { path: state } : false,
    remoteBindings: directory !== null,
    envFiles: [],
  });
  try {
    return await patiently(() => work(drizzle(proxy.env.DB)));
  } finally {
    await proxy.dispose();
    if (directory !== null) rmSync(directory, { recursive: true });
  }
}

/** A running dev server locks the local database for moments at a time. A write that met the lock has done nothing: again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!describe(error).includes('database is locked') || Date.now() > deadline) throw error;
      await wait(50);
    }
  }
}

/** The messages of an error and of what caused it. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.message} ${describe(error.cause)}` : '';
}

/** A folder with a configuration whose DB is the deployed database. The binding wants its id; the project knows its name. */
function remoteConfig(): string {
  const config = unstable_readConfig({ config: CONFIG });
  const [database] = config.d1_databases;
  if (!database?.database_name) throw new Error('wrangler.toml names no database.');
  const { database_name } = database;
  const listed = execFileSync('wrangler', ['d1', 'info', database_name, '--json'], { encoding: 'utf8' });
  const { uuid } = JSON.parse(listed) as { uuid: string };
  const directory = mkdtempSync(join(tmpdir(), 'admin-'));
  const remote = { binding: 'DB', database_name, database_id: uuid, remote: true };
  const { name, compatibility_date } = config;
  writeFileSync(join(directory, 'wrangler.json'), JSON.stringify({ name, compatibility_date, d1_databases: [remote] }));
  return directory;
}
