// Draws the bars and axes as SVG, for the width available: they are drawn again when that changes. Where days would be
// too thin to be seen, a bar is a week or a month. For readers from right to left, everything is mirrored.
import { svg } from './element.ts';
import { type Bar, barIn, barsBy, clamp, countTicks, type Day, dayTicks, type Unit } from './scale.ts';
import type { Words } from './words.ts';

const TOP = 10;
const BOTTOM = 26;
const TICK_EVERY = { x: 68, y: 52 };
const MIN_BAR = 3;
const RADIUS = 3;

export type Drawn = {
  image: SVGElement;
  unit: Unit;
  bars: readonly Bar[];
  /** The bar under a horizontal position. */
  indexAt: (x: number) => number;
  /** Marks a bar, or none at -1. Returns the middle of its top. */
  mark: (index: number) => { x: number; y: number };
};

/** What to draw, and where. `before` is empty unless periods are compared. `inkOf` measures the width of a label. */
export type Subject = {
  used: readonly Day[];
  before: readonly Day[];
  today: string;
  width: number;
  height: number;
  rightToLeft: boolean;
  inkOf: (text: string) => number;
};

/** A bar with a rounded top. */
function shape(x: number, width: number, base: number, height: number): string {
  const r = Math.min(RADIUS, width / 3, height);
  return `M${x} ${base}v${r - height}q0 ${-r} ${r} ${-r}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - r}z`;
}

export function plot(subject: Subject, words: Words): Drawn {
  const { used, before, today, width, height, rightToLeft, inkOf } = subject;
  const base = height - BOTTOM;
  const inner = base - TOP;

  function fitted(unit: Unit) {
    const bars = barsBy(unit, used, before, today);
    const highest = bars.reduce((most, { count, before }) => Math.max(most, count, before?.count ?? 0), 0);
    const counts = countTicks(highest, inner / TICK_EVERY.y);
    const left = Math.ceil(Math.max(...counts.map((count) => inkOf(words.compact(count))))) + 10;
    return { unit, bars, counts, left, band: Math.max(0, width - left) / bars.length };
  }
  let fit = fitted('day');
  for (const unit of ['week', 'month'] as const) if (barIn(0, fit.band).width < MIN_BAR) fit = fitted(unit);
  const { unit, bars, counts, left, band } = fit;

  const top = counts.at(-1) || 1;
  const y = (count: number) => base - Math.round((count / top) * inner);
  /** The left edge of something `wide`, whatever the direction of reading. */
  const at = (x: number, wide = 0) => (rightToLeft ? width - x - wide : x);
  const middle = (index: number) => at(left + (index + 0.5) * band);

  // In right-to-left text, `end` is on the left.
  const grid = counts.flatMap((count) => [
    svg('path', { class: count === 0 ? 'base' : 'grid', d: `M${at(left)} ${y(count) + 0.5}H${at(width)}` }),
    svg('text', { x: at(left - 8), y: y(count) + 4, 'text-anchor': 'end' }, words.compact(count)),
  ]);

  const starts = bars.map(({ from }) => from);
  const ticks = dayTicks(starts, Math.max(2, Math.floor((width - left) / TICK_EVERY.x)), unit);
  let free = width; // of what is left of the labels that are placed, from the last one on
  const names = ticks.at.toReversed().flatMap((index) => {
    const date = starts[index] as string;
    const year = index === ticks.at[0] || date.slice(5, 7) === '01';
    const name = ticks.unit === 'day' ? words.day(date) : year ? words.monthAndYear(date) : words.month(date);
    const half = inkOf(name) / 2;
    const x = Math.min(Math.max(left + (index + 0.5) * band, left + half - 4), width - half);
    if (x + half > free) return [];
    free = x - half - 8;
    return [svg('text', { x: at(x), y: height - 6, 'text-anchor': 'middle' }, name)];
  });

  const cursor = svg('rect', { class: 'cursor', y: TOP, height: inner });
  const shapes = bars.map(({ count, whole }, index) => {
    const bar = barIn(index, band);
    return svg('path', {
      class: whole ? 'bar' : 'bar part',
      d: shape(at(left + bar.x, bar.width), bar.width, base, Math.max(count && 1, base - y(count))),
    });
  });
  const points = bars.flatMap(({ before }, index) => (before ? [`${middle(index)} ${y(before.count) + 0.5}`] : []));
  const line = points.length > 0 ? [svg('path', { class: 'before', d: `M${points.join('L')}h.1` })] : []; // a single point is drawn as a dot

  return {
    unit,
    bars,
    image: svg(
      'svg',
      { width, height, 'aria-hidden': 'true', part: 'image' },
      ...grid.slice(2),
      cursor,
      ...shapes,
      ...grid.slice(0, 2),
      ...line,
      ...names,
    ),
    indexAt: (x) => clamp(Math.floor((at(x) - left) / band), bars.length - 1),
    mark(index) {
      for (const [i, { classList }] of shapes.entries()) classList.toggle('marked', i === index);
      cursor.setAttribute('x', `${at(left + index * band, band)}`);
      cursor.setAttribute('width', `${index < 0 ? 0 : band}`);
      return { x: middle(index), y: y(bars[index]?.count ?? 0) };
    },
  };
}
