// Formats the results as Markdown tables.
import type { Bundle } from './bundle.ts';
import type { Outcome } from './duel.ts';
import type { Modelled } from './model.ts';
import type { Cost } from './stage.ts';
import { inverse, type Spread } from './stats.ts';

const LEGEND = `Floors: (a) a Worker that returns a constant with the same headers; (b) one prepared statement that reads the same
31 days; (c) one upsert of one counter; (e) a bare Hono route that returns a constant. Ratios: the median of the rounds and, in
parentheses, their interquartile range.`;
const LETTERS: Record<string, string> = { statement: 'b', upsert: 'c' };

const MODEL = `Rows "model": the bundle on stand-ins that record uses sequentially in 50 ms each; uses/s are scaled to 5 ms. 16 concurrent
calls per database, from 1,024 owners. Skewed: Zipf, the n-th owner sends 1/n as many uses as the first.`;

const whole = (value: number) => Math.round(value).toLocaleString('en');
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const micros = (value: number) => (value * 1000).toFixed(1);
const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;
const spread = ({ median, low, high }: Spread, digits = 2) =>
  `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

/** Functions that format a column's cells, by header. */
type Columns<Row> = Record<string, (row: Row) => string>;

const perSecond: Columns<Outcome>[string] = ({ side }) => whole(side.perSecond);
const ratio: Columns<Outcome>[string] = ({ ratio }) => spread(ratio);
const latencies: Columns<Outcome> = {
  p50: ({ side }) => milliseconds(side.p50),
  p99: ({ side }) => milliseconds(side.p99),
};
/** Adds the other contender's value in parentheses if it differs. */
const cost =
  (count: keyof Cost) =>
  ({ side, against }: Outcome) => {
    const [own, other = own] = [side.cost?.[count], against.cost?.[count]];
    return own === other ? `${own}` : `${own} (${other})`;
  };
const costs = {
  'round trips': cost('round_trips'),
  'rows read': cost('rows_read'),
  'rows written': cost('rows_written'),
};

const ownTime = (side: string, against: string): Columns<Outcome> => ({
  [`µs per call, ${against}`]: (row) => micros(row.against.p50),
  [side]: (row) => micros(row.side.p50),
  [`${side}/${against}`]: (row) => spread(inverse(row.ratio)),
});
const throughput = (side: string, against: string): Columns<Outcome> => ({
  [`requests/s, ${against}`]: (row) => whole(row.against.perSecond),
  [side]: perSecond,
  [`${side}/${against}`]: ratio,
});

const TABLES: Record<string, Columns<Outcome>> = {
  floors: {
    floor: ({ against }) => `(${LETTERS[against.contender] ?? 'a'})`,
    'requests/s': perSecond,
    'floor’s requests/s': ({ against }) => whole(against.perSecond),
    'ratio to floor': ratio,
    ...{ ...latencies, ...costs },
  },
  own: ownTime('own', 'floor (e)'),
  growth: { 'requests/s': perSecond, 'ratio to small database': ratio, ...latencies, ...costs },
  against: throughput('new', 'old'),
  'own against': ownTime('new', 'old'),
  databases: throughput('three', 'one'),
};
const MODELLED: Columns<Modelled> = {
  'uses/s': (row) => whole(row.perSecond),
  'ratio to one database': (row) => spread(row.ratio),
  'ratio per database': (row) => (row.ratio.median / row.databases).toFixed(2),
  'hottest database’s share': (row) => `${(row.hottest * 100).toFixed(1)}%`,
};

/** Formats the results in the order in which they were measured. */
export function printed(outcomes: Outcome[], modelled: Modelled[], bundle: Bundle): string {
  const parts: string[] = [];
  for (const [name, rows] of Map.groupBy(outcomes, ({ table }) => table)) {
    const columns = TABLES[name];
    if (columns !== undefined) parts.push(table(rows, columns));
    else for (const usual of rows) parts.push(timesOf(usual));
  }
  if (modelled.length > 0) parts.push(table(modelled, MODELLED), MODEL);
  if (outcomes.some(({ table }) => table === 'floors')) parts.push(weightOf(bundle), LEGEND);
  return parts.join('\n\n');
}

const timesOf = ({ ratio, against }: Outcome) =>
  `The report is ${spread(ratio, 0)} times as fast as the usual implementation (d), which awaits four queries and
counts 1,000,000 events: ${against.perSecond.toFixed(1)} requests/s, p50 ${milliseconds(against.p50)}.`;

const weightOf = ({ size, sizeWithoutList, startMs }: Bundle) =>
  `Bundle: ${kibibytes(sizeWithoutList)} gzipped, ${kibibytes(size)} with the list of public suffixes; ${milliseconds(startMs)} to start.`;

/** Formats an aligned Markdown table: the first column left-aligned, the numbers right-aligned. */
function table<Row extends { name: string }>(rows: Row[], columns: Columns<Row>): string {
  const lines = [['', ...Object.keys(columns)]];
  for (const row of rows) lines.push([row.name, ...Object.values(columns).map((cell) => cell(row))]);
  const widths = lines[0]?.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const padded = lines.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return padded
    .toSpliced(1, 0, rule)
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
