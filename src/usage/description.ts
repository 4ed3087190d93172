// Descriptions of the operations on usage.
import * as z from 'zod/mini';
import { MAX_COUNT } from '../core/limits.ts';
import { READERS, ROLES } from '../core/policy.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { MAX_TOTALS_PER_PAGE } from '../core/work.ts';
import { SHOP, times } from '../description/examples.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, invalidInput, unknownParameter } from '../description/refusals.ts';
import { linked, ok, orCsv } from '../description/responses.ts';
import { kindsOf } from '../description/roles.ts';
import { component, count, day, flag, id, list, next, object, text, time } from '../description/schemas.ts';
import { limitReached } from '../http/errors.ts';
import { instant, strict } from '../input.ts';
import type { operations } from './operations.ts';
import { quantityBody, refusalsQuery, reportQuery, useBody, usesBody } from './operations.ts';
import { FINAL_AFTER_DAYS, KEEP_ID_DAYS, LOWER_DAYS, MAX_DAYS_BY_SOURCE } from './rules.ts';

export const usageEntry = object('UsageEntry', 'The uses of one day.', {
  date: day('Calendar day, UTC.'),
  count: count('Number of uses on that day. 0 if there were none.'),
});

const sourceUses = object('SourceUses', 'The uses of one source in a range of days.', {
  source: z
    .nullable(text('A site that is or was registered, or a label.'))
    .check(z.describe('The source. Null for the uses without one.')),
  count: count('Number of uses. Sources without uses are omitted.'),
  last_day: day('The last day in the range with a use.'),
});

const usageReport = object('UsageReport', 'The uses on each day of a range.', {
  used: list('One entry for each day of the range, ascending.', usageEntry),
  sources: z.optional(list('Most uses first. Their sum is that of `used`. Present only with `by`.', sourceUses)),
});

export type SourceUses = z.infer<typeof sourceUses>;
export type UsageReport = z.infer<typeof usageReport>;

const refusedDay = object('RefusedDay', 'The uses that were refused on one day.', {
  date: day('Calendar day, UTC.'),
  by_limit: count('Number of uses that a limit refused on that day, counting each retry. Some may be missing.'),
});
const refusals = object('Refusals', 'The uses that were refused on each day of a range.', {
  refused: list('One entry for each day of the range, ascending.', refusedDay),
});

export type Refusals = z.infer<typeof refusals>;

const recordedUse = object('RecordedUse', 'The result of recording one use.', {
  date: day('The day on which the use was counted.'),
  count: count('Current number of uses on that day.'),
  duplicate: z.optional(
    z
      .literal(true)
      .check(z.describe('The use was already counted. Present only with an `Idempotency-Key` that was sent before.')),
  ),
  remaining: z.optional(
    count('Uses left today or this month, whichever is fewer. Present only if the business has a limit.'),
  ),
});

export type RecordedUse = z.infer<typeof recordedUse>;

export const recordedUses = object('RecordedUses', 'The result of recording a list of uses.', {
  recorded: count('Number of uses that were new and are now counted.'),
  duplicates: count('Number of uses that were already counted or are repeated in the list.'),
});

export type RecordedUses = z.infer<typeof recordedUses>;

const remembered = {
  date: day('The day on which it counted.'),
  quantity: count('How many times it counts now. Lowering changes this.'),
  imported: z
    .nullable(z.boolean())
    .check(
      z.describe(
        `Whether the count of its day was imported, so that it need not contain this use. Null if the day is more than ${LOWER_DAYS} days ago.`,
      ),
    ),
  remembered_until: day('Until this day, sending the id again counts nothing.'),
};
const ofKey = object('UseOfKey', 'A use that was sent with an API key or an operator key.', {
  ...remembered,
  source: z.nullable(z.string()).check(z.describe('The source under which the use is counted. Null if there is none.')),
});
const ofToken = object('UseOfToken', 'A use that was sent with a token.', remembered);
const rememberedUses = object('RememberedUses', 'What is remembered of an id.', {
  by_key: z.nullable(ofKey).check(z.describe('The use that a key sent with this id. Null if none is remembered.')),
  by_token: z
    .nullable(ofToken)
    .check(z.describe('The use that a token sent with this id. Null if none is remembered.')),
});

export type RememberedUses = z.infer<typeof rememberedUses>;

export const loweredUses = object('LoweredUses', 'The result of lowering uses.', {
  lowered: count('Number of uses that now have a lower quantity.'),
  unchanged: count('Number of uses that already had this quantity or a lower one.'),
  imported: count('Number of uses that cannot be lowered because the count of their day was imported.'),
  unknown: count(
    `Number of uses that are not stored under an id of a key, or whose day is more than ${LOWER_DAYS} days ago.`,
  ),
});

