// The demo's businesses, whose figures follow from the date. Two are for trying out the API, and six are for the console: 13 months of uses
// up to this minute, with their sources.
import { addDays, DAY_MS, dayOf } from '../core/time.ts';

/** 13 months. */
const DAYS = 396;

type DemoBusiness = {
  name: string;
  main_domain: string;
  /** The share of each source in the uses. A URL is also a registered site. Without sources, all uses are imported. */
  sources: Record<string, number>;
  /** For how many days it has had uses. */
  days?: number;
  refused?: string[];
  isReplacing?: true;
  isSuspended?: true;
} & (
  | { perDay: number }
  /** `used`: the share of the monthly limit. `since`: how many days ago the billing month began, at least. */
  | { monthly_limit: number; used: number; since: number; overage?: number }
);

const BUSINESSES: DemoBusiness[] = [
  { name: 'Demo Charts', main_domain: 'charts.example', sources: {}, perDay: 360, days: 92 },
  { name: 'Demo Shop', main_domain: 'shop.example', sources: {}, perDay: 0 },
  {
    name: 'Alpine Outfitters',
    main_domain: 'alpine.example',
    sources: { 'https://alpine.example': 0.55, 'https://shop.alpine.example': 0.3, 'store checkout': 0.15 },
    ...{ monthly_limit: 20_000, used: 1.044, since: 20, overage: 5000 },
  },
  {
    name: 'Bright Dental',
    main_domain: 'bright.example',
    sources: { 'https://bright.example': 0.8, 'https://booking.bright.example': 0.2 },
    ...{ monthly_limit: 10_000, used: 0.924, since: 23 },
  },
  {
    name: 'Café Lumen',
    main_domain: 'cafe.example',
    sources: { 'https://cafe.example': 1 },
    perDay: 260,
    refused: ['https://menus.example', 'https://cafe-preview.example', 'https://www.cafe.example'],
  },
  {
    name: 'Delta Rentals',
    main_domain: 'delta.example',
    sources: { 'https://delta.example': 0.7, 'https://*.delta.example': 0.2, sms: 0.1 },
    perDay: 520,
    isReplacing: true,
  },
  {
    name: 'Easel & Ink',
    main_domain: 'easel.example',
    sources: { 'https://easel.example': 1 },
    perDay: 45,
    isSuspended: true,
  },
  { name: 'Fern & Co', main_domain: 'fern.example', sources: { 'https://fern.example': 1 }, perDay: 90, days: 0 },
];

/** Returns a factor for quiet weekends and noise. */
function factorOf(day: string, index: number): number {
  const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
  return (isWeekend ? 0.4 : 1) * (0.8 + noise * 0.4);
}

/** Returns a first day that a billing month can have, at least `days` ago. */
function monthBegan(today: string, days: number): string {
  const day = addDays(today, -days);
  return Number(day.slice(-2)) > 28 ? monthBegan(today, days + 1) : day;
}

/** Returns the factor for a day so many days ago, if the limit was enough until lately: uses have risen from 40 to 20 days ago. */
const riseOf = (daysAgo: number): number => 0.35 + 0.65 * Math.min(Math.max((40 - daysAgo) / 20, 0), 1);

/** Returns what the operator sets when it creates the business. */
function createdOf({ name, main_domain, ...business }: DemoBusiness, today: string) {
  if (!('monthly_limit' in business)) return { name, main_domain };
  const { monthly_limit, overage = 0, since } = business;
  return { name, main_domain, monthly_limit, overage, billing_day: Number(monthBegan(today, since).slice(-2)) };
}

/** Returns the counts of all days up to this minute of today, without those that are 0. */
function countsOf(business: DemoBusiness, seed: number, now: Date): { date: string; count: number }[] {
  const today = dayOf(now);
  const { days = DAYS } = business;
  const weights = Array.from({ length: days + 1 }, (_, index) => {
    const date = addDays(today, index - days);
    const growth = (1 + index / DAYS) * ('used' in business ? riseOf(days - index) : 1);
    const part = date === today ? (now.getTime() % DAY_MS) / DAY_MS : 1;
    return { date, weight: growth * factorOf(date, (index + seed) ** 2) * part };
  });
  const first = 'since' in business ? monthBegan(today, business.since) : today;
  const ofMonth = weights.reduce((sum, { date, weight }) => sum + (date >= first ? weight : 0), 0);
  const scale = 'perDay' in business ? business.perDay / 2 : (business.monthly_limit * business.used) / ofMonth;
  return weights
    .map(({ date, weight }) => ({ date, count: Math.round(weight * scale) }))
    .filter(({ count }) => count > 0);
}

export type Dated = ReturnType<typeof businessesAt>[number];

/** Returns the businesses as they are at this time. */
export const businessesAt = (now: Date) =>
  BUSINESSES.map((business, index) => ({
    ...business,
    created: createdOf(business, dayOf(now)),
    counts: countsOf(business, index * DAYS, now),
  }));
