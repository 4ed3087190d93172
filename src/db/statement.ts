// Statements whose SQL is written once. Drizzle writes it when a form of call first occurs; after that, a request only binds its
// values.
import { getTableColumns, is, Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { SQLiteAsyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { CallerKind } from '../core/credential.ts';
import type { Operation } from '../core/policy.ts';

/** Drizzle's query builder. It only writes SQL, so it needs no database. */
export const builder = drizzle({} as D1Database);

export type Bindable = string | number;

/** What of a call changes the text of its statements: a few dozen forms occur. */
export type Form = {
  caller: CallerKind;
  operation: Operation;
  /** Whether the call is about the business in its path. */
  namesBusiness: boolean;
  /** Whether the caller needs no origin, or sent none, or one that may have to be registered. */
  origin: 'exempt' | 'missing' | 'sent';
  /** The number of sites that could cover the origin. */
  candidates: number;
};

/**
 * A statement with its own values; the values of the call are added when it runs. `Row` has the fields that it selects: `row` is
 * never set and only carries the type.
 */
export type Statement<Row = unknown> = {
  textFor: (form: Form) => Text;
  values: Record<string, Bindable>;
  row?: Row;
};

/** SQL, and the names of the values to bind, in order. */
export type Text = { sql: string; names: string[] };

/** Statements that run one after the other in one batch, by the names of the steps. */
export type Steps = { readonly [step: string]: Statement };

/** The rows that each step returns. */
export type RowsOf<S extends Steps> = {
  -readonly [Step in keyof S]: S[Step] extends Statement<infer Row> ? Row[] : never;
};

/** A query of Drizzle's builder. */
export type BuiltQuery = PromiseLike<unknown> & { getSQL(): SQL };
export type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never;

export type Placeholders<N extends string> = { [Name in N]: Placeholder<Name> };

/** A placeholder for each name. */
export const placeholders = <N extends string>(names: readonly N[]): Placeholders<N> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Placeholders<N>;

type Value = SQLWrapper | Placeholder | string | number;
type ColumnsOf<T extends SQLiteTable> = T['$inferSelect'];
/** A value for each column. Those that can be null may be left out. */
export type NewRow<T extends SQLiteTable> = {
  [C in keyof ColumnsOf<T> as null extends ColumnsOf<T>[C] ? never : C]: Value;
} & { [C in keyof ColumnsOf<T> as null extends ColumnsOf<T>[C] ? C : never]?: Value };

/** The id of a row that gets the next one. */
export const NEW_ID = sql`null`;

/** The values of a new row in the order of the table's columns, which an `insert … select` of Drizzle needs. */
export const newRow = <T extends SQLiteTable>(table: T, row: NewRow<T>): SQL =>
  sql.join(
    Object.entries(getTableColumns(table))
      .filter(([, { generated }]) => generated === undefined)
      .map(([name]) => sql`${(row as Record<string, Value>)[name] ?? sql`null`}`),
    sql`, `,
  );

/** A row whose values are the members of a JSON object with the names of the columns. One that is missing is null. */
export const rowIn = <T extends SQLiteTable>(table: T, json: SQLWrapper): NewRow<T> =>
  Object.fromEntries(
    Object.keys(getTableColumns(table)).map((name) => [name, sql`${json} ->> ${sql.raw(`'${name}'`)}`]),
  ) as NewRow<T>;

const dialect = new SQLiteAsyncDialect();

/** Writes the SQL. Anything in the query that is not a placeholder becomes a constant. */
export function textOf(query: BuiltQuery): Text {
  const { sql, params } = dialect.sqlToQuery(query.getSQL().inlineParams());
  return { sql, names: params.map(nameOf) };
}

/** Writes the SQL of each form once. */
export function textsOf(write: (form: Form) => BuiltQuery): (form: Form) => Text {
  const texts = new Map<string, Text>();
  return function textFor(form) {
    const { caller, operation, namesBusiness, origin, candidates } = form;
    const key = `${operation} ${caller} ${namesBusiness} ${origin} ${candidates}`;
    const text = texts.get(key) ?? textOf(write(form));
    texts.set(key, text);
    return text;
  };
}

function nameOf(param: unknown): string {
  if (!is(param, Placeholder)) throw new Error(`not a placeholder: ${param}`);
  return param.name;
}
