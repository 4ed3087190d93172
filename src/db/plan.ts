// The limits of a business on any day, in SQL (docs/api.md, "Limits that change on a date"): those that held before `limits_since`, those of
// the row, and those that are pending from `next_from` on. Folding a pending change into the row changes none of them.
import { and, asc, eq, gte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { extras, formerLimits, limitColumns, planColumns } from './schema.ts';

export type Limit = keyof typeof limitColumns;
export const LIMITS = Object.keys(limitColumns) as Limit[];

/** The columns of a business that determine its limits on any day. */
export type Plan = Record<'id' | keyof typeof planColumns, SQLWrapper>;

/** The columns of a row of a subquery, which has selected them by their names. */
export const planIn = (row: string) =>
  Object.fromEntries(['id', ...Object.keys(planColumns)].map((name) => [name, sql.raw(`${row}.${name}`)])) as Record<
    keyof Plan,
    SQL
  >;

/** A limit as it holds on `day`, which must be cheap to evaluate. Reads no row if it has held since before that day. */
export function limitOn<T = number>(limit: Limit, business: Plan, day: SQLWrapper): SQL<T | null> {
  const former = sql`(select ${formerLimits[limit]} from ${formerLimits}
    where ${and(eq(formerLimits.business_id, business.id), gte(formerLimits.ends_on, day))} order by ${asc(formerLimits.ends_on)} limit 1)`;
  // Nested, because Drizzle omits the table of a column that is a chunk of a whole field.
  return sql`${sql`case when ${day} < ${business.limits_since} then ${former}
    when ${day} >= ${business.next_from} then ${business[`next_${limit}`]} else ${business[limit]} end`}`;
}

/** Tests whether other limits held before, or will hold. Otherwise, the limits are the same on every day. */
export const hasOtherLimits = ({ limits_since, next_from }: Plan) =>
  sql<number>`${sql`coalesce(${limits_since}, ${next_from}) is not null`}`;

/** The day by whose limits a period is judged: today, or the last day of a period that has ended, or the first of one that will begin. */
export const judgedOn = (starts_on: SQLWrapper, ends_on: SQLWrapper, today: SQLWrapper) =>
  sql<string>`min(max(${today}, ${starts_on}), ${ends_on})`;

/** What is added to the monthly limit in the billing month that begins on `starts_on`. Reads no row if the business has no later extra. */
export const extraIn = ({ id, extras_until }: Record<'id' | 'extras_until', SQLWrapper>, starts_on: SQLWrapper) =>
  sql<number>`case when ${extras_until} >= ${starts_on} then coalesce((select ${extras.uses} from ${extras}
    where ${and(eq(extras.business_id, id), eq(extras.starts_on, starts_on))}), 0) else 0 end`;
