// Deletes expired data: ids in the ledger and of extras, former tokens, sessions, codes, seen origins, changes, alerts, and what is left
// of deleted businesses. Runs on a schedule, never during a request.
import { and, eq, gt, gte, inArray, lt, lte, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { type SQLiteColumn, type SQLiteTable, unionAll } from 'drizzle-orm/sqlite-core';
import { alertsRetainedFrom, missingAlertsOfSlice } from './alerts/statements.ts';
import { changesRetainedFrom } from './changes/statements.ts';
import { type Binding, boundIn } from './core/database.ts';
import { FREE_DATABASES, PURGE_MINUTES } from './core/schedule.ts';
import { addDays, DAY_MS, formatTimestamp } from './core/time.ts';
import type { Cost } from './db/batch.ts';
import { metered } from './db/meter.ts';
import { rowValues } from './db/new-row.ts';
import {
  alerts,
  apiKeys,
  changes,
  codes,
  type Database,
  deletions,
  extraRequests,
  formerTokens,
  ledger,
  runs,
  seenOrigins,
} from './db/schema.ts';
import { stackOf } from './db/stack.ts';
import { withTimeout } from './db/timeout.ts';
import { MAX_ORIGINS } from './origins/rules.ts';
import { originsRetainedFrom } from './origins/seen-origins.ts';
import { forgetDeletedBusinesses, forgetIds } from './usage/ledger.ts';

/** The maximum number of rows that one statement deletes. D1 runs one query at a time, so requests wait for each statement. */
const ROWS_PER_STATEMENT = 8000;
const KEEP_SESSIONS_DAYS = 7;
/** Most purges of changes check only those that became overdue within this many days. */
const CHANGES_OVERDUE_DAYS = 30;
/** The timeout for one database. The next run starts PURGE_MINUTES after this one. */
const TIMEOUT_MS = 30_000;

type Report = (line: object) => void;

/** Purges all databases. If a database fails, logs the error and continues with the others. */
export async function purgeAll(
  bindings: { [binding in Binding]?: D1Database },
  { scheduled, log, cost }: { scheduled: Date; log: { error: (line: object) => void }; cost: Cost },
): Promise<{ failed: Binding[]; ids: number }> {
  const failed: Binding[] = [];
  const bound = boundIn(bindings);
  const windows = windowsFor(bound.length);
  const purges = bound.map(async ({ binding: database, d1 }) => {
    try {
      const report: Report = (line) => log.error({ ...line, database });
      return await withTimeout(purge(drizzle(metered(d1, cost)), scheduled, report, windows), TIMEOUT_MS);
    } catch (error) {
      failed.push(database);
      log.error({ operation: 'purge', database, error: stackOf(error) });
      return 0;
    }
  });
  const deleted = await Promise.all(purges);
  return { failed, ids: deleted.reduce((sum, ids) => sum + ids, 0) };
}

/**
 * The windows of the ledger that a run examines in each of `count` databases. A turn takes at most two statements, and a window three. The
 * statements of the free plan suffice for all but one of its databases, so ten need a paid plan.
 */
export const windowsFor = (count: number) => Math.floor(((count < FREE_DATABASES ? 48 : 998) / count - 2) / 3);

/** Deletes the next kind of data in TURNS, and ids that may be forgotten. Returns the number of deleted ids. */
export async function purge(db: Database, now: Date, report: Report = () => {}, windows = 1): Promise<number> {
  const turn = Math.floor((now.getUTCHours() * 60 + now.getUTCMinutes()) / PURGE_MINUTES);
  await TURNS[turn % TURNS.length]?.(db, now, turn, report);
  return forgetIds(db, now, windows);
}

const deleted = (db: Database) => db.select({ business_id: deletions.business_id }).from(deletions);

/** Deletes at most ROWS_PER_STATEMENT rows that match. `key` is a unique column of the table. */
async function deleteSome(db: Database, table: SQLiteTable, key: SQLiteColumn, condition: SQL): Promise<void> {
  const some = db.select({ key }).from(table).where(condition).limit(ROWS_PER_STATEMENT);
  await db.delete(table).where(inArray(key, some));
}

const purgeFormerTokens = (db: Database, now: Date) =>
  deleteSome(db, formerTokens, formerTokens.id, lte(formerTokens.expires_at, formatTimestamp(now)));

/** Retains ended sessions for KEEP_SESSIONS_DAYS, so the log can distinguish them from unknown sessions. */
function purgeSessions(db: Database, now: Date): Promise<void> {
  const keptFrom = new Date(now.getTime() - KEEP_SESSIONS_DAYS * DAY_MS);
  return deleteSome(db, apiKeys, apiKeys.id, lte(apiKeys.ends_at, formatTimestamp(keptFrom)));
}

const purgeCodes = (db: Database, now: Date) =>
  deleteSome(db, codes, codes.hash, lte(codes.expires_at, formatTimestamp(now)));

/** Deletes alerts, and the ids of extras, which are retained as long as their changes. */
async function purgeAlertsAndExtras(db: Database, now: Date): Promise<void> {
  await deleteSome(db, alerts, alerts.id, lt(alerts.at, alertsRetainedFrom(now)));
  const { business_id, digest, day } = extraRequests;
  const some = db
    .select({ business_id, digest })
    .from(extraRequests)
    .where(lt(day, changesRetainedFrom(now)));
  await db.delete(extraRequests).where(sql`(business_id, digest) in (select * from ${some.limit(ROWS_PER_STATEMENT)})`);
}

/**
 * Always retains the last change of each business and user, because the next id is derived from it. The day's first turn checks all
 * changes.
 */
async function purgeChanges(db: Database, now: Date, turn: number): Promise<void> {
  const keptFrom = changesRetainedFrom(now);
  const isFirstTurn = turn === TURNS.indexOf(purgeChanges);
  const from = isFirstTurn ? undefined : gte(changes.at, addDays(keptFrom, -CHANGES_OVERDUE_DAYS));
  const hasLater = sql`exists (select 1 from ${changes} as later where later.subject = ${changes.subject}
    and later.subject_id = ${changes.subject_id} and later.id > ${changes.id})`;
  const columns = { subject: changes.subject, subject_id: changes.subject_id, id: changes.id };
  const overdue = db
    .select(columns)
    .from(changes)
    .where(and(lt(changes.at, keptFrom), from, hasLater));
  const ofDeleted = db
    .select(columns)
    .from(changes)
    .where(and(eq(changes.subject, 'business'), inArray(changes.subject_id, deleted(db)), hasLater));
  const due = unionAll(overdue, ofDeleted).limit(ROWS_PER_STATEMENT);
  await db.delete(changes).where(sql`(subject, subject_id, id) in (select * from ${due})`);
}

/**
 * Deletes ids of deleted businesses, and the rows of completed deletions. A deletion is complete when no id and at most one change is left.
 */
async function endDeletions(db: Database): Promise<void> {
  await forgetDeletedBusinesses(db);
  const anyId = sql`select 1 from ${ledger} where ${eq(ledger.business_id, deletions.business_id)}`;
  const ofBusiness = and(eq(changes.subject, 'business'), eq(changes.subject_id, deletions.business_id));
  const secondChange = sql`select 1 from ${changes} where ${ofBusiness} limit 1 offset 1`;
  await db.delete(deletions).where(sql`not exists (${anyId}) and not exists (${secondChange})`);
}

/** Reports thresholds without an alert. There should be none, so this only checks, and repairs nothing. */
async function checkAlerts(db: Database, now: Date, _turn: number, report: Report): Promise<void> {
  for (const missing of await missingAlertsOfSlice(db, now))
    report({ operation: 'check_alerts', ...missing, error: 'no alert was stored for this threshold' });
}

/**
 * Walks through the table, because `last_seen` has no index. Examines whole businesses, with at most ROWS_PER_STATEMENT origins, continues
 * after them in its next turn, and begins again at the end. `runs` contains the businesses that it examines.
 */
async function purgeSeenOrigins(db: Database, now: Date): Promise<void> {
  const { business_id, last_seen } = seenOrigins;
  const name = 'seen_origins';
  const stored = (column: SQLiteColumn) => sql`(select ${column} from ${runs} where ${eq(runs.name, name)})`;
  const after_id = sql`coalesce(${stored(runs.last_id)}, 0)`;
  const last_id = sql`(select ${business_id} from ${seenOrigins} where ${gt(business_id, after_id)} order by ${business_id}
    limit 1 offset ${ROWS_PER_STATEMENT - MAX_ORIGINS})`;
  const next = rowValues(runs, { name, ended_at: formatTimestamp(now), after_id, last_id });
  const isExamined = and(
    gt(business_id, stored(runs.after_id)),
    lte(business_id, sql`coalesce(${stored(runs.last_id)}, ${Number.MAX_SAFE_INTEGER})`),
  );
  const excluded = (column: string) => sql.raw(`excluded.${column}`);
  await db.batch([
    db
      .insert(runs)
      .select(sql`select ${next} where true`)
      .onConflictDoUpdate({
        target: runs.name,
        set: { ended_at: excluded('ended_at'), after_id: excluded('after_id'), last_id: excluded('last_id') },
      }),
    db.delete(seenOrigins).where(and(isExamined, lt(last_seen, originsRetainedFrom(now)))),
  ]);
}

/** Each run executes the next of these functions. */
const TURNS = [
  purgeFormerTokens,
  purgeChanges,
  endDeletions,
  purgeSessions,
  purgeChanges,
  purgeCodes,
  purgeAlertsAndExtras,
  purgeChanges,
  checkAlerts,
  purgeSeenOrigins,
];
