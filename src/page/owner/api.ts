// Calls the service through Hono's client, typed by the routes. Sends an API key only once, to start a session.
import { hc } from 'hono/client';
import { MAX_PER_PAGE as MAX_ALERTS } from '../../alerts/rules.ts';
import type { AppType } from '../../app.ts';
import { MAX_PER_PAGE } from '../../business/rules.ts';
import type { OwnRole } from '../../core/policy.ts';
import type { Range } from '../../core/time.ts';
import type { ErrorBody } from '../../http/errors.ts';
import type { Session } from '../../sessions/description.ts';
import type { EndedMonths } from '../../usage/description.ts';
import { RESPONSE_TIMEOUT_MS } from '../report.ts';
import type { ChangeFilter } from './change-filter.ts';
import { now, setClock } from './clock.ts';
import type { StoredSession } from './storage.ts';

/** All businesses if `business_id` is missing. */
export type KeyToCreate = { name: string; role: OwnRole; business_id?: number; label?: string; expires_on: string };
type FieldErrors = Record<string, string[]>;

/**
 * A failed call. `status` is 0 if no complete response arrived, in which case the change may have been made, unless it `isUnsent`. It is -1
 * for an error in the page itself.
 */
export class Failure extends Error {
  readonly status: number;
  /** From `Retry-After`. */
  readonly seconds: number | null = null;
  /** True if the browser was offline before it could send the request. */
  readonly isUnsent: boolean = false;
  /** From `Error-Code`. */
  readonly code: string | null = null;
  /** Field errors by path, such as `sites.1`. */
  readonly errors: FieldErrors = {};
  constructor(
    status: number,
    message: string,
    more: Partial<Pick<Failure, 'seconds' | 'isUnsent' | 'code' | 'errors'>> = {},
  ) {
    super(message);
    this.status = status;
    Object.assign(this, more);
  }
}

type Answer = Pick<Response, 'ok' | 'status' | 'headers' | 'json'>;
type DataAnswer<Data> = Omit<Answer, 'json'> & { json(): Promise<{ data: Data }> };

/** Throws a Failure unless the response is successful. */
async function requireOk<A extends Answer>(call: Promise<A>): Promise<A> {
  const isUnsent = !navigator.onLine;
  const answer = await call.catch(({ name }: Error) => {
    if (isUnsent || !navigator.onLine) throw new Failure(0, 'You are offline.', { isUnsent });
    throw new Failure(0, name === 'TimeoutError' ? 'The service did not respond.' : 'The service cannot be reached.');
  });
  if (answer.ok) return answer;
  const body: (Partial<ErrorBody> & { errors?: FieldErrors }) | null = await answer.json().catch(() => null);
  const wait = Number(answer.headers.get('Retry-After') ?? '');
  const code = answer.headers.get('Error-Code');
  const message = body?.message ?? `The service responded with status ${answer.status}.`;
  throw new Failure(answer.status, message, { seconds: wait || null, code, errors: body?.errors ?? {} });
}

const readData = async <Data>(answer: DataAnswer<Data>): Promise<Data> => {
  const { data } = await answer.json().catch(() => {
    throw new Failure(0, 'The response from the service was cut off.');
  });
  return data;
};
const dataOf = async <Data>(call: Promise<DataAnswer<Data>>): Promise<Data> => readData(await requireOk(call));

/** Creates a client that calls `onEnd` when the service rejects the credential. */
const clientWith = (credential: { Authorization: string } | null, onEnd?: () => void) =>
  hc<AppType>(location.origin, {
    headers: { ...credential, Accept: 'application/json' },
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
      const answer = await fetch(input, { ...init, credentials: 'omit', signal });
      setClock(answer.headers.get('Date'));
      // A 401 for an unknown business lacks this challenge.
      if (answer.headers.get('WWW-Authenticate')?.includes('invalid_token')) onEnd?.();
      return answer;
    },
  }).api.v1;
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

export const signInWithKey = (key: string): Promise<StoredSession> =>
  sessionFrom(clientWith(bearer(key)).session.$post(), key.slice(-4));

/** Starts a session with a console link's code, which works only once. */
export const signInWithCode = (code: string): Promise<StoredSession> =>
  sessionFrom(clientWith(null).session.$post({ json: { code } }), null);

async function sessionFrom(call: Promise<DataAnswer<Session>>, tail: string | null): Promise<StoredSession> {
  const answer = await requireOk(call);
  const { session_key: key, expires_at, ...session } = await readData(answer);
  const { role, user_id: userId, can_create_keys: canCreateKeys, return_url: returnUrl } = session;
  const readOnly = role !== 'full';
  // Converts the expiry to this computer's clock, even though that clock can be hours off. The service's clock is unknown after a reload.
  return { key, endsAt: Date.now() + Date.parse(expires_at) - now(), readOnly, userId, canCreateKeys, tail, returnUrl };
}

