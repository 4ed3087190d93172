// Reports usage, and records, lowers and imports uses.
import type * as z from 'zod/mini';
import { digestOf } from '../core/credential.ts';
import { Conflict } from '../core/field-errors.ts';
import {
  type LimitUsage,
  MAX_COUNT,
  type PeriodBeyond,
  refusalOfList,
  refusalOfUse,
  remainingOf,
} from '../core/limits.ts';
import { dayOf, fillRange, rangeOf } from '../core/time.ts';
import { type Json, parseJson } from '../db/json.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { prefersCsv } from '../http/accept.ts';
import { csvResponse, VARY } from '../http/csv.ts';
import { inputError, limitReached } from '../http/errors.ts';
import { idOf, requiredIdOf } from '../http/input.ts';
import { success } from '../http/response.ts';
import { serve } from '../serve.ts';
import { isBeyondCount } from './counting.ts';
import type {
  ImportedHistory,
  LoweredUses,
  RecordedUse,
  RecordedUses,
  Refusals,
  RememberedUses,
  UsageReport,
} from './description.ts';
import { importHistory } from './history.ts';
import { countManyOnce, type IdentifiedUse } from './lists.ts';
import { type LoweredUse, lowerUses } from './lowering.ts';
import { type loweringBody, operations, SOURCE_RULE, type usesBody } from './operations.ts';
import { countOnce, countUse, readKnownUse, readLimitUsage, type Use } from './recording.ts';
import { rememberedUse } from './remembered.ts';
import { refusalsInRange, usageBySource, usageInRange, usageOfSource } from './reports.ts';
import { dayOfUse, historyErrors, totalsBySource, usesByDay } from './rules.ts';
import { totals } from './totals.ts';

/** `before` is the state before the use. `counted` is undefined if the use was refused or already counted. */
type Counted = { before: LimitUsage & { date?: string | null; count?: number | null }; counted: DayCount | undefined };
type DayCount = { date: string; count: number };

/** Counts a use now. Retry-safe with an Idempotency-Key. */
async function count(c: ContextOf<Guarded>, use: Use): Promise<Counted> {
  const ask = c.get('ask');
  const id = idOf(c);
  if (id === undefined) {
    const { row, counted } = await orRefuseOverflow(ask(readLimitUsage, countUse(use)));
    return { before: row, counted: counted[0] };
  }
  const digest = digestOf(c.get('call').credential.kind, id);
  const { row, counted } = await orRefuseOverflow(ask(readKnownUse({ digest }), countOnce({ digest, ...use })));
  return { before: row, counted: counted[0] };
}

