// Defines the statements that calls run. Each depends on the permission. Its SQL is generated once per call shape.
import { type Column, type GetColumnData, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { CALL_VALUES, type CallShape, type CallValue } from './call.ts';
import type { Json } from './json.ts';
import { isPermitted, type Permission, permissionFor, verdictOf } from './permission.ts';
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

/** The entry type of the list `Name` in the JSON that a statement selects as `list`. */
export type EntryOf<S, Name extends string> =
  S extends Statement<{ list: Json<{ [N in Name]: (infer Entry)[] }> }> ? Entry : never;

/** What a statement depends on for a refused call to do nothing. */
type Gate = 'permission' | 'previous step';
/** A definition: the names of its values, and the place in the code, as the stack of an error. */
type Definition = { names: readonly string[]; textFor: (shape: CallShape) => Text; gate: Gate; place: Error };
/** All definitions, for the test that runs each of them with refused calls (test/statements.test.ts). */
export const DEFINITIONS: Definition[] = [];

const permissions = new Map<CallShape, ReturnType<typeof permissionFor>>();
/** Returns the permission of a shape. All statements share it, because building it takes as long as building most of them. */
function permissionOf(shape: CallShape): Permission {
  const { subquery, used } = permissions.get(shape) ?? permissionFor(shape);
  permissions.set(shape, { subquery, used });
  used.clear(); // the next statement reads its own fields
  return subquery;
}

/**
 * Defines a statement. `names` lists its own parameters. `$` contains a placeholder for each of them, and for each of the call's values.
 */
export function statement<const N extends string, Q extends BuiltQuery>(
  names: readonly N[],
  write: (permission: Permission, $: Placeholders<N | CallValue>, shape: CallShape) => Q,
  gate: Gate = 'permission',
): (values: Record<N, Bindable>) => Statement<RowOf<Q>> {
  const $ = placeholders<N | CallValue>([...CALL_VALUES, ...names]);
  const texts = new Map<CallShape, Text>();
  function textFor(shape: CallShape): Text {
    const text = texts.get(shape) ?? textOf(write(permissionOf(shape), $, shape));
    texts.set(shape, text);
    return text;
  }
  DEFINITIONS.push({ names, textFor, gate, place: new Error('defined here') });
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

type Fields = Record<string, SQL | SQLiteColumn>;

/** Gives each field its name as the alias, which is the name of the column that D1 returns. `write` can change its value first. */
export const named = <F extends Fields>(fields: F, write = (value: SQL) => value) =>
  Object.fromEntries(
    // Nested, because Drizzle would omit the table name of a column.
    Object.entries(fields).map(([name, field]) => [name, write(sql`${field}`).as(name)]),
  ) as { [Name in keyof F]: SQL.Aliased<DataOf<F[Name]>> };
type DataOf<F> = F extends Column ? GetColumnData<F> : F extends SQL<infer T> ? T : never;

/**
 * Reads the verdict and `fields` in one row. If the call is refused, the fields are null, and SQLite evaluates none of them. Without `where
 * true`, SQLite would merge this select with the permission's and evaluate the rule again for each field. `from` is the permission, with
 * additional columns or joins if the fields need them: what these read must depend on the permission, too.
 */
export const withVerdict = <F extends Fields>(permission: Permission, fields: F, from: Permission | SQL = permission) =>
  builder
    .select({
      ...verdictOf(permission),
      ...named(fields, (value) => sql`case when ${isPermitted(permission)} then ${value} end`),
    })
    .from(from)
    .where(sql`true`);

/** Tests whether the last write before this statement in the batch wrote a row. Reads between them leave `changes()` as it is. */
export const previousStepWrote = sql`changes() > 0`;

/**
 * Defines a step that depends on `previousStepWrote`, and reads at most values of the permission. A write must come before it that depends on
 * the permission, too: without one, `changes()` is what an earlier batch set.
 */
export const followingStatement = <const N extends string, Q extends BuiltQuery>(
  names: readonly N[],
  write: ($: Placeholders<N | CallValue>, permission: Permission, shape: CallShape) => Q,
) => statement(names, (permission, $, shape) => write($, permission, shape), 'previous step');

export const readVerdict = statement([], (permission) => builder.select(verdictOf(permission)).from(permission))({});
