// Counts what a request costs at the database, and holds the promise of one round trip: a statement made here has no way to
// run but `batch`.

/** What a request has cost so far: round trips to D1, the milliseconds they took, and rows as D1 bills them. */
export type Cost = { round_trips: number; ms: number; rows_read: number; rows_written: number };

export const noCost = (): Cost => ({ round_trips: 0, ms: 0, rows_read: 0, rows_written: 0 });

class Statement {
  readonly native: D1PreparedStatement;
  constructor(native: D1PreparedStatement) {
    this.native = native;
  }
  bind(...values: unknown[]) {
    return new Statement(this.native.bind(...values));
  }
}

/** `d1`, with each batch added to `cost`. */
export function metered(d1: D1Database, cost: Cost): D1Database {
  const meter = {
    prepare: (sql: string) => new Statement(d1.prepare(sql)),
    async batch(statements: Statement[]) {
      cost.round_trips += 1;
      const began = Date.now();
      const results = await d1.batch(statements.map((statement) => statement.native)).finally(() => {
        cost.ms += Date.now() - began;
      });
      for (const { meta } of results) {
        cost.rows_read += meta.rows_read;
        cost.rows_written += meta.rows_written;
      }
      return results;
    },
  };
  return meter as unknown as D1Database;
}
