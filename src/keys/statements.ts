// Creates, lists and revokes users' API keys. Only the response that creates a key contains the key itself.
import {
  and,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  not,
  or,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import type * as z from 'zod/mini';
import { newCredential, sha256Hex } from '../core/credential.ts';
import { Conflict } from '../core/field-errors.ts';
import { MAX_LABELS } from '../core/sources.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { type CallShape, isBeforeDeadline } from '../db/call.ts';
import { actorOf, lastFour, recordChange } from '../db/change.ts';
import { beginIds } from '../db/ids.ts';
import { jsonObject } from '../db/json.ts';
import { rowIn, rowValues } from '../db/new-row.ts';
import { ifPermitted, isPermitted, type Permission } from '../db/permission.ts';
import { apiKeys, businesses, sources } from '../db/schema.ts';
import {
  followingStatement,
  previousStepWrote,
  readVerdict,
  statement,
  userStatement,
  withVerdict,
} from '../db/statement.ts';
import { builder, NULL, type Placeholders } from '../db/text.ts';
import { claimHome, findHome } from '../homes/homes.ts';
import { lastLabel, newLabels, sourceNumberOf } from '../sources/sources.ts';
import type { newKeyBody } from './operations.ts';
import {
  EXCESS_RULES,
  latestExpiryRule,
  MAX_ENDED_KEYS,
  MAX_KEYS,
  MOST_LABELS_RULE,
  OWN_EXPIRY_RULE,
  SESSION_KEY_DAYS,
} from './rules.ts';

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
  // Nested, because Drizzle would omit the table names of the columns.
  label: sql<string | null>`${sql`(select ${sources.name} from ${sources}
    where ${and(eq(sources.business_id, apiKeys.business_id), eq(sources.number, apiKeys.source))})`}`.as('label'),
  role: apiKeys.role,
  last_used_on: apiKeys.last_used_on,
  /** Only sessions have no creator. */
  created_by: sql<string>`${apiKeys.created_by}`.as('created_by'),
  created_by_name: apiKeys.created_by_name,
};
export type Key = Pick<typeof apiKeys.$inferSelect, Exclude<keyof typeof keyColumns, 'label' | 'created_by'>> & {
  label: string | null;
  created_by: string;
};

/** Changes to a key for one business belong to that business. Changes to other keys belong to the user. */
const subjectOf = (user_id: SQL, business_id: SQL) => ({
  subject: sql`case when ${business_id} is null then 'user' else 'business' end`,
  subject_id: sql`coalesce(${business_id}, ${user_id})`,
});

/** Tests whether a JSON object's `business_id` is null or the id of a business of the user in the path. */
export function isOfBusiness(json: Placeholder, { user_id }: Placeholders<'user_id'>): SQL {
  const business_id = sql`${json} ->> 'business_id'`;
  const isOwn = and(eq(businesses.id, business_id), eq(businesses.user_id, user_id));
  return sql`(${business_id} is null or exists (select 1 from ${businesses} where ${isOwn}))`;
}

/** Tests whether a key works on the day. Its columns are those of the innermost select. */
export const isWorking = (today: SQLWrapper) =>
  and(isNull(apiKeys.revoked_at), or(isNull(apiKeys.expires_on), gte(apiKeys.expires_on, today)));

/**
 * The column values that end a session, which is a row of the same table. They also revoke it, so that it has ended even for a Worker whose
 * clock is behind.
 */
export const ending = (now: SQLWrapper) => ({ ends_at: sql`min(${apiKeys.ends_at}, ${now})`, revoked_at: sql`${now}` });

/** The last day of the calling key. Null if it does not expire, or is a session. */
const expiryOfCaller = ({ key_id }: Permission) =>
  sql`(select ${apiKeys.expires_on} from ${apiKeys} where ${eq(apiKeys.id, key_id)})`;

