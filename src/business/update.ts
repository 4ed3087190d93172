// Changes a business's fields, for the operator. Limits change at once or from a later day on (docs/api.md,
// "Limits that change on a date").
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { ofToday, storeReached } from '../alerts/statements.ts';
import { Conflict } from '../core/field-errors.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { type Json, parseJson } from '../db/json.ts';
import { rowValues } from '../db/new-row.ts';
import { permittedId } from '../db/permission.ts';
import { LIMITS, type Limit } from '../db/plan.ts';
import { apiKeys, businessColumns, businesses, codes, type Database, formerLimits } from '../db/schema.ts';
import { statement, withVerdict } from '../db/statement.ts';
import { builder } from '../db/text.ts';
import { claimHome } from '../homes/homes.ts';
import { ending } from '../keys/statements.ts';
import { changeBillingDay, hasBillingChanges, latestBillingDay } from '../limits/billing.ts';
import { businessInFull } from '../shown-business/statements.ts';
import { applied, at, type Fields, given, type Problem, plan } from './limit-change.ts';
import type { businessUpdateBody } from './operations.ts';
import { FINITE_RULE, NONE_PENDING_RULE, NUMBER_RULE, otherDateRule } from './rules.ts';

/** The fields to change. Null removes a limit. Without `limits_from`, limits change at once, and with null, the pending change is cancelled. */
export type BusinessUpdate = z.output<typeof businessUpdateBody>;

type Column = Exclude<keyof BusinessUpdate, Limit | 'billing_day' | 'limits_from'>;
/** The columns, except limits, that can change. A new field of the body does not compile until it is a column or a limit. */
const { id, token, created_at, updated_at, ...columns } = businessColumns;
const COLUMNS = Object.keys(columns satisfies Record<Column, unknown>) as Column[];

type Planned = Json<{ problem: Problem | null; pending_from: string | null }>;
const readProblem = statement(['fields'], (permission, $) => {
  const planned = sql`(select json_object('problem', problem, 'pending_from', pending_from) from ${plan($)}
    where planned_id = ${permittedId(permission)})`;
  return withVerdict(permission, {
    planned: sql<Planned>`${planned}`,
  });
});

/** A field's value before the change, in the format of its value in `fields`. */
function storedIn(name: string) {
  if (name === 'billing_day') return latestBillingDay;
  if (name === 'limits_from') return sql`pending_from`;
  const limit = LIMITS.find((limit) => limit === name);
  if (limit === undefined) return sql`${businesses[name as Column]}`;
  const value = sql`iif(is_later, ${at('planned', limit)}, ${at('held', limit)})`;
  return limit === 'alert_at' ? sql`json(${applied(limit, value)})` : value;
}
/** The stored value of the field that json_each names in `key`. */
const currentValue = sql`case key ${sql.join(
  [...COLUMNS, ...LIMITS, 'billing_day', 'limits_from'].map(
    (name) => sql`when ${sql.raw(`'${name}'`)} then ${storedIn(name)}`,
  ),
  sql` `,
)} end`;
/** `currentValue` as JSON for the list of changes. */
const shownValue = sql`case key when 'page_overage' then json(iif(${currentValue}, 'true', 'false')) else ${currentValue} end`;
/** Selects the fields whose values differ from the stored values. */
const differing = (
  $: Fields,
) => sql`from ${businesses} join ${plan($)} on planned_id = ${businesses.id} cross join json_each(fields)
  where iif(key = 'limits_from', new_from, value) is not ${currentValue}`;

/** The id of the business if the change transfers it to another user. Otherwise null. */
const transferredId = ($: Fields) => sql`(select ${businesses.id} from ${businesses}
  where ${isDecided} and ${businesses.user_id} <> ${$.fields} ->> 'user_id')`;

/** Inserts what held through `ends_on` into the former limits. */
const archive = (on: Database, ends_on: SQL, limitOf: (limit: Limit) => SQL, source: SQL) =>
  on.insert(formerLimits).select(
    sql`select ${rowValues(formerLimits, {
      business_id: businesses.id,
      ends_on,
      daily_limit: limitOf('daily_limit'),
      monthly_limit: limitOf('monthly_limit'),
      overage: limitOf('overage'),
      page_overage: limitOf('page_overage'),
      alert_at: limitOf('alert_at'),
    })} ${source}`,
  );
