// Checks whether `npm run dev` can listen on a port.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** wrangler listens on `localhost`, which resolves to one or both of these addresses. */
const ADDRESSES = ['127.0.0.1', '::1'];
const NO_SUCH_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** Returns a one-line reason why the port is not available, or null. `ip` is an address of this machine, or stands for all of them. */
export async function portProblem(port: number, ip = 'localhost'): Promise<string | null> {
  // One after another, because `ip` may include the other addresses.
  for (const host of [...ADDRESSES, ip]) {
    const problem = await problemAt(host, port);
    if (problem === null || (host !== ip && NO_SUCH_ADDRESS.includes(problem))) continue;
    if (NO_SUCH_ADDRESS.includes(problem)) return `This machine does not have the address ${ip}.`;
    const what = problem === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${problem})`;
    return `Port ${port} ${what}. Choose another: npm run dev -- --port NUMBER`;
  }
  return null;
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
  // macOS and Windows allow listening on one address while another process listens on all addresses.
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
