// Rules of reports and of uses to record, lower or import for which a schema is not enough.
import { errorOf, type FieldErrors } from '../core/field-errors.ts';
import { isEmptyBody, type ParsedJson, parseBoundedJson } from '../core/json.ts';
import { DAY_MS, dayOf, MINUTE_MS, parseInstant, rangeOf, rangeProblem } from '../core/time.ts';
import type { Chosen, Circumstances } from '../operation.ts';

const ONE_USE: ParsedJson = { value: {} };

/**
 * Determines what a body records: a use, a use with a quantity or a label, or a list of uses with ids. Its content type does not matter. Any
 * other body is meant as one use, so a sender who may not record lists is told what is wrong with the body.
 */
export function parseRecording({ body: text }: { body: string }): Chosen {
  const json = isEmptyBody(text) ? ONE_USE : parseBoundedJson(text);
  const body = json.problem === undefined && typeof json.value === 'object' && json.value !== null ? json.value : {};
  if (Array.isArray(body) && body.length === 0) return { rule: 'record_use', json: ONE_USE };
  const isByServer = 'quantity' in body || 'label' in body;
  const rule = 'uses' in body ? 'record_uses' : isByServer ? 'record_quantity' : 'record_use';
  return { rule, json };
}

export const MAX_QUANTITY = 1_000_000_000;

/** The limits on a use's timestamp: in the past, by the caller's namespace, and in the future. */
const MAX_AGE_DAYS = { key: 35, token: 1 } as const;
const MAX_AHEAD_MINUTES = 5;
/**
 * The minimum number of days for which the ledger stores an id, by the caller's namespace. The numbers must exceed MAX_AGE_DAYS,
 * because a use that is reported twice must count only once, even if it is reported as late as allowed. For `token`, two days are enough
 * because pages retry within minutes. Tokens are public, so ids sent with them must not fill the database.
 */
export const KEEP_ID_DAYS = { key: 40, token: 2 } as const;

/** A use can be lowered until this many days after its day. */
export const LOWER_DAYS = KEEP_ID_DAYS.key;
/** A change names at most so many of the uses that it lowered, so that it stays small. */
export const MAX_NAMED_IDS = 20;
/** A day's count becomes final after this many days. From then on, the day's uses can no longer be recorded or lowered. */
export const FINAL_AFTER_DAYS = LOWER_DAYS + 1;

/** Returns the rule that a use at the timestamp `at` breaks now, or null. */
export function timeProblem(at: string, { now, namespace }: Pick<Circumstances, 'now' | 'namespace'>): string | null {
  const time = parseInstant(at) ?? Number.NaN;
  const days = MAX_AGE_DAYS[namespace];
  const [earliest, latest] = [now.getTime() - days * DAY_MS, now.getTime() + MAX_AHEAD_MINUTES * MINUTE_MS];
  if (time < earliest)
    return `must be at most ${days === 1 ? '24 hours' : `${days} days`} in the past: ${new Date(earliest).toISOString()} or later`;
  return time > latest
    ? `must be at most ${MAX_AHEAD_MINUTES} minutes in the future: ${new Date(latest).toISOString()} or earlier`
    : null;
}

/** Returns the day (UTC) on which a use at a valid timestamp counts. */
export const dayOfUse = (at: string): string =>
  /z$/i.test(at) ? at.slice(0, 10) : dayOf(new Date(parseInstant(at) ?? Number.NaN));

/** A report by source or of one source shows where a token is used, so it has a rule of its own. */
export const ruleOfReport = ({ query }: { query: Record<string, string> }): Chosen => ({
  rule: 'by' in query || 'source' in query ? 'read_sources' : 'read_usage',
});

/** Owners read only the months that have ended, because totals of years would be dear. */
export const ruleOfTotals = ({ query }: { query: Record<string, string> }): Chosen => ({
  rule: 'ended' in query ? 'read_ended' : 'read_all_usage',
});

/** The maximum number of days of a report by source, because each of its days can name many sources (core/sources.ts). */
export const MAX_DAYS_BY_SOURCE = 92;

type Days = { from?: string | undefined; to?: string | undefined };

/** Returns the error of a range that is too long or ends before it starts. If either day is wrong, there is no range yet. */
function rangeErrors(query: Days, { now }: Circumstances, errors: FieldErrors, mostDays?: number): FieldErrors {
  if (errors.from ?? errors.to) return {};
  const problem = rangeProblem(rangeOf(query, dayOf(now)), query.to === undefined, mostDays);
  return problem === null ? {} : errorOf('from', problem);
}

/** A report is of all uses, by source, or of one source. */
export function reportErrors(
  { by, source, ...range }: Days & { by?: string | undefined; source?: string | undefined },
  circumstances: Circumstances,
  errors: FieldErrors,
): FieldErrors {
  return {
    ...rangeErrors(range, circumstances, errors, by === undefined ? undefined : MAX_DAYS_BY_SOURCE),
    ...(by !== undefined && source !== undefined && { source: ['source must not be combined with by'] }),
  };
}

