// Starts the two back ends in docs/embedding.md: the program for any server, and the Worker.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { transformSync } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { vi } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { freePort } from './server.ts';

export const ON_ANY_SERVER = readFileSync('docs/examples/back-end.mjs', 'utf8');
export const IN_A_WORKER = readFileSync('docs/examples/worker/index.ts', 'utf8');

/** A running back end, and the lines that it has logged. */
export type Product = { url: string; log: string[]; stop: () => Promise<unknown> };

/** Runs the program with these variables. `ended` resolves to its exit code. */
export function run(program: string, variables: Record<string, string>) {
  const { API: _, BUSINESS: __, PORT: ___, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: { ...env, ...variables } });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  return { child, log, ended: once(child, 'close').then(([code]) => code as number | null) };
}

/** Starts the program for any server. It calls the service at `address` for business 7. */
export async function onAnyServer(address: string, program = ON_ANY_SERVER): Promise<Product> {
  const PORT = `${await freePort()}`;
  const { child, log, ended } = run(program, { API: `${address}/api/v1`, BUSINESS: '7', PORT });
  const url = `http://127.0.0.1:${PORT}`;
  async function stop() {
    child.kill();
    await ended;
  }
  await vi.waitFor(() => fetch(url, { method: 'OPTIONS' }), { timeout: 30_000 }).catch(stop);
  return { url, log, stop };
}

/** Starts the Worker. Its service binding is another Worker, which forwards all requests to `address`. */
export async function inAWorker(address: string, program = IN_A_WORKER): Promise<Product> {
  const { compatibility_date: compatibilityDate } = unstable_readConfig({
    config: 'docs/examples/worker/wrangler.toml',
  });
  const worker = (name: string, contents: string) => ({
    name,
    compatibilityDate,
    modules: [{ type: 'ESModule', path: `${name}.js`, contents }],
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0, entrypoint: 'default' }],
  });
  const forward = `export default {
    fetch: (request) => fetch(request.url.replace('https://usage.internal', '${address}'), request),
  };`;
  const product = worker('product', transformSync(program, { loader: 'ts', target: 'esnext' }).code);
  const workers = [{ ...product, serviceBindings: { USAGE: 'usage' } }, worker('usage', forward)];
  const log: string[] = [];
  const handleStructuredLogs = ({ message }: { message: string }) => log.push(message);
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers, handleStructuredLogs } as never));
  const { origin } = await miniflare.unsafeGetDirectURL('product');
  return { url: `${origin}/?business=7`, log, stop: () => miniflare.dispose() };
}
