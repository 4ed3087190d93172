// Defines the statements that calls run. Each depends on the permission. Its SQL is generated once per call shape.
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Rule } from '../core/policy.ts';
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

/** A statement with its own values. The call's values are added when it runs. `row` is never set: it only carries the type of the rows. */
export type Statement<Row = unknown> = {
  textFor: (shape: CallShape) => Text;
  values: Record<string, Bindable>;
  row?: Row;
};

/** Statements that run in order in one batch, by step name. */
export type Steps = { readonly [step: string]: Statement };

export type RowsOf<S extends Steps> = {
  -readonly [Step in keyof S]: S[Step] extends Statement<infer Row> ? Row[] : never;
};

/** The entry type of the JSON list that a statement selects as the field `Name`. */
export type EntryOf<S, Name extends string> =
  S extends Statement<{ [N in Name]: Json<(infer Entry)[]> }> ? Entry : never;

/**
 * Defines a statement. `names` lists its own parameters. `$` contains a placeholder for each of them, and for each of the call's values.
 */
export function statement<const N extends string, Q extends BuiltQuery>(
  names: readonly N[],
  write: (permission: Permission, $: Placeholders<N | CallValue>, shape: CallShape) => Q,
): (values: Record<N, Bindable>) => Statement<RowOf<Q>> {
  const $ = placeholders<N | CallValue>([...CALL_VALUES, ...names]);
  const textsOf = new Map<Rule, Map<string, Text>>();
  function textFor(shape: CallShape): Text {
    const { rule, ...others } = shape;
    const texts = textsOf.get(rule) ?? new Map<string, Text>();
    const key = Object.values(others).join(' ');
    const text = texts.get(key) ?? textOf(write(permissionFor(shape), $, shape));
    textsOf.set(rule, texts.set(key, text));
    return text;
  }
  return (values) => ({ textFor, values });
}

/**
 * Defines a statement on the data of any user. Throws for every caller except the operator, so that a definition that admits others by
 * mistake shows them nothing.
 */
export const operatorStatement: typeof statement = (names, write) =>
  statement(names, (permission, $, shape) => {
    if (shape.caller !== 'operator') throw new Error(`only the operator may run this statement, not a ${shape.caller}`);
    return write(permission, $, shape);
  });

/**
 * Defines a statement on the data of the user in the path, `$.user_id`. Throws unless the permission compares that user with the key's, and
 * refuses tokens.
 */
export const userStatement: typeof statement = (names, write) =>
  statement(names, (permission, $, shape) => {
    const { caller, namesUser, rule } = shape;
    const isChecked = namesUser && !rule.token && caller !== 'code';
    if (caller !== 'operator' && !isChecked) throw new Error(`a ${caller} may not run this statement`);
    return write(permission, $, shape);
  });

/**
 * Reads the verdict and `fields` in one row. The row is returned even if the call is refused, so `fields` must depend on the permission.
 * Without `where true`, SQLite would merge this select with the permission's and evaluate the rule again for each of these fields. `from`
 * is the permission, with additional columns if the fields need them.
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

/** Tests whether the statement directly before this one in the batch wrote a row. */
export const previousStepWrote = sql`changes() > 0`;

export const readVerdict = statement([], (permission) => builder.select(verdictOf(permission)).from(permission))({});
