// Every figure that the console shows for a business, computed a second time from the raw history. The oracle shares no code with the page:
// it counts days as numbers, one by one, and knows only the rules of docs/embedding.md ("The pages").
import { describe, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import { dayRows } from '../../src/page/owner/day-rows.ts';
import { changeWords } from '../../src/page/owner/formats.ts';
import { growthOf } from '../../src/page/owner/list/growth.ts';
import { daysOf, withCompared } from '../../src/page/owner/loaded-days.ts';
import { billingMonth } from '../../src/page/owner/periods.ts';
import { CHOICE_NAMES, COMPARISONS, comparedDays, shownBy } from '../../src/page/owner/ranges.ts';
import { figuresOf } from '../../src/page/owner/usage/figures.ts';
import { comparedParts } from '../../src/page/owner/usage/source-rows.ts';
import { barsBy, type Day, summaryOf } from '../../src/page/scale.ts';
import type { Limits } from '../../src/shown-business/description.ts';

/** Days are numbers: the days since 1970. */
const DAY = 86_400_000;
const textOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);
const dayAt = (text: string) => Date.parse(text) / DAY;
const partsOf = (day: number) => textOf(day).split('-').map(Number) as [year: number, month: number, day: number];
const dayOfDate = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / DAY;

type Case = {
  today: number;
  billingDay: number;
  count: (day: number) => number;
  query: string;
};

