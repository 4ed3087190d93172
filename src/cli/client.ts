// The HTTP client of the commands, `npm run verify` and the demo. Sends a key only to the service that it belongs to, and does not follow
// redirects. Does not use `fetch`, which rejects ports such as 6000 and joins duplicate headers.
import { once } from 'node:events';
import { request as http, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { request as https } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { isSafeAddress } from '../core/address.ts';
import { parseCredential } from '../core/credential.ts';
import { API } from '../operation.ts';

/** A response's `data`. */
// biome-ignore lint/suspicious/noExplicitAny: each caller reads the fields that its operation returns
export type Data = any;
/** `key` defaults to the service's. Null sends no key. A string body is sent unchanged, and any other as JSON. */
export type Call = { key?: string | null; query?: object; body?: unknown; headers?: OutgoingHttpHeaders };
/** `outcome` is the status and the Error-Code, if any, such as `401 unauthenticated`. `data` is the `data` of a JSON body. */
export type Answer<T> = { outcome: string; headers: IncomingHttpHeaders; text: string; data: T };
export type Service = ReturnType<typeof serviceAt>;

/** Thrown if the response was lost or incomplete, or had a 5xx status. In these cases, the change may have been made. */
export class UnknownOutcome extends Error {}

/** The service itself waits at most 10 seconds for its database. */
const TIMEOUT_MS = 30_000;
/** Errors that occur before the request is sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];
/** A request over a rate limit did nothing, so it is sent again after the time that the service names, at most this many times. */
const MAX_WAITS = 30;

/** Creates a client of the service at an origin, or at the root of its API. A request is a method and a path, such as `GET /health`. */
export function serviceAt(address: string, operatorKey: string) {
  const { origin, host, pathname } = new URL(address);
  const root = pathname === '/' ? API : pathname.replace(/\/$/, '');

  /** Sends a request to the API, and returns any response. */
  const send = <T>(request: string, call?: Call) => fetch<T>(request.replace(' ', ` ${root}`), call);

  /** Sends a request to any path of the origin, and returns any response. */
  async function fetch<T = Data>(request: string, { key = operatorKey, query, body, headers }: Call = {}) {
    const [method = '', path = ''] = request.split(' ');
    const url = new URL(origin + path);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, `${value}`);
    const sent = (url.protocol === 'https:' ? https : http)(url, {
      method,
      headers: {
        'User-Agent': 'business-usage-access', // Cloudflare challenges requests without one
        ...(key && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    sent.on('error', () => {}); // ignores errors after the response, such as those caused by an unread request body
    try {
      const [response] = await once(sent.end(typeof body === 'string' ? body : JSON.stringify(body)), 'response');
      const content = await text(response);
      const outcome = [response.statusCode, response.headers['error-code']].join(' ').trim();
      const answer: Answer<T> = { outcome, headers: response.headers, text: content, data: jsonIn(content)?.data };
      return answer;
    } catch (error) {
      const { name, code, message } = error as NodeJS.ErrnoException;
      const reason = name === 'AbortError' ? `none within ${TIMEOUT_MS / 1000} seconds` : (code ?? message);
      if (NOT_SENT.includes(reason)) throw new Error(`${host} cannot be reached: ${reason}`);
      throw new UnknownOutcome(`${host} sent no complete response: ${reason}`);
    }
  }

  /** Sends a request until it is within the rate limits. Throws unless the service accepts it. */
  async function sendOnce<T>(request: string, call: Call): Promise<Answer<T>> {
    let answer = await send<T>(request, call);
    for (let waits = 0; answer.outcome === '429 rate_limited' && waits < MAX_WAITS; waits++) {
      await wait(Number(answer.headers['retry-after']) * 1000);
      answer = await send<T>(request, call);
    }
    if (answer.outcome === '200' && jsonIn(answer.text)?.status === true) return answer;
    throw refusalIn(host, answer);
  }

  /**
   * Sends a request, and throws unless the service accepts it. The message is the service's, with one reason a line. If the outcome is unknown
   * and the request has an idempotency key, retries once.
   */
  async function succeed<T>(request: string, call: Call = {}): Promise<Answer<T>> {
    try {
      return await sendOnce(request, call);
    } catch (error) {
      if (!(error instanceof UnknownOutcome) || call.headers?.['Idempotency-Key'] === undefined) throw error;
    }
    return sendOnce<T>(request, call).catch(({ message }: Error) => {
      throw new UnknownOutcome(message);
    });
  }

  /** The same as `succeed`, but returns only the response's `data`. */
  const ok = async <T = Data>(request: string, call?: Call): Promise<T> => (await succeed<T>(request, call)).data;

  return { origin, host, send, fetch, succeed, ok };
}

function refusalIn(host: string, { outcome, headers, text }: Answer<unknown>): Error {
  const status = Number.parseInt(outcome, 10);
  if (status >= 300 && status < 400)
    return new Error(`${host} redirects to ${headers.location}. Use the URL of the service itself.`);
  const unlike = `${host} returned ${status}, but does not look like this service. Check its URL.`;
  const { message = unlike, errors } = jsonIn(text) ?? {};
  const reason = errors ? Object.values(errors).flat().join('\n') : message;
  return status < 300 || status >= 500 ? new UnknownOutcome(reason) : new Error(reason);
}

/** Returns undefined if the text is not JSON, because the response may come from another server. */
function jsonIn(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the operator key in the environment variable OPERATOR_KEY. Throws if it is invalid. */
export function operatorKeyIn({ OPERATOR_KEY: key = '' }: NodeJS.ProcessEnv): string {
  if (parseCredential(`Bearer ${key}`)?.kind === 'operator') return key;
  throw new Error(
    'Set the environment variable OPERATOR_KEY to an operator key: bua_op_ followed by 43 letters and digits.',
  );
}

/** Returns the service configured by API and OPERATOR_KEY. Throws if either is invalid. */
export function serviceIn(env: NodeJS.ProcessEnv): Service {
  const { API: api = '' } = env;
  const url = URL.parse(api);
  const address = `${url?.origin}${url?.pathname.replace(/\/$/, '')}`;
  const isRoot = address.endsWith(API) && url?.href.replace(/\/$/, '') === address;
  if (!isRoot || !isSafeAddress(api))
    throw new Error(
      'Set the environment variable API to the URL of the service, such as https://usage.example/api/v1. http is allowed only on this machine.',
    );
  return serviceAt(address, operatorKeyIn(env));
}

/** Reads and merges all pages of a list. `cursor` is the name of the cursor parameter. */
export async function readAllPages(service: Service, request: string, query: object, cursor: string): Promise<Data> {
  const all: Record<string, unknown[]> = {};
  for (let next: unknown; next !== null; ) {
    const asked = { ...query, ...(next !== undefined && { [cursor]: next }) };
    const { next: following, ...page } = await service.ok(request, { query: asked });
    for (const [name, entries] of Object.entries(page)) all[name] = [...(all[name] ?? []), ...(entries as unknown[])];
    next = following ?? null;
  }
  return all;
}
