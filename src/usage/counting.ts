// What the statements that count single uses and lists of uses have in common.
import { eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { namespaceOf } from '../core/credential.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { $call, type CallShape } from '../db/call.ts';
import { rowValues } from '../db/new-row.ts';
import type { Permission } from '../db/permission.ts';
import { dailyUsage, ledger } from '../db/schema.ts';
import { previousStepWrote } from '../db/statement.ts';
import { builder, NULL } from '../db/text.ts';
import { sourceNumberOf } from '../sources/sources.ts';
import { numberOfDay } from './ledger.ts';
import { KEEP_ID_DAYS } from './rules.ts';

/**
 * Adds uses to the stored counts of days. `uses` is a query for rows of daily_usage, and `sources` is what to store as the counts of a
 * day's sources if the day is stored already. Returns the new counts. The batch fails if a count would exceed MAX_COUNT (`isBeyondCount`).
 */
export const addToCounts = (uses: SQL, sources: SQL) =>
  builder
    .insert(dailyUsage)
    .select(uses)
    .onConflictDoUpdate({
      target: [dailyUsage.business_id, dailyUsage.day],
      // The INTEGER column rejects the text 'beyond', so the whole batch fails. Checking the counts first would read each of them twice.
      set: {
        count: sql`case when ${dailyUsage.count} > ${MAX_COUNT} - excluded.count then 'beyond' else ${dailyUsage.count} + excluded.count end`,
        sources,
      },
    })
    .returning({ date: sql<string>`${dailyUsage.day}`.as('date'), count: dailyUsage.count });

/** Tests whether a batch failed because a day's count would have exceeded MAX_COUNT. Such a batch stored nothing. */
export const isBeyondCount = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('cannot store TEXT value in INTEGER column daily_usage.count');

/** Tests whether the ledger lacks the id. */
export const isNewFor = (business_id: SQLWrapper, digest: SQL) => sql`not exists (select 1 from ${ledger}
  where ${eq(ledger.business_id, business_id)} and ${ledger.digest} = unhex(${digest}))`;

/** Selects the business if the last write before this statement counted uses or stored their ids. Otherwise null. */
export const countedId = sql`case when ${previousStepWrote} then ${$call.business_id} end`;

/** The number of a use's source: of its label if it has one, else of its key or the site that let its page in. */
export const sourceOf = (ofCall: SQLWrapper, label: SQLWrapper) =>
  sql`iif(${label} is null, ${ofCall}, ${sourceNumberOf($call.business_id, label)})`;

export const ledgerRow = (
  { source, ...use }: Record<'business_id' | 'digest' | 'day' | 'quantity' | 'source', SQLWrapper>,
  today: SQLWrapper,
  { caller }: CallShape,
) =>
  rowValues(ledger, {
    ...use,
    digest: sql`unhex(${use.digest})`,
    day: numberOfDay(use.day),
    forget_on: sql`${numberOfDay(today)} + ${sql.raw(`${KEEP_ID_DAYS[namespaceOf(caller)] + 1}`)}`,
    source: caller === 'token' ? NULL : source, // uses of tokens cannot be lowered
  });
/** A row if the write before counted. The permission is joined only for the source. */
export const ifPreviousCounted = (permission: Permission, { caller }: CallShape) => {
  const counted = sql`(select 1 where ${previousStepWrote})`;
  return caller === 'token' ? counted : sql`${counted} cross join ${permission}`;
};
