// What the operator's tests share: the command line as one types it, and what lies in a local database.
import { execFile } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { commandLineOf } from '../../src/cli/command-line.ts';
import { withDatabases } from '../../src/cli/open.ts';
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

/** `npm run admin -- …args`. */
export const admin = (...args: string[]) => node(join(ROOT, 'src/cli/main.ts'), ...args);

/** The object that the command of `args` gives on the database in `state`; how main.ts prints it is main.test.ts's to say. */
export async function resultOf(state: string, ...args: string[]) {
  const call = commandLineOf([...args, '--persist-to', state]);
  if ('help' in call) throw new Error('a call for help');
  const { command, given, where } = call;
  return JSON.parse(
    JSON.stringify(await withDatabases(where, (databases) => command.run(databases, given, new Date()))),
  );
}

const BLOCKS = ['DB', 'DB_1', 'DB_2'].map(
  (binding) => `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "usage-${binding}"\n`,
);

let template: Promise<string> | undefined;

/** Three databases with their tables: the configuration that binds them, their state directory, and the options that name both. */
export async function threeDatabases() {
  const [state, config] = [newFolder(), join(newFolder(), 'three.toml')];
  writeFileSync(config, `compatibility_date = "2026-10-01"\n${BLOCKS.join('')}`);
  template ??= migratedFor(config);
  cpSync(await template, state, { recursive: true });
  return { config, state, where: ['--config', config, '--persist-to', state] };
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

export function rowsOf(state: string, table: string): Record<string, unknown>[] {
  using database = open(state);
  return database
    .prepare(`select * from ${table} order by 1`)
    .all()
    .map((row) => ({ ...row }));
}

/** The businesses in `state` as they are shown: without their limits. */
export const businessesIn = (state: string) =>
  rowsOf(state, 'businesses').map(({ daily_limit: _, monthly_limit: __, ...row }) => row);

export function insert(state: string, table: string, row: Record<string, SQLInputValue>): void {
  using database = open(state);
  const columns = Object.keys(row);
  const values = columns.map((column) => `:${column}`);
  database.prepare(`insert into ${table} (${columns}) values (${values})`).run(row);
}
