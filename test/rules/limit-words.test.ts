// What the console says about limits and billing months.
import { describe, expect, test } from 'vitest';
import { monthDetails, type Pace, paceWords } from '../../src/page/owner/pace.ts';
import { monthOf, type Period, periodsOf } from '../../src/page/owner/periods.ts';
import {
  alertWords,
  meterWords,
  nextWords,
  periodName,
  reachedWords,
  resetWords,
} from '../../src/page/owner/usage/limit-words.ts';
import type { Limits } from '../../src/shown-business/description.ts';
import { limitsWith } from '../business.ts';

const midnight = (day: string) => `${day}T00:00:00.000000Z`;
type Given = Partial<Limits>;
const daily = (limit: number, today: number): Given => ({ daily: limit, today, day_ends: midnight('2026-11-28') });
const monthly = (limit: number, month: number): Given => ({
  monthly: limit,
  month,
  month_starts: midnight('2026-11-15'),
  month_ends: midnight('2026-12-15'),
});

test('the billing month is named after its days', () => {
  expect(monthOf(limitsWith(monthly(1, 1)))?.days).toEqual({ from: '2026-11-15', to: '2026-12-14' });
  expect(monthOf(limitsWith(daily(1, 1)))).toBeUndefined(); // without a monthly limit
  const periods = periodsOf(limitsWith({ ...daily(1, 1), ...monthly(1, 1) }));
  expect(periods.map(periodName).map((name) => name.replaceAll('\u2009', ' '))).toEqual([
    'Today',
    'Billing month, Nov 15 – Dec 14',
  ]);
});

const UNTIL_DAY = 'until Sat, Nov 28, 00:00 UTC.';
const UNTIL_MONTH = 'until Tue, Dec 15, 00:00 UTC.';
test.each<[string, Given, string | null]>([
  ['no limit is reached', { ...daily(10, 9), ...monthly(100, 99) }, null],
  ['no overage', { ...monthly(100, 100), refuses: 'everybody' }, `All uses are refused ${UNTIL_MONTH}`],
  ['an overage for servers', { ...monthly(100, 184), overage: 3800, refuses: 'pages' }, `Pages are refused ${UNTIL_MONTH} Servers may record 3,716 more.`],
  ['an overage that is used up', { ...monthly(100, 150), overage: 50, refuses: 'everybody' }, `All uses are refused ${UNTIL_MONTH}`],
  ['an overage without a maximum', { ...daily(10, 10), overage: null, refuses: 'pages' }, `Pages are refused ${UNTIL_DAY} Servers may record any number more.`],
  ['an overage for pages', { ...monthly(100, 120), overage: 50, page_overage: true }, 'Uses beyond the limit count: pages and servers together may record 30 more.'],
  ['an overage for pages without a site that visitors can reach', { ...monthly(100, 120), overage: 50, page_overage: true, refuses: 'pages' }, `Pages are refused ${UNTIL_MONTH} Servers may record 30 more.`],
  ['an overage for pages, used up', { ...monthly(100, 150), overage: 50, page_overage: true, refuses: 'everybody' }, `All uses are refused ${UNTIL_MONTH}`],
  ['a day, while the month has less left than the overage', { ...daily(10, 10), ...monthly(100, 95), overage: 20, refuses: 'pages' }, `Pages are refused ${UNTIL_DAY} Servers may record 20 more.`],
  ['both, the day with its overage', { ...daily(10, 15), ...monthly(100, 100), overage: 5, refuses: 'everybody' }, `All uses are refused ${UNTIL_DAY} Pages are refused ${UNTIL_MONTH}`],
  ['a limit of 0', { ...monthly(0, 0), refuses: 'everybody' }, 'All uses are refused while the limit is 0.'],
])('what a reached limit does is said, with %s', (_, given, words) => {
  const limits = limitsWith(given);
  expect(reachedWords(limits, periodsOf(limits))).toBe(words);
}); // biome-ignore format: one row per line