/** The business and the label of a new key. */
const newKey = ({ key }: Placeholders<'key'>) => ({
  business_id: sql`(${key} ->> 'business_id')`,
  label: sql`(${key} ->> 'label')`,
});
/** Tests whether the label of a new key would need a number. */
function isNewLabel($: Placeholders<'key'>) {
  const { business_id, label } = newKey($);
  return sql`(${label} is not null and ${sourceNumberOf(business_id, label)} is null)`;
}

/**
 * What prevents the creation of a key, or null, from the data before it: `business`, `label`, `expiry`, a reason in EXCESS_RULES, or the last
 * possible day of expiry. A user's own keys and sessions are bounded, so that a copied one gives little more than itself: no key that they
 * create outlives the key that created it.
 */
function obstacleTo(permission: Permission, $: Placeholders<'key' | 'user_id' | 'today'>, { caller }: CallShape) {
  const ofBusiness = sql`when not ${isOfBusiness($.key, $)} then 'business'
    when ${isNewLabel($)} and ${lastLabel(newKey($).business_id)} >= ${sql.raw(`${MAX_LABELS}`)} then 'label'`;
  if (caller === 'operator') return sql`case ${ofBusiness} end`;
  const { is_session } = permission;
  const expires_on = sql`${$.key} ->> 'expires_on'`;
  const latest = sql`iif(${is_session}, date(${$.today}, '+${sql.raw(`${SESSION_KEY_DAYS}`)} days'),
    ${expiryOfCaller(permission)})`;
  const isOwn = and(eq(apiKeys.user_id, $.user_id), isNotNull(apiKeys.creator_id));
  const most = sql.raw(`${MAX_KEYS}`);
  return sql`case ${ofBusiness} when ${is_session} and ${expires_on} is null then 'expiry' else coalesce(
    (select latest from (select ${latest} as latest) where ${expires_on} > latest),
    (select case when count(*) filter (where ${isWorking($.today)}) >= ${most} then 'working'
      when count(*) filter (where ${gte(apiKeys.created_at, $.today)}) >= ${most} then 'today' end from ${apiKeys} where ${isOwn})) end`;
}

const readObstacle = userStatement(['key'], (permission, $, shape) => {
  return withVerdict(permission, { obstacle: sql<string | null>`${obstacleTo(permission, $, shape)}` });
});
/** Numbers the label of a new key, so that its uses can count under it without looking for the name. */
const nameLabel = userStatement(['key'], (permission, $, shape) => {
  const { business_id, label } = newKey($);
  const isPossible = isNull(obstacleTo(permission, $, shape));
  return builder
    .insert(sources)
    .select(
      newLabels(
        business_id,
        sql`select ${label} as name, 1 as place from ${permission} where ${and(isPermitted(permission), isBeforeDeadline, isPossible, isNewLabel($))}`,
      ),
    );
});
const insertKey = userStatement(['key'], (permission, $, shape) => {
  const isPossible = isNull(obstacleTo(permission, $, shape));
  const row = rowIn(apiKeys, $.key);
  const { business_id, label } = newKey($);
  // A key that a key creates expires with it. A session's has its own expiry.
  return builder
    .insert(apiKeys)
    .select(
      sql`select ${rowValues(apiKeys, {
        ...row,
        user_id: $.user_id,
        source: sourceNumberOf(business_id, label),
        created_at: $.now,
        expires_on:
          shape.caller === 'operator'
            ? sql`${row.expires_on}`
            : sql`coalesce(${row.expires_on}, ${expiryOfCaller(permission)})`,
        created_by: actorOf(permission),
        created_by_name: permission.key_actor_name,
        creator_id: permission.key_id,
      })} from ${permission} where ${and(isPermitted(permission), isBeforeDeadline, isPossible)}`,
    )
    .returning(keyColumns);
});
/** Deletes the oldest keys that no longer work and that no operator created, but `kept` of them, if the write before it wrote. */
const forgetEnded = followingStatement(['kept'], ($) => {
  const user_id = sql`case when ${previousStepWrote} then ${$.user_id} end`;
  const isOwn = and(eq(apiKeys.user_id, user_id), isNotNull(apiKeys.creator_id));
  const beyond = sql`(select ${apiKeys.id} from ${apiKeys} where ${and(isOwn, not(isWorking($.today) ?? NULL))}
    order by ${desc(apiKeys.id)} limit -1 offset cast(${$.kept} as integer))`;
  return builder.delete(apiKeys).where(inArray(apiKeys.id, beyond));
});
/** Runs after the insert and finds the new key by its hash. */
const recordCreation = statement(['hash', 'after'], (permission, $) =>
  recordChange(
    permission,
    subjectOf(sql`${apiKeys.user_id}`, sql`${apiKeys.business_id}`),
    'create_key',
    { before: NULL, after: sql`json_set(${$.after}, '$.id', ${apiKeys.id}, '$.expires_on', ${apiKeys.expires_on})` },
    sql`from ${apiKeys} cross join ${permission} where ${eq(apiKeys.hash, $.hash)}`,
  ),
);

