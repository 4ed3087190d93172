// The service as the console asks it: Hono's client with the types of the routes. An API key is sent once, to begin a session.
import { hc } from 'hono/client';
import type { AppType } from '../../app.ts';
import type { Range } from '../../core/time.ts';
import type { ErrorBody, Session } from '../../wire/responses.ts';
import { ANSWER_TIMEOUT_MS } from '../report.ts';
import type { ChangeFilter } from './changes/change-pages.ts';
import { now, setClock } from './clock.ts';
import type { KeptSession } from './sign-in/kept.ts';

type FieldErrors = Record<string, string[]>;

/** As many as the service lists at once. */
const PER_PAGE = 50;

/** A call that failed. `status` is 0 if no answer came: then nobody knows whether a change was made. */
export class Failure extends Error {
  readonly status: number;
  /** How long to wait, if the service says. */
  readonly seconds: number | null = null;
  /** The word for the error, if the service sent one. */
  readonly code: string | null = null;
  /** What is wrong with the fields of the request, by their paths, such as `sites.1`. */
  readonly errors: FieldErrors = {};
  constructor(status: number, message: string, more: Partial<Pick<Failure, 'seconds' | 'code' | 'errors'>> = {}) {
    super(message);
    this.status = status;
    Object.assign(this, more);
  }
}

type Answer = Pick<Response, 'ok' | 'status' | 'headers' | 'json'>;
type DataAnswer<Data> = Omit<Answer, 'json'> & { json(): Promise<{ data: Data }> };

/** Throws what the service says if it refuses. */
async function successOf<A extends Answer>(call: Promise<A>): Promise<A> {
  const answer = await call.catch(() => {
    throw new Failure(0, 'The service cannot be reached.');
  });
  if (answer.ok) return answer;
  const body: (Partial<ErrorBody> & { errors?: FieldErrors }) | null = await answer.json().catch(() => null);
  const wait = Number(answer.headers.get('Retry-After') ?? '');
  const code = answer.headers.get('Error-Code');
  const message = body?.message ?? `The service answered ${answer.status}.`;
  throw new Failure(answer.status, message, { seconds: wait || null, code, errors: body?.errors ?? {} });
}

const dataIn = async <Data>(answer: DataAnswer<Data>): Promise<Data> => {
  const { data } = await answer.json().catch(() => {
    throw new Failure(0, 'The answer of the service broke off.');
  });
  return data;
};
const dataOf = async <Data>(call: Promise<DataAnswer<Data>>): Promise<Data> => dataIn(await successOf(call));

/** Hono's client. `onEnd` is called when the credential does not work, or no longer. */
const clientWith = (credential: { Authorization: string } | null, onEnd?: () => void) =>
  hc<AppType>(location.origin, {
    headers: { ...credential, Accept: 'application/json' },
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      const answer = await fetch(input, { ...init, credentials: 'omit', signal });
      setClock(answer.headers.get('Date'));
      // The 401 for an unknown business has no such challenge.
      if (answer.headers.get('WWW-Authenticate')?.includes('invalid_token')) onEnd?.();
      return answer;
    },
  }).api.v1;
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** Begins a session with an API key. */
export const beginWithKey = (key: string): Promise<KeptSession> =>
  begun(clientWith(bearer(key)).session.$post(), key.slice(-4));

/** Begins the session of a link. Its code works once. */
export const beginWithCode = (code: string): Promise<KeptSession> =>
  begun(clientWith(null).session.$post({ json: { code } }), null);

async function begun(call: Promise<DataAnswer<Session>>, tail: string | null): Promise<KeptSession> {
  const answer = await successOf(call);
  const { session_key: key, expires_at, read_only: readOnly, return_url: returnUrl } = await dataIn(answer);
  // By the clock of this computer, which may be wrong by more than the session lasts: a reload does not know that of the service.
  return { key, endsAt: Date.now() + Date.parse(expires_at) - now(), readOnly, tail, returnUrl };
}

/** The service for the owner of a session. `onEnd` is called when the session no longer works. */
export function connect(key: string, onEnd: () => void) {
  const client = clientWith(bearer(key), onEnd);
  const { business: businesses, session } = client;
  const { access, token, changes } = businesses[':business_id'];
  const param = (id: number) => ({ business_id: `${id}` });
  const report = (id: number, { from, to }: Range, Accept: string) =>
    businesses.usage[':business_id'].$get({ param: param(id), query: { from, to } }, { headers: { Accept } });

  return {
    /** Ends the session. Also when the tab is closed right after. */
    signOut: () => dataOf(session.$delete(undefined, { init: { keepalive: true } })),
    /** One page, after the business with the id `after`. */
    businesses: (after: number) =>
      dataOf(businesses.$get({ query: { limit: `${PER_PAGE}`, ...(after > 0 && { after: `${after}` }) } })),
    /** The business with its domains, its limits and its former tokens. */
    business: (id: number) => dataOf(businesses[':business_id'].$get({ param: param(id) })),
    /** The uses of each day. */
    report: async (id: number, range: Range) => (await dataOf(report(id, range, 'application/json'))).used,
    csv: async (id: number, range: Range) => (await successOf(report(id, range, 'text/csv'))).blob(),
    /** All of them, or none if one is not valid. */
    addSites: (id: number, sites: string[]) => dataOf(access.$post({ param: param(id), json: { sites } })),
    removeSite: (id: number, access_id: number) =>
      dataOf(access[':access_id'].$delete({ param: { ...param(id), access_id: `${access_id}` } })),
    removeSites: (id: number) => dataOf(access.$delete({ param: param(id) })),
    refused: async (id: number) => (await dataOf(access.refused.$get({ param: param(id) }))).refused,
    forgetRefused: (id: number) => dataOf(access.refused.$delete({ param: param(id) })),
    rotate: (id: number, keep_old: string | null) =>
      dataOf(token.$post({ param: param(id), json: keep_old === null ? {} : { keep_old } })),
    stopFormer: (id: number) => dataOf(token.former.$delete({ param: param(id) })),
    /** One page, before the change with the id `before`, of those that `filter` lets through. */
    changes: (id: number, filter: ChangeFilter, before: number | null) =>
      dataOf(changes.$get({ param: param(id), query: { ...filter, ...(before !== null && { before: `${before}` }) } })),
  };
}

export type Api = ReturnType<typeof connect>;
