// What an update does to a business's limits, in SQL (docs/api.md, "Limits that change on a date"): a row beside the business.
import { eq, type SQL, sql } from 'drizzle-orm';
import { DEFAULT_ALERT_AT } from '../core/limits.ts';
import { $call } from '../db/call.ts';
import { LIMITS, type Limit } from '../db/plan.ts';
import { businesses } from '../db/schema.ts';
import type { Placeholders } from '../db/text.ts';
import { billingMonth } from '../limits/billing.ts';

export type Fields = Placeholders<'fields'>;

const typeOf = (name: string) => sql`json_type(fields, ${sql.raw(`'$.${name}'`)})`;
/** A given value, or what is stored. json_type returns the text 'null' for a JSON null, which removes a limit, else NULL for a missing field. */
export const given = (name: string, stored: SQL) =>
  sql`iif(${typeOf(name)} is not null, fields ->> ${sql.raw(`'$.${name}'`)}, ${stored})`;

/** Today's limits and those after the pending change, before this update (held, planned) and after it (new, later). */
type Stage = 'held' | 'planned' | 'new' | 'later';
/** A limit in the row of `plan`. */
export const at = (stage: Stage, limit: Limit) => sql.raw(`${stage}_${limit}`);
const DEFAULT = sql.raw(`'${JSON.stringify(DEFAULT_ALERT_AT)}'`);
/** The thresholds as they apply. */
export const applied = (limit: Limit, value: SQL) =>
  limit === 'alert_at' ? sql`coalesce(${value}, ${DEFAULT})` : value;
const differ = (one: Stage, other: Stage) =>
  sql`(${sql.join(
    LIMITS.map((limit) => sql`${applied(limit, at(one, limit))} is not ${applied(limit, at(other, limit))}`),
    sql` or `,
  )})`;
const ofEach = (selected: (limit: Limit) => SQL[]) => sql.join(LIMITS.flatMap(selected), sql`, `);

/** What is sent, and today. The clock of another location may be behind that of the last change. */
const sent = ($: Fields) =>
  sql`select ${businesses.id} as planned_id, ${$.fields} as fields, max(${$call.today}, coalesce(${businesses.limits_since}, '')) as today
    from ${businesses} where ${eq(businesses.id, $call.business_id)}`;

const isDue = sql`${businesses.next_from} <= today`;
const isPending = sql`coalesce(${businesses.next_from} > today, 0)`;
const held = (limit: Limit) => sql`iif(${isDue}, ${businesses[`next_${limit}`]}, ${businesses[limit]})`;
/** Adds the limits held and planned, since when and until when they hold, and what the update says of its day. */
const withHeld = (
  rows: SQL,
) => sql`select planned_id, fields, today, coalesce(${isDue}, 0) as is_due, ${isPending} as is_pending,
      iif(${isDue}, ${businesses.next_from}, ${businesses.limits_since}) as since, iif(${isPending}, ${businesses.next_from}, null) as pending_from,
      coalesce(${typeOf('limits_from')} = 'text', 0) as is_later, coalesce(${typeOf('limits_from')} = 'null', 0) as is_cancelled,
      case fields ->> '$.limits_from' when 'next_month' then date(${billingMonth(businesses, sql`today`).ends_on}, '+1 day')
        else fields ->> '$.limits_from' end as given_from,
      ${ofEach((limit) => [
        sql`${held(limit)} as ${at('held', limit)}`,
        sql`iif(${isPending}, ${businesses[`next_${limit}`]}, ${held(limit)}) as ${at('planned', limit)}`,
      ])}
    from (${rows}) join ${businesses} on ${businesses.id} = planned_id`;

/** Adds the new limits of today. */
const withNew = (rows: SQL) =>
  sql`select *, ${ofEach((limit) => [
    sql`iif(is_later, ${at('held', limit)}, ${given(limit, at('held', limit))}) as ${at('new', limit)}`,
  ])} from (${rows})`;

/** Adds the later limits. Those that change at once pass into a pending limit that is the same as today's. */
const withLater = (rows: SQL) =>
  sql`select *, ${ofEach((limit) => [
    sql`case when is_later then ${given(limit, at('planned', limit))}
      when is_pending and not is_cancelled and ${applied(limit, at('planned', limit))} is not ${applied(limit, at('held', limit))}
        then ${at('planned', limit)} else ${at('new', limit)} end as ${at('later', limit)}`,
  ])} from (${rows})`;

export type Problem = 'other_date' | 'nothing_pending' | 'unbounded_by_flag' | 'unbounded_by_number';
const isUnbounded = (stage: 'new' | 'later') => sql`(${at(stage, 'page_overage')} and ${at(stage, 'overage')} is null)`;
/**
 * Computes what the update does to the limits, once for all conditions and values: its Stages, whether it changes today's, from which day on
 * (`new_from`) others hold, and its Problem. D1 binds at most 100 values, so each is bound once.
 */
export const plan = ($: Fields) => sql`(select *, ${differ('new', 'held')} as changes_today,
      case when ${differ('later', 'new')} then iif(is_later, given_from, pending_from) end as new_from,
      case when is_later and is_pending and pending_from <> given_from then 'other_date'
        when is_cancelled and not is_pending then 'nothing_pending'
        when ${isUnbounded('new')} or ${isUnbounded('later')}
          then iif(fields ->> '$.page_overage' = 1, 'unbounded_by_flag', 'unbounded_by_number') end as problem
    from (${withLater(withNew(withHeld(sent($))))}))`;
