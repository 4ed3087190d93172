// What the chart consists of besides its drawing: elements, the days of a bar in words, and the table that screen readers get.
import { dayOf } from '../core/time.ts';
import type { Drawn } from './plot.ts';
import type { Bar } from './scale.ts';
import type { Words } from './words.ts';

type Attributes = Record<string, string>;
export function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes,
  ...children: (Node | string)[]
) {
  const element = document.createElement(name);
  for (const key in attributes) element.setAttribute(key, attributes[key] as string);
  element.append(...children);
  return element;
}

export const span = (name: string, ...children: (Node | string)[]) => html('span', { class: name }, ...children);
export const box = (name: string, ...children: (Node | string)[]) =>
  html('div', { class: name, part: name }, ...children);

/** The service counts by days in UTC. */
export const today = () => dayOf(new Date());

/** The days of a bar, in words. */
export function daysOf({ from, to }: Omit<Bar, 'whole' | 'before'>, { range, word }: Words): string {
  const now = today();
  return range(from, to) + (from <= now && now <= to ? ` (${word('today')})` : '');
}

/** The bars as a table. */
export function tableOf({ unit, bars }: Drawn, caption: string, words: Words): HTMLTableElement {
  const { number, period, word, unit: counted } = words;
  const row = (cell: 'th' | 'td', name: HTMLElement, ...texts: string[]) =>
    html('tr', {}, name, ...texts.map((text) => html(cell, {}, text)));
  return html(
    'table',
    {},
    html('caption', {}, caption),
    row('th', html('th', {}, period(unit)), counted(2), ...(bars[0]?.before ? [word('before')] : [])),
    ...bars.map((bar) => {
      const { count, before } = bar;
      const name = html('th', { scope: 'row' }, daysOf(bar, words));
      return row('td', name, number(count), ...(before ? [number(before.count)] : []));
    }),
  );
}
