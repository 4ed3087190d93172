// Changes the business in the path. The steps of one batch decide on the change, record it and apply it, in this order, because each step
// reads what a later step overwrites.
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Action } from '../core/change.ts';
import { $call, type CallValue, isBeforeDeadline } from './call.ts';
import { rowValues } from './new-row.ts';
import { ifPermitted, type Permission } from './permission.ts';
import { businessColumns, businesses, changes } from './schema.ts';
import { type Statement, type Steps, statement } from './statement.ts';
import { type Bindable, type BuiltQuery, builder, NULL, type Placeholders, type RowOf } from './text.ts';

/** Matches the row of the business being changed, if the deciding step has marked it. */
export const isDecided = and(eq(businesses.id, $call.business_id), eq(businesses.decision, $call.call_id));

/** The id of the business if the deciding step has marked it. Otherwise null, so a lookup reads nothing. */
export const decidedId = sql`(select ${businesses.id} from ${businesses} where ${isDecided})`;

type Values<N extends string> = Placeholders<N | CallValue>;
type Writes<N extends string> = Record<string, ($: Values<N>, permission: Permission) => BuiltQuery>;

type StatementsOf<W extends Record<string, ($: never, permission: Permission) => BuiltQuery>> = {
  [Step in keyof W]: Statement<RowOf<ReturnType<W[Step]>>>;
};

type ChangeDefinition<N extends string, W extends Writes<N>> = {
  /** The condition under which the change is made, evaluated on the business's row. */
  decideIf: ($: Values<N>) => SQL;
  /** JSON for the list of changes, computed before the change is applied. Null by default. */
  before?: ($: Values<N>) => SQL;
  after?: ($: Values<N>) => SQL;
  /** Set if the change does not affect how responses show the business. */
  keepsUpdatedAt?: true;
  /** The writes that apply the change, by step name and in order. Each must depend on `isDecided` or `decidedId`. */
  apply: W;
};

/**
 * Defines a change. `names` are the names of the values that it binds. If the call is permitted and the condition holds, the deciding step
 * writes the call's id to the business, as a mark, and returns the business. The other steps depend only on that mark. A call makes at most
 * one change.
 */
export function change<const N extends string, W extends Writes<N>>(
  action: Action,
  names: readonly N[],
  { decideIf, before = () => NULL, after = () => NULL, keepsUpdatedAt, apply }: ChangeDefinition<N, W>,
) {
  const decided = statement(names, (permission, $) => {
    const permitted = ifPermitted(permission, $call.business_id);
    return builder
      .update(businesses)
      .set({ updated_at: keepsUpdatedAt ? businesses.updated_at : sql`${$call.now}`, decision: sql`${$call.call_id}` })
      .where(and(eq(businesses.id, permitted), isBeforeDeadline, decideIf($)))
      .returning(businessColumns);
  });
  const recorded = statement(names, (permission, $) =>
    recordChange(
      permission,
      { subject: sql`'business'`, subject_id: sql`${$call.business_id}` },
      action,
      { before: before($), after: after($) },
      sql`from ${businesses} cross join ${permission} where ${isDecided}`,
    ),
  );
  const writes = Object.entries(apply).map(
    ([step, write]) => [step, statement(names, (permission, $) => write($, permission))] as const,
  );
  return (values: Record<N, Bindable>) => {
    const applied: Steps = Object.fromEntries(writes.map(([step, define]) => [step, define(values)]));
    return { decided: decided(values), recorded: recorded(values), ...(applied as StatementsOf<W>) };
  };
}

/**
 * Records a change by the caller for each row of `source`, a `from` clause with conditions. If several rows can have the same subject, `rank`
 * numbers them from 1.
 */
export const recordChange = (
  permission: Permission,
  { subject, subject_id, rank = sql`1` }: { subject: SQL; subject_id: SQL; rank?: SQL },
  action: Action,
  { before, after }: Record<'before' | 'after', SQL>,
  source: SQL,
) =>
  builder.insert(changes).select(
    sql`select ${rowValues(changes, {
      subject,
      subject_id,
      id: sql`${lastId(subject, subject_id)} + ${rank}`,
      at: $call.now,
      actor: actorOf(permission),
      action: sql.raw(`'${action}'`),
      before,
      after,
      actor_name: permission.key_actor_name,
      actor_user_id: sql`case when ${permission.key_actor_name} is not null then ${permission.key_user_id} end`,
    })} ${source}`,
  );

const lastId = (subject: SQL, subject_id: SQL) => sql`(select coalesce(max(${changes.id}), 0) from ${changes}
  where ${changes.subject} = ${subject} and ${changes.subject_id} = ${subject_id})`;

/**
 * The actor of a change: an API key (directly or through a session that it started), a console link, or an operator key. Tokens make no
 * changes.
 */
export function actorOf({ key_id, key_last_four, is_session, key_session_of }: Permission) {
  const key = sql`'key ' || coalesce(${key_session_of}, ${key_id})`;
  const name = sql`case when ${is_session} and ${key_session_of} is null then 'console link' else ${key} end`;
  return sql`coalesce(${name} || ' (…' || ${key_last_four} || ')', ${$call.operator})`;
}

/** Masks a token or key for the list of changes: only the last four characters remain. */
export const lastFour = (text: SQL) => sql`'…' || substr(${text}, -4)`;
