// Statements that count lists of uses and store the uses' ids.
import { sql } from 'drizzle-orm';
import { recentDays, storeReached } from '../alerts/statements.ts';
import { $call } from '../db/call.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import { dailyUsage, ledger, sources } from '../db/schema.ts';
import { followingStatement, statement } from '../db/statement.ts';
import { builder } from '../db/text.ts';
import { takeIds } from '../db/work.ts';
import {
  ifCounted,
  namedSources,
  newLabels,
  sourceCounts,
  sourceNumberOf,
  withOneSource,
  withSources,
} from '../sources/sources.ts';
import { addToCounts, countedId, ifPreviousCounted, ledgerRow, sourceOf } from './counting.ts';
import { listedDay, listedDigest, listedLabel, listedQuantity, mayCountListed, selectBeyond } from './list-limits.ts';
import type { Use } from './recording.ts';

/** A use with an id: the hex digest of the id, the day that the use counts towards, and whether the caller sent a timestamp. */
export type IdentifiedUse = Use & { digest: string; day: string; isDated: boolean };

const reachedByList = followingStatement(['days'], ($) =>
  storeReached(countedId, recentDays($.days, sql`value ->> 0`)),
);

/** Numbers a list's labels that the business has never used, if the list counts. */
const nameLabels = statement(['uses', 'days'], (permission, $, shape) =>
  builder.insert(sources).select(
    newLabels(
      sql`${$call.business_id}`,
      sql`select ${listedLabel} as name, min(key) as place from ${permission} cross join json_each(${$.uses})
        where ${listedLabel} is not null and ${sourceNumberOf($call.business_id, listedLabel)} is null and ${mayCountListed(permission, $, shape)} group by 1`,
    ),
  ),
);

/** Adds a list without labels to the counts. All its uses have the source of the call, if it has one. */
const countUnlabelled = statement(['uses', 'days'], (permission, $, shape) => {
  const count = sql`sum(${listedQuantity})`;
  const row = {
    business_id: permittedId(permission),
    day: listedDay,
    count,
    sources: sourceCounts(permission.source, count),
  };
  return addToCounts(
    sql`select ${rowValues(dailyUsage, row)} from ${permission} cross join json_each(${$.uses})
      where ${mayCountListed(permission, $, shape)} group by ${listedDay}`,
    withOneSource,
  );
});

const countLabelled = statement(['uses', 'days'], (permission, $, shape) => {
  const bySource = sql`select ${listedDay} as day, ${sourceOf(permission.source, listedLabel)} as source, sum(${listedQuantity}) as count
    from ${permission} cross join json_each(${$.uses}) where ${mayCountListed(permission, $, shape)} group by 1, 2`;
  const row = {
    business_id: $call.business_id,
    day: sql`day`,
    count: sql`sum(count)`,
    sources: sql`nullif(json_group_object(cast(source as text), count) filter (where is_named), '{}')`,
  };
  return addToCounts(
    sql`select ${rowValues(dailyUsage, row)} from (${namedSources($call.business_id, bySource)}) where true group by day`,
    withSources,
  );
});

/** Stores the ids of a list if the step directly before counted its uses. */
const rememberUses = followingStatement(['uses'], ($, permission, shape) => {
  const { business_id } = $call;
  const source = ifCounted(business_id, listedDay, sourceOf(permission.source, listedLabel));
  const use = { business_id, digest: listedDigest, day: listedDay, quantity: listedQuantity, source };
  return builder
    .insert(ledger)
    .select(
      sql`select ${ledgerRow(use, $.today, shape)} from ${ifPreviousCounted(permission, shape)} cross join json_each(${$.uses}) where true`,
    )
    .onConflictDoNothing({ target: [ledger.business_id, ledger.digest] })
    .returning({ day: ledger.day });
});

/**
 * Counts the uses that are not in the ledger, stores their ids and the thresholds that they reach, and returns a row for each id. If the
 * list would exceed a limit or MAX_COUNT, counts nothing and returns the reason in `refused`, without failing: a batch that fails spends
 * nothing. With `takesIds`, the new ids count towards the allowance of the calling key's owner. The list must not contain a digest twice. It
 * is bound as one JSON value, because D1 binds at most 100 values.
 */
export function countManyOnce(list: IdentifiedUse[], takesIds: boolean) {
  const uses = JSON.stringify(
    list.map(({ digest, day, quantity, isDated, label }) => [digest, day, quantity, isDated, label]),
  );
  const byDay = new Map<string, number>();
  for (const { day, quantity } of list) byDay.set(day, (byDay.get(day) ?? 0) + quantity);
  const days = JSON.stringify([...byDay]);
  const hasLabels = list.some(({ label }) => label !== null);
  return {
    ...(hasLabels && { named: nameLabels({ uses, days }) }),
    counted: hasLabels ? countLabelled({ uses, days }) : countUnlabelled({ uses, days }),
    remembered: rememberUses({ uses }),
    ...(takesIds && { taken: takeIds }),
    refused: selectBeyond({ uses, days }),
    reached: reachedByList({ days }),
  };
}
