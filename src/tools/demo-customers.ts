// The demo's six businesses, whose figures follow from the date: 13 months of uses up to this minute, with their sources, and what the
// owner, a colleague and the operator have changed.
import { addDays, DAY_MS, dayOf } from '../core/time.ts';
import type { Service } from './service.ts';

/** 13 months. */
const DAYS = 396;
/** Uses of these days are recorded with their sources. Earlier days are imported, because a use can be at most 35 days late. */
const RECORDED_DAYS = 27;
/** The people who make the changes in the console. */
export const OWNER = 'Anna Keller';
const COLLEAGUE = 'Ben Ortiz';

type Customer = {
  name: string;
  main_domain: string;
  /** The share of each source in the uses. A URL is also a registered site. */
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

const CUSTOMERS: Customer[] = [
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

/** Returns a factor for quiet weekends, noise, and an occasional day without uses. */
export function factorOf(day: string, index: number): number {
  const noise = (Math.imul(index + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
  return noise < 0.02 ? 0 : (isWeekend ? 0.4 : 1) * (0.8 + noise * 0.4);
}

/** Returns a first day that a billing month can have, at least `days` ago. */
function monthBegan(today: string, days: number): string {
  const day = addDays(today, -days);
  return Number(day.slice(-2)) > 28 ? monthBegan(today, days + 1) : day;
}

/** Returns the factor for a day so many days ago, if the limit was enough until lately: uses have risen from 40 to 20 days ago. */
const riseOf = (daysAgo: number): number => 0.4 + 0.6 * Math.min(Math.max((40 - daysAgo) / 20, 0), 1);

/** Returns what the operator sets when it creates the business. */
function createdOf({ name, main_domain, ...customer }: Customer, today: string) {
  if (!('monthly_limit' in customer)) return { name, main_domain };
  const { monthly_limit, overage = 0, since } = customer;
  return { name, main_domain, monthly_limit, overage, billing_day: Number(monthBegan(today, since).slice(-2)) };
}

/** Returns the counts of all days up to this minute of today, without those that are 0. */
function countsOf(customer: Customer, seed: number, now: Date): { date: string; count: number }[] {
  const today = dayOf(now);
  const { days = DAYS } = customer;
  const weights = Array.from({ length: days + 1 }, (_, index) => {
    const date = addDays(today, index - days);
    const growth = (1 + index / DAYS) * ('used' in customer ? riseOf(days - index) : 1);
    const part = date === today ? (now.getTime() % DAY_MS) / DAY_MS : 1;
    // No day without uses, because today could be one.
    return { date, weight: growth * (factorOf(date, (index + seed) ** 2) || 1) * part };
  });
  const first = 'since' in customer ? monthBegan(today, customer.since) : today;
  const ofMonth = weights.reduce((sum, { date, weight }) => sum + (date >= first ? weight : 0), 0);
  const scale = 'perDay' in customer ? customer.perDay / 2 : (customer.monthly_limit * customer.used) / ofMonth;
  return weights
    .map(({ date, weight }) => ({ date, count: Math.round(weight * scale) }))
    .filter(({ count }) => count > 0);
}

/** Returns the businesses as they are at this time. */
export const customersAt = (now: Date) =>
  CUSTOMERS.map((customer, index) => ({
    customer,
    created: createdOf(customer, dayOf(now)),
    counts: countsOf(customer, index * DAYS, now),
  }));

type Created = { id: number; token: string; used?: { count: number }[] };
type Prepared = ReturnType<typeof customersAt>[number] & { business: Created };

/** Adds uses and changes to each business that has no uses. `key` is an API key of their owner, `user_id`. */
export async function fillCustomers(service: Service, user_id: number, key: string, all: Prepared[], now: Date) {
  const missing = all.filter(({ business }) => !business.used?.some(({ count }) => count > 0));
  if (missing.length === 0) return;
  const [owner, colleague] = await Promise.all([
    startSession(service, user_id, OWNER),
    startSession(service, user_id, COLLEAGUE),
  ]);
  const keys = { key, owner, colleague };
  await Promise.all(missing.map((one) => fillCustomer(service, { ...one, ...keys, today: dayOf(now) })));
  await Promise.all([owner, colleague].map((session) => service.ok('DELETE /session', { key: session })));
}

async function startSession(service: Service, user_id: number, as: string): Promise<string> {
  const { url } = await service.ok<{ url: string }>(`POST /user/${user_id}/console-link`, { body: { as } });
  const body = { code: new URL(url).hash.replace('#code=', '') };
  return (await service.ok<{ session_key: string }>('POST /session', { key: null, body })).session_key;
}

type ToFill = Prepared & Record<'today' | 'key' | 'owner' | 'colleague', string>;

async function fillCustomer(service: Service, { customer, business, counts, today, key, owner, colleague }: ToFill) {
  const { id, token } = business;
  const [path, usage] = [`/business/${id}`, `/business/usage/${id}`];
  const sources = Object.entries(customer.sources);
  const sites = sources.flatMap(([source]) => (source.includes('://') ? [source] : []));
  for (const [index, site] of sites.entries())
    await service.ok(`POST ${path}/access`, { key: index === 0 ? owner : colleague, body: { sites: [site] } });
  if (customer.isReplacing) await service.ok(`POST ${path}/token`, { key: colleague, body: { keep_old: '7d' } });
  const firstRecorded = addDays(today, -RECORDED_DAYS);
  const days = counts.filter(({ date }) => date < firstRecorded);
  if (days.length > 0) await service.ok(`PUT ${path}/history`, { body: { days } });

  const recorded = counts.filter(({ date }) => date >= firstRecorded);
  for (const [index, [source, share]] of sources.entries()) {
    const isSite = sites.includes(source);
    const uses = recorded.flatMap(({ date, count }) => {
      const quantity = Math.round(count * share);
      const at = date === today ? {} : { at: `${date}T12:00:00Z` };
      return quantity === 0
        ? []
        : [{ id: `demo-${index}-${date}`, quantity, ...at, ...(!isSite && { label: source }) }];
    });
    const headers = isSite ? { Origin: source.replace('*', 'www') } : {};
    if (uses.length > 0) await service.ok(`POST ${usage}`, { key, headers, body: { uses } });
  }
  if (customer.isReplacing) await service.ok(`POST ${usage}`, { key: token, headers: { Origin: `${sites[0]}` } });
  for (const Origin of customer.refused ?? []) await service.send(`GET ${usage}`, { key: token, headers: { Origin } });
  if (customer.isSuspended) await service.ok(`PATCH ${path}`, { body: { status: 'suspended' } });
}
