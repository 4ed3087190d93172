// Whether the databases respond.
import { BINDINGS, type Binding } from '../core/database.ts';
import type { Cost } from './batch.ts';

/** A real table: a database without the migrations cannot serve. */
const PROBE = 'select 1 from businesses limit 1';

const PATIENCE_MS = 5000;

/** Asks each database one statement. Returns the errors of those that fail, or do not respond within PATIENCE_MS. */
export async function faultsIn(bindings: { [binding in Binding]?: D1Database }, cost: Cost): Promise<Error[]> {
  const probes = BINDINGS.map(async (binding) => {
    const database = bindings[binding];
    if (database === undefined) return null;
    cost.round_trips += 1;
    try {
      const { meta } = await inTime(database.prepare(PROBE).all());
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

async function inTime<T>(response: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  try {
    return await Promise.race([response, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
