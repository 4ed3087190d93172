// /api/v1/business/usage/{business_id}: the usage report, and recording uses. /api/v1/usage: what each business used.
import type { TypedResponse } from 'hono';
import type * as z from 'zod/mini';
import { Conflict } from '../core/conflict.ts';
import { digestOf } from '../core/credential.ts';
import {
  type ListedUse,
  MAX_COUNT,
  type PeriodBeyond,
  refusalOfList,
  refusingLimit,
  remainingOf,
  type Standing,
  secondsUntilAllowed,
  standingAfter,
  thresholdsPassedBy,
} from '../core/limits.ts';
import { dayOf, fillRange, type Range, rangeOf, rangeProblem } from '../core/time.ts';
import { writeMissingOf, writePassed } from '../db/alerts.ts';
import { type Json, parseJson } from '../db/json.ts';
import {
  countManyOnce,
  countOnce,
  countUse,
  exactTotals,
  isBeyondCount,
  limitsOnly,
  readKnownUse,
  readStanding,
  totalsAfter,
  usageInRange,
} from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard, guardRecording } from '../guard.ts';
import { prefersCsv } from '../http/accept.ts';
import { limitOfList, limitReached } from '../http/errors.ts';
import { invalidField, requireId, requireJson } from '../http/input.ts';
import { nextAfter, readPage } from '../http/pages.ts';
import { send, success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { MAX_TOTALS_PER_PAGE, quantityBody, rangeQuery, totalsQuery } from '../wire/requests.ts';
import type { RecordedUse, RecordedUses, Totals, UsageReport } from '../wire/responses.ts';
import { identifiedUses } from './recording.ts';

/** The range of a report, with defaults for what the query leaves open. */
async function rangeOfReport(c: ContextOf<Guarded>, query: z.output<typeof rangeQuery.schema>): Promise<Range> {
  const range = rangeOf(query, dayOf(c.get('call').now));
  const problem = rangeProblem(range, query.to === undefined);
  if (problem !== null) throw await invalidField(c, 'from', problem);
  return range;
}

/** The rows of one recorded use: what was read before, and the count if it was counted. */
type Outcome = { before: Standing & { date?: string | null; count?: number }; counted: DayCount | undefined };
type DayCount = { date: string; count: number };

/** Counts a use of this quantity: with an Idempotency-Key, once. */
async function recordUse(c: ContextOf<Guarded>, quantity: number): Promise<Outcome> {
  const ask = c.get('ask');
  const header = c.req.header('Idempotency-Key');
  if (header === undefined) {
    const { row, counted } = await orRefuseOverflow(ask(readStanding, { counted: countUse({ quantity }) }));
    return { before: row, counted: counted[0] };
  }
  const digest = await digestOf(c.get('call').credential.kind, await requireId(c, header));
  const { row, counted } = await orRefuseOverflow(ask(readKnownUse({ digest }), countOnce({ digest, quantity })));
  return { before: row, counted: counted[0] };
}

/** Stores the alerts that this use has passed, after the response. The next sweep writes what is lost there. */
function scheduleAlerts(c: ContextOf<Guarded>, { before, counted }: Outcome, quantity: number): void {
  if (counted === undefined) return;
  const { business_id, now } = c.get('call');
  const passed = thresholdsPassedBy(before, quantity, dayOf(now));
  if (passed.length > 0) c.get('later')('write_alerts', (d1) => writePassed(d1, business_id, passed, now));
}

/** The result of a batch, or a Conflict if a day would count too many uses. */
async function orRefuseOverflow<T>(batch: Promise<T>): Promise<T> {
  return batch.catch((error: unknown) => {
    throw isBeyondCount(error) ? beyondCount() : error;
  });
}
const beyondCount = () => new Conflict('quantity', `would bring a day beyond ${MAX_COUNT} uses`);

/** The day of a use and that day's count now. Throws if a limit refused the use. */
function requireRecorded({ before, counted }: Outcome, quantity: number, now: Date): RecordedUse {
  const known = before.date ? { date: before.date, count: before.count ?? 0 } : undefined;
  const use = counted ?? known;
  if (use === undefined) {
    // With only a monthly limit, compare the month: no day exceeds its month.
    if ((before.today ?? before.month ?? 0) > MAX_COUNT - quantity) throw beyondCount();
    const refusing = refusingLimit(before, quantity);
    throw refusing === null
      ? new Error('a permitted use was not counted')
      : limitReached(refusing, secondsUntilAllowed(refusing, before, quantity, now));
  }
  const remaining = remainingOf(counted === undefined ? before : standingAfter(before, quantity));
  return remaining === null ? use : { ...use, remaining };
}

/** A list of uses that a limit refuses. */
function listRefused(
  uses: (ListedUse & { index: number })[],
  { beyond, places }: { beyond: Json<PeriodBeyond[]>; places: Json<number[]> },
  now: Date,
) {
  const newPlaces = new Set(parseJson(places));
  const newUses = uses.filter((_, place) => newPlaces.has(place));
  const { use, refusing, wait } = refusalOfList(newUses, parseJson(beyond), now);
  const { period, starts_on, ends_on } = refusing;
  const isNow = starts_on <= dayOf(now) && dayOf(now) <= ends_on;
  const when = period === 'day' ? starts_on : `the month from ${starts_on} to ${ends_on}`;
  return limitOfList(use.index, refusing, wait, isNow ? undefined : when);
}

const VARY = { Vary: 'Accept' };

type CsvFile = { name: string; lines: string[]; headers?: Record<string, string> };

/** Lines as a file (RFC 4180). No cell may be a formula: each is a day or a number. */
function csvResponse(c: ContextOf<Guarded>, { name, lines, headers = {} }: CsvFile) {
  const ofFile = { 'Content-Type': 'text/csv', 'Content-Disposition': `attachment; filename="${name}.csv"` };
  const csv = lines.map((line) => `${line}\r\n`).join('');
  return send(c, csv, 200, { ...VARY, ...ofFile, ...headers }) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}

/** Where the next page is (RFC 8288). It names the days, so that all pages have the same range, whatever day it is by then. */
function linkHeader(c: ContextOf<Guarded>, next: Record<'from' | 'to' | 'limit' | 'after', string | number>) {
  const query = Object.entries(next).map(([name, value]) => `${name}=${value}`);
  return { Link: `<${c.get('call').ownOrigin}/api/v1/usage?${query.join('&')}>; rel="next"` };
}

export const usage = newRoutes()
  .get('/:business_id', guard('read_usage', { query: rangeQuery }), async (c) => {
    const range = await rangeOfReport(c, c.req.valid('query'));
    const { row } = await c.get('ask')(usageInRange(range));
    const used = fillRange(range, parseJson(row.counts));
    if (prefersCsv(c.req.header('Accept'))) {
      const lines = ['date,count', ...used.map(({ date, count }) => `${date},${count}`)];
      return csvResponse(c, { name: `usage-${c.get('call').business_id}-${range.from}-${range.to}`, lines });
    }
    return success<UsageReport>(c, { used }, VARY);
  })
  .post('/:business_id', guardRecording, async (c) => {
    const recording = c.get('recording');
    if (recording.operation === 'record_uses') {
      const { uses, listed } = await identifiedUses(c, recording.json);
      const { row, remembered, refused } = await orRefuseOverflow(c.get('ask')(limitsOnly, countManyOnce(uses)));
      const { business_id, now } = c.get('call');
      if (refused[0] !== undefined) throw listRefused(uses, refused[0], now);
      if (remembered.length > 0 && (row.daily_limit ?? row.monthly_limit) !== null)
        c.get('later')('write_alerts', (d1) => writeMissingOf(d1, business_id, now));
      return success<RecordedUses>(c, { recorded: remembered.length, duplicates: listed - remembered.length });
    }
    const { quantity } =
      recording.operation === 'record_use' ? { quantity: 1 } : await requireJson(c, recording.json, quantityBody);
    const outcome = await recordUse(c, quantity);
    scheduleAlerts(c, outcome, quantity);
    return success<RecordedUse>(c, requireRecorded(outcome, quantity, c.get('call').now));
  });

export const totals = newRoutes().get('/', guard('read_all_usage', { query: totalsQuery }), async (c) => {
  const query = c.req.valid('query');
  const range = await rangeOfReport(c, query);
  const limit = Number(query.limit ?? MAX_TOTALS_PER_PAGE);
  const after = Number(query.after ?? 0);
  const row = await readPage(c, after, totalsAfter({ ...range, limit, after }));
  const page = exactTotals(row.totals, range);
  const next = nextAfter(c, { after, limit, ids: page.map(({ business_id }) => business_id) });
  if (prefersCsv(c.req.header('Accept'))) {
    const rows = page.map(({ business_id, user_id, count }) => `${business_id},${user_id},${count}`);
    return csvResponse(c, {
      name: `usage-${range.from}-${range.to}${after === 0 ? '' : `-after-${after}`}`,
      lines: ['business_id,user_id,count', ...rows],
      headers: next === null ? {} : linkHeader(c, { ...range, limit, after: next }),
    });
  }
  return success<Totals>(c, { usage: page, next }, VARY);
});