/**
 * `business_id` restricts the key to that business. `expires_on` is the last day on which the key works. Null means that it never expires, or
 * when the key that creates it does.
 */
export type KeyRequest = { user_id: number; name: string } & Omit<z.output<typeof newKeyBody>, 'name'>;

/** Creates a key for a user, for the operator. Throws a Conflict and changes nothing if the business does not belong to the user. */
export async function createKey(databases: BoundDatabases, key: KeyRequest) {
  const { user_id, business_id } = key;
  const home = business_id ? await findHome(databases, user_id) : (await claimHome(databases, user_id)).home;
  if (home === null) throw notOwned(user_id); // only if `business_id` is set: otherwise, claimHome has assigned a home
  return createKeyIn(databases.askIn(home), home, key);
}

/** Creates a key in database `number`, which must be the user's home. Throws a Conflict and changes nothing if the key may not be created. */
export async function createKeyIn(ask: Ask, number: number, key: KeyRequest): Promise<Key & { api_key: string }> {
  const { user_id, name, role = 'full', business_id = null, label, expires_on = null } = key;
  const api_key = newCredential('bua_sk_', number);
  const last_four = api_key.slice(-4);
  const hash = sha256Hex(api_key);
  const shared = { name, expires_on, business_id, label, role };
  const values = { key: JSON.stringify({ ...shared, hash, last_four }) };
  const { row, created } = await ask(readObstacle(values), {
    ...beginIds(number),
    ...(label !== undefined && { named: nameLabel(values) }),
    created: insertKey(values),
    recorded: recordCreation({ hash, after: JSON.stringify({ key: `…${last_four}`, ...shared }) }),
    forgotten: forgetEnded({ kept: MAX_ENDED_KEYS }),
  });
  if (created[0] !== undefined) return { api_key, ...created[0] };
  const { obstacle } = row;
  if (obstacle === null) throw new Error('a permitted creation of a key created none');
  if (obstacle === 'business') throw notOwned(user_id);
  if (obstacle === 'label') throw new Conflict('label', MOST_LABELS_RULE);
  if (obstacle === 'expiry') throw new Conflict('expires_on', OWN_EXPIRY_RULE);
  if (obstacle === 'working' || obstacle === 'today') throw new Conflict('keys', EXCESS_RULES[obstacle]);
  throw new Conflict('expires_on', latestExpiryRule(obstacle));
}

export const notOwned = (user_id: number) => new Conflict('business_id', `must be a business of user ${user_id}`);

/** Selects rows instead of one JSON text, because D1 limits a text to 2 MB and a user can have thousands of keys. */
const selectKeys = userStatement([], (permission, $) => {
  const isOwn = and(eq(apiKeys.user_id, ifPermitted(permission, $.user_id)), isNull(apiKeys.ends_at));
  return builder.select(keyColumns).from(apiKeys).where(isOwn).orderBy(apiKeys.id);
})({});

/** Reads a user's keys in id order, including revoked and expired keys. */
export async function keysOf(ask: Ask): Promise<Key[]> {
  const { keys } = await ask(readVerdict, { keys: selectKeys });
  return keys;
}

