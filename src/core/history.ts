// Rules that the schema of an imported history cannot express, because they depend on today's date and on stored counts.
import type { FieldErrors } from './conflict.ts';

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
