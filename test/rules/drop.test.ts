// Which businesses the console says are used less than usual. The rule is at the top of drop.ts.
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { type Drop, dropDetails, dropOf, dropWords } from '../../src/page/owner/drop.ts';
import { ordered } from '../../src/page/owner/list/order.ts';
import { limitsWith, listedBusiness } from '../business.ts';

const LISTED = 57;
/** A Friday, in a month of which the words are the same in every browser. */
const TODAY = '2026-11-27';
type Count = (daysAgo: number, weekday: number) => number;
/** Returns the days up to `today`. Today is 0 days ago, and Sunday is the weekday 0. */
const daysTo = (today: string, count: Count, length = LISTED) =>
  Array.from({ length }, (_, index) => {
    const daysAgo = length - 1 - index;
    const date = addDays(today, -daysAgo);
    return { date, count: count(daysAgo, new Date(date).getUTCDay()) };
  });
const drop = (count: Count, today = TODAY) => dropOf('active', daysTo(today, count));
const isWeekend = (weekday: number) => weekday === 0 || weekday === 6;
const workdays: Count = (_, weekday) => (isWeekend(weekday) ? 0 : 40);
const [FRIDAY, SATURDAY, MONDAY, TUESDAY, WEDNESDAY] = [
  '2026-11-27',
  '2026-11-28',
  '2026-11-30',
  '2026-12-01',
  '2026-12-02',
];

describe('a business that stopped', () => {
  const silent = (since: string, days: number, usual: number): Drop => ({ is: 'silent', since, days, usual });
  test.each<[string, Count, string, Drop | null]>([
    ['five days ago', (ago) => (ago > 4 ? 60 : 0), FRIDAY, silent('2026-11-22', 4, 240)],
    ['two full days ago', (ago) => (ago > 2 ? 60 : 0), FRIDAY, silent('2026-11-24', 2, 120)],
    ['yesterday, which one day may explain', (ago) => (ago > 1 ? 60 : 0), FRIDAY, null],
    ['five weeks ago', (ago) => (ago > 35 ? 60 : 0), FRIDAY, silent('2026-10-22', 35, 2100)],
    ['six weeks ago, which is no news', (ago) => (ago > 42 ? 60 : 0), FRIDAY, null],
    ['two full days ago, and is used again today', (ago) => (ago > 2 || ago === 0 ? 60 : 0), FRIDAY, null],
    ['five days ago, and is used again today', (ago) => (ago > 4 || ago === 0 ? 60 : 0), FRIDAY, { is: 'fewer', days: 7, count: 180, usual: 420 }],
    ['on Friday, as on every weekend, seen on Saturday', workdays, SATURDAY, null],
    ['on Friday, as on every weekend, seen on Monday', (ago, day) => (ago === 0 ? 0 : workdays(ago, day)), MONDAY, null],
    ['for a holiday after a weekend', (ago, day) => (ago < 2 ? 0 : workdays(ago, day)), TUESDAY, null],
    ['for longer than a weekend', (ago, day) => (ago < 3 ? 0 : workdays(ago, day)), WEDNESDAY, silent('2026-11-27', 4, 80)],
    ['and had one use every other day', (ago) => (ago > 6 && ago % 2 === 0 ? 1 : 0), FRIDAY, null],
    ['and had two uses a day', (ago) => (ago > 4 ? 2 : 0), FRIDAY, null],
    ['and had three uses a day', (ago) => (ago > 4 ? 3 : 0), FRIDAY, silent('2026-11-22', 4, 12)],
    ['and had one busy day', (ago) => (ago === 12 ? 1000 : ago > 4 ? 1 : 0), FRIDAY, null],
    ['and was used only on Mondays', (ago, day) => (ago > 8 && day === 1 ? 90 : 0), FRIDAY, silent('2026-11-16', 10, 90)],
    ['and is used only on Mondays', (_, day) => (day === 1 ? 90 : 0), FRIDAY, null],
    ['and began three weeks before', (ago) => (ago > 4 && ago < 26 ? 60 : 0), FRIDAY, silent('2026-11-22', 4, 240)],
    ['and began two weeks before', (ago) => (ago > 4 && ago < 19 ? 60 : 0), FRIDAY, null],
    ['today, which is not over', (ago) => (ago > 0 ? 60 : 0), FRIDAY, null],
    ['before it was ever used', () => 0, FRIDAY, null],
    ['on its first day', (ago) => (ago === 0 ? 60 : 0), FRIDAY, null],
  ])('%s', (_, count, today, expected) => {
    expect(drop(count, today)).toEqual(expected);
  }); // biome-ignore format: one row per line
});

