// /api/v1/business/usage/{business_id}: the usage report, and recording and lowering uses.
import { Conflict } from '../core/conflict.ts';
import { digestOf } from '../core/credential.ts';
import {
  addUses,
  type LimitUsage,
  type ListedUse,
  MAX_COUNT,
  type PeriodBeyond,
  refusalOfList,
  refusingLimit,
  remainingOf,
  secondsUntilAllowed,
} from '../core/limits.ts';
import { dayOf, fillRange } from '../core/time.ts';
import { type Json, parseJson } from '../db/json.ts';
import { lowerUses } from '../db/lowering.ts';
import { readVerdict } from '../db/statement.ts';
import {
  countManyOnce,
  countOnce,
  countUse,
  isBeyondCount,
  readKnownUse,
  readLimitUsage,
  usageInRange,
} from '../db/usage.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { guard, guardRecording } from '../guard.ts';
import { prefersCsv } from '../http/accept.ts';
import { csvResponse, VARY } from '../http/csv.ts';
import { limitOfList, limitReached } from '../http/errors.ts';
import { idOf } from '../http/input.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { loweringBody, quantityBody, rangeQuery, useBody, usesBody } from '../wire/requests.ts';
import type { LoweredUses, RecordedUse, RecordedUses, UsageReport } from '../wire/responses.ts';
import { rangeErrors, rangeOfReport } from './range.ts';
import { identifiedUses, loweredUses, loweringErrors, usesErrors } from './recording.ts';

/** `before` is the state before the use. `counted` is undefined if the use was refused or already counted. */
type Outcome = { before: LimitUsage & { date?: string | null; count?: number }; counted: DayCount | undefined };
type DayCount = { date: string; count: number };

/** Counts a use. Retry-safe with an Idempotency-Key. */
async function recordUse(c: ContextOf<Guarded>, quantity: number): Promise<Outcome> {
  const ask = c.get('ask');
  const id = idOf(c);
  if (id === undefined) {
    const { row, counted } = await orRefuseOverflow(ask(readLimitUsage, countUse(quantity)));
    return { before: row, counted: counted[0] };
  }
  const digest = await digestOf(c.get('call').credential.kind, id);
  const { row, counted } = await orRefuseOverflow(ask(readKnownUse({ digest }), countOnce({ digest, quantity })));
  return { before: row, counted: counted[0] };
}

/** Converts the overflow of a daily count to a Conflict. */
async function orRefuseOverflow<T>(batch: Promise<T>): Promise<T> {
  return batch.catch((error: unknown) => {
    throw isBeyondCount(error) ? beyondCount() : error;
  });
}
const beyondCount = () => new Conflict('quantity', `must not raise the count of a day above ${MAX_COUNT} uses`);

/** Returns the day of a use and its current count. Throws if the use would have exceeded a limit. */
function requireRecorded({ before, counted }: Outcome, quantity: number, now: Date): RecordedUse {
  const known = before.date ? { date: before.date, count: before.count ?? 0, duplicate: true as const } : undefined;
  const use = counted ?? known;
  if (use === undefined) {
    const refusing = refusingLimit(before, quantity, dayOf(now));
    throw refusing === null
      ? new Error('a permitted use was not counted')
      : limitReached(refusing, secondsUntilAllowed(refusing, before, quantity, now));
  }
  const remaining = remainingOf(counted === undefined ? before : addUses(before, quantity), dayOf(now));
  return remaining === null ? use : { ...use, remaining };
}

/** Returns the error for a list that would exceed a limit. */
function listRefused(
  uses: (ListedUse & { index: number })[],
  { beyond, indexes }: { beyond: Json<PeriodBeyond[]>; indexes: Json<number[]> },
  now: Date,
) {
  const newIndexes = new Set(parseJson(indexes));
  const newUses = uses.filter((_, index) => newIndexes.has(index));
  const { use, refusing, wait } = refusalOfList(newUses, parseJson(beyond), now);
  const { period, starts_on, ends_on } = refusing;
  const isNow = starts_on <= dayOf(now) && dayOf(now) <= ends_on;
  const when = period === 'day' ? starts_on : `the month from ${starts_on} to ${ends_on}`;
  return limitOfList(use.index, refusing, wait, isNow ? undefined : when);
}

const guardUses = guardRecording(
  { record_use: useBody, record_quantity: quantityBody, record_uses: usesBody },
  (given, c) => ('uses' in given ? usesErrors(given, c.get('call').now) : {}),
);

export const usage = newRoutes()
  .get('/:business_id', guard('read_usage', { query: rangeQuery, rules: rangeErrors }), async (c) => {
    const range = rangeOfReport(c, c.req.valid('query'));
    const { row } = await c.get('ask')(usageInRange(range));
    const used = fillRange(range, parseJson(row.counts));
    if (prefersCsv(c.req.header('Accept'))) {
      const name = `usage-${c.get('call').business_id}-${range.from}-${range.to}`;
      return csvResponse(c, { name, columns: ['date', 'count'], rows: used });
    }
    return success<UsageReport>(c, { used }, VARY);
  })
  .post('/:business_id', guardUses, async (c) => {
    const body = c.req.valid('json');
    if ('uses' in body) {
      const uses = await identifiedUses(c, body);
      const { remembered, refused } = await orRefuseOverflow(c.get('ask')(readVerdict, countManyOnce(uses)));
      if (refused[0] !== undefined) throw listRefused(uses, refused[0], c.get('call').now);
      return success<RecordedUses>(c, {
        recorded: remembered.length,
        duplicates: body.uses.length - remembered.length,
      });
    }
    const { quantity = 1 } = body;
    return success<RecordedUse>(c, requireRecorded(await recordUse(c, quantity), quantity, c.get('call').now));
  })
  .patch('/:business_id', guard('lower_uses', { body: loweringBody, rules: loweringErrors }), async (c) => {
    const uses = await loweredUses(c, c.req.valid('json'));
    const { read, steps } = lowerUses(uses);
    const { row, lowered } = await c.get('ask')(read, steps);
    const { recorded, imported } = parseJson(row.found);
    return success<LoweredUses>(c, {
      lowered: lowered.length,
      unchanged: recorded - imported - lowered.length,
      imported,
      unknown: uses.length - recorded,
    });
  });
