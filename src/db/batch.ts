// Runs a call's statements in one round trip and measures their cost.
import { type Call, splitCall } from './call.ts';
import type { Verdict } from './permission.ts';
import type { RowsOf, Statement, Steps } from './statement.ts';
import { spend } from './work.ts';

/**
 * Runs one batch: `read`, whose row contains the verdict, then the steps of a change in order. Throws if the call is refused. A refused
 * call changes nothing, because every statement depends on the permission. Returns the row of `read`, the rows of each step, and the
 * database's size in bytes. `isRepeatable` marks the steps as safe to retry, even if the whole operation is not.
 */
export type Ask = <Row extends Verdict, S extends Steps = Record<never, never>>(
  read: Statement<Row>,
  steps?: S,
  isRepeatable?: boolean,
) => Promise<{ row: Row; bytes: number } & RowsOf<S>>;

/** The numbers of the bound databases, and a function that queries one of them for the operator. */
export type BoundDatabases = { numbers: readonly number[]; askIn: (number: number) => Ask };

/** The cost of a request so far: round trips to D1, their duration in milliseconds, and rows as D1 bills them. */
export type Cost = { round_trips: number; ms: number; rows_read: number; rows_written: number };

export const noCost = (): Cost => ({ round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 });

/** Adds the rows that D1 bills for results. */
export function addRows(cost: Cost, results: readonly { meta: Pick<Cost, 'rows_read' | 'rows_written'> }[]): void {
  for (const { meta } of results) {
    cost.rows_read += meta.rows_read;
    cost.rows_written += meta.rows_written;
  }
}

/** Runs a call's statements in one transaction, and spends what the call costs its owner. Adds the round trip and, unless the batch fails, its rows to `cost`. */
export async function runBatch<Row, S extends Steps = Record<never, never>>(
  d1: D1Database,
  call: Call,
  read: Statement<Row>,
  steps: S | undefined,
  cost: Cost,
): Promise<{ row: Row | undefined; rows: RowsOf<S>; bytes: number }> {
  const { shape, values } = splitCall(call);
  const named = Object.entries<Statement>(steps ?? {});
  const statements = [read, ...named.map(([, statement]) => statement), ...(call.work ? [spend(call.work)] : [])];
  const bound = statements.map(({ textFor, values: own }) => {
    const { sql, names } = textFor(shape);
    return d1.prepare(sql).bind(...names.map((name) => (name in own ? own[name] : values[name])));
  });
  cost.round_trips += 1;
  const results = await d1.batch(bound);
  addRows(cost, results);
  const rows: Record<string, unknown[]> = {};
  for (const [index, [step]] of named.entries()) rows[step] = results[index + 1]?.results ?? [];
  const [first] = results;
  return {
    row: first?.results[0] as Row | undefined,
    rows: rows as RowsOf<S>,
    bytes: first?.meta.size_after ?? 0,
  };
}
