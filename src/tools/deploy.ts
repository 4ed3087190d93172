// npm run deploy: deploys with wrangler (deployment.ts). Exits with status 1 on failure.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { deploy, type Run } from './deployment.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Only the upload (`ask`) can read from the terminal, because the earlier steps must not prompt. */
const STDIO = {
  read: ['ignore', 'pipe', 'pipe'],
  show: ['ignore', 'inherit', 'inherit'],
  ask: ['inherit', 'inherit', 'inherit'],
} as const;

/** In bytes. Fits a large account's database list. */
const MAX_OUTPUT = 64 * 1024 * 1024;
const env: NodeJS.ProcessEnv = { ...process.env, WRANGLER_HIDE_BANNER: 'true' };

const wrangler: Run = (args, mode) => {
  const shell = process.platform === 'win32';
  const quoted = shell ? args.map((arg) => `"${arg}"`) : args;
  const run = spawnSync('wrangler', quoted, {
    cwd: ROOT,
    env,
    shell,
    stdio: [...STDIO[mode]],
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
  });
  if (run.error) throw run.error;
  const stdout = run.stdout ?? '';
  return { isDone: run.status === 0, stdout, output: `${stdout}${run.stderr ?? ''}` };
};

try {
  const lost = ['dry-run', 'env', 'config', 'rollback'].find((name) => `npm_config_${name.replace('-', '_')}` in env);
  if (lost !== undefined) throw new Error(`npm consumed --${lost}. Run: npm run deploy -- --${lost}`);
  deploy(ROOT, process.argv.slice(2), wrangler, console, env);
} catch (error) {
  process.stderr.write(`${(error as Error).message.trim()}\n`);
  process.exitCode = 1;
}
