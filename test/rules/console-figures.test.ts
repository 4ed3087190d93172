// Every figure that the console shows for a business, computed a second time from the raw history. The oracle shares no code with the page:
// it counts days as numbers, one by one, and knows only the rules of docs/embedding.md ("The pages", "Comparisons").
import { describe, expect, test } from 'vitest';
import type { ListedBusiness } from '../../src/business/description.ts';
import type { Range } from '../../src/core/time.ts';
import { dayRows } from '../../src/page/owner/day-rows.ts';
import { rangeName } from '../../src/page/owner/file-name.ts';
import { changeWords } from '../../src/page/owner/formats.ts';
import { growthOf } from '../../src/page/owner/list/growth.ts';
import { daysOf, withCompared } from '../../src/page/owner/loaded-days.ts';
import { monthOf } from '../../src/page/owner/periods.ts';
import {
  CHOICE_NAMES,
  COMPARISONS,
  comparedDays,
  recordedFrom,
  shownBy,
  withData,
} from '../../src/page/owner/ranges.ts';
import { withToday } from '../../src/page/owner/source-uses.ts';
import { figuresOf } from '../../src/page/owner/usage/figures.ts';
import { comparedBySource, coveredBy, rowsOf, type SourceRow } from '../../src/page/owner/usage/source-rows.ts';
import { barsBy, comparedWith, type Day, fullDays, SHOWN_DAYS, summaryOf } from '../../src/page/scale.ts';
import type { SourceUses } from '../../src/usage/description.ts';
import { limitsWith } from '../business.ts';

/** Days are numbers: the days since 1970. */
const DAY = 86_400_000;
const textOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);
const dayAt = (text: string) => Date.parse(text) / DAY;
const partsOf = (day: number) => textOf(day).split('-').map(Number) as [year: number, month: number, day: number];
const dayOfDate = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / DAY;

type Case = {
  today: number;
  billingDay: number;
  /** Days before it may have been imported. */
  created: number;
  count: (day: number) => number;
  query: string;
};

