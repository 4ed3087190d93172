// CSV responses.
import type { TypedResponse } from 'hono';
import { type Cell, csvOf } from '../core/csv.ts';
import type { ContextOf, Guarded } from '../env.ts';
import { send } from './response.ts';

/** For responses that are CSV or JSON, depending on `Accept`. */
export const VARY = { Vary: 'Accept' };

export function csvResponse<Row extends Record<string, Cell>>(
  c: ContextOf<Guarded>,
  {
    name,
    columns,
    rows,
    headers = {},
  }: { name: string; columns: readonly (keyof Row & string)[]; rows: Row[]; headers?: Record<string, string> },
) {
  const ofFile = { 'Content-Type': 'text/csv', 'Content-Disposition': `attachment; filename="${name}.csv"` };
  const csv = csvOf([columns, ...rows.map((row) => columns.map((column) => row[column] as Cell))]);
  return send(c, csv, 200, { ...VARY, ...ofFile, ...headers }) as Response & TypedResponse<string, 200, 'text'>; // for Hono's client
}
