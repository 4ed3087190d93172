// Reads the billing months that ended on a given day, for the invoice run (docs/api.md, "The invoice run").
import { and, eq, gt, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { jsonList, jsonObject, selectOne } from '../db/json.ts';
import { isPermitted, type Permission } from '../db/permission.ts';
import { extraIn, limitOn } from '../db/plan.ts';
import { billingChanges, businesses, dailyUsage } from '../db/schema.ts';
import { operatorStatement, withVerdict } from '../db/statement.ts';
import type { Placeholders } from '../db/text.ts';
import { billingMonth } from '../limits/billing.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';

type Ended = Placeholders<'limit' | 'after' | 'ended'>;

/**
 * Reads the verdict and the billing months that contain the day `ended`, with the number of uses in those that end on that day. `page`
 * selects the business ids in order.
 */
function monthsOf(permission: Permission, { ended }: Ended, page: SQL) {
  const { id, user_id, name, created_at } = businesses;
  const { starts_on, ends_on } = billingMonth(businesses, sql`${ended}`);
  // Null if the month ends later, so the lookup reads nothing.
  const endedId = sql`case when ${ends_on} = ${ended} then ${id} end`;
  const inMonth = and(eq(dailyUsage.business_id, endedId), sql`${dailyUsage.day} between ${starts_on} and ${ended}`);
  const month = jsonObject({
    business_id: id,
    user_id,
    name,
    created_at,
    starts_on,
    ends_on,
    count: sql<number>`(select ${boundedSumOfCounts} from ${dailyUsage} where ${inMonth})`,
    monthly_limit: limitOn('monthly_limit', businesses, sql`min(${ended}, ${$call.today})`),
    extra: extraIn(businesses, starts_on),
  });
  const from = sql`from (${page}) as page cross join ${businesses} where ${eq(id, sql`page.id`)}`;
  return withVerdict(permission, { months: selectOne(jsonList(month), from) });
}

/** Tests whether there is no billing change with a `starts_on` after `start`, up to and including `ended`. */
const holdsUntil = (
  ended: SQLWrapper,
  business_id: SQLWrapper,
  start: SQL,
) => sql`not exists (select 1 from ${billingChanges} as later
  where later.business_id = ${business_id} and later.starts_on > ${start} and later.starts_on <= ${ended})`;

/**
 * Reads the verdict and the months that ended on the day `ended`, for at most `limit` businesses after the id `after`. The next month
 * starts on the following day, which is therefore the billing day. One index finds the businesses with that billing day, and another finds
 * the changes to it.
 */
export const monthsEnded = operatorStatement(['limit', 'after', 'ended'], (permission, $) => {
  const next = sql`date(${$.ended}, '+1 day')`;
  const nextDay = sql`cast(strftime('%d', ${next}) as integer)`;
  const byFirstDay = and(eq(businesses.billing_day, nextDay), gt(businesses.id, $.after));
  const { business_id, billing_day, starts_on, changes_on } = billingChanges;
  const byChange = and(eq(billing_day, nextDay), gt(business_id, $.after), lte(changes_on, next));
  return monthsOf(
    permission,
    $,
    sql`select ${businesses.id} as id from ${businesses}
        where ${isPermitted(permission)} and ${byFirstDay} and ${holdsUntil(sql`${$.ended}`, businesses.id, sql`''`)}
      union all select ${business_id} from ${billingChanges}
        where ${isPermitted(permission)} and ${byChange} and ${holdsUntil(sql`${$.ended}`, business_id, sql`${starts_on}`)}
      order by id limit ${$.limit}`,
  );
});
/** Reads the verdict and, for at most `limit` of a user's businesses, the month that contains the day `ended`, even if it ends later. */
export const monthsOfUser = operatorStatement(['user_id', 'limit', 'after', 'ended'], (permission, $) => {
  const { id, user_id } = businesses;
  const isOwn = and(isPermitted(permission), eq(user_id, $.user_id), gt(id, $.after));
  return monthsOf(
    permission,
    $,
    sql`select ${id} as id from ${businesses} where ${isOwn} order by id limit ${$.limit}`,
  );
});
