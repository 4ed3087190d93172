// Responses that show a business. Hides of it what the caller's role may not see.
import { masked } from '../core/credential.ts';
import {
  type Billing,
  endOfDay,
  type LimitUsage,
  MAX_COUNT,
  refusesToday,
  remainingOf,
  type StoredThresholds,
  thresholdsOf,
} from '../core/limits.ts';
import { ROLE_PROPERTIES } from '../core/policy.ts';
import { dayOf, formatTimestamp } from '../core/time.ts';
import { type Json, parseJson } from '../db/json.ts';
import type { Verdict } from '../db/permission.ts';
import type { BusinessRow, Site } from '../db/schema.ts';
import type { ContextOf, Env, Guarded } from '../env.ts';
import { success } from '../http/response.ts';
import type { Business, BusinessDetails, Limits } from './description.ts';
import type { NextLimits } from './statements.ts';

/** The token, or its last four characters for a role that may not see it, and for a caller without a role. */
export const shownToken = (token: string, { role }: Pick<Verdict, 'role'>): string =>
  role !== null && ROLE_PROPERTIES[role].seesToken ? token : masked(token);

/** Rows without columns that the description of the response does not have, because a response would show them. */
type Shown<Row, Described> = Row & Record<Exclude<keyof Row, keyof Described>, never>;
const shownBusiness = (
  verdict: Pick<Verdict, 'role'>,
  business: Shown<BusinessRow, Business>,
  sites: Shown<Site, Business['access_list'][number]>[],
): Business => ({
  ...business,
  token: shownToken(business.token, verdict),
  access_list: sites.toSorted((a, b) => a.id - b.id),
});

export const businessResponse = (
  c: ContextOf<Env>,
  verdict: Pick<Verdict, 'role'>,
  business: BusinessRow,
  sites: Site[],
) => success<Business>(c, shownBusiness(verdict, business, sites));

/** The limits of a plan, as responses name them. */
const shownPlan = ({ daily_limit, monthly_limit, overage, page_overage, alert_at }: Omit<NextLimits, 'from'>) => ({
  daily: daily_limit,
  monthly: monthly_limit,
  overage,
  page_overage: page_overage === 1,
  alert_at: [...thresholdsOf({ alert_at })],
});

export function shownLimits(usage: StoredLimits, today: string): Limits {
  const { daily_limit: daily, monthly_limit: monthly, month, month_starts_on, month_ends_on, next_limits } = usage;
  return {
    ...shownPlan(usage),
    extra: usage.extra,
    next_limits: next_limits && { from: next_limits.from, ...shownPlan(next_limits) },
    billing_day: usage.billing_day,
    next_billing_day: usage.next_billing_day,
    from: usage.from,
    today: daily === null ? null : usage.today,
    month: month === null || monthly === null ? null : Math.min(month, MAX_COUNT),
    remaining: remainingOf(usage, today),
    refuses: refusesToday(usage, today),
    day_ends: daily === null ? null : formatTimestamp(endOfDay(today)),
    month_starts: formatTimestamp(new Date(month_starts_on)),
    month_ends: formatTimestamp(endOfDay(month_ends_on)),
  };
}

export const detailsResponse = (
  c: ContextOf<Guarded>,
  row: RowOfBusiness,
  business: BusinessRow,
  former_tokens: BusinessDetails['former_tokens'],
) =>
  success<BusinessDetails>(c, {
    ...shownBusiness(row, business, parseJson(row.sites)),
    limits: shownLimits(
      { ...row, next_limits: row.next_limits && parseJson(row.next_limits) },
      dayOf(c.get('call').now),
    ),
    refused_by_limit: row.refused_by_limit,
    former_tokens,
  });
type StoredLimits = LimitUsage &
  StoredThresholds &
  Billing & { page_overage: number | null; page_allowance: number | null; next_limits: NextLimits | null };
type RowOfBusiness = Verdict &
  Omit<StoredLimits, 'next_limits'> & { next_limits: Json<NextLimits> | null } & {
    refused_by_limit: number;
    sites: Json<Site[]>;
  };
