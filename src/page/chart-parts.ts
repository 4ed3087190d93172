// What the chart consists of besides its drawing: the days of a bar in words, and the table that screen readers get.
import { html } from './element.ts';
import type { Drawn } from './plot.ts';
import type { Bar } from './scale.ts';
import type { Words } from './words.ts';

/** The days of a bar, in words. */
function daysOf({ from, to }: Omit<Bar, 'whole' | 'before'>, { range, word }: Words, today: string): string {
  return range(from, to) + (from <= today && today <= to ? ` (${word('today')})` : '');
}

/** What is said about a bar: its count, its days, and those that it is compared with. */
export function tooltipOf(bar: Bar, words: Words, today: string): string[] {
  const { count, before } = bar;
  const compared = before ? [`${daysOf(before, words, today)}: ${words.counted(before.count)}`] : [];
  return [words.counted(count), daysOf(bar, words, today), ...compared];
}

/** By how many bars a key moves the mark. `onward` is 1 for readers from left to right, and -1 for others. */
export function stepOf(key: string, onward: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowLeft: -onward,
    ArrowRight: onward,
    ArrowDown: -1,
    ArrowUp: 1,
    PageUp: -7,
    PageDown: 7,
    Home: -Infinity,
    End: Infinity,
  };
  return steps[key];
}

/** The bars as a table. */
export function tableOf({ unit, bars }: Drawn, caption: string, words: Words, today: string): HTMLTableElement {
  const { number, period, word, unit: counted } = words;
  const row = (cell: 'th' | 'td', name: string, ...texts: string[]) =>
    html('tr', {}, html('th', {}, name), ...texts.map((text) => html(cell, {}, text)));
  return html(
    'table',
    {},
    html('caption', {}, caption),
    row('th', period(unit), counted(2), ...(bars[0]?.before ? [word('before')] : [])),
    ...bars.map((bar) => {
      const [, days = '', ...compared] = tooltipOf(bar, words, today);
      return row('td', days, number(bar.count), ...compared);
    }),
  );
}
