// Stores and lists alerts. An alert records that a business reached a threshold of a limit (docs/api.md, "Alerts"). The transaction that
// reaches the threshold stores the alert, so no alert can be lost. The purge looks for missing alerts only to report them.
import { and, desc, getTableColumns, gte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { DEFAULT_ALERT_AT, MAX_THRESHOLDS } from '../core/limits.ts';
import { addDays, dayOf, formatTimestamp, MINUTE_MS } from '../core/time.ts';
import { $call } from '../db/call.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { isPermitted, type Permission, permittedId } from '../db/permission.ts';
import { extraIn, hasOtherLimits, judgedOn, type Limit, limitOn, planIn } from '../db/plan.ts';
import { alerts, businesses, type Database, dailyUsage } from '../db/schema.ts';
import { operatorStatement, statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { billingMonth, MAX_MONTH_DAYS } from '../limits/billing.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';
import { KEEP_ALERTS_DAYS } from './rules.ts';

/**
 * The periods in which one request can reach a threshold: yesterday, today and tomorrow, and the months that contain these days. There are
 * at most two of those, of which at most one begins today or later.
 */
const MAX_PERIODS = 5;
/** A number from 0 to 5, which differs between these periods. A window function that numbers the rows would read one row more. */
const indexOfPeriod = (today: SQLWrapper | Placeholder) =>
  sql`3 * (period = 'month') + (starts_on >= ${today}) + (starts_on > ${today})`;
/** The number of businesses that one check compares with their alerts. There are 72 checks a day. */
const SLICE = 20;
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

/** The first day whose alerts are retained. */
export const alertsRetainedFrom = (now: Date): string => addDays(dayOf(now), -KEEP_ALERTS_DAYS);

/**
 * The highest percentage in alert_at that `used` reaches. The products never reach 2^63. Reads the ascending list by index, starting with
 * the last entry, because json_each would read a row for each percentage.
 */
const highestReached = sql.raw(
  `case ${Array.from({ length: MAX_THRESHOLDS }, (_, index) => `alert_at ->> ${MAX_THRESHOLDS - 1 - index}`)
    .map((percent) => `when used * 100 >= maximum * (${percent}) then ${percent}`)
    .join(' ')} end`,
);

/** A subquery of days, and how to select their periods: several days have some in common, and `distinct` makes SQLite create a table. */
type Days = { days: SQL; select: SQL };
const oneDay = (day: SQLWrapper | Placeholder): Days => ({ days: sql`(select ${day} as day)`, select: sql`select` });
export const ofToday = oneDay($call.today);
/** Those days in a JSON list that the current billing months can contain. `day` is the day of an entry. */
export const recentDays = (list: Placeholder, day: SQL): Days => ({
  days: sql`(select ${day} as day from json_each(${list}) where ${day} > date(${$call.today}, ${sql.raw(`'-${MAX_MONTH_DAYS + 1} days'`)}))`,
  select: sql`select distinct`,
});

/**
 * Selects at most `most` thresholds that the stored counts reach and that have no alert: for each limit of the businesses that match
 * `which`, in the periods that contain one of `days`. Skips periods that ended before yesterday. A threshold has no alert if neither it nor a
 * higher one has one for the same period and at least this limit: what was announced for a higher limit is known.
 */
function missingAlerts(which: SQL, { select, days }: Days, today: SQLWrapper | Placeholder, most: number) {
  const { daily_limit, monthly_limit, extras_until } = businesses;
  const business = sql`select * from ${businesses}
    where ${which} and (${daily_limit} > 0 or ${monthly_limit} > 0 or ${extras_until} is not null or ${hasOtherLimits(businesses)})`;
  const month = billingMonth(
    { id: sql`business.id`, billing_day: sql`billing_day`, has_billing_changes: sql`has_billing_changes` },
    sql`day`,
  );
  const ofPeriod = (day: SQL, month: SQL) => sql`case period when 'day' then ${day} else ${month} end`;
  // Because of `limit`, SQLite computes each span only once.
  const spans = sql`${select} business.*, period, ${ofPeriod(sql`day`, month.starts_on)} as starts_on,
      ${ofPeriod(sql`day`, month.ends_on)} as ends_on
    from business cross join ${days} as days cross join (select 'day' as period union all select 'month') limit -1`;
  const judged = sql`select *, ${judgedOn(sql`starts_on`, sql`ends_on`, today)} as judged_on from spans`;
  const then = (limit: Limit) => limitOn(limit, planIn('judged'), sql`judged_on`);
  const extra = extraIn({ id: sql`judged.id`, extras_until: sql`extras_until` }, sql`judged.starts_on`);
  const periods = sql`select id, period, starts_on, ends_on, ${ofPeriod(then('daily_limit'), sql`${then('monthly_limit')} + ${extra}`)} as maximum,
      coalesce(${then('alert_at')}, ${sql.raw(`'${JSON.stringify(DEFAULT_ALERT_AT)}'`)}) as alert_at
    from judged`;
  // Because of its limit, SQLite computes each sum only once.
  const used = sql`select *, (select ${boundedSumOfCounts} from ${dailyUsage} where ${dailyUsage.business_id} = periods.id
      and ${dailyUsage.day} between starts_on and ends_on) as used
    from periods where maximum > 0 and ends_on >= date(${today}, '-1 day') limit ${sql.raw(`${most}`)}`;
  const isStored = sql`exists (select 1 from ${alerts} where ${alerts.business_id} = reached.id and ${alerts.period} = reached.period
    and ${alerts.starts_on} = reached.starts_on and ${alerts.limit} >= maximum and ${alerts.threshold} >= reached.threshold)`;
  return {
    with: sql`with business as (${business}), spans as (${spans}), judged as (${judged}), periods as (${periods}), used as (${used}),
      reached as (select *, ${highestReached} as threshold from used)`,
    from: sql`from reached where threshold is not null and not ${isStored}`,
  };
}

/**
 * Stores an alert for each limit's highest threshold that the counts reach in the periods of `days`. Must be the last statement of every
 * batch that can raise a count, or change a limit or the thresholds. `business_id` must be null unless the batch did.
 */
export function storeReached(business_id: SQL, days: Days) {
  const missing = missingAlerts(sql`${businesses.id} = ${business_id}`, days, $call.today, MAX_PERIODS);
  const row = rowOfAlert(sql`substr(${$call.call_id}, 1, 35) || (${indexOfPeriod($call.today)})`, $call.now);
  return builder.insert(alerts).select(sql`${missing.with} select ${row} ${missing.from}`);
}
const rowOfAlert = (id: SQL, now: Placeholder | SQL) =>
  rowValues(alerts, {
    id,
    business_id: sql`id`,
    period: sql`period`,
    starts_on: sql`starts_on`,
    ends_on: sql`ends_on`,
    limit: sql`maximum`,
    threshold: sql`threshold`,
    used: sql`used`,
    at: now,
    due_at: now,
    attempts: 0,
  });

/**
 * Stores an alert for each limit's highest threshold that today's counts reach, for the businesses that match `which`, at most `most`.
 * `uuid` is random. Its last 12 digits are replaced by the business and the period.
 */
export function storeReachedByDue(db: Database, which: SQL, most: number, now: Date, uuid: string) {
  const today = sql`${dayOf(now)}`;
  const missing = missingAlerts(which, oneDay(today), today, 2 * most);
  const id = sql`substr(${uuid}, 1, 24) || printf('%012x', 6 * id + ${indexOfPeriod(today)})`;
  return db
    .insert(alerts)
    .select(sql`${missing.with} select ${rowOfAlert(id, sql`${formatTimestamp(now)}`)} ${missing.from}`);
}

type Missing = { business_id: number; period: 'day' | 'month'; limit: number; threshold: number; used: number };
/**
 * Returns the thresholds that the stored counts of today and this month reach and that have no alert, for a slice of the businesses, which
 * changes every minute.
 */
export async function missingAlertsOfSlice(db: Database, now: Date): Promise<Missing[]> {
  const { id } = businesses;
  const [first, last] = [sql`(select min(${id}) from ${businesses})`, sql`(select max(${id}) from ${businesses})`];
  // Multiples of the golden ratio spread the slices evenly.
  const share = (Math.floor(now.getTime() / MINUTE_MS) * GOLDEN_RATIO) % 1;
  const slice = sql`select ${id} from ${businesses} where ${id} >= ${first} + (${last} - ${first}) * ${share}
    order by ${id} limit ${SLICE}`;
  const day = sql`${dayOf(now)}`;
  // The run that folds due limits stores their alerts (business/due.ts).
  const isSettled = sql`(${businesses.next_from} is null or ${businesses.next_from} > ${day})`;
  const missing = missingAlerts(sql`${id} in (${slice}) and ${isSettled}`, oneDay(day), day, 2 * SLICE);
  return db.all(
    sql`${missing.with} select id as business_id, period, maximum as "limit", threshold, used ${missing.from}`,
  );
}

/** An alert is open until it is sent or given up. */
type State = 'open' | 'sent' | 'given_up';
const state = sql<State>`case when ${alerts.due_at} is not null then 'open'
  when ${alerts.sent_at} is not null then 'sent' else 'given_up' end`;

/** Orders and bounds a page: newest first, after the alert with the time `at` and the id `id`. */
const PAGE = ['limit', 'since', 'before_at', 'before_id'] as const;

/** Reads the verdict and a page of the business's alerts. */
export const alertsBefore = statement(PAGE, (permission, $) =>
  alertsWhere(permission, $, sql`${alerts.business_id} = ${permittedId(permission)}`),
);
/** Reads the verdict and a page of all businesses' alerts. */
export const allAlertsBefore = operatorStatement(PAGE, (permission, $) =>
  alertsWhere(permission, $, sql`${isPermitted(permission)}`),
);

function alertsWhere(permission: Permission, $: Placeholders<(typeof PAGE)[number]>, condition: SQL) {
  const { at, id } = alerts;
  const isNext = sql`(${at}, ${id}) < (${$.before_at}, ${$.before_id})`;
  const page = builder
    .select({ ...getTableColumns(alerts), state: state.as('state') })
    .from(alerts)
    .where(and(condition, isNext, gte(at, $.since)))
    .orderBy(desc(at), desc(id))
    .limit($.limit)
    .as('page');
  const { business_id, period, starts_on, ends_on, limit, threshold, used, sent_at } = page;
  const fields = { business_id, period, starts_on, ends_on, limit, threshold, used, at: page.at, sent_at };
  const alert = jsonObject({ id: page.id, ...fields, state: sql<State>`${page.state}` });
  return withVerdict(permission, { alerts: selectOne(jsonList(alert), sql`from ${page}`) });
}
