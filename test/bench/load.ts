// Sends requests to this machine only, for a bounded time, and measures them.
import { once } from 'node:events';
import autocannon from 'autocannon';

/** A request whose response must have `status`, 200 by default. */
export type Call = {
  method: 'GET' | 'POST' | 'OPTIONS';
  path: string;
  headers: Record<string, string>;
  body?: string;
  status?: number;
};

/** Requests per second, and the median latency in milliseconds. */
export type Slice = { perSecond: number; p50: number };

export const quantile = (sample: readonly number[], share: number): number =>
  Float64Array.from(sample).sort()[Math.min(sample.length - 1, Math.floor(sample.length * share))] ?? Number.NaN;
export const median = (sample: readonly number[]): number => quantile(sample, 0.5);

/** Sends a call over several connections for a quarter of a second. */
export async function load(url: string, { method, path, headers, status = 200 }: Call): Promise<Slice> {
  const latencies: number[] = [];
  const start = performance.now();
  let last = start;
  const isOnce = Object.values(headers).includes('[<id>]');
  const options = { connections: 8, duration: 0.25, sampleInt: 10, timeout: 60, idReplacement: isOnce };
  const run = autocannon({ url: url + path, method, headers, ...options }, () => {});
  const wrong = new Set<number>();
  run.on('response', (_client: unknown, answered: number, _bytes: number, milliseconds: number) => {
    last = performance.now();
    latencies.push(milliseconds);
    if (answered !== status) wrong.add(answered);
  });
  const [{ errors }] = (await once(run, 'done')) as [autocannon.Result];
  if (errors > 0 || wrong.size > 0) throw new Error(`${url + path}: ${errors} errors, statuses ${[...wrong]}`);
  return { perSecond: (latencies.length / (last - start)) * 1000, p50: median(latencies) };
}

/**
 * Has a `repeated` contender repeat a call within one request. Uses the clock of this process, because a Worker's clock does not advance during
 * a request.
 */
export async function repeat(url: string, call: Call): Promise<Slice> {
  const repeats = call.body === undefined ? 2000 : 50;
  const start = performance.now();
  await send(url, call, { 'Bench-Repeat': `${repeats}` });
  const p50 = (performance.now() - start) / repeats;
  return { perSecond: 1000 / p50, p50 };
}

export async function send(
  url: string,
  { method, path, headers, body: sent, status = 200 }: Call,
  more = {},
  signal?: AbortSignal,
) {
  const answer = await fetch(url + path, {
    method,
    headers: { ...headers, ...more },
    body: sent ?? null,
    signal: signal ?? null,
  });
  const body = await answer.text();
  if (answer.status !== status) throw new Error(`${url + path}: status ${answer.status}`);
  return { status, headers: answer.headers, body };
}
