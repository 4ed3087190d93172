// What the operator's tests share: the command line as one types it, and local databases, each test's its own.
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, expect } from 'vitest';

export const ROOT = resolve(import.meta.dirname, '../..');

const folder = mkdtempSync(join(tmpdir(), 'admin-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

export const newFolder = (): string => mkdtempSync(join(folder, 'state-'));

// The tests start wrangler some twenty times: what it is compiled to is kept.
const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };

/** Runs a script with the Node that runs the tests. */
export const node = (...args: string[]) =>
  new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((done) => {
    execFile(process.execPath, args, { cwd: ROOT, env, timeout: 60_000 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

/** `npm run admin -- …args`. */
export const admin = (...args: string[]) => node(join(ROOT, 'src/admin/main.ts'), ...args);

/** `admin` on the database in `state`, which must succeed without a word on stderr: the object that it printed. */
export async function answerOf(state: string, ...args: string[]) {
  const { code, stdout, stderr } = await admin(...args, '--persist-to', state);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const answer = JSON.parse(stdout);
  expect(stdout).toBe(`${JSON.stringify(answer)}\n`);
  return answer;
}

let migrated: Promise<string> | undefined;

async function migrate() {
  const state = newFolder();
  const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
  const { code, stderr } = await node(wrangler, 'd1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state);
  expect(code, stderr).toBe(0);
  return state;
}

/** The state directory of a new database, with the tables of migrations/. */
export async function newDatabase(): Promise<string> {
  migrated ??= migrate();
  const state = newFolder();
  cpSync(await migrated, state, { recursive: true });
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

export function insert(state: string, table: string, row: Record<string, SQLInputValue>): void {
  using database = open(state);
  const columns = Object.keys(row);
  const values = columns.map((column) => `:${column}`);
  database.prepare(`insert into ${table} (${columns}) values (${values})`).run(row);
}
