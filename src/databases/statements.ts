// Reads a database's figures for the operator. Each figure counts at most COUNTED_TO rows.
import { and, eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm';
import { isPermitted } from '../db/permission.ts';
import { alerts, businesses, dailyUsage } from '../db/schema.ts';
import { operatorStatement, withVerdict } from '../db/statement.ts';
import { boundedSumOfCounts } from '../limits/usage.ts';

const COUNTED_TO = 10_000;
/** Reads one row beyond COUNTED_TO, to detect whether there are more. */
const LIMIT = sql.raw(`limit ${COUNTED_TO + 1}`);

/** Evaluates `value` over `rows`. Null if there are more than COUNTED_TO rows. */
const nullIfMore = <T>(value: SQL<T>, rows: SQL) =>
  sql<T | null>`(select case when count(*) <= ${COUNTED_TO} then ${value} end from ${rows})`;
const countOf = (rows: SQL) => nullIfMore(sql<number>`count(*)`, sql`(select 1 ${rows} ${LIMIT})`);

/** Reads the verdict, the number of uses on `day`, and the number of unsent alerts. */
export const readDatabase = operatorStatement(['day'], (permission, $) => {
  const permitted = isPermitted(permission);
  // Reads business by business, because daily_usage has no index on `day`. `id > 0` makes SQLite search by primary key.
  const page = sql`(select ${businesses.id} from ${businesses} where ${and(permitted, gt(businesses.id, 0))}
    order by ${businesses.id} ${LIMIT}) as page`;
  const counts = sql`${page} left join ${dailyUsage} on ${dailyUsage.business_id} = page.id and ${eq(dailyUsage.day, $.day)}`;
  const unsent = sql`from ${alerts} where ${and(permitted, isNotNull(alerts.due_at))}`;
  return withVerdict(permission, {
    uses: nullIfMore(boundedSumOfCounts, counts),
    alerts: countOf(unsent),
  });
});
