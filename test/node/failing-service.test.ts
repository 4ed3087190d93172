// The two back ends in docs/embedding.md, exactly as published, against a service that fails in many ways. All cases run concurrently,
// because some wait for timeouts.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { IN_A_WORKER, inAWorker, ON_ANY_SERVER, onAnyServer, type Product, run } from './products.ts';

type Attempt = { path?: string; origin?: string; key?: string; requestId?: string; ms: number };
/** Responds to one attempt. */
type Step = (response: ServerResponse, attempt: Attempt) => void;

/** Echoes `X-Request-Id` with a dash appended, so that the id in the response differs from the id in the request. */
const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (response, { requestId }) =>
    response.writeHead(status, { 'X-Request-Id': `${requestId}-`, ...headers }).end(JSON.stringify(body));
const later =
  (ms: number, step: Step): Step =>
  (response, attempt) =>
    setTimeout(step, ms, response, attempt);
const begins = (response: ServerResponse, status: number, then?: () => void) =>
  response.writeHead(status, { 'Content-Length': 100 }).write('{"status":', then);
const breaksOff =
  (status: number): Step =>
  (response) =>
    begins(response, status, () => response.destroy());
const stalls: Step = (response) => begins(response, 200);
const isSilent: Step = () => {};
const neverEnds: Step = (response) => {
  const write = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', write).writeHead(403);
  write();
};
const sendsPage: Step = (response) => response.writeHead(200).end('<html>\nWelcome</html>');

const RECORDED = { status: true, data: { date: '2026-03-15', count: 1 } };
const counts = answers(200, RECORDED);
const forbidden = { status: false, message: 'Origin https://evil.example is not authorized for this business.' };
const refused = { 'Error-Code': 'origin_not_authorized' };
const refuses = answers(403, forbidden, refused);
const unauthenticated = { message: 'Unauthenticated.' };
const challenge = { 'Error-Code': 'unauthenticated', 'WWW-Authenticate': 'Bearer error="invalid_token"' };
const reached = { status: false, message: 'This business has used its 1000 uses for today.' };
const limit = { 'Error-Code': 'limit_reached', 'Retry-After': '3600' };
const UNAVAILABLE = { message: 'Service Unavailable' };
const outage = (seconds: string) => ({ 'Error-Code': 'unavailable', 'Retry-After': seconds });
const asksToWait = (seconds: string) => answers(503, UNAVAILABLE, outage(seconds));

const BREAK = /^(UND_ERR_SOCKET|ECONNRESET|Error: Network connection lost\.)$/;
const TIMEOUT = /The operation was aborted due to timeout$/;
const TOO_LONG = /The response is too long$/;
const NO_JSON = /not valid JSON$/;
const status = (code: number) => new RegExp(`Status ${code}$`);

