// /api/v1/business/usage/{business_id}: the usage report, and recording uses.
import type { TypedResponse } from 'hono';
import type * as z from 'zod/mini';
import { reachedLimit, remainingOf, type Standing } from '../core/limits.ts';
import { dayOf, daysIn, fillRange, MAX_RANGE_DAYS, type Range, rangeOf } from '../core/time.ts';
import { parseJson } from '../db/json.ts';
import { readVerdict } from '../db/permission.ts';
import { countManyOnce, countOnce, countUse, usageInRange, useBefore, usesBefore } from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard, guardRecording } from '../guard.ts';
import { prefersCsv } from '../http/accept.ts';
import { limitReached, notFound } from '../http/errors.ts';
import { invalidField } from '../http/input.ts';
import { send, success } from '../http/response.ts';
import { newRoutes, refuseOtherMethods } from '../http/router.ts';
import { rangeQuery } from '../wire/requests.ts';
import type { RecordedUse, RecordedUses, UsageReport } from '../wire/responses.ts';
import { digestOfHeader, identifiedUses } from './recording.ts';

/** The range of a report, with defaults for what the query leaves open. */
async function rangeOfReport(c: ContextOf<Guarded>, query: z.output<typeof rangeQuery.schema>): Promise<Range> {
  const range = rangeOf(query, dayOf(c.get('call').now));
  const end = `to (${range.to}${query.to === undefined ? ', today' : ''})`;
  if (range.from > range.to) throw await invalidField(c, 'from', `must not be after ${end}`);
  if (daysIn(range) > MAX_RANGE_DAYS) {
    throw await invalidField(c, 'from', `must be at most ${MAX_RANGE_DAYS - 1} days before ${end}`);
  }
  return range;
}

/** The rows of one recorded use: what was read before, and the count if it was counted. */
type Outcome = { before: Standing & { date?: string | null; count?: number }; counted: DayCount | undefined };
type DayCount = { date: string; count: number };

/** The day of a use and that day's count now. Throws if a limit refused the use. */
function recordedUse({ before, counted }: Outcome, now: Date): RecordedUse {
  const known = before.date ? { date: before.date, count: before.count ?? 0 } : undefined;
  const use = counted ?? known;
  if (use === undefined) {
    const reached = reachedLimit(before);
    throw reached === null ? new Error('a permitted use was not counted') : limitReached(reached, now);
  }
  const one = counted === undefined ? 0 : 1;
  const { today, month } = before;
  const after = { ...before, today: today === null ? null : today + one, month: month === null ? null : month + one };
  const remaining = remainingOf(after);
  return remaining === null ? use : { ...use, remaining };
}

const VARY = { Vary: 'Accept' };

/** The report as a file (RFC 4180). No cell can be a formula: each is a day or a number. */
function csvResponse(c: ContextOf<Guarded>, { from, to }: Range, used: DayCount[]) {
  const lines = ['date,count', ...used.map(({ date, count }) => `${date},${count}`)];
  const name = `usage-${c.get('call').business_id}-${from}-${to}.csv`;
  const headers = { ...VARY, 'Content-Type': 'text/csv', 'Content-Disposition': `attachment; filename="${name}"` };
  const csv = lines.map((line) => `${line}\r\n`).join('');
  return send(c, csv, 200, headers) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}

export const usage = newRoutes()
  .get('/:business_id', guard('read_usage', { query: rangeQuery }), async (c) => {
    const range = await rangeOfReport(c, c.req.valid('query'));
    const { row } = await c.get('ask')(usageInRange(range));
    const used = fillRange(range, parseJson(row.counts));
    if (prefersCsv(c.req.header('Accept'))) return csvResponse(c, range, used);
    return success<UsageReport>(c, { used }, VARY);
  })
  .post('/:business_id', guardRecording, async (c) => {
    const ask = c.get('ask');
    const { now } = c.get('call');
    const recording = c.get('recording');
    switch (recording.kind) {
      case 'one': {
        const { row, counted } = await ask(usesBefore, { counted: countUse });
        return success<RecordedUse>(c, recordedUse({ before: row, counted: counted[0] }, now));
      }
      case 'identified': {
        const digest = await digestOfHeader(c, recording.idempotencyKey);
        const { row, counted } = await ask(useBefore({ digest }), countOnce(digest));
        return success<RecordedUse>(c, recordedUse({ before: row, counted: counted[0] }, now));
      }
      case 'many': {
        const { uses, listed } = await identifiedUses(c, recording.text);
        const { remembered } = await ask(readVerdict, countManyOnce(uses));
        return success<RecordedUses>(c, { recorded: remembered.length, duplicates: listed - remembered.length });
      }
    }
  });

refuseOtherMethods(usage);
usage.all('/*', notFound); // `usage` is never the id of a business. Last, because the first route that matches responds
