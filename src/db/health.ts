// Whether the databases respond.
import { BINDINGS, type Binding, bindingOf } from '../core/database.ts';
import type { Cost } from './batch.ts';
import { inTime } from './in-time.ts';

/** Reads a real table, too: a database without the migrations cannot serve. */
const PROBE = 'select (select json_array(number, mark) from identity) as identity, (select 1 from businesses limit 1)';
type Probe = { identity: string | null };

/** So that everybody gets an answer within 5 seconds, also who waits for what another request asks. */
export const PATIENCE_MS = 4000;

/**
 * Asks each database one statement. Returns the errors of those that fail, do not respond within PATIENCE_MS, or are not the database
 * of their binding: the names in the configuration were exchanged.
 */
export async function faultsIn(bindings: { [binding in Binding]?: D1Database }, cost: Cost): Promise<Error[]> {
  const bound = BINDINGS.flatMap((binding, number) => {
    const database = bindings[binding];
    return database === undefined ? [] : [{ binding, number, database }];
  });
  const began = Date.now();
  cost.round_trips += bound.length;
  const probes = await Promise.allSettled(
    bound.map(async ({ database }) => {
      const { results, meta } = await inTime(database.prepare(PROBE).all<Probe>(), PATIENCE_MS);
      cost.rows_read += meta.rows_read;
      const identity: [number, string] | null = JSON.parse(results[0]?.identity ?? 'null');
      return identity;
    }),
  );
  cost.ms += Date.now() - began;
  const identities = probes.map((probe) => (probe.status === 'fulfilled' ? probe.value : null));
  const service = identities.find((identity) => identity !== null)?.[1];
  return bound.flatMap(({ binding, number }, index) => {
    const [probe, identity] = [probes[index], identities[index]];
    if (probe?.status === 'rejected') return [new Error(`${binding} failed`, { cause: probe.reason })];
    if (!identity) return []; // no mark yet
    const [own, mark] = identity;
    if (own !== number) return [new Error(`${binding} is ${bindingOf(own)}`)];
    return mark === service ? [] : [new Error(`${binding} is a database of another service`)];
  });
}
