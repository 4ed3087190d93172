// Who changed what. The row is written by the statement directly behind the one that decides, in the same batch.
import { and, desc, eq, isNull, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { addDays, dayOf } from '../core/time.ts';
import { $call, type Permission, permittedId, statement, verdictOf } from './permission.ts';
import { changes } from './schema.ts';
import { builder } from './statement.ts';

const KEEP_DAYS = 400;

/** The first day whose changes are kept. */
export const changesKeptFrom = (now: Date): string => addDays(dayOf(now), -KEEP_DAYS);

export type Action =
  | 'add_sites'
  | 'remove_sites'
  | 'rotate_token'
  | 'create_business'
  | 'update_business'
  | 'delete_business'
  | 'create_key'
  | 'revoke_key'
  | 'import_usage';

/** How a change shows a token or a key: never more than its last four characters. */
export const lastFour = (text: SQL) => sql`'…' || substr(${text}, -4)`;

/** The id of the next change of a subject. */
export const nextId = (subject: SQL, subject_id: SQL) => sql`(select coalesce(max(${changes.id}), 0) + 1 from ${changes}
  where ${changes.subject} = ${subject} and ${changes.subject_id} = ${subject_id})`;

/**
 * Writes down a change that an API key makes, if the statement directly before made it. `before` and `after` are JSON of what
 * changes, or null.
 */
export function changeByKey(permission: Permission, action: Action, before: SQL, after: SQL) {
  const actor = sql`'key ' || ${permission.key_id} || ' (…' || ${permission.key_last_four} || ')'`;
  // The columns of the table, in their order.
  return builder.insert(changes).select(
    sql`select 'business', ${permittedId(permission)}, ${nextId(sql`'business'`, sql`${$call.business_id}`)}, ${$call.now},
      ${actor}, ${sql.raw(`'${action}'`)}, ${before}, ${after}
      from (select 1 where changes() > 0) cross join ${permission} where ${isNull(permission.refusal)}`,
  );
}

/** A change can be 130 KB (500 long sites), and D1 has no text over 2 MB. */
const PAGE_BYTES = 500_000;

/**
 * Reads the verdict and, as JSON, at most `limit` changes of the business before the one with the id `before`, newest first: as many as
 * it takes to reach PAGE_BYTES. `found` is how many there are, up to `limit`.
 */
export const changesBefore = statement(['limit', 'before'], (permission, $) => {
  const isOwn = and(eq(changes.subject, 'business'), eq(changes.subject_id, permittedId(permission)));
  const page = builder
    .select()
    .from(changes)
    .where(and(isOwn, lt(changes.id, $.before)))
    .orderBy(desc(changes.id))
    .limit($.limit)
    .as('page');
  const bytesOf = (text: SQLWrapper) => sql`coalesce(octet_length(${text}), 0)`;
  const bytes = sql`${bytesOf(page.before)} + ${bytesOf(page.after)}`;
  const sized = sql`select *, sum(${bytes}) over (order by ${page.id} desc rows unbounded preceding) - (${bytes}) as bytes_before
    from ${page}`;
  const row = sql`json_object('id', id, 'at', at, 'actor', actor, 'action', action, 'before', json(before), 'after', json(after))`;
  const list = sql<string>`(select json_object('found', count(*), 'changes',
    json_group_array(${row}) filter (where bytes_before < ${sql.raw(`${PAGE_BYTES}`)})) from (${sized}))`;
  return builder
    .select({ ...verdictOf(permission), list: list.as('list') })
    .from(permission)
    .where(sql`true`);
});
