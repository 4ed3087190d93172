// Statements that count uses and store the uses' ids.
import { and, eq, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { ofToday, recentDays, storeReached } from '../alerts/statements.ts';
import { namespaceOf } from '../core/credential.ts';
import { MAX_COUNT, type PeriodBeyond } from '../core/limits.ts';
import { MAX_LABELS } from '../core/sources.ts';
import { $call, type CallShape, isBeforeDeadline } from '../db/call.ts';
import type { Json } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { allowedOverage, isPermitted, type Permission, permittedId } from '../db/permission.ts';
import { extraIn, judgedOn, type Limit, limitOn } from '../db/plan.ts';
import { businesses, dailyUsage, ledger, sources } from '../db/schema.ts';
import { followingStatement, previousStepWrote, statement, withVerdict } from '../db/statement.ts';
import { builder, NULL, type Placeholders } from '../db/text.ts';
import { takeIds } from '../db/work.ts';
import { billingMonth } from '../limits/billing.ts';
import { isOverLimit, limitUsageOf, type WithMonth, withMonth } from '../limits/usage.ts';
import {
  ifCounted,
  lastLabel,
  namedSources,
  newLabels,
  sourceCounts,
  sourceNumberOf,
  withOneSource,
  withSources,
} from '../sources/sources.ts';
import { dayWithNumber, numberOfDay } from './ledger.ts';
import { KEEP_ID_DAYS } from './rules.ts';

/**
 * Adds uses to the stored counts of days. `uses` is a query for rows of daily_usage, and `sources` is what to store as the counts of a
 * day's sources if the day is stored already. Returns the new counts. The batch fails if a count would exceed MAX_COUNT (`isBeyondCount`).
 */
const addToCounts = (uses: SQL, sources: SQL) =>
  builder
    .insert(dailyUsage)
    .select(uses)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      // The INTEGER column rejects the text 'beyond', so the whole batch fails. Checking the counts first would read each of them twice.
      set: {
        count: sql`case when ${dailyUsage.count} > ${MAX_COUNT} - excluded.count then 'beyond' else ${dailyUsage.count} + excluded.count end`,
        sources,
      },
    })
    .returning({ date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count });

/** Tests whether a batch failed because a day's count would have exceeded MAX_COUNT. Such a batch stored nothing. */
export const isBeyondCount = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('cannot store TEXT value in INTEGER column daily_usage.count');

/** Tests whether the ledger lacks the id. */
const isNewFor = (business_id: SQLWrapper, digest: SQL) => sql`not exists (select 1 from ${ledger}
  where ${eq(ledger.business_id, business_id)} and ${ledger.digest} = unhex(${digest}))`;

export const readLimitUsage = statement([], (permission) => {
  const current = withMonth(permission);
  return withVerdict(permission, limitUsageOf(current), current.from);
})({});

/** Selects the business if the statement directly before this one counted uses or stored their ids. Otherwise null. */
const countedId = sql`case when ${previousStepWrote} then ${$call.business_id} end`;
const reachedToday = followingStatement([], () => storeReached(countedId, ofToday))({});
const reachedByList = followingStatement(['days'], ($) =>
  storeReached(countedId, recentDays($.days, sql`value ->> 0`)),
);

/** The number of a use's source: of its label if it has one, else of its key or the site that let its page in. */
const sourceOf = (ofCall: SQLWrapper, label: SQLWrapper) =>
  sql`iif(${label} is null, ${ofCall}, ${sourceNumberOf($call.business_id, label)})`;

type OneUse = Placeholders<'quantity' | 'label' | 'today'>;
/** Counts one use today, if the ledger lacks the digest. A use without an id has none. */
const addOneUse = (permission: Permission, $: OneUse, digest?: Placeholder) => {
  const current = withMonth(permission);
  const sources = sourceCounts(sourceOf(permission.source, sql`${$.label}`), sql`${$.quantity}`);
  const row = { business_id: $call.business_id, day: $.today, count: $.quantity, sources };
  return addToCounts(
    sql`select ${rowValues(dailyUsage, row)} from ${current.from} where ${mayCount(current, $, digest)}`,
    withOneSource,
  );
};
/** Tests whether one use may count today. */
const mayCount = (current: WithMonth, $: Pick<OneUse, 'quantity'>, digest?: Placeholder) =>
  sql`${and(
    isPermitted(current.permission),
    isBeforeDeadline,
    digest && isNewFor(current.id, sql`${digest}`),
  )} and not (${isOverLimit(current, sql`${$.quantity}`)})`;

const countToday = statement(['quantity', 'label'], (permission, $) => addOneUse(permission, $));
/**
 * Numbers a label that the business has never used, if the use counts. A refused call reads at most whether the business has the label.
 */
const nameLabel = statement(['quantity', 'label', 'digest'], (permission, $) => {
  const current = withMonth(permission);
  const known = sourceNumberOf($call.business_id, sql`${$.label}`);
  const last = lastLabel($call.business_id);
  const row = { business_id: $call.business_id, name: $.label, number: sql`${last} + 1` };
  return builder.insert(sources).select(
    sql`select ${rowValues(sources, row)} from (select 1 where ${known} is null) cross join ${current.from}
      where ${mayCount(current, $, $.digest)} and ${last} < ${MAX_LABELS}`,
  );
});

