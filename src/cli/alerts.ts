// Which limits businesses have come near or used up, as the operator reads it.
import { desc, eq, getTableColumns, sql } from 'drizzle-orm';
import { sentAt } from '../db/alerts.ts';
import { alerts, type Database } from '../db/schema.ts';

/** The alerts of a business, or of all in the database, newest first. */
export const listAlerts = (db: Database, business_id?: number) =>
  db
    .select({ ...getTableColumns(alerts), sent_at: sentAt(sql`${alerts.id}`) })
    .from(alerts)
    .where(business_id === undefined ? undefined : eq(alerts.business_id, business_id))
    .orderBy(desc(alerts.id));