export type LoweredUses = z.infer<typeof loweredUses>;

const importedHistory = object('ImportedHistory', 'The history that was imported.', {
  days: count('Number of days in the request.'),
  uses: count('Total number of uses on these days.'),
});

export type ImportedHistory = z.infer<typeof importedHistory>;

const total = object('Total', 'The uses of one business in a range of days.', {
  business_id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('The current name of the business.'),
  count: count(`Number of uses in the range, at most ${MAX_COUNT}. 0 if there were none.`),
});

export const totals = object('Totals', 'The uses of each business in a range of days.', {
  usage: list('Ordered by id. A page can be short or empty even if `next` is set.', total),
  next,
});

export type Totals = z.infer<typeof totals>;

const endedMonth = object('EndedMonth', 'A completed billing month of one business.', {
  business_id: id('the business'),
  user_id: id('the user who owns it'),
  name: text('The current name of the business.'),
  created_at: time('the business was created'),
  starts_on: day('The first day of the month.'),
  ends_on: day('The last day of the month.'),
  count: count(`Number of uses in the month, at most ${MAX_COUNT}. 0 if there were none.`),
  monthly_limit: z.nullable(
    count('The monthly limit of the business on the last day of the month. Null if there was none.'),
  ),
  extra: count('What was added to the monthly limit in this month.'),
  final: flag(
    `Whether only an import can still change the count: true ${FINAL_AFTER_DAYS} days or more after the month ended.`,
  ),
});

export const endedMonths = object('EndedMonths', 'The billing months that ended on the given day.', {
  usage: list('Ordered by id. A page can be short or empty even if `next` is set.', endedMonth),
  next,
});

export type EndedMonths = z.infer<typeof endedMonths>;

const nothing = z.union([z.strictObject({}), z.array(z.never())]);
const oneUse = component('OneUse', 'One use, now. An empty body means the same.', nothing);
const dated = component('DatedUse', 'One use on the day of a time.', strict({ at: instant }, ''));
const quantity = component(
  'Quantity',
  'One use of a server that counts several times.',
  z.required(quantityBody, { quantity: true }),
);
const labelled = component(
  'Labelled',
  'One use of a server with a label.',
  z.required(z.omit(quantityBody, { quantity: true }), { label: true }),
);
const uses = component('Uses', 'Uses on past days, each with its own id.', usesBody);

const threeDays = ['2026-03-01', '2026-03-02', '2026-03-03'].map((date, index) => ({ date, count: index * 5 }));
const KEYS_WITHOUT_SOURCES = kindsOf(ROLES.filter((role) => !READERS.keys.includes(role)));