/** Returns 300 histories: old and new businesses, busy and quiet ones, with a random choice of days. */
function cases(): Case[] {
  let state = 20_261_127;
  const below = (most: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
  return Array.from({ length: 300 }, (_, round) => {
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
    const created = Math.min(today, first + (round % 3 === 0 ? below(70) : 0));
    return { today, billingDay: 1 + below(28), created, count: (day) => counts.get(day) ?? 0, query };
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
      return { from: today - Number(name), to: today, months: null };
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
    while (comparison === 'previous' && (full.at(-1) ?? 0) - 7 * weeks >= from) weeks += 1;
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

const WORDS = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
/** The oracle: a calendar month, quarter or year has its name only if the days are all of it. */
function nameOf(full: number[]): string {
  const [first = 0, last = 0] = [full[0], full.at(-1)];
  const [year, month, day] = partsOf(first);
  const isWhole = (months: number) => day === 1 && last === dayOfDate(year, month + months, 1) - 1;
  if (isWhole(1))
    return `${['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'][month - 1]} ${year}`;
  if (isWhole(3) && month % 3 === 1) return `Q${(month + 2) / 3} ${year}`;
  if (isWhole(12) && month === 1) return `${year}`;
  return WORDS.formatRange(new Date(textOf(first)), new Date(textOf(last))).replaceAll(/\s/g, ' ');
}

/** The oracle: a business has data from its creation on, or from the first of the read days with uses. Earlier days are not compared. */
const dataFrom = ({ created, count }: Case, read: number[]): number =>
  Math.min(created, ...read.filter((day) => count(day) > 0).slice(0, 1));

const percent = (now: number, before: number) => {
  if (before === 0) return '–';
  if (now >= 10 * before) return `×${Math.floor(now / before).toLocaleString('en')}`;
  const difference = Math.round((Math.abs(now - before) / before) * 100);
  return difference === 0 ? '0%' : `${now > before ? '+' : '−'}${difference}%`;
};

describe('300 histories', () => {
  const total = (days: number[], count: (day: number) => number) => days.reduce((sum, day) => sum + count(day), 0);
  const numbers = (from: string, to: string) =>
    Array.from({ length: dayAt(to) - dayAt(from) + 1 }, (_, at) => dayAt(from) + at);
  const read = (count: Case['count'], from: string, to: string): Day[] =>
    numbers(from, to).map((day) => ({ date: textOf(day), count: count(day) }));

  test('have the total, the compared total, the change, the mean and the peak that the oracle counts', () => {
    const seen = { compared: 0, factors: 0, none: 0, calendar: 0, unknown: 0 };
    for (const [round, one] of cases().entries()) {
      const { today, billingDay, created, count, query } = one;
      const now = textOf(today);
      let ends = today + 1;
      while (partsOf(ends)[2] !== billingDay) ends += 1;
      let starts = today;
      while (partsOf(starts)[2] !== billingDay) starts -= 1;
      const startOf = (day: number) => `${textOf(day)}T00:00:00.000000Z`;
      const limits = limitsWith({ monthly: 1, month_starts: startOf(starts), month_ends: startOf(ends) });
      const shown = shownBy(new URLSearchParams(query), now, monthOf(limits)?.days ?? null);
      const comparison = COMPARISONS[Math.floor(round / 12) % 2] as 'previous' | 'year';
      const asFar = comparedDays(shown, comparison, now);
      const expected = expectedDays(query, today, billingDay, comparison);
      expect([dayAt(shown.range.from), dayAt(shown.range.to)], query).toEqual([expected.from, expected.to]);
      const asked = withCompared(shown.range, asFar);
      const loaded = read(count, asked.from, asked.to);
      const compared = withData(asFar, recordedFrom(textOf(created), loaded));
      const isKnown = dataFrom(one, numbers(asked.from, asked.to)) <= (expected.compared[0] ?? Infinity);
      if (!isKnown) expected.compared.length = 0;
      const used = daysOf(loaded, shown.range) ?? [];
      const before = (compared && daysOf(loaded, compared)) ?? [];
      const summary = summaryOf(used, before, now);
      const { from, full } = expected;
      const all = total(
        [...used.keys()].map((at) => from + at),
        count,
      );
      const sum = total(full, count);
      const earlier = total(expected.compared, count);
      expect(summary, `${round} ${query} ${comparison}`).toMatchObject({ total: sum, earlier });
      expect(summary.full.map(({ date }) => dayAt(date))).toEqual(full);
      expect(summary.total + summary.soFar).toBe(all);
      expect(
        summary.compared.map(({ date }) => dayAt(date)),
        `${round} ${query}`,
      ).toEqual(expected.compared);
      const change = changeWords(summary.total, summary.earlier);
      expect(change).toBe(percent(sum, earlier));
      seen[change === '–' ? 'none' : change.startsWith('×') ? 'factors' : 'compared'] += 1;
      if (!isKnown) seen.unknown += 1;
      if (shownDays(query, today, billingDay).months !== null) seen.calendar += 1;

      const figures = figuresOf(used, now);
      expect(figures).toMatchObject({ fullDays: full.length, total: sum, soFar: all - sum });
      let [most, peak]: [number, number | null] = [0, null];
      for (const day of full) if (count(day) > most) [most, peak] = [count(day), day];
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
      const [, ...file] = dayRows(summary.full, compared && summary.compared);
      const column = (at: number) => file.reduce((sum, row) => sum + Number(row[at] ?? 0), 0);
      expect([column(1), column(3)]).toEqual([sum, earlier]);
      // The sources of the same days, and of as many compared ones, add up to the same totals, with today beside them.
      const days = fullDays(shown.range, now);
      if (days !== null) {
        const covered = coveredBy(days);
        const before = comparedBySource(days, compared);
        const bySource = ({ from, to }: Range): SourceUses[] => {
          const [a, b] = [0, 1].map((odd) =>
            total(
              numbers(from, to).filter((day) => day % 2 === odd),
              count,
            ),
          );
          return [
            { source: 'https://a.example', count: a ?? 0, last_day: to },
            { source: 'sms', count: b ?? 0, last_day: to },
          ].filter((one) => one.count > 0);
        };
        const ofToday = bySource({ from: now, to: now });
        const rows = rowsOf(withToday(bySource(covered), ofToday), before && bySource(before), ['https://b.example']);
        const column = (of: (row: SourceRow) => number | null) => rows.reduce((sum, row) => sum + (of(row) ?? 0), 0);
        expect(column((row) => row.count)).toBe(total(full.slice(-92), count));
        expect(column((row) => row.today)).toBe(count(today));
        if (before !== null) expect(column((row) => row.before)).toBe(earlier);
        // Each file is named after the days that it contains.
        expect(rangeName(days)).toBe(nameOf(full));
      }
    }
    expect(Object.entries(seen).filter(([, times]) => times < 10)).toEqual([]);
  });

  test('have the same total and change in the list, in their view as it opens, and in a chart on another page', () => {
    let unknown = 0;
    for (const one of cases()) {
      const { today, created, count } = one;
      const now = textOf(today);
      const used: ListedBusiness['used'] = read(count, textOf(today - 56), now);
      const { full, compared } = expectedDays('range=28', today, 1, 'previous');
      expect([full.length, compared.length]).toEqual([28, 28]);
      const since = dataFrom(one, numbers(textOf(today - 56), now));
      const isKnown = since <= today - 56;
      const growth = growthOf({ used, created_at: `${textOf(created)}T12:00:00.000Z` });
      const earlier = isKnown ? total(compared, count) : undefined;
      expect([growth.now.total, growth.before?.total, dayAt(growth.since)]).toEqual([
        total(full, count),
        earlier,
        since,
      ]);
      expect(growth.now.days.map(({ date }) => dayAt(date))).toEqual(full);
      const shown = shownBy(new URLSearchParams(), now);
      const before = withData(comparedDays(shown, 'previous', now), recordedFrom(textOf(created), used));
      const view = summaryOf(daysOf(used, shown.range) ?? [], (before && daysOf(used, before)) ?? [], now);
      expect([view.total, view.earlier]).toEqual([growth.now.total, growth.before?.total ?? 0]);
      // The chart asks for the service's default report, and then for the days before.
      const drawn = read(count, textOf(today - 29), now).slice(-1 - SHOWN_DAYS);
      const days = fullDays({ from: drawn[0]?.date ?? '', to: now }, now) as Range;
      const asked = comparedWith(days, 'previous');
      const tag = summaryOf(drawn, isKnown ? read(count, asked.from, asked.to) : [], now);
      expect(tag).toEqual(view);
      if (!isKnown) unknown += 1;
    }
    expect(unknown).toBeGreaterThan(10);
  });
});
