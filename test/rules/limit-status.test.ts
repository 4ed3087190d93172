// The limit status in the list and in a business's header.
import { expect, test } from 'vitest';
import { limitStatusOf } from '../../src/page/owner/limit-status.ts';
import type { Limits } from '../../src/shown-business/description.ts';
import { limitsWith } from '../business.ts';

/** Returns a daily and a monthly limit, each with the uses that count towards it. */
const limits = (daily: number | null, today: number, monthly: number | null, month: number, alert_at = [80, 100]) =>
  limitsWith({ daily, today, monthly, month, alert_at });
/** Returns a monthly limit beyond which uses of pages count, too. */
const paged = (overage: number, monthly: number, month: number) =>
  limitsWith({ monthly, month, overage, page_overage: true });

test.each<[string, Limits, object | null]>([
  ['without limits', limits(null, 0, null, 0), null],
  ['below 80% of a limit', limits(null, 0, 1000, 799), { level: null, share: 79, words: '79% of monthly limit' }],
  ['at 80% of a limit', limits(null, 0, 1000, 800), { level: 'near', share: 80, words: '80% of monthly limit' }],
  ['just below a limit, whose percentage is never rounded up', limits(1000, 999, null, 0), { level: 'near', share: 99, words: '99% of daily limit' }],
  ['below its monthly limit with what is added', { ...limits(null, 0, 1000, 1100), extra: 500 }, { level: null, share: 73, words: '73% of monthly limit' }],
  ['at its monthly limit with what is added', { ...limits(null, 0, 1000, 1500), extra: 500, refuses: 'everybody' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['with only what is added', { ...limits(null, 0, 0, 100), extra: 500 }, { level: null, share: 20, words: '20% of monthly limit' }],
  ['at a limit', { ...limits(1000, 1000, null, 0), refuses: 'everybody' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['at the first threshold', limits(null, 0, 1000, 500, [50, 80]), { level: 'near', share: 50, words: '50% of monthly limit' }],
  ['at a limit, below the first threshold', { ...limits(10, 10, null, 0, [150]), refuses: 'everybody' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['with a limit of 0', { ...limits(0, 0, null, 0), refuses: 'everybody' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['beyond a limit, while uses of pages still count', paged(5, 1000, 1004), { level: 'near', share: 100, words: 'Over limit' }],
  ['beyond a limit, whose overage is used up', { ...paged(5, 1000, 1005), refuses: 'everybody' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['at a limit, while only uses of pages are refused', { ...paged(5, 1000, 1004), refuses: 'pages' }, { level: 'full', share: 100, words: 'Limit reached' }],
  ['at one of two limits', { ...limits(10, 10, 1000, 900), refuses: 'everybody' }, { level: 'full', share: 100, period: 'daily limit', words: 'Limit reached' }],
  ['nearer to its monthly limit', limits(100, 85, 1000, 900), { level: 'near', share: 90, period: 'monthly limit', words: '90% of monthly limit' }],
  ['equally near to both limits, of which the monthly one is shown', limits(100, 90, 1000, 900), { level: 'near', share: 90, words: '90% of monthly limit' }],
])('the limit status is right for a business %s', (_, given, status) => {
  expect(limitStatusOf(given)).toEqual(status === null ? null : expect.objectContaining(status));
}); // biome-ignore format: one row per line
