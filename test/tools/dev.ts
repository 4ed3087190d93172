// Runs npm run dev as a developer would, until a test has looked at what it serves.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { newFolder } from '../node/state.ts';

/** Runs npm run dev until it is ready and `inspect` has returned. Then sends SIGINT and waits until the server has closed the output. */
export async function stoppedOnceReady({ cwd = ROOT, env = {}, inspect = async (_: string) => {} }, ...args: string[]) {
  const dev = spawn(process.execPath, ['src/tools/dev.ts', ...args], { cwd, env: { ...process.env, ...env } });
  const closed = once(dev, 'close');
  const printed = { stdout: '', stderr: '' };
  dev.stderr.on('data', (text) => (printed.stderr += text));
  dev.stdout.on('data', (text) => (printed.stdout += text));
  await vi
    .waitUntil(() => /^Ready: .*OPERATOR_KEY=/ms.test(printed.stdout) || dev.exitCode !== null, 100_000)
    .then(() => inspect(printed.stdout))
    .finally(() => dev.kill('SIGINT'));
  const [code] = await closed;
  return { code, ...printed };
}

/** Returns the variables that `npm run dev` prints, to be pasted into another terminal. */
export function exportedIn(output: string): Record<string, string | undefined> {
  const exported = [...output.matchAll(/^export .*/gm)].join(' ').matchAll(/(\w+)=(\S+)/g);
  return Object.fromEntries([...exported].map(([, name, value]) => [name, value]));
}

/** Returns a copy of the project with one file added or replaced. */
export function projectWith(name: string, text: string): string {
  const copy = newFolder();
  for (const name of ['src', 'migrations', 'package.json', 'wrangler.toml'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
  writeFileSync(join(copy, name), text);
  return copy;
}
