// Reads the list of changes, newest first. db/change.ts writes it.
import { and, desc, eq, getTableColumns, gte, lt, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { KEY_ACTIONS } from '../core/change.ts';
import { addDays, dayOf } from '../core/time.ts';
import { asJson, type ContentOf, type Json, jsonObject, PAGE_BYTES, selectOne } from '../db/json.ts';
import { isPermitted, type Permission, permittedId } from '../db/permission.ts';
import { apiKeys, changes } from '../db/schema.ts';
import { operatorStatement, statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import type { changesQuery } from './operations.ts';
import { KEEP_CHANGES_DAYS, searchVariants } from './rules.ts';

/** The first day whose changes are retained. */
export const changesRetainedFrom = (now: Date): string => addDays(dayOf(now), -KEEP_CHANGES_DAYS);

/** The maximum number of ids examined for a page, so a page's cost does not grow with the history. */
const EXAMINED_IDS = 1000;

const bytesOf = (text: SQLWrapper) => sql`coalesce(octet_length(${text}), 0)`;
const bytes = sql<number>`${bytesOf(changes.before)} + ${bytesOf(changes.after)}`.as('bytes');
/** Adds `bytes_before`, the total size of the newer changes, to each change of a page. */
const measured = (page: SQLWrapper) =>
  sql`(select *, sum(bytes) over (order by id desc rows unbounded preceding) - bytes as bytes_before from ${page}) as page`;

type Content = Record<string, unknown> | null;

/** A key's name, if the key belongs to the user. A new owner must not see the names of the former owner's keys. */
const keyName = (id: SQL, user_id: SQLWrapper) =>
  sql<
    string | null
  >`(select ${apiKeys.name} from ${apiKeys} where ${and(eq(apiKeys.id, id), eq(apiKeys.user_id, user_id))})`;

/** The person who made a change, if the console link was the user's own. A new owner must not see whom the former owner's links named. */
const shownName = (
  { actor_name, actor_user_id }: Record<'actor_name' | 'actor_user_id', SQLWrapper>,
  user_id: SQLWrapper,
) => sql<string | null>`case when ${actor_user_id} = ${user_id} then ${actor_name} end`;

/** The id of the key that made a change. Null if no key made it. */
const actingKey = (actor: SQLWrapper) =>
  sql`case when ${actor} glob 'key *' then cast(substr(${actor}, 5) as integer) end`;

/**
 * `before` or `after` as shown to a user. Null if it names another user as the owner, so a transfer shows neither owner the values of the
 * other. If it describes one of the user's own keys, it contains the key's current name. The name of another user's key is omitted.
 */
const shownTo = (
  user_id: SQLWrapper,
  text: SQLWrapper,
  { subject, action }: Record<'subject' | 'action', SQLWrapper>,
) => sql`case when ${subject} = 'business' and ${action} in (${sql.raw(`'${KEY_ACTIONS.join("', '")}'`)})
  then json_patch(${text}, json_object('name', ${keyName(sql`${text} ->> 'id'`, user_id)}))
  when ${text} ->> 'user_id' <> ${user_id} then null else ${text} end`;

const NAMES = ['limit', 'before', 'action', 'from', 'to', 'search', 'upper_case', 'domain'] as const;

type Filters = Placeholders<(typeof NAMES)[number]>;

/** The lowest id examined for a page. Examines EXAMINED_IDS ids, or fewer if a text search reads PAGE_BYTES first. */
function lastExamined($: Filters, isOwn: SQL | undefined, isBefore: SQL | undefined): SQL {
  const newest = sql`(select max(${changes.id}) from ${changes} where ${isOwn})`;
  // SQLite stores the length of a text in the row header, so this reads no text.
  const compared = builder.select({ id: changes.id, bytes }).from(changes).where(isBefore).orderBy(desc(changes.id));
  const tooMuch = sql`(select id from ${measured(sql`(${compared.limit(EXAMINED_IDS)})`)}
    where bytes_before >= ${PAGE_BYTES} limit 1)`;
  return sql`max(min(${$.before}, ${newest} + 1) - ${EXAMINED_IDS},
    coalesce(case when ${$.search} is not null then ${tooMuch} + 1 end, 0))`;
}

/** Tests whether a JSON text contains the search text. */
function hasText(json: SQLWrapper, $: Filters): SQL {
  const shown = sql`lower(${json})`;
  // Skips missing variants, because SQLite would compute `shown` again for each additional comparison.
  const hasOther = (other: Placeholder) => sql`(${other} is not null and instr(${shown}, lower(${other})))`;
  return sql`(instr(${shown}, lower(${$.search})) or ${hasOther($.upper_case)} or ${hasOther($.domain)})`;
}

/** Tests whether a change contains the search text in its values or names, as they are shown to the owner. */
function isFound(owner_id: SQLWrapper, $: Filters): SQL {
  const name = (shown: SQL) => sql`nullif(json_quote(${shown}), 'null')`;
  const texts = [
    shownTo(owner_id, changes.before, changes),
    shownTo(owner_id, changes.after, changes),
    name(keyName(actingKey(changes.actor), owner_id)),
    name(shownName(changes, owner_id)),
  ];
  return sql.join(
    texts.map((text) => hasText(text, $)),
    sql` or `,
  );
}

/**
 * Reads the verdict and a page of a subject's changes with ids below `before`, filtered by action, search text, and the days from `from` to
 * `to`. A null filter matches every change. `changes` contains the newest matches, up to PAGE_BYTES. `found` is the number of matches, at
 * most `limit`. `next` is the lowest examined id (`lastExamined`) if older changes exist.
 */
const changesOf = (
  define: typeof statement,
  subject: SQL,
  subjectId: (permission: Permission, user_id: Placeholder) => SQL,
  /** The user to whom the values and names are shown. */
  ownerOf: (permission: Permission, user_id: Placeholder) => SQLWrapper,
) =>
  define(NAMES, (permission, $) => {
    const owner_id = ownerOf(permission, $.user_id);
    const isOwn = and(eq(changes.subject, subject), eq(changes.subject_id, subjectId(permission, $.user_id)));
    const isBefore = and(isOwn, lt(changes.id, $.before));
    const last = lastExamined($, isOwn, isBefore);
    // Selects `last` with the permission, so SQLite computes it only once.
    const examined = sql`(select *, ${last} as examined_to from ${permission} where true limit 1) as permission`;
    const examinedTo = sql<number>`permission.examined_to`;

    const matches = and(
      isBefore,
      gte(changes.id, examinedTo),
      sql`substr(${changes.at}, 1, 10) between coalesce(${$.from}, '') and coalesce(${$.to}, '9999-12-31')`,
      sql`(${$.action} is null or ${changes.action} = ${$.action})`,
      sql`(${$.search} is null or ${isFound(owner_id, $)})`,
    );
    const page = builder
      .select({ ...getTableColumns(changes), bytes })
      .from(changes)
      .where(matches)
      .orderBy(desc(changes.id))
      .limit($.limit)
      .as('page');

    const { id, at, actor, action, before, after, actor_name, actor_user_id } = page;
    const shown = jsonObject({
      id,
      at,
      actor,
      key_name: keyName(actingKey(actor), owner_id),
      actor_name: shownName({ actor_name, actor_user_id }, owner_id),
      action,
      before: asJson<Content>(shownTo(owner_id, before, page)),
      after: asJson<Content>(shownTo(owner_id, after, page)),
    });
    const fitting = sql<
      Json<ContentOf<typeof shown>[]>
    >`json_group_array(${shown}) filter (where bytes_before < ${PAGE_BYTES})`;
    const further = sql`select 1 from ${changes} where ${and(isOwn, lt(changes.id, examinedTo))}`;
    const next = sql<number | null>`case when exists (${further}) then ${examinedTo} end`;
    const list = jsonObject({ found: sql<number>`count(*)`, changes: fitting, next });
    return withVerdict(permission, { list: selectOne(list, sql`from ${measured(page)}`) }, examined);
  });
const ofBusiness = changesOf(statement, sql`'business'`, permittedId, ({ owner_id }) => owner_id);
const ofUser = changesOf(
  operatorStatement,
  sql`'user'`,
  (permission, user_id) => sql`case when ${isPermitted(permission)} then ${user_id} end`,
  (_, user_id) => user_id,
);

type Page = { limit: number; before: number };
/** Filters for a list of changes. `from` and `to` are inclusive. */
type Filter = Omit<z.output<typeof changesQuery.schema>, 'limit' | 'before'>;
const ANY = { action: null, from: null, to: null, search: null, upper_case: null, domain: null };

/** Reads a page of the matching changes of the business in the path. */
export function changesOfBusiness(page: Page, { action, search, from, to }: Filter) {
  const texts = { search: null, upper_case: null, domain: null, ...(search !== undefined && textsInJson(search)) };
  return ofBusiness({ ...page, ...texts, action: action ?? null, from: from ?? null, to: to ?? null });
}
/** Reads a page of the changes to the keys for all businesses of the user in the path. */
export const changesOfUser = (page: Page) => ofUser({ ...ANY, ...page });

/** Returns the variants of a search text, escaped as in JSON. */
function textsInJson(search: string) {
  const escaped = searchVariants(search).map((text) => text && JSON.stringify(text).slice(1, -1));
  const [text = null, upper_case = null, domain = null] = escaped;
  return { search: text, upper_case, domain };
}