/** Counts a use on the day of a timestamp, as a list of one use. Throws if it would exceed a limit. */
async function countOn(c: ContextOf<Guarded>, day: string, use: Use): Promise<Counted> {
  const { credential, now } = c.get('call');
  const digest = digestOf(credential.kind, requiredIdOf(c));
  const steps = countManyOnce([{ digest, day, ...use, isDated: true }], false);
  const { row, counted, refused } = await c.get('ask')(readKnownUse({ digest }), steps);
  if (refused[0] !== undefined) throw listRefused(refused[0], now);
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
function requireRecorded({ before, counted }: Counted, quantity: number, now: Date): RecordedUse {
  const known = before.date ? { date: before.date, count: before.count ?? 0, duplicate: true as const } : undefined;
  const use = counted ?? known;
  if (use === undefined) {
    const refusal = refusalOfUse(before, quantity, now);
    if (refusal === null) throw new Error('a permitted use was not counted');
    throw limitReached(refusal.refusing, refusal.wait, quantity);
  }
  const remaining = remainingOf(before, dayOf(now), counted === undefined ? 0 : quantity, counted?.date);
  return remaining === null ? use : { ...use, remaining };
}

/** Returns the error for a list that would exceed a limit, or else MAX_COUNT. */
function listRefused({ beyond }: { beyond: Json<PeriodBeyond[]> }, now: Date) {
  const periods = parseJson(beyond);
  if (periods.length === 0) return beyondCount();
  const { refusing, wait } = refusalOfList(periods, now);
  const { period, starts_on, ends_on } = refusing;
  const isNow = starts_on <= dayOf(now) && dayOf(now) <= ends_on;
  const when = period === 'day' ? starts_on : `the month from ${starts_on} to ${ends_on}`;
  return limitReached(refusing, wait, refusing.total, isNow ? undefined : when);
}

/** Dedupes a list of uses by id, keeping each id's first occurrence. */
function identifiedUses(c: ContextOf<Guarded>, { uses }: z.output<typeof usesBody>): IdentifiedUse[] {
  const { credential, now } = c.get('call');
  const today = dayOf(now);
  const first = new Map<string, Omit<IdentifiedUse, 'digest'>>();
  for (const { id, at, quantity = 1, label = null } of uses) {
    const day = at === undefined ? today : dayOfUse(at);
    if (!first.has(id)) first.set(id, { day, quantity, isDated: at !== undefined, label });
  }
  return Array.from(first, ([id, use]) => ({ digest: digestOf(credential.kind, id), ...use }));
}

function loweredUses(c: ContextOf<Guarded>, { uses }: z.output<typeof loweringBody>): LoweredUse[] {
  const { kind } = c.get('call').credential;
  return uses.map(({ id, quantity }) => ({ id, digest: digestOf(kind, id), quantity }));
}

/** Returns the counts of one source by day. */
async function countsOfSource(c: ContextOf<Guarded>, range: { from: string; to: string }, source: string) {
  const { row } = await c.get('ask')(usageOfSource({ ...range, source }));
  if (row.number === null) throw new Conflict('source', SOURCE_RULE);
  return row.counts;
}

export const routes = serve(operations, {
  async readUsage(c) {
    const { by, source, ...days } = c.req.valid('query');
    const range = rangeOf(days, dayOf(c.get('call').now));
    const name = `usage-${c.get('call').business_id}-${range.from}-${range.to}`;
    const asksForCsv = prefersCsv(c.req.header('Accept'));
    if (by !== undefined) {
      const { row } = await c.get('ask')(usageBySource(range));
      const days = parseJson(row.days);
      const uses = usesByDay(days, parseJson(row.names));
      if (asksForCsv)
        return csvResponse(c, { name: `${name}-by-source`, columns: ['date', 'source', 'count'], rows: uses });
      const used = fillRange(range, Object.fromEntries(days));
      return success<UsageReport>(c, { used, sources: totalsBySource(uses) }, VARY);
    }
    const counts =
      source === undefined
        ? (await c.get('ask')(usageInRange(range))).row.counts
        : await countsOfSource(c, range, source);
    const used = fillRange(range, parseJson(counts));
    if (asksForCsv) return csvResponse(c, { name, columns: ['date', 'count'], rows: used });
    return success<UsageReport>(c, { used }, VARY);
  },

  async readRefusals(c) {
    const { business_id, now } = c.get('call');
    const range = rangeOf(c.req.valid('query'), dayOf(now));
    const { row } = await c.get('ask')(refusalsInRange(range));
    const rows = fillRange(range, parseJson(row.counts)).map(({ date, count }) => ({ date, by_limit: count }));
    if (!prefersCsv(c.req.header('Accept'))) return success<Refusals>(c, { refused: rows }, VARY);
    const name = `refusals-${business_id}-${range.from}-${range.to}`;
    return csvResponse(c, { name, columns: ['date', 'by_limit'], rows });
  },

  async readUse(c) {
    const { id } = c.req.valid('query');
    const digests = { of_key: digestOf('key', id), of_token: digestOf('token', id) };
    const { row } = await c.get('ask')(rememberedUse(digests));
    return success<RememberedUses>(c, {
      by_key: row.by_key && parseJson(row.by_key),
      by_token: row.by_token && parseJson(row.by_token),
    });
  },

  async recordUse(c) {
    const body = c.req.valid('json');
    if ('uses' in body) {
      const uses = identifiedUses(c, body);
      const { credential, now } = c.get('call');
      const steps = countManyOnce(uses, credential.kind === 'key');
      const { remembered, refused } = await c.get('ask')(readVerdict, steps);
      if (refused[0] !== undefined) throw listRefused(refused[0], now);
      return success<RecordedUses>(c, {
        recorded: remembered.length,
        duplicates: body.uses.length - remembered.length,
      });
    }
    const { quantity = 1, label = null, at } = body;
    const use = { quantity, label };
    const counted = await (at === undefined ? count(c, use) : countOn(c, dayOfUse(at), use));
    return success<RecordedUse>(c, requireRecorded(counted, quantity, c.get('call').now));
  },

  async lowerUses(c) {
    const uses = loweredUses(c, c.req.valid('json'));
    const { read, steps } = lowerUses(uses);
    const { row, lowered } = await c.get('ask')(read, steps);
    const { recorded, imported } = parseJson(row.found);
    return success<LoweredUses>(c, {
      lowered: lowered.length,
      unchanged: recorded - imported - lowered.length,
      imported,
      unknown: uses.length - recorded,
    });
  },

  async importHistory(c) {
    const { days, replace = false } = c.req.valid('json');
    const errorsWith = (taken: Record<string, number>) => historyErrors(days, dayOf(c.get('call').now), taken);
    const isPossible = Object.keys(errorsWith({})).length === 0;
    const { read, steps, total } = importHistory(days, replace);
    const { row } = await c.get('ask')(read, isPossible ? steps : undefined);
    const errors = errorsWith(parseJson(row.taken));
    if (Object.keys(errors).length > 0) throw inputError(errors);
    return success<ImportedHistory>(c, total);
  },

  readAllUsage: (c) => totals(c, c.req.valid('query')),
});