/** A day with uses, and how many of them each source has, by its number. Null if none has a source. */
export type DayBySource = [date: string, count: number, sources: Record<string, number> | null];
/** `source` is null for the uses without a source. */
type SourceUses = { source: string | null; count: number };

/** Returns the uses of each day by source. Sources without uses are omitted. `names` maps numbers to names. */
export const usesByDay = (days: DayBySource[], names: Record<string, string>): (SourceUses & { date: string })[] =>
  days.flatMap(([date, count, sources]) => {
    const named = Object.entries(sources ?? {}).map(([number, uses]) => ({
      source: names[number] ?? number,
      count: uses,
    }));
    const rest = { source: null, count: count - named.reduce((sum, { count }) => sum + count, 0) };
    return [...named, rest].filter(({ count }) => count > 0).map((each) => ({ date, ...each }));
  });

/** Returns the total of each source, most uses first, with the last of its days. `uses` must be ascending by day. */
export function totalsBySource(uses: (SourceUses & { date: string })[]): (SourceUses & { last_day: string })[] {
  const totals = new Map<string | null, SourceUses & { last_day: string }>();
  for (const { source, count, date } of uses)
    totals.set(source, { source, count: count + (totals.get(source)?.count ?? 0), last_day: date });
  return [...totals.values()].sort((a, b) => b.count - a.count || ((a.source ?? '~') < (b.source ?? '~') ? -1 : 1));
}

/** A query selects either a range of days, or the day on which months ended. */
export function totalsErrors(
  { ended, ...range }: Days & { ended?: string | undefined },
  circumstances: Circumstances,
  errors: FieldErrors,
): FieldErrors {
  if (ended === undefined) return errors.ended ? {} : rangeErrors(range, circumstances, errors);
  const both = (['from', 'to'] as const).filter((field) => range[field] !== undefined);
  const today = dayOf(circumstances.now);
  return Object.assign(
    {},
    ...both.map((field) => errorOf(field, 'must not be combined with ended')),
    ended >= today && errorOf('ended', `must be a date before today (${today}, UTC)`),
  );
}

const NO_ID_RULE = 'must not be sent without an Idempotency-Key, because a repetition could not be recognized';
type Dated = { at?: string | undefined };

/** Returns the errors of uses that cannot be recorded now. */
export function usesErrors(
  { at, uses = [] }: Dated & { uses?: (Dated | undefined)[] | undefined },
  circumstances: Circumstances,
  wrong: FieldErrors,
) {
  const errors: FieldErrors = {};
  const add = (field: string, rule: string | null) => {
    if (rule !== null) errors[field] = [...(errors[field] ?? []), `${field} ${rule}`];
  };
  // A list has no `at` of its own, which is wrong already.
  if (at !== undefined && !wrong.at) {
    add('at', timeProblem(at, circumstances));
    add('at', circumstances.hasKey ? null : NO_ID_RULE);
  }
  for (const [index, use] of uses.entries())
    if (use?.at !== undefined) add(`uses.${index}.at`, timeProblem(use.at, circumstances));
  return errors;
}

/** Returns the errors of repeated ids, whose quantity would be ambiguous. */
export function loweringErrors({ uses = [] }: { uses?: ({ id?: string | undefined } | undefined)[] | undefined }) {
  const errors: FieldErrors = {};
  const first = new Map<string, number>();
  for (const [index, use] of uses.entries()) {
    if (use?.id === undefined) continue;
    const before = first.get(use.id);
    if (before === undefined) first.set(use.id, index);
    else errors[`uses.${index}.id`] = [`uses.${index}.id must not repeat uses.${before}`];
  }
  return errors;
}

/** Completes the errors of a history. Without other errors, the handler finds these together with the days that already have counts. */
export const daysErrors = (
  { days = [] }: { days?: ({ date?: string | undefined } | undefined)[] | undefined },
  { now }: Circumstances,
  errors: FieldErrors,
): FieldErrors => (Object.keys(errors).length === 0 ? {} : historyErrors(days, dayOf(now), {}));

/**
 * Returns the errors in a history's days, except those without a valid date. `taken` contains the stored counts, by day, that only
 * `replace` may change.
 */
export function historyErrors(
  days: ({ date?: string | undefined } | undefined)[],
  today: string,
  taken: Record<string, number>,
): FieldErrors {
  const errors: FieldErrors = {};
  const first = new Map<string, number>();
  for (const [index, day] of days.entries()) {
    const date = day?.date;
    if (date === undefined) continue;
    const field = `days.${index}`;
    const before = first.get(date);
    if (date >= today) errors[`${field}.date`] = [`${field}.date must be a date before today (${today}, UTC)`];
    else if (before !== undefined) errors[`${field}.date`] = [`${field}.date must not repeat days.${before}`];
    else if (taken[date] !== undefined)
      errors[field] = [`${field} ${date} already has a count of ${taken[date]}: send "replace": true to overwrite it`];
    if (before === undefined) first.set(date, index);
  }
  return errors;
}
