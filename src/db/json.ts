// JSON that SQL makes, with the type of its content: it follows from the columns, from where the SQL is written to where it is read.
import { type Column, type GetColumnData, type SQL, sql } from 'drizzle-orm';

declare const content: unique symbol;
/** A JSON text with a T in it. */
export type Json<T> = string & { [content]: T };

type Field = Column | SQL;
type DataOf<F> = F extends Column ? GetColumnData<F> : F extends SQL<infer T> ? Plain<T> : never;
type Plain<T> = T extends Json<infer Content> ? Content : T;
/** What is in the JSON of an expression. */
export type ContentOf<S extends SQL> = DataOf<S>;
type ObjectOf<Fields> = { [Name in keyof Fields]: DataOf<Fields[Name]> };

/** An object with these members. */
export function jsonObject<Fields extends Record<string, Field>>(fields: Fields): SQL<Json<ObjectOf<Fields>>> {
  const members = Object.entries(fields).map(([name, field]) => sql`${sql.raw(`'${name}'`)}, ${field}`);
  return sql`json_object(${sql.join(members, sql`, `)})`;
}

/** The list of what `entry` is in each row, in the order of these columns if there are any. */
export function jsonList<F extends Field>(entry: F, ...order: Column[]): SQL<Json<DataOf<F>[]>> {
  const ordered = order.length === 0 ? sql`` : sql` order by ${sql.join(order, sql`, `)}`;
  return sql`json_group_array(${entry}${ordered})`;
}

/** A subquery of one value. */
export const selectOne = <T>(value: SQL<T>, from: SQL): SQL<T> => sql`(select ${value} ${from})`;

/** A text that is JSON already, as a member: a column of a subquery is plain text to SQLite. */
export const asJson = <T>(text: Column | SQL): SQL<Json<T>> => sql`json(${text})`;

export const parseJson = <T>(text: Json<T>): T => JSON.parse(text);
