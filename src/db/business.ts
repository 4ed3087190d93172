// The statements for businesses: listing them, reading one, and the write that decides a change of it.
import { and, between, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { $call, type Permission, permittedId, ruleFor, statement, verdictOf } from './permission.ts';
import { access, businessColumns, businesses, dailyUsage, limitColumns } from './schema.ts';
import { builder } from './statement.ts';

/** Columns of a row as a JSON object. */
export function rowAsJson(columns: Record<string, SQLiteColumn>): SQL {
  const fields = Object.values(columns).map((column) => sql`${sql.raw(`'${column.name}'`)}, ${column}`);
  return sql`json_object(${sql.join(fields, sql`, `)})`;
}

/**
 * Reads the refusal and, if the call is permitted, the business and its entries as JSON (entries in no particular order). A
 * change can alter what is permitted, so this runs before it, and the change returns the rows it touched.
 */
export const businessWithEntries = statement([], (permission) =>
  builder
    .select({
      ...verdictOf(permission),
      business: sql<string>`${rowAsJson(businessColumns)}`.as('business'),
      entries: sql<string>`(select json_group_array(${rowAsJson(getTableColumns(access))}) from ${access}
        where ${access.business_id} = ${businesses.id})`.as('entries'),
    })
    .from(permission)
    .leftJoin(businesses, eq(businesses.id, permittedId(permission))),
)({});

/**
 * The deciding write of a change: sets `updated_at` if the call is permitted and `condition` holds. The change itself comes directly
 * after it and depends on `touchedId`.
 */
export const touch = (permission: Permission, condition: SQL) =>
  builder
    .update(businesses)
    .set({ updated_at: sql`${$call.now}` })
    .where(and(eq(businesses.id, sql`(select ${permittedId(permission)} from ${permission})`), condition))
    .returning(businessColumns);

/**
 * The id of the business if the call is permitted and the statement directly before changed anything. Otherwise null, and a
 * search for it reads nothing.
 */
export const touchedId = (permission: Permission) =>
  sql`case when changes() > 0 then (select ${permittedId(permission)} from ${permission}) end`;

/**
 * Reads the verdict and, as JSON, the `limit` businesses of the key after the one with the id `after`, by id: of each whether its usage
 * is denied from here, and if not, the business, its limits, and the counts from the day `from` on.
 */
export const businessesAfter = statement(['limit', 'after', 'from'], (permission, $, form) => {
  // A key for one business has a range of one id.
  const start = sql`max(${$.after} + 1, coalesce(${permission.key_business_id}, 0))`;
  const end = sql`coalesce(${permission.key_business_id}, ${Number.MAX_SAFE_INTEGER})`;
  const isOwn = sql`${eq(businesses.user_id, permission.key_user_id)} and ${between(businesses.id, start, end)}`;
  const examined = sql`(select ${rowAsJson(businessColumns)} as business, ${businesses.id}, ${sql.join(Object.values(limitColumns), sql`, `)},
    (${ruleFor(form, permission.read_only)}) as denied from ${businesses} where ${isOwn} order by ${businesses.id} limit ${$.limit})`;
  const days = sql`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count}) from ${dailyUsage}
    where ${dailyUsage.business_id} = case when denied is null then id end and ${between(dailyUsage.day, $.from, $.last_of_month)})`;
  const list = sql<string>`(select json_group_array(json_object('id', id, 'denied', denied, 'business', json(business),
    'daily_limit', daily_limit, 'monthly_limit', monthly_limit, 'counts', json(${days}))) from ${examined})`;
  return builder
    .select({ ...verdictOf(permission), businesses: list.as('businesses') })
    .from(permission)
    .where(sql`true`);
});
