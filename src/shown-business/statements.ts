// Statements that read a business for a response.
import { eq, type SQL, sql } from 'drizzle-orm';
import { $call } from '../db/call.ts';
import { type Json, jsonList, jsonObject, selectOne } from '../db/json.ts';
import { type Permission, pageAllowance, permittedId } from '../db/permission.ts';
import type { Limit } from '../db/plan.ts';
import { businessColumns, businesses, siteColumns, sites } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { refusedByLimit } from '../limits/refusals.ts';
import { billingOf, limitUsageOf, withMonth } from '../limits/usage.ts';
import { formerTokensOf } from './former-tokens.ts';

/** The fields of a business and its sites. They are in no particular order. */
export const businessAndSites = {
  business: jsonObject(businessColumns),
  sites: selectOne(jsonList(jsonObject(siteColumns)), sql`from ${sites} where ${sites.business_id} = ${businesses.id}`),
};

/** `from` the permission, joined with the business if the call is permitted. */
const withBusiness = (permission: Permission, from: Permission | SQL = permission) =>
  sql`${from} left join ${businesses} on ${eq(businesses.id, permittedId(permission))}`;

/**
 * Reads the verdict and, if the call is permitted, the business and its sites. Runs before a change, because the change can alter what is
 * permitted. The change itself returns the rows that it wrote.
 */
export const businessWithSites = statement([], (permission) =>
  withVerdict(permission, businessAndSites, withBusiness(permission)),
)({});

/** The pending limits and the day from which they hold, or null. */
export type NextLimits = { from: string } & Pick<typeof businesses.$inferSelect, Exclude<Limit, 'page_overage'>> & {
    page_overage: number | null;
  };
export const nextLimits = sql<Json<NextLimits> | null>`case when ${businesses.next_from} > ${$call.today} then ${jsonObject(
  {
    from: businesses.next_from,
    daily_limit: businesses.next_daily_limit,
    monthly_limit: businesses.next_monthly_limit,
    overage: businesses.next_overage,
    page_overage: businesses.next_page_overage,
    alert_at: businesses.next_alert_at,
  },
)} end`;

/** Like `businessWithSites`, but also reads the limits, the billing day and the former tokens that still work. */
export const businessInFull = statement([], (permission) => {
  const current = withMonth(permission);
  const fields = {
    ...businessAndSites,
    ...limitUsageOf(current),
    page_overage: sql<number | null>`${permission.page_overage}`,
    page_allowance: pageAllowance((limit) => permission[limit]),
    next_limits: nextLimits,
    refused_by_limit: refusedByLimit(current.id, current.starts_on),
    alert_at: sql<string | null>`${permission.alert_at}`,
    ...billingOf(current),
    former_tokens: formerTokensOf(businesses.id),
  };
  return withVerdict(permission, fields, withBusiness(permission, current.from));
})({});
