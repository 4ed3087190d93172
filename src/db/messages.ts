// Stores the messages in which alerts are sent (docs/alerts.md). A message's id never changes, and its alerts change only when a user is
// erased. A message is open until it is sent or given up. A message that the receiver rejects is set aside. Apart from messages set aside,
// a database contains at most one open message. A run leases the message that it sends, so overlapping runs do not send it twice.
import { and, type Column, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm';
import { randomId } from '../core/random.ts';
import { formatTimestamp } from '../core/time.ts';
import { type AlertField, MESSAGE_TYPE } from '../core/webhook.ts';
import { asJson, jsonObject } from './json.ts';
import { rowValues } from './new-row.ts';
import { alerts, businesses, type Database, messages } from './schema.ts';

const ALERTS_PER_MESSAGE = 100;
/** Longer than a run, and shorter than the minute between the starts of two runs. */
const LEASE_MS = 30_000;
/** How many statements leaseNextMessage and endMessage run. leaseNextMessage runs END_STATEMENTS more if `ended` is not null. */
export const LEASE_STATEMENTS = 2;
export const END_STATEMENTS = 1;

/**
 * `oldest` and `newest` are the times at which the message's first and last alerts were stored. `count` is its number of alerts. `retry_at`
 * is null unless the message was set aside.
 */
export type Message = Pick<typeof messages.$inferSelect, 'last_id' | 'id' | 'retry_at'> & {
  body: string;
  oldest: string;
  newest: string;
  count: number;
};
/** The outcome of a message: the time at which it was sent (null if it was given up), or the time until which it is set aside. */
export type EndedMessage = { message: Message } & ({ sentAt: Date | null } | { retryAt: Date });

/**
 * Stores the outcome of `ended`, and leases the next message in the same batch. The next message is the open one. If there is none, it is a
 * new message with unsent alerts or, failing that, a message that was set aside and is due again. Returns null if there is nothing to send.
 */
export async function leaseNextMessage(db: Database, now: Date, ended: EndedMessage | null): Promise<Message | null> {
  const open = openMessage(db, now);
  const lease = leaseMessage(db, now);
  if (ended === null) return (await db.batch([open, lease]))[1][0] ?? null;
  return (await db.batch([endMessage(db, ended), open, lease]))[2][0] ?? null;
}

/** Stores the outcome of a message, unless another run has already closed it. */
export const endMessage = (db: Database, { message, ...ended }: EndedMessage) =>
  db
    .update(messages)
    .set(
      'retryAt' in ended
        ? { retry_at: formatTimestamp(ended.retryAt) }
        : { body: null, sent_at: ended.sentAt && formatTimestamp(ended.sentAt) },
    )
    .where(and(eq(messages.last_id, message.last_id), isOpen));

const isOpen = isNotNull(messages.body);

function openMessage(db: Database, now: Date) {
  const { id, business_id, period, starts_on, ends_on, limit, threshold, used, at } = alerts;
  const { user_id } = businesses;
  const fields = { id, business_id, user_id, period, starts_on, ends_on, limit, threshold, used, at };
  const alert = jsonObject(fields satisfies Record<AlertField, Column>);
  const unsent = sql`select ${id} as alert_id, ${alert} as alert
    from ${alerts} join ${businesses} on ${eq(businesses.id, business_id)}
    where ${id} > (select coalesce(max(last_id), 0) from ${messages})
      and not exists (select 1 from ${messages} where ${and(isOpen, isNull(messages.retry_at))})
    order by ${id} limit ${ALERTS_PER_MESSAGE}`;
  const made = formatTimestamp(now);
  const listed = sql`json_group_array(${asJson(sql`alert`)} order by alert_id)`;
  const body = jsonObject({
    type: sql.raw(`'${MESSAGE_TYPE}'`),
    timestamp: sql`${made}`,
    data: jsonObject({ alerts: listed }),
  });
  return db.insert(messages).select(
    sql`select ${rowValues(messages, {
      last_id: sql`max(alert_id)`,
      id: `msg_${randomId()}`,
      body,
      created_at: made,
      leased_until: made, // can be leased immediately
    })} from (${unsent}) having count(*) > 0`,
  );
}

function leaseMessage(db: Database, now: Date) {
  const { last_id, id, body, retry_at } = messages;
  const leased_until = formatTimestamp(new Date(now.getTime() + LEASE_MS));
  const isDue = or(isNull(retry_at), lte(retry_at, formatTimestamp(now)));
  const next = db
    .select({ last_id })
    .from(messages)
    .where(and(isOpen, isDue, lte(messages.leased_until, formatTimestamp(now))))
    .orderBy(retry_at, last_id)
    .limit(1);
  return db
    .update(messages)
    .set({ leased_until })
    .where(eq(last_id, next))
    .returning({
      last_id,
      id,
      retry_at,
      body: sql<string>`${body}`,
      oldest: sql<string>`${body} ->> '$.data.alerts[0].at'`,
      newest: sql<string>`${body} ->> '$.data.alerts[#-1].at'`,
      count: sql<number>`json_array_length(${body}, '$.data.alerts')`,
    });
}
