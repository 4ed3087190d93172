// The chart's pure functions: bars, ticks, tooltips, keys, and validation of its attributes and data.
import { beforeAll, describe, expect, test } from 'vitest';
import { parseCredential } from '../../src/core/credential.ts';
import { addDays } from '../../src/core/time.ts';
import {
  type Bar,
  barIn,
  barsBy,
  countTicks,
  type Day,
  dayTicks,
  fittingUnits,
  type Unit,
} from '../../src/page/scale.ts';
import { type Words, wordsIn } from '../../src/page/words.ts';

type Parts = {
  keyStep: (key: string, forward: number) => number | undefined;
  tooltipLines: (bar: Bar, words: Words, today: string) => string[];
};
type Report = {
  originOf: (url: string) => string | null;
  periodOf: (used: unknown) => object;
  requestOf: (attributes: { business: string | null; token: string | null }, base: string | null) => object;
};
let parts: Parts;
let report: Report;
beforeAll(async () => {
  // A computed path hides the modules from the compiler: they need the DOM types, which the tests do not have.
  parts = await import(['../../src/page', 'chart-parts.ts'].join('/'));
  report = await import(['../../src/page', 'report.ts'].join('/'));
});

const english = wordsIn('en', () => null);
const daysFrom = (first: string, length: number, count = 1): Day[] =>
  Array.from({ length }, (_, index) => ({ date: addDays(first, index), count }));

describe('bars', () => {
  test.each<[unit: Unit, first: string, length: number, today: string, bars: string[]]>([
    ['day', '2026-03-01', 2, '2026-03-02', ['2026-03-01', '2026-03-02 partial']],
    ['week', '2026-03-01', 9, '2030-01-01', ['2026-03-01 partial', '2026-03-02 to 2026-03-08', '2026-03-09 partial']],
    ['week', '2026-03-02', 7, '2026-03-08', ['2026-03-02 to 2026-03-08 partial']],
    ['month', '2026-01-31', 30, '2030-01-01', ['2026-01-31 partial', '2026-02-01 to 2026-02-28', '2026-03-01 partial']],
    ['month', '2028-02-01', 29, '2028-02-29', ['2028-02-01 to 2028-02-29 partial']],
  ])(
    'by %s from %s for %i days are partial if a day is missing or not over on %s',
    (unit, first, length, today, bars) => {
      const built = barsBy(unit, daysFrom(first, length), [], today);
      const named = built.map(
        ({ from, to, whole }) => [...new Set([from, to])].join(' to ') + (whole ? '' : ' partial'),
      );
      expect(named).toEqual(bars);
      expect(built.reduce((total, { count }) => total + count, 0)).toBe(length);
    },
  );

  test('pair each day with the compared day at the same position, if there is one', () => {
    const [rest, week] = barsBy('week', daysFrom('2025-01-05', 8), daysFrom('2024-01-07', 8, 2), '2030-01-01');
    expect(rest?.before).toEqual({ from: '2024-01-07', to: '2024-01-07', count: 2 });
    expect(week?.before).toEqual({ from: '2024-01-08', to: '2024-01-14', count: 14 });
    const [first, second] = barsBy('day', daysFrom('2025-01-01', 2), daysFrom('2024-12-25', 1), '2030-01-01');
    expect([first?.before?.from, second?.before]).toEqual(['2024-12-25', undefined]);
  });

  test.each([
    [0, 4, { x: 0.5, width: 3 }], // below 8 px, edges may fall between pixels
    [1, 1, { x: 1, width: 1 }], // below 2 px, there is no gap
    [1, 2, { x: 2.25, width: 1.5 }],
    [1, 21, { x: 24, width: 16 }],
    [0, 200, { x: 64, width: 72 }],
  ])('leave a gap and have whole-pixel edges if wide enough: bar %i in bands of %i px', (index, band, expected) => {
    expect(barIn(index, band)).toEqual(expected);
  });
});

test.each([
  [91, 330, ['week', 'month']],
  [91, 930, ['day', 'week', 'month']],
  [364, 930, ['week', 'month']],
  [1830, 930, ['month']],
])('%i days in a chart of %i px fit by %j', (days, width, units) => {
  expect(fittingUnits(days, width)).toEqual(units);
});

describe('ticks', () => {
  test.each([
    [0, 4, [0]],
    [1, 4, [0, 1]],
    [7, 4, [0, 2, 4, 6, 8]],
    [31, 4, [0, 10, 20, 30, 40]],
    [900, 4, [0, 300, 600, 900]],
    [1000, 4, [0, 250, 500, 750, 1000]],
    [3, 0, [0, 3]],
  ])('of counts up to %i are round numbers, about %i of them', (max, most, ticks) => {
    expect(countTicks(max, most)).toEqual(ticks);
  });

  test.each<[first: string, length: number, most: number, unit: Unit, at: number[]]>([
    ['2026-03-01', 1, 4, 'day', [0]],
    ['2026-03-01', 10, 5, 'day', [1, 3, 5, 7, 9]],
    ['2026-03-01', 29, 5, 'day', [0, 7, 14, 21, 28]],
    ['2026-01-01', 90, 5, 'month', [0, 31, 59]],
    ['2025-01-01', 366, 5, 'month', [0, 90, 181, 273, 365]],
    ['2025-01-01', 366, 2, 'month', [0, 365]],
    ['2020-01-01', 1830, 2, 'month', [0]], // not even the Januaries fit
  ])('for a range that begins on %s and lasts %i days number at most %i', (first, length, most, unit, at) => {
    const dates = daysFrom(first, length).map(({ date }) => date);
    expect(dayTicks(dates, most)).toEqual({ unit, at });
  });
});

