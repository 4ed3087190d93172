// Who changed what. The row is written in the same batch as the change, if that was decided.
import {
  and,
  desc,
  eq,
  getTableColumns,
  gte,
  isNull,
  lt,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import { type Action, searchedTexts } from '../core/change.ts';
import { addDays, dayOf } from '../core/time.ts';
import { $call } from './call.ts';
import { type Decision, isDecided } from './decision.ts';
import { asJson, type ContentOf, type Json, jsonObject, selectOne } from './json.ts';
import { type Permission, permittedId, statement, withVerdict } from './permission.ts';
import { apiKeys, businesses, changes, type Optional } from './schema.ts';
import { builder, newRow } from './statement.ts';

const KEEP_CHANGES_DAYS = 400;

/** The first day whose changes are kept. */
export const changesKeptFrom = (now: Date): string => addDays(dayOf(now), -KEEP_CHANGES_DAYS);

/** How a change shows a token or a key: never more than its last four characters. */
export const lastFour = (text: SQL) => sql`'…' || substr(${text}, -4)`;

/** The id of the next change of a subject. */
const nextId = (subject: SQL, subject_id: SQL) => sql`(select coalesce(max(${changes.id}), 0) + 1 from ${changes}
  where ${changes.subject} = ${subject} and ${changes.subject_id} = ${subject_id})`;

/**
 * Who makes a change: an API key, also by a session that came from it, a console link, or an operator key. (A token makes no change.)
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
  builder.insert(changes).select(
    sql`select ${newRow(changes, {
      subject,
      subject_id,
      id: nextId(subject, subject_id),
      at: $call.now,
      actor: actorOf(permission),
      action: sql.raw(`'${action}'`),
      before,
      after,
    })} ${source}`,
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

/** What a page shows and what a search compares ends with the change that reaches this. One can have 130 KB, and D1 has no text over 2 MB. */
const PAGE_BYTES = 500_000;
const bytesOf = (text: SQLWrapper) => sql`coalesce(octet_length(${text}), 0)`;
const bytes = sql<number>`${bytesOf(changes.before)} + ${bytesOf(changes.after)}`.as('bytes');

type Content = Record<string, unknown> | null;

/** The name of a key, if it is one of this user: whoever is given a business sees nothing of the keys before. */
const nameOf = (id: SQL, user_id: SQLWrapper) =>
  sql<
    string | null
  >`(select ${apiKeys.name} from ${apiKeys} where ${and(eq(apiKeys.id, id), eq(apiKeys.user_id, user_id))})`;

/** The name of the key that made a change. */
const keyNameOf = (actor: SQLWrapper, user_id: SQLWrapper) =>
  nameOf(sql`case when ${actor} glob 'key *' then cast(substr(${actor}, 5) as integer) end`, user_id);

/** `before` or `after` as it is shown to a user: with the name that the key of the business has now, or without any. */
const shownTo = (
  user_id: SQLWrapper,
  text: SQLWrapper,
  { subject, action }: Record<'subject' | 'action', SQLWrapper>,
) => sql`case when ${subject} = 'business' and ${action} in ('create_key', 'revoke_key')
  then json_patch(${text}, json_object('name', ${nameOf(sql`${text} ->> 'id'`, user_id)})) else ${text} end`;

/** At most `limit` changes, newest first. */
const pageOf = (condition: SQL | undefined, limit: Placeholder) =>
  builder
    .select({ ...getTableColumns(changes), bytes })
    .from(changes)
    .where(condition)
    .orderBy(desc(changes.id))
    .limit(limit)
    .as('page');

/** A page with the bytes that come before each change. */
const sized = (page: SQLWrapper) =>
  sql`(select *, sum(bytes) over (order by id desc rows unbounded preceding) - bytes as bytes_before from ${page}) as page`;

/**
 * What is read of a page: as many of its changes as it takes to reach PAGE_BYTES, `found`, how many there are, and `next`, where to go on
 * behind all of them. `owner_id`: whose keys are named.
 */
function listOf(page: ReturnType<typeof pageOf>, owner_id: SQLWrapper, next = sql<number | null>`null`) {
  const { id, at, actor, action, before, after } = page;
  const change = jsonObject({
    id,
    at,
    actor,
    key_name: keyNameOf(actor, owner_id),
    action,
    before: asJson<Content>(shownTo(owner_id, before, page)),
    after: asJson<Content>(shownTo(owner_id, after, page)),
  });
  const fitting = sql<
    Json<ContentOf<typeof change>[]>
  >`json_group_array(${change}) filter (where bytes_before < ${sql.raw(`${PAGE_BYTES}`)})`;
  const list = jsonObject({ found: sql<number>`count(*)`, changes: fitting, next });
  return selectOne(list, sql`from ${sized(page)}`).as('list');
}

/** Reads the verdict and the newest `limit` changes of a subject before the one with the id `before`. */
const changesOf = (subject: SQL, subjectId: (permission: Permission, user_id: Placeholder) => SQL) =>
  statement(['user_id', 'limit', 'before'], (permission, $) => {
    const isOwn = and(eq(changes.subject, subject), eq(changes.subject_id, subjectId(permission, $.user_id)));
    const page = pageOf(and(isOwn, lt(changes.id, $.before)), $.limit);
    return withVerdict(permission, { list: listOf(page, permission.owner_id) });
  });
type Page = { limit: number; before: number };
const changesOfBusiness = changesOf(sql`'business'`, permittedId);
/** Those of the business in the path. */
export const changesBefore = (page: Page) => changesOfBusiness({ ...page, user_id: 0 });
/** Those of the keys that a user has for all businesses. */
export const changesOfUserBefore = changesOf(
  sql`'user'`,
  (permission, user_id) => sql`case when ${isNull(permission.refusal)} then ${user_id} end`,
);

const SEARCH = ['limit', 'before', 'action', 'from', 'to', 'search', 'capitals', 'domain'] as const;
/** One page looks for the changes that match among so many ids, so that what it reads does not depend on how many there are. */
const EXAMINED_IDS = 1000;

/**
 * Reads the verdict and the newest `limit` changes of the business in the path, of an `action` and with a text in them if those are not
 * empty, and from day `from` to day `to`. It examines the ids before `before`: EXAMINED_IDS of them, or fewer if it compares texts, so many
 * that these reach PAGE_BYTES. `next` is the last of these if there are changes behind it.
 */
const matchingChangesBefore = statement(SEARCH, (permission, $) => {
  const isOwn = and(eq(changes.subject, 'business'), eq(changes.subject_id, permittedId(permission)));
  const isBefore = and(isOwn, lt(changes.id, $.before));
  const newest = sql`(select max(${changes.id}) from ${changes} where ${isOwn})`;
  // The length of a text is beside it: no text is read for this.
  const compared = builder.select({ id: changes.id, bytes }).from(changes).where(isBefore).orderBy(desc(changes.id));
  const tooMuch = sql`(select id from ${sized(sql`(${compared.limit(EXAMINED_IDS)})`)}
    where bytes_before >= ${sql.raw(`${PAGE_BYTES}`)} limit 1)`;
  const last = sql`max(min(${$.before}, ${newest} + 1) - ${EXAMINED_IDS},
    coalesce(case when ${$.search} <> '' then ${tooMuch} + 1 end, 0))`;
  // Beside the permission, so that SQLite looks for it once.
  const examined = sql`(select *, ${last} as examined_to from ${permission} where true limit 1) as permission`;
  const examinedTo = sql<number>`permission.examined_to`;
  const has = (text: SQLWrapper) => {
    const shown = sql`lower(${shownTo(permission.owner_id, text, changes)})`;
    const hasOther = (other: SQLWrapper) => sql`(${other} <> '' and instr(${shown}, lower(${other})))`;
    return sql`(instr(${shown}, lower(${$.search})) or ${hasOther($.capitals)} or ${hasOther($.domain)})`;
  };
  const matches = and(
    isBefore,
    gte(changes.id, examinedTo),
    sql`substr(${changes.at}, 1, 10) between ${$.from} and ${$.to}`,
    sql`(${$.action} = '' or ${changes.action} = ${$.action})`,
    sql`(${$.search} = '' or ${has(changes.before)} or ${has(changes.after)})`,
  );
  const behind = sql`select 1 from ${changes} where ${and(isOwn, lt(changes.id, examinedTo))}`;
  const next = sql<number | null>`case when exists (${behind}) then ${examinedTo} end`;
  return withVerdict(permission, { list: listOf(pageOf(matches, $.limit), permission.owner_id, next) }, examined);
});
/** What changes must be like. Undefined: whatever they are. The days are both included. */
type Filter = Optional<{ action: string; search: string; from: string; to: string }>;
/** Those of the business in the path that match. */
export function matchingChanges(page: Page, { action = '', search = '', from = '', to = '9999-12-31' }: Filter) {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const [text, capitals, domain] = searchedTexts(search);
  const texts = { search: inJson(text), capitals: inJson(capitals), domain: inJson(domain) };
  return matchingChangesBefore({ ...page, action, from, to, ...texts });
}
