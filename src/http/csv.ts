// CSV responses (RFC 4180).
import type { TypedResponse } from 'hono';
import type { ContextOf, Guarded } from '../env.ts';
import { send } from './response.ts';

/** For responses that are CSV or JSON, depending on `Accept`. */
export const VARY = { Vary: 'Accept' };

type Cell = string | number | boolean | null;

/** Escapes a cell. Inserts an apostrophe to disable formulas, both at the start of the cell and after separators that some locales use. */
function cellOf(value: Cell): string {
  const text = typeof value === 'string' ? value.replace(/(^|[;,])(?=\s*[=+\-@＝＋－＠])/g, "$1'") : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvResponse<Row extends Record<string, Cell>>(
  c: ContextOf<Guarded>,
  {
    name,
    columns,
    rows,
    headers = {},
  }: { name: string; columns: (keyof Row & string)[]; rows: Row[]; headers?: Record<string, string> },
) {
  const ofFile = { 'Content-Type': 'text/csv', 'Content-Disposition': `attachment; filename="${name}.csv"` };
  const lines = [
    columns.join(','),
    ...rows.map((row) => columns.map((column) => cellOf(row[column] as Cell)).join(',')),
  ];
  const csv = lines.map((line) => `${line}\r\n`).join('');
  return send(c, csv, 200, { ...VARY, ...ofFile, ...headers }) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}
