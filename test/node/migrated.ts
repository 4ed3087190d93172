// Before the tests in Node: a database with its tables, of which each test that wants one takes a copy. It is migrated as the
// Worker's tests migrate theirs: wrangler starts a workerd for each step. `npm run dev` lets wrangler do it (test/docs). The assets are
// built at the same time.
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
    /** Where what the tests make is put. */
    folder: string;
    /** The state directory of the database. */
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

/** Notes the migrations as wrangler does, which then has none to apply. */
async function migrate(d1: D1Database): Promise<void> {
  const columns =
    'id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null';
  await d1.exec(`create table d1_migrations (${columns})`);
  for (const { name, queries } of await readD1Migrations('migrations')) {
    const applied = d1.prepare('insert into d1_migrations (name) values (?)').bind(name);
    await d1.batch([...queries.map((query) => d1.prepare(query)), applied]);
  }
}
