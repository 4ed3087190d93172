// Checks whether the databases respond and how full they are, and stores in DB when each scheduled run last ended.
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { type Binding, boundIn, gapsIn, LARGE_GB, NotBound, otherDatabaseOf } from '../core/database.ts';
import type { RunName } from '../core/schedule.ts';
import { formatTimestamp } from '../core/time.ts';
import type { Cost } from '../db/batch.ts';
import { type Json, parseJson } from '../db/json.ts';
import { businesses, runs } from '../db/schema.ts';
import { builder, textOf } from '../db/text.ts';
import { withTimeout } from '../db/timeout.ts';
import { unboundWithOwners } from '../homes/homes.ts';

/** Reads a real table, because a database without the migrations cannot serve requests. Each field is one lookup by primary key. */
const ids = {
  first_id: sql<number | null>`(select min(${businesses.id}) from ${businesses})`.as('first_id'),
  last_id: sql<number | null>`(select max(${businesses.id}) from ${businesses})`.as('last_id'),
};
const unbound = sql`(select json_group_array(number) from ${unboundWithOwners(sql.placeholder('gaps'))})`;
const ended = sql`(select json_group_object(${runs.name}, ${runs.ended_at}) from ${runs})`;
const ONE_ROW = sql`(select 1)`;
const PROBE = textOf(builder.select(ids).from(ONE_ROW)).sql;
/** DB also stores which databases have owners, and when the scheduled runs last ended. */
const PROBE_OF_DB = textOf(
  builder.select({ ...ids, unbound: unbound.as('unbound'), runs: ended.as('runs') }).from(ONE_ROW),
).sql;
type Probe = { first_id: number | null; last_id: number | null; unbound?: Json<number[]>; runs?: Json<Runs> };
/** The time at which each scheduled run last ended. A run that has never ended is absent. */
type Runs = { [name in RunName]?: string };

/**
 * Every caller receives a response within 5 seconds. This timeout is shorter, because a caller may wait for a probe that another request
 * started.
 */
export const PROBE_TIMEOUT_MS = 4000;

/**
 * Runs one statement in each database. Returns the times at which the scheduled runs last ended, the databases over LARGE_GB, and an error for each database that fails,
 * times out, or contains another database's businesses because the configuration swaps database ids. Unbound databases that have owners
 * share one error.
 */
export async function probe(
  bindings: { [binding in Binding]?: D1Database },
  cost: Cost,
): Promise<{ faults: Error[]; runs: Runs; large: Binding[] }> {
  let runsEnded: Runs = {};
  const large = new Set<Binding>();
  const bound = boundIn(bindings);
  const gaps = JSON.stringify(gapsIn(bound.map(({ number }) => number)));
  const faults = await Promise.all(
    bound.map(async ({ number, binding, d1: database }) => {
      cost.round_trips += 1;
      try {
        const statement = number === 0 ? database.prepare(PROBE_OF_DB).bind(gaps) : database.prepare(PROBE);
        const { results, meta } = await withTimeout(statement.all<Probe>(), PROBE_TIMEOUT_MS);
        cost.rows_read += meta.rows_read;
        if (meta.size_after > LARGE_GB * 1e9) large.add(binding);
        const { first_id = null, last_id = null, unbound, runs } = results[0] ?? {};
        if (runs !== undefined) runsEnded = parseJson(runs);
        const other = otherDatabaseOf(number, [first_id, last_id]);
        const missing = unbound === undefined ? [] : parseJson(unbound);
        return [
          ...(other === null ? [] : [new Error(`${binding} contains businesses of ${other}`)]),
          ...(missing.length === 0 ? [] : [new NotBound(missing)]),
        ];
      } catch (cause) {
        return [new Error(`${binding} failed`, { cause })];
      }
    }),
  );
  const inOrder = bound.map(({ binding }) => binding).filter((binding) => large.has(binding));
  return { faults: faults.flat(), runs: runsEnded, large: inOrder };
}

export async function recordEnd(d1: D1Database, name: RunName, now: Date): Promise<void> {
  const ended_at = formatTimestamp(now);
  await drizzle(d1)
    .insert(runs)
    .values({ name, ended_at })
    .onConflictDoUpdate({ target: runs.name, set: { ended_at } });
}
