// The statements that change the access domains of a business.
import { and, eq, ne, type SQL, sql } from 'drizzle-orm';
import { touch, touchedId } from './business.ts';
import { changeByKey } from './changes.ts';
import { type Permission, permittedId, statement } from './permission.ts';
import { access, businesses } from './schema.ts';
import { builder } from './statement.ts';

/** The most sites a business can have. */
export const MAX_SITES = 500;

/** Entries of the business being updated. A refused call updates no business, so this reads nothing. */
const ownEntry = sql`select 1 from ${access} where ${access.business_id} = ${businesses.id}`;

const touchIfSitesFit = statement(['sites'], (permission, $) => {
  const newSites = sql`from json_each(${$.sites}) where not exists (${ownEntry} and ${access.site} = value)`;
  const stored = sql`(select count(*) from ${access} where ${access.business_id} = ${businesses.id})`;
  return touch(
    permission,
    sql`exists (select 1 ${newSites}) and ${stored} + (select count(*) ${newSites}) <= ${MAX_SITES}`,
  );
});
const insertSites = statement(['sites'], (permission, $) =>
  builder
    .insert(access)
    .select(
      // The columns of the table, in their order; null makes a new id.
      sql`select null, touched_id, value, ${$.now}, ${$.now}
        from (select ${touchedId(permission)} as touched_id) join json_each(${$.sites})
        where touched_id is not null and not exists (select 1 from ${access}
          where ${access.business_id} = touched_id and ${access.site} = value) order by key`,
    )
    .returning(),
);

/** The sites of the business, or those that `condition` selects, as the JSON of a change. Reads nothing for a refused call. */
const sitesAsJson = (permission: Permission, condition?: SQL) =>
  sql`(select json_object('sites', json_group_array(${access.site})) from ${access}
    where ${and(eq(access.business_id, permittedId(permission)), condition)})`;

const recordAdded = statement(['sites'], (permission, $) => {
  const isStored = sql`exists (select 1 from ${access} where ${access.business_id} = ${$.business_id} and ${access.site} = value)`;
  const added = sql`(select json_object('sites', json_group_array(value)) from json_each(${$.sites}) where not ${isStored})`;
  return changeByKey(permission, 'add_sites', sql`null`, added);
});

/** Adds those of the canonical sites that are new, in order: all of them or none. The business and the new entries come back. */
export function addSites(canonical: string[]) {
  const sites = JSON.stringify(canonical);
  return [touchIfSitesFit({ sites }), recordAdded({ sites }), insertSites({ sites })] as const;
}

const touchIfNotLast = statement(['access_id'], (permission, $) =>
  touch(
    permission,
    sql`exists (${ownEntry} and ${eq(access.id, $.access_id)}) and exists (${ownEntry} and ${ne(access.id, $.access_id)})`,
  ),
);
const deleteEntry = statement(['access_id'], (permission, $) =>
  builder.delete(access).where(and(eq(access.id, $.access_id), eq(access.business_id, touchedId(permission)))),
);

const recordRemoved = statement(['access_id'], (permission, $) =>
  changeByKey(permission, 'remove_sites', sitesAsJson(permission, eq(access.id, $.access_id)), sql`null`),
);

/** Removes an entry unless it is the last. The business comes back if it had that entry and another. */
export const removeEntry = (access_id: number) =>
  [touchIfNotLast({ access_id }), recordRemoved({ access_id }), deleteEntry({ access_id })] as const;

const touchIfAny = statement([], (permission) => touch(permission, sql`exists (${ownEntry})`))({});
const deleteEntries = statement([], (permission) =>
  builder.delete(access).where(eq(access.business_id, touchedId(permission))),
)({});

const recordAllRemoved = statement([], (permission) =>
  changeByKey(permission, 'remove_sites', sitesAsJson(permission), sql`null`),
)({});

/** Removes all entries, so that the token works everywhere again. The business comes back if it had any. */
export const removeEntries = [touchIfAny, recordAllRemoved, deleteEntries] as const;
