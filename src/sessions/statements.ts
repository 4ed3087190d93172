// Statements that start and end console sessions. A session is a row of api_keys, like the key that started it.
import { and, eq, inArray, isNotNull, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type CallValue, isBeforeDeadline } from '../db/call.ts';
import { NEW_ID, rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted } from '../db/permission.ts';
import { apiKeys, codes } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { ending } from '../keys/statements.ts';
import { MAX_SESSIONS } from './rules.ts';

const NAME = 'console';

/** Matches the user's sessions. */
const ofUser = (user_id: SQLWrapper) => and(eq(apiKeys.user_id, user_id), isNotNull(apiKeys.ends_at));

/** Selects a column of the session with this hash. Null if there is no such session: in SQL, null never equals anything. */
const ofStarted = (column: SQLiteColumn, hash: SQLWrapper) =>
  sql`(select ${column} from ${apiKeys} where ${eq(apiKeys.hash, hash)})`;

/**
 * Deletes the user's sessions beyond MAX_SESSIONS, which also ends them. Those that have ended go first, then those started like the new one
 * (by the same key, or by a console link for the same business), oldest first. A restricted key therefore ends its own sessions before any
 * others.
 */
const dropExcess = statement(['hash'], (_, $) => {
  const isSame = sql`(${apiKeys.session_of} is ${ofStarted(apiKeys.session_of, $.hash)}
    and ${apiKeys.business_id} is ${ofStarted(apiKeys.business_id, $.hash)})`;
  const excess = sql`(select ${apiKeys.id} from ${apiKeys} where ${ofUser(ofStarted(apiKeys.user_id, $.hash))}
    order by ${apiKeys.hash} <> ${$.hash}, ${apiKeys.ends_at} <= ${$.now}, ${isSame}, ${apiKeys.id} desc limit -1 offset ${MAX_SESSIONS})`;
  return builder.delete(apiKeys).where(inArray(apiKeys.id, excess));
});

/** The columns that the response to a start shows. */
const shownColumns = {
  ends_at: apiKeys.ends_at,
  user_id: apiKeys.user_id,
  role: apiKeys.role,
  can_create_keys: apiKeys.can_create_keys,
};

/** What all new sessions have in common. */
const newSession = ({ hash, now, today }: Placeholders<'hash' | CallValue>) =>
  ({ id: NEW_ID, name: NAME, hash, created_at: now, last_used_on: today }) as const;

const insertSession = statement(['hash', 'ends_at'], (permission, $) => {
  const { user_id, last_four, expires_on, business_id, source, role, id } = apiKeys;
  // A key works through the day on which it expires.
  const ends_at = sql`min(${$.ends_at}, coalesce(date(${expires_on}, '+1 day') || 'T00:00:00.000000Z', ${$.ends_at}))`;
  return builder
    .insert(apiKeys)
    .select(
      sql`select ${rowValues(apiKeys, {
        ...newSession($),
        user_id,
        last_four,
        ends_at,
        session_of: id,
        business_id,
        source,
        role,
      })} from ${apiKeys} where ${eq(id, ifPermitted(permission, permission.key_id))} and ${isBeforeDeadline}`,
    )
    .returning(shownColumns);
});

/** Starts a session for the calling API key. The session ends at `ends_at`, or when the key expires if that is earlier. */
export const startSession = (hash: string, ends_at: string) => ({
  started: insertSession({ hash, ends_at }),
  dropped: dropExcess({ hash }),
});

const insertFromCode = statement(['hash', 'last_four'], (permission, $) => {
  const { user_id, business_id, minutes, role, actor_name, can_create_keys } = codes;
  const ends_at = sql`strftime('%Y-%m-%dT%H:%M:%f000Z', ${$.now}, '+' || ${minutes} || ' minutes')`;
  return builder
    .insert(apiKeys)
    .select(
      sql`select ${rowValues(apiKeys, {
        ...newSession($),
        user_id,
        last_four: $.last_four,
        ends_at,
        business_id,
        role,
        actor_name,
        can_create_keys,
      })} from ${permission} cross join ${codes}
        where ${and(eq(codes.hash, $.lookup_value), isPermitted(permission), isBeforeDeadline)}`,
    )
    .returning(shownColumns);
});
const deleteCode = statement(['hash'], (_, $) => {
  const isStarted = sql`exists (select 1 from ${apiKeys} where ${eq(apiKeys.hash, $.hash)})`;
  return builder
    .delete(codes)
    .where(and(eq(codes.hash, $.lookup_value), isStarted))
    .returning({ return_url: codes.return_url });
});

/**
 * Starts the session of a console link and deletes the link's code, so only one of two concurrent calls receives a session. The later steps
 * depend on the insert.
 */
export const redeemCode = (hash: string, last_four: string) => ({
  started: insertFromCode({ hash, last_four }),
  redeemed: deleteCode({ hash }),
  dropped: dropExcess({ hash }),
});

/** Ends the session that makes the call. */
export const endSession = statement([], (permission, $) =>
  builder
    .update(apiKeys)
    .set(ending($.now))
    .where(and(eq(apiKeys.id, ifPermitted(permission, permission.key_id)), isBeforeDeadline))
    .returning({ id: apiKeys.id }),
)({});
