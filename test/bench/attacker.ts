// The thread that runs an attack, so that preparing its requests does not delay the victim, whose time is measured.
import { parentPort } from 'node:worker_threads';
import { ATTACKS, CREDENTIALS, keyOf } from './attacks.ts';

const IN_FLIGHT = 40;
export type Order = { url: string; name: string; waits: boolean; ms: number };
/** The calls of an attack, the time of their SQL in milliseconds, and the rows that they read and wrote. */
export type Taken = { permitted: number; refused: number; others: number; sql: number; read: number; written: number };

async function attack({ url, name, waits, ms }: Order): Promise<Taken> {
  const kind = ATTACKS.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no attack ${name}`);
  const { user, credentials = [...Array(CREDENTIALS).keys()], rate, renews, request } = kind;
  const taken: Taken = { permitted: 0, refused: 0, others: 0, sql: 0, read: 0, written: 0 };
  const end = performance.now() + ms;
  const pause = (time: number) =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(time, end - performance.now()))));
  const keyFor = (caller: number) => keyOf(user, credentials[caller % credentials.length] as number);

  /** Sends a request and counts its answer, unless the attack has ended. Returns the body, and the seconds to wait. */
  async function send(key: string, { method, path, body, accept }: ReturnType<typeof request>) {
    const headers: Record<string, string> = {
      ...(user !== 0 && { Authorization: `Bearer ${key}` }),
      ...(accept && { Accept: accept }),
    };
    const answer = await fetch(url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    const text = await answer.text();
    const [, sql = 0, read = 0, written = 0] = (answer.headers.get('Bench-Taken') ?? '').split(' ').map(Number);
    const kindOf = answer.ok ? 'permitted' : answer.status === 429 ? 'refused' : 'others';
    taken[kindOf] += 1;
    taken.sql += sql;
    taken.read += read;
    taken.written += written;
    return { answer, text };
  }

  const sessions = Array.from({ length: 10 }, (_, index) => ({ key: keyOf(user, index), calls: 0 }));
  async function renewed(index: number): Promise<string> {
    const session = sessions[index % sessions.length] as (typeof sessions)[number];
    if (session.calls++ % 10 === 0) {
      const { answer, text } = await send(keyOf(user, index % sessions.length), {
        method: 'POST',
        path: '/api/v1/session',
      });
      if (answer.ok) session.key = JSON.parse(text).data.session_key;
    }
    return session.key;
  }

  async function caller(index: number): Promise<void> {
    for (let step = 0; performance.now() < end; step++) {
      const key = renews ? await renewed(index) : keyFor(index);
      const { answer } = await send(key, request(index, step));
      if (!answer.ok && waits) await pause(1000 * Number(answer.headers.get('Retry-After') ?? 1));
    }
  }

  if (rate === undefined) await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => caller(index)));
  else {
    const sent: Promise<unknown>[] = [];
    const began = performance.now();
    for (let step = 0; performance.now() < end; step++) {
      sent.push(send(keyFor(step), request(step, step)));
      await pause(began + (1000 * (step + 1)) / rate - performance.now());
    }
    await Promise.all(sent);
  }
  return taken;
}

parentPort?.on('message', async (order: Order) => parentPort?.postMessage(await attack(order)));
