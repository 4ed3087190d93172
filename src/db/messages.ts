// The messages in which alerts are sent (docs/alerts.md). A message has its alerts, id and body for good. At most one of a database is
// open: it is neither sent nor given up. Whoever sends it has a lease, so runs that overlap do not send it twice at the same time.
import { and, type Column, eq, isNotNull, lte, sql } from 'drizzle-orm';
import { timestampOf } from '../core/time.ts';
import { type AlertField, MESSAGE_TYPE } from '../core/webhook.ts';
import { asJson, jsonObject } from './json.ts';
import { newRow } from './new-row.ts';
import { alerts, businesses, type Database, messages } from './schema.ts';

/** A message has at most this many alerts. */
const ALERTS_PER_MESSAGE = 100;
/** Longer than a run, and shorter than the minute until the next one. */
const LEASE_MS = 30_000;
/** What takeMessage and endMessage ask of a database. */
export const TAKE_STATEMENTS = 2;
export const END_STATEMENTS = 1;

/** `newest`: when its last alert was made. */
export type Message = { last_id: number; id: string; body: string; newest: string };
/** A message that is over, and when it was sent: null if it was given up. */
export type EndedMessage = { message: Message; sentAt: Date | null };

/**
 * Leases the open message, or makes one of unsent alerts. Null if there is nothing to send or another run has the lease. `ended` is closed
 * first, in the same batch.
 */
export async function takeMessage(db: Database, now: Date, ended: EndedMessage | null): Promise<Message | null> {
  const open = openMessage(db, now);
  const lease = leaseMessage(db, now);
  if (ended === null) return (await db.batch([open, lease]))[1][0] ?? null;
  return (await db.batch([endMessage(db, ended), open, lease]))[2][0] ?? null;
}

/** Closes a message. What a slower run has closed already stays as it is. */
export const endMessage = (db: Database, { message, sentAt }: EndedMessage) =>
  db
    .update(messages)
    .set({ body: null, sent_at: sentAt && timestampOf(sentAt) })
    .where(and(eq(messages.last_id, message.last_id), isOpen));

const isOpen = isNotNull(messages.body);

function openMessage(db: Database, now: Date) {
  const { id, business_id, period, starts_on, ends_on, limit, threshold, used, at } = alerts;
  const { user_id } = businesses;
  const fields = { id, business_id, user_id, period, starts_on, ends_on, limit, threshold, used, at };
  const alert = jsonObject(fields satisfies Record<AlertField, Column>);
  const unsent = sql`select ${id} as alert_id, ${alert} as alert
    from ${alerts} join ${businesses} on ${eq(businesses.id, business_id)}
    where ${id} > (select coalesce(max(last_id), 0) from ${messages}) and not exists (select 1 from ${messages} where ${isOpen})
    order by ${id} limit ${ALERTS_PER_MESSAGE}`;
  const made = timestampOf(now);
  const listed = sql`json_group_array(${asJson(sql`alert`)} order by alert_id)`;
  const body = jsonObject({
    type: sql.raw(`'${MESSAGE_TYPE}'`),
    timestamp: sql`${made}`,
    data: jsonObject({ alerts: listed }),
  });
  return db.insert(messages).select(
    sql`select ${newRow(messages, {
      last_id: sql`max(alert_id)`,
      id: `msg_${crypto.randomUUID()}`,
      body,
      created_at: made,
      leased_until: made, // free to be leased at once
    })} from (${unsent}) having count(*) > 0`,
  );
}

function leaseMessage(db: Database, now: Date) {
  const { last_id, id, body } = messages;
  const leased_until = timestampOf(new Date(now.getTime() + LEASE_MS));
  return db
    .update(messages)
    .set({ leased_until })
    .where(and(isOpen, lte(messages.leased_until, timestampOf(now))))
    .returning({
      last_id,
      id,
      body: sql<string>`${body}`,
      newest: sql<string>`${body} ->> '$.data.alerts[#-1].at'`,
    });
}
