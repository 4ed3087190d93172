// The names of files with the uses of a range of days.
import type { Range } from '../../core/time.ts';
import { monthWords, rangeWords } from './formats.ts';
import { wholeMonths } from './ranges.ts';

/** Names the days of a file: “Q4 2026”, “November 2026” and “2026” if they are whole, or else their first and last. */
export function rangeName(range: Range): string {
  const [year = '', month = ''] = range.from.split('-');
  const months = wholeMonths(range);
  if (months === 1) return monthWords(range.from);
  if (months === 3) return `Q${Math.ceil(Number(month) / 3)} ${year}`;
  return months === 12 ? year : rangeWords(range).replaceAll(/\s/g, ' ');
}

/** “Northwind Coffee, Q4 2026 vs Q4 2025” */
export const fileName = (name: string, range: Range, compared: Range | null): string =>
  `${name}, ${[range, compared].flatMap((days) => (days ? [rangeName(days)] : [])).join(' vs ')}`;
