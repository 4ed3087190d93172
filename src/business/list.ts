// Statements that list businesses.
import { and, eq, gte, type SQL, sql } from 'drizzle-orm';
import type { Refusal } from '../core/policy.ts';
import { $call, type CallShape, type CallValue } from '../db/call.ts';
import { asJson, type ContentOf, type Json, jsonObject, PAGE_BYTES, selectOne } from '../db/json.ts';
import { denial, isListed, ownerIs } from '../db/listed.ts';
import { type Permission, pageAllowance } from '../db/permission.ts';
import { extraIn, type Limit, limitOn } from '../db/plan.ts';
import { type BusinessRow, billingColumns, businessColumns, businesses, dailyUsage } from '../db/schema.ts';
import { type EntryOf, operatorStatement, statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { billingDayOf, billingMonth } from '../limits/billing.ts';
import { refusedByLimit } from '../limits/refusals.ts';
import { refusedBy } from '../origins/seen-origins.ts';
import { type NextLimits, nextLimits } from '../shown-business/statements.ts';

/**
 * Reads the verdict and a page of the key's businesses, or of all businesses if the caller is the operator. The page contains at most
 * `limit` businesses in id order, starting after the id `after`, up to PAGE_BYTES. `found` is their number without this bound. `denied` is the reason why the caller's origin may not read the business,
 * or null. Unless it is null, the entry contains no counts and no refused origins. `counts` starts on the day `from`, or on the first day
 * of the billing month if the business has a monthly limit and that day is earlier.
 */
export const businessesAfter = statement(['limit', 'after', 'from', 'since'], (permission, $, shape) =>
  pageOfBusinesses(ownerIs(permission, shape), permission, $, shape),
);
/** Like `businessesAfter`, but for one user's businesses. */
export const businessesOfUserAfter = operatorStatement(
  ['user_id', 'limit', 'after', 'from', 'since'],
  (permission, $, shape) => pageOfBusinesses(eq(businesses.user_id, $.user_id), permission, $, shape),
);

function pageOfBusinesses(
  owner: SQL | undefined,
  permission: Permission,
  $: Placeholders<'limit' | 'after' | 'from' | 'since' | CallValue>,
  shape: CallShape,
) {
  const today = <Data>(limit: Limit) => limitOn<Data>(limit, businesses, $call.today);
  const page = builder
    .select({
      id: businesses.id,
      daily_limit: today<number>('daily_limit').as('daily_limit'),
      monthly_limit: today<number>('monthly_limit').as('monthly_limit'),
      overage: today<number>('overage').as('overage'),
      page_overage: today<number>('page_overage').as('page_overage'),
      alert_at: today<string>('alert_at').as('alert_at'),
      next_limits: nextLimits.as('next_limits'),
      extras_until: businesses.extras_until,
      ...billingColumns,
      business: jsonObject(businessColumns).as('business'),
      // Not named `refusal`: Drizzle writes an alias without its table, so SQLite would resolve it to the permission's column.
      denied: denial(permission, shape).as('denied'),
    })
    .from(businesses)
    .where(isListed(permission, $.after, owner))
    .orderBy(businesses.id)
    .limit($.limit)
    .as('page');
  const { id, daily_limit, monthly_limit, overage, page_overage, alert_at, denied } = page;
  const shownId = sql`case when ${denied} is null then ${id} end`;
  const { billing_day, has_billing_changes } = page;
  const billed = { id: shownId, billing_day, has_billing_changes };
  const month = billingMonth(billed, $call.today);
  const from = sql`case when ${monthly_limit} is null then ${$.from} else min(${$.from}, ${month.starts_on}) end`;
  const counts = sql<Json<Record<string, number>>>`(select json_group_object(${dailyUsage.day}, ${dailyUsage.count})
    from ${dailyUsage} where ${and(eq(dailyUsage.business_id, shownId), gte(dailyUsage.day, from))})`;
  const entry = jsonObject({
    id: sql<number>`${id}`,
    denied: sql<Refusal | null>`${denied}`,
    business: asJson<BusinessRow>(sql`${page.business}`),
    daily_limit: sql<number | null>`${daily_limit}`,
    monthly_limit: sql<number | null>`${monthly_limit}`,
    ...billingDayOf(billed),
    month_starts_on: month.starts_on,
    month_ends_on: month.ends_on,
    extra: extraIn({ id: shownId, extras_until: sql`${page.extras_until}` }, month.starts_on),
    next_limits: asJson<NextLimits | null>(sql`${page.next_limits}`),
    overage: sql<number | null>`${overage}`,
    page_overage: sql<number>`${page_overage}`,
    page_allowance: pageAllowance((limit) => page[limit], shownId),
    alert_at: sql<string | null>`${alert_at}`,
    counts: asJson<Record<string, number>>(counts),
    refused_origins: refusedBy(shownId, $.since),
    refused_by_limit: refusedByLimit(shownId, month.starts_on),
  });
  // Materialized, so SQLite computes each entry only once.
  const measured = sql`(with entries as materialized (select ${id} as id, ${entry} as entry from ${page})
    select entry, sum(octet_length(entry)) over (order by id rows unbounded preceding) - octet_length(entry) as bytes_before from entries)`;
  const fitting = sql<
    Json<ContentOf<typeof entry>[]>
  >`json_group_array(json(entry)) filter (where bytes_before < ${PAGE_BYTES})`;
  const list = jsonObject({ found: sql<number>`count(*)`, businesses: fitting });
  return withVerdict(permission, { list: selectOne(list, sql`from ${measured}`) });
}
/** An entry of a page of businesses. */
export type ExaminedBusiness = EntryOf<ReturnType<typeof businessesAfter>, 'businesses'>;
