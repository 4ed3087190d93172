// What access domains ask of the database: functions that return statements, which guard.ts runs as one batch.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm';
import { type Grant, granted, granting, type Scope } from './grant.ts';
import { access, businesses } from './schema.ts';
import { $, $business_id, db } from './statement.ts';

/** The most sites a business can have. */
export const MAX_SITES = 500;

/** The entries of the business. */
const own = sql`from ${access} where ${eq(access.business_id, $business_id)}`;

/** The business where the call is granted and `condition` holds, else null. Both writes of a change go by it. */
const changed = (grant: Grant, condition: SQL) => sql`(select ${granted(grant)} from ${grant} where ${condition})`;

/** Marks the business as changed. It comes before the change itself, which can change what is granted. */
const touch = (condition: SQL) =>
  granting((grant) =>
    db
      .update(businesses)
      .set({ updated_at: sql`${$('now')}` })
      .where(eq(businesses.id, changed(grant, condition))),
  );

const fresh = sql`select key, value from json_each(${$('sites')}) where value not in (select ${access.site} ${own})`;
const fits = sql`exists (${fresh})
  and (select count(*) ${own}) + (select count(*) from (${fresh})) <= ${MAX_SITES}`;
const touchIfFits = touch(fits);
const insertSites = granting((grant) =>
  db.insert(access).select(
    sql`select null, business, value, ${$('now')}, ${$('now')}
      from (select ${changed(grant, fits)} as business) join (${fresh}) where business is not null order by key`,
  ),
);

/**
 * Stores those of `sites` (canonical, each once) that are new, in their order: all of them, or none where the call is
 * refused or the business would have too many.
 */
export function addSites(scope: Scope, sites: string[]) {
  const values = { sites: JSON.stringify(sites) };
  return { touched: touchIfFits(scope, values), added: insertSites(scope, values) };
}

const isNotLast = sql`exists (select 1 ${own} and ${access.id} = ${$('access_id')})
  and exists (select 1 ${own} and ${access.id} <> ${$('access_id')})`;
const touchIfNotLast = touch(isNotLast);
const deleteSite = granting((grant) =>
  db.delete(access).where(and(eq(access.id, $('access_id')), eq(access.business_id, changed(grant, isNotLast)))),
);

/** Removes an entry, unless it is the last. */
export const removeSite = (scope: Scope, access_id: number) => ({
  touched: touchIfNotLast(scope, { access_id }),
  removed: deleteSite(scope, { access_id }),
});

const hasSites = sql`exists (select 1 ${own})`;
const touchIfHasSites = touch(hasSites);
const deleteSites = granting((grant) => db.delete(access).where(eq(access.business_id, changed(grant, hasSites))));

/** Removes all entries: the token works everywhere again. */
export const removeAllSites = (scope: Scope) => ({
  touched: touchIfHasSites(scope),
  removed: deleteSites(scope),
});

const entry = granting((grant) =>
  db
    .select({ refusal: grant.refusal, access_id: sql<number | null>`${access.id}`.as('access_id') })
    .from(grant)
    .leftJoin(access, and(eq(access.id, $('access_id')), eq(access.business_id, granted(grant)))),
);

/** The refusal, with the id of the entry where the business has it. */
export const entryOf = (scope: Scope, access_id: number) => entry(scope, { access_id });

/** The business as the API shows it, but for its access_list. */
export const business = granting(() => db.select().from(businesses).where(eq(businesses.id, $business_id)));

/** The access_list of the business. */
export const accessList = granting(() =>
  db.select().from(access).where(eq(access.business_id, $business_id)).orderBy(asc(access.id)),
);
