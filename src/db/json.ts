// Builds JSON in SQL. The types track its content, from the columns to the code that parses it.
import { type Column, type GetColumnData, type SQL, sql } from 'drizzle-orm';

declare const content: unique symbol;
/** A JSON text that parses to T. */
export type Json<T> = string & { [content]: T };

type Field = Column | SQL;
/** The parsed type of the JSON that an expression returns. */
export type ContentOf<F> = F extends Column ? GetColumnData<F> : F extends SQL<infer T> ? Plain<T> : never;
type Plain<T> = T extends Json<infer Content> ? Content : T;
type ObjectOf<Fields> = { [Name in keyof Fields]: ContentOf<Fields[Name]> };

export function jsonObject<Fields extends Record<string, Field>>(fields: Fields): SQL<Json<ObjectOf<Fields>>> {
  const members = Object.entries(fields).map(([name, field]) => sql`${sql.raw(`'${name}'`)}, ${field}`);
  return sql`json_object(${sql.join(members, sql`, `)})`;
}

/** Builds a list of each row's `entry`, sorted by `order` if given. */
export function jsonList<F extends Field>(entry: F, ...order: Column[]): SQL<Json<ContentOf<F>[]>> {
  const ordered = order.length === 0 ? sql`` : sql` order by ${sql.join(order, sql`, `)}`;
  return sql`json_group_array(${entry}${ordered})`;
}

/** A page of a list ends when its texts reach this size. One change can be 130 KB, and D1 limits a text to 2 MB. */
export const PAGE_BYTES = sql.raw('500000');

/** A subquery that returns one value. */
export const selectOne = <T>(value: SQL<T>, from: SQL): SQL<T> => sql`(select ${value} ${from})`;

/** Marks a text as JSON, because SQLite treats a subquery's column as plain text. */
export const asJson = <T>(text: Column | SQL): SQL<Json<T>> => sql`json(${text})`;

export const parseJson = <T>(text: Json<T>): T => JSON.parse(text);
