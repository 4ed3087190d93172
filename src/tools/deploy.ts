// npm run deploy: finds or creates the database by its name, applies new migrations, then uploads the Worker. Arguments after `--`
// go to `wrangler deploy`. wrangler.toml does not change.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { unstable_readConfig } from 'wrangler';

const LOGIN =
  'Not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.';
const root = resolve(import.meta.dirname, '../..');

/** Runs wrangler. Only the upload gets a terminal: the earlier steps must not ask questions. */
function wrangler(args: string[], stdio: 'pipe' | 'inherit', stdin: 'ignore' | 'inherit' = 'ignore') {
  const env = { ...process.env, WRANGLER_HIDE_BANNER: 'true' };
  const shell = process.platform === 'win32';
  const run = spawnSync('wrangler', args, { cwd: root, env, shell, stdio: [stdin, stdio, stdio], encoding: 'utf8' });
  return { done: run.status === 0, output: `${run.stdout ?? ''}${run.stderr ?? ''}` };
}

function fail(message: string): never {
  const loggedOut = /"loggedIn":\s*false/.test(wrangler(['whoami', '--json'], 'pipe').output);
  process.stderr.write(`${loggedOut ? LOGIN : message.trim()}\n`);
  process.exit(1);
}

const name = unstable_readConfig({ config: resolve(root, 'wrangler.toml') }).d1_databases[0]?.database_name;
if (!name) fail('wrangler.toml names no database.');
const found = wrangler(['d1', 'info', name, '--json'], 'pipe');
if (!found.done) {
  if (!found.output.includes("Couldn't find a D1 DB")) fail(found.output);
  const made = wrangler(['d1', 'create', name], 'pipe');
  if (!made.done) fail(made.output);
  console.log(`Created the database ${name}.`);
}
if (!wrangler(['d1', 'migrations', 'apply', 'DB', '--remote'], 'inherit').done)
  fail('The migrations were not applied: nothing was uploaded.');
if (!wrangler(['deploy', ...process.argv.slice(2)], 'inherit', 'inherit').done) fail('wrangler deploy failed.');
