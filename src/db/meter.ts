// Measures the cost of a run.
import { addRows, type Cost } from './batch.ts';

/** Wraps a database for Drizzle and adds its round trips and billed rows to `cost`. */
export function metered(d1: D1Database, cost: Cost): D1Database {
  const add = <R extends D1Result[]>(results: R): R => {
    cost.round_trips += 1;
    addRows(cost, results);
    return results;
  };
  type Metered = { statement: D1PreparedStatement };
  const wrap = (statement: D1PreparedStatement) => ({
    statement,
    bind: (...values: unknown[]) => wrap(statement.bind(...values)),
    run: async () => add([await statement.run()])[0],
    all: async () => add([await statement.all()])[0],
  });
  const database = {
    prepare: (sql: string) => wrap(d1.prepare(sql)),
    batch: async (statements: Metered[]) => add(await d1.batch(statements.map(({ statement }) => statement))),
  };
  return database as unknown as D1Database;
}