type Case = {
  /** One response for each attempt. The last one repeats. */
  steps: Step[];
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** The logged reason of each failed attempt. */
  failures?: RegExp[];
  /** The visitor's longest wait and the shortest time between attempts, in seconds. */
  maxSeconds?: number;
  waits?: number;
};
const WORKS = { status: 200, body: { answer: 42 } };
const FAILS = { status: 503, body: UNAVAILABLE };
const CASES: Record<string, Case> = {
  'counts the use': { steps: [counts], ...WORKS },
  'refuses the origin': { steps: [refuses], status: 403, body: forbidden, headers: refused },
  'refuses the credential': { steps: [answers(401, unauthenticated, challenge)], status: 401, body: unauthenticated, headers: challenge },
  'reports a reached limit': { steps: [answers(429, reached, limit)], status: 429, body: reached, headers: limit },
  'closes the connection in the middle of a body, once': { steps: [breaksOff(200), counts], ...WORKS, failures: [BREAK], waits: 1 },
  'closes the connection in the middle of a body, always': { steps: [breaksOff(200)], ...FAILS, failures: [BREAK, BREAK] },
  'stalls in the middle of a body': { steps: [stalls], ...FAILS, failures: [TIMEOUT, TIMEOUT] },
  'never responds': { steps: [isSilent], ...FAILS, failures: [TIMEOUT, TIMEOUT] },
  'never ends its response': { steps: [neverEnds], ...FAILS, failures: [TOO_LONG, TOO_LONG], maxSeconds: 8 },
  'is unavailable and asks the client to wait 2 seconds, once': { steps: [asksToWait('2'), counts], ...WORKS, failures: [status(503)], waits: 2 },
  'is unavailable and asks the client to wait 10 seconds, always': { steps: [asksToWait('10')], ...FAILS, headers: outage('10'), failures: [status(503), status(503)], waits: 10 },
  'is unavailable after 10 seconds, asks the client to wait 10 more, and then never responds': { steps: [later(10_000, asksToWait('10')), isSilent], ...FAILS, failures: [status(503), TIMEOUT], waits: 20 },
  'is unavailable and asks the client to wait for a minute': { steps: [asksToWait('60')], ...FAILS, headers: outage('60'), failures: [status(503)], maxSeconds: 8 },
  'is unavailable until a date': { steps: [asksToWait('Sun, 15 Mar 2026 00:00:00 GMT')], ...FAILS, headers: outage('Sun, 15 Mar 2026 00:00:00 GMT'), failures: [status(503)], maxSeconds: 8 },
  'responds with a web page': { steps: [sendsPage], ...FAILS, failures: [NO_JSON, NO_JSON] },
  'redirects': { steps: [answers(301, RECORDED, { Location: '/elsewhere' })], ...FAILS, failures: [status(301), status(301)] },
}; // biome-ignore format: one row per line

/** The attempts of each visit, keyed by the visit's token. The token contains the names of a case and a program. */
const attempts = new Map<string, Attempt[]>();
const service = createServer(({ url: path, headers }, response) => {
  const { authorization: token = '', origin, 'idempotency-key': key, 'x-request-id': requestId } = headers;
  const attempt = { path, origin, key, requestId, ms: performance.now() } as Attempt;
  const made = [...(attempts.get(token) ?? []), attempt];
  attempts.set(token, made);
  const [, name = ''] = /^Bearer (.*) \/ /.exec(token) ?? [];
  const steps = CASES[name]?.steps ?? [counts];
  steps[Math.min(made.length, steps.length) - 1]?.(response, attempt);
});

const ORIGIN = 'https://acme.example';
async function visit({ url }: Product, token: string) {
  const started = performance.now();
  const headers = { Authorization: `Bearer ${token}`, Origin: ORIGIN, 'Idempotency-Key': 'mine' };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
  const body: unknown = await answer.json();
  return { status: answer.status, headers: answer.headers, body, seconds: (performance.now() - started) / 1000 };
}
type Visit = Awaited<ReturnType<typeof visit>>;

const ALWAYS = {
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Error-Code, Retry-After, WWW-Authenticate, X-Request-Id',
  'cache-control': 'no-store',
  'content-type': 'application/json',
};
/** Headers that the HTTP implementation sets by itself. */
const OF_HTTP = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
const headersOf = ({ headers }: Pick<Response, 'headers'>) =>
  Object.fromEntries([...headers].filter(([name]) => !OF_HTTP.includes(name)));
const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns the logged reasons of the attempts with this `X-Request-Id`. */
const reasonsIn = (log: string[], id: string) =>
  log.flatMap((line) => {
    const [, reason, request] = /^The usage service failed: (".*"), X-Request-Id ([\w-]+)$/.exec(line) ?? [];
    return reason !== undefined && request?.startsWith(id) ? [JSON.parse(reason)] : [];
  });

const running: Product[] = [];

