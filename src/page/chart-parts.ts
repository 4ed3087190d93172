// The tooltip, the keyboard navigation, and the table for screen readers.
import { html } from './element.ts';
import type { Drawn } from './plot.ts';
import { type Bar, changeIn } from './scale.ts';
import type { Words } from './words.ts';

function formatDays({ from, to }: Omit<Bar, 'whole' | 'before'>, { range, word }: Words, today: string): string {
  return range(from, to) + (from <= today && today <= to ? ` (${word('today')})` : '');
}

/** Returns the lines of a bar's tooltip: count, days and comparison. */
export function tooltipLines(bar: Bar, words: Words, today: string): string[] {
  const { count, before, whole } = bar;
  const change = before && whole ? changeIn(count, before.count, words) : '';
  const compared = before ? [`${formatDays(before, words, today)}: ${words.counted(before.count)}`] : [];
  return [`${words.counted(count)} ${change}`.trim(), formatDays(bar, words, today), ...compared];
}

/** Returns how many bars a key moves the mark. `forward` is -1 in right-to-left text, otherwise 1. */
export function keyStep(key: string, forward: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowLeft: -forward,
    ArrowRight: forward,
    ArrowDown: -1,
    ArrowUp: 1,
    PageUp: -7,
    PageDown: 7,
    Home: -Infinity,
    End: Infinity,
  };
  return steps[key];
}

export function createTable({ unit, bars }: Drawn, caption: string, words: Words, today: string): HTMLTableElement {
  const { number, period, word, unit: counted } = words;
  const row = (cell: 'th' | 'td', name: string, ...texts: string[]) =>
    html('tr', {}, html('th', {}, name), ...texts.map((text) => html(cell, {}, text)));
  return html(
    'table',
    {},
    html('caption', {}, caption),
    row('th', period(unit), counted(2), ...(bars[0]?.before ? [word('before')] : [])),
    ...bars.map((bar) => {
      const [, days = '', ...compared] = tooltipLines(bar, words, today);
      return row('td', days, number(bar.count), ...compared);
    }),
  );
}
