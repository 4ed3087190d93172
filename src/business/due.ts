// The run that folds pending limits into the row when their day has come, and stores the alerts that the new limits reach without a use. What
// the limits are does not depend on it (db/plan.ts), and it needs no receiver.
import { asc, inArray, lte, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { storeReachedByDue } from '../alerts/statements.ts';
import { type Binding, boundIn } from '../core/database.ts';
import { randomId } from '../core/random.ts';
import { FREE_DATABASES } from '../core/schedule.ts';
import { dayOf, MINUTE_MS } from '../core/time.ts';
import type { Cost } from '../db/batch.ts';
import { metered } from '../db/meter.ts';
import { LIMITS } from '../db/plan.ts';
import { businesses, type Database } from '../db/schema.ts';
import { stackOf } from '../db/stack.ts';
import { withTimeout } from '../db/timeout.ts';
import { archiveDue } from './update.ts';

/** The number of businesses that a run folds in a database. D1 runs one query at a time, so requests wait for the batch. */
const PER_RUN = 100;
const TIMEOUT_MS = 5_000;
/** On the free plan, sending alerts needs most of the statements of an invocation. */
const FREE_DATABASES_PER_RUN = 2;
/** The statements of one database. */
const FOLDING_STATEMENTS = 3;

/** Folds what is due in all databases, or on the free plan in the next ones. Returns the databases that failed. */
export async function foldDueLimits(
  bindings: { [binding in Binding]?: D1Database },
  {
    clock,
    log,
    scheduled,
    cost,
  }: { clock: () => Date; log: { error: (line: object) => void }; scheduled: Date; cost: Cost },
): Promise<{ failed: Binding[]; statements: number }> {
  const bound = boundIn(bindings);
  const count = bound.length > FREE_DATABASES ? bound.length : Math.min(bound.length, FREE_DATABASES_PER_RUN);
  const first = (Math.floor(scheduled.getTime() / MINUTE_MS) * count) % bound.length;
  const chosen = [...bound, ...bound].slice(first, first + count);
  const failed: Binding[] = [];
  await Promise.all(
    chosen.map(async ({ binding: database, d1 }) => {
      try {
        await withTimeout(foldDue(drizzle(metered(d1, cost)), clock()), TIMEOUT_MS);
      } catch (error) {
        failed.push(database);
        log.error({ operation: 'fold_limits', database, error: stackOf(error) });
      }
    }),
  );
  return { failed, statements: count * FOLDING_STATEMENTS };
}

/** Stores the alerts of some businesses whose pending limits are due, and folds these limits, in one transaction. */
export async function foldDue(db: Database, now: Date): Promise<void> {
  const { id, next_from } = businesses;
  const due = db
    .select({ id })
    .from(businesses)
    .where(lte(next_from, dayOf(now)))
    .orderBy(asc(next_from), asc(id))
    .limit(PER_RUN);
  const isChosen = inArray(id, due);
  const folded = LIMITS.flatMap((limit) => [
    [limit, sql`${businesses[`next_${limit}`]}`],
    [`next_${limit}`, null],
  ]);
  await db.batch([
    storeReachedByDue(db, isChosen, PER_RUN, now, randomId()),
    archiveDue(db, sql`from ${businesses} where ${isChosen}`),
    db
      .update(businesses)
      .set({ ...Object.fromEntries(folded), limits_since: sql`${next_from}`, next_from: null })
      .where(isChosen),
  ]);
}
