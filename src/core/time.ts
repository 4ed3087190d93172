// Instants and days in the API's format, always in UTC (docs/api.md, "Usage report"). Days compare as strings.

/** The longest range a report covers, both ends included. */
export const MAX_RANGE_DAYS = 1830; // five years
const DEFAULT_RANGE_DAYS = 30;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A range of days, both ends included, `from` ≤ `to`. */
export type Range = { from: string; to: string };

/** Formats an instant as ISO 8601 with six fractional digits. A Date supplies three of them. */
export const formatTimestamp = (instant: Date): string => `${instant.toISOString().slice(0, -1)}000Z`;

export const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10);

/** Adds days to a day. Past 9999-12-31 or before 0000-01-01, the result is not a valid day. */
export const addDays = (day: string, days: number): string => dayOf(new Date(Date.parse(day) + days * DAY_MS));

/** Adds months to a day that every month has, the 1st to the 28th. */
export const addMonths = (day: string, months: number): string =>
  dayOf(new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months, Number(day.slice(8)))));

/** The first valid day. */
export const FIRST_DAY = '1970-01-01';

/** Returns whether `text`, in the format YYYY-MM-DD, is a day of the calendar. `Date` would roll 2026-02-30 over to 2026-03-02. */
const isInCalendar = (text: string): boolean => new Date(text).getUTCDate() === Number(text.slice(8));

/** Returns whether `text` is a real day from FIRST_DAY to 9999-12-31. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= FIRST_DAY && isInCalendar(text);

/** Room for many fractional digits. */
export const MAX_INSTANT_LENGTH = 64;
/** RFC 3339 §5.6: `T` and `Z` in either case, any number of fractional digits, and any offset. No leap second, because none is planned. */
export const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?)(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Parses an RFC 3339 timestamp to milliseconds since 1970, truncating finer digits. Null if it is invalid. */
export function parseInstant(text: string): number | null {
  const found = text.length <= MAX_INSTANT_LENGTH ? INSTANT.exec(text) : null;
  const [, day = '', time = '', sign, hours, minutes] = found ?? [];
  const local = new Date(`${day}T${time.slice(0, 'hh:mm:ss.mmm'.length)}Z`);
  if (local.getUTCDate() !== Number(day.slice(8))) return null; // not a day of the calendar: `Date` rolled over
  const offset = sign === undefined ? 0 : Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  return local.getTime() - (sign === '-' ? -offset : offset);
}

export const daysIn = ({ from, to }: Range): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

/** Returns a range, with defaults for the ends that the caller omitted. */
export function rangeOf(given: { from?: string | undefined; to?: string | undefined }, today: string): Range {
  const to = given.to ?? today;
  return { from: given.from ?? addDays(to, 1 - DEFAULT_RANGE_DAYS), to };
}

/**
 * Returns the problem with a range, or null. The text completes a sentence that starts with `from`. `isToday` means that the caller omitted
 * `to`.
 */
export function rangeProblem(range: Range, isToday: boolean, mostDays = MAX_RANGE_DAYS): string | null {
  const end = `to (${range.to}${isToday ? ', today' : ''})`;
  if (range.from > range.to) return `must not be after ${end}`;
  return daysIn(range) > mostDays ? `must be at most ${mostDays - 1} days before ${end}` : null;
}

/** Returns an entry for each day of the range, ascending. Days missing from `counts` have a count of 0. */
export const fillRange = (range: Range, counts: Record<string, number>): { date: string; count: number }[] =>
  daysOf(range).map((date) => ({ date, count: counts[date] ?? 0 }));

/** Caches the latest range. Most reports need the same range, and listing its days accounts for a tenth of a report's cost. */
let latest: (Range & { days: readonly string[] }) | null = null;

/**
 * Lists the days of a range, ascending. Works month by month, because creating a Date for each day would be the most expensive part of a
 * report.
 */
function daysOf({ from, to }: Range): readonly string[] {
  if (latest?.from === from && latest.to === to) return latest.days;
  const days: string[] = [];
  for (let first = from, date = ''; date < to; first = addDays(date, 1)) {
    const month = first.slice(0, 8);
    const last = to.startsWith(month) ? Number(to.slice(8)) : daysInMonth(first);
    for (let day = Number(first.slice(8)); day <= last; day++) {
      date = month + String(day).padStart(2, '0');
      days.push(date);
    }
  }
  latest = { from, to, days };
  return days;
}

const daysInMonth = (day: string) =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
