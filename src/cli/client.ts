// Sends the commands' requests. Sends the operator key only to the URL in `API` and does not follow redirects. The URL must use https, or
// http if it refers to this machine.
import { setTimeout } from 'node:timers/promises';
import { isSafeAddress } from '../core/address.ts';
import { parseCredential } from '../core/credential.ts';

export type Service = { api: string; host: string; key: string };
/** A response's `data`. */
// biome-ignore lint/suspicious/noExplicitAny: each command reads the fields that its operation returns
export type Data = any;
export type Request = { method: string; path: string; query?: object; body?: object; idempotencyKey?: string };

/** Thrown if the response was lost or incomplete, or had a 5xx status. In these cases, the change may have been made. */
export class UnknownOutcome extends Error {}

/** The service itself waits at most 10 seconds for its database. */
const TIMEOUT_MS = 30_000;
/** Errors that occur before the request is sent. */
const NOT_SENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'bad port',
];

/** Returns the service configured by API and OPERATOR_KEY. Throws if either is invalid. */
export function serviceIn({ API: api = '', OPERATOR_KEY: key = '' }: NodeJS.ProcessEnv): Service {
  const url = URL.parse(api);
  const address = `${url?.origin}${url?.pathname.replace(/\/$/, '')}`;
  const isRoot = address.endsWith('/api/v1') && url?.href.replace(/\/$/, '') === address;
  if (url === null || !isRoot || !isSafeAddress(api))
    throw new Error(
      'Set the environment variable API to the URL of the service, such as https://usage.example/api/v1. http is allowed only on this machine.',
    );
  if (parseCredential(`Bearer ${key}`)?.kind !== 'operator')
    throw new Error(
      'Set the environment variable OPERATOR_KEY to an operator key: bua_op_ followed by 43 letters and digits.',
    );
  return { api: address, host: url.host, key };
}

/** Sends a request and returns the response's `data`. */
async function sendOnce(service: Service, request: Request): Promise<Data> {
  const { response, text } = await fetchResponse(service, request);
  const answer = jsonIn(text);
  if (response.ok && answer?.status === true) return answer.data;
  throw refusalIn(service, response, answer);
}

/** A request over a rate limit did nothing, so it is sent again after the time that the service names, at most this many times. */
const MAX_WAITS = 30;

async function fetchResponse(service: Service, request: Request, waits = MAX_WAITS) {
  const { api, host, key } = service;
  const { method, path, query = {}, body, idempotencyKey } = request;
  const url = new URL(api + path);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, `${value}`);
  const answer = await fetchText(host, url, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: body ? JSON.stringify(body) : null,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { status, headers } = answer.response;
  if (headers.get('Error-Code') === 'rate_limited' && waits > 0) {
    await setTimeout(Number(headers.get('Retry-After')) * 1000);
    return fetchResponse(service, request, waits - 1);
  }
  if (status >= 300 && status < 400)
    throw new Error(`${host} redirects to ${headers.get('Location')}. API must be the URL of the service itself.`);
  return answer;
}

/** Builds an error from the service's messages, one per line. */
function refusalIn({ host }: Service, response: Response, answer: Data): Error {
  const {
    message = `${host} returned ${response.status}, but does not look like this service. API must be the URL of the service.`,
    errors,
  } = answer ?? {};
  const reason = errors ? Object.values(errors).flat().join('\n') : message;
  return response.ok || response.status >= 500 ? new UnknownOutcome(reason) : new Error(reason);
}

async function fetchText(host: string, url: URL, init: RequestInit) {
  try {
    const response = await fetch(url, init);
    return { response, text: await response.text() };
  } catch (error) {
    const { code = '', message = '' } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const reason = code || message;
    if (NOT_SENT.includes(reason)) throw new Error(`${host} cannot be reached: ${reason}`);
    throw new UnknownOutcome(`${host} sent no complete response: ${message || code}`);
  }
}

/** Returns undefined if the text is not JSON, because the response may come from another server. */
function jsonIn(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends a request. If the outcome is unknown and the request has an idempotency key, retries once. */
export async function send(service: Service, request: Request): Promise<Data> {
  const first = await sendOnce(service, request).catch((error: Error) => error);
  if (!(first instanceof Error)) return first;
  if (!(first instanceof UnknownOutcome) || request.idempotencyKey === undefined) throw first;
  return sendOnce(service, request).catch((error: Error) => {
    throw new UnknownOutcome(error.message);
  });
}

/** Reads and merges all pages of a list. `cursor` is the name of the cursor parameter. */
export async function readAllPages(service: Service, request: Request, cursor: string): Promise<Data> {
  const all: Record<string, unknown[]> = {};
  for (let next: unknown; next !== null; ) {
    const query = { ...request.query, ...(next !== undefined && { [cursor]: next }) };
    const { next: following, ...page } = await send(service, { ...request, query });
    for (const [name, entries] of Object.entries(page)) all[name] = [...(all[name] ?? []), ...(entries as unknown[])];
    next = following ?? null;
  }
  return all;
}
