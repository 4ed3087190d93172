// Builds the values of a new row from an object keyed by column name.
import { getTableColumns, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';

type Value = SQLWrapper | Placeholder | string | number;
type ColumnsOf<T extends SQLiteTable> = T['$inferSelect'];
/** A value for each column. Nullable columns may be omitted. */
export type NewRow<T extends SQLiteTable> = {
  [C in keyof ColumnsOf<T> as null extends ColumnsOf<T>[C] ? never : C]: Value;
} & { [C in keyof ColumnsOf<T> as null extends ColumnsOf<T>[C] ? C : never]?: Value };

/** Makes SQLite assign the next id. */
export const NEW_ID = sql`null`;

/** Lists the values in the order of the table's columns, as Drizzle's `insert … select` requires. */
export const rowValues = <T extends SQLiteTable>(table: T, row: NewRow<T>): SQL =>
  sql.join(
    Object.keys(getTableColumns(table)).map((name) => sql`${(row as Record<string, Value>)[name] ?? sql`null`}`),
    sql`, `,
  );

/** Reads a row's values from a JSON object keyed by column name. A missing key means null. */
export const rowIn = <T extends SQLiteTable>(table: T, json: SQLWrapper): NewRow<T> =>
  Object.fromEntries(
    Object.keys(getTableColumns(table)).map((name) => [name, sql`${json} ->> ${sql.raw(`'${name}'`)}`]),
  ) as NewRow<T>;