export const descriptions: DescriptionsOf<typeof operations> = {
  readUsage: {
    tag: 'usage',
    summary: 'Read the usage of a business',
    command: { usage: 'usage show ID' },
    description: `Returns the number of uses on each day of a range of at most ${MAX_RANGE_DAYS} days, both ends included. With \`by\`, also returns the uses
of each source, for at most ${MAX_DAYS_BY_SOURCE} days. With \`source\`, counts only that source. A token or a ${KEYS_WITHOUT_SOURCES} key can do neither. With the header
\`Accept: text/csv\`, the report is a CSV file.`,
    parameters: {
      by: [`Also report the uses of each source. Not allowed with a token or a ${KEYS_WITHOUT_SOURCES} key.`],
      source: [
        `Count only the uses of this source. Not allowed with \`by\`, a token or a ${KEYS_WITHOUT_SOURCES} key.`,
      ],
    },
    success: orCsv(
      ok('The number of uses on each day.', usageReport, {
        three_days: { used: threeDays },
        by_source: {
          used: threeDays,
          sources: [
            { source: 'sms', count: 10, last_day: '2026-03-03' },
            { source: SHOP, count: 3, last_day: '2026-03-02' },
            { source: null, count: 2, last_day: '2026-03-02' },
          ],
        },
      }),
      {
        three_days: 'date,count\r\n2026-03-01,0\r\n2026-03-02,5\r\n2026-03-03,10\r\n',
        by_source: `date,source,count\r\n2026-03-02,${SHOP},3\r\n2026-03-02,,2\r\n2026-03-03,sms,10\r\n`,
      },
    ),
    invalid: { invalid_day: { from: 'yesterday' } },
    refusals: {
      ...unknownParameter(reportQuery, 'form'),
      invalid_order: invalidField('from', 'must not be after to (2026-03-01)'),
    },
  },
  readRefusals: {
    tag: 'usage',
    summary: 'Read refused uses',
    command: { usage: 'usage refusals ID' },
    description: `Returns the number of uses that a limit refused on each day of a range of at most ${MAX_RANGE_DAYS} days, both ends included. A
use that is refused again counts again. A count is stored within seconds, and is never too high: what a Worker has not stored when it ends is
missing. With the header \`Accept: text/csv\`, the report is a CSV file.`,
    success: orCsv(
      ok('The number of refused uses on each day.', refusals, {
        three_days: { refused: threeDays.map(({ date, count }) => ({ date, by_limit: count })) },
      }),
      { three_days: 'date,by_limit\r\n2026-03-01,0\r\n2026-03-02,5\r\n2026-03-03,10\r\n' },
    ),
    invalid: { invalid_day: { from: 'yesterday' } },
    refusals: {
      ...unknownParameter(refusalsQuery, 'form'),
      invalid_order: invalidField('from', 'must not be after to (2026-03-01)'),
    },
  },
  readUse: {
    tag: 'usage',
    summary: 'Look up a use',
    command: { usage: 'usage find ID USE', as: { USE: 'id' } },
    description: `Returns what is remembered of the id of a use, sent with keys and with tokens, which have separate ids: its day, its quantity
and its source. Nothing is remembered of uses without an id, and of ids that were forgotten.`,
    parameters: { id: ['The id of the use, from an `Idempotency-Key` or a list. Percent-encode it.', 'order-1'] },
    success: ok('What is remembered. Null if nothing is.', rememberedUses, {
      sent_by_both: {
        by_key: { date: '2026-03-01', quantity: 5, imported: false, remembered_until: '2026-04-10', source: 'sms' },
        by_token: { date: '2026-03-01', quantity: 1, imported: false, remembered_until: '2026-03-03' },
      },
      unknown: { by_key: null, by_token: null },
    }),
    invalid: { invalid_id: { id: 'order 1' } },
    refusals: {},
  },
  recordUse: {
    tag: 'usage',
    summary: 'Record a use, or a list of past uses',
    description: `Without a body, checks the caller and counts one use now, in one step. The response is a \`RecordedUse\`. With
\`at\`, the use counts on the day of that time. With \`quantity\` (not with a token), it counts that many times, or not at all if it would
exceed a limit. A \`label\` (not with a token) names where the use comes from. With \`uses\` (not with a token), counts each listed use on
the day of its \`at\`. The response is a \`RecordedUses\`. A refused call counts nothing. To make a retry
safe, send an \`Idempotency-Key\`, or an \`id\` with each use in a list. Both share one namespace. An id counts once for at least
${KEEP_ID_DAYS.key} days, or for at least ${KEEP_ID_DAYS.token} days if it was sent with a token.`,
    parameters: {
      'Idempotency-Key': [
        'Makes a retry of one use safe. Not allowed with `uses`, where each use has its own `id`.',
        'order-1',
      ],
    },
    body: {
      description:
        'Empty or a time for one use, a quantity or label, or a list of uses. A quantity that would exceed a limit is refused as a whole, as is a list unless an operator key sends it.',
      schema: z.xor([oneUse, dated, quantity, labelled, uses]),
      examples: {
        one_use: {},
        quantity: { quantity: 350, label: 'sms' },
        label: { label: 'sms' },
        uses: { uses: [{ id: 'order-1', quantity: 5 }, { id: 'order-2' }] },
      },
    },
    success: ok('`RecordedUse` for one use, `RecordedUses` for a list.', z.xor([recordedUse, recordedUses]), {
      one_use: { date: '2026-03-03', count: 13 },
      quantity: { date: '2026-03-03', count: 362 },
      label: { date: '2026-03-03', count: 13 },
      uses: { recorded: 2, duplicates: 0 },
    }),
    refusals: {
      limit_reached: limitReached({ limit: 1000, period: 'day', overage: 0, left: 0 }, 43_200, 1),
      overage_used: limitReached({ limit: 1000, period: 'day', overage: 200, left: 0 }, 43_200, 1),
      limit_left: limitReached({ limit: 1000, period: 'day', overage: 0, left: 300 }, 43_200, 1),
      invalid_id: invalidInput(usesBody, { uses: [{ id: 'order 1' }] }),
      invalid_body: invalidInput(useBody, { use: 'order-1' }),
      invalid_quantity: invalidInput(quantityBody, { quantity: 0 }),
    },
  },
  lowerUses: {
    tag: 'usage',
    summary: 'Lower the quantities of uses',
    command: { usage: 'usage lower ID USE=QUANTITY…', as: { 'USE=QUANTITY…': 'uses' }, shownBy: 'changes list {ID}' },
    description: `Lowers the quantities of recorded uses, to 0 or more, and lowers their daily counts by the same amount. The uses must have been
recorded with ids, in \`Idempotency-Key\` headers or lists, with an API key or an operator key. A use can be lowered until ${LOWER_DAYS} days
after its day, unless that day's count was imported. A quantity that is not lower changes nothing, so a retry is safe. The id remains stored:
recording it again counts nothing. Only the operator can do this.`,
    body: {
      description: 'The uses to lower, each id once, with their new quantities.',
      component: ['LowerUses', 'Uses to lower.'],
      examples: {
        settled: {
          uses: [
            { id: 'job-1', quantity: 120 },
            { id: 'job-2', quantity: 0 },
          ],
        },
      },
    },
    success: ok('How many of the uses were lowered.', loweredUses, {
      settled: { lowered: 2, unchanged: 0, imported: 0, unknown: 0 },
    }),
    invalid: { invalid_quantity: { uses: [{ id: 'job-1', quantity: -1 }] } },
    refusals: { repeated_id: invalidField('uses.1.id', 'must not repeat uses.0') },
  },
  importHistory: {
    tag: 'access',
    summary: 'Import the history of a business',
    command: {
      usage: 'usage import ID FILE',
      as: { FILE: 'days' },
      shownBy: 'changes list {ID}',
      note: 'FILE has a line of date,count for each day, also with semicolons or tabs. With - it is the standard input.',
    },
    description: `Sets the counts of past days, for example from a previous system. Either all listed days are set or none. A day that already has a
different count is refused unless \`replace\` is true. With \`replace\`, the new count overwrites the old one, and 0 removes it. A day that
already has the same count is not an error, so a retry is safe.`,
    body: {
      description: `1 to ${MAX_RANGE_DAYS} days before today (UTC), each listed once.`,
      component: ['History', 'The counts of past days.'],
      examples: {
        history: {
          days: [
            { date: '2026-01-30', count: 180 },
            { date: '2026-01-31', count: 120 },
          ],
          replace: true,
        },
      },
    },
    success: ok('The totals of the import.', importedHistory, { history: { days: 2, uses: 300 } }),
    invalid: { invalid_day: { days: [{ date: '2026-02-30', count: 1 }] } },
    refusals: {
      day_taken: invalidField('days.0', '2026-01-31 already has a count of 5: send "replace": true to overwrite it'),
    },
  },
  readAllUsage: {
    tag: 'businesses',
    summary: 'Read the usage of all businesses',
    command: { usage: 'usage totals' },
    description: `Lists how many uses each business had in a range of at most ${MAX_RANGE_DAYS} days, both ends included, ordered by business
id. Businesses without uses have a count of 0. With \`ended\`, lists only the businesses whose billing month ended on the given day, with
their uses in that month, for invoicing. A month that ended before the business was created is listed only if it has uses. Only the operator can read this. A page comes from one database, so it can be short or empty even
if \`next\` is set. With the header \`Accept: text/csv\`, a page is a CSV file, and the \`Link\` header contains the URL of the next page.`,
    parameters: {
      ended: ['The last day of a billing month, before today. Not allowed with `from` or `to`.'],
      user_id: ["Only this user's businesses. Available only to the operator.", 7],
      limit: [`Maximum number of businesses. Default: ${MAX_TOTALS_PER_PAGE}.`, 20],
    },
    success: orCsv(
      ok('`Totals`, or with `ended`, `EndedMonths`.', z.union([totals, endedMonths]), {
        page: {
          usage: [
            { business_id: 1, user_id: 7, name: 'Acme', count: 15 },
            { business_id: 2, user_id: 7, name: 'Bolt', count: 0 },
          ],
          next: null,
        },
        ended: {
          usage: [
            {
              ...{ business_id: 1, user_id: 7, name: 'Acme', created_at: times.created_at },
              ...{
                starts_on: '2026-02-01',
                ends_on: '2026-02-28',
                count: 8412,
                monthly_limit: 10_000,
                extra: 0,
                final: false,
              },
            },
          ],
          next: null,
        },
      }),
      {
        page: 'business_id,user_id,name,count\r\n1,7,Acme,15\r\n2,7,Bolt,0\r\n',
        ended: `business_id,user_id,name,created_at,starts_on,ends_on,count,monthly_limit,extra,final\r\n1,7,Acme,${times.created_at},2026-02-01,2026-02-28,8412,10000,0,false\r\n`,
      },
      linked,
    ),
    invalid: { invalid_day: { from: 'yesterday' }, invalid_limit: { limit: '1001' } },
    refusals: {
      not_ended: invalidField('ended', 'must be a date before today (2026-03-03, UTC)'),
      with_range: invalidField('from', 'must not be combined with ended'),
    },
  },
};
