// What access domains ask of the database: functions that return statements, which guard.ts runs as one batch.
import { and, eq, getTableColumns, ne, type SQL, sql } from 'drizzle-orm';
import { granted, granting, type Scope } from './grant.ts';
import { access, businesses } from './schema.ts';
import { $, $business_id, db } from './statement.ts';

/** The most sites a business can have. */
export const MAX_SITES = 500;

const entryFields = Object.keys(getTableColumns(access)).map((name) => sql.raw(`'${name}', ${name}`));
const entries = sql`select json_group_array(json_object(${sql.join(entryFields, sql`, `)})) from ${access}`;

/**
 * The refusal, with the business as the API shows it and its access_list as JSON (in no order) where the call is granted. It
 * goes in front of a change, which can change what is granted; the change itself gives the rows that it touched.
 */
export const businessWithList = granting((grant) =>
  db
    .select({
      refusal: grant.refusal,
      ...getTableColumns(businesses),
      access_list: sql<string>`(${entries} where ${access.business_id} = ${businesses.id})`.as('access_list'),
    })
    .from(grant)
    .leftJoin(businesses, eq(businesses.id, granted(grant))),
);

/** What is looked for by the row of the business that is being changed: where the call is refused there is none. */
const ownEntry = sql`select 1 from ${access} where ${access.business_id} = ${businesses.id}`;

/**
 * Marks the business as changed where the call is granted and `condition` holds: it decides, and the change itself stands
 * directly behind it and goes by `changes()`.
 */
const touch = (condition: SQL) =>
  granting((grant) =>
    db
      .update(businesses)
      .set({ updated_at: sql`${$('now')}` })
      .where(and(eq(businesses.id, sql`(select ${granted(grant)} from ${grant})`), condition))
      .returning(),
  );
/** The id of the business where the statement directly in front has touched it, else null: a search by it then reads nothing. */
const touched = sql`case when changes() > 0 then ${$business_id} end`;

const newSites = sql`from json_each(${$('sites')})
  where not exists (${ownEntry} and ${access.site} = value)`;
const touchIfNewSitesFit = touch(sql`exists (select 1 ${newSites}) and (select count(*) from ${access}
  where ${access.business_id} = ${businesses.id}) + (select count(*) ${newSites}) <= ${MAX_SITES}`);
const insertSites = granting(() =>
  db
    .insert(access)
    .select(
      sql`select null, business, value, ${$('now')}, ${$('now')} from (select ${touched} as business) join json_each(${$('sites')})
        where business is not null order by key`,
    )
    .onConflictDoNothing({ target: [access.business_id, access.site] })
    .returning(),
);

/**
 * Stores those of `sites` (canonical, each once) that are new, in their order: all of them, or none where the call is
 * refused or the business would have too many.
 */
export function addSites(scope: Scope, sites: string[]) {
  const values = { sites: JSON.stringify(sites) };
  return { touched: touchIfNewSitesFit(scope, values), added: insertSites(scope, values) };
}

const touchIfNotLast = touch(
  sql`exists (${ownEntry} and ${eq(access.id, $('access_id'))}) and exists (${ownEntry} and ${ne(access.id, $('access_id'))})`,
);
const deleteSite = granting(() =>
  db
    .delete(access)
    .where(and(eq(access.id, $('access_id')), eq(access.business_id, touched)))
    .returning({ id: access.id }),
);

/** Removes an entry, unless it is the last. */
export const removeSite = (scope: Scope, access_id: number) => ({
  touched: touchIfNotLast(scope, { access_id }),
  removed: deleteSite(scope, { access_id }),
});

const touchIfHasSites = touch(sql`exists (${ownEntry})`);
const deleteSites = granting(() =>
  db.delete(access).where(eq(access.business_id, touched)).returning({ id: access.id }),
);

/** Removes all entries: the token works everywhere again. */
export const removeAllSites = (scope: Scope) => ({
  touched: touchIfHasSites(scope),
  removed: deleteSites(scope),
});
