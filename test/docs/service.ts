// Starts `npm run dev` on a free port with its own database, and calls it with fetch or a shell.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { freePort } from '../node/server.ts';
import { newFolder } from '../node/state.ts';

export type Headers = Record<string, string>;
type Variables = Record<'API' | 'API_KEY' | 'BUSINESS' | 'TOKEN' | 'SHOP' | 'SHOP_TOKEN' | 'OPERATOR_KEY', string>;

export async function startService(...options: string[]) {
  const [port, state] = [await freePort(), newFolder()];
  const args = ['--port', `${port}`, '--persist-to', state, ...options];
  const dev = spawn('npm', ['run', 'dev', '--', ...args], { detached: true });
  const closed = once(dev, 'close'); // after all its processes have closed their output
  let output = '';
  for (const stream of [dev.stdout, dev.stderr]) stream.on('data', (text) => (output += text));
  async function stop() {
    if (dev.exitCode === null) process.kill(-(dev.pid as number));
    await closed;
    rmSync(`dist/dev-${port}`, { recursive: true, force: true });
  }
  const isReady = () => /^export SHOP=.*\n/m.test(output) || dev.exitCode !== null;
  await vi.waitUntil(isReady, { timeout: 100_000, interval: 100 }).catch(stop);
  const exported = [...output.matchAll(/^export .*/gm)].join(' ').matchAll(/(\w+)=(\S+)/g);
  const variables = Object.fromEntries([...exported].map(([, name, value]) => [name, value])) as Variables;
  if (variables.SHOP === undefined) throw new Error(`npm run dev did not start:\n${output}`);

  let calls = 0;
  const nextAddress = () => `192.0.2.${calls++ % 8}`; // requests from a single address would exceed its rate limit

  async function call(method: string, path: string, headers: Headers = {}, body?: unknown) {
    const response = await fetch(variables.API + path, {
      method,
      headers: { 'CF-Connecting-IP': nextAddress(), 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'object' ? JSON.stringify(body) : ((body ?? null) as string | null),
    });
    const code = response.headers.get('Error-Code');
    // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
    return { status: response.status, code, body: (await response.json()) as any };
  }

  /** Runs a command in a shell with the exported variables. */
  async function shell(command: string): Promise<string> {
    const script = `curl() { command curl -sS -H "CF-Connecting-IP: ${nextAddress()}" "$@"; }\n${command}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: { ...process.env, ...variables } });
    return stdout;
  }

  return { variables, call, shell, stop };
}
