// Stores and lists alerts. An alert records that a business reached a threshold of a limit (docs/api.md, "Alerts"). A request stores its
// alerts after the response, without reading the counts again. The Worker can stop before that, so a sweep uses the stored counts to find
// alerts that are missing.
import { and, desc, eq, isNotNull, isNull, lt, not, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { MAX_THRESHOLDS } from '../core/fields.ts';
import { DEFAULT_ALERT_AT, type ReachedThreshold } from '../core/limits.ts';
import { addDays, dayOf, formatTimestamp, HOUR_MS } from '../core/time.ts';
import { FIRST_VERIFICATION_USER, VERIFICATION_USERS } from '../core/verification.ts';
import { billingMonth } from './billing.ts';
import { jsonList, jsonObject, selectOne } from './json.ts';
import { NEW_ID, type NewRow, rowIn, rowValues } from './new-row.ts';
import { isPermitted, permittedId } from './permission.ts';
import { alerts, businesses, type Database, dailyUsage, messages } from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { builder, type Placeholders } from './text.ts';
import { boundedSumOfCounts } from './usage.ts';

const KEEP_ALERTS_DAYS = 90;
/** The number of slices into which the businesses with a limit are divided. A sweep runs every minute and checks at least one slice. */
const SLICES = 60;
/** The number of slices per sweep while slices are small. Each business is then checked every 15 minutes instead of every hour. */
const SLICES_AT_ONCE = 4;
/**
 * Sweeps check only businesses with uses counted within this period. It is twice the interval between the checks of a business, in case one
 * check is skipped.
 */
const RECENT_MS = 2 * HOUR_MS;
/** A slice with fewer businesses than this is small. */
const SMALL_SLICE = 100;

/** The first day whose alerts and messages are retained. */
export const alertsRetainedFrom = (now: Date): string => addDays(dayOf(now), -KEEP_ALERTS_DAYS);

const isVerification = sql`${businesses.user_id} between ${sql.raw(`${FIRST_VERIFICATION_USER}`)}
  and ${sql.raw(`${FIRST_VERIFICATION_USER + VERIFICATION_USERS - 1}`)}`;

type Reached = Pick<NewRow<typeof alerts>, 'business_id' | 'period' | 'starts_on' | 'limit' | 'threshold'>;
/** Tests whether an alert is already stored for this limit value with this threshold or a higher one. */
const isWritten = ({ business_id, period, starts_on, limit, threshold }: Reached) => sql`exists (select 1 from ${alerts}
  where ${alerts.business_id} = ${business_id} and ${alerts.period} = ${period} and ${alerts.starts_on} = ${starts_on}
    and ${alerts.limit} = ${limit} and ${alerts.threshold} >= ${threshold})`;

/** Stores an alert for each threshold that `thresholdsReachedBy` returned, unless that threshold or a higher one already has an alert. */
export async function storeReachedAlerts(
  d1: D1Database,
  business_id: number,
  reached: ReachedThreshold[],
  now: Date,
): Promise<void> {
  const row = { ...rowIn(alerts, sql`value`), id: NEW_ID, business_id: businesses.id, at: formatTimestamp(now) };
  const isOwn = and(eq(businesses.id, business_id), not(isVerification));
  // Selects from businesses, so no alert is stored for a deleted business.
  const rows = sql`select ${rowValues(alerts, row)} from ${businesses} cross join json_each(${JSON.stringify(reached)})
    where ${isOwn} and not ${isWritten(row)}`;
  await drizzle(d1).insert(alerts).select(rows);
}

/**
 * Must match the condition of the index businesses_limited exactly, because SQLite uses a partial index only if the query contains the
 * index's condition.
 */
const isLimited = sql`(${businesses.daily_limit} is not null or ${businesses.monthly_limit} is not null)`;
const slice = sql`${businesses.id} % ${sql.raw(`${SLICES}`)}`;

/** The current and previous day and month. */
const PERIODS = sql`(select 'day' as period, 0 as ago union all select 'day', 1
  union all select 'month', 0 union all select 'month', 1) as periods`;

/**
 * The highest percentage in alert_at that `used` reaches, as in thresholdOf (core/limits.ts). The products never reach 2^63. Reads the
 * ascending list by index, starting with the last entry, because json_each would read a row for each percentage.
 */
const highestReached = sql.raw(
  `case ${Array.from({ length: MAX_THRESHOLDS }, (_, index) => `alert_at ->> ${MAX_THRESHOLDS - 1 - index}`)
    .map((percent) => `when used * 100 >= "limit" * (${percent}) then ${percent}`)
    .join(' ')} end`,
);

/**
 * Stores the missing alerts of the businesses that match `which`. Checks each limit in the current and the previous period, and stores an
 * alert for the highest threshold that the stored counts reach, unless that threshold or a higher one already has an alert. Skips the
 * previous period if a limit or the thresholds were set after the period ended. Unless `inFull` is true, also skips a period that ended
 * before yesterday.
 */
async function storeMissing(db: Database, which: SQL, now: Date, inFull = sql`1`): Promise<void> {
  const today = dayOf(now);
  const { id, daily_limit, monthly_limit, billing_day, has_billing_changes, limits_at, alert_at } = businesses;
  const month = billingMonth(businesses, sql`${today}`);
  // Materialized, so SQLite computes each business's month only once.
  const swept = sql`select ${id} as id, ${daily_limit} as daily_limit, ${monthly_limit} as monthly_limit, ${billing_day} as billing_day,
      ${has_billing_changes} as has_billing_changes,
      ${limits_at} as limits_at, ${alert_at} as alert_at, ${inFull} as in_full, ${month.starts_on} as starts_on, ${month.ends_on} as ends_on
    from ${businesses} where ${isLimited} and ${which} and not ${isVerification}`;
  const dayBefore = sql`date(swept.starts_on, '-1 day')`;
  const monthBefore = billingMonth(
    { id: sql`swept.id`, billing_day: sql`swept.billing_day`, has_billing_changes: sql`swept.has_billing_changes` },
    dayBefore,
  );
  const day = sql`date(${today}, -ago || ' days')`;
  const ofPeriod = (day: SQL, month: SQL, before: SQL) =>
    sql`case when period = 'day' then ${day} when ago = 0 then ${month} else ${before} end`;
  const measured = sql`select id as business_id, period, ago, limits_at, in_full,
      case period when 'day' then daily_limit else monthly_limit end as "limit",
      ${ofPeriod(day, sql`swept.starts_on`, monthBefore.starts_on)} as starts_on,
      ${ofPeriod(day, sql`swept.ends_on`, dayBefore)} as ends_on,
      coalesce(alert_at, ${JSON.stringify(DEFAULT_ALERT_AT)}) as alert_at
    from swept cross join ${PERIODS}`;
  const inPeriod = sql`${dailyUsage.business_id} = measured.business_id and ${dailyUsage.day} between starts_on and ends_on`;
  const wasMeasured = sql`"limit" > 0 and (ago = 0 or limits_at < date(ends_on, '+1 day')
    and (in_full or ends_on = date(${today}, '-1 day')))`;
  // Materialized, so SQLite computes each sum only once.
  const used = sql`select business_id, period, starts_on, ends_on, "limit", alert_at,
      (select ${boundedSumOfCounts} from ${dailyUsage} where ${inPeriod}) as used
    from measured where ${wasMeasured}`;
  const reached = sql`select *, ${highestReached} as threshold from used`;
  const isMissing = sql`threshold is not null and not ${isWritten({
    business_id: sql`reached.business_id`,
    period: sql`reached.period`,
    starts_on: sql`reached.starts_on`,
    limit: sql`reached."limit"`,
    threshold: sql`reached.threshold`,
  })}`;
  const row = rowValues(alerts, {
    id: NEW_ID,
    business_id: sql`business_id`,
    period: sql`period`,
    starts_on: sql`starts_on`,
    ends_on: sql`ends_on`,
    limit: sql`"limit"`,
    threshold: sql`threshold`,
    used: sql`used`,
    at: formatTimestamp(now),
  });
  await db.insert(alerts).select(
    sql`with swept as materialized (${swept}), measured as (${measured}), used as materialized (${used}), reached as (${reached})
      select ${row} from reached where ${isMissing}`,
  );
}

/** Stores one business's missing alerts after a batch that counted a list, because such a batch does not read the limit usage. */
export const storeMissingAlerts = (d1: D1Database, business_id: number, now: Date): Promise<void> =>
  storeMissing(drizzle(d1), eq(businesses.id, business_id), now);

/**
 * Stores the missing alerts of this minute's slice of the businesses with a limit, or of four slices while slices are small. Once a day,
 * checks each business in full. Otherwise, checks only businesses with recent uses dated today or yesterday, because late uses are rare.
 */
export function sweep(db: Database, now: Date): Promise<void> {
  const minute = now.getUTCMinutes();
  const step = SLICES / SLICES_AT_ONCE;
  const slices = Array.from({ length: SLICES_AT_ONCE }, (_, index) => (minute + index * step) % SLICES);
  const inSlice = sql`select 1 from ${businesses} where ${isLimited} and ${slice} = ${minute} limit ${SMALL_SLICE}`;
  const isSmall = sql`(select count(*) from (${inSlice})) < ${SMALL_SLICE}`;
  const due = sql`select value from json_each(${JSON.stringify(slices)}) where key = 0 or ${isSmall}`;
  const inFull = sql`(${businesses.id} / ${SLICES} % 24 = ${now.getUTCHours()})`;
  const since = formatTimestamp(new Date(now.getTime() - RECENT_MS));
  const today = dayOf(now);
  // `counted_at` is null if the count was imported. Such uses are treated as recent.
  const wasUsed = sql`exists (select 1 from ${dailyUsage} where ${dailyUsage.business_id} = ${businesses.id}
    and ${dailyUsage.day} in (${today}, ${addDays(today, -1)}) and coalesce(${dailyUsage.counted_at}, ${since}) >= ${since})`;
  return storeMissing(db, sql`${slice} in (${due}) and (${inFull} or ${wasUsed})`, now, inFull);
}

/** Selects a value of the message that contains the alert. Null if no message contains it yet. */
const ofMessage = <T>(id: SQL, value: SQL<T>) =>
  sql<T | null>`(select ${value} from ${messages} where ${messages.last_id} >= ${id} order by ${messages.last_id} limit 1)`;

/** The time at which the alert was sent. Null if the alert is open or was given up. */
const sentAt = (id: SQL) => ofMessage(id, sql<string | null>`${messages.sent_at}`);

/** The `state` of an alert: open until its message is sent or given up. */
const outcomeOf = (id: SQL) => {
  const ended = sql`case when ${isNotNull(messages.sent_at)} then 'sent' when ${isNull(messages.body)} then 'given_up' end`;
  return sql<'open' | 'sent' | 'given_up'>`coalesce(${ofMessage(id, ended)}, 'open')`;
};

/** Selects at most `limit` alerts with ids below `before`, newest first. */
const pageOf = (condition: SQL, $: Placeholders<'limit' | 'before'>) =>
  builder
    .select()
    .from(alerts)
    .where(and(condition, lt(alerts.id, $.before)))
    .orderBy(desc(alerts.id))
    .limit($.limit)
    .as('page');
function fieldsOf({ id, period, starts_on, ends_on, limit, threshold, used, at }: ReturnType<typeof pageOf>) {
  return { id, period, starts_on, ends_on, limit, threshold, used, at, sent_at: sentAt(sql`${id}`) };
}

/** Reads the verdict and a page of the business's alerts. */
export const alertsBefore = statement(['limit', 'before'], (permission, $) => {
  const page = pageOf(eq(alerts.business_id, permittedId(permission)), $);
  const alert = jsonObject(fieldsOf(page));
  return withVerdict(permission, { alerts: selectOne(jsonList(alert), sql`from ${page}`).as('alerts') });
});
/** Reads the verdict and a page of all businesses' alerts. The policy must permit only the operator to read it. */
export const allAlertsBefore = statement(['limit', 'before'], (permission, $) => {
  const page = pageOf(isPermitted(permission), $);
  const { id, business_id } = page;
  const alert = jsonObject({ ...fieldsOf(page), business_id, state: outcomeOf(sql`${id}`) });
  return withVerdict(permission, { alerts: selectOne(jsonList(alert), sql`from ${page}`).as('alerts') });
});
