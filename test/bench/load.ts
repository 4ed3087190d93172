// Sends requests to this machine only, for a bounded time, and measures them.
import { once } from 'node:events';
import autocannon from 'autocannon';

const CONNECTIONS = 8;

/** A request whose response must have `status`, 200 by default. */
export type Call = {
  method: 'GET' | 'POST' | 'OPTIONS';
  path: string;
  headers: Record<string, string>;
  status?: number;
};

export type Slice = { perSecond: number; latencies: number[] };

/** How long to measure: for a number of seconds, or for a number of repetitions within one request if the contender is `repeated`. */
export type Span = { seconds: number } | { repeats: number };

/** Generates load against `url`. */
export async function load(url: string, call: Call, span: Span = { seconds: 0.25 }): Promise<Slice> {
  if ('repeats' in span) return repeat(url, call, span.repeats);
  const latencies: number[] = [];
  const wrong = new Set<number>();
  const start = performance.now();
  let last = start;
  const run = autocannon(
    {
      url: url + call.path,
      method: call.method,
      headers: call.headers,
      idReplacement: Object.values(call.headers).includes('[<id>]'),
      connections: CONNECTIONS,
      duration: span.seconds,
      sampleInt: 10,
      timeout: 60,
    },
    () => {},
  );
  run.on('response', (_client: unknown, answered: number, _bytes: number, milliseconds: number) => {
    last = performance.now();
    latencies.push(milliseconds);
    if (answered !== (call.status ?? 200)) wrong.add(answered);
  });
  const [{ errors }] = (await once(run, 'done')) as [autocannon.Result];
  if (errors > 0 || wrong.size > 0) throw new Error(`${url + call.path}: ${errors} errors, statuses ${[...wrong]}`);
  return { perSecond: (latencies.length / (last - start)) * 1000, latencies };
}

/** Uses the caller's clock, because a Worker's clock does not advance during a request. */
async function repeat(url: string, call: Call, repeats: number): Promise<Slice> {
  const start = performance.now();
  await send(url, call, { 'Bench-Repeat': `${repeats}` });
  const milliseconds = performance.now() - start;
  return { perSecond: (repeats / milliseconds) * 1000, latencies: [milliseconds / repeats] };
}

export async function send(
  url: string,
  { method, path, headers, status = 200 }: Call,
  more: Record<string, string> = {},
  signal: AbortSignal | null = null,
) {
  const answer = await fetch(url + path, { method, headers: { ...headers, ...more }, signal });
  const body = await answer.text();
  if (answer.status !== status) throw new Error(`${url + path}: status ${answer.status}`);
  return { status, headers: answer.headers, body };
}
