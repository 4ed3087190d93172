// Promises that only a deployed service can prove: they depend on Cloudflare's proxy, bindings and databases, or on truly concurrent
// requests. The tests cover the rest. Each promise creates its own business, so promises do not depend on each other.
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Call, Service } from '../cli/client.ts';
import { SCHEDULES } from '../core/schedule.ts';

/** The name of the businesses that a run creates. `verify` deletes every business with this name that belongs to one of its users. */
export const NAME = 'npm run verify';
const SITE = 'https://verify.example';
/** A request without a credential. */
const PUBLIC = { key: null };
/** The time limit for data that is stored after the response. */
const STORED_WITHIN_MS = 20_000;
/**
 * The purge starts every two minutes and can take 30 seconds. The health check's result is usually less than 5 seconds old, and never more
 * than 10 seconds old.
 */
const [RUNS_WITHIN_MS, SEEN_WITHIN_MS, POLL_MS] = [170_000, 12_000, 2000];
const [MAX_REQUESTS, AT_ONCE] = [3000, 100];
const MAX_MS = 20_000; // slower requests may not reach the limit of 1,000 in ten seconds

export type Business = { id: number; name: string; token: string; created_at: string };
/** A database, and a user whose data it stores. After `stopped` aborts, checks create nothing and stop waiting. */
export type Target = { service: Service; database: number; user_id: number; stopped: AbortSignal };

/** Thrown if a promise cannot be checked because a prerequisite failed. */
export class NotVerified extends Error {}

export async function create({ service, stopped, ...target }: Target, more: object = {}) {
  stopped.throwIfAborted();
  const fields = { ...target, name: NAME, main_domain: 'verify.example', site: SITE, country_id: 1 };
  return service.succeed<Business>('POST /business', { body: { ...fields, business_size: 'small', ...more } });
}

/** Creates a business, and returns it with functions that record and read its uses. */
async function newBusiness(target: Target, more?: object) {
  const { data } = await create(target, more).catch(({ message }) => Promise.reject(new NotVerified(message)));
  const { send, ok } = target.service;
  const record = async (call?: Call) => (await send(`POST /business/usage/${data.id}`, call)).outcome;
  async function uses(): Promise<number> {
    const { used } = await ok<{ used: { count: number }[] }>(`GET /business/usage/${data.id}`);
    return used.reduce((sum, { count }) => sum + count, 0); // all days, because the test can run past midnight
  }
  return { ...data, path: `/business/${data.id}`, record, uses };
}

function same(seen: unknown, promised: unknown): void {
  if (!isDeepStrictEqual(seen, promised)) throw new Error(`${JSON.stringify(seen)}, not ${JSON.stringify(promised)}`);
}

/** Promises checked on each database. */
export const OF_DATABASE: Record<string, (target: Target) => Promise<void>> = {
  async 'a use is in the report as soon as it is confirmed'(target) {
    const { token, record, uses } = await newBusiness(target);
    same([await record({ key: token }), await record(), await uses()], ['200', '200', 2]);
  },
  async '20 concurrent uses with 10 ids count as 10'(target) {
    const { record, uses } = await newBusiness(target);
    const calls = Array.from({ length: 20 }, (_, index) => ({ headers: { 'Idempotency-Key': `id-${index % 10}` } }));
    same([...new Set(await Promise.all(calls.map(record))), await uses()], ['200', 10]);
  },
  async 'a limit of 1 refuses the second of two concurrent uses'(target) {
    const { record, uses } = await newBusiness(target, { daily_limit: 1, alert_at: [1000] }); // so that no alert is sent
    same([...(await Promise.all([record(), record()])).sort(), await uses()], ['200', '429 limit_reached', 1]);
  },
  async 'a revoked key stops working immediately'({ service, ...target }) {
    const { id: business_id, record } = await newBusiness({ service, ...target });
    const [keys, call] = [`/user/${target.user_id}/keys`, { body: { name: NAME, business_id } }];
    const { id, api_key: key } = await service.ok<{ id: number; api_key: string }>(`POST ${keys}`, call);
    const before = await record({ key });
    await service.ok(`DELETE ${keys}/${id}`);
    same([before, await record({ key })], ['200', '401 unauthenticated']);
  },
  async 'the token of a suspended business stops working immediately'(target) {
    const { path, token: key, record } = await newBusiness(target);
    const before = await record({ key });
    await target.service.ok(`PATCH ${path}`, { body: { status: 'suspended' } });
    same([before, await record({ key })], ['200', '401 unauthenticated']);
  },
  async 'a token works only on pages of its site, and a refused origin is listed'(target) {
    const { path, token: key, record } = await newBusiness(target, { sites: [SITE] });
    const [other, own] = ['https://other.example', SITE].map((Origin) => ({ key, headers: { Origin } }));
    const outcomes = [await record(own), await record(other), await record({ key })];
    same(outcomes, ['200', '403 origin_not_authorized', '403 origin_missing']);
    for (const deadline = performance.now() + STORED_WITHIN_MS; performance.now() < deadline; ) {
      const { refused } = await target.service.ok<{ refused: object[] }>(`GET ${path}/access/refused`);
      if (refused.length > 0) return;
      await wait(500, undefined, { signal: target.stopped });
    }
    throw new Error(`the refused origin is not listed after ${STORED_WITHIN_MS / 1000} seconds`);
  },
  async 'a duplicate header is rejected'(target) {
    const { token, record } = await newBusiness(target, { sites: [SITE] });
    const headers = { Authorization: `Bearer ${token}`, Origin: SITE };
    for (const name of ['Authorization', 'Origin'] as const) {
      const outcome = await record({ ...PUBLIC, headers: { ...headers, [name]: [headers[name], headers[name]] } });
      // Cloudflare may reject the request with 400.
      if (!/^40[013]\b/.test(outcome)) throw new Error(`two ${name} headers return ${outcome}`);
    }
  },
  async 'a console link opens the console at this address, and works once'({ service, ...target }) {
    const { id: business_id, path } = await newBusiness({ service, ...target });
    const link = `POST /user/${target.user_id}/console-link`;
    const { url } = await service.ok<{ url: string }>(link, { body: { business_id } });
    const [address, code] = url.split('#code=');
    const start = () =>
      service.send<{ session_key: string } | undefined>('POST /session', { ...PUBLIC, body: { code } });
    const started = await Promise.all([start(), start()]);
    const outcomes = started.map(({ outcome }) => outcome).sort();
    const key = started.find(({ outcome }) => outcome === '200')?.data?.session_key ?? null;
    const promised = [`${service.origin}/owner`, '200', '401 unauthenticated', '200'];
    same([address, ...outcomes, (await service.send(`GET ${path}`, { key })).outcome], promised);
  },
  async 'a deleted business is unknown immediately'(target) {
    const { path, token, record } = await newBusiness(target);
    await target.service.ok(`DELETE ${path}?name=${encodeURIComponent(NAME)}`);
    same([await record({ key: token }), await record()], ['401 unauthenticated', '422 unknown_business']);
  },
};