/** Returns 200 histories: old and new businesses, busy and quiet ones, with a random choice of days. */
function cases(): Case[] {
  let state = 20_261_127;
  const below = (most: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
  return Array.from({ length: 200 }, (_, round) => {
    const today = dayAt('2019-06-01') + below(4000);
    const scale = [1, 3, 50, 4000][round % 4] as number;
    const first = round % 5 === 0 ? today - below(60) : today - 2000; // the business may be new
    const counts = new Map<number, number>();
    const boom = round % 7 === 0 ? 40 : 1; // some grow more than tenfold
    for (let day = first; day <= today; day++)
      if (below(4) > 0) counts.set(day, below(scale + 1) * (day > today - 90 ? boom : 1));
    const names = [...CHOICE_NAMES, null];
    const name = names[round % names.length] ?? null;
    const [from, length] = [today - below(80), below(60)];
    const query =
      name === null ? `from=${textOf(from)}&to=${textOf(Math.min(from + length, today + 2))}` : `range=${name}`;
    return { today, billingDay: 1 + below(28), count: (day) => counts.get(day) ?? 0, query };
  });
}

/** The oracle: the first and last shown day, and how many months make up the calendar period, or null. */
function shownDays(
  query: string,
  today: number,
  billingDay: number,
): { from: number; to: number; months: number | null } {
  const [year, month] = partsOf(today);
  const name = /range=(.*)/.exec(query)?.[1];
  if (name === 'billing-month') {
    let from = today;
    while (partsOf(from)[2] !== billingDay) from -= 1;
    return { from, to: today, months: 1 };
  }
  const quarter = Math.floor((month - 1) / 3) * 3 + 1;
  switch (name) {
    case 'this-month':
      return { from: dayOfDate(year, month, 1), to: today, months: 1 };
    case 'last-month':
      return { from: dayOfDate(year, month - 1, 1), to: dayOfDate(year, month, 1) - 1, months: 1 };
    case 'this-quarter':
      return { from: dayOfDate(year, quarter, 1), to: today, months: 3 };
    case 'last-quarter':
      return { from: dayOfDate(year, quarter - 3, 1), to: dayOfDate(year, quarter, 1) - 1, months: 3 };
    case 'this-year':
      return { from: dayOfDate(year, 1, 1), to: today, months: 12 };
    case 'last-12-months':
      return { from: dayOfDate(year, month - 12, 1), to: dayOfDate(year, month, 1) - 1, months: 12 };
    case undefined: {
      const [from = 0, to = 0] = [...query.matchAll(/\d{4}-\d\d-\d\d/g)].map(([text]) => dayAt(text));
      const [y, m, d] = partsOf(from);
      const ends = (months: number) => dayOfDate(y, m + months, 1) - 1;
      // A typed range is a calendar month or quarter if it looks like one.
      const months =
        d === 1
          ? [1, 3].find((n) => (n === 1 || m % 3 === 1) && (to === ends(n) || (to === today && to <= ends(n))))
          : null;
      return { from, to, months: months ?? null };
    }
    default:
      return { from: today + 1 - Number(name), to: today, months: null };
  }
}

/** The oracle: each full day, and each day that they are compared with. */
function expectedDays(query: string, today: number, billingDay: number, comparison: 'previous' | 'year') {
  const { from, to, months } = shownDays(query, today, billingDay);
  const full: number[] = [];
  const compared: number[] = [];
  for (let day = from; day <= to && day < today; day++) full.push(day);
  if (months === null) {
    let weeks = comparison === 'year' ? 52 : 0;
    while (comparison === 'previous' && to - 7 * weeks >= from) weeks += 1;
    for (const day of full) compared.push(day - 7 * weeks);
  } else {
    const [year, month, day] = partsOf(from);
    const back = comparison === 'year' ? 12 : months;
    const end = dayOfDate(year, month - back + months, day);
    const isOver = full.length > 0 && full.at(-1) === dayOfDate(year, month + months, day) - 1;
    const first = dayOfDate(year, month - back, day);
    for (let at = first; at < end && (isOver || at < first + full.length); at++) compared.push(at);
  }
  return { from, to, full, compared };
}

const percent = (now: number, before: number) => {
  if (before === 0) return '–';
  if (now >= 10 * before) return `×${Math.floor(now / before).toLocaleString('en')}`;
  const difference = Math.round((Math.abs(now - before) / before) * 100);
  return difference === 0 ? '0%' : `${now > before ? '+' : '−'}${difference}%`;
};

describe('200 histories', { tags: 'slow' }, () => {
  const total = (days: number[], count: (day: number) => number) => days.reduce((sum, day) => sum + count(day), 0);
  const read = (count: Case['count'], from: string, to: string): Day[] =>
    Array.from({ length: dayAt(to) - dayAt(from) + 1 }, (_, at) => ({
      date: textOf(dayAt(from) + at),
      count: count(dayAt(from) + at),
    }));

  test('have the total, the compared total, the change, the mean and the peak that the oracle counts', () => {
    const seen = { compared: 0, factors: 0, none: 0, calendar: 0 };
    for (const [round, { today, billingDay, count, query }] of cases().entries()) {
      const now = textOf(today);
      let ends = today + 1;
      while (partsOf(ends)[2] !== billingDay) ends += 1;
      let starts = today;
      while (partsOf(starts)[2] !== billingDay) starts -= 1;
      const [month_starts, month_ends] = [starts, ends].map((day) => `${textOf(day)}T00:00:00.000000Z`);
      const limits = { month_starts, month_ends } as Limits;
      const shown = shownBy(new URLSearchParams(query), now, billingMonth(limits));
      const comparison = COMPARISONS[Math.floor(round / 12) % 2] as 'previous' | 'year';
      const compared = comparedDays(shown, comparison, now);
      const expected = expectedDays(query, today, billingDay, comparison);
      expect([dayAt(shown.range.from), dayAt(shown.range.to)], query).toEqual([expected.from, expected.to]);
      const asked = withCompared(shown.range, compared);
      const loaded = read(count, asked.from, asked.to);
      const used = daysOf(loaded, shown.range) ?? [];
      const before = (compared && daysOf(loaded, compared)) ?? [];
      const summary = summaryOf(used, before, now);
      const { from, to, full } = expected;
      const all = total(
        [...used.keys()].map((at) => from + at),
        count,
      );
      const sum = full.length > 0 ? total(full, count) : all;
      const earlier = total(expected.compared, count);
      expect(summary, `${round} ${query} ${comparison}`).toMatchObject({ fullDays: full.length, total: sum, earlier });
      expect(summary.total + summary.soFar).toBe(all);
      expect(
        summary.compared.map(({ date }) => dayAt(date)),
        `${round} ${query}`,
      ).toEqual(expected.compared);
      const change = changeWords(summary.total, summary.earlier);
      expect(change).toBe(percent(sum, earlier));
      seen[change === '–' ? 'none' : change.startsWith('×') ? 'factors' : 'compared'] += 1;
      if (shownDays(query, today, billingDay).months !== null) seen.calendar += 1;

      const figures = figuresOf(used, now);
      expect(figures).toMatchObject({ fullDays: full.length, total: sum });
      let [most, peak]: [number, number | null] = [0, null];
      for (let day = from; day <= to; day++) if (count(day) > most) [most, peak] = [count(day), day];
      expect(figures.peak && dayAt(figures.peak.date)).toBe(peak);

      // The bars, which have tooltips and are rows of the table, add up to the same figures.
      for (const unit of ['day', 'week', 'month'] as const) {
        const bars = barsBy(unit, used, summary.compared, now);
        expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(all);
        const drawn = bars.reduce((sum, bar) => sum + (bar.before?.count ?? 0), 0);
        if (unit === 'month' || expected.compared.length <= used.length)
          expect(drawn, `${round} ${unit}`).toBe(earlier);
      }
      // The file has the same days as the total, each beside the day it is compared with.
      const file = dayRows(full.length > 0 ? used.slice(0, full.length) : used, summary.compared);
      const column = (at: number) => file.reduce((sum, row) => sum + Number(row[at] ?? 0), 0);
      expect([column(1), column(3)]).toEqual([sum, earlier]);
      // Sources are compared over the same days.
      const parts = comparedParts(shown.range, compared, now);
      if (parts !== null) {
        expect([dayAt(parts.now.from), dayAt(parts.now.to)]).toEqual([full[0], full.at(-1)]);
        expect([dayAt(parts.before.from), dayAt(parts.before.to)]).toEqual([
          expected.compared[0],
          expected.compared.at(-1),
        ]);
      }
    }
    expect(Object.entries(seen).filter(([, times]) => times < 10)).toEqual([]);
  });

  test('have the same total and change in the list as in their view, as it opens', () => {
    for (const { today, count } of cases()) {
      const now = textOf(today);
      const used: ListedBusiness['used'] = read(count, textOf(today - 55), now);
      const { full, compared } = expectedDays('range=28', today, 1, 'previous');
      const growth = growthOf(used);
      expect([growth.now.total, growth.before.total]).toEqual([total(full, count), total(compared, count)]);
      const shown = shownBy(new URLSearchParams(), now);
      const summary = summaryOf(
        daysOf(used, shown.range) ?? [],
        daysOf(used, comparedDays(shown, 'previous', now) ?? shown.range) ?? [],
        now,
      );
      expect([summary.total, summary.earlier]).toEqual([growth.now.total, growth.before.total]);
      expect(growth.now.days.at(-1)?.date).toBe(textOf(today - 1));
    }
  });
});
