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
 * The names of columns and aliases that SQLite would take for keywords. No other name is quoted, because the SQL is sent to D1 as JSON, in
 * which each quote is escaped. A missing one is a syntax error when the statement first runs (test/statements.test.ts).
 */
const KEYWORDS = ['from', 'limit'];

/**
 * Generates the SQL. Any value in the query that is not a placeholder becomes a constant. A value is bound once, even if the SQL contains it
 * several times, as most do.
 */
export function textOf(query: BuiltQuery): Text {
  const names = new Set<string>();
  const escapeParam = (_: number, param?: unknown) => `?${[...names.add(nameOf(param))].indexOf(nameOf(param)) + 1}`;
  const escapeName = (name: string) => (KEYWORDS.includes(name) ? `"${name}"` : name);
  const dialect = Object.assign(new SQLiteAsyncDialect(), { escapeParam, escapeName });
  const { sql } = dialect.sqlToQuery(query.getSQL().inlineParams());
  return { sql, names: [...names] };
}

/**
 * Returns a typed subquery, and the names of the fields that a statement has read from it. Its SQL selects only these, because each call
 * sends its SQL to D1: a kilobyte costs as much as a lookup, even though D1 parses the same text only once.
 */
export function subqueryOf<Fields extends Record<string, SQL>>(
  alias: string,
  fields: Fields,
  aliasOf: (name: string) => string,
  from: SQL,
) {
  const used = new Set<string>();
  const aliased = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.as(aliasOf(name))]),
  ) as { [Name in keyof Fields]: SQL.Aliased<Fields[Name] extends SQL<infer T> ? T : never> };
  // Read when the statement's SQL is generated, after the fields.
  const text = Object.defineProperty(sql``, 'queryChunks', {
    get: () => {
      const names = Object.keys(fields).filter((name) => used.has(name));
      const selected = names.map((name) => sql`${fields[name]} as ${sql.identifier(aliasOf(name))}`);
      return [sql`select ${sql.join(selected, sql`, `)} ${from}`];
    },
  });
  const subquery = Object.assign(builder.select(aliased).from(from), { getSQL: () => text }).as(alias);
  const tracked = new Proxy(subquery, {
    get(target, name) {
      if (Object.hasOwn(fields, name)) used.add(name as string);
      return Reflect.get(target, name);
    },
  });
  return { subquery: tracked, used };
}

function nameOf(param: unknown): string {
  if (!is(param, Placeholder)) throw new Error(`not a placeholder: ${param}`);
  return param.name;
}
