// The statements that start and end sessions of the owner's console. A session is a row of api_keys, like the key that it came from.
import { and, eq, gt, inArray, isNotNull, type SQLWrapper, sql } from 'drizzle-orm';
import { MAX_SESSIONS } from '../core/session.ts';
import { timestampOf } from '../core/time.ts';
import { type Cost, sendBatch } from './batch.ts';
import { isInTime, statement } from './permission.ts';
import { apiKeys, codes } from './schema.ts';
import { type Bindable, type BuiltQuery, builder, placeholders, textOf } from './statement.ts';

const NAME = 'console';

const running = (user_id: SQLWrapper, now: SQLWrapper | string) =>
  and(eq(apiKeys.user_id, user_id), gt(apiKeys.ends_at, now));

const isRevoked = (key_id: SQLWrapper | number) => and(eq(apiKeys.id, key_id), isNotNull(apiKeys.revoked_at));

/**
 * Ends the sessions that came from a key, if the key is revoked: it goes into the batch that revokes it, behind that. They are revoked,
 * too, because the clock of whoever runs a command can be ahead. `db` is Drizzle, or the builder.
 */
export const endSessionsOf = (
  db: Pick<typeof builder, 'update'>,
  key_id: SQLWrapper | number,
  now: SQLWrapper | string,
) =>
  db
    .update(apiKeys)
    .set({ ends_at: sql`${now}`, revoked_at: sql`${now}` })
    .where(
      and(
        running(sql`(select ${apiKeys.user_id} from ${apiKeys} where ${isRevoked(key_id)})`, now),
        eq(apiKeys.session_of, key_id),
      ),
    );

/** Ends the oldest sessions of the user of the session with this hash, if too many run. Nothing if there is no such session. */
function endExcess({ hash, now }: { hash: SQLWrapper; now: SQLWrapper }) {
  const user_id = sql`(select ${apiKeys.user_id} from ${apiKeys} where ${eq(apiKeys.hash, hash)})`;
  const excess = sql`(select ${apiKeys.id} from ${apiKeys} where ${running(user_id, now)}
    order by ${apiKeys.id} desc limit -1 offset ${MAX_SESSIONS})`;
  return builder
    .update(apiKeys)
    .set({ ends_at: sql`${now}` })
    .where(inArray(apiKeys.id, excess));
}

const insertSession = statement(['hash', 'ends_at'], (permission, $) => {
  const { user_id, last_four, expires_on, business_id, read_only, record_only, id } = apiKeys;
  // A key that expires on a day works through that day.
  const ends_at = sql`min(${$.ends_at}, coalesce(date(${expires_on}, '+1 day') || 'T00:00:00.000000Z', ${$.ends_at}))`;
  const permitted = sql`(select case when ${permission.refusal} is null then ${permission.key_id} end from ${permission})`;
  return builder
    .insert(apiKeys)
    .select(
      // The columns of the table, in their order; null makes a new id.
      sql`select null, ${user_id}, ${NAME}, ${$.hash}, ${last_four}, ${$.now}, ${expires_on}, null, ${business_id}, ${read_only},
        ${$.today}, ${record_only}, ${ends_at}, ${id} from ${apiKeys} where ${eq(id, permitted)} and ${isInTime}`,
    )
    .returning({ ends_at: apiKeys.ends_at });
});
const endExcessOfKey = statement(['hash'], (_, $) => endExcess($));

/** Starts a session of the API key of the call. It ends at `ends_at`, or earlier if the key expires earlier. */
export const startSession = (hash: string, ends_at: string) => ({
  started: insertSession({ hash, ends_at }),
  ended: endExcessOfKey({ hash }),
});

/** Ends the session whose key makes the call. */
export const endSession = statement([], (permission, $) => {
  const permitted = sql`(select case when ${permission.refusal} is null then ${permission.key_id} end from ${permission})`;
  return builder
    .update(apiKeys)
    .set({ ends_at: sql`${$.now}` })
    .where(and(eq(apiKeys.id, permitted), isInTime))
    .returning({ id: apiKeys.id });
})({});

const $ = placeholders(['code', 'hash', 'last_four', 'now', 'today', 'deadline']);
const isKnown = and(eq(codes.hash, $.code), gt(codes.expires_at, $.now));
const ends_at = sql`strftime('%Y-%m-%dT%H:%M:%f000Z', ${$.now}, '+' || ${codes.minutes} || ' minutes')`;
/** In this order. All that follow the insert depend on it: if it is too late, nothing has happened. */
const REDEEM = [
  builder
    .select({ is_known: sql`exists (select 1 from ${codes} where ${isKnown})`.as('is_known') })
    .from(sql`(select 1)`),
  builder
    .insert(apiKeys)
    .select(
      sql`select null, ${codes.user_id}, ${NAME}, ${$.hash}, ${$.last_four}, ${$.now}, null, null, ${codes.business_id},
        ${codes.read_only}, ${$.today}, 0, ${ends_at}, null from ${codes} where ${isKnown} and ${isInTime}`,
    )
    .returning({ ends_at: apiKeys.ends_at, read_only: apiKeys.read_only }),
  builder
    .delete(codes)
    .where(and(eq(codes.hash, $.code), sql`exists (select 1 from ${apiKeys} where ${eq(apiKeys.hash, $.hash)})`)),
  endExcess($),
].map((query: BuiltQuery) => textOf(query));

/**
 * Starts the session of a console link, and spends its code, in one batch: of two at once, one gets the session. `code` and `hash` are
 * the hashes of the code and of the new session key. If the code is known and there is no session, the batch began after the deadline.
 */
export async function redeemCode(
  d1: D1Database,
  { now, deadline, ...values }: { code: string; hash: string; last_four: string; now: Date; deadline: number },
  cost: Cost,
): Promise<{ isKnown: boolean; session: { ends_at: string; read_only: number } | undefined }> {
  const timestamp = timestampOf(now);
  const all: Record<string, Bindable> = {
    ...values,
    now: timestamp,
    today: timestamp.slice(0, 10),
    deadline: deadline / 1000,
  };
  const bound = REDEEM.map(({ sql, names }) => d1.prepare(sql).bind(...names.map((name) => all[name])));
  const [read, started] = await sendBatch(d1, bound, cost);
  const [found] = (read?.results ?? []) as { is_known: number }[];
  const [session] = (started?.results ?? []) as { ends_at: string; read_only: number }[];
  return { isKnown: found?.is_known === 1, session };
}
