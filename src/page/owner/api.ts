// The service as the console asks it: Hono's client with the types of the routes, and a key that only this closure holds.
import { hc } from 'hono/client';
import type { AppType } from '../../app.ts';
import type { Business, Businesses, Changes, ErrorBody, ListedBusiness } from '../../wire/responses.ts';
import { ANSWER_TIMEOUT_MS } from '../report.ts';
import { type Day, sum } from '../scale.ts';
import type { UsageChart } from '../usage-chart.ts';

export type { Business, Businesses, ListedBusiness };
export type Change = Changes['changes'][number];
export type Days = { from: string; to: string };

export const PER_PAGE = 20;
const PER_SEARCH = 50;

/** A call that brought no success. `status` is 0 where no answer came: nobody knows whether a change was made. */
export class Failure extends Error {
  readonly status: number;
  /** How long to wait, where the service says so. */
  readonly seconds: number | null;
  constructor(status: number, message: string, seconds: number | null = null) {
    super(message);
    this.status = status;
    this.seconds = seconds;
  }
}

/** The answer, or what was said instead. */
async function answered<A extends Pick<Response, 'ok' | 'status' | 'headers' | 'json'>>(asked: Promise<A>): Promise<A> {
  const answer = await asked.catch(() => {
    throw new Failure(0, 'The service cannot be reached.');
  });
  if (answer.ok) return answer;
  const said: Partial<ErrorBody> | null = await answer.json().catch(() => null);
  const wait = Number(answer.headers.get('Retry-After') ?? '');
  throw new Failure(answer.status, said?.message ?? `The service answered ${answer.status}.`, wait || null);
}

type Answer<Data> = Pick<Response, 'ok' | 'status' | 'headers'> & { json(): Promise<{ data: Data }> };

async function dataOf<Data>(asked: Promise<Answer<Data>>): Promise<Data> {
  const answer = await answered(asked);
  const { data } = await answer.json().catch(() => {
    throw new Failure(0, 'The answer of the service broke off.');
  });
  return data;
}

/** The service for the owner of a key. `onEnd` is called when the key stops working. */
export function connect(key: string, onEnd: () => void) {
  const client = hc<AppType>(location.origin, {
    headers: { Authorization: `Bearer ${key}`, Accept: 'application/json' },
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const answer = await fetch(input, {
        ...init,
        credentials: 'omit',
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      // Of a 401, only this one has the challenge of a credential: the other means that the business is unknown.
      if (answer.headers.get('WWW-Authenticate')?.includes('invalid_token')) onEnd();
      return answer;
    },
  });
  const all = client.api.v1.business;
  const one = all[':business_id'];
  const of = (id: number) => ({ business_id: `${id}` });
  const page = (after: number, limit: number) =>
    dataOf(all.$get({ query: { limit: `${limit}`, ...(after > 0 && { after: `${after}` }) } }));
  const report = (id: number, { from, to }: Days, Accept: string) =>
    answered(all.usage[':business_id'].$get({ param: of(id), query: { from, to } }, { headers: { Accept } }));

  return {
    /** Enough of the key to tell it from others. */
    tail: key.slice(-4),
    businesses: (after: number) => page(after, PER_PAGE),
    /** Pages for a search: as few as there can be. */
    manyBusinesses: (after: number) => page(after, PER_SEARCH),
    /** What only the list tells of a business: its limits. */
    listed: async (id: number) => (await page(id - 1, 1)).businesses.find((business) => business.id === id) ?? null,
    business: (id: number) => dataOf(one.access.$get({ param: of(id) })),
    total: async (id: number, days: Days) => {
      const answer = await report(id, days, 'application/json');
      const body = (await answer.json()) as { data: { used: Day[] } };
      return sum(body.data.used);
    },
    csv: async (id: number, days: Days) => (await report(id, days, 'text/csv')).blob(),
    addSite: (id: number, site: string) => dataOf(one.access.$post({ param: of(id), json: { sites: [site] } })),
    removeSite: (id: number, access_id: number) =>
      dataOf(one.access[':access_id'].$delete({ param: { ...of(id), access_id: `${access_id}` } })),
    removeSites: (id: number) => dataOf(one.access.$delete({ param: of(id) })),
    refused: async (id: number) => (await dataOf(one.access.refused.$get({ param: of(id) }))).refused,
    forgetRefused: (id: number) => dataOf(one.access.refused.$delete({ param: of(id) })),
    rotate: (id: number, keep_old: string | null) =>
      dataOf(one.token.$post({ param: of(id), json: keep_old === null ? {} : { keep_old } })),
    changes: (id: number, before: number | null) =>
      dataOf(one.changes.$get({ param: of(id), query: before === null ? {} : { before: `${before}` } })),
    /** Lets a chart ask for itself. The property, because an attribute would put the key into the document. */
    lend: (chart: UsageChart) => {
      chart.token = key;
    },
  };
}

export type Api = ReturnType<typeof connect>;
