// What an owner's keys and sessions may take of the database, which other owners use, too: of its time and of its space
// (docs/performance.md, "What one owner may take").
import { DEFAULT_PER_PAGE } from './request.ts';
import { dayOf, daysIn, rangeOf } from './time.ts';

/** Each class has an allowance of its own, so that a leaked key of one kind does not stop the others. */
export type WorkClass = 'reading' | 'recording' | 'changing';
/** What the calls of an operation spend: the price depends on the input, in milliseconds of the database. 0 is nothing. */
export type Work = { class: WorkClass; price: (input: never, now: Date) => number };
/** What one call spends. */
export type Spending = { class: WorkClass; price: number };

/** An allowance is used up while its owner's calls have spent more than this time in advance. */
export const MAX_AHEAD_MS = 10_000;
/** No call has a higher price. A time beyond it cannot be right, so it counts as now. */
export const MAX_PRICE = 250;

/** Each price is several times the measured time, so that one owner leaves most of a database to the others. */
export const PAGE_OF_CHANGES = { class: 'reading', price: () => 250 } satisfies Work;
/** Even a small page spends, because a caller can ask for one at a time. */
export const PAGE_OF_BUSINESSES = {
  class: 'reading',
  price: ({ limit = `${DEFAULT_PER_PAGE}` }: { limit?: string }) => 2 * Number(limit),
} satisfies Work;
/** The price of up to 1,000 months or uses. */
const priceOfMany = (count: number) => Math.ceil(10 + 0.24 * count);
export const PAGE_OF_MONTHS = {
  class: 'reading',
  price: ({ limit = `${MAX_TOTALS_PER_PAGE}` }: { limit?: string }) => priceOfMany(Number(limit)),
} satisfies Work;
type Days = Parameters<typeof rangeOf>[0];
const daysOf = (days: Days, now: Date): number => daysIn(rangeOf(days, dayOf(now)));
/** That of 800 days, so that a year can be compared with the year before. What is shorter takes as little as a use, which spends nothing. */
const FREE_PRICE = 40;
export const LONG_REPORT = {
  class: 'reading',
  price: (days: Days, now: Date) => {
    const price = Math.ceil(0.05 * daysOf(days, now));
    return price > FREE_PRICE ? price : 0;
  },
} satisfies Work;
/** Each day can name many sources (core/sources.ts). */
export const REPORT_OF_SOURCES = {
  class: 'reading',
  price: ({ by, ...days }: Days & { by?: string | undefined }, now: Date) =>
    Math.ceil((by === undefined ? 0.13 : 1) * daysOf(days, now)),
} satisfies Work;
export const LIST_OF_USES = {
  class: 'recording',
  price: ({ uses }: { uses: unknown[] }) => priceOfMany(uses.length),
} satisfies Work;
/** Of a business that has named as many sites as it can, even one more reads the sources of all days (sources/sources.ts). */
export const ADDITION_OF_SITES = { class: 'changing', price: () => 250 } satisfies Work;

/** The maximum number of businesses on a page of totals or ended months. */
export const MAX_TOTALS_PER_PAGE = 1000;
/** The uses that a list can have, to record or to lower. */
export const MAX_USES_PER_CALL = 1000;
/** The new ids of uses that the lists of an owner's keys can store in a day. Those of a key for one business can store half of them. */
export const MAX_IDS_PER_DAY = 2_000_000;
/** What an owner's changes can store in a day. */
export const MAX_BYTES_PER_DAY = 4_000_000;
/** What a change stores besides its texts. */
export const CHANGE_BYTES = 200;
/** More than an addition of the longest sites stores, with their removal, which is never refused. */
export const MAX_BYTES_PER_CALL = 60_000;

/** The allowances that a call can find used up. */
export const SPENT = ['spent_time', 'spent_ids', 'spent_bytes'] as const;
export type Spent = (typeof SPENT)[number];
export const isSpent = (reason: string): reason is Spent => (SPENT as readonly string[]).includes(reason);
