// How the console writes numbers, days and instants.
import type { Range } from '../../core/time.ts';

const LANGUAGE = 'en';
const whole = new Intl.NumberFormat(LANGUAGE);
const short = new Intl.NumberFormat(LANGUAGE, { notation: 'compact', maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const small = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 1 });
/** As in the chart. */
const signed = new Intl.NumberFormat(LANGUAGE, { style: 'percent', signDisplay: 'exceptZero' });
const DAY = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
const day = new Intl.DateTimeFormat(LANGUAGE, DAY);
const instant = new Intl.DateTimeFormat(LANGUAGE, { ...DAY, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

export const number = (count: number): string => whole.format(count);
export const compact = (count: number): string => (count < 10_000 ? whole : short).format(count);
export function mean(total: number, days: number): string {
  const perDay = total / days;
  if (perDay < 0.1) return small.format(perDay);
  return perDay < 100 ? tenths.format(perDay) : compact(Math.round(perDay));
}
export const percentChange = (now: number, before: number): string => signed.format(now / before - 1).replace('-', '−');
export const dayWords = (date: string): string => day.format(new Date(date));
export const rangeWords = ({ from, to }: Range): string => day.formatRange(new Date(from), new Date(to));
export const instantWords = (at: string | Date): string => `${instant.format(new Date(at))} UTC`;
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;
