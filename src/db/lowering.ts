// Lowers the quantities of uses that were recorded with an id, and the counts of their days by the same (docs/api.md, "Lowering uses").
import { and, eq, gt, gte, inArray, isNotNull, type Placeholder, type SQLWrapper, sql } from 'drizzle-orm';
import { LOWER_DAYS } from '../core/use.ts';
import { $call } from './call.ts';
import { change, type Decision, decidedId } from './change.ts';
import { jsonObject, selectOne } from './json.ts';
import { newRow } from './new-row.ts';
import { permittedId } from './permission.ts';
import { businesses, dailyUsage, importedDays, ledger } from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { builder, type Placeholders } from './text.ts';

// The list is one value, because D1 binds at most 100: [digest, quantity] for each use.
const listedDigest = sql.raw('unhex(value ->> 0)');
const listedQuantity = sql.raw('value ->> 1');

/** The first day whose uses can still be lowered. */
export const firstLoweredDay = sql`date(${$call.today}, ${sql.raw(`'-${LOWER_DAYS} days'`)})`;

/**
 * The uses of a list whose quantities can be lowered: the ledger has them with a quantity, and their day is recent and was not imported.
 * `cross join` makes SQLite look each up by its key.
 */
const knownUses = (
  business_id: SQLWrapper,
  uses: SQLWrapper | Placeholder,
) => sql`from json_each(${uses}) cross join ${ledger}
  where ${and(
    eq(ledger.business_id, business_id),
    eq(ledger.digest, listedDigest),
    isNotNull(ledger.quantity),
    gte(ledger.day, firstLoweredDay),
  )} and not exists (select 1 from ${importedDays}
    where ${and(eq(importedDays.business_id, ledger.business_id), eq(importedDays.day, ledger.day))})`;
/** Those whose quantity is greater than the listed one. */
const greaterUses = (business_id: SQLWrapper, uses: SQLWrapper | Placeholder) =>
  sql`${knownUses(business_id, uses)} and ${gt(ledger.quantity, listedQuantity)}`;

const readKnown = statement(['uses'], (permission, $) => {
  const id = permittedId(permission);
  // Without a list, json_each gives no row: a refused call does not walk through what it sent.
  const list = sql`case when ${id} is not null then ${$.uses} end`;
  const known = selectOne(sql<number>`count(*)`, knownUses(id, list));
  return withVerdict(permission, { known: known.as('known') });
});

/** Without a list, json_each gives no row: what was not decided does not walk through it. */
const listIfDecided = ($: Decision & Placeholders<'uses'>) =>
  sql`case when ${decidedId($)} is not null then ${$.uses} end`;

/** By how much the list lowers the count of each day. */
const lessByDay = ($: Decision & Placeholders<'uses'>) =>
  sql`(select ${ledger.day} as day, sum(${ledger.quantity} - ${listedQuantity}) as less ${greaterUses(decidedId($), listIfDecided($))} group by 1)`;
const ofDay = ($: Decision) => and(eq(dailyUsage.business_id, decidedId($)), sql`${dailyUsage.day} = by_day.day`);

/** The sum of `quantity` over the uses that are lowered, as a change shows it. */
const sumOf = (quantity: SQLWrapper, uses: Placeholder) =>
  selectOne(jsonObject({ uses: sql<number>`sum(${quantity})` }), greaterUses($call.business_id, uses));

const lowering = change('lower_uses', ['uses'], {
  keepsUpdatedAt: true,
  decideIf: ($) => sql`exists (select 1 ${greaterUses(businesses.id, $.uses)})`,
  before: ($) => sumOf(ledger.quantity, $.uses),
  after: ($) => sumOf(listedQuantity, $.uses),
  // The uses come last, because the days depend on them.
  apply: {
    /** A day that is not counted has no row. */
    dropped($) {
      const emptied = sql`(select by_day.day from ${lessByDay($)} as by_day cross join ${dailyUsage}
        where ${ofDay($)} and ${dailyUsage.count} = by_day.less)`;
      return builder
        .delete(dailyUsage)
        .where(and(eq(dailyUsage.business_id, decidedId($)), inArray(dailyUsage.day, emptied)));
    },
    // These rows exist. An upsert finds each by its key, where an update would compare each row with each of the list.
    counted($) {
      const { business_id, day, counted_at } = dailyUsage;
      const row = { business_id, day, count: sql`${dailyUsage.count} - by_day.less`, counted_at };
      return builder
        .insert(dailyUsage)
        .select(
          sql`select ${newRow(dailyUsage, row)} from ${lessByDay($)} as by_day cross join ${dailyUsage} where ${ofDay($)}`,
        )
        .onConflictDoUpdate({ target: [business_id, day], set: { count: sql`excluded.count` } });
    },
    lowered($) {
      const { business_id, digest, day, recorded_on, keep_days } = ledger;
      const row = { business_id, digest, day, recorded_on, keep_days, quantity: listedQuantity };
      return builder
        .insert(ledger)
        .select(sql`select ${newRow(ledger, row)} ${greaterUses(decidedId($), listIfDecided($))}`)
        .onConflictDoUpdate({ target: [business_id, digest], set: { quantity: sql`excluded.quantity` } })
        .returning({ day });
    },
  },
});

/** A recorded use, and its new quantity: the digest of its id in hex. No digest may occur twice. */
export type LoweredUse = { digest: string; quantity: number };

/**
 * Lowers each use whose quantity is greater: a row comes back for each. A quantity that is not greater stays, so it is safe to repeat.
 * `read` has how many of the list are `known`, whether they change or not.
 */
export function lowerUses(list: LoweredUse[]) {
  const uses = JSON.stringify(list.map(({ digest, quantity }) => [digest, quantity]));
  return { read: readKnown({ uses }), steps: lowering({ uses }) };
}
