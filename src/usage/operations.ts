// Uses: the report of a business, recording, lowering and importing uses, and the usage of all businesses.
import * as z from 'zod/mini';
import { USE_ID } from '../core/idempotency-key.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { EVERYBODY, FULL_OPERATOR, READERS, RECORDERS, RECORDING_OPERATOR, reading } from '../core/policy.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import {
  LIST_OF_USES,
  LONG_REPORT,
  MAX_TOTALS_PER_PAGE,
  MAX_USES_PER_CALL,
  PAGE_OF_MONTHS,
  REPORT_OF_SOURCES,
} from '../core/work.ts';
import {
  boundedList,
  DAY_RULE,
  day,
  dayOr,
  ID_RULE,
  instant,
  label,
  pageQuery,
  type Query,
  strict,
  userParameter,
  wholeNumber,
} from '../input.ts';
import { define } from '../operation.ts';
import {
  daysErrors,
  loweringErrors,
  MAX_QUANTITY,
  parseRecording,
  reportErrors,
  ruleOfReport,
  ruleOfTotals,
  totalsErrors,
  usesErrors,
} from './rules.ts';

const rangeQuery = z.object({ from: day, to: day });
const ONCE = 'and must appear only once';
export const SOURCE_RULE = `must be a registered site or a label of the business, ${ONCE}`;
export const refusalsQuery = { name: 'this report', schema: rangeQuery } satisfies Query;
export const reportQuery = {
  name: 'this report',
  schema: z.extend(rangeQuery, {
    by: z.optional(z.literal('source', `must be source, ${ONCE}`)),
    source: z.optional(z.string(SOURCE_RULE)),
  }),
} satisfies Query;

const USE_RULE = `${ID_RULE}, ${ONCE}`;
export const useQuery = {
  name: 'this operation',
  schema: z.object({ id: z.string(USE_RULE).check(z.regex(USE_ID, USE_RULE)) }),
} satisfies Query;

export const totalsQuery = {
  name: 'this list',
  schema: z.extend(rangeQuery, {
    ended: day,
    user_id: userParameter,
    ...pageQuery('after', MAX_TOTALS_PER_PAGE).schema.shape,
  }),
  operatorOnly: ['user_id'],
} satisfies Query;

const HISTORY_RULE = 'must be a JSON object such as {"days":[{"date":"2026-01-31","count":120}]}';
const DAYS_RULE = `must be a list of 1 to ${MAX_RANGE_DAYS} days, such as [{"date":"2026-01-31","count":120}]`;
const SUM_RULE = `must have at most ${MAX_COUNT} uses in total`;
const historyDay = strict(
  {
    date: dayOr(DAY_RULE),
    count: wholeNumber(0, MAX_COUNT),
  },
  'must be an object such as {"date":"2026-01-31","count":120}',
);

const historyBody = strict(
  {
    days: boundedList(historyDay, MAX_RANGE_DAYS, DAYS_RULE).check(
      z.refine((days) => days.reduce((sum, { count }) => sum + count, 0) <= MAX_COUNT, SUM_RULE),
    ),
    replace: z.optional(z.boolean('must be true or false')),
  },
  HISTORY_RULE,
);

const BODY_RULE =
  'must be empty for one use, or a JSON object such as {"quantity":350}, {"label":"sms"} or {"uses":[{"id":"order-1"}]}';
const MEMBER_RULE = 'is not a member of this object, which accepts at, label, quantity or uses';

/** The body of one use of a page. Errors also name the members of the bodies that record something else. */
export const useBody: z.ZodMiniType<{ at?: string | undefined; quantity?: never; label?: never }> = z.strictObject(
  { at: z.optional(instant) },
  { error: ({ code }) => (code === 'unrecognized_keys' ? MEMBER_RULE : BODY_RULE) },
);

