// Statements that read usage, count uses and store the uses' ids.
import { and, between, eq, gt, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { newEventIds, ofToday, recentDays, storeReached } from '../alerts/statements.ts';
import { Conflict } from '../core/conflict.ts';
import { namespaceOf } from '../core/credential.ts';
import { MAX_COUNT, type PeriodBeyond } from '../core/limits.ts';
import { billingMonth } from '../db/billing.ts';
import { $call, type CallShape, type CallValue, isBeforeDeadline } from '../db/call.ts';
import { type Json, jsonList, jsonObject, parseJson, selectOne } from '../db/json.ts';
import { dayWithNumber, numberOfDay } from '../db/ledger.ts';
import { isOverLimit, limitUsageOf, sumOfCounts } from '../db/limits.ts';
import { type NewRow, rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted, type Permission, permittedId, verdictOf } from '../db/permission.ts';
import { businesses, dailyUsage, ledger } from '../db/schema.ts';
import { operatorStatement, previousStepWrote, statement, withVerdict } from '../db/statement.ts';
import { type Bindable, type BuiltQuery, builder, type Placeholders } from '../db/text.ts';
import { KEEP_ID_DAYS } from './rules.ts';

/** Reads the verdict, and the counts from `from` to `to` as one object that maps days to counts. */
export const usageInRange = statement(['from', 'to'], (permission, $) => {
  const inRange = and(eq(dailyUsage.business_id, permittedId(permission)), between(dailyUsage.day, $.from, $.to));
  const counts = sql<Json<Record<string, number>>>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count})
    from ${dailyUsage} where ${inRange})`;
  return withVerdict(permission, { counts: counts.as('counts') });
});

/**
 * Reads the verdict and a page of totals: each business's uses from `from` to `to`, for at most `limit` businesses after the id `after`,
 * including those without uses. Covers all owners.
 */
export const totalsAfter = operatorStatement(['limit', 'after', 'from', 'to'], (permission, $) =>
  pageOfTotals(undefined, permission, $),
);
/** Like `totalsAfter`, but for one user's businesses. */
export const totalsOfUserAfter = operatorStatement(['user_id', 'limit', 'after', 'from', 'to'], (permission, $) =>
  pageOfTotals(eq(businesses.user_id, $.user_id), permission, $),
);

function pageOfTotals(
  ownerIs: SQL | undefined,
  permission: Permission,
  $: Placeholders<'limit' | 'after' | 'from' | 'to'>,
) {
  const page = builder
    .select({ id: businesses.id, user_id: businesses.user_id, name: businesses.name })
    .from(businesses)
    .where(and(isPermitted(permission), ownerIs, gt(businesses.id, $.after)))
    .orderBy(businesses.id)
    .limit($.limit)
    .as('page');
  const inRange = sql`${dailyUsage.business_id} = ${page.id} and ${between(dailyUsage.day, $.from, $.to)}`;
  const total = jsonObject({
    business_id: sql<number>`${page.id}`,
    user_id: sql<number>`${page.user_id}`,
    name: sql<string>`${page.name}`,
    count: sql<number>`(select ${sumOfCounts} from ${dailyUsage} where ${inRange})`,
  });
  return withVerdict(permission, { totals: selectOne(jsonList(total), sql`from ${page}`).as('totals') });
}
/** Parses the totals of a page. Throws a Conflict if one is not exact. */
export function exactTotals<Row extends { business_id: number; count: number }>(
  rows: Json<Row[]>,
  { from, to }: { from: string; to: string },
): Row[] {
  const page = parseJson(rows);
  const beyond = page.find(({ count }) => count > MAX_COUNT);
  if (beyond === undefined) return page;
  const has = `business ${beyond.business_id} has more than ${MAX_COUNT} uses`;
  throw new Conflict('from', `must be later: from ${from} to ${to}, ${has}`);
}

/**
 * Adds the count of each row of `source`, a `from` clause with conditions, to the stored counts. Returns the new counts. The batch fails if
 * a count would exceed MAX_COUNT (`isBeyondCount`).
 */
const addToCounts = (row: NewRow<typeof dailyUsage>, source: SQL) =>
  builder
    .insert(dailyUsage)
    .select(sql`select ${rowValues(dailyUsage, row)} ${source}`)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      // The INTEGER column rejects the text 'beyond', so the whole batch fails. Checking the counts first would read each of them twice.
      set: {
        count: sql`case when ${dailyUsage.count} > ${MAX_COUNT} - excluded.count then 'beyond' else ${dailyUsage.count} + excluded.count end`,
      },
    })
    .returning({ date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count });

/** Tests whether a batch failed because a day's count would have exceeded MAX_COUNT. Such a batch stored nothing. */
export const isBeyondCount = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('cannot store TEXT value in INTEGER column daily_usage.count');

/** Tests whether the ledger lacks the id. */
const isNewFor = (business_id: SQLWrapper, digest: SQL) => sql`not exists (select 1 from ${ledger}
  where ${eq(ledger.business_id, business_id)} and ${ledger.digest} = unhex(${digest}))`;
/** Like `isNewFor`, for the permitted business. Reads nothing if the call is refused. */
const isNew = (permission: Permission, digest: SQL) => isNewFor(permittedId(permission), digest);

export const readLimitUsage = statement([], (permission, _, shape) =>
  withVerdict(permission, limitUsageOf(permission, shape)),
)({});

/** Selects the business if the statement directly before this one counted uses or stored their ids. Otherwise null. */
const countedId = sql`case when ${previousStepWrote} then ${$call.business_id} end`;
const reachedToday = statement(['event_ids'], (_, $) => storeReached(countedId, ofToday, $.event_ids));
const reachedByList = statement(['days', 'event_ids'], (_, $) =>
  storeReached(countedId, recentDays($.days, sql`value`), $.event_ids),
);

const countToday = statement(['quantity'], (permission, $, shape) =>
  addToCounts(
    { business_id: permittedId(permission), day: $.today, count: $.quantity },
    sql`from ${permission}
      where ${isPermitted(permission)} and ${isBeforeDeadline} and not (${isOverLimit(permission, $.quantity, shape)})`,
  ),
);
/** Counts a use of this quantity today, unless it would exceed a limit. Stores the thresholds that it reaches. */
export const countUse = (quantity: number) => ({
  counted: countToday({ quantity }),
  reached: reachedToday({ event_ids: newEventIds() }),
});

const ledgerRow = (
  use: Record<'business_id' | 'digest' | 'day' | 'quantity', SQLWrapper>,
  today: SQLWrapper,
  { caller }: CallShape,
) =>
  rowValues(ledger, {
    ...use,
    digest: sql`unhex(${use.digest})`,
    day: numberOfDay(use.day),
    forget_on: sql`${numberOfDay(today)} + ${sql.raw(`${KEEP_ID_DAYS[namespaceOf(caller)] + 1}`)}`,
  });

type Write<N extends string, Q> = (permission: Permission, $: Placeholders<N | CallValue>, shape: CallShape) => Q;
/** Defines two adjacent steps: the first counts uses, and the second stores their ids if the first counted anything. */
function countingOnce<const N extends string, C extends BuiltQuery, R extends BuiltQuery>(
  names: readonly N[],
  count: Write<N, C>,
  remember: Write<N, R>,
) {
  const [counted, remembered] = [statement(names, count), statement(names, remember)];
  return (values: Record<N, Bindable>) => ({ counted: counted(values), remembered: remembered(values) });
}

const countNewUse = countingOnce(
  ['digest', 'quantity'],
  (permission, $, shape) =>
    addToCounts(
      { business_id: permittedId(permission), day: $.today, count: $.quantity },
      sql`from ${permission}
        where ${and(isPermitted(permission), isBeforeDeadline, isNew(permission, sql`${$.digest}`))} and not (${isOverLimit(permission, $.quantity, shape)})`,
    ),
  // If the use was not counted, SQLite does not evaluate the permission again.
  (permission, $, shape) =>
    builder.insert(ledger).select(
      sql`select ${ledgerRow({ business_id: permittedId(permission), digest: $.digest, day: $.today, quantity: $.quantity }, $.today, shape)}
        from (select 1 where ${previousStepWrote}) cross join ${permission} where ${isPermitted(permission)}`,
    ),
);
/**
 * Counts a use of this quantity today and stores its digest and the thresholds that it reaches, unless the ledger contains the digest or
 * the use would exceed a limit. Returns the new count if the use was counted.
 */
export const countOnce = (use: { digest: string; quantity: number }) => ({
  ...countNewUse(use),
  reached: reachedToday({ event_ids: newEventIds() }),
});
/**
 * Reads the verdict, the limit usage, the day on which the use with this digest was counted, and that day's current count. `date` is null
 * if the use is new.
 */
export const readKnownUse = statement(['digest'], (permission, $, shape) => {
  const known = and(eq(ledger.business_id, permittedId(permission)), eq(ledger.digest, sql`unhex(${$.digest})`));
  return builder
    .select({
      ...verdictOf(permission),
      ...limitUsageOf(permission, shape),
      date: sql<string | null>`${dayWithNumber(ledger.day)}`.as('date'),
      count: sql<number>`coalesce(${dailyUsage.count}, 0)`.as('count'),
    })
    .from(permission)
    .leftJoin(ledger, known)
    .leftJoin(
      dailyUsage,
      and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, dayWithNumber(ledger.day))),
    );
});

/** A use with an id: the hex digest of the id, the day that the use counts towards, its quantity, and whether the caller sent a timestamp. */
export type IdentifiedUse = { digest: string; day: string; quantity: number; isDated: boolean };

const listedDigest = sql.raw('value ->> 0');
const listedDay = sql.raw('value ->> 1');
const listedQuantity = sql.raw('value ->> 2');
const listedIsDated = sql.raw('value ->> 3');

/** Tests whether a limit can refuse a list. Limits never refuse the operator, who reports uses that have already happened. */
const canRefuse = ({ daily_limit, monthly_limit, overage }: Permission, { caller }: CallShape) =>
  caller === 'operator'
    ? sql`false`
    : sql`(${overage} is not null and coalesce(${daily_limit}, ${monthly_limit}) is not null)`;

/**
 * A subquery that returns rows of PeriodBeyond: the days and months in which a list's new uses would exceed a limit plus its overage. The
 * enclosing query's `from` must include the permission. Evaluate the subquery only if `canRefuse`.
 */
function periodsBeyond(permission: Permission, uses: Placeholder) {
  const { daily_limit, monthly_limit, billing_day, has_billing_changes, overage } = permission;
  const bound = {
    id: $call.business_id,
    billing_day: sql`bound.billing_day`,
    has_billing_changes: sql`bound.has_changes`,
  };
  const month = billingMonth(bound, sql`days.day`);
  const ofPeriod = sql`${dailyUsage.business_id} = ${$call.business_id} and ${dailyUsage.day} between starts_on and ends_on`;
  // Each subquery is materialized, so SQLite computes it only once.
  return sql`(with
      bound as materialized (select ${daily_limit} as daily, ${monthly_limit} as monthly, ${billing_day} as billing_day,
        ${has_billing_changes} as has_changes, ${overage} as overage),
      days as materialized (select ${listedDay} as day, sum(${listedQuantity}) as added, max(${listedIsDated}) as dated from bound cross join json_each(${uses})
        where ${isNewFor($call.business_id, listedDigest)} group by 1),
      periods as materialized (
        select 'month' as period, ${month.starts_on} as starts_on, ${month.ends_on} as ends_on, monthly as "limit", overage, sum(added) as adds,
          max(dated) as has_dated from bound cross join days where monthly is not null group by 2
        union all select 'day', day, day, daily, overage, added, dated from bound cross join days where daily is not null)
    select period, starts_on, ends_on, "limit", overage, adds, has_dated, "limit" + overage
      - (select coalesce(sum(${dailyUsage.count}), 0) from ${dailyUsage} where ${ofPeriod}) as "left"
    from periods where adds > "left")`;
}

const countNewUses = countingOnce(
  ['uses'],
  // `cross join` makes SQLite read the permission first, so a refused call does not read the list.
  (permission, $, shape) =>
    addToCounts(
      { business_id: permittedId(permission), day: listedDay, count: sql`sum(${listedQuantity})` },
      sql`from ${permission} cross join json_each(${$.uses})
        where ${isPermitted(permission)} and ${isBeforeDeadline} and ${isNew(permission, listedDigest)}
          and not (${canRefuse(permission, shape)} and exists (select 1 from ${periodsBeyond(permission, $.uses)})) group by ${listedDay}`,
    ),
  (permission, $, shape) => {
    // json_each returns no rows for null, so the list is read only if uses were counted.
    const counted = sql`case when ${previousStepWrote} then ${ifPermitted(permission, $.uses)} end`;
    return builder
      .insert(ledger)
      .select(
        sql`select ${ledgerRow({ business_id: $.business_id, digest: listedDigest, day: listedDay, quantity: listedQuantity }, $.today, shape)}
          from json_each(${counted}) where true`, // without `where`, SQLite would parse `on conflict` as a join
      )
      .onConflictDoNothing({ target: [ledger.business_id, ledger.digest] })
      .returning({ day: ledger.day });
  },
);

/** If a limit prevented the previous steps from counting, reads the exceeded periods. */
const selectBeyond = statement(['uses'], (permission, $, shape) => {
  const rows = sql`select json_group_array(json_object('period', period, 'starts_on', starts_on, 'ends_on', ends_on,
    'limit', "limit", 'overage', overage, 'adds', adds, 'has_dated', has_dated, 'left', "left")) from ${periodsBeyond(permission, $.uses)}`;
  // If the list was counted, SQLite does not evaluate the permission again.
  const exceeded = sql`(select case when ${isPermitted(permission)} and ${canRefuse(permission, shape)} then (${rows}) end as beyond
    from (select 1 where not ${previousStepWrote}) cross join ${permission} limit 1)`; // without `limit`, SQLite computes `beyond` twice
  return builder
    .select({ beyond: sql<Json<PeriodBeyond[]>>`beyond`.as('beyond') })
    .from(sql`${exceeded} where beyond <> '[]'`);
});

/**
 * Counts the uses that are not in the ledger, stores their ids and the thresholds that they reach, and returns a row for each id. If the
 * list would exceed a limit, counts nothing and returns the reason in `refused`. The list must not contain a digest twice. It is bound as
 * one JSON value, because D1 binds at most 100 values.
 */
export function countManyOnce(list: IdentifiedUse[]) {
  const uses = JSON.stringify(list.map(({ digest, day, quantity, isDated }) => [digest, day, quantity, isDated]));
  const days = JSON.stringify([...new Set(list.map(({ day }) => day))]);
  const reached = reachedByList({ days, event_ids: newEventIds() });
  return { ...countNewUses({ uses }), refused: selectBeyond({ uses }), reached };
}
