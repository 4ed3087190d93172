// The ranges of days to show: presets, ranges from the URL, and the previous and next ranges. All days are UTC.
//
// Each figure has one definition, and one function computes it for the list, the views, the files and the chart:
//   period       a range's full days, with today pale beside them and in no figure   fullDays, summaryOf (../scale.ts)
//   comparison   the same weekdays before, or the calendar's month, quarter or year  comparedDays, withData
//   week         Monday to Sunday; at the ends of a range, a part of one             barsBy (../scale.ts)
//   growth       the comparison of the last 28 full days                             growthOf (list/growth.ts)
//   limit        how close a business is to its limits, and who is refused           limitStatusOf (limit-status.ts)
//   forecast     the billing month's uses at the pace of the last full days          paceOf (pace.ts)
//   curve        the uses of the billing month up to each day, and the month before  linesOf (usage/month-curve.ts)
//   refused      the uses that limits refused, by day                                figuresOf (usage/figures.ts)
import { addDays, addMonths, daysIn, FIRST_DAY, isDay, MAX_RANGE_DAYS, type Range } from '../../core/time.ts';
import { type Compare, comparedWith, type Day, fullDays, SHOWN_DAYS } from '../scale.ts';

/** The arrows move a range by this number of calendar months, or by the range's length if this is null. */
export type Months = 1 | 3 | 12;
/** `billing`: the billing month, or null if it is not known. */
type Choice = { label: string; months: Months | null; rangeAt: (today: string, billing: Range | null) => Range };

/** Full days, with today beside them. */
const lastDays = (days: number): Choice => ({
  label: `Last ${days} days`,
  months: null,
  rangeAt: (today) => ({ from: addDays(today, -days), to: today }),
});

/** Returns the first day of the month, quarter or year of `day`. */
function firstOf(months: Months, day: string): string {
  const month = Number(day.slice(5, 7)) - 1;
  return addMonths(`${day.slice(0, 8)}01`, -(month % months));
}
const current = (label: string, months: Months): Choice => ({
  label,
  months,
  rangeAt: (today) => ({ from: firstOf(months, today), to: today }),
});
const last = (label: string, months: Months): Choice => ({
  label,
  months,
  rangeAt: (today) => wholeFrom(addMonths(firstOf(months, today), -months), months),
});
const wholeFrom = (from: string, months: Months): Range => ({ from, to: addDays(addMonths(from, months), -1) });

/** The presets, keyed by their names in the URL. */
export const CHOICES = {
  '7': lastDays(7),
  '28': lastDays(SHOWN_DAYS),
  '91': lastDays(91),
  '364': lastDays(364),
  'this-month': current('This calendar month', 1),
  'last-month': last('Last calendar month', 1),
  'this-quarter': current('This quarter', 3),
  'last-quarter': last('Last quarter', 3),
  'this-year': current('This year', 12),
  // Whole months only, because the current month would look like a drop.
  'last-12-months': {
    label: 'Last 12 months',
    months: 12,
    rangeAt: (today) => wholeFrom(addMonths(firstOf(1, today), -12), 12),
  },
  'billing-month': {
    label: 'Billing month',
    months: 1,
    rangeAt: (today, billing) => ({ from: billing?.from ?? firstOf(1, today), to: today }),
  },
} satisfies Record<string, Choice>;
export type ChoiceName = keyof typeof CHOICES;
export const CHOICE_NAMES = Object.keys(CHOICES) as ChoiceName[];
export const DEFAULT_CHOICE: ChoiceName = '28';
export const rangeOfChoice = (name: ChoiceName, today: string, billing: Range | null = null): Range =>
  CHOICES[name].rangeAt(today, billing);

/** `choice` is null if the user entered the days, or if the arrows led to days that match no preset. */
export type Shown = { choice: ChoiceName | null; range: Range };
/** The reason why a range cannot be reported. `earliest` is the earliest first day that would be allowed. */
export type RangeProblem =
  | { is: 'not a day'; end: keyof Range }
  | { is: 'reversed' }
  | { is: 'too long'; days: number; earliest: string };

/** Returns null if the range can be reported. */
export function findRangeProblem(range: Range): RangeProblem | null {
  for (const end of ['from', 'to'] as const) if (!isDay(range[end])) return { is: 'not a day', end };
  if (range.from > range.to) return { is: 'reversed' };
  const days = daysIn(range);
  return days > MAX_RANGE_DAYS ? { is: 'too long', days, earliest: addDays(range.to, 1 - MAX_RANGE_DAYS) } : null;
}

const isChoice = (name: string | null): name is ChoiceName => CHOICE_NAMES.some((choice) => choice === name);

/** Parses the query in the URL's hash. If its days cannot be reported, returns the default range and the `problem`. */
export function shownBy(
  query: URLSearchParams,
  today: string,
  billing: Range | null = null,
): Shown & { problem: RangeProblem | null } {
  const [name, from, to] = ['range', 'from', 'to'].map((entry) => query.get(entry));
  const range = { from: from ?? '', to: to ?? '' };
  const isTyped = !isChoice(name ?? null) && (from ?? to ?? null) !== null;
  const problem = isTyped ? findRangeProblem(range) : null;
  if (isTyped && problem === null) return { choice: null, range, problem };
  const choice = isChoice(name ?? null) ? (name as ChoiceName) : DEFAULT_CHOICE;
  return { choice, range: rangeOfChoice(choice, today, billing), problem };
}

