// While the assets are built, creates the migrated database that the tests in Node copy. wrangler would start workerd for each step,
// so the migrations run here, as in the Worker's tests. `npm run dev` migrates with wrangler (test/docs).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readD1Migrations } from '@cloudflare/vitest-pool-workers';
import type { TestProject } from 'vitest/node';
import { built } from './assets.ts';
import { withDatabases } from './local.ts';
import { writeBuilt } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for the tests' files. */
    folder: string;
    /** The database's state directory. */
    migrated: string;
  }
}

export default async function migrated({ provide }: TestProject) {
  writeBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  const state = join(folder, 'migrated');
  await Promise.all([built(), withDatabases({ 'persist-to': state }, ({ first }) => migrate(first.db.$client))]);
  provide('folder', folder);
  provide('migrated', state);
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Applies the migrations and records them as wrangler does, so that wrangler applies none again. */
async function migrate(d1: D1Database): Promise<void> {
  const columns =
    'id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null';
  await d1.exec(`create table d1_migrations (${columns})`);
  for (const { name, queries } of await readD1Migrations('migrations')) {
    const applied = d1.prepare('insert into d1_migrations (name) values (?)').bind(name);
    await d1.batch([...queries.map((query) => d1.prepare(query)), applied]);
  }
}
