// /api/v1/business/usage/{business_id}: the usage report, and recording uses.
import { zValidator } from '@hono/zod-validator';
import { type Context, Hono, type TypedResponse } from 'hono';
import * as z from 'zod/mini';
import { reachedLimit, remainingOf, type Standing } from '../core/limits.ts';
import { dayOf, daysIn, fillRange, isDay, MAX_RANGE_DAYS, type Range, rangeOf } from '../core/time.ts';
import { readVerdict } from '../db/permission.ts';
import { countManyOnce, countOnce, countUse, usageInRange, useBefore, usesBefore } from '../db/usage.ts';
import type { Env } from '../env.ts';
import { guard } from '../guard.ts';
import { prefersCsv } from '../http/accept.ts';
import { wholeBody } from '../http/body.ts';
import { LimitReached, methodNotAllowed, notFound } from '../http/errors.ts';
import { invalidField, refuseInvalidQuery } from '../http/input.ts';
import { send, success } from '../http/response.ts';
import type { RecordedUse, RecordedUses, UsageReport } from '../openapi/schemas.ts';
import { digestOfHeader, identifiedUses, operationOf, recording } from './recording.ts';

export const DAY_RULE = 'must be a day from 1970-01-01 to 9999-12-31, written YYYY-MM-DD';
const day = z.optional(z.string(`${DAY_RULE}, and given once`).check(z.refine(isDay, DAY_RULE)));
export const rangeQuery = z.object({ from: day, to: day });

/** The range of a report, with defaults for what the query leaves open. */
async function rangeOfReport(c: Context<Env>, query: z.output<typeof rangeQuery>): Promise<Range> {
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
    throw reached === null ? new Error('a permitted use was not counted') : new LimitReached(reached, now);
  }
  const one = counted === undefined ? 0 : 1;
  const { today, month } = before;
  const after = { ...before, today: today === null ? null : today + one, month: month === null ? null : month + one };
  const remaining = remainingOf(after);
  return remaining === null ? use : { ...use, remaining };
}

const VARY = { Vary: 'Accept' };

/** The report as a file (RFC 4180). No cell can be a formula: each is a day or a number. */
function csvResponse(c: Context<Env>, { from, to }: Range, used: DayCount[]) {
  const lines = ['date,count', ...used.map(({ date, count }) => `${date},${count}`)];
  const name = `usage-${c.get('call').business_id}-${from}-${to}.csv`;
  const headers = { ...VARY, 'Content-Type': 'text/csv', 'Content-Disposition': `attachment; filename="${name}"` };
  const csv = lines.map((line) => `${line}\r\n`).join('');
  return send(c, csv, 200, headers) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}

export const usage = new Hono<Env>()
  .get(
    '/:business_id',
    guard('read_usage'),
    zValidator('query', rangeQuery, refuseInvalidQuery('this report', rangeQuery)),
    async (c) => {
      const range = await rangeOfReport(c, c.req.valid('query'));
      const [{ days }] = await c.get('ask')(usageInRange(range));
      const counts: Record<string, number> = JSON.parse(days);
      const used = fillRange(range, counts);
      if (prefersCsv(c.req.header('Accept'))) return csvResponse(c, range, used);
      return success<UsageReport>(c, { used }, VARY);
    },
  )
  .post('/:business_id', wholeBody, recording, guard(operationOf), async (c) => {
    const ask = c.get('ask');
    const what = c.get('recording');
    switch (what.kind) {
      case 'one': {
        const [before, [counted]] = await ask(usesBefore, countUse);
        return success<RecordedUse>(c, recordedUse({ before, counted }, c.get('call').now));
      }
      case 'identified': {
        const digest = await digestOfHeader(c, what.header);
        const [before, [counted]] = await ask(useBefore({ digest }), ...countOnce(digest));
        return success<RecordedUse>(c, recordedUse({ before, counted }, c.get('call').now));
      }
      case 'many': {
        const { uses, listed } = await identifiedUses(c);
        const [, , { length: recorded }] = await ask(readVerdict, ...countManyOnce(uses));
        return success<RecordedUses>(c, { recorded, duplicates: listed - recorded });
      }
    }
  });

usage.all('/:business_id', methodNotAllowed('GET, HEAD, POST'));
usage.all('/*', notFound); // `usage` is never the id of a business
