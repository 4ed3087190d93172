// Statements that change a business's sites.
import { and, eq, ne, type SQL, sql } from 'drizzle-orm';
import { isReachable } from '../core/reachable.ts';
import { MAX_SITES } from '../core/site.ts';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { NEW_ID, rowValues } from '../db/new-row.ts';
import { businesses, siteColumns, sites } from '../db/schema.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { takeChange } from '../db/work.ts';
import { deleteCoveredOrigins } from '../origins/seen-origins.ts';
import { canNumber, numberSites } from '../sources/sources.ts';

// A list of new sites is one JSON value of [site, is_reachable] pairs.
const listedSite = sql.raw('value ->> 0');
const listedIsReachable = sql.raw('value ->> 1');
/** The JSON of canonical sites that are added. */
export const listOfSites = (canonical: string[]) =>
  JSON.stringify(canonical.map((site) => [site, Number(isReachable(site))]));

/** Selects the sites of the business being updated. A refused call updates no business, so it reads no sites. */
const ownSite = sql`select 1 from ${sites} where ${sites.business_id} = ${businesses.id}`;
const isStored = sql`exists (select 1 from ${sites}
  where ${sites.business_id} = ${$call.business_id} and ${sites.site} = ${listedSite})`;

/** The values of a new site, which is listed by a json_each in the same query. */
export const newSite = ({ now }: Placeholders<'now'>) =>
  rowValues(sites, {
    ...{ id: NEW_ID, business_id: businesses.id, site: listedSite, is_reachable: listedIsReachable },
    ...{ created_at: now, updated_at: now },
  });

const addition = change('add_sites', ['sites', 'may_be_first'], {
  decideIf($) {
    const newSites = sql`from json_each(${$.sites}) where not exists (${ownSite} and ${sites.site} = ${listedSite})`;
    const stored = sql`(select count(*) from ${sites} where ${sites.business_id} = ${businesses.id})`;
    return sql`exists (select 1 ${newSites}) and ${stored} + (select count(*) ${newSites}) <= ${MAX_SITES}
      and (${$.may_be_first} or exists (${ownSite})) and ${canNumber(sql`${businesses.id}`, $.sites)}`;
  },
  after: ($) =>
    sql`(select json_object('sites', json_group_array(${listedSite})) from json_each(${$.sites}) where not ${isStored})`,
  apply: {
    applied: ($) =>
      builder
        .insert(sites)
        .select(
          sql`select ${newSite($)} from ${businesses} cross join json_each(${$.sites})
            where ${isDecided} and not ${isStored} order by key`,
        )
        .returning(siteColumns),
    named: ($) => numberSites(decidedId, $.sites),
    noLongerRefused: () => deleteCoveredOrigins(decidedId),
    taken: (_, permission) => takeChange(permission, sql`${decidedId} is not null`),
  },
});

/**
 * Adds the canonical sites that are not stored yet, in the given order, or none if the business would exceed MAX_SITES or MAX_NAMED_SITES. Returns the
 * business and the new sites. Unless `mayBeFirst` is true, the business must already have a site.
 */
export const addSites = (canonical: string[], mayBeFirst: boolean) =>
  addition({ sites: listOfSites(canonical), may_be_first: Number(mayBeFirst) });

/** Selects the business's sites that match `condition`, as JSON for the list of changes. */
const sitesAsJson = (condition?: SQL) =>
  selectOne(
    jsonObject({ sites: jsonList(sites.site) }),
    sql`from ${sites} where ${and(eq(sites.business_id, $call.business_id), condition)}`,
  );

const removal = change('remove_sites', ['access_id', 'admitting'], {
  decideIf($) {
    const isOther = ne(sites.id, $.access_id);
    const admitsSender = sql`exists (select 1 from json_each(${$.admitting}) cross join ${sites}
      where ${sites.business_id} = ${businesses.id} and ${sites.site} = value and ${isOther})`;
    return sql`exists (${ownSite} and ${eq(sites.id, $.access_id)}) and exists (${ownSite} and ${isOther})
      and (${$.admitting} is null or ${admitsSender})`;
  },
  before: ($) => sitesAsJson(eq(sites.id, $.access_id)),
  apply: {
    applied: ($) => builder.delete(sites).where(and(eq(sites.id, $.access_id), eq(sites.business_id, decidedId))),
  },
});

/**
 * Removes a site, unless it is the business's only one, or the only one of the sites in `admitting`. Returns the business if the site was
 * removed. `admitting` is null if any site may be removed.
 */
export const removeSite = (access_id: number | null, admitting: string[] | null) =>
  removal({ access_id, admitting: admitting === null ? null : JSON.stringify(admitting) });

/** Removes all sites. The token then works from every origin. Returns the business if any site was removed. */
export const removeAllSites = change('remove_sites', [], {
  decideIf: () => sql`exists (${ownSite})`,
  before: () => sitesAsJson(),
  apply: { applied: () => builder.delete(sites).where(eq(sites.business_id, decidedId)) },
});