/** Makes all visits to one of the programs concurrently. */
async function visitsTo(program: string, { start, code }: (typeof PROGRAMS)[string]) {
  const { port } = service.address() as AddressInfo;
  const started = async (code?: string) => {
    const product = await start(`http://127.0.0.1:${port}`, code);
    running.push(product);
    return product;
  };
  const broken = code.replace('({ answer: 42 })', 'Promise.reject(new Error("secret"))');
  const [product, failing] = await Promise.all([started(), started(broken)]);
  const [failed, ...visits] = await Promise.all([
    visit(failing, 'works'),
    ...Object.keys(CASES).map(async (name) => [name, await visit(product, `${name} / ${program}`)] as const),
  ]);
  const afterwards = await visit(product, `counts the use / ${program}, afterwards`);
  return { product, failing, failed, visits: Object.fromEntries(visits), afterwards };
}

const PROGRAMS: Record<string, { start: typeof onAnyServer; code: string }> = {
  'on any server': { start: onAnyServer, code: ON_ANY_SERVER },
  'in a Worker': { start: inAWorker, code: IN_A_WORKER },
};
let all: Record<string, Awaited<ReturnType<typeof visitsTo>>>;

beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const entries = Object.entries(PROGRAMS);
  const made = entries.map(async ([name, program]) => [name, await visitsTo(name, program)] as const);
  all = Object.fromEntries(await Promise.all(made));
});
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
  service.closeAllConnections();
  service.close();
});

describe.each(Object.keys(PROGRAMS))('the back end %s', (program) => {
  const of = () => all[program] as (typeof all)[string];

  test.each(Object.entries(CASES))(
    'responds as documented when the service %s',
    async (name, { status, body, headers = {}, failures = [], ...time }) => {
      const { product, visits } = of();
      const answer = visits[name] as Visit;
      const [first, second, ...more] = attempts.get(`Bearer ${name} / ${program}`) as [Attempt, ...Attempt[]];
      expect(answer).toMatchObject({ status, body });
      const requestId = expect.stringMatching(new RegExp(`^${first.key}-?$`));
      expect(headersOf(answer)).toEqual({ ...ALWAYS, 'x-request-id': requestId, ...lowerCased(headers) });
      expect(answer.seconds).toBeLessThan(time.maxSeconds ?? 25);

      const { ms: _, ...use } = first;
      const key = expect.stringMatching(UUID);
      expect(use).toEqual({ path: '/api/v1/business/usage/7', origin: ORIGIN, key, requestId: first.key });
      expect(more).toEqual([]);
      if (second !== undefined) {
        expect(second).toMatchObject(use); // the retry sends the same idempotency key
        expect(second.ms - first.ms).toBeGreaterThan((time.waits ?? 1) * 1000 - 50);
      }

      const reasons = () => reasonsIn(product.log, `${first.key}`);
      await vi.waitFor(
        () => expect(reasons()).toEqual(failures.map((reason) => expect.stringMatching(reason))),
        20_000,
      );
    },
  );

  test('serves the next visitor after all failures', () => {
    expect(of().afterwards).toMatchObject(WORKS);
  });

  test('responds to a preflight without calling the service', async () => {
    const before = attempts.size;
    const preflight = await fetch(of().product.url, { method: 'OPTIONS', headers: { Origin: ORIGIN } });
    expect([preflight.status, await preflight.text(), attempts.size]).toEqual([204, '', before]);
    expect(headersOf(preflight)).toEqual(ALWAYS);
  });

  test('responds with 500 when its work fails, and hides the cause', () => {
    const { failing, failed } = of();
    expect(failed).toMatchObject({ status: 500, body: { message: 'Server Error' } });
    expect(failed.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(failing.log.join('\n')).toContain('secret');
  });

  test('logs only the service’s own failures', () => {
    expect(of().product.log.filter((line) => !line.startsWith('The usage service failed: '))).toEqual([]);
  });
});

test('the back end on any server names missing variables and exits', async () => {
  const { log, ended } = run(ON_ANY_SERVER, { API: '' });
  expect(await ended).toBe(1);
  expect(log).toEqual(['Missing in the environment: API, BUSINESS']);
});