const quantity = wholeNumber(1, MAX_QUANTITY);
/** `parseRecording` chooses it for bodies with a quantity or a label. */
export const quantityBody = strict(
  { quantity: z.optional(quantity), label: z.optional(label), at: z.optional(instant) },
  BODY_RULE,
);
const USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","at":"2026-01-31T12:00:00Z"}]`;
const id = z.string(ID_RULE).check(z.regex(USE_ID, ID_RULE));
const use = strict(
  {
    id,
    at: z.optional(instant),
    quantity: z.optional(quantity),
    label: z.optional(label),
  },
  'must be an object such as {"id":"order-1"}',
);

const LOWER_BODY_RULE = 'must be a JSON object such as {"uses":[{"id":"order-1","quantity":0}]}';
const loweredUse = strict(
  {
    id,
    quantity: wholeNumber(0, MAX_QUANTITY),
  },
  'must be an object such as {"id":"order-1","quantity":0}',
);

const LOWERED_USES_RULE = `must be a list of 1 to ${MAX_USES_PER_CALL} uses, such as [{"id":"order-1","quantity":0}]`;
export const loweringBody = strict(
  { uses: boundedList(loweredUse, MAX_USES_PER_CALL, LOWERED_USES_RULE) },
  LOWER_BODY_RULE,
);

export const usesBody = strict({ uses: boundedList(use, MAX_USES_PER_CALL, USES_RULE) }, BODY_RULE);

const NO_KEY_OF_LIST_RULE = 'must not be sent with a list of uses: each use has its own id';
const RECORD = { ...RECORDERS, whileInactive: false } as const;

export const operations = define({
  readUsage: {
    route: 'GET /business/usage/:business_id',
    rules: {
      read_usage: { ...reading(EVERYBODY), does: 'read usage', work: LONG_REPORT },
      read_sources: { ...reading(READERS), does: 'read usage by source', work: REPORT_OF_SOURCES },
    },
    ruleOf: ruleOfReport,
    query: reportQuery,
    check: reportErrors,
  },
  readUse: {
    ...reading({ ...READERS, operators: RECORDERS.operators }),
    route: 'GET /business/usage/:business_id/use',
    name: 'read_use',
    does: 'look up uses',
    query: useQuery,
  },
  readRefusals: {
    ...reading({ ...EVERYBODY, token: false }),
    route: 'GET /business/:business_id/refusals',
    name: 'read_refusals',
    does: 'read refused uses',
    query: refusalsQuery,
    check: reportErrors,
  },
  recordUse: {
    route: 'POST /business/usage/:business_id',
    rules: {
      record_use: { ...RECORD, does: 'record a use', token: true, retry: 'with_key', body: useBody },
      record_quantity: { ...RECORD, does: 'record quantities or labels', retry: 'with_key', body: quantityBody },
      record_uses: {
        ...RECORD,
        does: 'record lists of uses',
        passesLimits: true,
        retry: 'always',
        isDear: true,
        work: LIST_OF_USES,
        rejectsKey: NO_KEY_OF_LIST_RULE,
        body: usesBody,
      },
    },
    ruleOf: parseRecording,
    check: usesErrors,
  },
  lowerUses: {
    ...RECORDING_OPERATOR,
    retry: 'always',
    route: 'PATCH /business/usage/:business_id',
    name: 'lower_uses',
    does: 'lower uses',
    isDear: true,
    body: loweringBody,
    check: loweringErrors,
  },
  importHistory: {
    ...FULL_OPERATOR,
    retry: 'always',
    route: 'PUT /business/:business_id/history',
    name: 'import_history',
    does: 'import histories',
    isDear: true,
    body: historyBody,
    check: daysErrors,
  },
  readAllUsage: {
    route: 'GET /usage',
    rules: {
      read_all_usage: { ...reading(RECORDING_OPERATOR), does: 'read the usage of all businesses' },
      read_ended: {
        ...reading({ ...READERS, operators: RECORDERS.operators }),
        does: 'read ended billing months',
        work: PAGE_OF_MONTHS,
      },
    },
    ruleOf: ruleOfTotals,
    query: totalsQuery,
    check: totalsErrors,
  },
});
