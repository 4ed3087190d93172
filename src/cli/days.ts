// Reads the CSV file for `usage import`. Error messages contain the line number.
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { MAX_RANGE_DAYS } from '../core/time.ts';

const EXAMPLE = '2026-01-31,120';
/** Two fields, each of which may be quoted (RFC 4180) or have spaces around it. Spreadsheets in many languages separate them by semicolons. */
const HEADING = /^ *("?) *date *\1 *[,;\t] *("?) *count *\2 *$/i;
const ENTRY = /^ *("?) *(?<date>[\d-]{10}) *\1 *[,;\t] *("?) *(?<count>\d{1,16}) *\3 *$/;

/** Replaces the file name with the file's entries, or `-` with those of standard input. In errors, `inWords` converts 0-based indexes to line numbers, counting the heading. */
export async function readDays({ days: name, ...given }: Record<string, unknown>) {
  const isInput = `${name}` === '-';
  const file = isInput ? 'standard input' : `${name}`;
  const content = isInput ? await textOf(process.stdin) : await readFile(file, 'utf8');
  const text = content.replace(/^\uFEFF/, '').trimEnd();
  const lines = text.split(/\r\n|\r|\n/);
  const heading = HEADING.test(lines[0] ?? '') ? 1 : 0;
  const entries = text === '' ? [] : lines.slice(heading);
  if (entries.length === 0 || entries.length > MAX_RANGE_DAYS)
    throw new Error(
      `${file} must have 1 to ${MAX_RANGE_DAYS} lines such as ${EXAMPLE}, but has ${entries.length}. To split a longer file: split -l ${MAX_RANGE_DAYS} ${name} part-`,
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
