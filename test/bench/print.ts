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

const MODEL = `The bundle on stand-ins that record uses sequentially in 50 ms each; uses/s are scaled to 5 ms. 16 concurrent calls per
database, from 1,024 owners. Skewed: Zipf, the n-th owner sends 1/n as many uses as the first.`;

const whole = (value: number) => Math.round(value).toLocaleString('en');
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const micros = (value: number) => (value * 1000).toFixed(1);
const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;
const spread = ({ median, low, high }: Spread) => `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** Functions that format a column's cells, by header. */
type Columns<Row> = Record<string, (row: Row) => string>;

/** Adds the other contender's value in parentheses if it differs. */
const cost =
  (count: keyof Cost) =>
  ({ side, against }: Outcome) => {
    const [own, other = own] = [side.cost?.[count], against.cost?.[count]];
    return own === other ? `${own}` : `${own} (${other})`;
  };
const shared: Columns<Outcome> = {
  'requests/s': ({ side }) => whole(side.perSecond),
  ratio: ({ ratio }) => spread(ratio),
  p50: ({ side }) => milliseconds(side.p50),
  p99: ({ side }) => milliseconds(side.p99),
  'round trips': cost('round_trips'),
  'rows read': cost('rows_read'),
  'rows written': cost('rows_written'),
};
const TABLES: Record<Outcome['table'], Columns<Outcome>> = {
  floors: {
    floor: ({ against }) => `(${LETTERS[against.contender] ?? 'a'})`,
    'floor’s requests/s': ({ against }) => whole(against.perSecond),
    ...shared,
  },
  own: {
    'µs per call, floor (e)': ({ against }) => micros(against.p50),
    own: ({ side }) => micros(side.p50),
    ratio: ({ ratio }) => spread(inverse(ratio)),
  },
  growth: shared,
};
const MODELLED: Columns<Modelled> = {
  'uses/s': (row) => whole(row.perSecond),
  'ratio to one database': (row) => spread(row.ratio),
  'ratio per database': (row) => (row.ratio.median / row.databases).toFixed(2),
  'hottest database’s share': (row) => `${(row.hottest * 100).toFixed(1)}%`,
};

/** Formats the results in the order in which they were measured. */
export const printedOutcomes = (outcomes: Outcome[]): string =>
  [...Map.groupBy(outcomes, ({ table }) => table)].map(([name, rows]) => table(rows, TABLES[name])).join('\n\n');

export const printedModel = (rows: Modelled[]): string => `${table(rows, MODELLED)}\n\n${MODEL}`;

export const weightOf = ({ size, sizeWithoutList, startMs }: Omit<Bundle, 'code'>) =>
  `\nBundle: ${kibibytes(sizeWithoutList)} gzipped, ${kibibytes(size)} with the list of public suffixes; ${milliseconds(startMs)} to start.\n\n${LEGEND}`;

/** Formats a Markdown table: the first column left-aligned, the numbers right-aligned. */
function table<Row extends { name: string }>(rows: Row[], columns: Columns<Row>): string {
  const lines = rows.map((row) => [row.name, ...Object.values(columns).map((cell) => cell(row))]);
  const rule = ['---', ...Object.keys(columns).map(() => '--:')];
  return [['', ...Object.keys(columns)], rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
