// Computes a business's billing months in SQL (docs/api.md, "Billing months"). Each day is in exactly one month. A change to the billing
// day is deferred, so that it never alters a month that has started and no month is shorter than 28 days.
import { and, eq, gt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { decidedId, isDecided } from '../db/change.ts';
import { rowValues } from '../db/new-row.ts';
import { billingChanges, type billingColumns, businesses } from '../db/schema.ts';
import { builder, type Placeholders } from '../db/text.ts';

/** No month is longer. The month before a change to the billing day lasts until the new day, but at least 28 days. */
export const MAX_MONTH_DAYS = 28 + 31;

/** The columns of a business that determine its billing months. */
type Billed = Record<'id' | keyof typeof billingColumns, SQLWrapper>;

/** The first day of the billing month that contains `day`, assuming that every month starts on `billing_day`. */
const firstOf = (day: SQLWrapper, billing_day: SQLWrapper) =>
  sql`date(${day}, (1 - ${billing_day}) || ' days', 'start of month', (${billing_day} - 1) || ' days')`;
const lastOf = (day: SQLWrapper, billing_day: SQLWrapper) =>
  sql`date(${day}, (1 - ${billing_day}) || ' days', 'start of month', '+1 month', (${billing_day} - 2) || ' days')`;

/** Selects a value from the latest matching change to the billing day. Null if no change matches. */
const ofLastChange = <T>({ id, has_billing_changes }: Billed, condition: SQL | undefined, value: SQL | SQLWrapper) =>
  sql<T | null>`case when ${has_billing_changes} then (select ${value} from ${billingChanges}
    where ${and(eq(billingChanges.business_id, id), condition)} order by ${billingChanges.starts_on} desc limit 1) end`;

/** The first and last day of the billing month that contains `day`. `day` must be cheap to evaluate, because the SQL repeats it. */
export function billingMonth(business: Billed, day: SQLWrapper) {
  const { starts_on, changes_on, billing_day: changed } = billingChanges;
  const { billing_day } = business;
  const ofChange = (value: SQL) => ofLastChange(business, sql`${starts_on} <= ${day}`, value);
  return {
    starts_on: sql<string>`coalesce(${ofChange(sql`case when ${day} < ${changes_on} then ${starts_on} else ${firstOf(day, changed)} end`)},
      ${firstOf(day, billing_day)})`,
    // If `day` is before changes_on, its month ends on the day before changes_on. In that case, `lastOf` never returns a later day, so
    // max() is correct.
    ends_on: sql<string>`coalesce(${ofChange(sql`max(date(${changes_on}, '-1 day'), ${lastOf(day, changed)})`)},
      ${lastOf(day, billing_day)})`,
  };
}

/** Today's billing day and its pending change, if any. */
export function billingDayOf(business: Billed) {
  const { changes_on, billing_day: changed } = billingChanges;
  const isPending = sql`${changes_on} > ${$call.today}`;
  const current = ofLastChange<number>(business, sql`${changes_on} <= ${$call.today}`, changed);
  return {
    billing_day: sql<number>`coalesce(${current}, ${business.billing_day})`,
    next_billing_day: ofLastChange<number>(business, isPending, changed),
    from: ofLastChange<string>(business, isPending, changes_on),
  };
}

/** The billing day with any pending change applied. */
export const latestBillingDay = sql`coalesce(${ofLastChange(businesses, undefined, billingChanges.billing_day)}, ${businesses.billing_day})`;

type Fields = Placeholders<'fields'>;
const newDay = ({ fields }: Fields) => sql`${fields} ->> 'billing_day'`;

/** The value of `has_billing_changes` after the steps of `changeBillingDay`. */
export const hasBillingChanges = ($: Fields) =>
  sql`case when ${newDay($)} is null then ${businesses.has_billing_changes}
    else exists (select 1 from ${billingChanges} where ${eq(billingChanges.business_id, businesses.id)}) end`;

/** Steps that change the billing day if `fields` contains one. They replace a pending change whose month has not started. */
export const changeBillingDay = {
  replaced: ($: Fields) =>
    builder
      .delete(billingChanges)
      .where(
        and(
          eq(billingChanges.business_id, decidedId),
          gt(billingChanges.starts_on, $call.today),
          sql`${newDay($)} is not null`,
        ),
      ),
  planned($: Fields) {
    const starts_on = sql`date(${billingMonth(businesses, $call.today).ends_on}, '+1 day')`;
    // The first occurrence of the new billing day at least 28 days after starts_on.
    const changes_on = sql`date(${lastOf(sql`date(starts_on, '+27 days')`, newDay($))}, '+1 day')`;
    const row = rowValues(billingChanges, {
      business_id: sql`id`,
      starts_on: sql`starts_on`,
      changes_on,
      billing_day: newDay($),
    });
    return builder.insert(billingChanges).select(
      sql`select ${row} from (select ${businesses.id} as id, ${starts_on} as starts_on from ${businesses}
        where ${isDecided} and ${newDay($)} is not null and ${newDay($)} <> ${latestBillingDay})`,
    );
  },
};
