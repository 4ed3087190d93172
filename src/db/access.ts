// The statements for access domains: reading the list of a business, and changing it.
import { and, eq, getTableColumns, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type Permission, permittedId, statement } from './permission.ts';
import { access, businesses } from './schema.ts';
import { db } from './statement.ts';

/** The most sites a business can have. */
export const MAX_SITES = 500;

/** A row of a table as a JSON object. */
function rowAsJson(table: SQLiteTable): SQL {
  const fields = Object.values(getTableColumns(table)).map((column) => sql`${sql.raw(`'${column.name}'`)}, ${column}`);
  return sql`json_object(${sql.join(fields, sql`, `)})`;
}

/**
 * Reads the refusal and, if the call is permitted, the business and its entries as JSON (entries in no particular order). A
 * change can alter what is permitted, so this runs before it, and the change returns the rows it touched.
 */
export const businessWithEntries = statement([], (permission) =>
  db
    .select({
      refusal: permission.refusal,
      business: sql<string>`${rowAsJson(businesses)}`.as('business'),
      entries: sql<string>`(select json_group_array(${rowAsJson(access)}) from ${access}
        where ${access.business_id} = ${businesses.id})`.as('entries'),
    })
    .from(permission)
    .leftJoin(businesses, eq(businesses.id, permittedId(permission))),
)({});

/** Entries of the business being updated. A refused call updates no business, so this reads nothing. */
const ownEntry = sql`select 1 from ${access} where ${access.business_id} = ${businesses.id}`;

/**
 * Sets `updated_at` if the call is permitted and `condition` holds. This is the deciding write: the change itself comes directly
 * after it and depends on `touchedId`.
 */
const touch = (permission: Permission, now: SQL, condition: SQL) =>
  db
    .update(businesses)
    .set({ updated_at: now })
    .where(and(eq(businesses.id, sql`(select ${permittedId(permission)} from ${permission})`), condition))
    .returning();

/** The id of the business if the previous statement touched it. Otherwise null, and a search for it reads nothing. */
const touchedId = (business_id: SQL) => sql`case when changes() > 0 then ${business_id} end`;

/** Goes before `insertSites`: touches the business if at least one site is new and all new ones fit. */
export const touchIfSitesFit = statement(['sites'], (permission, $) => {
  const newSites = sql`from json_each(${$.sites}) where not exists (${ownEntry} and ${access.site} = value)`;
  const stored = sql`(select count(*) from ${access} where ${access.business_id} = ${businesses.id})`;
  const fit = sql`exists (select 1 ${newSites}) and ${stored} + (select count(*) ${newSites}) <= ${MAX_SITES}`;
  return touch(permission, sql`${$.now}`, fit);
});

/** Goes directly after `touchIfSitesFit`: stores the new ones among `sites` (a JSON list of canonical sites), in order. */
export const insertSites = statement(['sites'], (_, $) =>
  db
    .insert(access)
    .select(
      sql`select null, business_id, value, ${$.now}, ${$.now}
        from (select ${touchedId(sql`${$.business_id}`)} as business_id) join json_each(${$.sites})
        where business_id is not null order by key`,
    )
    .onConflictDoNothing({ target: [access.business_id, access.site] })
    .returning(),
);

/** Goes before `deleteEntry`: touches the business if it has this entry and at least one more. */
export const touchIfNotLast = statement(['access_id'], (permission, $) =>
  touch(
    permission,
    sql`${$.now}`,
    sql`exists (${ownEntry} and ${eq(access.id, $.access_id)}) and exists (${ownEntry} and ${ne(access.id, $.access_id)})`,
  ),
);

/** Goes directly after `touchIfNotLast`. */
export const deleteEntry = statement(['access_id'], (_, $) =>
  db
    .delete(access)
    .where(and(eq(access.id, $.access_id), eq(access.business_id, touchedId(sql`${$.business_id}`))))
    .returning({ id: access.id }),
);

/** Goes before `deleteEntries`: touches the business if it has any entry. */
export const touchIfEntries = statement([], (permission, $) =>
  touch(permission, sql`${$.now}`, sql`exists (${ownEntry})`),
)({});

/** Goes directly after `touchIfEntries`. The token works everywhere again. */
export const deleteEntries = statement([], (_, $) =>
  db.delete(access).where(eq(access.business_id, touchedId(sql`${$.business_id}`))),
)({});
