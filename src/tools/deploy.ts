// npm run deploy: deploys with wrangler (deployment.ts). Exits with status 1 on failure.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { deploy, type Wrangler } from './deployment.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Only the upload (`ask`) can read from the terminal, because the earlier steps must not prompt. */
const STDIO = {
  read: ['ignore', 'pipe', 'pipe'],
  show: ['ignore', 'inherit', 'inherit'],
  ask: ['inherit', 'inherit', 'inherit'],
} as const;

/** The time for one step that only reads. Without it, an API that does not respond would hold up a workflow for hours. */
const READ_TIMEOUT_MS = 60_000;
const LATER =
  'Nothing was changed. If Cloudflare has an incident (https://www.cloudflarestatus.com), run npm run deploy again after it.';

const wrangler: Wrangler = (args, mode) => {
  const shell = process.platform === 'win32';
  const { error, status, stdout, stderr } = spawnSync('wrangler', shell ? args.map((arg) => `"${arg}"`) : args, {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_HIDE_BANNER: 'true' },
    shell,
    stdio: [...STDIO[mode]],
    encoding: 'utf8',
    ...(mode === 'read' && { timeout: READ_TIMEOUT_MS, killSignal: 'SIGKILL' }),
  });
  const step = `wrangler ${args.slice(0, 3).join(' ')}`;
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
    throw new Error(`${step}: no response within ${READ_TIMEOUT_MS / 1000} seconds. ${LATER}`);
  if (error) throw error;
  if (status === 0) return stdout ?? '';
  // With --json, wrangler prints errors as JSON.
  const reasons = [...`${stdout ?? ''}`.matchAll(/"text": "(.*)"/g)].map(([, text]) => text);
  throw new Error(
    [`${step} failed. ${reasons.join(' ') || (stderr ?? '')}`, ...(mode === 'read' ? [LATER] : [])].join('\n'),
  );
};

try {
  const lost = ['dry-run', 'env', 'config'].find((name) => `npm_config_${name.replace('-', '_')}` in process.env);
  if (lost !== undefined) throw new Error(`npm consumed --${lost}. Run: npm run deploy -- --${lost}`);
  deploy(ROOT, process.argv.slice(2), wrangler, console.log);
} catch (error) {
  process.stderr.write(`${(error as Error).message.trim()}\n`);
  process.exitCode = 1;
}
