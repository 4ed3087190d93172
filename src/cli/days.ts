// Reads the CSV file for `usage import`. Error messages contain the line number.
import { readFile } from 'node:fs/promises';
import { MAX_RANGE_DAYS } from '../core/time.ts';

const EXAMPLE = '2026-01-31,120';
/** Two fields, each of which may be quoted (RFC 4180). Spreadsheets in many languages separate them by semicolons. */
const HEADING = /^("?)date\1[,;\t]("?)count\2$/;
const ENTRY = /^("?)(?<date>[\d-]{10})\1[,;\t]("?)(?<count>\d{1,16})\3$/;

/** Replaces the file name with the file's entries. In errors, `inWords` converts 0-based indexes to line numbers, counting the heading. */
export async function readDays({ days: name, ...given }: Record<string, unknown>) {
  const file = `${name}`;
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '').replace(/(\r?\n)+$/, '');
  const lines = text.split(/\r?\n/);
  const heading = HEADING.test(lines[0] ?? '') ? 1 : 0;
  const entries = text === '' ? [] : lines.slice(heading);
  if (entries.length === 0 || entries.length > MAX_RANGE_DAYS)
    throw new Error(
      `${file} must have 1 to ${MAX_RANGE_DAYS} lines such as ${EXAMPLE}, but has ${entries.length}. To split a longer file: split -l ${MAX_RANGE_DAYS} ${file} part-`,
    );
  const lineName = (index: number) => `line ${index + heading + 1}`;
  const days = entries.map((line) => {
    const { date, count } = ENTRY.exec(line)?.groups ?? {};
    return { date, count: Number(count) };
  });
  const wrong = days.flatMap(({ date }, index) =>
    date === undefined ? [`${lineName(index)} must be a date and a count, such as ${EXAMPLE}`] : [],
  );
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  const inWords = (error: string) =>
    error
      .replace(/\bdays\.(\d+)(\.?)/g, (_, index, dot) => lineName(Number(index)) + (dot && ' '))
      .replace('send "replace": true', 'use --replace');
  return { sent: { ...given, days }, inWords };
}
