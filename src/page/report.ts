// Asks the service for a report, and finds out why there is none, as far as a browser lets a page know.
import { type Day, sum } from './scale.ts';

/** How long an answer of the service is awaited, here and in the console. */
export const ANSWER_TIMEOUT_MS = 30_000;

/** `service`: it refused; `attributes`: one is missing or not valid; `csp`: the policy of the page forbids the call. */
export type Reason = 'service' | 'attributes' | 'csp' | 'offline' | 'network';

/** Why there is no report. `message` is for developers, from the service if it answered. `status` is 0 if it did not. */
export type Failed = { status: number; message: string; reason: Reason };
export const noReport = (reason: Reason, message: string, status = 0): Failed => ({ status, message, reason });

export type ReportRequest = { base: string; business: string; token: string; from: string | null; to: string | null };

/** Another server at `base-url` may leave anything out. */
type Body = { data?: { used?: Day[] }; message?: string };

/** Whether this can be drawn. */
export const areDays = (days: unknown): days is Day[] =>
  Array.isArray(days) && days.length > 0 && days.every((day) => !Number.isNaN(Date.parse(day?.date) + day?.count));

type Period = { from: string; to: string; total: number; used: Day[] };
/** The detail of the event `load`. `before` is set if the days that are compared have come. */
export type Loaded = Period & { before?: Period };
/** What a script gives the chart to draw. Day i of `before` is compared with day i of `used`. `today` is by default that of the browser. */
export type Data = { used: Day[]; before?: Day[] | undefined; today?: string | undefined };

export function periodOf(used: Day[]): Period {
  if (!areDays(used)) throw noReport('attributes', 'data: used and before must be lists of { date, count }');
  return { from: (used[0] as Day).date, to: (used.at(-1) as Day).date, total: sum(used), used };
}

/** Null if it is anything else than an origin, with or without a slash behind it. */
export function originOf(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed?.href === `${parsed?.origin}/` ? parsed.origin : null;
}

export async function report({ base, business, token, from, to }: ReportRequest, signal: AbortSignal): Promise<Day[]> {
  const url = new URL(`${base}/api/v1/business/usage/${encodeURIComponent(business)}`);
  if (from) url.searchParams.set('from', from);
  if (to) url.searchParams.set('to', to);
  const late = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  // Only an event tells a page that its own policy has blocked a call, and it comes after the call has failed.
  let forbidden = false;
  const watch = ({ blockedURI, disposition }: SecurityPolicyViolationEvent) => {
    if (disposition === 'enforce' && blockedURI.startsWith(base)) forbidden = true;
  };
  document.addEventListener('securitypolicyviolation', watch);
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
  const init = { headers, credentials: 'omit', signal: AbortSignal.any([signal, late]) } as const;
  const answer = await fetch(url, init).catch(() => new Promise<null>((event) => setTimeout(event, 50, null)));
  document.removeEventListener('securitypolicyviolation', watch);
  const body: Body | null | undefined = await answer?.json().catch(() => null);
  if (answer?.ok && areDays(body?.data?.used)) return body.data.used;
  if (forbidden) throw noReport('csp', `the Content-Security-Policy of this page needs connect-src ${base}`);
  if (!answer && !navigator.onLine) throw noReport('offline', 'the browser is offline');
  if (!answer || late.aborted) throw noReport('network', `no response from ${base}`);
  throw noReport('service', (!answer.ok && body?.message) || 'unexpected response', answer.status);
}
