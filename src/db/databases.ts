// Reads a database's figures for the operator. Each figure counts at most COUNTED_TO rows.
import { and, eq, gt, isNotNull, lt, not, type SQL, sql } from 'drizzle-orm';
import { isPermitted } from './permission.ts';
import { alerts, businesses, dailyUsage, ledger, messages } from './schema.ts';
import { statement, withVerdict } from './statement.ts';
import { boundedSumOfCounts } from './usage.ts';

const COUNTED_TO = 10_000;
const MAX_ID = sql.raw(`${Number.MAX_SAFE_INTEGER}`);
/** Reads one row beyond COUNTED_TO, to detect whether there are more. */
const LIMIT = sql.raw(`limit ${COUNTED_TO + 1}`);

/** Evaluates `value` over `rows`. Null if there are more than COUNTED_TO rows. */
const nullIfMore = <T>(value: SQL<T>, rows: SQL) =>
  sql<T | null>`(select case when count(*) <= ${COUNTED_TO} then ${value} end from ${rows})`;
const countOf = (rows: SQL) => nullIfMore(sql<number>`count(*)`, sql`(select 1 ${rows} ${LIMIT})`);

/** Reads the verdict, the number of uses on `day`, the number of ids due for deletion, and the number of unsent alerts. */
export const readDatabase = statement(['day'], (permission, $) => {
  const permitted = isPermitted(permission);
  // Reads business by business, because daily_usage has no index on `day`. `id > 0` makes SQLite search by primary key.
  const page = sql`(select ${businesses.id} from ${businesses} where ${and(permitted, gt(businesses.id, 0))}
    order by ${businesses.id} ${LIMIT}) as page`;
  const counts = sql`${page} left join ${dailyUsage} on ${dailyUsage.business_id} = page.id and ${eq(dailyUsage.day, $.day)}`;
  const due = sql`from ${ledger} where ${and(permitted, lt(ledger.forget_on, $.today))}`;
  // A message contains alerts up to its last_id. Messages before the first open one are closed: their alerts were sent or given up. Later
  // messages can also be closed (`isOver`).
  const firstOpen = sql`(select min(${messages.last_id}) from ${messages} where ${isNotNull(messages.body)})`;
  const before = sql`(select ${messages.last_id} from ${messages} where ${messages.last_id} < coalesce(${firstOpen}, ${MAX_ID})
    order by ${messages.last_id} desc limit 1)`;
  const isOver = sql`exists (select 1 from (select ${messages.body} as body from ${messages} where ${messages.last_id} >= ${alerts.id}
    order by ${messages.last_id} limit 1) where body is null)`;
  const unsent = sql`from ${alerts} where ${and(permitted, sql`${alerts.id} > coalesce(${before}, 0)`, not(isOver))}`;
  return withVerdict(permission, {
    uses: nullIfMore(boundedSumOfCounts, counts).as('uses'),
    ids: countOf(due).as('ids'),
    alerts: countOf(unsent).as('alerts'),
  });
});
