// Statements of a call. Each depends on the permission, and its SQL is written once for each shape of call.
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { CALL_VALUES, type CallShape, type CallValue } from './call.ts';
import type { Json } from './json.ts';
import { type Permission, permissionFor, verdictOf } from './permission.ts';
import {
  type Bindable,
  type BuiltQuery,
  builder,
  type Placeholders,
  placeholders,
  type RowOf,
  type Text,
  textOf,
} from './text.ts';

/**
 * A statement with its own values; the values of the call are added when it runs. `Row` has the fields that it selects: `row` is
 * never set and only carries the type.
 */
export type Statement<Row = unknown> = {
  textFor: (shape: CallShape) => Text;
  values: Record<string, Bindable>;
  row?: Row;
};

/** Statements that run one after the other in one batch, by the names of the steps. */
export type Steps = { readonly [step: string]: Statement };

/** The rows that each step returns. */
export type RowsOf<S extends Steps> = {
  -readonly [Step in keyof S]: S[Step] extends Statement<infer Row> ? Row[] : never;
};

/** An entry of the JSON list that a statement selects as the field `Name`. */
export type EntryOf<S, Name extends string> =
  S extends Statement<{ [N in Name]: Json<(infer Entry)[]> }> ? Entry : never;

/** Defines a statement. `names` are its own values. `$` has a placeholder for each of them and for each value of the call. */
export function statement<const N extends string, Q extends BuiltQuery>(
  names: readonly N[],
  write: (permission: Permission, $: Placeholders<N | CallValue>, shape: CallShape) => Q,
): (values: Record<N, Bindable>) => Statement<RowOf<Q>> {
  const $ = placeholders<N | CallValue>([...CALL_VALUES, ...names]);
  const texts = new Map<string, Text>();
  function textFor(shape: CallShape): Text {
    const key = Object.values(shape).join(' ');
    const text = texts.get(key) ?? textOf(write(permissionFor(shape), $, shape));
    texts.set(key, text);
    return text;
  }
  return (values) => ({ textFor, values });
}

/**
 * Reads the verdict beside `fields`, whatever it is: the conditions of your fields must use `permittedId`. `where true` keeps SQLite
 * from merging the two selects, which would evaluate the rule again for each field that depends on it. `from` is the permission, with
 * more columns if the fields need them.
 */
export const withVerdict = <Fields extends Record<string, SQL.Aliased | SQLiteColumn>>(
  permission: Permission,
  fields: Fields,
  from: Permission | SQL = permission,
) =>
  builder
    .select({ ...verdictOf(permission), ...fields })
    .from(from)
    .where(sql`true`);

/** Whether the statement directly before this one in the batch wrote anything. */
export const hasWritten = sql`changes() > 0`;

/** Reads only the verdict, for changes that need nothing else before them. */
export const readVerdict = statement([], (permission) => builder.select(verdictOf(permission)).from(permission))({});