describe('a limit’s line', () => {
  const [month] = periodsOf(limitsWith(monthly(100_000, 92_000))) as [Period];
  test('says how much is used and left, and when it will be reached', () => {
    const [used, left] = ['92,000 of 100,000', '8,000 left'];
    const pace: Pace = { is: 'reaching', at: Date.parse('2026-11-28T12:00:00Z') };
    expect(meterWords(month, pace)).toEqual([used, left, 'reaches it about Nov 28']);
    expect(meterWords(month, { is: 'below', expected: 95_300 })).toEqual([used, left, 'about 95,000 by Dec 14']);
    expect(meterWords(month, null)).toEqual([used, left]);
    expect(meterWords({ ...month, used: 100, limit: 100 }, { is: 'reached' })).toEqual(['100 of 100', 'none left']);
    expect(meterWords({ ...month, used: 340, limit: 100 }, null)).toEqual(['340 of 100', '240 over']);
  });
  test('in the list says the forecast, or how much is over', () => {
    expect(monthDetails(month, { is: 'below', expected: 95_300 })).toBe('about 95,000 by Dec 14');
    expect(monthDetails(month, null)).toBe('');
    expect(monthDetails({ ...month, used: 100_000 }, { is: 'reached' })).toBe('none left');
    expect(monthDetails({ ...month, used: 134_000 }, { is: 'reached' })).toBe('34,000 over');
  });
  test('lists the alerts of this period and limit', () => {
    const of = (threshold: number, at: string, more: object = {}) => ({
      ...{ id: '', business_id: 1, period: 'month' as const, starts_on: '2026-11-15', ends_on: '2026-12-14' },
      ...{ limit: 100_000, threshold, used: 1, at, sent_at: null, state: 'sent' as const, ...more },
    });
    const alerts = [
      of(100, '2026-11-22T10:00:00Z'),
      of(80, '2026-11-19T23:59:00Z'),
      of(80, '2026-11-18T00:00:00Z', { limit: 90_000 }),
      of(80, '2026-10-20T00:00:00Z', { ends_on: '2026-11-14' }),
      of(80, '2026-11-27T14:02:00Z', { period: 'day', limit: 10, ends_on: '2026-11-27' }),
    ];
    expect(alertWords(alerts, month)).toBe('Alerts: 80% on Thu, Nov 19, reached on Sun, Nov 22.');
    const [day] = periodsOf(limitsWith(daily(10, 8))) as [Period];
    expect(alertWords(alerts, day)).toBe('Alerts: 80% at 14:02 UTC.');
    expect(alertWords([], month)).toBe('');
  });
  test('says when the limit resets, in UTC and in local time', () => {
    expect(resetWords(Date.parse('2026-12-01T00:00:00Z'))).toMatch(
      /^Resets on Tue, Dec 1, 00:00 UTC \(Mon,? 16:00 your time\)\.$/, // browsers and Node disagree on the comma
    );
  });
});

test('a pending change names only what it changes', () => {
  const current = limitsWith({ ...monthly(1000, 0), overage: 9000 });
  const { daily: none, monthly: limit, overage, page_overage, alert_at } = current;
  const same = { from: '2026-12-15', daily: none, monthly: limit, overage, page_overage, alert_at };
  const words = (more: object) => nextWords({ ...current, next_limits: { ...same, ...more } });
  expect(nextWords(current)).toBeNull();
  expect(words({ monthly: 5000 })).toMatch(/^From Dec(ember)? 15(, 2026)?: monthly limit 5,000\.$/);
  expect(words({ daily: 700, monthly: null, overage: null })).toMatch(
    /: daily limit 700; monthly limit none; overage unlimited\.$/,
  );
  expect(words({ page_overage: true, alert_at: [50, 100] })).toMatch(/: overage for pages yes; alerts at 50%, 100%\.$/);
});

test.each<[Pace, string]>([
  [{ is: 'reached' }, ''],
  [{ is: 'reaching', at: Date.parse('2026-11-27T23:59:00Z') }, 'reaches it about Nov 27'],
  [{ is: 'below', expected: 8412.3 }, 'about 8,400 by Dec 14'],
  [{ is: 'below', expected: 9951 }, 'just under 10,000 by Dec 14'],
  [{ is: 'below', expected: 0 }, 'about 0 by Dec 14'],
])('the forecast %j is put in words', (pace, words) => {
  expect(paceWords(pace, { limit: 10_000, days: { from: '2026-11-15', to: '2026-12-14' } })).toBe(words);
});
