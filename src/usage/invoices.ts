// Reads the billing months that ended on a given day, for the invoice run (docs/api.md, "The invoice run").
import { and, eq, gt, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { CallShape } from '../db/call.ts';
import { type ContentOf, jsonList, jsonObject, selectOne } from '../db/json.ts';
import { denial, isListed, ownerIs } from '../db/listed.ts';
import type { Permission } from '../db/permission.ts';
import { extraIn, limitOn } from '../db/plan.ts';
import { billingChanges, businesses, dailyUsage } from '../db/schema.ts';
import { operatorStatement, statement, withVerdict } from '../db/statement.ts';
import type { Placeholders } from '../db/text.ts';
import { billingMonth } from '../limits/billing.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';

type Ended = Placeholders<'limit' | 'after' | 'ended'>;

/**
 * Reads the verdict and, for each business of `page`, its `id` and the billing month that ended on the day `ended`, with its number of uses.
 * `month` is null if the month that contains this day ends later, or if the business is `denied`. `page` selects `id` and `denied`, in order.
 */
function monthsOf(permission: Permission, { ended }: Ended, page: SQL) {
  const { id, user_id, name, created_at } = businesses;
  const { starts_on, ends_on } = billingMonth(businesses, sql`${ended}`);
  const inMonth = and(eq(dailyUsage.business_id, id), sql`${dailyUsage.day} between ${starts_on} and ${ended}`);
  const month = jsonObject({
    business_id: id,
    user_id,
    name,
    created_at,
    starts_on,
    ends_on: sql<string>`${ended}`,
    count: sql<number>`(select ${boundedSumOfCounts} from ${dailyUsage} where ${inMonth})`,
    monthly_limit: limitOn('monthly_limit', businesses, sql`${ended}`),
    extra: extraIn(businesses, starts_on),
  });
  const shown = sql<ContentOf<
    typeof month
  > | null>`case when page.denied is null and ${ends_on} = ${ended} then ${month} end`;
  const from = sql`from (${page}) as page cross join ${businesses} where ${eq(id, sql`page.id`)}`;
  return withVerdict(permission, { months: selectOne(jsonList(jsonObject({ id, month: shown })), from) });
}

/** Tests whether there is no billing change with a `starts_on` after `start`, up to and including `ended`. */
const holdsUntil = (
  ended: SQLWrapper,
  business_id: SQLWrapper,
  start: SQL,
) => sql`not exists (select 1 from ${billingChanges} as later
  where later.business_id = ${business_id} and later.starts_on > ${start} and later.starts_on <= ${ended})`;

/**
 * Selects the businesses of all owners with a month that ended on the day `ended`. The next month starts on the following day, which is
 * therefore the billing day. One index finds the businesses with that billing day, and another finds the changes to it.
 */
function billedNextDay($: Ended): SQL {
  const next = sql`date(${$.ended}, '+1 day')`;
  const nextDay = sql`cast(strftime('%d', ${next}) as integer)`;
  const byFirstDay = and(eq(businesses.billing_day, nextDay), gt(businesses.id, $.after));
  const { business_id, billing_day, starts_on, changes_on } = billingChanges;
  const byChange = and(eq(billing_day, nextDay), gt(business_id, $.after), lte(changes_on, next));
  return sql`select ${businesses.id} as id, null as denied from ${businesses}
      where ${byFirstDay} and ${holdsUntil(sql`${$.ended}`, businesses.id, sql`''`)}
    union all select ${business_id}, null from ${billingChanges}
      where ${byChange} and ${holdsUntil(sql`${$.ended}`, business_id, sql`${starts_on}`)}
    order by id limit ${$.limit}`;
}
/** Selects the businesses of one owner, even those whose months end later, of which none is shown. */
const ofOwner = (permission: Permission, $: Ended, shape: CallShape, owner: SQL | undefined) =>
  sql`select ${businesses.id} as id, ${denial(permission, shape)} as denied from ${businesses}
    where ${isListed(permission, $.after, owner)} order by id limit ${$.limit}`;

/** Reads months of at most `limit` of the key's businesses after the id `after`, or of all businesses if the caller is the operator. */
export const monthsEnded = statement(['limit', 'after', 'ended'], (permission, $, shape) => {
  const owner = ownerIs(permission, shape);
  const page = owner === undefined ? billedNextDay($) : ofOwner(permission, $, shape, owner);
  return monthsOf(permission, $, page);
});
/** Like `monthsEnded`, but of one user's businesses. */
export const monthsOfUser = operatorStatement(['user_id', 'limit', 'after', 'ended'], (permission, $, shape) =>
  monthsOf(permission, $, ofOwner(permission, $, shape, eq(businesses.user_id, $.user_id))),
);
