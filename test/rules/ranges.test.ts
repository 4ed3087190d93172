// The usage view's days: its URL, presets and arrows, and invalid ranges.
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import {
  CHOICE_NAMES,
  comparedDays,
  comparisonIn,
  coversAllDays,
  earlier,
  entriesOf,
  findRangeProblem,
  later,
  rangeOfChoice,
  recordedFrom,
  type Shown,
  shownBy,
  withData,
} from '../../src/page/owner/ranges.ts';
import { fullDays } from '../../src/page/scale.ts';

const SUNDAY = '2026-11-22';
const shown = (text: string, today = SUNDAY) => shownBy(new URLSearchParams(text), today);
const range = (from: string, to: string) => ({ from, to });

describe('the URL of the usage view', () => {
  test.each([
    ['', '28', '2026-10-25', '2026-11-22'], // 28 full days, and today
    ['range=this-month', 'this-month', '2026-11-01', '2026-11-22'],
    ['range=last-12-months', 'last-12-months', '2025-11-01', '2026-10-31'],
    ['range=never', '28', '2026-10-25', '2026-11-22'],
    ['range=constructor', '28', '2026-10-25', '2026-11-22'],
    ['from=2026-03-01&to=2026-03-09', null, '2026-03-01', '2026-03-09'],
    ['from=1970-01-01&to=1970-01-01', null, '1970-01-01', '1970-01-01'],
  ])('with “%s” (preset: %s) selects the days %s to %s', (text, choice, from, to) => {
    expect(shown(text)).toEqual({ choice, range: range(from, to), problem: null });
  });

  test.each([
    ['from=2026-03-09&to=2026-03-01', { is: 'reversed' }],
    ['from=2021-01-01&to=2026-01-05', { is: 'too long', days: 1831, earliest: '2021-01-02' }],
    ['from=1969-12-31&to=1970-01-05', { is: 'not a day', end: 'from' }],
    ['from=2026-02-30&to=2026-03-05', { is: 'not a day', end: 'from' }],
    ['from=2026-03-05', { is: 'not a day', end: 'to' }],
    ['to=2026-03-05', { is: 'not a day', end: 'from' }],
    ['from=0202-03-05&to=2026-03-05', { is: 'not a day', end: 'from' }],
  ])('with “%s” is invalid, and falls back to the last 28 days', (text, problem) => {
    expect(shown(text)).toEqual({ choice: '28', range: range('2026-10-25', SUNDAY), problem });
  });

  test('can select up to 1,830 days', () => {
    expect(findRangeProblem(range('2021-01-02', '2026-01-05'))).toBeNull();
  });

  test.each([
    ['', 'previous'],
    ['compare=year', 'year'],
    ['compare=off', 'off'],
    ['compare=Off', 'previous'],
  ])('with “%s” selects the comparison “%s”', (text, comparison) => {
    expect(comparisonIn(new URLSearchParams(text))).toBe(comparison);
  });
});

test('the URL that the view writes for a range selects that range', () => {
  const own: Shown = { choice: null, range: range('2026-03-01', '2026-03-09') };
  const presets = CHOICE_NAMES.map((choice): Shown => ({ choice, range: rangeOfChoice(choice, SUNDAY) }));
  for (const selected of [own, ...presets]) {
    const entries = Object.entries(entriesOf(selected)).flatMap(([name, value]) =>
      value === null ? [] : [[name, value]],
    );
    expect(shownBy(new URLSearchParams(entries), SUNDAY)).toEqual({ ...selected, problem: null });
  }
  expect(entriesOf({ choice: '28', range: own.range })).toEqual({ range: null, from: null, to: null });
});

