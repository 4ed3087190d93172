// Runs scripts and creates local databases to test the operator's tools.
import { execFile } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { withDatabases } from '../node/local.ts';
import { newDatabase, newFolder } from '../node/state.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Runs a script with the current Node binary and these additional variables. */
export const runScript = (env: Record<string, string>, ...args: string[]) =>
  new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((done) => {
    const options = { cwd: ROOT, timeout: 60_000, env: { ...process.env, ...env } };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

export const node = (...args: string[]) => runScript({}, ...args);

const BLOCKS = ['DB', 'DB_1', 'DB_2'].map(
  (binding) => `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "usage-${binding}"\n`,
);

let template: Promise<string> | undefined;

/** Creates three migrated databases. Returns their state directory, and the configuration that binds them. */
export async function threeDatabases() {
  const [state, config] = [newFolder(), join(newFolder(), 'three.toml')];
  writeFileSync(config, `compatibility_date = "2026-10-01"\n${BLOCKS.join('')}`);
  template ??= migratedFor(config);
  cpSync(await template, state, { recursive: true });
  return { config, 'persist-to': state };
}

/** Returns a state directory with migrated databases. Avoids wrangler, which takes seconds per database. */
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
