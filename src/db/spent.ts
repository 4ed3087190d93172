// Whether an owner's allowance of the database is used up, in SQL. Compared by the database's clock alone, in the transaction of the call.
import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  MAX_AHEAD_MS,
  MAX_BYTES_PER_CALL,
  MAX_BYTES_PER_DAY,
  MAX_IDS_PER_DAY,
  MAX_PRICE,
  MAX_USES_PER_CALL,
  type Spent,
  type WorkClass,
} from '../core/work.ts';
import { work } from './schema.ts';

/** The time by the database's clock, in milliseconds since 1970, and the number of the day. */
export const clockMs = sql`cast(round(unixepoch('subsec') * 1000) as integer)`;
export const clockDay = sql`cast(unixepoch('subsec') / 86400 as integer)`;

const constant = (value: number) => sql.raw(`${value}`);
const literal = (text: WorkClass | Spent) => sql.raw(`'${text}'`);

/** Until when the owner's calls have spent the database's time. A time that no call can have stored counts as now. */
export const spentUntil = sql`max(${clockMs},
  iif(${work.busy_until} > ${clockMs} + ${constant(MAX_AHEAD_MS + MAX_PRICE)}, 0, ${work.busy_until}))`;
/** What was stored today. */
export const storedToday = (stored: SQLWrapper) => sql`iif(${work.day} = ${clockDay}, ${stored}, 0)`;

/** The allowance of a user that the largest call of this class would exceed. Null if none. */
export const spentBy = (user_id: SQLWrapper, isNarrow: SQLWrapper, kind: WorkClass): SQL<Spent | null> =>
  sql`(select case
    when ${spentUntil} > ${clockMs} + ${constant(MAX_AHEAD_MS)} then ${literal('spent_time')}
    when ${storedToday(work.ids)} > iif(${isNarrow}, ${constant(MAX_IDS_PER_DAY / 2)}, ${constant(MAX_IDS_PER_DAY)}) - ${constant(MAX_USES_PER_CALL)}
      then ${literal('spent_ids')}
    when ${storedToday(work.bytes)} > ${constant(MAX_BYTES_PER_DAY - MAX_BYTES_PER_CALL)} then ${literal('spent_bytes')}
  end from ${work} where ${and(eq(work.user_id, user_id), sql`${work.class} = ${literal(kind)}`)})`;
