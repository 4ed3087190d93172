// The names of files with the uses of a range of days.
import type { Range } from '../../core/time.ts';
import { monthWords, rangeWords } from './formats.ts';
import type { Months } from './ranges.ts';

/** Names a range for a file: “Q4 2026”, “November 2026”, “2026”, or its days. */
export function rangeName({ from, to }: Range, months: Months | null): string {
  const [year = '', month = '', day] = from.split('-');
  if (day === '01' && months === 1) return monthWords(from);
  if (day === '01' && months === 3) return `Q${Math.ceil(Number(month) / 3)} ${year}`;
  if (day === '01' && months === 12 && month === '01') return year;
  return rangeWords({ from, to }).replaceAll(/\s/g, ' ');
}

/** “Northwind Coffee, Q4 2026 vs Q4 2025” */
export const fileName = (name: string, range: Range, compared: Range | null, months: Months | null): string =>
  `${name}, ${[range, compared].flatMap((days) => (days ? [rangeName(days, months)] : [])).join(' vs ')}`;
