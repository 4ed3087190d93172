// Rules of reports and of uses to record, lower or import for which a schema is not enough.
import type { FieldErrors } from '../core/conflict.ts';
import { dayOf, rangeOf, rangeProblem } from '../core/time.ts';
import { timeProblem } from '../core/use.ts';
import type { Asked } from '../operation.ts';

type Days = { from?: string | undefined; to?: string | undefined };

/** Returns the error of a range that is too long or ends before it starts. If either day is wrong, there is no range yet. */
export function rangeErrors(query: Days, { now }: Asked, errors: FieldErrors): FieldErrors {
  if (errors.from ?? errors.to) return {};
  const problem = rangeProblem(rangeOf(query, dayOf(now)), query.to === undefined);
  return problem === null ? {} : { from: [`from ${problem}`] };
}

/** A query selects either a range of days, or the day on which months ended. */
export function totalsErrors(
  { ended, ...range }: Days & { ended?: string | undefined },
  asked: Asked,
  errors: FieldErrors,
): FieldErrors {
  if (ended === undefined) return errors.ended ? {} : rangeErrors(range, asked, errors);
  const both = (['from', 'to'] as const).filter((field) => range[field] !== undefined);
  const today = dayOf(asked.now);
  return {
    ...Object.fromEntries(both.map((field) => [field, [`${field} must not be combined with ended`]])),
    ...(ended >= today && { ended: [`ended must be a date before today (${today}, UTC)`] }),
  };
}

/** Returns the errors of uses that cannot be recorded now. */
export function usesErrors(
  { uses = [] }: { uses?: ({ at?: string | undefined } | undefined)[] | undefined },
  { now }: Asked,
) {
  const errors: FieldErrors = {};
  for (const [index, use] of uses.entries()) {
    const problem = use?.at === undefined ? null : timeProblem(use.at, now);
    if (problem !== null) errors[`uses.${index}.at`] = [`uses.${index}.at ${problem}`];
  }
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
  { now }: Asked,
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
