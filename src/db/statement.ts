// Statements whose SQL is written once. Drizzle writes it when a kind of call is first seen; from then on a request only
// binds its values.
import { fillPlaceholders, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

/** Writes SQL and runs none, so it needs no database. */
export const db = drizzle(null as never);

/** A value of the request, by its name: in the values of the scope, or in those of the statement. */
export const $ = sql.placeholder;
export const $business_id = $('business_id');

/** A statement with its values. It gives rows of the columns that it names: every field bears its column's name. */
export type Statement<Row = unknown> = { sql: string; values: unknown[]; row?: Row };

/** The rows that each of some statements gives. */
export type RowsOf<S extends Record<string, Statement>> = {
  [Name in keyof S]: S[Name] extends Statement<infer Row> ? Row[] : never;
};

/** A query of Drizzle's builder. */
export type Query = PromiseLike<unknown> & { getSQL(): SQL };
type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never;
type Values = Record<string, unknown>;

/** What SQL is written for, and kept by, all of it. Nothing that belongs to one request may be in it. */
type Kind = Record<string, string | number>;

const dialect = new SQLiteAsyncDialect();

/**
 * A statement that is written for each kind of call once, so `write` sees no values: it has placeholders for them. What is no
 * placeholder is a constant, and stands in the SQL as it is.
 */
export function statement<K extends Kind, Q extends Query>(write: (kind: K) => Q) {
  const written = new Map<string, { sql: string; params: unknown[] }>();
  return function bound(scope: { kind: K; values: Values }, values?: Values): Statement<RowOf<Q>> {
    const name = JSON.stringify(scope.kind);
    let query = written.get(name);
    if (query === undefined) {
      query = dialect.sqlToQuery(write(scope.kind).getSQL().inlineParams());
      written.set(name, query);
    }
    return { sql: query.sql, values: fillPlaceholders(query.params, { ...scope.values, ...values }) };
  };
}
