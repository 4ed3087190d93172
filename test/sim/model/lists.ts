// The lists of businesses and of their uses, over all databases (docs/api.md, "List of businesses", "Invoices").
import { monthOf, planOn, usesIn } from './billing.ts';
import { fieldsOf, limitsOf, refusedByLimit, stillRefused } from './business.ts';
import { ANY, Answer, businessOf, type Call, sitesOf, success } from './call.ts';
import { READERS } from './callers.ts';
import { csv, prefersCsv } from './csv.ts';
import { ALERTS, BUSINESSES, instantOf, TOTALS } from './input.ts';
import { rulesOf } from './rule.ts';
import { isCovered } from './sites.ts';
import { type Business, databaseOf, IDS_PER_DATABASE } from './state.ts';
import { dayOf, daysBetween, plusDays, rangeOf, stamp } from './time.ts';

type Page = { examined: Business[]; next: number | null };

/** One page of the businesses with ids above `after` for which `isListed` holds. A page of the operator's list never spans databases. */
function pageOf(call: Call, perPage: number, isListed: (business: Business) => boolean = () => true): Page {
  const { state, query } = call;
  const limit = Number(query.get('limit') ?? perPage);
  const after = Number(query.get('after') ?? 0);
  const user = query.get('user_id');
  const isOfAll = call.operator !== null && user === null;
  const database = state.databases.includes(databaseOf(after + 1)) ? databaseOf(after + 1) : 0;
  const owner = isOfAll ? null : (call.key?.user_id ?? Number(user));
  const only = call.key?.business_id ?? null;
  const examined = state.businesses
    .filter(({ id }) => id > after && (only === null || id === only))
    .filter(({ id, user_id }) => (isOfAll ? databaseOf(id) === database : user_id === owner))
    .filter(isListed)
    .toSorted((a, b) => a.id - b.id)
    .slice(0, limit);
  if (examined.length === limit) return { examined, next: examined.at(-1)?.id ?? null };
  const following = state.databases.find((number) => number > databaseOf(after + 1));
  return { examined, next: isOfAll && following !== undefined ? following * IDS_PER_DATABASE : null };
}

/** Whether the caller's origin may read a listed business. */
function isReadable({ state, origin, own }: Call, { id }: Business): boolean {
  const sites = sitesOf(state, id);
  return origin === null || origin === own || sites.length === 0 || isCovered(sites, origin);
}

function listBusinesses(call: Call): Answer {
  const { state, now } = call;
  const today = dayOf(now);
  const { examined, next } = pageOf(call, 20);
  const businesses = examined
    .filter((business) => isReadable(call, business))
    .map((business) => ({
      ...fieldsOf(call, business),
      used: daysBetween(plusDays(today, -56), today).map((date) => ({
        date,
        count: state.counts[business.id]?.[date] ?? 0,
      })),
      limits: limitsOf(call, business),
      refused_origins: stillRefused(state, business.id, today).length,
      refused_by_limit: refusedByLimit(call, business),
    }));
  return success({ businesses, next });
}

function answerOf(
  call: Call,
  rows: Record<string, string | number | boolean | null>[],
  next: number | null,
  asked: string,
  columns: string[],
): Answer {
  const { query, own } = call;
  if (!prefersCsv(call)) return success({ usage: rows, next }, { Vary: 'Accept' });
  const limit = query.get('limit') ?? 1000;
  const user = query.has('user_id') ? `&user_id=${query.get('user_id')}` : '';
  const after = Number(query.get('after') ?? 0);
  const name = `usage-${asked.replace(/from=(.*)&to=(.*)/, '$1-$2').replace('ended=', 'ended-')}${after === 0 ? '' : `-after-${after}`}`;
  const link = `<${own}/api/v1/usage?${asked}${user}&limit=${limit}&after=${next}>; rel="next"`;
  return csv(name, columns, rows, { Link: next === null ? null : link });
}

const readAllUsage = (call: Call): Answer =>
  call.operation === 'read_ended' ? endedMonths(call, call.query.get('ended') as string) : totals(call);