describe('a business with fewer uses', () => {
  const since =
    (days: number, now: number, before = 90): Count =>
    (ago) =>
      ago <= days ? now : before;
  const fewer = (days: number, count: number, usual: number): Drop => ({ is: 'fewer', days, count, usual });
  test.each<[string, Count, Drop | null]>([
    ['in a week', since(7, 30), fewer(7, 210, 630)],
    ['in six days', since(6, 30), fewer(7, 270, 630)],
    ['in four days, of which a week shows too little', since(4, 30), null],
    ['in ten days', since(10, 30), fewer(7, 210, 630)],
    ['in two weeks', since(14, 30), fewer(14, 420, 1260)],
    ['in three weeks', since(21, 30), fewer(21, 630, 1890)],
    ['in four weeks', since(28, 30), fewer(28, 840, 2520)],
    ['in six weeks, which is no news', since(42, 30), null],
    ['by half', since(7, 45), fewer(7, 315, 630)],
    ['by less than half', since(7, 46), null],
    ['today, which is not over', since(0, 1), null],
    ['than in one busy week', (ago) => (ago > 7 && ago <= 14 ? 900 : 90), null],
    ['than in weeks of which one was as quiet', (ago) => (ago <= 7 || (ago > 21 && ago <= 28) ? 30 : 90), null],
    ['by chance, because it has few', since(7, 1, 3), null],
    ['on workdays', (ago, day) => (ago <= 7 ? 0.25 : 1) * workdays(ago, day), fewer(7, 50, 200)],
    ['and began three weeks before', (ago) => (ago > 28 ? 0 : since(7, 30)(ago, 0)), fewer(7, 210, 630)],
    ['and began two weeks before', (ago) => (ago > 21 ? 0 : since(7, 30)(ago, 0)), null],
  ])('%s', (_, count, expected) => {
    expect(drop(count)).toEqual(expected);
  }); // biome-ignore format: one row per line
});

/** Returns 300 histories of different sizes and weekdays, with noise of up to a third, each seen on another day. */
function histories(): { today: string; count: Count }[] {
  let state = 20_261_129;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return Array.from({ length: 300 }, (_, round) => {
    const scale = 10 ** (1.2 + 3 * random());
    const weekend = [0, 0.3, 1][round % 3] as number;
    const noise = Array.from({ length: LISTED }, () => 0.67 + 0.66 * random());
    const count: Count = (ago, day) => Math.round(scale * (isWeekend(day) ? weekend : 1) * (noise[ago] ?? 1));
    return { today: addDays(TODAY, round), count };
  });
}

test('of 300 histories with noise and weekends, none has a drop until it stops for five days or has a third of its uses', () => {
  const wrong = histories().flatMap(({ today, count }, round) => {
    const asUsual = drop(count, today);
    const stopped = drop((ago, day) => (ago <= 5 ? 0 : count(ago, day)), today);
    const fell = drop((ago, day) => Math.round(count(ago, day) * (ago <= 7 ? 0.33 : 1)), today);
    const isRight = asUsual === null && stopped?.is === 'silent' && fell?.is === 'fewer';
    return isRight ? [] : [{ round, today, asUsual, stopped, fell }];
  });
  expect(wrong).toEqual([]);
});

test('an inactive business has no drop', () => {
  for (const status of ['suspended', 'closed'])
    expect(
      dropOf(
        status,
        daysTo(TODAY, (ago) => (ago > 4 ? 60 : 0)),
      ),
    ).toBeNull();
});

test('what stopped five days ago and what fell by 67% stand on top of the list', () => {
  const business = (id: number, name: string, count: Count, limits = limitsWith({})) =>
    listedBusiness({ id, name, main_domain: 'shop.example', used: daysTo(MONDAY, count), limits });
  const list = [
    business(1, 'A rests on weekends', (ago, day) => (ago === 0 ? 0 : workdays(ago, day))),
    business(2, 'B has reached its limit', () => 9, limitsWith({ monthly: 100, month: 261 })),
    business(3, 'C fell', (ago) => (ago > 7 ? 90 : 30)),
    business(4, 'D stopped', (ago) => (ago > 5 ? 60 : 0)),
  ];
  expect(ordered(list, 'attention').map(({ id }) => id)).toEqual([4, 3, 2, 1]);
});

test.each<[Drop, string, string]>([
  [{ is: 'silent', since: '2026-11-22', days: 4, usual: 241 }, 'No uses since Nov 22', '. About 240 are usual on 4 such days.'],
  [{ is: 'fewer', days: 7, count: 210, usual: 631 }, '67% fewer uses than usual', ': 210 uses in the last 7 full days, in which about 630 are usual.'],
])('the drop %j is put in words', (given, words, details) => {
  expect(dropWords(given)).toBe(words);
  expect(dropDetails(given)).toBe(words + details);
}); // biome-ignore format: one row per line
