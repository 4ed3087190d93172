// Statements that count single uses and store their ids.
import { and, eq, type Placeholder, sql } from 'drizzle-orm';
import { ofToday, storeReached } from '../alerts/statements.ts';
import { MAX_LABELS } from '../core/sources.ts';
import { $call, isBeforeDeadline } from '../db/call.ts';
import { rowValues } from '../db/new-row.ts';
import { isPermitted, type Permission } from '../db/permission.ts';
import { dailyUsage, ledger, sources } from '../db/schema.ts';
import { followingStatement, statement, withVerdict } from '../db/statement.ts';
import { builder, type Placeholders } from '../db/text.ts';
import { isOverLimit, limitUsageOf, type WithMonth, withMonth } from '../limits/usage.ts';
import { ifCounted, lastLabel, sourceCounts, sourceNumberOf, withOneSource } from '../sources/sources.ts';
import { addToCounts, countedId, ifPreviousCounted, isNewFor, ledgerRow, sourceOf } from './counting.ts';
import { dayWithNumber } from './ledger.ts';

export const readLimitUsage = statement([], (permission) => {
  const current = withMonth(permission);
  return withVerdict(permission, limitUsageOf(current), current.from);
})({});

const reachedToday = followingStatement([], () => storeReached(countedId, ofToday))({});

type OneUse = Placeholders<'quantity' | 'label' | 'today'>;
/** Counts one use today, if the ledger lacks the digest. A use without an id has none. */
const addOneUse = (permission: Permission, $: OneUse, digest?: Placeholder) => {
  const current = withMonth(permission);
  const sources = sourceCounts(sourceOf(permission.source, sql`${$.label}`), sql`${$.quantity}`);
  const row = { business_id: $call.business_id, day: $.today, count: $.quantity, sources };
  return addToCounts(
    sql`select ${rowValues(dailyUsage, row)} from ${current.from} where ${mayCount(current, $, digest)}`,
    withOneSource,
  );
};
/** Tests whether one use may count today. */
const mayCount = (current: WithMonth, $: Pick<OneUse, 'quantity'>, digest?: Placeholder) =>
  sql`${and(
    isPermitted(current.permission),
    isBeforeDeadline,
    digest && isNewFor(current.id, sql`${digest}`),
  )} and not (${isOverLimit(current, sql`${$.quantity}`)})`;

const countToday = statement(['quantity', 'label'], (permission, $) => addOneUse(permission, $));
/**
 * Numbers a label that the business has never used, if the use counts. A refused call reads at most whether the business has the label.
 */
const nameLabel = statement(['quantity', 'label', 'digest'], (permission, $) => {
  const current = withMonth(permission);
  const known = sourceNumberOf($call.business_id, sql`${$.label}`);
  const last = lastLabel($call.business_id);
  const row = { business_id: $call.business_id, name: $.label, number: sql`${last} + 1` };
  return builder.insert(sources).select(
    sql`select ${rowValues(sources, row)} from (select 1 where ${known} is null) cross join ${current.from}
      where ${mayCount(current, $, $.digest)} and ${last} < ${MAX_LABELS}`,
  );
});

/** A use that counts several times, and its label, if it has one. */
export type Use = { quantity: number; label: string | null };
const namedBy = (use: Use, digest: string | null) =>
  use.label === null ? {} : { named: nameLabel({ ...use, digest }) };

/** Counts a use of this quantity today, unless it would exceed a limit. Stores the thresholds that it reaches. */
export const countUse = (use: Use) => ({
  ...namedBy(use, null),
  counted: countToday(use),
  reached: reachedToday,
});

const countNewUse = statement(['digest', 'quantity', 'label'], (permission, $) => addOneUse(permission, $, $.digest));
/** Stores the id if the step directly before counted its use. */
const rememberUse = followingStatement(['digest', 'quantity', 'label'], ($, permission, shape) => {
  const use = {
    business_id: $call.business_id,
    digest: $.digest,
    day: $.today,
    quantity: $.quantity,
    source: ifCounted($call.business_id, sql`${$.today}`, sourceOf(permission.source, sql`${$.label}`)),
  };
  return builder
    .insert(ledger)
    .select(sql`select ${ledgerRow(use, $.today, shape)} from ${ifPreviousCounted(permission, shape)}`);
});
/**
 * Counts a use today and stores its digest and the thresholds that it reaches, unless the ledger contains the digest or the use would
 * exceed a limit. Returns the new count if the use was counted.
 */
export const countOnce = (use: Use & { digest: string }) => ({
  ...namedBy(use, use.digest),
  counted: countNewUse(use),
  remembered: rememberUse(use),
  reached: reachedToday,
});
/**
 * Reads the verdict, the limit usage, the day on which the use with this digest was counted, and that day's current count. `date` is null
 * if the use is new, and `count` if no use of the day is left.
 */
export const readKnownUse = statement(['digest'], (permission, $) => {
  const current = withMonth(permission);
  const known = and(eq(ledger.business_id, current.id), eq(ledger.digest, sql`unhex(${$.digest})`));
  const ofDay = and(eq(dailyUsage.business_id, ledger.business_id), eq(dailyUsage.day, dayWithNumber(ledger.day)));
  return withVerdict(
    permission,
    {
      ...limitUsageOf(current),
      date: sql<string | null>`${dayWithNumber(ledger.day)}`,
      count: sql<number | null>`${dailyUsage.count}`,
    },
    sql`${current.from} left join ${ledger} on ${known} left join ${dailyUsage} on ${ofDay}`,
  );
});
