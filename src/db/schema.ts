// The columns of the tables, for Drizzle. A test checks that they match those of migrations/, which alone contain the keys, the indexes and
// the checks: queries do not need them. Columns have the names used in responses.
import { type Column, getTableColumns, sql } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { LinkRole, Role } from '../core/policy.ts';
import type { WorkClass } from '../core/work.ts';

const id = () => integer().primaryKey({ autoIncrement: true });
export const businesses = sqliteTable('businesses', {
  id: id(),
  user_id: integer().notNull(),
  name: text().notNull(),
  main_domain: text().notNull(),
  site: text().notNull(),
  country_id: integer().notNull(),
  business_size: text().notNull(),
  token: text().notNull(),
  status: text().notNull(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  daily_limit: integer(),
  monthly_limit: integer(),
  /** The maximum number of uses counted beyond a limit. Null means unlimited. */
  overage: integer().default(0),
  /** 1 if uses with the token count beyond a limit, too. `overage` is then not null. */
  page_overage: integer().notNull().default(0),
  /** The alert thresholds: a JSON list of percentages. Null means the default. */
  alert_at: text(),
  /** The first day on which these five limits hold. Null if they never changed. Before it, `former_limits` hold. */
  limits_since: text(),
  /** The first day of the pending limits `next_…`. Null if no change is pending. */
  next_from: text(),
  next_daily_limit: integer(),
  next_monthly_limit: integer(),
  next_overage: integer(),
  next_page_overage: integer(),
  next_alert_at: text(),
  /** The first day of the last billing month that has an extra. Null if none has. */
  extras_until: text(),
  /** The billing day until the first change in `billing_changes` takes effect. */
  billing_day: integer().notNull().default(1),
  /** 0 if `billing_changes` contains no rows for this business. */
  has_billing_changes: integer().notNull().default(0),
  decision: text(),
  creation_key: blob(),
  creation_request: blob(),
});

export const sites = sqliteTable('sites', {
  id: id(),
  business_id: integer().notNull(),
  site: text().notNull(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  /** 1 if visitors can reach the site (core/reachable.ts). */
  is_reachable: integer().notNull().default(0),
});
/** The columns of a site that responses show. */
const { is_reachable, ...shownSite } = getTableColumns(sites);
export const siteColumns = shownSite;

export const apiKeys = sqliteTable('api_keys', {
  id: id(),
  user_id: integer().notNull(),
  business_id: integer(),
  /** The number of the label of its uses (sources). */
  source: integer(),
  name: text().notNull(),
  hash: text().notNull(),
  last_four: text().notNull(),
  role: text().$type<Role>().notNull(),
  created_at: text().notNull(),
  expires_on: text(),
  revoked_at: text(),
  last_used_on: text(),
  /** The time at which a session ends. Null if the row is a key. */
  ends_at: text(),
  /** The key that started a session. Null if a console link started it. */
  session_of: integer(),
  /** The person whom the session's console link names. */
  actor_name: text(),
  /** 1 if the row is a session whose console link said so. */
  can_create_keys: integer(),
  /** Who created a key, in the form of an actor of changes. Null if the row is a session. */
  created_by: text(),
  /** The person whom the console link of the session that created a key names. */
  created_by_name: text(),
  /** The key or the session that created a key. Null if an operator key did. */
  creator_id: integer(),
});

/** The codes of console links, by hash. Each starts one session and is then deleted. */
export const codes = sqliteTable('codes', {
  hash: text().notNull(),
  user_id: integer().notNull(),
  business_id: integer(),
  /** The role of the session. */
  role: text().$type<LinkRole>().notNull(),
  minutes: integer().notNull(),
  expires_at: text().notNull(),
  /** The URL that the console links back to. */
  return_url: text(),
  /** The person whom the link names, for the list of changes. */
  actor_name: text(),
  /** 1 if the session may list, create and revoke the user's API keys. */
  can_create_keys: integer(),
});

/** Changes to the billing day. Each takes effect after the month in which it is made and the following month. */
export const billingChanges = sqliteTable('billing_changes', {
  business_id: integer().notNull(),
  /** The first day of the month that ends on the day before `changes_on`. */
  starts_on: text().notNull(),
  /** The first day of the first month that starts on `billing_day`. */
  changes_on: text().notNull(),
  billing_day: integer().notNull(),
});

/** The limits that held before `limits_since`: those of a row through `ends_on`. */
export const formerLimits = sqliteTable('former_limits', {
  business_id: integer().notNull(),
  ends_on: text().notNull(),
  daily_limit: integer(),
  monthly_limit: integer(),
  overage: integer(),
  page_overage: integer().notNull(),
  alert_at: text(),
});

/** What is added to the monthly limit in the billing month that begins on `starts_on`. */
export const extras = sqliteTable('extras', {
  business_id: integer().notNull(),
  starts_on: text().notNull(),
  uses: integer().notNull(),
});

/** The requests that changed an extra. `uses` is the extra afterwards. */
export const extraRequests = sqliteTable('extra_requests', {
  business_id: integer().notNull(),
  digest: blob().notNull(),
  request: blob().notNull(),
  starts_on: text().notNull(),
  uses: integer().notNull(),
  day: text().notNull(),
});

export const dailyUsage = sqliteTable('daily_usage', {
  business_id: integer().notNull(),
  day: text().notNull(),
  count: integer().notNull(),
  /** A JSON object from the numbers of sources to their counts (sources.ts). Null if no use had a source. */
  sources: text(),
});

/** The names of the sources of a business's uses: sites that are or were registered, and labels. */
export const sources = sqliteTable('sources', {
  business_id: integer().notNull(),
  name: text().notNull(),
  number: integer().notNull(),
});

export const ledger = sqliteTable('ledger', {
  business_id: integer().notNull(),
  digest: blob().notNull(),
  /** The number of the day on which the use counted (ledger.ts). */
  day: integer().notNull(),
  /** The number of the first day on which the id may be forgotten. */
  forget_on: integer().notNull(),
  /** The number of uses recorded with the id. */
  quantity: integer().notNull(),
  /** The number of the source under which the use of a key counted, so that it can be lowered. */
  source: integer(),
});

/** Recent days with imported counts. Such a count is not the sum of recorded uses, so the day's uses cannot be lowered. */
export const importedDays = sqliteTable('imported_days', { business_id: integer().notNull(), day: text().notNull() });

export const formerTokens = sqliteTable('former_tokens', {
  id: id(),
  token: text().notNull(),
  business_id: integer().notNull(),
  expires_at: text().notNull(),
  /** The day of its last permitted call since it was replaced. */
  last_used_on: text(),
  /** The origins of such calls, if they can be registered, with the last day of each, as JSON. Null if the token was never used. */
  used_from: text(),
});

export const seenOrigins = sqliteTable('seen_origins', {
  business_id: integer().notNull(),
  origin: text().notNull(),
  count: integer().notNull(),
  first_seen: text().notNull(),
  last_seen: text().notNull(),
  /** 1 if it was let in because no site was registered. 0 if it was refused. */
  let_in: integer().notNull().default(0),
  /** The sites that would let it in (`sitesCovering`): a JSON list. */
  candidates: text().notNull(),
});

/** The uses that limits refused. Counts each retry, and some may be missing. */
export const limitRefusals = sqliteTable('limit_refusals', {
  business_id: integer().notNull(),
  day: text().notNull(),
  count: integer().notNull(),
});

/** The user id in a change's `before` or `after`, or null. */
export const userIn = (text: Column) => sql<number | null>`${text} ->> 'user_id'`;

export const changes = sqliteTable('changes', {
  subject: text({ enum: ['business', 'user'] }).notNull(),
  subject_id: integer().notNull(),
  id: integer().notNull(),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  before: text(),
  after: text(),
  /** The person whom the console link of the session that made the change names. */
  actor_name: text(),
  /** The user of that session. No other user sees the name. Null without a name. */
  actor_user_id: integer(),
});

/** Imported tokens, by hash, including those of deleted businesses. They cannot be imported again. */
export const retiredTokens = sqliteTable('retired_tokens', { hash: text().notNull() });

/** The number of each user's database. Only the rows in DB are used. */
export const homes = sqliteTable('homes', {
  user_id: integer().notNull(),
  database: integer().notNull(),
  /** Numbers the owners of a database: 1, 2, 3 … It is 0 if the home was put back after a restore and not numbered yet. */
  place: integer().notNull(),
  /** The time at which something was last created for the user or transferred to the user. */
  claimed_at: text().notNull(),
});

/** Deleted businesses that still have use ids or changes. */
export const deletions = sqliteTable('deletions', { business_id: integer().notNull() });

/** The user who claimed each imported token, by the token's hash. Only the rows in DB are used. */
export const importedTokens = sqliteTable('imported_tokens', { hash: text().notNull(), user_id: integer().notNull() });

/** Each row records that a business reached a threshold of a limit, and whether the receiver knows. */
export const alerts = sqliteTable('alerts', {
  /** A UUID. The receiver uses it to recognize an alert that it has already received. */
  id: text().notNull(),
  business_id: integer().notNull(),
  period: text({ enum: ['day', 'month'] }).notNull(),
  starts_on: text().notNull(),
  ends_on: text().notNull(),
  limit: integer().notNull(),
  /** A percentage of the limit. */
  threshold: integer().notNull(),
  /** The number of uses counted when the row was written. */
  used: integer().notNull(),
  at: text().notNull(),
  /** When to send the alert next. Null if it was sent or given up. */
  due_at: text(),
  attempts: integer().notNull().default(0),
  sent_at: text(),
});

/** The time at which each scheduled run, or each run of a walk of the purge, last ended. Of scheduled runs, only the rows in DB are used. */
export const runs = sqliteTable('runs', {
  name: text().notNull(),
  ended_at: text().notNull(),
  /** A walk has last examined the businesses after this one … */
  after_id: integer(),
  /** … up to this one. Null if it reached the end. */
  last_id: integer(),
  /** The walk through the ledger continues after this id of the business `after_id`. */
  after_digest: blob(),
});

/** What the calls of a user's keys and sessions have taken of the database, by class of work (work.ts). */
export const work = sqliteTable('work', {
  user_id: integer().notNull(),
  class: text().$type<WorkClass>().notNull(),
  /** Until when they have spent the database's time, in milliseconds since 1970. */
  busy_until: integer().notNull(),
  /** The number of the day on which `ids` and `bytes` were stored. */
  day: integer().notNull(),
  ids: integer().notNull(),
  bytes: integer().notNull(),
});

const { daily_limit, monthly_limit, overage, page_overage, alert_at, ...withoutLimits } = getTableColumns(businesses);
export const limitColumns = { daily_limit, monthly_limit, overage, page_overage, alert_at };
const {
  limits_since,
  next_from,
  next_daily_limit,
  next_monthly_limit,
  next_overage,
  next_page_overage,
  ...withoutNext
} = withoutLimits;
const { next_alert_at, extras_until, billing_day, has_billing_changes, ...others } = withoutNext;
/** The limits of a pending change. */
export const nextColumns = { next_daily_limit, next_monthly_limit, next_overage, next_page_overage, next_alert_at };
/** The columns that determine the limits of a business on any day (plan.ts). */
export const planColumns = { ...limitColumns, limits_since, next_from, ...nextColumns };
export const billingColumns = { billing_day, has_billing_changes };
const { decision, creation_key, creation_request, ...shown } = others;
/** The columns of a business that responses show. `Business` must describe each of them (shown-business/description.ts). */
export const businessColumns = shown;

export type BusinessRow = Pick<typeof businesses.$inferSelect, keyof typeof businessColumns>;
export type Site = Pick<typeof sites.$inferSelect, keyof typeof siteColumns>;

/** The type of the databases that scheduled runs use. */
export type Database = DrizzleD1Database & { $client: D1Database };
