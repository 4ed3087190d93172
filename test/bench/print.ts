// The results as tables that a README can take as they are.
import type { Bundle } from './bundle.ts';
import type { Outcome } from './duel.ts';
import type { Measured } from './floors.ts';
import type { Grown } from './growth.ts';
import type { Modelled } from './model.ts';
import type { OwnTime } from './own.ts';
import type { Cost } from './stage.ts';
import type { Spread } from './stats.ts';

const LEGEND = `Floors: (a) a Worker that answers a constant, with the same headers; (b) one prepared statement that reads
the same 31 days; (c) one upsert of one counter; (e) a bare route of Hono that answers a constant. "Of its floor": the median of
the rounds, and between what the middle half of them lies.`;

const MODEL = `Rows "model": the bundle on stand-ins that run one use at a time and take ten times 5 ms for it; uses/s are as at 5 ms. 16 calls
in flight for each database, from 1,024 owners. Skewed: Zipf, the n-th owner sends 1/n of what the first sends.`;

export function floors(rows: Measured[], own: OwnTime[], usual: Outcome, bundle: Bundle): string {
  const head = [
    '',
    'floor',
    'requests/s',
    'the floor’s',
    'of its floor',
    'p50',
    'p99',
    'round trips',
    'rows read',
    'written',
  ];
  const lines = rows.map(({ name, floor, side, against, ratio, cost }) => [
    name,
    `(${floor})`,
    whole(side.perSecond),
    whole(against.perSecond),
    spread(ratio, 2),
    milliseconds(side.p50),
    milliseconds(side.p99),
    ...counts(cost),
  ]);
  const times = `The report is ${spread(usual.ratio, 0)} times as fast as the usual way (d): four awaited queries, of which the last
counts 1,000,000 events: ${usual.against.perSecond.toFixed(1)} requests/s, p50 ${milliseconds(usual.against.p50)}.`;
  return [table([head, ...lines]), ownTimes(own, 'own', 'floor (e)'), times, weight(bundle), LEGEND].join('\n\n');
}

/** Of a new bundle and an old one. */
export function bundles(rows: Outcome[], own: OwnTime[]): string {
  const lines = rows.map(({ name, side, against, ratio }) => [
    name,
    whole(against.perSecond),
    whole(side.perSecond),
    spread(ratio, 2),
  ]);
  const head = ['', 'requests/s, old', 'new', 'new/old'];
  return [table([head, ...lines]), ownTimes(own, 'new', 'old')].join('\n\n');
}

const ownTimes = (rows: OwnTime[], side: string, against: string) =>
  table([
    ['', `µs a call, ${against}`, side, `${side}/${against}`],
    ...rows.map(({ name, micros, againstMicros, ratio }) => [
      name,
      againstMicros.toFixed(1),
      micros.toFixed(1),
      spread(ratio, 2),
    ]),
  ]);

export function growth(rows: Grown[]): string {
  const head = ['', 'requests/s', 'of the small one’s', 'p50', 'p99', 'round trips', 'rows read', 'written'];
  const lines = rows.map(({ name, side, ratio, small, large }) => [
    name,
    whole(side.perSecond),
    spread(ratio, 2),
    milliseconds(side.p50),
    milliseconds(side.p99),
    ...counts(large).map((count, index) => {
      const before = counts(small)[index];
      return count === before ? count : `${count} (${before})`;
    }),
  ]);
  return table([head, ...lines]);
}

export function databases(rows: Outcome[], modelled: Modelled[]): string {
  const lines = rows.map(({ name, side, against, ratio }) => [
    name,
    whole(against.perSecond),
    whole(side.perSecond),
    spread(ratio, 2),
  ]);
  const models = modelled.map(({ name, databases, perSecond, ratio, hottest }) => [
    name,
    whole(perSecond),
    spread(ratio, 2),
    (ratio.median / databases).toFixed(2),
    `${(hottest * 100).toFixed(1)} %`,
  ]);
  return [
    table([['', 'requests/s, one', 'three', 'three/one'], ...lines]),
    table([['', 'uses/s', 'of one database', 'of one, for each database', 'the hottest database’s share'], ...models]),
    MODEL,
  ].join('\n\n');
}

const weight = ({ size, sizeWithoutList, startMs }: Bundle) =>
  `Bundle: ${kibibytes(sizeWithoutList)} gzipped, ${kibibytes(size)} with the list of public suffixes; ${milliseconds(startMs)} to start.`;

const counts = ({ round_trips, rows_read, rows_written }: Cost) => [round_trips, rows_read, rows_written].map(String);
const whole = (value: number) => Math.round(value).toLocaleString('en');
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;
const spread = ({ median, low, high }: Spread, digits: number) =>
  `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

/** A Markdown table, aligned for reading as it is: the first column to the left, numbers to the right. */
function table([head = [], ...lines]: string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const row = (cells: string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [row(head), row(rule), ...lines.map(row)].join('\n');
}