describe('the arrows', () => {
  test.each<[string, string, string, string, string | null]>([
    ['', 'earlier', '2026-09-27', '2026-10-24', null],
    ['range=this-month', 'earlier', '2026-10-01', '2026-10-31', 'last-month'],
    ['range=last-month', 'earlier', '2026-09-01', '2026-09-30', null],
    ['range=last-month', 'later', '2026-11-01', '2026-11-22', 'this-month'],
    ['from=2026-02-01&to=2026-02-28', 'later', '2026-03-01', '2026-03-31', null],
    ['range=this-year', 'earlier', '2025-01-01', '2025-12-31', null],
    ['from=2025-01-01&to=2025-12-31', 'later', '2026-01-01', '2026-11-22', 'this-year'],
    ['from=2024-11-01&to=2025-10-31', 'later', '2025-11-01', '2026-10-31', 'last-12-months'],
    ['from=2026-11-10&to=2026-11-14', 'later', '2026-11-15', '2026-11-19', null],
    ['from=2026-11-10&to=2026-11-15', 'later', '2026-11-16', '2026-11-22', null], // six full days, and today
    ['from=2026-11-13&to=2026-11-19', 'later', '2026-11-15', '2026-11-22', '7'],
    ['from=2026-11-17&to=2026-11-22', 'earlier', '2026-11-12', '2026-11-16', null],
  ])('move from “%s” to the %s days %s to %s', (text, way, from, to, choice) => {
    const next = (way === 'earlier' ? earlier : later)(shown(text), SUNDAY);
    expect(next).toEqual({ choice, range: range(from, to) });
  });

  test('move by whole months even if another preset has the same number of days', () => {
    const january = shownBy(new URLSearchParams('from=2026-01-01&to=2026-01-31'), '2026-02-28');
    expect(later(january, '2026-02-28')).toEqual({ choice: 'this-month', range: range('2026-02-01', '2026-02-28') });
  });

  test('stop at today and at 1970', () => {
    expect(later(shown(''), SUNDAY)).toBeNull();
    expect(later(shown('from=2026-11-01&to=2026-12-01'), SUNDAY)).toBeNull();
    expect(later(shown('range=last-12-months'), SUNDAY)).toBeNull();
    expect(earlier(shown('from=1970-01-05&to=1970-01-12'), SUNDAY)).toBeNull();
    expect(earlier(shown('from=1970-01-09&to=1970-01-16'), SUNDAY)?.range).toEqual(range('1970-01-01', '1970-01-08'));
  });

  test('return to the same full days after a step earlier and a step later, on every day of four years', {
    tags: 'slow',
  }, () => {
    for (let today = '2025-01-01'; today < '2029-01-01'; today = addDays(today, 1)) {
      for (const choice of CHOICE_NAMES) {
        const begin: Shown = { choice, range: rangeOfChoice(choice, today) };
        const before = earlier(begin, today) as Shown;
        expect(addDays(before.range.to, 1), `${choice} ${today}`).toBe(begin.range.from);
        const after = later(before, today) as Shown; // a quarter of 91 days is followed by a quarter, without today
        expect(fullDays(after.range, today), `${choice} ${today}`).toEqual(fullDays(begin.range, today));
      }
    }
  });
});

// console-figures.test.ts compares the others with an oracle.
describe('the compared days', () => {
  test.each<[string, 'previous' | 'year', string | null, string]>([
    ['', 'previous', '2026-09-27', '2026-10-24'], // the same weekdays
    ['range=this-month', 'year', '2025-11-01', '2025-11-21'],
    ['from=2028-02-01&to=2028-02-29', 'year', null, ''], // in the future, so no day is over
    ['from=2026-11-22&to=2026-11-22', 'previous', null, ''], // today alone
    ['from=1970-01-05&to=1970-01-11', 'previous', null, ''],
    ['from=2024-05-27&to=2026-11-22', 'previous', '2021-11-29', '2024-05-25'], // one report of 1,820 days
    ['from=2024-05-22&to=2026-11-22', 'previous', null, ''], // a report would be too long
  ])('of “%s” (%s) are %s to %s', (text, comparison, from, to) => {
    expect(comparedDays(shown(text), comparison, SUNDAY)).toEqual(from === null ? null : range(from, to));
    expect(comparedDays(shown(text), 'off', SUNDAY)).toBeNull();
  });

  test('end with their month if it has fewer days', () => {
    expect(comparedDays(shown('range=this-month', '2026-03-31'), 'previous', '2026-03-31')).toEqual(
      range('2026-02-01', '2026-02-28'),
    );
  });
});

test.each([
  ['2026-10-01', ['2026-10-05'], '2026-10-01', true],
  ['2026-10-02', [], '2026-10-02', false],
  ['2026-10-20', ['2026-10-01'], '2026-10-01', true], // imported
  ['2026-10-20', ['2026-10-03'], '2026-10-03', false],
])(
  'a business created on %s with uses on %j has data from %s on, so October can be compared: %s',
  (created, used, since, expected) => {
    const loaded = ['2026-10-01', '2026-10-03', '2026-10-05', '2026-10-31'];
    const days = loaded.map((date) => ({ date, count: Number((used as string[]).includes(date)) }));
    expect(recordedFrom(`${created}T08:00:00.000000Z`, days)).toBe(since);
    const october = range('2026-10-01', '2026-10-31');
    expect(withData(october, since)).toEqual(expected ? october : null);
  },
);

// The first steps are shown only if a business has no uses at all.
test.each([
  ['2026-10-26', SUNDAY, '2026-11-01', true],
  ['2026-11-01', '2026-11-30', '2026-11-01', true],
  ['2026-11-02', SUNDAY, '2026-11-01', false], // earlier days can have uses
  ['2026-10-26', '2026-11-21', '2026-11-01', false], // so can today
])('whether %s to %s contain all days of a business that was created on %s: %s', (from, to, created_on, expected) => {
  expect(coversAllDays(range(from, to), created_on, SUNDAY)).toBe(expected);
});
