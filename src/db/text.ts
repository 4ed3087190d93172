// Generates a query's SQL once, with placeholders. Requests then only bind the values.
import { is, Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

/** Drizzle's query builder. It only generates SQL, so it needs no database. */
export const builder = drizzle({} as D1Database);

export const NULL = sql`null`;

export type Bindable = string | number | null;

export type BuiltQuery = PromiseLike<unknown> & { getSQL(): SQL };
export type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never;

export type Placeholders<N extends string> = { [Name in N]: Placeholder<Name> };

export const placeholders = <N extends string>(names: readonly N[]): Placeholders<N> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Placeholders<N>;

/** SQL and the names of its values: `?1` is the first. */
export type Text = { sql: string; names: string[] };

/**
 * Generates the SQL. Any value in the query that is not a placeholder becomes a constant. A value is bound once, even if the SQL contains it
 * several times, as most do.
 */
export function textOf(query: BuiltQuery): Text {
  const names = new Set<string>();
  const text = generate(query.getSQL(), (name) => `?${[...names.add(name)].indexOf(name) + 1}`);
  return { sql: text, names: [...names] };
}

/** Generates the SQL of a part that many queries contain, so that each of them only copies it. */
export function generatedPart(query: SQL): SQL {
  // The names are the parts with an odd index. No SQL contains NUL.
  const parts = generate(query, (name) => `\0${name}\0`).split('\0');
  return sql.join(parts.map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql.placeholder(part))));
}

function generate(query: SQL, write: (name: string) => string): string {
  const escapeParam = (_: number, param?: unknown) => write(nameOf(param));
  const dialect = Object.assign(new SQLiteAsyncDialect(), { escapeParam });
  return dialect.sqlToQuery(query.inlineParams()).sql;
}

function nameOf(param: unknown): string {
  if (!is(param, Placeholder)) throw new Error(`not a placeholder: ${param}`);
  return param.name;
}
