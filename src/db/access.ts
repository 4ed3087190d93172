// The statements that change the access domains of a business.
import { and, eq, ne, type SQL, sql } from 'drizzle-orm';
import { MAX_SITES } from '../core/site.ts';
import { $call } from './call.ts';
import { recordChange } from './changes.ts';
import { decidedId, decideIf, isDecided, newDecision } from './decision.ts';
import { jsonList, jsonObject, selectOne } from './json.ts';
import { statement } from './permission.ts';
import { access, businesses } from './schema.ts';
import { builder, NEW_ID, newRow, type Placeholders } from './statement.ts';

/** Entries of the business being updated. A refused call updates no business, so this reads nothing. */
const ownEntry = sql`select 1 from ${access} where ${access.business_id} = ${businesses.id}`;

const decideIfSitesFit = statement(['sites', 'may_be_first', 'decision'], (permission, $) => {
  const newSites = sql`from json_each(${$.sites}) where not exists (${ownEntry} and ${access.site} = value)`;
  const stored = sql`(select count(*) from ${access} where ${access.business_id} = ${businesses.id})`;
  const fit = sql`exists (select 1 ${newSites}) and ${stored} + (select count(*) ${newSites}) <= ${MAX_SITES}
    and (${$.may_be_first} or exists (${ownEntry}))`;
  return decideIf(permission, $, fit);
});
const isStored = sql`exists (select 1 from ${access}
  where ${access.business_id} = ${$call.business_id} and ${access.site} = value)`;
const recordAdded = statement(['sites', 'decision'], (permission, $) => {
  const added = sql`(select json_object('sites', json_group_array(value)) from json_each(${$.sites}) where not ${isStored})`;
  return recordChange(permission, $, 'add_sites', sql`null`, added);
});
/** An entry of a business for a site in a list. */
export const newSite = ({ now }: Placeholders<'now'>) =>
  newRow(access, { id: NEW_ID, business_id: businesses.id, site: sql`value`, created_at: now, updated_at: now });
const insertSites = statement(['sites', 'decision'], (_, $) =>
  builder
    .insert(access)
    .select(
      sql`select ${newSite($)} from ${businesses} cross join json_each(${$.sites})
        where ${isDecided($)} and not ${isStored} order by key`,
    )
    .returning(),
);

/**
 * Adds those of the canonical sites that are new, in order: all of them or none. The business and the new entries come back. Unless
 * `mayBeFirst`, only to a business that has sites already.
 */
export function addSites(canonical: string[], mayBeFirst: boolean) {
  const values = { sites: JSON.stringify(canonical), decision: newDecision() };
  const decided = decideIfSitesFit({ ...values, may_be_first: Number(mayBeFirst) });
  return { decided, recorded: recordAdded(values), applied: insertSites(values) };
}

/** The sites of the business, or those that `condition` selects, as the JSON of a change. */
const sitesAsJson = (condition?: SQL) =>
  selectOne(
    jsonObject({ sites: jsonList(access.site) }),
    sql`from ${access} where ${and(eq(access.business_id, $call.business_id), condition)}`,
  );

const decideIfNotLast = statement(['access_id', 'decision'], (permission, $) =>
  decideIf(
    permission,
    $,
    sql`exists (${ownEntry} and ${eq(access.id, $.access_id)}) and exists (${ownEntry} and ${ne(access.id, $.access_id)})`,
  ),
);
const recordRemoved = statement(['access_id', 'decision'], (permission, $) =>
  recordChange(permission, $, 'remove_sites', sitesAsJson(eq(access.id, $.access_id)), sql`null`),
);
const deleteEntry = statement(['access_id', 'decision'], (_, $) =>
  builder.delete(access).where(and(eq(access.id, $.access_id), eq(access.business_id, decidedId($)))),
);

/** Removes an entry unless it is the last. The business comes back if it had that entry and another. */
export function removeEntry(access_id: number) {
  const values = { access_id, decision: newDecision() };
  return { decided: decideIfNotLast(values), recorded: recordRemoved(values), applied: deleteEntry(values) };
}

const decideIfAny = statement(['decision'], (permission, $) => decideIf(permission, $, sql`exists (${ownEntry})`));
const recordAllRemoved = statement(['decision'], (permission, $) =>
  recordChange(permission, $, 'remove_sites', sitesAsJson(), sql`null`),
);
const deleteEntries = statement(['decision'], (_, $) =>
  builder.delete(access).where(eq(access.business_id, decidedId($))),
);

/** Removes all entries, so that the token works everywhere again. The business comes back if it had any. */
export function removeEntries() {
  const values = { decision: newDecision() };
  return { decided: decideIfAny(values), recorded: recordAllRemoved(values), applied: deleteEntries(values) };
}