/** A use that counts several times, and its label, if it has one. */
export type Use = { quantity: number; label: string | null };
const namedBy = (use: Use, digest: string | null) =>
  use.label === null ? {} : { named: nameLabel({ ...use, digest }) };

/** Counts a use of this quantity today, unless it would exceed a limit. Stores the thresholds that it reaches. */
export const countUse = (use: Use) => ({
  ...namedBy(use, null),
  counted: countToday(use),
  reached: reachedToday,
});

const ledgerRow = (
  { source, ...use }: Record<'business_id' | 'digest' | 'day' | 'quantity' | 'source', SQLWrapper>,
  today: SQLWrapper,
  { caller }: CallShape,
) =>
  rowValues(ledger, {
    ...use,
    digest: sql`unhex(${use.digest})`,
    day: numberOfDay(use.day),
    forget_on: sql`${numberOfDay(today)} + ${sql.raw(`${KEEP_ID_DAYS[namespaceOf(caller)] + 1}`)}`,
    source: caller === 'token' ? NULL : source, // uses of tokens cannot be lowered
  });
/** A row if the step directly before counted. The permission is joined only for the source. */
const ifPreviousCounted = (permission: Permission, { caller }: CallShape) => {
  const counted = sql`(select 1 where ${previousStepWrote})`;
  return caller === 'token' ? counted : sql`${counted} cross join ${permission}`;
};

const countNewUse = statement(['digest', 'quantity', 'label'], (permission, $) => addOneUse(permission, $, $.digest));
/** Stores the id if the step directly before counted its use. */
const rememberUse = followingStatement(['digest', 'quantity', 'label'], ($, permission, shape) => {
  const use = {
    business_id: $call.business_id,
    digest: $.digest,
    day: $.today,
    quantity: $.quantity,
    source: ifCounted($call.business_id, sql`${$.today}`, sourceOf(permission.source, sql`${$.label}`)),
  };
  return builder
    .insert(ledger)
    .select(sql`select ${ledgerRow(use, $.today, shape)} from ${ifPreviousCounted(permission, shape)}`);
});
/**
 * Counts a use today and stores its digest and the thresholds that it reaches, unless the ledger contains the digest or the use would
 * exceed a limit. Returns the new count if the use was counted.
 */
export const countOnce = (use: Use & { digest: string }) => ({
  ...namedBy(use, use.digest),
  counted: countNewUse(use),
  remembered: rememberUse(use),
  reached: reachedToday,
});
/**
 * Reads the verdict, the limit usage, the day on which the use with this digest was counted, and that day's current count. `date` is null
 * if the use is new, and `count` if no use of the day is left.
 */
export const readKnownUse = statement(['digest'], (permission, $) => {
  const current = withMonth(permission);
  const known = and(eq(ledger.business_id, current.id), eq(ledger.digest, sql`unhex(${$.digest})`));
  const ofDay = and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, dayWithNumber(ledger.day)));
  return withVerdict(
    permission,
    {
      ...limitUsageOf(current),
      date: sql<string | null>`${dayWithNumber(ledger.day)}`,
      count: sql<number | null>`${dailyUsage.count}`,
    },
    sql`${current.from} left join ${ledger} on ${known} left join ${dailyUsage} on ${ofDay}`,
  );
});

/** A use with an id: the hex digest of the id, the day that the use counts towards, and whether the caller sent a timestamp. */
export type IdentifiedUse = Use & { digest: string; day: string; isDated: boolean };

const listedDigest = sql.raw('value ->> 0');
const listedDay = sql.raw('value ->> 1');
const listedQuantity = sql.raw('value ->> 2');
const listedIsDated = sql.raw('value ->> 3');
const listedLabel = sql.raw('value ->> 4');

/** Tests whether a limit can refuse uses with ids. Those of an operator's single use, even one with a time, it can. */
const canRefuse = (
  { daily_limit, monthly_limit, allowed_overage, has_other_limits }: Permission,
  { caller, rule }: CallShape,
) =>
  caller === 'operator' && rule.passesLimits
    ? sql`false`
    : sql`(${has_other_limits} or (${allowed_overage} is not null and coalesce(${daily_limit}, ${monthly_limit}) is not null))`;

/**
 * A subquery that returns rows of PeriodBeyond: the days and months in which a list's new uses would exceed a limit plus its overage. The
 * enclosing query's `from` must include the permission. Evaluate the subquery only if `canRefuse`.
 */
