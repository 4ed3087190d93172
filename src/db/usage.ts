// What reading and recording usage asks of the database: functions that return statements, which guard.ts runs as one batch.
import { and, between, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Range } from '../core/time.ts';
import { type Grant, granted, granting, type Scope } from './grant.ts';
import { dailyUsage, ledger } from './schema.ts';
import { $, $business_id, db } from './statement.ts';

const days = (grant: Grant) => sql<string>`(
  select json_group_object(${dailyUsage.day}, ${dailyUsage.count}) from ${dailyUsage}
  where ${eq(dailyUsage.business_id, granted(grant))} and ${between(dailyUsage.day, $('from'), $('to'))})`;
// The condition keeps SQLite from evaluating the rule twice, for the refusal and for the days.
const usage = granting((grant) =>
  db
    .select({ refusal: grant.refusal, days: days(grant).as('days') })
    .from(grant)
    .where(sql`true`),
);

/** The refusal, with the days of `range` that have a count, as JSON: an object from day to count, in one row, not a row a day. */
export const usageInRange = (scope: Scope, range: Range) => usage(scope, range);

/** A use with an id of its own, which counts once: a digest of the id in hex, and the day to count it on. */
export type IdentifiedUse = { digest: string; day: string };

/** Of a refused call it finds nothing and reads nothing. */
const isNew = (grant: Grant, digest: SQL) => sql`not exists (
  select 1 from ${ledger} where ${eq(ledger.business_id, granted(grant))} and ${ledger.digest} = unhex(${digest}))`;

const counted = { date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count };

/** Adds what is selected, as (business_id, day, count), to the counts. The rows that come back have the new counts. */
const addToCounts = (select: SQL) =>
  db
    .insert(dailyUsage)
    .select(select)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      set: { count: sql`${dailyUsage.count} + excluded.count` },
    })
    .returning(counted);

const addOne = (grant: Grant, condition?: SQL) =>
  addToCounts(
    sql`select ${granted(grant)}, ${$('day')}, 1 from ${grant} where ${and(isNull(grant.refusal), condition)}`,
  );

const countAnyUse = granting((grant) => addOne(grant));
const countNewUse = granting((grant) => addOne(grant, isNew(grant, sql`${$('digest')}`)));

/** Counts one use: today, or where it has an id on its day, if the id is new. No row comes back where it was not counted. */
export const countUse = (scope: Scope, use?: IdentifiedUse) =>
  use ? countNewUse(scope, use) : countAnyUse(scope, { day: scope.values.today });

/** Whether the statement directly in front, which counts, has counted anything: then the call is granted. */
const isCounted = sql`changes() > 0`;

const insertUse = granting(() =>
  db
    .insert(ledger)
    .select(
      sql`select ${$business_id}, unhex(${$('digest')}), ${$('day')}, ${$('today')}, ${$('keep_days')} where ${isCounted}`,
    ),
);

/** Puts a use into the ledger. It stands directly behind `countUse`, and goes by whether that has counted it. */
export const rememberUse = (scope: Scope, use: IdentifiedUse) => insertUse(scope, use);

const listOf = (uses: IdentifiedUse[]) => ({ uses: JSON.stringify(uses.map(({ digest, day }) => [digest, day])) });
const digestInList = sql.raw('value ->> 0');

const countNewUses = granting((grant) =>
  addToCounts(
    sql`select ${granted(grant)}, value ->> 1, count(*) from ${grant} cross join json_each(${$('uses')})
      where ${isNull(grant.refusal)} and ${isNew(grant, digestInList)} group by value ->> 1`,
  ),
);

/** Counts those of `uses` (each digest once) that are new. */
export const countUses = (scope: Scope, uses: IdentifiedUse[]) => countNewUses(scope, listOf(uses));

const insertUses = granting(() =>
  db
    .insert(ledger)
    .select(
      sql`select ${$business_id}, unhex(${digestInList}), value ->> 1, ${$('today')}, ${$('keep_days')} from json_each(${$('uses')})
        where ${isCounted}`,
    )
    .onConflictDoNothing({ target: [ledger.business_id, ledger.digest] })
    .returning({ day: ledger.day }),
);

/**
 * Puts those of `uses` that are new into the ledger. A row comes back for each. It stands directly behind `countUses`, and goes
 * by whether that has counted any.
 */
export const rememberUses = (scope: Scope, uses: IdentifiedUse[]) => insertUses(scope, listOf(uses));

const knownUse = granting((grant) =>
  db
    .select({
      refusal: grant.refusal,
      date: sql<string | null>`${ledger.day}`.as('date'),
      count: sql<number>`coalesce(${dailyUsage.count}, 0)`.as('count'),
    })
    .from(grant)
    .leftJoin(ledger, and(eq(ledger.business_id, granted(grant)), eq(ledger.digest, sql`unhex(${$('digest')})`)))
    .leftJoin(dailyUsage, and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, ledger.day))),
);

/** The refusal, with the day on which the use of this digest was counted before, and that day's count; null: it is new. */
export const useBefore = (scope: Scope, digest: string) => knownUse(scope, { digest });
