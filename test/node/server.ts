// Starts the service with `wrangler dev` in its own process group, on a test's state directory and the assets built before the tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { BINDINGS } from '../../src/core/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
const env = { ...process.env, CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_HIDE_BANNER: 'true', CI: 'true' };

/** wrangler.toml without its build, in the same folder because of its relative paths. migrated.ts writes it before the tests. */
const BUILT = 'wrangler.dev-built.toml';

export function writeBuilt(): void {
  write(BUILT, readFileSync(join(ROOT, 'wrangler.toml'), 'utf8').replace(/^\[build\]\n(.+\n)*/m, ''));
}

/** Writes a configuration, but only if it differs from the file, because a write restarts every server that uses the file. */
function write(name: string, text: string): void {
  const file = join(ROOT, name);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

export type Service = { url: string; stop: (signal?: NodeJS.Signals) => Promise<void> };

/** Writes a copy of BUILT with more databases or another rate limit, and returns its file name. */
export function withDatabases(count: number, addressLimit = 1000): string {
  const blocks = BINDINGS.slice(1, count).map(
    (binding) => `\n[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "usage-${binding}"\n`,
  );
  const file = `wrangler.dev-built-${count}-${addressLimit}.toml`;
  const built = readFileSync(join(ROOT, BUILT), 'utf8').replace(
    /(?<=^name = "ADDRESS_LIMIT"\nnamespace_id = .*\nsimple = \{ limit = )1000/m,
    `${addressLimit}`,
  );
  write(file, built + blocks.join(''));
  return file;
}

type Options = {
  /** The configuration of a Worker in front of the service. */
  front?: string;
  config?: string;
  secrets?: Record<string, string>;
};

/** Several attempts are needed because another process can take a free port before wrangler does, even just for an outgoing connection. */
const ATTEMPTS = 3;

/** Starts `wrangler dev` on a free port and waits until it responds. */
export async function startService(state: string, options: Options = {}): Promise<Service> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(state, options);
    } catch (error) {
      if (attempt === ATTEMPTS || !(error as Error).message.includes('Address already in use')) throw error;
    }
  }
}

async function start(state: string, { front, config = BUILT, secrets = {} }: Options): Promise<Service> {
  const port = await freePort();
  const inspector = await freePort();
  const files = [...(front === undefined ? [] : ['-c', front]), '-c', config];
  const ports = ['--port', `${port}`, '--inspector-port', `${inspector}`];
  const args = [
    WRANGLER,
    'dev',
    ...files,
    ...ports,
    ...Object.entries(secrets).flatMap(([name, text]) => ['--var', `${name}:${text}`]),
    '--ip',
    '127.0.0.1',
    '--persist-to',
    state,
    '--show-interactive-dev-session=false',
  ];
  const child: ChildProcess = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'pipe', detached: true });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + 60_000;
  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), signal);
    await ended;
  }
  for (;;) {
    const answer = await fetch(`${url}/api`, { method: 'OPTIONS' }).catch(() => null);
    if (answer !== null && output.includes('Ready on')) break; // otherwise, the response comes from another process on this port
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop('SIGKILL');
      throw new Error(`wrangler dev did not start:\n${output}`);
    }
    await new Promise((resume) => setTimeout(resume, 50));
  }
  return { url, stop };
}
