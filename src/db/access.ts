// The statements of access domains: the list of a business, and its changes.
import { and, eq, getTableColumns, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type Permission, permittedId, statement } from './permission.ts';
import { access, businesses } from './schema.ts';
import { db } from './statement.ts';

/** The most sites a business can have. */
export const MAX_SITES = 500;

export type Business = typeof businesses.$inferSelect;
export type Entry = typeof access.$inferSelect;

/** A row of a table as a JSON object. */
function rowAsJson(table: SQLiteTable): SQL {
  const fields = Object.values(getTableColumns(table)).map((column) => sql`${sql.raw(`'${column.name}'`)}, ${column}`);
  return sql`json_object(${sql.join(fields, sql`, `)})`;
}

/**
 * The refusal, with the business and its entries (in no order) as JSON where the call is permitted. It is read in front of a
 * change, which can change what is permitted; the change gives the rows that it touched.
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

/** What is looked for by the row of the business that is being changed: for a refused call there is none. */
const ownEntry = sql`select 1 from ${access} where ${access.business_id} = ${businesses.id}`;

/**
 * Marks the business as changed where the call is permitted and `condition` holds. It decides: the change itself stands directly
 * behind it, and goes by `touchedId`.
 */
const touch = (permission: Permission, now: SQL, condition: SQL) =>
  db
    .update(businesses)
    .set({ updated_at: now })
    .where(and(eq(businesses.id, sql`(select ${permittedId(permission)} from ${permission})`), condition))
    .returning();

/** The id of the business where the statement directly in front has touched it, else null: a search by it reads nothing. */
const touchedId = (business_id: SQL) => sql`case when changes() > 0 then ${business_id} end`;

/** In front of `insertSites`: touches the business if any of `sites` is new, and all of those fit. */
export const touchIfSitesFit = statement(['sites'], (permission, $) => {
  const newSites = sql`from json_each(${$.sites}) where not exists (${ownEntry} and ${access.site} = value)`;
  const stored = sql`(select count(*) from ${access} where ${access.business_id} = ${businesses.id})`;
  const fit = sql`exists (select 1 ${newSites}) and ${stored} + (select count(*) ${newSites}) <= ${MAX_SITES}`;
  return touch(permission, sql`${$.now}`, fit);
});

/** Directly behind `touchIfSitesFit`: stores those of `sites` (canonical, a list as JSON) that are new, in their order. */
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

/** In front of `deleteEntry`: touches the business if it has that entry, and another. */
export const touchIfNotLast = statement(['access_id'], (permission, $) =>
  touch(
    permission,
    sql`${$.now}`,
    sql`exists (${ownEntry} and ${eq(access.id, $.access_id)}) and exists (${ownEntry} and ${ne(access.id, $.access_id)})`,
  ),
);

/** Directly behind `touchIfNotLast`. */
export const deleteEntry = statement(['access_id'], (_, $) =>
  db
    .delete(access)
    .where(and(eq(access.id, $.access_id), eq(access.business_id, touchedId(sql`${$.business_id}`))))
    .returning({ id: access.id }),
);

/** In front of `deleteEntries`: touches the business if it has an entry. */
export const touchIfEntries = statement([], (permission, $) =>
  touch(permission, sql`${$.now}`, sql`exists (${ownEntry})`),
)({});

/** Directly behind `touchIfEntries`: the token works everywhere again. */
export const deleteEntries = statement([], (_, $) =>
  db.delete(access).where(eq(access.business_id, touchedId(sql`${$.business_id}`))),
)({});
