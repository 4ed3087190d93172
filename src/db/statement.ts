// Statements whose SQL is written once. Drizzle writes it when a form of call first occurs; after that, a request only binds its
// values.
import { is, Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import type { Credential } from '../core/credential.ts';

/** Drizzle's query builder. It only writes SQL, so it needs no database. */
export const builder = drizzle({} as D1Database);

export type Value = string | number;

/** The part of a call that changes the SQL itself. There are at most a dozen forms. */
export type Form = {
  credential: Credential['kind'];
  /** The number of sites that could cover the origin. */
  candidates: number;
};

/**
 * A statement with its own values; the values of the call are added when it runs. `Row` has the fields that it selects: `row` is
 * never set and only carries the type.
 */
export type Statement<Row = unknown> = {
  textFor: (form: Form) => Text;
  values: Record<string, Value>;
  row?: Row;
};

/** SQL, and the names of the values to bind, in order. */
export type Text = { sql: string; names: string[] };

/** The rows that each statement returns. */
export type RowsOf<S extends readonly Statement[]> = {
  -readonly [I in keyof S]: S[I] extends Statement<infer Row> ? Row[] : never;
};

/** A query of Drizzle's builder. */
export type Query = PromiseLike<unknown> & { getSQL(): SQL };
export type RowOf<Q> = Awaited<Q> extends (infer Row)[] ? Row : never;

export type Placeholders<N extends string> = Record<N, Placeholder<N>>;

/** A placeholder for each name. */
export const placeholders = <N extends string>(names: readonly N[]): Placeholders<N> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Placeholders<N>;

const dialect = new SQLiteAsyncDialect();

/** Writes the SQL of each form once. Anything in the query that is not a placeholder becomes a constant. */
export function textsOf(write: (form: Form) => Query): (form: Form) => Text {
  const texts: Record<Credential['kind'], Text[]> = { key: [], token: [] };
  return function textFor(form) {
    let text = texts[form.credential][form.candidates];
    if (text === undefined) {
      const { sql, params } = dialect.sqlToQuery(write(form).getSQL().inlineParams());
      text = { sql, names: params.map(nameOf) };
      texts[form.credential][form.candidates] = text;
    }
    return text;
  };
}

function nameOf(param: unknown): string {
  if (!is(param, Placeholder)) throw new Error(`not a placeholder: ${param}`);
  return param.name;
}
