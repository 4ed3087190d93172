// What the operator's tests share: the command line as one types it, and what lies in a local database.
import { execFile } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { type BoundDatabase, Databases } from '../../src/cli/databases.ts';
import { commandLineOf } from '../../src/cli/former-command-line.ts';
import { openDatabases, type Where, withDatabases } from '../../src/cli/open.ts';
import { RUNS } from '../../src/cli/runs.ts';
import { businessColumns, businesses } from '../../src/db/schema.ts';
import { newDatabase, newFolder } from '../node/state.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Runs a script with the Node that runs the tests, and with these variables besides. */
export const nodeIn = (env: Record<string, string>, ...args: string[]) =>
  new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((done) => {
    const options = { cwd: ROOT, timeout: 60_000, env: { ...process.env, ...env } };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

export const node = (...args: string[]) => nodeIn({}, ...args);

/** The object that the command of `args` gives on these databases; how main.ts prints it is main.test.ts's to say. */
export const resultOf = (databases: Databases, ...args: string[]) => resultAt(new Date(), databases, ...args);

/** The same at a time. */
export async function resultAt(now: Date, databases: Databases, ...args: string[]) {
  const call = commandLineOf(args);
  if ('help' in call) throw new Error('a call for help');
  const { name, given } = call;
  return JSON.parse(JSON.stringify(await RUNS[name](databases, given, now)));
}

/** Databases that stay open for the tests of a file, since opening takes half a second. Each test begins with empty tables. */
export function openFor(where: Where): () => Databases {
  let opened: Awaited<ReturnType<typeof openDatabases>>;
  beforeAll(async () => {
    opened = await openDatabases(where);
  });
  afterAll(() => opened?.close());
  beforeEach(() => Promise.all(opened.all.map(empty)));
  return () => new Databases(opened.all);
}

async function empty({ db: { $client } }: BoundDatabase): Promise<void> {
  const named = "type = 'table' and name not in ('_cf_KV', '_cf_METADATA', 'd1_migrations')";
  const tables = await $client.prepare(`select name from sqlite_master where ${named}`).all<{ name: string }>();
  const deletions = tables.results.map(({ name }) => $client.prepare(`delete from ${name}`));
  await $client.batch([$client.prepare('pragma defer_foreign_keys = on'), ...deletions]);
}

const BLOCKS = ['DB', 'DB_1', 'DB_2'].map(
  (binding) => `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "usage-${binding}"\n`,
);

let template: Promise<string> | undefined;

/** Three databases with their tables: the configuration that binds them, and their state directory. */
export async function threeDatabases() {
  const [state, config] = [newFolder(), join(newFolder(), 'three.toml')];
  writeFileSync(config, `compatibility_date = "2026-10-01"\n${BLOCKS.join('')}`);
  template ??= migratedFor(config);
  cpSync(await template, state, { recursive: true });
  return { config, 'persist-to': state };
}

/** A state directory with the tables of each database. wrangler would take seconds for each. */
async function migratedFor(config: string): Promise<string> {
  const state = newDatabase();
  const files = globSync('migrations/*.sql', { cwd: ROOT }).sort();
  const migrations = files.map((file) => statementsOf(readFileSync(join(ROOT, file), 'utf8')));
  await withDatabases({ config, 'persist-to': state }, async ({ all }) => {
    for (const { db } of all.slice(1)) {
      for (const statements of migrations) {
        await db.$client.batch(statements.map((statement) => db.$client.prepare(statement)));
      }
    }
  });
  return state;
}

/** The SQLite file of the database in `state`, opened beside D1. */
export function open(state: string): DatabaseSync {
  const [file] = globSync(join(state, 'v3/d1/*/*.sqlite'), { exclude: (name) => name.endsWith('metadata.sqlite') });
  return new DatabaseSync(file as string);
}

export async function rowsOf({ first }: Databases, table: string): Promise<Record<string, unknown>[]> {
  return (await first.db.$client.prepare(`select * from ${table} order by 1`).all()).results;
}

/** The businesses with the columns that are shown. */
export const businessesIn = async ({ first }: Databases) =>
  first.db.select(businessColumns).from(businesses).orderBy(businesses.id);

export async function insert({ first }: Databases, table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row);
  const statement = `insert into ${table} (${columns}) values (${columns.map(() => '?')})`;
  await first.db.$client
    .prepare(statement)
    .bind(...Object.values(row))
    .run();
}