/** Stores what held until a pending change that is due among the former limits. `source` selects businesses with such a change. */
export const archiveDue = (on: Database, source: SQL) =>
  archive(on, sql`date(${businesses.next_from}, '-1 day')`, (limit) => sql`${businesses[limit]}`, source);
/** Selects the business that changes, with its `plan`. */
const planned = ($: Fields, condition: SQL) =>
  sql`from ${businesses} join ${plan($)} on planned_id = ${businesses.id} where ${isDecided} and ${condition}`;

const update = change('update_business', ['fields'], {
  decideIf: ($) => sql`exists (select 1 ${differing($)} and problem is null)`,
  before: ($) => sql`(select json_group_object(key, ${shownValue}) ${differing($)})`,
  after: ($) =>
    sql`(select json_group_object(key, iif(key = 'limits_from', json_quote(new_from), fields -> key)) ${differing($)})`,
  apply: {
    /**
     * Revokes the keys and sessions restricted to a transferred business, because otherwise they would work again if the business were
     * transferred back.
     */
    ended: ($) =>
      builder
        .update(apiKeys)
        .set(ending($.now))
        .where(and(eq(apiKeys.business_id, transferredId($)), isNull(apiKeys.revoked_at))),
    ...changeBillingDay,
    dropped: ($) => builder.delete(codes).where(eq(codes.business_id, transferredId($))),
    archived_due: ($) => archiveDue(builder, planned($, sql`is_due`)),
    archived: ($) =>
      archive(
        builder,
        sql`date(today, '-1 day')`,
        (limit) => at('held', limit),
        planned($, sql`changes_today and since is not today`),
      ),
    set($) {
      const set = COLUMNS.map((name): [string, SQL] => [name, given(name, sql`${businesses[name]}`)]);
      const limits = LIMITS.flatMap((limit): [string, SQL][] => [
        [limit, at('new', limit)],
        [`next_${limit}`, sql`iif(new_from is null, null, ${at('later', limit)})`],
      ]);
      return builder
        .update(businesses)
        .set({
          ...Object.fromEntries([...set, ...limits]),
          limits_since: sql`iif(changes_today, today, since)`,
          next_from: sql`new_from`,
          has_billing_changes: hasBillingChanges($),
        })
        .from(plan($))
        .where(and(isDecided, sql`planned_id = ${businesses.id}`));
    },
    reached: () => storeReached(decidedId, ofToday),
  },
});

/** Changes the fields whose values differ, and returns the updated business. Throws a Conflict if the limits cannot change like this. */
export async function updateBusiness(ask: Ask, fields: BusinessUpdate) {
  const values = { fields: JSON.stringify(fields) };
  const { row, updated } = await ask(readProblem(values), { ...update(values), updated: businessInFull });
  requirePossible(row);
  const [business] = updated;
  if (business === undefined) throw new Error('the business disappeared within a transaction');
  return business;
}
/** Throws a Conflict if the limits cannot change like this. */
export async function requirePossibleUpdate(ask: Ask, fields: BusinessUpdate): Promise<void> {
  const { row } = await ask(readProblem({ fields: JSON.stringify(fields) }));
  requirePossible(row);
}
function requirePossible({ planned }: { planned: Planned }): void {
  const { problem, pending_from } = parseJson(planned);
  if (problem === 'other_date') throw new Conflict('limits_from', otherDateRule(pending_from ?? ''));
  if (problem === 'nothing_pending') throw new Conflict('limits_from', NONE_PENDING_RULE);
  if (problem === 'unbounded_by_flag') throw new Conflict('page_overage', FINITE_RULE);
  if (problem === 'unbounded_by_number') throw new Conflict('overage', NUMBER_RULE);
}

/**
 * Ensures that a user's home is database `number`, because all of a user's data is in one database. Assigns a new user to that database.
 * Throws a Conflict if the user's home is another database.
 */
export async function claimHomeIn(databases: BoundDatabases, user_id: number, number: number): Promise<void> {
  const { home } = await claimHome(databases, user_id, { wanted: number });
  if (home !== number)
    throw new Conflict(
      'user_id',
      `must be a user of database ${number}, which contains the business: user ${user_id} is in database ${home}`,
    );
}
