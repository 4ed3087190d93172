// Creates, lists and revokes users' API keys, for the operator. Only the response that creates a key contains the key itself.
import { and, eq, isNull, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { Conflict } from '../core/conflict.ts';
import { newCredential, sha256Hex } from '../core/credential.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { isBeforeDeadline } from '../db/call.ts';
import { lastFour, recordChange } from '../db/change.ts';
import { claimHome, findHome } from '../db/homes.ts';
import { raiseIds } from '../db/ids.ts';
import { jsonObject } from '../db/json.ts';
import { rowIn, rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted } from '../db/permission.ts';
import { apiKeys, businesses } from '../db/schema.ts';
import { operatorStatement, previousStepWrote, readVerdict, statement } from '../db/statement.ts';
import { builder, NULL, type Placeholders } from '../db/text.ts';
import { endSessionsOf } from '../sessions/statements.ts';
import type { newKeyBody } from './operations.ts';

/** The columns of a key that responses show. Responses never show the hash. */
const keyColumns = {
  id: apiKeys.id,
  user_id: apiKeys.user_id,
  name: apiKeys.name,
  last_four: apiKeys.last_four,
  created_at: apiKeys.created_at,
  expires_on: apiKeys.expires_on,
  revoked_at: apiKeys.revoked_at,
  business_id: apiKeys.business_id,
  role: apiKeys.role,
  last_used_on: apiKeys.last_used_on,
};
type Row = Pick<typeof apiKeys.$inferSelect, keyof typeof keyColumns>;

/** A key as shown in responses. `read_only` predates roles. */
export type Key = Row & { read_only: boolean };
const shownKey = (row: Row): Key => ({ ...row, read_only: row.role === 'read' });

/** Changes to a key for one business belong to that business. Changes to other keys belong to the user. */
const subjectOf = (user_id: SQL, business_id: SQL) => ({
  subject: sql`case when ${business_id} is null then 'user' else 'business' end`,
  subject_id: sql`coalesce(${business_id}, ${user_id})`,
});

/** `business_id` restricts the key to that business. `expires_on` is the last day on which the key works, or null if it never expires. */
export type KeyRequest = { user_id: number; name: string } & Omit<z.output<typeof newKeyBody>, 'name'>;

/** Tests whether a JSON object's `business_id` is null or the id of a business that belongs to its `user_id`. */
export function isOfBusiness(json: Placeholder): SQL {
  const [user_id, business_id] = [sql`${json} ->> 'user_id'`, sql`${json} ->> 'business_id'`];
  const isOwn = and(eq(businesses.id, business_id), eq(businesses.user_id, user_id));
  return sql`(${business_id} is null or exists (select 1 from ${businesses} where ${isOwn}))`;
}
const insertKey = operatorStatement(['key'], (permission, $) =>
  builder
    .insert(apiKeys)
    .select(
      sql`select ${rowValues(apiKeys, { ...rowIn(apiKeys, $.key), created_at: $.now })} from ${permission}
        where ${and(isPermitted(permission), isBeforeDeadline, isOfBusiness($.key))}`,
    )
    .returning(keyColumns),
);
/** Runs after the insert and finds the new key by its hash. */
const recordCreation = statement(['hash', 'after'], (permission, $) =>
  recordChange(
    permission,
    subjectOf(sql`${apiKeys.user_id}`, sql`${apiKeys.business_id}`),
    'create_key',
    { before: NULL, after: sql`json_set(${$.after}, '$.id', ${apiKeys.id})` },
    sql`from ${apiKeys} cross join ${permission} where ${eq(apiKeys.hash, $.hash)}`,
  ),
);

/** Creates a key for a user. Throws a Conflict and changes nothing if the business does not belong to the user. */
export async function createKey(databases: BoundDatabases, key: KeyRequest) {
  const { user_id, business_id } = key;
  const home = business_id ? await findHome(databases, user_id) : (await claimHome(databases, user_id)).home;
  if (home === null) throw notOwned(user_id); // only if `business_id` is set: otherwise, claimHome has assigned a home
  return createKeyIn(databases.askIn(home), home, key);
}

/** Creates a key in database `number`, which must be the user's home. */
export async function createKeyIn(ask: Ask, number: number, key: KeyRequest): Promise<Key & { api_key: string }> {
  const { user_id, name, role = 'full', business_id = null, expires_on = null } = key;
  const api_key = newCredential('bua_sk_', number);
  const last_four = api_key.slice(-4);
  const hash = await sha256Hex(api_key);
  const after = { key: `…${last_four}`, name, expires_on, business_id, read_only: role === 'read', role };
  const row = { user_id, name, hash, last_four, expires_on, business_id, role };
  const { created } = await ask(readVerdict, {
    ...raiseIds(number),
    created: insertKey({ key: JSON.stringify(row) }),
    recorded: recordCreation({ hash, after: JSON.stringify(after) }),
  });
  if (created[0] === undefined) throw notOwned(user_id);
  return { api_key, ...shownKey(created[0]) };
}

export const notOwned = (user_id: number) => new Conflict('business_id', `must be a business of user ${user_id}`);

/** Selects rows instead of one JSON text, because D1 limits a text to 2 MB and a user can have thousands of keys. */
const selectKeys = operatorStatement(['user_id'], (permission, $) => {
  const isOwn = and(eq(apiKeys.user_id, ifPermitted(permission, $.user_id)), isNull(apiKeys.ends_at));
  return builder.select(keyColumns).from(apiKeys).where(isOwn).orderBy(apiKeys.id);
});

/** Reads a user's keys in id order, including revoked and expired keys. */
export async function keysOf(ask: Ask, user_id: number): Promise<Key[]> {
  const { keys } = await ask(readVerdict, { keys: selectKeys({ user_id }) });
  return keys.map(shownKey);
}

/** Excludes sessions, which are stored in the same table. */
const isKey = (key_id: SQLWrapper, { user_id }: Placeholders<'user_id'>) =>
  and(eq(apiKeys.id, key_id), eq(apiKeys.user_id, user_id), isNull(apiKeys.ends_at));
const recordRevocation = operatorStatement(['key_id', 'user_id'], (permission, $) => {
  const { id, name, last_four, user_id, business_id } = apiKeys;
  return recordChange(
    permission,
    subjectOf(sql`${user_id}`, sql`${business_id}`),
    'revoke_key',
    { before: jsonObject({ id, key: lastFour(sql`${last_four}`), name }), after: NULL },
    sql`from ${apiKeys} cross join ${permission}
      where ${and(isPermitted(permission), isBeforeDeadline, isKey($.key_id, $), isNull(apiKeys.revoked_at))}`,
  );
});
/** Depends on the step directly before it, so a key is revoked only if the revocation was recorded. */
const revoke = operatorStatement(['key_id', 'user_id'], (_, $) =>
  builder
    .update(apiKeys)
    .set({ revoked_at: sql`${$.now}` })
    .where(and(isKey($.key_id, $), previousStepWrote)),
);
const keyWithId = operatorStatement(['key_id', 'user_id'], (permission, $) =>
  builder
    .select(keyColumns)
    .from(apiKeys)
    .where(isKey(ifPermitted(permission, $.key_id), $)),
);

/** Revokes a user's key, unless it is already revoked, and ends the sessions that it started. Returns null if the user has no such key. */
export async function revokeKey(ask: Ask, key_id: number | null, user_id: number): Promise<Key | null> {
  const values = { key_id, user_id };
  const { key } = await ask(readVerdict, {
    recorded: recordRevocation(values),
    applied: revoke(values),
    ended: endSessionsOf(values),
    key: keyWithId(values),
  });
  return key[0] === undefined ? null : shownKey(key[0]);
}
