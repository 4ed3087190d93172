// How the ledger stores days, and how it forgets the ids of uses.
import { and, eq, gte, inArray, isNull, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { dayOf, formatTimestamp } from '../core/time.ts';
import type { Json } from '../db/json.ts';
import { type Database, deletions, ledger, runs } from '../db/schema.ts';

/** The number of a day, counted from 1970-01-01. The ledger stores days as numbers, so that its rows are small. */
export const numberOfDay = (day: SQLWrapper): SQL => sql`(strftime('%s', ${day}) / 86400)`;
/** The day with this number, in the format YYYY-MM-DD. */
export const dayWithNumber = (number: SQLWrapper): SQL<string> => sql`date(${number} * 86400, 'unixepoch')`;

/** The rows that one window examines, and at most deletes. D1 runs one query at a time, so requests wait for each statement. */
const WINDOW = 10_000;
/** The row of `runs` that contains the position of the walk. */
const NAME = 'ledger';
const stored = (column: SQLiteColumn) => sql`(select ${column} from ${runs} where ${eq(runs.name, NAME)})`;

/**
 * Deletes ids that may be forgotten. Walks through the ledger, because an index to find them by would be as large as the ledger itself.
 * Each run examines the next `windows` windows. After its end, a walk rests for the remainder of the day, and runs delete ids of deleted
 * businesses instead. Returns the number of deleted ids.
 */
export async function forgetIds(db: Database, now: Date, windows: number): Promise<number> {
  let deleted = 0;
  for (let window = 0; window < windows; window++) {
    const { is_resting, examined, last, expired } = await readWindow(db, now);
    if (is_resting) return deleted + (await forgetDeletedBusinesses(db));
    const isEnd = examined < WINDOW;
    const position = { ended_at: formatTimestamp(now), ...(isEnd || last === null ? AT_END : positionOf(last)) };
    const move = db
      .insert(runs)
      .values({ name: NAME, ...position })
      .onConflictDoUpdate({ target: runs.name, set: position });
    if (expired === '[]') await move;
    else deleted += (await db.batch([deleteListed(db, expired, now), move]))[0].meta.changes;
    if (isEnd) break;
  }
  return deleted;
}

/** `last` is the key of the last examined row: the id of its business in 16 digits, then its digest in hex. Null if no row was examined. */
type Window = { is_resting: 0 | 1; examined: number; last: string | null; expired: Json<[number, string][]> };

/** Reads the window after the position of the walk. Reads each row once, and none while the walk rests. */
async function readWindow(db: Database, now: Date): Promise<Window> {
  const { business_id, digest, forget_on } = ledger;
  const today = dayOf(now);
  const hasEnded = and(eq(runs.name, NAME), isNull(runs.after_id), gte(runs.ended_at, today));
  const isResting = sql`exists (select 1 from ${runs} where ${hasEnded})`;
  const isNext = sql`(${business_id}, ${digest}) > (coalesce(${stored(runs.after_id)}, 0), coalesce(${stored(runs.after_digest)}, x''))`;
  // `limit` is evaluated once. A condition with a subquery would be evaluated for each row, and so read the whole ledger.
  const window = sql`select ${business_id} as business_id, hex(${digest}) as digest, ${forget_on} as forget_on from ${ledger}
    where ${isNext} order by ${business_id}, ${digest} limit iif(${isResting}, 0, ${sql.raw(`${WINDOW}`)})`;
  const [found] = await db.all<Window>(sql`select ${isResting} as is_resting, count(*) as examined,
    max(printf('%016d', business_id) || digest) as last,
    json_group_array(json_array(business_id, digest)) filter (where forget_on <= ${numberOfDay(sql`${today}`)}) as expired
    from (${window})`);
  if (found === undefined) throw new Error('an aggregate returned no row');
  return found;
}

const AT_END = { after_id: null, after_digest: null };
const positionOf = (last: string) => ({
  after_id: Number(last.slice(0, 16)),
  after_digest: sql`unhex(${last.slice(16)})`,
});

const deleteListed = (db: Database, expired: Json<[number, string][]>, now: Date) =>
  db
    .delete(ledger)
    .where(
      and(
        sql`(business_id, digest) in (select value ->> 0, unhex(value ->> 1) from json_each(${expired}))`,
        lte(ledger.forget_on, numberOfDay(sql`${dayOf(now)}`)),
      ),
    );

/** Deletes up to WINDOW ids of deleted businesses, which need not be remembered. Returns the number of deleted ids. */
export async function forgetDeletedBusinesses(db: Database): Promise<number> {
  const ofDeleted = db
    .select({ business_id: ledger.business_id, digest: ledger.digest })
    .from(ledger)
    .where(inArray(ledger.business_id, db.select({ business_id: deletions.business_id }).from(deletions)))
    .limit(WINDOW);
  const { meta } = await db.delete(ledger).where(sql`(business_id, digest) in ${ofDeleted}`);
  return meta.changes;
}
