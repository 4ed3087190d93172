// The statements that every change of a business needs: reading it first, and the write that decides.
import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { $call, type Permission, permittedId, statement, verdictOf } from './permission.ts';
import { access, businessColumns, businesses } from './schema.ts';
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
