// Formats numbers, days and instants.
import type { Range } from '../../core/time.ts';
import { changeIn } from '../scale.ts';

const LANGUAGE = 'en';
const whole = new Intl.NumberFormat(LANGUAGE);
const short = new Intl.NumberFormat(LANGUAGE, { notation: 'compact', maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const small = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 1 });
const twoDigits = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 2 });
/** The same format as in the chart. */
const signed = new Intl.NumberFormat(LANGUAGE, { style: 'percent', signDisplay: 'exceptZero' });
const UTC = { timeZone: 'UTC' } as const;
const DAY = { day: 'numeric', month: 'short', year: 'numeric', ...UTC } as const;
const WEEKDAY = { weekday: 'short', day: 'numeric', month: 'short' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const day = new Intl.DateTimeFormat(LANGUAGE, DAY);
const instant = new Intl.DateTimeFormat(LANGUAGE, { ...DAY, ...CLOCK });
const monthDay = new Intl.DateTimeFormat(LANGUAGE, { day: 'numeric', month: 'short', ...UTC });
const monthName = new Intl.DateTimeFormat(LANGUAGE, { month: 'long', year: 'numeric', ...UTC });
const utcTime = new Intl.DateTimeFormat(LANGUAGE, { ...CLOCK, ...UTC });
const weekday = new Intl.DateTimeFormat(LANGUAGE, { weekday: 'long', ...UTC });
const shortDay = new Intl.DateTimeFormat(LANGUAGE, { ...WEEKDAY, ...UTC });
const shortInstant = new Intl.DateTimeFormat(LANGUAGE, { ...WEEKDAY, ...CLOCK, ...UTC });
const local = new Intl.DateTimeFormat(LANGUAGE, CLOCK);
const localWithZone = new Intl.DateTimeFormat(LANGUAGE, { ...CLOCK, timeZoneName: 'short' });
const localWithWeekday = new Intl.DateTimeFormat(LANGUAGE, { weekday: 'short', ...CLOCK });

export const number = (count: number): string => whole.format(count);
export const compact = (count: number): string => (count < 10_000 ? whole : short).format(count);
export const aboutWords = (count: number): string => twoDigits.format(count);
export function meanWords(perDay: number): string {
  if (perDay < 0.1) return small.format(perDay);
  return perDay < 100 ? tenths.format(perDay) : compact(Math.round(perDay));
}
/** In place of a figure that does not exist. */
export const NONE = '–';
/** Formats a change as the chart does. A dash if there is nothing to compare. */
export const changeWords = (now: number, before: number): string =>
  changeIn(now, before, { percent: signed.format, number }) || NONE;
const percent = new Intl.NumberFormat(LANGUAGE, { style: 'percent', maximumFractionDigits: 1 });
/** `part` is from 0 to 1. */
export const shareWords = (part: number): string => (part > 0 && part < 0.001 ? '<0.1%' : percent.format(part));
export const dayWords = (date: string): string => day.format(new Date(date));
export const rangeWords = ({ from, to }: Range): string => day.formatRange(new Date(from), new Date(to));
/** “Nov 15 – Dec 14”, or one day */
export const monthDays = (from: string, to = from): string => monthDay.formatRange(new Date(from), new Date(to));
/** “November 2026” */
export const monthWords = (date: string): string => monthName.format(new Date(date));
export const timeWords = (at: string): string => utcTime.format(new Date(at));
/** “Monday, Nov 2, 2026” */
export const dayHeading = (date: string): string => `${weekday.format(new Date(date))}, ${dayWords(date)}`;
/** “Mon, Nov 2” */
export const shortDayWords = (at: string | number): string => shortDay.format(new Date(at));
export const instantWords = (at: string | Date): string => `${instant.format(new Date(at))} UTC`;
export const shortInstantWords = (at: number): string => `${shortInstant.format(new Date(at))} UTC`;
// The next three functions use local time.
export const clockTime = (at: number): string => local.format(new Date(at));
export const zonedTime = (at: number): string => localWithZone.format(new Date(at));
export const weekdayTime = (at: number): string => localWithWeekday.format(new Date(at));
const MAX_NAMED = 5;
/** Lists the first names, and says how many there are more. */
export function namesWords(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;
export const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
/** Shortens a token or a key to its last four characters. */
export const tailOf = (token: string): string => `…${token.slice(-4)}`;
