// An HTTP client for the service. Does not use `fetch`, which rejects ports such as 6000 and joins duplicate headers.
import { once } from 'node:events';
import { request as http, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as https } from 'node:https';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 15_000;
/** The maximum number of response characters in an error. */
const MAX_SHOWN = 300;

/** `key` defaults to the operator key. Null sends no key. A string body is sent unchanged. Any other body is sent as JSON. */
export type Call = { key?: string | null; body?: unknown; headers?: OutgoingHttpHeaders };
/** `outcome` is the status and the Error-Code, if any, such as `401 unauthenticated`. `data` is the `data` of a JSON body. */
export type Answer<T> = { outcome: string; headers: IncomingHttpHeaders; text: string; data: T };
export type Service = ReturnType<typeof serviceAt>;

/** Creates a client for an origin. Does not follow redirects, which could send the key elsewhere. */
export function serviceAt(origin: string, operatorKey: string) {
  /** Sends a request such as `GET /health`. The path is relative to /api/v1. */
  const send = <T>(request: string, call?: Call) => fetch<T>(request.replace(' ', ' /api/v1'), call);

  /** Sends a request to any path. */
  async function fetch<T>(request: string, { key = operatorKey, body, headers }: Call = {}): Promise<Answer<T>> {
    const [method = '', path] = request.split(' ');
    const sent = (origin.startsWith('https:') ? https : http)(`${origin}${path}`, {
      method,
      // Cloudflare challenges requests without a User-Agent.
      headers: { 'User-Agent': 'business-usage-access', ...(key && { Authorization: `Bearer ${key}` }), ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    sent.on('error', () => {}); // ignores errors after the response, such as those caused by an unread request body
    try {
      const [response] = await once(sent.end(typeof body === 'string' ? body : JSON.stringify(body)), 'response');
      return await answerOf<T>(response);
    } catch (error) {
      const { name, code, message } = error as NodeJS.ErrnoException;
      const cause = name === 'AbortError' ? `timed out after ${TIMEOUT_MS / 1000} seconds` : (code ?? message);
      throw new Error(`${request} got no response: ${cause}`);
    }
  }

  /** Sends a request. Throws unless the status is 200. */
  async function succeed<T>(request: string, call?: Call): Promise<Answer<T>> {
    const answer = await send<T>(request, call);
    if (answer.outcome === '200') return answer;
    throw new Error(`${request} returned ${answer.outcome} ${answer.text.slice(0, MAX_SHOWN)}`);
  }

  /** Sends a request and returns its `data`. Throws unless the status is 200. */
  const ok = async <T>(request: string, call?: Call): Promise<T> => (await succeed<T>(request, call)).data;

  return { origin, send, fetch, succeed, ok };
}

async function answerOf<T>(response: IncomingMessage): Promise<Answer<T>> {
  const { statusCode, headers } = response;
  const content = await text(response);
  const isJson = headers['content-type']?.startsWith('application/json') && content !== '';
  const outcome = [statusCode, headers['error-code']].join(' ').trim();
  return { outcome, headers, text: content, data: isJson ? JSON.parse(content).data : undefined };
}
