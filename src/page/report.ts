// Fetches a report, and explains a failure to the extent that the browser reveals its cause.
import { type Day, sum } from './scale.ts';

export const RESPONSE_TIMEOUT_MS = 30_000;

/** `service`: it returned an error. `attributes`: an attribute is missing or invalid. `csp`: the page's policy blocks the request. */
type Reason = 'service' | 'attributes' | 'csp' | 'offline' | 'network';

/** `message` is for developers. If the service responded, it is the service's message. `status` is 0 if there was no response. */
export type Failed = { status: number; message: string; reason: Reason };
const reportFailure = (reason: Reason, message: string, status = 0): Failed => ({ status, message, reason });

export type ReportRequest = { base: string; business: string; token: string; from: string | null; to: string | null };
type Attributes = { [name in 'business' | 'token' | 'from' | 'to']: string | null };

/** Another server at `base-url` may omit any field. */
type Body = { data?: { used?: Day[] }; message?: string };

/** Databases can return counts as text or null, and days as instants. */
const isDayList = (days: unknown): days is Day[] =>
  Array.isArray(days) &&
  days.length > 0 &&
  days.every(
    (day) =>
      /^\d{4}-\d\d-\d\d$/.test(day?.date) && [Date.parse(day.date), day.count].every(Number.isFinite) && day.count >= 0,
  );

type Period = { from: string; to: string; total: number; used: Day[] };
/** The `load` event's detail. `before` is set after the compared days are loaded. */
export type Loaded = Period & { before?: Period };
/** A daily limit, drawn as a dashed line in charts of days. */
export type Limit = { count: number; label: string };
/** Data that a script can set. The chart compares day i of `before` with day i of `used`. `today` defaults to the current day in UTC. */
export type Data = { used: Day[]; before?: Day[] | undefined; today?: string | undefined; limit?: Limit | undefined };

export function periodOf(used: Day[]): Period {
  if (!isDayList(used)) throw reportFailure('attributes', 'data: used and before must be lists of { date, count }');
  return { from: (used[0] as Day).date, to: (used.at(-1) as Day).date, total: sum(used), used };
}

/** Returns null unless the URL is an origin that can be fetched, with or without a trailing slash. */
export function originOf(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed?.href === `${parsed?.origin}/` && /^http/.test(parsed.href) ? parsed.origin : null;
}

/** Copies the service's rule (docs/api.md, "Credentials"), because importing it would make the chart larger than it may be. */
const TOKEN = /^(bua_pk_[0-9A-Za-z]{34}|(?![Bb][Uu][Aa]_)[A-Za-z0-9._~+/=-]{24,255})$/;

/** Throws a failure that says what each invalid attribute must be. It never contains the token. */
export function requestOf({ business, token, from, to }: Attributes, base: string | null): ReportRequest {
  const faults: string[] = [];
  if (!/^[1-9]\d{0,15}$/.test(`${business}`)) faults.push('business must be a positive whole number, such as 7');
  if (!TOKEN.test(`${token}`))
    faults.push(
      /bua_(sk|op)_/i.test(`${token}`)
        ? 'token is a secret key, which this page publishes: revoke it, and use the business token'
        : 'token must be bua_pk_ followed by 34 letters and digits, or an imported token',
    );
  if (!base) faults.push('base-url must be an origin, such as https://usage.example.com');
  if (faults[0]) throw reportFailure('attributes', faults.join('; '));
  return { base, business, token, from, to } as ReportRequest;
}

export async function fetchReport(
  { base, business, token, from, to }: ReportRequest,
  signal: AbortSignal,
): Promise<Day[]> {
  const url = new URL(`${base}/api/v1/business/usage/${business}`);
  if (from) url.searchParams.set('from', from);
  if (to) url.searchParams.set('to', to);
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  // Only this event reveals that the page's own policy blocked a request, and it fires after the fetch has failed.
  let isBlocked = false;
  const watch = ({ blockedURI, disposition }: SecurityPolicyViolationEvent) => {
    if (disposition === 'enforce' && blockedURI.startsWith(base)) isBlocked = true;
  };
  document.addEventListener('securitypolicyviolation', watch);
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
  const init = { headers, credentials: 'omit', signal: AbortSignal.any([signal, timeout]) } as const;
  const answer = await fetch(url, init).catch(() => new Promise<null>((resolve) => setTimeout(resolve, 50, null)));
  document.removeEventListener('securitypolicyviolation', watch);
  const body: Body | null | undefined = await answer?.json().catch(() => null);
  if (answer?.ok && isDayList(body?.data?.used)) return body.data.used;
  if (isBlocked) throw reportFailure('csp', `the Content-Security-Policy of this page needs connect-src ${base}`);
  if (!answer && !navigator.onLine) throw reportFailure('offline', 'the browser is offline');
  if (!answer || timeout.aborted) throw reportFailure('network', `no response from ${base}`);
  throw reportFailure('service', (!answer.ok && body?.message) || 'unexpected response', answer.status);
}
