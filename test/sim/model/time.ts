// Days and instants. Days are texts such as 2026-03-15, instants are milliseconds since 1970, all in UTC.

const DAY_MS = 86_400_000;

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
export const stamp = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
export const midnight = (day: string): number => Date.parse(day);
export const plusDays = (day: string, days: number): string => dayOf(midnight(day) + days * DAY_MS);
export const dayNumber = (day: string): number => Number(day.slice(8));
export const secondsUntilEndOf = (day: string, now: number): number =>
  Math.ceil((midnight(plusDays(day, 1)) - now) / 1000);

/** A real day from 1970-01-01 to 9999-12-31. */
export function isDay(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const ms = Date.parse(text);
  return ms >= 0 && dayOf(ms) === text;
}

/** Every day of a range, ascending. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let ms = midnight(from); ms <= midnight(to); ms += DAY_MS) days.push(dayOf(ms));
  return days;
}

/** The range of days of a report. */
export function rangeOf({ query, now }: { query: URLSearchParams; now: number }): { from: string; to: string } {
  const to = query.get('to') ?? dayOf(now);
  return { from: query.get('from') ?? plusDays(to, -29), to };
}
