// Draws the bars and axes as SVG, in pixels of the width that there is: it is drawn again when that changes.
import { barIn, countTicks, type Day, dayTicks } from './scale.ts';

const SVG = 'http://www.w3.org/2000/svg';
const TOP = 10;
const BOTTOM = 26;
const TICK_EVERY = { x: 68, y: 52 };
const CHARACTER = 7.2; // of the axis labels, on average
const RADIUS = 3;

type Attributes = Record<string, string | number>;

function svg(name: string, attributes: Attributes, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
  element.append(...children);
  return element;
}

/** How numbers and days are written, in the language of the page. */
export type Words = ReturnType<typeof wordsIn>;

export function wordsIn(language: string) {
  const day = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    return (date: string) => format.format(new Date(date));
  };
  const number = new Intl.NumberFormat(language);
  const compact = new Intl.NumberFormat(language, { notation: 'compact' });
  const range = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  return {
    number: (count: number) => number.format(count),
    uses: (count: number) => `${number.format(count)} ${count === 1 ? 'use' : 'uses'}`,
    compact: (count: number) => compact.format(count),
    shortDay: day({ day: 'numeric', month: 'short' }),
    month: day({ month: 'short' }),
    monthAndYear: day({ month: 'short', year: 'numeric' }),
    longDay: day({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
    range: (from: string, to: string) => range.formatRange(new Date(from), new Date(to)),
  };
}

export type Plot = {
  image: SVGElement;
  /** The day under a horizontal position. */
  indexAt: (x: number) => number;
  /** The middle and the top of a bar, once it is marked. */
  mark: (index: number | null) => { x: number; y: number };
};

/** A bar with a round top, and none for nothing. */
function shape(x: number, width: number, base: number, height: number): string {
  const r = Math.min(RADIUS, width / 3, height);
  if (height === 0) return `M${x} ${base}h${width}`;
  return `M${x} ${base}v${r - height}q0 ${-r} ${r} ${-r}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - r}z`;
}

export function plot(days: readonly Day[], width: number, height: number, words: Words): Plot {
  const inner = height - TOP - BOTTOM;
  const base = TOP + inner;
  const counts = countTicks(Math.max(...days.map(({ count }) => count)), inner / TICK_EVERY.y);
  const top = counts.at(-1) || 1;
  const y = (count: number) => base - Math.round((count / top) * inner);
  const left = Math.ceil(Math.max(...counts.map((count) => words.compact(count).length)) * CHARACTER) + 10;
  const band = Math.max(0, width - left) / days.length;

  const grid = counts.flatMap((count) => [
    svg('line', { class: count === 0 ? 'base' : 'grid', x1: left, x2: width, y1: y(count) + 0.5, y2: y(count) + 0.5 }),
    svg('text', { class: 'label', x: left - 8, y: y(count) + 4, 'text-anchor': 'end' }, words.compact(count)),
  ]);

  const ticks = dayTicks(
    days.map(({ date }) => date),
    Math.max(2, Math.floor((width - left) / TICK_EVERY.x)),
  );
  const names = ticks.map(({ index, unit }, i) => {
    const { date } = days[index] as Day;
    const year = i === 0 || date.slice(5, 7) === '01';
    const name = unit === 'day' ? words.shortDay(date) : year ? words.monthAndYear(date) : words.month(date);
    const half = (name.length * CHARACTER) / 2;
    const x = Math.min(Math.max(left + (index + 0.5) * band, left + half - 4), width - half);
    return svg('text', { class: 'label', x, y: height - 6, 'text-anchor': 'middle' }, name);
  });

  const cursor = svg('rect', {
    class: 'cursor',
    x: 0,
    y: TOP,
    width: Math.max(1, band),
    height: inner,
    rx: Math.min(3, band / 3),
  });
  const bars = days.map(({ date, count }, index) => {
    const bar = barIn(index, band);
    const tall = count === 0 ? 0 : Math.max(1, base - y(count));
    return svg('path', {
      class: 'bar',
      d: shape(left + bar.x, bar.width, base, tall),
      'data-date': date,
      'data-count': count,
    });
  });

  let marked: number | null = null;
  return {
    image: svg(
      'svg',
      { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true', part: 'image' },
      ...grid.slice(2),
      cursor,
      ...bars,
      ...grid.slice(0, 2),
      ...names,
    ),
    indexAt: (x) => Math.min(days.length - 1, Math.max(0, Math.floor((x - left) / band))),
    mark(index) {
      if (marked !== null) bars[marked]?.classList.remove('marked');
      marked = index;
      cursor.classList.toggle('shown', index !== null);
      if (index === null) return { x: 0, y: 0 };
      bars[index]?.classList.add('marked');
      cursor.setAttribute('x', `${left + index * band}`);
      return { x: left + (index + 0.5) * band, y: y(days[index]?.count ?? 0) };
    },
  };
}
