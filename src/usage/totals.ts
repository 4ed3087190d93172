// The usage of each business in a range of days, or in the billing month that ended on a given day.
import type * as z from 'zod/mini';
import { addDays, dayOf, MINUTE_MS, rangeOf } from '../core/time.ts';
import { MAX_TOTALS_PER_PAGE } from '../core/work.ts';
import { parseJson } from '../db/json.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { prefersCsv } from '../http/accept.ts';
import { csvResponse, VARY } from '../http/csv.ts';
import { type BusinessesPage, nextAfter, pageAfter, readPage } from '../http/paging.ts';
import { success } from '../http/response.ts';
import { API } from '../operation.ts';
import type { EndedMonths, Totals } from './description.ts';
import { monthsEnded, monthsOfUser } from './invoices.ts';
import type { totalsQuery } from './operations.ts';
import { totalsAfter, totalsOfUserAfter } from './reports.ts';
import { FINAL_AFTER_DAYS } from './rules.ts';

type TotalsQuery = z.output<typeof totalsQuery.schema>;

const pageOf = (query: TotalsQuery) => pageAfter(query, MAX_TOTALS_PER_PAGE);

/**
 * Responds with a page, after which the next one begins after the last of the examined `ids`. A CSV file has a Link header for that page (RFC
 * 8288), which includes the days that were `asked`, so all pages cover the same days even if some are read after midnight.
 */
function respond<Row extends Totals['usage'][number] | EndedMonths['usage'][number]>(
  c: ContextOf<Guarded>,
  page: BusinessesPage,
  { usage, ids }: { usage: Row[]; ids: number[] },
  { name, columns, asked }: { name: string; columns: readonly (keyof Row & string)[]; asked: Record<string, string> },
) {
  const next = nextAfter(c, page, ids);
  if (!prefersCsv(c.req.header('Accept')))
    return success<{ usage: Row[]; next: number | null }>(c, { usage, next }, VARY);
  const { user_id, limit, after } = page;
  const parameters = { ...asked, ...(user_id !== undefined && { user_id }), limit, after: next };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return csvResponse(c, {
    name: `usage-${name}${after === 0 ? '' : `-after-${after}`}`,
    columns,
    rows: usage,
    headers: next === null ? {} : { Link: `<${c.get('call').ownOrigin}${API}/usage?${query.join('&')}>; rel="next"` },
  });
}

const TOTAL = ['business_id', 'user_id', 'name', 'count'] as const;
async function totalsOfRange(c: ContextOf<Guarded>, query: TotalsQuery) {
  const range = rangeOf(query, dayOf(c.get('call').now));
  const page = pageOf(query);
  const { limit, after } = page;
  const values = { ...range, limit, after };
  const row = await readPage(c, page, totalsAfter(values), (user_id) => totalsOfUserAfter({ ...values, user_id }));
  const usage = parseJson(row.totals);
  const ids = usage.map(({ business_id }) => business_id);
  return respond(c, page, { usage, ids }, { name: `${range.from}-${range.to}`, columns: TOTAL, asked: range });
}

const MONTH = [
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
] as const;
/** Tests whether a month needs an invoice: if the business existed, or its uses in that month were imported or recorded late. */
const isBilled = ({ count, ends_on, created_at }: { count: number; ends_on: string; created_at: string }) =>
  count > 0 || ends_on >= created_at.slice(0, 'YYYY-MM-DD'.length);

/** Returns the usage in the caller's billing months that ended on a given day, or in those of one user. */
async function totalsOfMonths(c: ContextOf<Guarded>, query: TotalsQuery, ended: string) {
  const { now } = c.get('call');
  const page = pageOf(query);
  const { limit, after } = page;
  const values = { limit, after, ended };
  const row = await readPage(c, page, monthsEnded(values), (user_id) => monthsOfUser({ ...values, user_id }));
  // Allows a minute after midnight, because a batch that began just before midnight may still be running.
  const final = dayOf(new Date(now.getTime() - MINUTE_MS)) >= addDays(ended, FINAL_AFTER_DAYS);
  const examined = parseJson(row.months);
  const usage = examined.flatMap(({ month }) => (month !== null && isBilled(month) ? [{ ...month, final }] : []));
  const ids = examined.map(({ id }) => id);
  return respond(c, page, { usage, ids }, { name: `ended-${ended}`, columns: MONTH, asked: { ended } });
}

export const totals = (c: ContextOf<Guarded>, query: TotalsQuery) =>
  query.ended === undefined ? totalsOfRange(c, query) : totalsOfMonths(c, query, query.ended);
