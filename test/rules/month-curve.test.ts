// The curve of a billing month: its lines, and the comparison with the month before.
import { expect, test } from 'vitest';
import { addDays, DAY_MS, daysIn } from '../../src/core/time.ts';
import { paceOf } from '../../src/page/owner/pace.ts';
import type { Period } from '../../src/page/owner/periods.ts';
import { type Line, linesOf, monthBefore } from '../../src/page/owner/usage/month-curve.ts';

const start = (day: string) => Date.parse(`${day}T00:00:00Z`);
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };
const NOON = DAY_MS / 2;

type Given = {
  days?: { from: string; to: string };
  today?: string;
  limit?: number;
  /** The uses of each full day, of today so far, and of each day of the month before. */
  perDay?: number;
  soFar?: number;
  before?: number;
  /** The first loaded day. */
  loadedFrom?: string;
  created_at?: string;
  isForecast?: boolean;
};

/** Returns the lines at noon. By default, all days since the start of the month before are loaded. */
function drawn(given: Given) {
  const { days = NOVEMBER, today = '2026-11-11', limit = 10_000, perDay = 100, soFar = 50, before = 60 } = given;
  const { loadedFrom = monthBefore(days).from, created_at = '2026-01-01T00:00:00.000000Z', isForecast = true } = given;
  const loaded = Array.from({ length: daysIn({ from: loadedFrom, to: today }) }, (_, index) => {
    const date = addDays(loadedFrom, index);
    return { date, count: date === today ? soFar : date < days.from ? before : perDay };
  });
  const used = (daysIn({ from: days.from, to: today }) - 1) * perDay + soFar;
  const month: Period = { is: 'month', limit, used, ends: start(addDays(days.to, 1)), days };
  const now = start(today) + NOON;
  const pace = isForecast ? paceOf(month, loaded, now) : null;
  const lines = linesOf(month, loaded, created_at, pace, now);
  /** The points as days since the start of the month, and counts. */
  const pointsOf = (line: Line[0]) =>
    lines.find(([is]) => is === line)?.[1].map(([at, count]) => [(at - start(days.from)) / DAY_MS, count]);
  const words = lines.map(([, , text]) => text.replaceAll('\u2009', ' '));
  return { lines: lines.map(([is]) => is), pointsOf, words, pace };
}

const daily = (first: number, last: number, perDay: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => [first + index, (first + index) * perDay]);

test('a month below its limit ends at its uses now, goes on with the forecast, and stands beside the month before', () => {
  const { lines, pointsOf, words, pace } = drawn({});
  expect(lines).toEqual(['limit', 'used', 'expected', 'earlier']);
  expect(pointsOf('limit')).toEqual([
    [0, 10_000],
    [30, 10_000],
  ]);
  expect(pointsOf('used')).toEqual([...daily(0, 10, 100), [10.5, 1050]]);
  expect(pointsOf('expected')).toEqual([[10.5, 1050], ...daily(11, 30, 100)]);
  expect(pace).toMatchObject({ is: 'below', expected: 3000 });
  expect(pointsOf('earlier')).toEqual(daily(0, 30, 60)); // October has a day more than November
  expect(words).toEqual([
    'Limit: 10,000',
    'This month: 1,050 so far',
    'Forecast: about 3,000 by Nov 30',
    'Oct 1 – 31: 1,860 in all, 600 by Oct 10; this month has 400 more by Nov 10',
  ]);
});

test('the forecast ends at the limit when it reaches it', () => {
  const { pointsOf, words, pace } = drawn({ limit: 1220 });
  expect(pointsOf('expected')).toEqual([
    [10.5, 1050],
    [11, 1100],
    [12, 1200],
    [12.2, 1220],
  ]);
  expect(pace).toMatchObject({ is: 'reaching', at: start('2026-11-13') + DAY_MS / 5 });
  expect(words[2]).toBe('Forecast: reaches it about Nov 13');
});

test.each<[string, Given]>([
  ['has just reached its limit', { limit: 1050 }],
  ['is over its limit', { limit: 700 }],
  ['has a limit of 0', { limit: 0, perDay: 0, soFar: 0 }],
  ['has no forecast, because the business is not active', { isForecast: false }],
])('a month that %s ends at its uses now', (_, given) => {
  const { lines, pointsOf } = drawn(given);
  expect(lines).toEqual(['limit', 'used', 'earlier']);
  const { perDay = 100, soFar = 50 } = given;
  expect(pointsOf('used')).toEqual([...daily(0, 10, perDay), [10.5, 10 * perDay + soFar]]);
});

test('on the first day of a month, nothing is compared, because no day is full', () => {
  const { pointsOf, words } = drawn({ today: '2026-11-01' });
  expect(pointsOf('used')).toEqual([
    [0, 0],
    [0.5, 50],
  ]);
  expect(words.at(-1)).toBe('Oct 1 – 31: 1,860 in all');
});

test.each<[string, Given, words: string, lastDay: number]>([
  ['is as busy', { before: 100 }, 'Oct 1 – 31: 3,100 in all, 1,000 by Oct 10; this month has as many by Nov 10', 30],
  ['was busier', { before: 1000 }, 'Oct 1 – 31: 31,000 in all, 10,000 by Oct 10; this month has 9,000 fewer by Nov 10', 30],
  ['is shorter', { days: { from: '2026-03-01', to: '2026-03-31' }, today: '2026-03-31' }, 'Feb 1 – 28: 1,680 in all, 1,680 by Feb 28; this month has 1,320 more by Mar 30', 28],
  ['is longer', { days: { from: '2026-02-15', to: '2026-03-14' }, today: '2026-03-14' }, 'Jan 15 – Feb 14: 1,860 in all, 1,620 by Feb 10; this month has 1,080 more by Mar 13', 28],
  ['is before a month of two, because the billing day changes', { days: { from: '2026-04-01', to: '2026-05-14' }, today: '2026-05-02' }, 'Mar 1 – 31: 1,860 in all, 1,860 by Mar 31; this month has 1,240 more by May 1', 31],
])('a month before that %s is drawn day by day, and compared by full days', (_, given, words, lastDay) => {
  const drawing = drawn(given);
  expect(drawing.words.at(-1)).toBe(words);
  expect(drawing.pointsOf('earlier')).toEqual(daily(0, lastDay, given.before ?? 60));
}); // biome-ignore format: one row per line

test.each<[string, Given]>([
  ['the business has data only since the middle of it', { before: 0, created_at: '2026-10-02T08:00:00.000000Z' }],
  ['the business is younger than this month', { before: 0, created_at: '2026-11-03T08:00:00.000000Z' }],
  ['its days have not been read', { loadedFrom: '2026-10-02' }],
])('the month before is not drawn if %s', (_, given) => {
  expect(drawn(given).lines).toEqual(['limit', 'used', 'expected']);
});

test('imported days count as data, even if they are older than the business', () => {
  expect(drawn({ created_at: '2026-11-03T08:00:00.000000Z' }).lines).toContain('earlier');
});

test('nothing is drawn if days of the month have not been read', () => {
  expect(drawn({ loadedFrom: '2026-11-02' }).lines).toEqual([]);
});

test('a month that has ended since it was read is drawn to its end', () => {
  const { pointsOf } = drawn({ today: '2026-12-03' });
  expect(pointsOf('used')).toEqual([...daily(0, 30, 100), [30, 3250]]);
});
