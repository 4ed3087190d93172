// Descriptions of the operations on the usage of a business.
import * as z from 'zod/mini';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { KEEP_ID_DAYS, LOWER_DAYS } from '../core/use.ts';
import { limitOfList, limitReached } from '../http/errors.ts';
import { quantityBody, rangeQuery, useBody, usesBody } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import type { DescriptionsByRoute } from './paths.ts';
import { invalidField, invalidInput, unknownParameter } from './refusals.ts';
import { ok, orCsv } from './responses.ts';

const nothing = z.union([useBody, z.array(z.never())]);
const oneUse = schemas.component('OneUse', 'One use, now. An empty body means the same.', nothing);
const quantity = schemas.component('Quantity', 'One use, now, that counts several times.', quantityBody);
const uses = schemas.component('Uses', 'Uses on past days, each with its own id.', usesBody);

export const usage: DescriptionsByRoute = {
  'GET /api/v1/business/usage/{business_id}': {
    operationId: 'readUsage',
    summary: 'Read the usage of a business',
    description: `Returns the number of uses on each day of a range of at most ${MAX_RANGE_DAYS} days, both ends included. With the header \`Accept: text/csv\`, the report is a CSV file.`,
    success: orCsv(
      ok('The number of uses on each day.', schemas.usageReport, {
        three_days: {
          used: ['2026-03-01', '2026-03-02', '2026-03-03'].map((date, index) => ({ date, count: index * 5 })),
        },
      }),
      { three_days: 'date,count\r\n2026-03-01,0\r\n2026-03-02,5\r\n2026-03-03,10\r\n' },
    ),
    invalid: { invalid_day: { from: 'yesterday' } },
    refusals: {
      ...unknownParameter(rangeQuery, 'form'),
      invalid_order: invalidField('from', 'must not be after to (2026-03-01)'),
    },
  },
  'POST /api/v1/business/usage/{business_id}': {
    operationId: 'recordUse',
    summary: 'Record a use, or a list of past uses',
    description: `Without a body, checks the caller and counts one use now, in one step. The response is a \`RecordedUse\`. With
\`quantity\` (not with a token), the use counts that many times, or not at all if it would exceed a limit. With \`uses\` (not with a
token), counts each listed use on the day of its \`at\`. The response is a \`RecordedUses\`. A refused call counts nothing. To make a retry
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
        'A quantity, a list of uses, or empty for one use. A quantity that would exceed a limit is refused as a whole, as is a list unless an operator key sends it.',
      schema: z.xor([oneUse, quantity, uses]),
      examples: {
        one_use: {},
        quantity: { quantity: 350 },
        uses: { uses: [{ id: 'order-1', at: '2026-03-02T09:30:00Z' }, { id: 'order-2' }] },
      },
    },
    success: ok(
      '`RecordedUse` for one use, `RecordedUses` for a list.',
      z.xor([schemas.recordedUse, schemas.recordedUses]),
      {
        one_use: { date: '2026-03-03', count: 13 },
        quantity: { date: '2026-03-03', count: 362 },
        uses: { recorded: 2, duplicates: 0 },
      },
    ),
    refusals: {
      limit_reached: limitReached({ limit: 1000, period: 'day', overage: 0, left: 0 }, 43_200),
      limit_of_list: limitOfList(0, { limit: 1000, period: 'day', overage: 200, left: 0 }, 43_200),
      limit_left: limitReached({ limit: 1000, period: 'day', overage: 0, left: 300 }, 43_200),
      invalid_id: invalidInput(usesBody, { uses: [{ id: 'order 1' }] }),
      invalid_body: invalidInput(useBody, { use: 'order-1' }),
      invalid_quantity: invalidInput(quantityBody, { quantity: 0 }),
    },
  },
  'PATCH /api/v1/business/usage/{business_id}': {
    operationId: 'lowerUses',
    summary: 'Lower the quantities of uses',
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
    success: ok('How many of the uses were lowered.', schemas.loweredUses, {
      settled: { lowered: 2, unchanged: 0, imported: 0, unknown: 0 },
    }),
    invalid: { invalid_quantity: { uses: [{ id: 'job-1', quantity: -1 }] } },
    refusals: { repeated_id: invalidField('uses.1.id', 'must not repeat uses.0') },
  },
};