/** Returns the query parameters for a range. Null deletes a parameter. */
export const entriesOf = ({ choice, range }: Shown): Record<'range' | keyof Range, string | null> =>
  choice === null
    ? { range: null, ...range }
    : { range: choice === DEFAULT_CHOICE ? null : choice, from: null, to: null };

const isSame = (a: Range, b: Range): boolean => a.from === b.from && a.to === b.to;

const LENGTHS = [1, 3, 12] as const;

/** Returns the number of months if the range is a whole calendar month, quarter or year. Otherwise, returns null. */
export const wholeMonths = (range: Range): Months | null =>
  LENGTHS.find(
    (months) => range.from === firstOf(months, range.from) && isSame(range, wholeFrom(range.from, months)),
  ) ?? null;

/** Like `wholeMonths`, but also for the current month, quarter or year to date, and for any twelve whole months. */
export function monthsOf({ choice, range }: Shown, today: string): Months | null {
  if (choice !== null) return CHOICES[choice].months;
  const isCurrent = (months: Months) => range.to === today && firstOf(months, today) === range.from;
  const isYear = range.from.endsWith('-01') && isSame(range, wholeFrom(range.from, 12));
  return wholeMonths(range) ?? LENGTHS.find(isCurrent) ?? (isYear ? 12 : null);
}

/**
 * Names a range after the preset with the same days and `months`, if there is one. Moving back and then forward therefore returns to that
 * preset.
 */
function named(range: Range, months: Months | null, today: string): Shown {
  const matches = (name: ChoiceName) => CHOICES[name].months === months && isSame(rangeOfChoice(name, today), range);
  return { choice: CHOICE_NAMES.find(matches) ?? null, range };
}

/** Returns the previous range, of as many full days, or null if it would start before 1970. */
export function earlier(shown: Shown, today: string): Shown | null {
  const { range } = shown;
  const months = monthsOf(shown, today);
  const moved =
    months === null
      ? { from: addDays(range.from, -daysIn(fullDays(range, today) ?? range)), to: addDays(range.from, -1) }
      : wholeFrom(addMonths(range.from, -months), months);
  return moved.from < FIRST_DAY ? null : named(moved, months, today);
}

/** Returns the following range. If it reaches yesterday, today is beside it. Null if the shown range already reaches today. */
export function later(shown: Shown, today: string): Shown | null {
  const { range } = shown;
  if (range.to >= today) return null;
  const months = monthsOf(shown, today);
  if (months === null) {
    const [days, yesterday] = [daysIn(range), addDays(today, -1)];
    const to = addDays(range.to, days);
    const moved = to < yesterday ? { from: addDays(range.to, 1), to } : { from: addDays(today, -days), to: today };
    return named(moved, months, today);
  }
  const next = wholeFrom(addMonths(range.from, months), months);
  if (next.to <= today) return named(next, months, today);
  return next.from === firstOf(months, today) ? named({ from: next.from, to: today }, months, today) : null;
}

export type Comparison = Compare | 'off';
export const COMPARISONS = ['previous', 'year', 'off'] as const satisfies Comparison[];

export const comparisonIn = (query: URLSearchParams): Comparison =>
  COMPARISONS.find((one) => one === query.get('compare')) ?? 'previous';

/** Returns whether a range contains all days of a business that was created on a day. */
export const coversAllDays = ({ from, to }: Range, created_on: string, today: string): boolean =>
  from <= created_on && to >= today;

/**
 * Returns the days with which the full days of a range are compared: those of the previous month, quarter or year, or else the same
 * weekdays. A period that is not over is compared with as many days. Returns null if there is no comparison, or if the report would be too
 * long or would start before 1970.
 */
export function comparedDays(shown: Shown, comparison: Comparison, today: string): Range | null {
  const { range } = shown;
  const full = fullDays(range, today);
  if (comparison === 'off' || full === null) return null;
  const months = monthsOf(shown, today);
  const before =
    months === null
      ? comparedWith(full, comparison)
      : wholeFrom(addMonths(range.from, comparison === 'year' ? -12 : -months), months);
  const isWhole = months === null || full.to === wholeFrom(range.from, months).to;
  const as = addDays(before.from, daysIn(full) - 1);
  const to = isWhole || as > before.to ? before.to : as;
  return findRangeProblem({ from: before.from, to: range.to }) === null ? { from: before.from, to } : null;
}

/**
 * Returns the first day of which a business has data: the day of its creation or, if earlier days were imported or recorded late, the first
 * of the `loaded` days with uses. A comparison with days before it would show growth that never was.
 */
export function recordedFrom(created_at: string, loaded: readonly Day[]): string {
  const created_on = created_at.slice(0, 'YYYY-MM-DD'.length);
  const first = loaded.find(({ count }) => count > 0)?.date ?? created_on;
  return first < created_on ? first : created_on;
}

/** Returns the compared days, or null if the business has data only from a later day on. */
export const withData = (compared: Range | null, since: string): Range | null =>
  compared !== null && since <= compared.from ? compared : null;
