// Alerts as an outbox (docs/alerts.md): an alert is due until the receiver accepts it or it is given up. A run claims the alerts that it
// sends by moving `due_at` to the next attempt. Overlapping runs therefore claim different alerts, and a later run sends what a run that
// was killed had claimed.
import { and, inArray, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm';
import { formatTimestamp, MINUTE_MS } from '../core/time.ts';
import { jsonObject } from '../db/json.ts';
import { alerts, businesses, type Database } from '../db/schema.ts';
import { type AlertField, MESSAGE_TYPE } from './webhook.ts';

/** A Worker has at most six open connections. */
export const ALERTS_PER_CLAIM = 6;
/** The minutes from an attempt to the next one. The last number repeats. */
const RETRY_MINUTES = [1, 2, 4, 8, 16, 32, 60];
/** The maximum number of due alerts that a round examines to find those to give up. */
const EXAMINED_PER_ROUND = 1000;

/** An alert to send, with the body of its message. */
export type Claimed = { id: string; at: string; body: string };
/** What became of an attempt: when the alert was sent, or when the receiver wants it again. */
export type Outcome = { id: string; sent_at: string | null; due_at: string | null };

const isDue = (now: Date) => and(isNotNull(alerts.due_at), lte(alerts.due_at, formatTimestamp(now)));

/** Gives up the due alerts that were stored before `since`. Returns their ids. */
export function giveUp(db: Database, now: Date, since: Date) {
  const { id, at, due_at } = alerts;
  const due = db.select({ id, at }).from(alerts).where(isDue(now)).orderBy(due_at).limit(EXAMINED_PER_ROUND).as('due');
  const old = db
    .select({ id: due.id })
    .from(due)
    .where(lt(due.at, formatTimestamp(since)));
  return db.update(alerts).set({ due_at: null }).where(inArray(id, old)).returning({ id });
}

/** Claims the alerts that have been due for the longest time. */
export function claim(db: Database, now: Date) {
  const { id, business_id, period, starts_on, ends_on, limit, threshold, used, at, due_at, attempts } = alerts;
  const retries = RETRY_MINUTES.map((minutes) => formatTimestamp(new Date(now.getTime() + minutes * MINUTE_MS)));
  const due = db.select({ id }).from(alerts).where(isDue(now)).orderBy(due_at).limit(ALERTS_PER_CLAIM);
  const user_id = sql<number>`(select ${businesses.user_id} from ${businesses} where ${businesses.id} = ${business_id})`;
  const data = { id, business_id, user_id, period, starts_on, ends_on, limit, threshold, used, at };
  const message = {
    type: sql.raw(`'${MESSAGE_TYPE}'`),
    timestamp: at,
    data: jsonObject(data satisfies Record<AlertField, unknown>),
  };
  return db
    .update(alerts)
    .set({
      attempts: sql`${attempts} + 1`,
      // The index is inlined, because D1 would bind it as 6.0, which is not an index.
      due_at: sql`${JSON.stringify(retries)} ->> min(${attempts}, ${sql.raw(`${RETRY_MINUTES.length - 1}`)})`,
    })
    .where(inArray(id, due))
    .returning({ id, at, body: sql<string>`${jsonObject(message)}` });
}

/** Stores outcomes. An alert is due again at the time that the receiver asked for, unless its next attempt is later. */
export function settle(db: Database, outcomes: Outcome[]) {
  const outcome = (name: keyof Outcome) => sql`value ->> ${sql.raw(`'${name}'`)}`;
  return db
    .update(alerts)
    .set({
      sent_at: outcome('sent_at'),
      due_at: sql`case when ${outcome('sent_at')} is null then max(${alerts.due_at}, ${outcome('due_at')}) end`,
    })
    .from(sql`json_each(${JSON.stringify(outcomes)})`)
    .where(and(sql`${alerts.id} = ${outcome('id')}`, isNull(alerts.sent_at)));
}
