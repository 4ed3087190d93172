// Opens the local databases in this process, before a test starts its server or after it has stopped.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/d1';
import { getPlatformProxy } from 'wrangler';
import type { Database } from '../../src/db/schema.ts';
import { readConfiguration } from '../../src/tools/configuration.ts';

// Prevents wrangler from looking up the location of this machine.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';

/** The state directory, and the configuration that binds the databases. The configuration defaults to wrangler.toml. */
export type Where = { 'persist-to': string; config?: string };
export type LocalDatabase = { number: number; binding: string; db: Database };
export type Databases = { all: LocalDatabase[]; first: LocalDatabase };

/** Reads of a locked database fail with the second message, because miniflare writes a bookmark in the same transaction. */
const MET_LOCK = /database is locked|Failed to get session commit token/;
const LOCK_WAIT_MS = 10_000;

/** Opens the databases and runs `work` on them. `work` must be idempotent, because it is retried while a server has locked a database. */
export async function withDatabases<T>(where: Where, work: (databases: Databases) => Promise<T>): Promise<T> {
  const { databases, close } = await openDatabases(where);
  const deadline = Date.now() + LOCK_WAIT_MS;
  try {
    for (;;) {
      try {
        return await work(databases);
      } catch (error) {
        if (!MET_LOCK.test(`${error} ${(error as Error).cause}`) || Date.now() > deadline) throw error;
        await wait(50);
      }
    }
  } finally {
    await close();
  }
}

export async function openDatabases({ 'persist-to': state, config }: Where) {
  const { file, databases } = readConfiguration(config);
  const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
    configPath: file,
    persist: { path: join(state, 'v3') },
    remoteBindings: false,
    envFiles: [],
  });
  const all = databases.map(({ number, binding }) => ({ number, binding, db: drizzle(env[binding] as D1Database) }));
  return { databases: { all, first: all[0] as LocalDatabase }, close: dispose };
}
