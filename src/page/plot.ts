// Draws the bars and axes as SVG, for the available size. Groups days by week or month where their bars would be too thin, and mirrors
// everything for right-to-left languages.
import { svg } from './element.ts';
import type { Limit } from './report.ts';
import { type Bar, barIn, barsBy, clamp, countTicks, type Day, dayTicks, MIN_BAR, UNITS, type Unit } from './scale.ts';
import type { Words } from './words.ts';

const TOP = 10;
const BOTTOM = 26;
const TICK_EVERY = { x: 68, y: 52 };
const RADIUS = 3;

export type Drawn = {
  image: SVGElement;
  unit: Unit;
  bars: readonly Bar[];
  /** Returns the index of the bar at a horizontal position. */
  indexAt: (x: number) => number;
  /** Marks a bar, or clears the mark if the index is -1. Returns the center of the bar's top edge. */
  mark: (index: number) => { x: number; y: number };
};

/** `before` is empty if there is no comparison. `by`: the finest unit of the bars. `textWidth` measures a label. */
type Options = {
  used: readonly Day[];
  before: readonly Day[];
  today: string;
  by: Unit;
  limit: Limit | undefined;
  width: number;
  height: number;
  rightToLeft: boolean;
  textWidth: (text: string) => number;
};

/** Returns the path of a bar with a rounded top. */
function barPath(x: number, width: number, base: number, height: number): string {
  const r = Math.min(RADIUS, width / 3, height);
  return `M${x} ${base}v${r - height}q0 ${-r} ${r} ${-r}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - r}z`;
}

export function plot(options: Options, words: Words): Drawn {
  const { used, before, today, by, limit, width, height, rightToLeft, textWidth } = options;
  const base = height - BOTTOM;
  const inner = base - TOP;

  function layOut(unit: Unit) {
    const bars = barsBy(unit, used, before, today);
    const most = bars.reduce((most, { count, before }) => Math.max(most, count, before?.count ?? 0), 0);
    // A limit that is far away would make the bars too low.
    const line = unit === 'day' && limit && limit.count <= 2 * most ? limit : undefined;
    const highest = Math.max(most, line?.count ?? 0);
    const counts = countTicks(highest, inner / TICK_EVERY.y);
    const left = Math.ceil(Math.max(...counts.map((count) => textWidth(words.compact(count))))) + 10;
    return { unit, bars, counts, left, line, band: Math.max(0, width - left) / bars.length };
  }
  let layout = layOut(by);
  for (const unit of UNITS.slice(UNITS.indexOf(by) + 1))
    if (barIn(0, layout.band).width < MIN_BAR) layout = layOut(unit);
  const { unit, bars, counts, left, line, band } = layout;

  const top = counts.at(-1) || 1;
  const y = (count: number) => base - Math.round((count / top) * inner);
  /** Mirrors a box's left edge for right-to-left languages. */
  const at = (x: number, boxWidth = 0) => (rightToLeft ? width - x - boxWidth : x);
  const middle = (index: number) => at(left + (index + 0.5) * band);

  // In right-to-left text, `end` is on the left.
  const grid = counts.flatMap((count) => [
    svg('path', { class: count === 0 ? 'base' : 'grid', d: `M${at(left)} ${y(count) + 0.5}H${at(width)}` }),
    svg('text', { x: at(left - 8), y: y(count) + 4, 'text-anchor': 'end' }, words.compact(count)),
  ]);

  const starts = bars.map(({ from }) => from);
  const ticks = dayTicks(starts, Math.max(2, Math.floor((width - left) / TICK_EVERY.x)), unit);
  let free = width; // labels are placed from last to first, and this is the space left of those placed so far
  const names = ticks.at.toReversed().flatMap((index) => {
    const date = starts[index] as string;
    const year = index === ticks.at[0] || date.slice(5, 7) === '01';
    const name = ticks.unit === 'day' ? words.day(date) : year ? words.monthAndYear(date) : words.month(date);
    const half = textWidth(name) / 2;
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
      d: count ? barPath(at(left + bar.x, bar.width), bar.width, base, Math.max(1, base - y(count))) : '',
    });
  });
  const points = bars.flatMap(({ before }, index) => (before ? [`${middle(index)} ${y(before.count) + 0.5}`] : []));
  // h.1 draws a single point as a dot.
  const earlier = points.length > 0 ? [svg('path', { class: 'before', d: `M${points.join('L')}h.1` })] : [];
  const limited = line
    ? [
        svg('path', { class: 'limit', d: `M${at(left)} ${y(line.count) + 0.5}H${at(width)}` }),
        svg('text', { x: at(width), y: y(line.count) - 5, 'text-anchor': 'end' }, line.label),
      ]
    : [];

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
      ...earlier,
      ...limited,
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
