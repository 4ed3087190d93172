// Alerts: a business has reached a threshold of a limit (docs/api.md, "Alerts"). After a response, its alerts are written as the response
// knows them, without reading a count. A Worker can end before that, so a sweep finds what is missing in what is stored. Only the list
// is in the round trip of a request.
import { and, desc, eq, isNotNull, isNull, lt, not, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { MAX_THRESHOLDS } from '../core/fields.ts';
import { DEFAULT_ALERT_AT, type Passed } from '../core/limits.ts';
import { addDays, dayOf, HOUR_MS, timestampOf } from '../core/time.ts';
import { FIRST_VERIFICATION_USER, VERIFICATION_USERS } from '../core/verification.ts';
import { billingMonth } from './billing.ts';
import { jsonList, jsonObject, selectOne } from './json.ts';
import { NEW_ID, type NewRow, newRow, rowIn } from './new-row.ts';
import { isPermitted, permittedId } from './permission.ts';
import { alerts, businesses, type Database, dailyUsage, messages } from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { builder, type Placeholders } from './text.ts';
import { boundedSumOfCounts } from './usage.ts';

const KEEP_ALERTS_DAYS = 90;
/** The businesses that have a limit are swept in this many slices, one a minute. */
const SLICES = 60;
/** How many slices one sweep takes while they are small. Each business is then swept every 15 minutes, not every hour. */
const SLICES_AT_ONCE = 4;
/** A sweep looks only at businesses with a use in this time. It is twice as long as between two sweeps, in case one is left out. */
const LATELY_MS = 2 * HOUR_MS;
/** A slice with fewer businesses is small. */
const SMALL_SLICE = 100;

/** The first day whose alerts and messages are kept. */
export const alertsKeptFrom = (now: Date): string => addDays(dayOf(now), -KEEP_ALERTS_DAYS);

const isVerification = sql`${businesses.user_id} between ${sql.raw(`${FIRST_VERIFICATION_USER}`)}
  and ${sql.raw(`${FIRST_VERIFICATION_USER + VERIFICATION_USERS - 1}`)}`;

type Reached = Pick<NewRow<typeof alerts>, 'business_id' | 'period' | 'starts_on' | 'limit' | 'threshold'>;
/** Whether this threshold of a limit, or a higher one of the same value of it, is written already. */
const isWritten = ({ business_id, period, starts_on, limit, threshold }: Reached) => sql`exists (select 1 from ${alerts}
  where ${alerts.business_id} = ${business_id} and ${alerts.period} = ${period} and ${alerts.starts_on} = ${starts_on}
    and ${alerts.limit} = ${limit} and ${alerts.threshold} >= ${threshold})`;

/** Writes what uses of a business have passed (`thresholdsPassedBy` in core/limits.ts), unless it is written already. */
export async function writePassed(d1: D1Database, business_id: number, passed: Passed[], now: Date): Promise<void> {
  const row = { ...rowIn(alerts, sql`value`), id: NEW_ID, business_id: businesses.id, at: timestampOf(now) };
  const isOwn = and(eq(businesses.id, business_id), not(isVerification));
  // A business that is gone has no alerts.
  const rows = sql`select ${newRow(alerts, row)} from ${businesses} cross join json_each(${JSON.stringify(passed)})
    where ${isOwn} and not ${isWritten(row)}`;
  await drizzle(d1).insert(alerts).select(rows);
}

/** The condition of the index businesses_limited, word for word: SQLite uses a partial index only if it finds its condition. */
const isLimited = sql`(${businesses.daily_limit} is not null or ${businesses.monthly_limit} is not null)`;
const slice = sql`${businesses.id} % ${sql.raw(`${SLICES}`)}`;

/** The current day and month, and the one before of each. */
const PERIODS = sql`(select 'day' as period, 0 as ago union all select 'day', 1
  union all select 'month', 0 union all select 'month', 1) as periods`;

/**
 * The highest of the percentages in alert_at that `used` uses of a "limit" reach: thresholdOf in core/limits.ts. The greatest product is
 * less than 2^63. Each by its place, the last first: json_each would read a row for each.
 */
const highestReached = sql.raw(
  `case ${Array.from({ length: MAX_THRESHOLDS }, (_, place) => `alert_at ->> ${MAX_THRESHOLDS - 1 - place}`)
    .map((percent) => `when used * 100 >= "limit" * (${percent}) then ${percent}`)
    .join(' ')} end`,
);

/**
 * Writes what is missing of the businesses that `which` finds: of each limit, for the current period and the one before, the highest
 * threshold of its business that the uses counted now reach. The period before counts only if the limit was set by its end, and unless
 * `inFull` is true, only if that was yesterday. A threshold is not written if the same one or a higher one is.
 */
async function writeMissing(db: Database, which: SQL, now: Date, inFull = sql`1`): Promise<void> {
  const today = dayOf(now);
  const { id, daily_limit, monthly_limit, billing_day, has_billing_changes, limits_at, alert_at } = businesses;
  const month = billingMonth(businesses, sql`${today}`);
  // Materialized, or SQLite works the month out again for each period.
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
  // Materialized, or the uses are summed up again wherever the sum is named.
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
  const row = newRow(alerts, {
    id: NEW_ID,
    business_id: sql`business_id`,
    period: sql`period`,
    starts_on: sql`starts_on`,
    ends_on: sql`ends_on`,
    limit: sql`"limit"`,
    threshold: sql`threshold`,
    used: sql`used`,
    at: timestampOf(now),
  });
  await db.insert(alerts).select(
    sql`with swept as materialized (${swept}), measured as (${measured}), used as materialized (${used}), reached as (${reached})
      select ${row} from reached where ${isMissing}`,
  );
}

/** The same for one business: after a list of uses, which does not know what it has passed. */
export const writeMissingOf = (d1: D1Database, business_id: number, now: Date): Promise<void> =>
  writeMissing(drizzle(d1), eq(businesses.id, business_id), now);

/**
 * Sweeps the slice of this minute of the businesses that have a limit, or four slices while they are small. It finds what was passed when
 * the work after a response did not run. In one hour of the day it looks at each business. In the others it looks only at those that were used
 * lately, and of their days at today and yesterday, since late uses are rare. Businesses without a limit cost nothing.
 */
export function sweep(db: Database, now: Date): Promise<void> {
  const minute = now.getUTCMinutes();
  const step = SLICES / SLICES_AT_ONCE;
  const slices = Array.from({ length: SLICES_AT_ONCE }, (_, index) => (minute + index * step) % SLICES);
  const inSlice = sql`select 1 from ${businesses} where ${isLimited} and ${slice} = ${minute} limit ${SMALL_SLICE}`;
  const isSmall = sql`(select count(*) from (${inSlice})) < ${SMALL_SLICE}`;
  const due = sql`select value from json_each(${JSON.stringify(slices)}) where key = 0 or ${isSmall}`;
  const inFull = sql`(${businesses.id} / ${SLICES} % 24 = ${now.getUTCHours()})`;
  const since = timestampOf(new Date(now.getTime() - LATELY_MS));
  const today = dayOf(now);
  // Null: counted by a version without the column.
  const wasUsed = sql`exists (select 1 from ${dailyUsage} where ${dailyUsage.business_id} = ${businesses.id}
    and ${dailyUsage.day} in (${today}, ${addDays(today, -1)}) and coalesce(${dailyUsage.counted_at}, ${since}) >= ${since})`;
  return writeMissing(db, sql`${slice} in (${due}) and (${inFull} or ${wasUsed})`, now, inFull);
}

/** A value of the message that has the alert in it. Null before there is one. */
const ofMessage = <T>(id: SQL, value: SQL<T>) =>
  sql<T | null>`(select ${value} from ${messages} where ${messages.last_id} >= ${id} order by ${messages.last_id} limit 1)`;

/** When the alert was sent. Null before, and if it was given up. */
const sentAt = (id: SQL) => ofMessage(id, sql<string | null>`${messages.sent_at}`);

/** The `state` of an alert: open until its message is sent or given up. */
const outcomeOf = (id: SQL) => {
  const ended = sql`case when ${isNotNull(messages.sent_at)} then 'sent' when ${isNull(messages.body)} then 'given_up' end`;
  return sql<'open' | 'sent' | 'given_up'>`coalesce(${ofMessage(id, ended)}, 'open')`;
};

/** At most `limit` of the alerts before the one with the id `before`, newest first. */
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

/** Reads the verdict and a page of the alerts of the business. */
export const alertsBefore = statement(['limit', 'before'], (permission, $) => {
  const page = pageOf(eq(alerts.business_id, permittedId(permission)), $);
  const alert = jsonObject(fieldsOf(page));
  return withVerdict(permission, { alerts: selectOne(jsonList(alert), sql`from ${page}`).as('alerts') });
});
/** The same of all businesses, so the policy must let only the operator do this. */
export const allAlertsBefore = statement(['limit', 'before'], (permission, $) => {
  const page = pageOf(isPermitted(permission), $);
  const { id, business_id } = page;
  const alert = jsonObject({ ...fieldsOf(page), business_id, state: outcomeOf(sql`${id}`) });
  return withVerdict(permission, { alerts: selectOne(jsonList(alert), sql`from ${page}`).as('alerts') });
});