/** Returns a session's API calls. Calls `onEnd` when the session no longer works. */
export function connect(key: string, onEnd: () => void) {
  const client = clientWith(bearer(key), onEnd);
  const { business: businesses, session, usage } = client;
  const { keys } = client.user[':user_id'];
  const { access, alerts, refusals, token, changes } = businesses[':business_id'];
  const param = (id: number) => ({ business_id: `${id}` });
  /** `which`: all uses, those of one source, or all by source. */
  const report = (id: number, range: Range, which: { source?: string; by?: 'source' }, Accept = 'application/json') =>
    businesses.usage[':business_id'].$get({ param: param(id), query: { ...range, ...which } }, { headers: { Accept } });
  const only = (source: string | null) => (source === null ? {} : { source });

  return {
    /** Completes even if the browser tab closes immediately. */
    signOut: () => dataOf(session.$delete(undefined, { init: { keepalive: true } })),
    /** Reads a page of businesses with ids higher than `after`. */
    businesses: (after: number) =>
      dataOf(businesses.$get({ query: { limit: `${MAX_PER_PAGE}`, ...(after > 0 && { after: `${after}` }) } })),
    /** Reads a page of the billing months that ended on this day, of businesses with ids higher than `after`. */
    months: (ended: string, after: number) =>
      dataOf(usage.$get({ query: { ended, ...(after > 0 && { after: `${after}` }) } })) as Promise<EndedMonths>,
    business: (id: number) => dataOf(businesses[':business_id'].$get({ param: param(id) })),
    report: async (id: number, range: Range, source: string | null = null) =>
      (await dataOf(report(id, range, only(source)))).used,
    /** What is remembered of the id of a use. */
    use: (id: number, use: string) =>
      dataOf(businesses.usage[':business_id'].use.$get({ param: param(id), query: { id: use } })),
    sources: async (id: number, range: Range) => (await dataOf(report(id, range, { by: 'source' }))).sources ?? [],
    /** The rows of the service, with this page's name for a count. */
    sourcesCsv: async (id: number, range: Range) =>
      (await (await requireOk(report(id, range, { by: 'source' }, 'text/csv'))).text()).replace('count', 'uses'),
    refusals: async (id: number, range: Range) =>
      (await dataOf(refusals.$get({ param: param(id), query: range }))).refused,
    /** The newest alerts, as many as a page can have. */
    alerts: async (id: number) =>
      (await dataOf(alerts.$get({ param: param(id), query: { limit: `${MAX_ALERTS}` } }))).alerts,
    /** Adds all sites, or none if one is invalid. */
    addSites: (id: number, sites: string[]) => dataOf(access.$post({ param: param(id), json: { sites } })),
    removeSite: (id: number, access_id: number) =>
      dataOf(access[':access_id'].$delete({ param: { ...param(id), access_id: `${access_id}` } })),
    removeSites: (id: number) => dataOf(access.$delete({ param: param(id) })),
    refused: (id: number) => dataOf(access.refused.$get({ param: param(id) })),
    forgetRefused: (id: number) => dataOf(access.refused.$delete({ param: param(id) })),
    rotate: (id: number, keep_old: string | null) =>
      dataOf(token.$post({ param: param(id), json: keep_old === null ? {} : { keep_old } })),
    stopFormer: (id: number) => dataOf(token.former.$delete({ param: param(id) })),
    stopFormerToken: (id: number, former_id: number) =>
      dataOf(token.former[':former_id'].$delete({ param: { ...param(id), former_id: `${former_id}` } })),
    /** Reads a page of changes that match `filter`, with ids lower than `before`. */
    changes: (id: number, filter: ChangeFilter, before: number | null) =>
      dataOf(changes.$get({ param: param(id), query: { ...filter, ...(before !== null && { before: `${before}` }) } })),
    keys: async (user_id: number) => (await dataOf(keys.$get({ param: { user_id: `${user_id}` } }))).keys,
    createKey: (user_id: number, key: KeyToCreate) =>
      dataOf(keys.$post({ param: { user_id: `${user_id}` }, json: key })),
    revokeKey: async (user_id: number, key_id: number) =>
      (await dataOf(keys[':key_id'].$delete({ param: { user_id: `${user_id}`, key_id: `${key_id}` } }))).key,
  };
}

export type Api = ReturnType<typeof connect>;
