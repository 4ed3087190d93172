// CSV responses (docs/api.md, "CSV").
import { Answer, type Call } from './call.ts';

/** Which of the two formats an `Accept` header prefers, on the vocabulary of steps.ts. */
export function prefersCsv({ headers }: Call): boolean {
  const weight = (type: string) => {
    const part = (headers.Accept ?? '').split(',').find((each) => each.trim().startsWith(type));
    return part === undefined ? 0 : Number(/q=([\d.]+)/.exec(part)?.[1] ?? 1);
  };
  const [asCsv, asJson] = [weight('text/csv'), weight('application/json')];
  const accept = headers.Accept ?? '';
  return (
    asCsv > asJson || (asCsv > 0 && asCsv === asJson && accept.indexOf('text/csv') < accept.indexOf('application/json'))
  );
}

type Cell = string | number | boolean | null;
const cellOf = (value: Cell) => {
  const text = typeof value === 'string' && /^[=+\-@]/.test(value) ? `'${value}` : `${value ?? ''}`;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export function csv(
  name: string,
  columns: string[],
  rows: Record<string, Cell>[],
  headers: Record<string, string | null> = {},
): Answer {
  const lines = [
    columns.join(','),
    ...rows.map((row) => columns.map((column) => cellOf(row[column] ?? null)).join(',')),
  ];
  return new Answer(200, null, lines.map((line) => `${line}\r\n`).join(''), {
    'Content-Type': 'text/csv',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
    Vary: 'Accept',
    ...headers,
  });
}
