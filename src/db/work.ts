// What an owner's calls take of the database, in one row for each class of work, written in the transaction of the call: exact for all of an
// owner's keys, sessions and locations. Calls of operators and tokens have no row.
import { isNotNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { CHANGE_BYTES, type Spending, type WorkClass } from '../core/work.ts';
import { $call, isBeforeDeadline } from './call.ts';
import { rowValues } from './new-row.ts';
import { isPermitted, type Permission } from './permission.ts';
import { changes, work } from './schema.ts';
import { clockDay, clockMs, spentUntil, storedToday } from './spent.ts';
import { previousStepWrote, type Statement, statement } from './statement.ts';
import { builder } from './text.ts';

type Taken = { price?: SQL; ids?: SQL; bytes?: SQL };
const NOTHING = sql.raw('0');

/** Adds to what the owner of the calling key has taken. `from` contains the permission and the condition. */
function take(
  permission: Permission,
  kind: SQLWrapper,
  { price = NOTHING, ids = NOTHING, bytes = NOTHING }: Taken,
  from: SQL,
) {
  const row = { user_id: permission.key_user_id, class: kind, day: clockDay, ids, bytes };
  return builder
    .insert(work)
    .select(sql`select ${rowValues(work, { ...row, busy_until: sql`${clockMs} + ${price}` })} ${from}
      and ${isNotNull(permission.key_user_id)}`)
    .onConflictDoUpdate({
      target: [work.user_id, work.class],
      set: {
        busy_until: sql`${spentUntil} + excluded.busy_until - ${clockMs}`,
        day: sql`excluded.day`,
        ids: sql`${storedToday(work.ids)} + excluded.ids`,
        bytes: sql`${storedToday(work.bytes)} + excluded.bytes`,
      },
    });
}

const spending = statement(['class', 'price'], (permission, $) =>
  take(
    permission,
    sql`${$.class}`,
    { price: sql`cast(${$.price} as integer)` },
    sql`from ${permission} where ${isPermitted(permission)} and ${isBeforeDeadline}`,
  ),
);
/**
 * The last statement of a costly call's batch. It follows every other step, because those can depend on `changes()`, and depends on none of
 * them: duplicates and lists that a limit refuses have their price, too. Only the call that uses up the volume of a day has none, because its
 * permission has changed by then. It is the owner's last of this class until midnight.
 */
export const spend = (spent: Spending): Statement => spending(spent);

/**
 * Adds the ids that the step directly before stored. For the step after it, `changes()` is positive if it was for this one, because an
 * owner's call writes a row.
 */
export const takeIds = statement([], (permission) =>
  take(
    permission,
    sql`${'recording' satisfies WorkClass}`,
    { ids: sql`changes()` },
    sql`from (select 1 where ${previousStepWrote}) cross join ${permission} where ${isPermitted(permission)}`,
  ),
)({});

/**
 * Adds the size of the change that was just recorded for the business, if it `isMade`. Counts it twice, because a change that undoes it is
 * never refused.
 */
export function takeChange(permission: Permission, isMade: SQL) {
  const ofBusiness = sql`${changes.subject} = 'business' and ${changes.subject_id} = ${$call.business_id}`;
  const recorded = sql`(select octet_length(${changes.after}) from ${changes} where ${ofBusiness} order by ${changes.id} desc limit 1)`;
  const bytes = sql`2 * (${sql.raw(`${CHANGE_BYTES}`)} + ${recorded})`;
  return take(permission, sql`${'changing' satisfies WorkClass}`, { bytes }, sql`from ${permission} where ${isMade}`);
}
