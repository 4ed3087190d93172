// The tables of migrations/ for Drizzle; a test checks that both agree. Columns have the names used in responses. STRICT, WITHOUT
// ROWID and CHECK are only in the migrations, because Drizzle cannot express them.
import { sql } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';
import { blob, index, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';

const id = () => integer().primaryKey({ autoIncrement: true });
const businessId = () =>
  integer()
    .notNull()
    .references(() => businesses.id);

export const businesses = sqliteTable(
  'businesses',
  {
    id: id(),
    user_id: integer().notNull(),
    name: text().notNull(),
    main_domain: text().notNull(),
    site: text().notNull(),
    country_id: integer().notNull(),
    business_size: text().notNull(),
    token: text().notNull().unique(),
    status: text().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
  },
  (table) => [index('businesses_user_id').on(table.user_id)],
);

export const access = sqliteTable(
  'access',
  {
    id: id(),
    business_id: businessId(),
    site: text().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
  },
  (table) => [unique().on(table.business_id, table.site)],
);

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: id(),
    user_id: integer().notNull(),
    name: text().notNull(),
    hash: text().notNull().unique(),
    last_four: text().notNull(),
    created_at: text().notNull(),
    expires_on: text(),
    revoked_at: text(),
  },
  (table) => [index('api_keys_user_id').on(table.user_id)],
);

export const dailyUsage = sqliteTable(
  'daily_usage',
  { business_id: businessId(), day: text().notNull(), count: integer().notNull() },
  (table) => [primaryKey({ columns: [table.business_id, table.day] })],
);

export const ledger = sqliteTable(
  'ledger',
  {
    business_id: integer().notNull(),
    digest: blob().notNull(),
    day: text().notNull(),
    recorded_on: text().notNull(),
    keep_days: integer().notNull().default(40),
    forget_on: text().generatedAlwaysAs(sql`date(recorded_on, '+' || keep_days || ' days')`, { mode: 'virtual' }),
  },
  (table) => [
    primaryKey({ columns: [table.business_id, table.digest] }),
    index('ledger_forget_on').on(table.forget_on),
  ],
);

export const formerTokens = sqliteTable(
  'former_tokens',
  { token: text().notNull(), business_id: businessId(), expires_at: text().notNull() },
  (table) => [
    primaryKey({ columns: [table.token] }),
    index('former_tokens_business_id').on(table.business_id),
    index('former_tokens_expires_at').on(table.expires_at),
  ],
);

/** The database of each user, by number. Only the rows in DB count. */
export const homes = sqliteTable('homes', { user_id: integer().primaryKey(), database: integer().notNull() });

/** The user who has claimed a token of a previous system, by its hash. Only the rows in DB count. */
export const importedTokens = sqliteTable(
  'imported_tokens',
  { hash: text().notNull(), user_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.hash] })],
);

export type Business = typeof businesses.$inferSelect;
export type Entry = typeof access.$inferSelect;

/** The database as the operator's commands and the purge use it. */
export type Database = DrizzleD1Database & { $client: D1Database };