test.each<[name: string, bar: Omit<Bar, 'whole'>, lines: string[]]>([
  ['one day', { from: '2026-03-01', to: '2026-03-01', count: 1, before: undefined }, ['1 use', 'Sun, Mar 1, 2026']],
  [
    'a compared week',
    { from: '2025-01-01', to: '2025-01-07', count: 7, before: { from: '2024-01-03', to: '2024-01-09', count: 14 } },
    ['7 uses −50%', 'Jan 1 – 7, 2025', 'Jan 3 – 9, 2024: 14 uses'],
  ],
  [
    'a week that includes today',
    { from: '2026-03-28', to: '2026-04-03', count: 1234, before: undefined },
    ['1,234 uses', 'Mar 28 – Apr 3, 2026 (so far)'],
  ],
])('the tooltip of %s shows the count and the dates', (_, bar, lines) => {
  const shown = parts.tooltipLines({ ...bar, whole: true }, english, '2026-04-01');
  expect(shown.map((line) => line.replace(/[\u2009\u202f]/g, ' '))).toEqual(lines);
});

test.each([
  ['ArrowLeft', -1, 1],
  ['ArrowRight', 1, -1],
  ['ArrowUp', 1, 1],
  ['ArrowDown', -1, -1],
  ['PageUp', -7, -7],
  ['PageDown', 7, 7],
  ['Home', -Infinity, -Infinity],
  ['End', Infinity, Infinity],
  ['Enter', undefined, undefined],
])('%s moves the mark by %s bars, and by %s in right-to-left languages', (key, leftToRight, rightToLeft) => {
  expect([parts.keyStep(key, 1), parts.keyStep(key, -1)]).toEqual([leftToRight, rightToLeft]);
});

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://a.example/', 'https://a.example'],
  ['HTTPS://A.EXAMPLE:8443', 'https://a.example:8443'],
  ['localhost:8787', null],
  ['//a.example', null],
  ['https://a.example/api/v1', null],
  ['ws://a.example', null],
])('base-url %s has the origin %s', (url, origin) => {
  expect(report.originOf(url)).toBe(origin);
});

const BASE = 'https://usage.example.com';
const TOKEN = `bua_pk_${'0Az'.repeat(11)}9`;
/** Returns the request that these attributes make, or the failure that they cause. */
function requestOf(business: string | null, token: string | null, base: string | null = BASE) {
  try {
    return report.requestOf({ business, token }, base);
  } catch (failed) {
    return failed;
  }
}
const invalid = (message: string) => ({ status: 0, message, reason: 'attributes' });

test.each([null, '', '0', '07', '-1', '1.5', ' 7', '“7”', '12345678901234567'])(
  'business %j is rejected with what it must be',
  (business) => {
    expect(requestOf(business, TOKEN)).toEqual(invalid('business must be a positive whole number, such as 7'));
  },
);

test.each([
  ...[null, '', 'bua_pk_…', `“${TOKEN}”`, ` ${TOKEN}`, `Bearer ${TOKEN}`, TOKEN.slice(0, -1), `${TOKEN}0`],
  ...[TOKEN.replace('bua', 'BUA'), 'короткий-токен-из-прежней-системы', 'short'],
])('token %j is rejected with what it must be, as the service rejects its format', (token) => {
  expect(parseCredential(`Bearer ${token}`)?.text).not.toBe(token);
  const message = 'token must be bua_pk_ followed by 34 letters and digits, or an imported token';
  expect(requestOf('7', token)).toEqual(invalid(message));
});

const SECRET = `bua_sk_${'k'.repeat(34)}`;
test.each([SECRET, SECRET.replace('sk', 'op'), SECRET.toUpperCase(), `“${SECRET}”`, `Bearer ${SECRET}`, 'bua_sk_…'])(
  'token %j is rejected as a secret key, which is not repeated',
  (token) => {
    const message = 'token is a secret key, which this page publishes: revoke it, and use the business token';
    expect(requestOf('7', token)).toEqual(invalid(message));
  },
);

test.each([TOKEN, 'a.b_c~d+e/f=g-h0123456789', 'x'.repeat(255), `legacy.${SECRET}`])(
  'token %j is accepted, as the service accepts its form',
  (token) => {
    expect(parseCredential(`Bearer ${token}`)?.kind).toBe('token');
    expect(requestOf('9007199254740991', token)).toEqual({ base: BASE, business: '9007199254740991', token });
  },
);

test('every invalid attribute is named', () => {
  const message = expect.stringMatching(
    /^business must be .*; token must be .*; base-url must be an origin, such as https/,
  );
  expect(requestOf('', 'x', null)).toEqual({ ...invalid(''), message });
});

test('a list of days yields its first day, last day and total', () => {
  const used = daysFrom('2026-03-01', 3, 2);
  expect(report.periodOf(used)).toEqual({ from: '2026-03-01', to: '2026-03-03', total: 6, used });
});

const DAY = { date: '2026-03-01', count: 1 };
test.each([
  [[]],
  ['many'],
  [{}],
  [[{ ...DAY, date: '2026-13-45' }]],
  [[{ date: '2026-03-01' }]],
  [[DAY, null]],
  [[{ ...DAY, count: '12' }]],
  [[{ ...DAY, count: -1 }]],
  [[{ ...DAY, count: null }]],
  [[{ ...DAY, count: true }]],
  [[{ ...DAY, count: 12n }]],
  [[{ ...DAY, count: Number.POSITIVE_INFINITY }]],
  [[{ ...DAY, date: '2026-03-01T00:00:00Z' }]],
])('data that is not a list of days is rejected: %o', (used) => {
  const message = 'data: used and before must be lists of { date, count }';
  expect(() => report.periodOf(used)).toThrow(expect.objectContaining({ status: 0, message, reason: 'attributes' }));
});
