// A service as its callers see it: over HTTP, and nothing else. A call ends within 15 seconds, and what it must give is said here, so
// that a check (checks.ts) reads as the promise that it is about.
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const CALL_TIMEOUT_MS = 15_000;
const MAX_SHOWN = 400;

/** The service does something else than it promises: the message says what. */
export class Differs extends Error {}
/** A check that could not be made, because something that it needs has failed. */
export class Unseen extends Error {}

export type Call = {
  /** By default the operator's. Null: without a credential. */
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};

export type Answer<T = unknown> = {
  status: number;
  /** The status, and the Error-Code if there is one: `200`, `401 unauthenticated`. */
  outcome: string;
  headers: Headers;
  text: string;
  /** What is in `data`, for JSON. */
  data: T;
};

export class DeployedService {
  /** How long the database took, for each response that says so. */
  readonly databaseMs: number[] = [];
  readonly origin: string;
  private readonly operatorKey: string;
  private readonly signal: AbortSignal | undefined;
  private readonly pending = new Set<Promise<unknown>>();

  /** Once `signal` is aborted, no call begins. One that is on its way goes on, so that all it does can be undone afterwards. */
  constructor(origin: string, operatorKey: string, signal?: AbortSignal) {
    this.origin = origin;
    this.operatorKey = operatorKey;
    this.signal = signal;
  }

  /** Sends a request, such as `GET /health`, whose path is below /api/v1. */
  send<T>(request: string, call: Call = {}): Promise<Answer<T>> {
    const [method = '', path = ''] = request.split(' ');
    return this.fetch<T>(method, `${this.origin}/api/v1${path}`, call);
  }

  /** The data of a request that must succeed. */
  async ok<T>(request: string, call?: Call): Promise<T> {
    const { outcome, data, text } = await this.send<T>(request, call);
    if (outcome !== '200') throw new Differs(`${request} is ${outcome} ${text}`);
    return data;
  }

  /** Sends a request that must be refused in this way. */
  async refused(request: string, outcome: string, call?: Call): Promise<Answer> {
    const answer = await this.send(request, call);
    if (answer.outcome !== outcome) throw new Differs(`${request} is ${answer.outcome}, not ${outcome}`);
    return answer;
  }

  /** Sends a request to a URL of the service. */
  async fetch<T>(method: string, url: string, call: Call): Promise<Answer<T>> {
    this.signal?.throwIfAborted();
    const answer = this.answer<T>(method, url, call).finally(() => this.pending.delete(answer));
    this.pending.add(answer);
    return answer;
  }

  /** Resolves when no call is on its way. */
  async idle(): Promise<void> {
    while (this.pending.size > 0) await Promise.allSettled(this.pending);
  }

  /** Rejects once no more calls may begin. */
  async wait(ms: number): Promise<void> {
    await wait(ms, undefined, this.signal && { signal: this.signal });
  }

  private async answer<T>(
    method: string,
    url: string,
    { key = this.operatorKey, body, headers }: Call,
  ): Promise<Answer<T>> {
    const init: RequestInit = {
      method,
      headers: { ...(key !== null && { Authorization: `Bearer ${key}` }), ...headers },
      redirect: 'manual', // the key goes nowhere else
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    };
    if (body !== undefined) init.body = JSON.stringify(body);
    const at = `${method} ${new URL(url).pathname}`;
    try {
      const response = await fetch(url, init);
      return this.answerOf<T>(response, await response.text());
    } catch (error) {
      throw new Differs(`${at} has no response: ${causeOf(error)}`);
    }
  }

  private answerOf<T>({ status, headers }: Response, text: string): Answer<T> {
    const [, ms] = /\bd1;dur=([\d.]+)/.exec(headers.get('Server-Timing') ?? '') ?? [];
    if (ms !== undefined) this.databaseMs.push(Number(ms));
    const code = headers.get('Error-Code');
    const outcome = code === null ? `${status}` : `${status} ${code}`;
    return { status, outcome, headers, text, data: dataIn(text) as T };
  }
}

function dataIn(text: string): unknown {
  try {
    return JSON.parse(text).data;
  } catch {
    return undefined;
  }
}

/** In fetch's errors, the cause says more than the message. */
function causeOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: Error & { code?: string } };
  if (name === 'TimeoutError') return `none within ${CALL_TIMEOUT_MS / 1000} seconds`;
  return cause?.code ?? cause?.message ?? message;
}

/** Throws unless what was seen is what was promised. `what` names it. */
export function same(what: string, seen: unknown, promised: unknown): void {
  if (isDeepStrictEqual(seen, promised)) return;
  throw new Differs(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(promised)}`);
}

/** One line without secrets, of a length that one can read. */
export function lineOf(text: string): string {
  const line = text.replace(/\b(bua_[a-z]{2}_)\w+/g, '$1…').replace(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