function periodsBeyond(permission: Permission, uses: Placeholder, shape: CallShape) {
  const { daily_limit, monthly_limit, billing_day, has_billing_changes, allowed_overage } = permission;
  const { has_other_limits, extras_until } = permission;
  const bound = {
    id: $call.business_id,
    billing_day: sql`bound.billing_day`,
    has_billing_changes: sql`bound.has_changes`,
  };
  const month = billingMonth(bound, sql`days.day`);
  // The limits of other days than today are read only for a business that has them.
  const limitOfRow = (limit: Limit) => limitOn(limit, businesses, sql`judged_on`);
  const limitThen = (today: SQL, then: SQL) => sql`case when not has_others or judged_on = ${$call.today} then ${today}
    else (select ${then} from ${businesses} where ${eq(businesses.id, $call.business_id)}) end`;
  const overageThen = allowedOverage(shape, limitOfRow);
  const ofPeriod = sql`${dailyUsage.business_id} = ${$call.business_id} and ${dailyUsage.day} between starts_on and ends_on`;
  // Each subquery is materialized, so SQLite computes it only once.
  return sql`(with
      bound as materialized (select ${daily_limit} as daily, ${monthly_limit} as monthly, ${billing_day} as billing_day,
        ${has_billing_changes} as has_changes, ${allowed_overage} as overage, ${has_other_limits} as has_others, ${extras_until} as extras_until),
      days as materialized (select ${listedDay} as day, sum(${listedQuantity}) as added, max(${listedIsDated}) as dated from bound cross join json_each(${uses})
        where ${isNewFor($call.business_id, listedDigest)} group by 1),
      spans as materialized (
        select 'month' as period, ${month.starts_on} as starts_on, ${month.ends_on} as ends_on, sum(added) as adds, max(dated) as has_dated
          from bound cross join days where monthly is not null or has_others group by 2
        union all select 'day', day, day, added, dated from bound cross join days where daily is not null or has_others),
      judged as materialized (select *, ${judgedOn(sql`starts_on`, sql`ends_on`, $call.today)} as judged_on from spans),
      periods as materialized (select judged.*, iif(period = 'day', ${limitThen(sql`daily`, limitOfRow('daily_limit'))},
        ${limitThen(sql`monthly`, limitOfRow('monthly_limit'))} + ${extraIn({ id: $call.business_id, extras_until: sql`bound.extras_until` }, sql`judged.starts_on`)}) as "limit",
        ${limitThen(sql`bound.overage`, overageThen)} as overage from bound cross join judged)
    select period, starts_on, ends_on, "limit", overage, adds, has_dated, (select sum(added) from days) as total, "limit" + overage
      - (select coalesce(sum(${dailyUsage.count}), 0) from ${dailyUsage} where ${ofPeriod}) as "left"
    from periods where adds > "left")`;
}

/**
 * Tests whether a list's new uses would raise the count of a day above MAX_COUNT. `days` are the list's days, each with the sum of its uses, so
 * that new uses are only summed where that could be too much.
 */
function isTooHigh({ uses, days }: Placeholders<'uses' | 'days'>) {
  const ofDay = and(eq(dailyUsage.business_id, $call.business_id), sql`${dailyUsage.day} = total.value ->> 0`);
  const added = sql`(select sum(${listedQuantity}) from json_each(${uses})
    where ${listedDay} = ${dailyUsage.day} and ${isNewFor($call.business_id, listedDigest)})`;
  return sql`exists (select 1 from json_each(${days}) as total cross join ${dailyUsage}
    where ${ofDay} and ${dailyUsage.count} > ${MAX_COUNT} - (total.value ->> 1) and ${dailyUsage.count} > ${MAX_COUNT} - ${added})`;
}

type List = Placeholders<'uses' | 'days'>;
/**
 * Tests whether a list's use may count. In the enclosing query's `from`, `cross join` makes SQLite read the permission first, so a refused
 * call does not read the list.
 */
const mayCountListed = (permission: Permission, $: List, shape: CallShape) =>
  sql`${isPermitted(permission)} and ${isBeforeDeadline} and ${isNewFor(permittedId(permission), listedDigest)}
    and not (${canRefuse(permission, shape)} and exists (select 1 from ${periodsBeyond(permission, $.uses, shape)})) and not ${isTooHigh($)}`;

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

/** If the previous steps did not count because of a limit or of MAX_COUNT, reads the exceeded periods, and whether a count is too high. */
const selectBeyond = statement(['uses', 'days'], (permission, $, shape) => {
  const rows = sql`select json_group_array(json_object('period', period, 'starts_on', starts_on, 'ends_on', ends_on,
    'limit', "limit", 'overage', overage, 'adds', adds, 'has_dated', has_dated, 'total', total, 'left', "left")) from ${periodsBeyond(permission, $.uses, shape)}`;
  // If the list was counted, SQLite does not evaluate the permission again.
  const exceeded = sql`(select case when ${isPermitted(permission)} and ${canRefuse(permission, shape)} then (${rows}) else '[]' end as beyond,
      ${isPermitted(permission)} and ${isTooHigh($)} as is_too_high
    from (select 1 where not ${previousStepWrote}) cross join ${permission} limit 1)`; // without `limit`, SQLite computes `beyond` twice
  return builder
    .select({
      beyond: sql<Json<PeriodBeyond[]>>`beyond`.as('beyond'),
      is_too_high: sql<0 | 1>`is_too_high`.as('is_too_high'),
    })
    .from(sql`${exceeded} where beyond <> '[]' or is_too_high`);
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
