// The sections of a user's export: the query of each section, and the line for each row, without secrets or hashes. Each query uses an
// index and continues after the previous page's last row, so later pages cost no more than the first.
import { and, type Column, eq, getTableColumns, gt, gte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { shownName, shownTo } from '../changes/statements.ts';
import { thresholdsOf } from '../core/limits.ts';
import { lastFour } from '../db/change.ts';
import { type Json, jsonList, jsonObject, parseJson, selectOne } from '../db/json.ts';
import { ifPermitted, type Permission } from '../db/permission.ts';
import {
  access,
  apiKeys,
  billingChanges,
  businessColumns,
  businesses,
  changes,
  codes,
  dailyUsage,
  events,
  formerTokens,
  importedDays,
  limitColumns,
  refusedOrigins,
  userIn,
} from '../db/schema.ts';
import { type Statement, statement } from '../db/statement.ts';
import { type BuiltQuery, builder, type Placeholders, type RowOf } from '../db/text.ts';
import { keyColumns, shownKey } from '../keys/statements.ts';
import type { RowPosition, Section } from './export-cursor.ts';

/** The maximum number of rows of one section on a page. */
const ROWS = 1000;
/** The maximum number of changes on a page. One change can be 130 KB. */
const CHANGES = 20;

const NAMES = ['user_id', 'id', 'key', 'limit'] as const;
type Values = Placeholders<(typeof NAMES)[number]>;
const START: RowPosition = { id: 0, key: '' };

type ReadSection = {
  read: (user_id: number, after: RowPosition | null) => Statement;
  /** Returns the lines of the rows, and the last row's position if there can be more rows. */
  page: (rows: unknown[]) => { lines: object[]; last: RowPosition | null };
};

/** Defines a section by its query, the line for a row, and the position of a row. Without `positionOf`, the section is one page. */
function section<Q extends BuiltQuery>(
  define: (permission: Permission, $: Values) => Q,
  lineOf: (row: RowOf<Q>) => object,
  positionOf: ((row: RowOf<Q>) => RowPosition) | null,
  limit = ROWS,
): ReadSection {
  const read = statement(NAMES, define);
  return {
    read: (user_id, after) => read({ user_id, limit, ...(after ?? START) }),
    page(found) {
      const rows = found as RowOf<Q>[];
      const last = rows.length < limit ? undefined : rows.at(-1);
      return { lines: rows.map(lineOf), last: last === undefined || positionOf === null ? null : positionOf(last) };
    },
  };
}

/** The exported user's id, if the call is permitted. */
const own = (permission: Permission, $: Values) => ifPermitted(permission, $.user_id);

/** The value that sorts before every text, or before every id. */
type Start = '' | 0;
/** Matches the rows that belong to the user's businesses and follow the previous page's last row. */
function isNext(permission: Permission, $: Values, { business_id, key }: Sorted, start: Start) {
  const ended = sql`case when ${businesses.id} = ${$.id} then ${$.key} else ${sql.raw(start === '' ? `''` : '0')} end`;
  const isOwn = and(eq(businesses.user_id, own(permission, $)), gte(businesses.id, $.id));
  return and(isOwn, eq(business_id, businesses.id), gt(key, ended));
}
/** The sort columns of a table that contains businesses' rows. `key` sorts the rows of one business. */
type Sorted = Record<'business_id' | 'key', Column>;

/** Selects a page of a table whose rows belong to businesses. */
const rowsOf =
  <T extends SQLiteTable & { business_id: Column }>(table: T, key: SQLiteColumn, start: Start) =>
  (permission: Permission, $: Values) =>
    builder
      .select(getTableColumns(table) as Record<string, SQLiteColumn>)
      .from(businesses)
      .crossJoin(table as SQLiteTable)
      .where(isNext(permission, $, { business_id: table.business_id, key }, start))
      .orderBy(businesses.id, key)
      .limit($.limit) as unknown as PromiseLike<T['$inferSelect'][]> & { getSQL(): SQL };

/** The columns of a change as shown to the user. */
const changeColumns = ({ user_id }: Values) => {
  const { subject, subject_id, id, at, actor, action, before, after } = changes;
  const shown = (text: Column) => sql<Json<object> | null>`${shownTo(user_id, text, changes)}`;
  const texts = { before: shown(before).as('before'), after: shown(after).as('after') };
  const actor_name = shownName(changes, user_id).as('actor_name');
  return { subject, subject_id, id, at, actor, actor_name, action, ...texts };
};
type Change = RowOf<ReturnType<typeof changesOfUser>>;
const changeLine = ({ subject, subject_id, before, after, ...change }: Change) => ({
  type: 'change',
  business_id: subject === 'business' ? subject_id : null,
  ...change,
  before: before && parseJson(before),
  after: after && parseJson(after),
});
const changePosition = ({ subject_id, id }: Change): RowPosition => ({ id: subject_id, key: id });
const changesOfUser = (permission: Permission, $: Values) =>
  builder
    .select(changeColumns($))
    .from(changes)
    .where(and(eq(changes.subject, 'user'), eq(changes.subject_id, own(permission, $)), gt(changes.id, $.id)))
    .orderBy(changes.id)
    .limit($.limit);
/** Selects the changes that name the user and whose business was deleted or belongs to another user. */
const changesNaming = (text: Column) => (permission: Permission, $: Values) => {
  const isOwn = and(eq(businesses.id, changes.subject_id), eq(businesses.user_id, $.user_id));
  const isFormer = sql`not exists (select 1 from ${businesses} where ${isOwn})`;
  const isAfter = sql`(${changes.subject_id}, ${changes.id}) > (${$.id}, ${$.key})`;
  return builder
    .select(changeColumns($))
    .from(changes)
    .where(and(sql`${userIn(text)} = ${own(permission, $)}`, eq(changes.subject, 'business'), isAfter, isFormer))
    .orderBy(changes.subject_id, changes.id)
    .limit($.limit);
};

export const SECTIONS: Record<Section, ReadSection> = {
  businesses: section(
    (permission, $) => {
      const { token: _, ...columns } = businessColumns;
      const { token, place, expires_at, business_id } = formerTokens;
      const former = jsonList(
        jsonObject({ last_four: sql<string>`substr(${token}, -4)`, expires_at }),
        place,
        expires_at,
      );
      const isOwn = eq(business_id, businesses.id);
      return builder
        .select({
          ...columns,
          token: sql<string>`${lastFour(sql`${businesses.token}`)}`.as('token'),
          ...limitColumns,
          billing_day: businesses.billing_day,
          former_tokens: selectOne(former, sql`from ${formerTokens} where ${isOwn}`).as('former_tokens'),
        })
        .from(businesses)
        .where(and(eq(businesses.user_id, own(permission, $)), gt(businesses.id, $.id)))
        .orderBy(businesses.id)
        .limit($.limit);
    },
    ({ former_tokens, ...row }) => ({
      ...{ type: 'business', ...row },
      alert_at: thresholdsOf(row),
      former_tokens: parseJson(former_tokens),
    }),
    ({ id }) => ({ id, key: 0 }),
  ),
  sites: section(
    rowsOf(access, access.site, ''),
    (row) => ({ type: 'site', ...row }),
    ({ business_id, site }) => ({ id: business_id, key: site }),
  ),
  counts: section(
    rowsOf(dailyUsage, dailyUsage.day, ''),
    ({ day, ...row }) => ({ type: 'count', ...row, date: day }),
    ({ business_id, day }) => ({ id: business_id, key: day }),
  ),
  billing_changes: section(
    rowsOf(billingChanges, billingChanges.starts_on, ''),
    (row) => ({ type: 'billing_change', ...row }),
    ({ business_id, starts_on }) => ({ id: business_id, key: starts_on }),
  ),
  imported_days: section(
    rowsOf(importedDays, importedDays.day, ''),
    ({ day, ...row }) => ({ type: 'imported_day', ...row, date: day }),
    ({ business_id, day }) => ({ id: business_id, key: day }),
  ),
  refused_origins: section(
    rowsOf(refusedOrigins, refusedOrigins.origin, ''),
    (row) => ({ type: 'refused_origin', ...row }),
    ({ business_id, origin }) => ({ id: business_id, key: origin }),
  ),
  alerts: section(
    rowsOf(events, events.id, ''),
    (row) => ({ type: 'alert', ...row }),
    ({ business_id, id }) => ({ id: business_id, key: id }),
  ),
  changes_of_businesses: section(
    (permission, $) =>
      builder
        .select(changeColumns($))
        .from(businesses)
        .crossJoin(changes)
        .where(
          and(
            eq(changes.subject, 'business'),
            isNext(permission, $, { business_id: changes.subject_id, key: changes.id }, 0),
          ),
        )
        .orderBy(businesses.id, changes.id)
        .limit($.limit),
    changeLine,
    changePosition,
    CHANGES,
  ),
  changes_before: section(changesNaming(changes.before), changeLine, changePosition, CHANGES),
  changes_after: section(changesNaming(changes.after), changeLine, changePosition, CHANGES),
  changes_of_user: section(changesOfUser, changeLine, ({ id }) => ({ id, key: 0 }), CHANGES),
  keys: section(
    (permission, $) =>
      builder
        .select({
          ...keyColumns,
          ends_at: apiKeys.ends_at,
          session_of: apiKeys.session_of,
          actor_name: apiKeys.actor_name,
        })
        .from(apiKeys)
        .where(and(eq(apiKeys.user_id, own(permission, $)), gt(apiKeys.id, $.id)))
        .orderBy(apiKeys.id)
        .limit($.limit),
    ({ ends_at, session_of, actor_name, ...key }) =>
      ends_at === null
        ? { type: 'key', ...shownKey(key) }
        : { type: 'session', ...shownKey(key), ends_at, session_of, actor_name },
    ({ id }) => ({ id, key: 0 }),
  ),
  // Codes expire after two minutes, so there are few.
  codes: section(
    (permission, $) =>
      builder
        .select({
          user_id: codes.user_id,
          business_id: codes.business_id,
          role: codes.role,
          minutes: codes.minutes,
          expires_at: codes.expires_at,
          return_url: codes.return_url,
          actor_name: codes.actor_name,
        })
        .from(codes)
        .where(eq(codes.user_id, own(permission, $))),
    ({ role, ...row }) => ({ type: 'code', ...row, read_only: role === 'read' }),
    null,
  ),
};