/** Promises checked once for the service. */
export const OF_SERVICE: Record<string, (service: Service, stopped: AbortSignal) => Promise<void>> = {
  async 'the health check reports that every database responds'({ send }) {
    same((await send('GET /health', PUBLIC)).outcome, '200');
  },
  async 'the scheduled runs finish'({ origin, send, fetch }, stopped) {
    async function runs() {
      const { outcome, text } = await send('GET /health', PUBLIC);
      if (outcome !== '200') throw new NotVerified(`GET /health returned ${outcome}`);
      return Object.entries<string | null>(JSON.parse(text).runs);
    }
    const before = Object.fromEntries(await runs());
    // Schedules do not run automatically in local development.
    const isLocal = origin.startsWith('http:');
    for (const cron of isLocal ? Object.values(SCHEDULES) : [])
      await fetch(`GET /cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`, PUBLIC);
    const ms = isLocal ? SEEN_WITHIN_MS : RUNS_WITHIN_MS;
    for (const end = Date.now() + ms; ; await wait(POLL_MS, undefined, { signal: stopped })) {
      const missing = (await runs()).filter(([name, ended]) => ended === before[name]).map(([name]) => name);
      if (missing.length === 0) return;
      if (Date.now() > end) throw new Error(`${missing.join(' and ')} did not finish within ${ms / 1000} seconds`);
    }
  },
  async 'the pages, the chart and the description are served'({ fetch }) {
    const paths = ['/', '/owner', '/v1/usage-chart.js', '/api/v1/openapi.json'];
    const answers = await Promise.all(paths.map((path) => fetch(`GET ${path}`, PUBLIC)));
    const types = answers.map(({ outcome, headers }) => `${outcome} ${headers['content-type']?.split(';')[0]}`);
    same(types, ['200 text/html', '200 text/html', '200 text/javascript', '200 application/json']);
  },
  async 'responses require HTTPS, allow every origin and are never cached'({ send }) {
    const { outcome, headers } = await send('OPTIONS /business', PUBLIC);
    same([outcome, headers['access-control-allow-origin']], ['204', '*']);
    for (const call of [{}, PUBLIC]) {
      const { headers } = await send('GET /business?limit=1', call);
      same(headers['strict-transport-security'], 'max-age=15552000');
      same([headers['access-control-allow-origin'], headers['cache-control']], ['*', 'no-store']);
    }
  },
  async 'a body over 1 MiB is refused'({ send }) {
    same((await send('POST /business', { body: ' '.repeat(2 ** 20 + 1) })).outcome, '413 too_large');
  },
  async 'an address over its rate limit is refused for a while'({ send }, stopped) {
    const head = () => send('HEAD /openapi.json', PUBLIC);
    let refused: Awaited<ReturnType<typeof head>> | undefined;
    const began = performance.now();
    for (let sent = 0; refused === undefined && sent < MAX_REQUESTS; sent += AT_ONCE) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, head));
      refused = answers.find(({ outcome }) => outcome !== '200');
    }
    if (refused === undefined && performance.now() - began > MAX_MS)
      throw new NotVerified('the requests took too long');
    const seconds = refused?.headers['retry-after'];
    same([refused?.outcome, seconds], ['429 rate_limited', '10']);
    await wait(Number(seconds) * 1000, undefined, { signal: stopped });
    same((await head()).outcome, '200');
  },
};
