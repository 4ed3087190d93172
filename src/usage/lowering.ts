// Lowers the quantities of uses that have ids, and the daily counts by the same amount (docs/api.md, "Lowering uses").
import { and, eq, gt, gte, inArray, type Placeholder, type SQLWrapper, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { change, decidedId } from '../db/change.ts';
import { asJson, jsonObject, selectOne } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import { businesses, dailyUsage, importedDays, ledger } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { dayWithNumber, numberOfDay } from './ledger.ts';
import { LOWER_DAYS, MAX_NAMED_IDS } from './rules.ts';

// The list is one JSON value of [digest, quantity] pairs, because D1 binds at most 100 values.
const listedDigest = sql.raw('unhex(value ->> 0)');
const listedQuantity = sql.raw('value ->> 1');

const daysAgo = (days: number) => sql`date(${$call.today}, ${sql.raw(`'-${days} days'`)})`;
/** The first day whose uses can still be lowered. */
export const firstLoweredDay = daysAgo(LOWER_DAYS);
/**
 * The first day for which an imported count must be remembered. Shortly after midnight, a request from the day before can still lower uses
 * of one more day.
 */
export const firstRememberedDay = daysAgo(LOWER_DAYS + 1);

/**
 * Selects the listed uses that are in the ledger and whose days are recent. `cross join` makes SQLite look up each use by primary key.
 */
const recordedUses = (
  business_id: SQLWrapper,
  uses: SQLWrapper | Placeholder,
) => sql`from json_each(${uses}) cross join ${ledger}
  where ${and(eq(ledger.business_id, business_id), eq(ledger.digest, listedDigest), gte(ledger.day, numberOfDay(firstLoweredDay)))}`;
/** Tests whether the count of a use's day was imported. Such a use cannot be lowered. */
export const isImported = sql`exists (select 1 from ${importedDays}
  where ${and(eq(importedDays.business_id, ledger.business_id), eq(importedDays.day, dayWithNumber(ledger.day)))})`;
/** Selects the uses that can be lowered and whose stored quantity is greater than the listed quantity. */
const greaterUses = (business_id: SQLWrapper, uses: SQLWrapper | Placeholder) =>
  sql`${recordedUses(business_id, uses)} and not ${isImported} and ${gt(ledger.quantity, listedQuantity)}`;

const readFound = statement(['uses'], (permission, $) => {
  const id = permittedId(permission);
  // json_each returns no rows for null, so a refused call does not read the list.
  const list = sql`case when ${id} is not null then ${$.uses} end`;
  const counts = jsonObject({
    recorded: sql<number>`count(*)`,
    imported: sql<number>`count(*) filter (where ${isImported})`,
  });
  return withVerdict(permission, { found: selectOne(counts, recordedUses(id, list)) });
});

/** The list if the deciding step has marked the business. Otherwise null, for which json_each returns no rows. */
const listIfDecided = ($: Placeholders<'uses'>) => sql`case when ${decidedId} is not null then ${$.uses} end`;

/** How much the list lowers each day's count, and how much the counts of sources. Null if it lowers the count of no source. */
const lessByDay = ($: Placeholders<'uses'>) => {
  const bySource = sql`select ${dayWithNumber(ledger.day)} as day, ${ledger.source} as source, sum(${ledger.quantity} - ${listedQuantity}) as less
    ${greaterUses(decidedId, listIfDecided($))} group by 1, 2`;
  return sql`(select day, sum(less) as less, nullif(json_group_object(cast(source as text), less) filter (where source is not null), '{}') as sources
    from (${bySource}) group by day)`;
};
const ofDay = and(eq(dailyUsage.business_id, decidedId), sql`${dailyUsage.day} = by_day.day`);

/** For the list of changes: what the lowered uses counted. */
const quantityBefore = ({ uses }: Placeholders<'uses'>) =>
  selectOne(jsonObject({ uses: sql<number>`sum(${ledger.quantity})` }), greaterUses($call.business_id, uses));
/** For the list of changes: what the lowered uses count now, how many they are, and the first of their ids, in the order of the list. */
function loweredTo({ uses, ids }: Placeholders<'uses' | 'ids'>) {
  const lowered = greaterUses($call.business_id, uses);
  const first = sql`(select json_group_array(id) from (select ${ids} ->> key as id ${lowered} limit ${sql.raw(`${MAX_NAMED_IDS}`)}))`;
  const after = {
    uses: sql<number>`sum(${listedQuantity})`,
    lowered: sql<number>`count(*)`,
    ids: asJson<string[]>(first),
  };
  return selectOne(jsonObject(after), lowered);
}

const lowering = change('lower_uses', ['uses', 'ids'], {
  keepsUpdatedAt: true,
  decideIf: ($) => sql`exists (select 1 ${greaterUses(businesses.id, $.uses)})`,
  before: quantityBefore,
  after: loweredTo,
  // The uses are lowered last, because the earlier steps compute the days' counts from the old quantities.
  apply: {
    /** Days without uses have no row. */
    dropped($) {
      const emptied = sql`(select by_day.day from ${lessByDay($)} as by_day cross join ${dailyUsage}
        where ${ofDay} and ${dailyUsage.count} = by_day.less)`;
      return builder
        .delete(dailyUsage)
        .where(and(eq(dailyUsage.business_id, decidedId), inArray(dailyUsage.day, emptied)));
    },
    // Uses an upsert although these rows exist, because an upsert finds each row by primary key, while an update would compare each row
    // with the whole list.
    counted($) {
      const { business_id, day } = dailyUsage;
      // A name stays at 0, because its number must not be given to another site while the ledger contains its uses.
      const sources = sql`case when by_day.sources is null then ${dailyUsage.sources}
        else (select json_group_object(key, value - coalesce(by_day.sources ->> ('$."' || key || '"'), 0)) from json_each(${dailyUsage.sources})) end`;
      const row = { business_id, day, count: sql`${dailyUsage.count} - by_day.less`, sources };
      return builder
        .insert(dailyUsage)
        .select(
          sql`select ${rowValues(dailyUsage, row)} from ${lessByDay($)} as by_day cross join ${dailyUsage} where ${ofDay}`,
        )
        .onConflictDoUpdate({
          target: [business_id, day],
          set: { count: sql`excluded.count`, sources: sql`excluded.sources` },
        });
    },
    lowered($) {
      const { business_id, digest, day, forget_on, source } = ledger;
      const row = { business_id, digest, day, forget_on, quantity: listedQuantity, source };
      return builder
        .insert(ledger)
        .select(sql`select ${rowValues(ledger, row)} ${greaterUses(decidedId, listIfDecided($))}`)
        .onConflictDoUpdate({ target: [business_id, digest], set: { quantity: sql`excluded.quantity` } })
        .returning({ day });
    },
  },
});

/** A recorded use's id, its digest in hex, and the new quantity. A list must not contain an id twice. */
export type LoweredUse = { id: string; digest: string; quantity: number };

/**
 * Lowers each use whose stored quantity is greater than the new one, and returns a row for each lowered use. Other quantities do not
 * change, so this is safe to retry. `read` returns how many of the listed uses were `recorded` recently enough to be lowered, and the day of
 * how many of these was `imported`.
 */
export function lowerUses(list: LoweredUse[]) {
  const uses = JSON.stringify(list.map(({ digest, quantity }) => [digest, quantity]));
  const ids = JSON.stringify(list.map(({ id }) => id));
  return { read: readFound({ uses }), steps: lowering({ uses, ids }) };
}
