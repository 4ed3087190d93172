// Changes a business's fields, for the operator.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod/mini';
import { ofToday, storeReached } from '../alerts/statements.ts';
import { Conflict } from '../core/conflict.ts';
import { DEFAULT_ALERT_AT } from '../core/limits.ts';
import type { Ask, BoundDatabases } from '../db/batch.ts';
import { changeBillingDay, hasBillingChanges, latestBillingDay } from '../db/billing.ts';
import { $call } from '../db/call.ts';
import { change, decidedId, isDecided } from '../db/change.ts';
import { claimHome } from '../db/homes.ts';
import { asJson } from '../db/json.ts';
import { apiKeys, businessColumns, businesses, codes, limitColumns } from '../db/schema.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { ending } from '../sessions/statements.ts';
import type { businessUpdateBody } from './operations.ts';
import { businessInFull } from './statements.ts';

/** The fields to change. Null removes a limit. */
export type BusinessUpdate = z.output<typeof businessUpdateBody>;

type Column = Exclude<keyof BusinessUpdate, 'billing_day'>;
/** The columns that can change. A new field of the body does not compile until it is a column, or stored like `billing_day`. */
const { id, token, created_at, updated_at, ...columns } = { ...businessColumns, ...limitColumns };
const COLUMNS = Object.keys(columns satisfies Record<Column, unknown>) as Column[];
const FIELDS: (keyof BusinessUpdate)[] = [...COLUMNS, 'billing_day'];

/** A field's stored value, in the format of its value in `fields`. */
function storedIn(name: keyof BusinessUpdate) {
  if (name === 'billing_day') return latestBillingDay;
  if (name !== 'alert_at') return businesses[name];
  return asJson(sql`coalesce(${businesses.alert_at}, ${sql.raw(`'${JSON.stringify(DEFAULT_ALERT_AT)}'`)})`);
}
/** The stored value of the field that json_each names in `key`. */
const currentValue = sql`case key ${sql.join(
  FIELDS.map((name) => sql`when ${sql.raw(`'${name}'`)} then ${storedIn(name)}`),
  sql` `,
)} end`;

/** `currentValue` as JSON for the list of changes. */
const shownValue = sql`case key when 'page_overage' then json(iif(${businesses.page_overage}, 'true', 'false')) else ${currentValue} end`;
/** The value of a column after the change. json_type returns the text 'null' for a JSON null, which removes a limit, else NULL for a missing field. */
const newValue = (name: Column, { fields }: Placeholders<'fields'>) => {
  const path = sql.raw(`'$.${name}'`);
  return sql`case when json_type(${fields}, ${path}) is null then ${businesses[name]} else ${fields} ->> ${path} end`;
};

/** The id of the business if the change transfers it to another user. Otherwise null. */
const transferredId = ($: Placeholders<'fields'>) => sql`(select ${businesses.id} from ${businesses}
  where ${isDecided} and ${businesses.user_id} <> ${$.fields} ->> 'user_id')`;
/** Selects the fields whose values differ from the stored values. */
const differing = ({ fields }: Placeholders<'fields'>) => sql`from ${businesses} cross join json_each(${fields})
  where ${eq(businesses.id, $call.business_id)} and value is not ${currentValue}`;

const update = change('update_business', ['fields'], {
  // Otherwise, uses of pages could be counted without bound (changedOverageErrors).
  decideIf: ($) => sql`exists (select 1 from json_each(${$.fields}) where value is not ${currentValue})
    and not (${newValue('page_overage', $)} and (${newValue('overage', $)}) is null)`,
  before: ($) => sql`(select json_group_object(key, ${shownValue}) ${differing($)})`,
  after: ($) => sql`(select json_group_object(key, ${$.fields} -> key) ${differing($)})`,
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
    set($) {
      const set = COLUMNS.map((name): [string, SQL] => [name, newValue(name, $)]);
      return builder
        .update(businesses)
        .set({ ...Object.fromEntries(set), has_billing_changes: hasBillingChanges($) })
        .where(isDecided);
    },
    reached: () => storeReached(decidedId, ofToday),
  },
});

/** Changes the fields whose values differ, and returns the updated business. Changes nothing if uses of pages could be counted without bound. */
export async function updateBusiness(ask: Ask, fields: BusinessUpdate) {
  const steps = update({ fields: JSON.stringify(fields) });
  const { updated } = await ask(businessInFull, { ...steps, updated: businessInFull });
  const [business] = updated;
  if (business === undefined) throw new Error('the business disappeared within a transaction');
  return business;
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
