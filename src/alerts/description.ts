// Descriptions of the lists of alerts.
import * as z from 'zod/mini';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { MAX_COUNT } from '../core/limits.ts';
import { parameter } from '../description/parameters.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { json, ok } from '../description/responses.ts';
import { count, day, id, list, object, percent, text, textOrNull, time } from '../description/schemas.ts';
import type { operations } from './operations.ts';
import { KEEP_ALERTS_DAYS } from './rules.ts';
import { type AlertField, MESSAGE_TYPE } from './webhook.ts';

const alertFields = {
  id: text('A UUID that identifies the alert.'),
  business_id: id('the business'),
  period: z.enum(['day', 'month']).check(z.describe('Whether the limit is daily or monthly.')),
  starts_on: day('First day of the period, UTC.'),
  ends_on: day('Last day of the period, UTC.'),
  limit: z.int().check(z.minimum(1), z.describe('The limit when the alert was stored.')),
  threshold: percent.check(z.describe('In percent of the limit, rounded up to whole uses.')),
  used: count(`Number of uses when the alert was stored, at most ${MAX_COUNT}. It can exceed the threshold.`),
  at: time('it was stored'),
};

const alert = object('Alert', 'A business has reached a threshold of a limit.', {
  ...alertFields,
  sent_at: z
    .nullable(time('it was sent'))
    .check(z.describe('When the alert was sent, in UTC. Null if it has not been sent, or was given up.')),
  state: z
    .enum(['open', 'sent', 'given_up'])
    .check(z.describe('`open`: not sent yet. `sent`: sent. `given_up`: too old to be sent.')),
});

export const alerts = object('Alerts', 'Alerts for the limit thresholds that businesses reached.', {
  alerts: list('Newest first within each database. A page can be short or empty even if `next` is set.', alert),
  next: textOrNull('The `cursor` of the next page. Null on the last page.'),
});

export type Alerts = z.infer<typeof alerts>;

const alertMessage = object('AlertMessage', 'A message with an alert.', {
  type: z.literal(MESSAGE_TYPE).check(z.describe('Later versions may add types: ignore unknown types.')),
  timestamp: time('the alert was stored'),
  data: object('SentAlert', 'An alert in a message to the receiver.', {
    ...alertFields,
    user_id: id('the user who owns the business'),
  } satisfies Record<AlertField, z.ZodMiniType>),
});

const alertOfMonth: Omit<Alerts['alerts'][number], 'sent_at' | 'state'> = {
  id: '3e1fb0f4-4ab2-4ad9-9d4b-0d1a5f3ae0a5',
  business_id: 1,
  period: 'month',
  starts_on: '2026-03-01',
  ends_on: '2026-03-31',
  limit: 10_000,
  threshold: 80,
  used: 8000,
  at: '2026-03-15T12:00:00.000000Z',
};

const anAlert: Alerts['alerts'][number] = {
  ...alertOfMonth,
  sent_at: '2026-03-15T12:01:00.000000Z',
  state: 'sent',
};

export const descriptions: DescriptionsOf<typeof operations> = {
  readAlerts: {
    tag: 'access',
    summary: 'List the alerts of a business',
    command: { usage: 'alerts list ID' },
    description: `Lists alerts for the limit thresholds that the business reached, newest first. There is one alert per limit, limit value, period and
threshold. If several thresholds are reached together, only the highest has an alert. Alerts are stored for ${KEEP_ALERTS_DAYS} days.`,
    success: ok('One page of alerts.', alerts, {
      alerts: { alerts: [anAlert], next: null },
    }),
    invalid: { invalid_limit: { limit: '0' } },
  },
  readAllAlerts: {
    tag: 'businesses',
    summary: 'List the alerts of all businesses',
    command: { usage: 'alerts list' },
    description: `Lists the alerts of all businesses, one database after another, newest first within each. \`state\` shows whether an alert was sent.
Only the operator can read this. A page comes from one database, so it can be short or empty even if \`next\` is set.`,
    success: ok('One page of alerts.', alerts, {
      alerts: { alerts: [anAlert], next: null },
    }),
    invalid: { invalid_limit: { limit: '0' }, invalid_cursor: { cursor: '-1' } },
  },
};

const sent = (name: string, pattern: RegExp, description: string, example: string) =>
  parameter('header', name, z.string().check(z.regex(pattern)), [description, example]);

/** The webhook that sends alerts (docs/alerts.md). Tests validate every message against this description. */
export const webhooks: ZodOpenApiPathsObject = {
  [MESSAGE_TYPE]: {
    post: {
      operationId: 'receiveAlerts',
      tags: ['alerts'],
      summary: 'Receive alerts',
      description: `When a business reaches a threshold of a limit, the service sends this message to the receiver that the operator configured. The headers
follow Standard Webhooks (https://www.standardwebhooks.com). Respond with a status from 200 to 299 within 10 seconds. Otherwise, the same
message is sent again after 1, 2, 4 … minutes, then every hour, or later if \`Retry-After\` says so, for three days. A message can arrive
twice, and messages can arrive in any order: ignore a \`webhook-id\` that you have already received.`,
      security: [],
      parameters: [
        sent(
          'webhook-id',
          /^[\da-f-]{36}$/,
          "The alert's id. Retries send the same id.",
          '3e1fb0f4-4ab2-4ad9-9d4b-0d1a5f3ae0a5',
        ),
        sent('webhook-timestamp', /^\d+$/, 'When this attempt is sent, in seconds since 1970.', '1773576060'),
        sent(
          'webhook-signature',
          /^v1,[A-Za-z\d+/]{43}=( v1,[A-Za-z\d+/]{43}=)?$/,
          '`v1,` followed by the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.',
          'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        ),
      ],
      requestBody: {
        description: 'The message.',
        required: true,
        content: json(alertMessage, {
          message: {
            type: MESSAGE_TYPE,
            timestamp: alertOfMonth.at,
            data: { ...alertOfMonth, user_id: 7 },
          },
        }),
      },
      responses: {
        '2XX': { description: 'The receiver accepted the message. The service does not read the body.' },
      },
    },
  },
};
