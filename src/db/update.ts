// How the operator changes the fields of a business.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { Conflict } from '../core/conflict.ts';
import { type Billing, DEFAULT_ALERT_AT, type Limits } from '../core/limits.ts';
import type { Optional } from '../core/optional.ts';
import type { Ask, BoundDatabases } from './batch.ts';
import { changeBillingDay, hasBillingChanges, latestBillingDay } from './billing.ts';
import { businessInFull } from './business.ts';
import { $call } from './call.ts';
import { change, type Decision, isDecided } from './change.ts';
import { claimHome } from './homes.ts';
import { asJson } from './json.ts';
import { apiKeys, type BusinessRow, businesses, codes } from './schema.ts';
import { ending } from './sessions.ts';
import { builder, type Placeholders } from './text.ts';

/** What can be changed. A limit that is null is lifted. */
export type BusinessUpdate = Optional<
  Pick<BusinessRow, 'user_id' | 'name' | 'main_domain' | 'site' | 'country_id' | 'business_size' | 'status'> &
    Limits &
    Pick<Billing, 'billing_day'> & { alert_at: number[] }
>;

const COLUMNS = [
  'user_id',
  'name',
  'main_domain',
  'site',
  'country_id',
  'business_size',
  'status',
  'daily_limit',
  'monthly_limit',
  'overage',
  'alert_at',
] as const satisfies (keyof BusinessUpdate)[];
const FIELDS = [...COLUMNS, 'billing_day'] as const satisfies (keyof BusinessUpdate)[];

/** What is stored of a field, as JSON has it. */
function storedIn(name: (typeof FIELDS)[number]) {
  if (name === 'billing_day') return latestBillingDay;
  if (name !== 'alert_at') return businesses[name];
  return asJson(sql`coalesce(${businesses.alert_at}, ${sql.raw(`'${JSON.stringify(DEFAULT_ALERT_AT)}'`)})`);
}
/** The value of the business that a member of the JSON of the fields is about. */
const currentValue = sql`case key ${sql.join(
  FIELDS.map((name) => sql`when ${sql.raw(`'${name}'`)} then ${storedIn(name)}`),
  sql` `,
)} end`;

/** The id of the business if it is given to another user. Otherwise null. */
const transferredId = ($: Decision & Placeholders<'fields'>) => sql`(select ${businesses.id} from ${businesses}
  where ${isDecided($)} and ${businesses.user_id} <> ${$.fields} ->> 'user_id')`;
/** The fields that differ from those of the business. */
const differing = ({ fields }: Placeholders<'fields'>) => sql`from ${businesses} cross join json_each(${fields})
  where ${eq(businesses.id, $call.business_id)} and value is not ${currentValue}`;

const update = change('update_business', ['fields'], {
  decideIf: ($) => sql`exists (select 1 from json_each(${$.fields}) where value is not ${currentValue})`,
  before: ($) => sql`(select json_group_object(key, ${currentValue}) ${differing($)})`,
  after: ($) => sql`(select json_group_object(key, ${$.fields} -> key) ${differing($)})`,
  apply: {
    /** Revokes the keys and sessions for the business alone if it is given: they would work again if it came back. */
    ended: ($) =>
      builder
        .update(apiKeys)
        .set(ending($.now))
        .where(and(eq(apiKeys.business_id, transferredId($)), isNull(apiKeys.revoked_at))),
    ...changeBillingDay,
    dropped: ($) => builder.delete(codes).where(eq(codes.business_id, transferredId($))),
    set($) {
      const set = COLUMNS.map((name): [string, SQL] => {
        const path = sql.raw(`'$.${name}'`);
        // The type of a JSON null is the text null: it is there, and lifts a limit.
        return [
          name,
          sql`case when json_type(${$.fields}, ${path}) is null then ${businesses[name]} else ${$.fields} ->> ${path} end`,
        ];
      });
      const changesLimits = sql`exists (select 1 from json_each(${$.fields}) where key in ('daily_limit', 'monthly_limit', 'alert_at') and value is not ${currentValue})`;
      const limits_at = sql`case when ${changesLimits} then ${$.now} else ${businesses.limits_at} end`;
      return builder
        .update(businesses)
        .set({ ...Object.fromEntries(set), limits_at, has_billing_changes: hasBillingChanges($) })
        .where(isDecided($));
    },
  },
});

/** Changes those of the fields that differ, and reads the business as it is then. */
export async function updateBusiness(ask: Ask, fields: BusinessUpdate) {
  const steps = update({ fields: JSON.stringify(fields) });
  const { updated } = await ask(businessInFull, { ...steps, updated: businessInFull });
  const [business] = updated;
  if (business === undefined) throw new Error('the business is gone within a transaction');
  return business;
}

/**
 * Makes sure that the business in database `number` can belong to a user: everything of a user is in one database. A user who has none
 * yet gets that one. Throws a Conflict for a user of another.
 */
export async function claimHomeIn(databases: BoundDatabases, user_id: number, number: number): Promise<void> {
  const { home } = await claimHome(databases, user_id, { wanted: number });
  if (home !== number)
    throw new Conflict(
      'user_id',
      `must be a user of database ${number}, where the business is: user ${user_id} is in ${home}`,
    );
}
