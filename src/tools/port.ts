// Which port `npm run dev` may listen on.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { basename } from 'node:path';

/** wrangler listens on what `localhost` means on this machine: one of these, or both. */
const ADDRESSES = ['127.0.0.1', '::1'];
const NO_SUCH_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** Why the port cannot be listened on, in one line; null where it can. */
export async function problemOf(port: number): Promise<string | null> {
  const problems = await Promise.all(ADDRESSES.map((host) => problemAt(host, port)));
  const problem = problems.find((code) => code !== null && !NO_SUCH_ADDRESS.includes(code));
  if (!problem) return null;
  const what = problem === 'EADDRINUSE' ? `is in use${holderOf(port)}` : `cannot be opened (${problem})`;
  return `Port ${port} ${what}. Choose another: npm run dev -- --port NUMBER`;
}

async function problemAt(host: string, port: number): Promise<string | null> {
  const server = createServer().listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? `${error}`;
  }
  server.close();
  await once(server, 'close');
  // macOS and Windows allow this even where another process listens on every address.
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return 'EADDRINUSE';
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

/** The process that has the port, where lsof can tell. */
function holderOf(port: number): string {
  const outputOf = (command: string, args: string[]) => spawnSync(command, args, { encoding: 'utf8' }).stdout ?? '';
  const [pid] = outputOf('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN']).split('\n');
  if (!pid) return '';
  const [program = ''] = outputOf('ps', ['-p', pid, '-o', 'args=']).trim().split(' ');
  return ` by process ${pid}${program && ` (${basename(program)})`}`;
}
