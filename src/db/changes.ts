// Who changed what. The row is written in the same batch as the change, if that was decided.
import { and, desc, eq, isNull, lt, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { addDays, dayOf } from '../core/time.ts';
import { $call } from './call.ts';
import { type Decision, isDecided } from './decision.ts';
import { asJson, type ContentOf, type Json, jsonObject, selectOne } from './json.ts';
import { type Permission, permittedId, statement, withVerdict } from './permission.ts';
import { apiKeys, businesses, changes } from './schema.ts';
import { builder } from './statement.ts';

const KEEP_CHANGES_DAYS = 400;

/** The first day whose changes are kept. */
export const changesKeptFrom = (now: Date): string => addDays(dayOf(now), -KEEP_CHANGES_DAYS);

export type Action =
  | 'add_sites'
  | 'remove_sites'
  | 'rotate_token'
  | 'stop_former_tokens'
  | 'create_business'
  | 'update_business'
  | 'delete_business'
  | 'create_key'
  | 'revoke_key'
  | 'import_usage';

/** How a change shows a token or a key: never more than its last four characters. */
export const lastFour = (text: SQL) => sql`'…' || substr(${text}, -4)`;

/** The id of the next change of a subject. */
export const nextId = (subject: SQL, subject_id: SQL) => sql`(select coalesce(max(${changes.id}), 0) + 1 from ${changes}
  where ${changes.subject} = ${subject} and ${changes.subject_id} = ${subject_id})`;

/**
 * Who makes a change: an API key, also by a session that came from it, a console link, or the operator with a key or a command. (A token
 * makes no change.)
 */
function actorOf({ key_id, key_last_four, is_session, key_session_of }: Permission) {
  const key = sql`'key ' || coalesce(${key_session_of}, ${key_id})`;
  const name = sql`case when ${is_session} and ${key_session_of} is null then 'console link' else ${key} end`;
  return sql`coalesce(${name} || ' (…' || ${key_last_four} || ')', ${$call.operator})`;
}

/** Records a change by the caller for each row of `source`, which is a `from` with its conditions. */
export const recordChangeOf = (
  permission: Permission,
  { subject, subject_id }: Record<'subject' | 'subject_id', SQL>,
  action: Action,
  { before, after }: Record<'before' | 'after', SQL>,
  source: SQL,
) =>
  // The columns of the table, in their order.
  builder.insert(changes).select(
    sql`select ${subject}, ${subject_id}, ${nextId(subject, subject_id)}, ${$call.now}, ${actorOf(permission)},
      ${sql.raw(`'${action}'`)}, ${before}, ${after} ${source}`,
  );

/**
 * Records a change of the business in the path, if it was decided. `before` and `after` are JSON of what changes, or null. They read
 * what is stored, so this comes before the step that applies the change.
 */
export const recordChange = (permission: Permission, $: Decision, action: Action, before: SQL, after: SQL) =>
  recordChangeOf(
    permission,
    { subject: sql`'business'`, subject_id: sql`${$call.business_id}` },
    action,
    { before, after },
    sql`from ${businesses} cross join ${permission} where ${isDecided($)}`,
  );

/** A change can be 130 KB (500 long sites), and D1 has no text over 2 MB. */
const PAGE_BYTES = 500_000;

type Content = Record<string, unknown> | null;

/** The name of the key that made a change, if it is one of this user: whoever is given a business sees nothing of the keys before. */
export function keyNameOf(actor: SQLWrapper, user_id: SQLWrapper) {
  const id = sql`case when ${actor} glob 'key [0-9]*' then cast(substr(${actor}, ${sql.raw(`${'key '.length + 1}`)}) as integer) end`;
  const isNamed = and(eq(apiKeys.id, id), eq(apiKeys.user_id, user_id));
  return sql<string | null>`(select ${apiKeys.name} from ${apiKeys} where ${isNamed})`;
}

/**
 * Reads the verdict and at most `limit` changes of a subject before the one with the id `before`, newest first: as many as it takes
 * to reach PAGE_BYTES. `found` is how many there are, up to `limit`.
 */
const changesOf = (
  subject: SQL,
  subjectId: (permission: Permission, user_id: Placeholder) => SQL,
  ownerOf: (permission: Permission, user_id: Placeholder) => SQLWrapper,
) =>
  statement(['user_id', 'limit', 'before'], (permission, $) => {
    const isOwn = and(eq(changes.subject, subject), eq(changes.subject_id, subjectId(permission, $.user_id)));
    const page = builder
      .select()
      .from(changes)
      .where(and(isOwn, lt(changes.id, $.before)))
      .orderBy(desc(changes.id))
      .limit($.limit)
      .as('page');
    const bytesOf = (text: SQLWrapper) => sql`coalesce(octet_length(${text}), 0)`;
    const bytes = sql`${bytesOf(page.before)} + ${bytesOf(page.after)}`;
    const sized = sql`(select *, sum(${bytes}) over (order by ${page.id} desc rows unbounded preceding) - (${bytes}) as bytes_before
    from ${page}) as page`;
    const { id, at, actor, action, before, after } = page;
    const change = jsonObject({
      id,
      at,
      actor,
      key_name: keyNameOf(actor, ownerOf(permission, $.user_id)),
      action,
      before: asJson<Content>(before),
      after: asJson<Content>(after),
    });
    const fitting = sql<
      Json<ContentOf<typeof change>[]>
    >`json_group_array(${change}) filter (where bytes_before < ${sql.raw(`${PAGE_BYTES}`)})`;
    const list = jsonObject({ found: sql<number>`count(*)`, changes: fitting });
    return withVerdict(permission, { list: selectOne(list, sql`from ${sized}`).as('list') });
  });
type Page = { limit: number; before: number };
const changesOfBusiness = changesOf(sql`'business'`, permittedId, ({ owner_id }) => owner_id);
/** Those of the business in the path. */
export const changesBefore = (page: Page) => changesOfBusiness({ ...page, user_id: 0 });
/** Those of the keys that a user has for all businesses. */
export const changesOfUserBefore = changesOf(
  sql`'user'`,
  (permission, user_id) => sql`case when ${isNull(permission.refusal)} then ${user_id} end`,
  (_, user_id) => user_id,
);
