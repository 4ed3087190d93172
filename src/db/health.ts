// Whether the databases respond.
import { BINDINGS, type Binding, otherDatabaseOf } from '../core/database.ts';
import type { Cost } from './batch.ts';
import { withTimeout } from './timeout.ts';

/** Reads a real table: a database without the migrations cannot serve. Each half is one search of the primary key. */
const PROBE = 'select (select min(id) from businesses) as first_id, (select max(id) from businesses) as last_id';
type Probe = { first_id: number | null; last_id: number | null };

/** Less than the 5 seconds within which every caller gets a response, because some wait for the probe of another request. */
export const PROBE_TIMEOUT_MS = 4000;

/**
 * Asks each database one statement. Returns the errors of those that fail, do not respond within PROBE_TIMEOUT_MS, or have the businesses of
 * another: their ids in the configuration were exchanged.
 */
export async function faultsIn(bindings: { [binding in Binding]?: D1Database }, cost: Cost): Promise<Error[]> {
  const began = Date.now();
  const faults = await Promise.all(
    BINDINGS.map(async (binding, number) => {
      const database = bindings[binding];
      if (database === undefined) return [];
      cost.round_trips += 1;
      try {
        const { results, meta } = await withTimeout(database.prepare(PROBE).all<Probe>(), PROBE_TIMEOUT_MS);
        cost.rows_read += meta.rows_read;
        const other = otherDatabaseOf(number, [results[0]?.first_id ?? null, results[0]?.last_id ?? null]);
        return other === null ? [] : [new Error(`${binding} has the businesses of ${other}`)];
      } catch (cause) {
        return [new Error(`${binding} failed`, { cause })];
      }
    }),
  );
  cost.ms += Date.now() - began;
  return faults.flat();
}