function totals(call: Call): Answer {
  const { from, to } = rangeOf(call);
  const { examined, next } = pageOf(call, 1000);
  const rows = examined.map(({ id, user_id, name }) => {
    const count = Math.min(usesIn(call.state, id, from, to), Number.MAX_SAFE_INTEGER);
    return { business_id: id, user_id, name, count };
  });
  return answerOf(call, rows, next, `from=${from}&to=${to}`, ['business_id', 'user_id', 'name', 'count']);
}

function endedMonths(call: Call, ended: string): Answer {
  const { state, query, now } = call;
  const isEnded = (business: Business) => monthOf(business, ended).ends_on === ended;
  // The list of one user examines all of the user's businesses.
  const isOfOne = call.key !== null || query.has('user_id');
  const { examined, next } = pageOf(call, 1000, isOfOne ? undefined : isEnded);
  const final = dayOf(now - 60_000) >= plusDays(ended, 41);
  const rows = examined.flatMap((business) => {
    if (!isEnded(business) || !isReadable(call, business)) return [];
    const { id, user_id, name, created_at, extras } = business;
    const { starts_on } = monthOf(business, ended);
    const count = Math.min(usesIn(state, id, starts_on, ended), Number.MAX_SAFE_INTEGER);
    if (count === 0 && ended < created_at.slice(0, 10)) return [];
    const { monthly_limit } = planOn(business, ended);
    const extra = extras[starts_on] ?? 0;
    const month = { starts_on, ends_on: ended, count, monthly_limit, extra, final };
    return [{ business_id: id, user_id, name, created_at, ...month }];
  });
  const columns = [
    'business_id',
    'user_id',
    'name',
    'created_at',
    'starts_on',
    'ends_on',
    'count',
    'monthly_limit',
    'extra',
    'final',
  ];
  return answerOf(call, rows, next, `ended=${ended}`, columns);
}

/** The first page of a business's alerts. Those of one time have any order, and their rows are compared with `state.alerts`. */
function readAlerts(call: Call): Answer {
  const { state, query } = call;
  const { id: business_id } = businessOf(call);
  const since = stamp(instantOf(query.get('since') ?? '1970-01-01T00:00:00Z') ?? Number.NaN);
  const times = (state.alerts[business_id] ?? []).map(({ at }) => at).filter((at) => at >= since);
  const limit = Number(query.get('limit') ?? 20);
  const of = { id: ANY, period: ANY, starts_on: ANY, ends_on: ANY, limit: ANY, threshold: ANY, used: ANY };
  const alerts = times
    .toSorted()
    .toReversed()
    .slice(0, limit)
    .map((at) => ({ ...of, business_id, at, sent_at: ANY, state: ANY }));
  return success({ alerts, next: times.length > limit ? ANY : null });
}
const readAllAlerts = (): Answer => new Answer(200, null, ANY);

export const lists = rulesOf({
  list_businesses: {
    ...{ who: READERS, does: 'list businesses', inactive: true, retry: 'always' },
    query: BUSINESSES,
    on: { 'GET /business': listBusinesses },
  },
  read_all_usage: {
    ...{ who: 'operator recorder reader', does: 'read the usage of all businesses', inactive: true, retry: 'always' },
    query: TOTALS,
    on: { 'GET /usage': readAllUsage },
  },
  read_ended: {
    ...{ who: `${READERS} recorder`, does: 'read ended billing months', inactive: true, retry: 'always' },
    query: TOTALS,
    on: { 'GET /usage': readAllUsage },
  },
  read_alerts: {
    ...{ who: READERS, does: 'read alerts', inactive: true, retry: 'always' },
    query: ALERTS,
    on: { 'GET /business/:business_id/alerts': readAlerts },
  },
  read_all_alerts: {
    ...{ who: 'operator reader', does: 'read the alerts of all businesses', inactive: true, retry: 'always' },
    query: ALERTS,
    on: { 'GET /alerts': readAllAlerts },
  },
});