/** Excludes sessions, which are stored in the same table. */
const isKey = (key_id: SQLWrapper, { user_id }: Placeholders<'user_id'>) =>
  and(eq(apiKeys.id, key_id), eq(apiKeys.user_id, user_id), isNull(apiKeys.ends_at));
/** Selects the ids of a user's key and of the keys that it created. Empty if the user has no such key, or if `key_id` is null. */
function keyAndCreated(key_id: SQLWrapper, $: Placeholders<'user_id'>) {
  const key = sql`select ${apiKeys.id} from ${apiKeys} where ${isKey(key_id, $)}`;
  const isCreated = and(eq(apiKeys.user_id, $.user_id), eq(apiKeys.creator_id, sql`(${key})`));
  return sql`(${key} union all select ${apiKeys.id} from ${apiKeys} where ${isCreated})`;
}
/** Matches the key, and those of the keys that it created that still work, unless the call is refused. */
const isEnding = (permission: Permission, $: Placeholders<'key_id' | 'user_id' | 'today'>) =>
  and(
    inArray(apiKeys.id, keyAndCreated(ifPermitted(permission, $.key_id), $)),
    isNull(apiKeys.revoked_at),
    or(eq(apiKeys.id, $.key_id), isWorking($.today)),
  );

const recordRevocation = userStatement(['key_id'], (permission, $) => {
  const { id, name, last_four, user_id, business_id } = apiKeys;
  const subject = subjectOf(sql`${user_id}`, sql`${business_id}`);
  return recordChange(
    permission,
    {
      ...subject,
      rank: sql`row_number() over (partition by ${subject.subject}, ${subject.subject_id} order by ${id})`,
    },
    'revoke_key',
    { before: jsonObject({ id, key: lastFour(sql`${last_four}`), name }), after: NULL },
    sql`from ${apiKeys} cross join ${permission} where ${and(isPermitted(permission), isBeforeDeadline, isEnding(permission, $))}`,
  );
});
/** Depends on the write before it, so a key is revoked only if the revocation was recorded. */
const revoke = userStatement(['key_id'], (permission, $) =>
  builder
    .update(apiKeys)
    .set({ revoked_at: sql`${$.now}` })
    .where(and(isEnding(permission, $), previousStepWrote))
    .returning(keyColumns),
);
/** Depends on the write before it, and not on the permission, because a key can revoke itself. Without that write, it looks up null. */
const endSessions = followingStatement(['key_id'], ($) => {
  const [key_id, user_id] = [$.key_id, $.user_id].map((id) => sql`case when ${previousStepWrote} then ${id} end`) as [
    SQL,
    SQL,
  ];
  const isRevoked = and(inArray(apiKeys.id, keyAndCreated(key_id, $)), isNotNull(apiKeys.revoked_at));
  const sessions = and(eq(apiKeys.user_id, user_id), isNotNull(apiKeys.ends_at));
  const startedByRevoked = inArray(apiKeys.session_of, sql`(select ${apiKeys.id} from ${apiKeys} where ${isRevoked})`);
  return builder
    .update(apiKeys)
    .set(ending($.now))
    .where(and(sessions, startedByRevoked, isNull(apiKeys.revoked_at)));
});
const keyWithId = userStatement(['key_id'], (permission, $) =>
  builder
    .select(keyColumns)
    .from(apiKeys)
    .where(isKey(ifPermitted(permission, $.key_id), $)),
);

/** The steps of a revocation, in their order. */
export const revocation = (values: { key_id: number | null }) => ({
  recorded: recordRevocation(values),
  applied: revoke(values),
  ended: endSessions(values),
});

/**
 * Revokes a user's key and the keys that it created, unless they are already revoked, and ends the sessions that they started. Returns null
 * if the user has no such key.
 */
export async function revokeKey(ask: Ask, key_id: number | null): Promise<Key | null> {
  const values = { key_id };
  const { key, applied } = await ask(readVerdict, { key: keyWithId(values), ...revocation(values) });
  return applied.find(({ id }) => id === key_id) ?? key[0] ?? null;
}
