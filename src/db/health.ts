// Whether the databases respond.
import { BINDINGS, type Binding } from '../core/database.ts';
import type { Cost } from './batch.ts';
import { inTime } from './in-time.ts';

/** A real table: a database without the migrations cannot serve. */
const PROBE = 'select 1 from businesses limit 1';

/** So that everybody gets an answer within 5 seconds, also who waits for what another request asks. */
const PATIENCE_MS = 4000;

/** Asks each database one statement. Returns the errors of those that fail, or do not respond within PATIENCE_MS. */
export async function faultsIn(bindings: { [binding in Binding]?: D1Database }, cost: Cost): Promise<Error[]> {
  const probes = BINDINGS.map(async (binding) => {
    const database = bindings[binding];
    if (database === undefined) return null;
    cost.round_trips += 1;
    try {
      const { meta } = await inTime(database.prepare(PROBE).all(), PATIENCE_MS);
      cost.rows_read += meta.rows_read;
      return null;
    } catch (cause) {
      return new Error(`${binding} failed`, { cause });
    }
  });
  const began = Date.now();
  const faults = await Promise.all(probes);
  cost.ms += Date.now() - began;
  return faults.filter((fault) => fault !== null);
}
