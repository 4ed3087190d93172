// The OpenAPI 3.1 description of the service: made when it is built, from the schemas and rules by which it answers. The
// Worker never loads this. A test sends every answer of the test suite through it (test/contract.ts).
import { type Operation, POLICY } from '../core/policy.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { KEEP_DAYS } from '../core/use.ts';
import { MAX_SITES } from '../db/access.ts';
import { UnknownEntry } from '../http/errors.ts';
import { JSON_RULE } from '../http/input.ts';
import { LAST_RULE, SITES_RULE } from '../routes/access.ts';
import { ID_RULE, identifiedHeader } from '../routes/recording.ts';
import { DAY_RULE, rangeQuery } from '../routes/usage.ts';
import {
  answer,
  anyOf,
  BODY,
  type Example,
  invalid,
  lifted,
  ref,
  refusals,
  STORED,
  said,
  shown,
  unknownBusiness,
} from './answers.ts';
import { components, wholeNumber } from './components.ts';
import { plainSchema, type Schema } from './schemas.ts';

const BUSINESS_IS_NOT_VALID = '`business_id` is not the id of a business of the caller';

/** Which credentials an operation takes. */
const security = (operation: Operation) => [
  { apiKey: [] },
  ...(POLICY[operation].token ? [{ businessToken: [] }] : []),
];

/** The schema of one field, with what zod cannot say of it. */
const field = (schema: Schema, name: string, more: object = {}) => ({
  ...(schema.properties?.[name] as Schema),
  ...more,
});

const body = (schemas: string[], examples: Record<string, Example>) => ({
  content: { 'application/json': { schema: anyOf(schemas), examples } },
});

const range = plainSchema(rangeQuery);
const day = (name: 'from' | 'to', description: string, example: string) => ({
  name,
  in: 'query',
  description,
  schema: field(range, name, { format: 'date' }),
  example,
});

const DESCRIPTION = `Usage per day of a business, and the domains on which its token works.

**Credentials.** One header carries either: \`Authorization: Bearer <API key or business token>\`. An *API key* is secret, lives
on servers and acts on every business of its user. A *business token* is public, stands in web pages and belongs to one
business. Once a business has registered domains, browsers are let in from these only, whichever of the two they carry.

**Answers.** A successful one has \`status: true\` and \`data\`. An unknown path is 404 and another method 405, both with
\`{"message": "…"}\`; HEAD answers as GET. Every answer can be read by every page (\`Access-Control-Allow-Origin: *\`), and none
that depends on a credential may be stored. Days are UTC.`;

export function openapi() {
  return {
    openapi: '3.1.0',
    info: { title: 'Business Usage and Access', version: '1.0.0', description: DESCRIPTION },
    servers: [{ url: '/', description: 'The host that serves this description.' }],
    tags: [
      { name: 'usage', description: 'Uses of a business: reporting and recording.' },
      { name: 'access', description: 'The domains on which a business token works.' },
      { name: 'description', description: 'This document.' },
    ],
    paths: {
      '/api/v1/business/usage/{business_id}': {
        parameters: [ref('parameters', 'business_id'), ref('parameters', 'Origin')],
        get: {
          operationId: 'readUsage',
          tags: ['usage'],
          summary: 'Usage of a business',
          description: `The number of uses on each day of a range of at most ${MAX_RANGE_DAYS} days. Both ends are included.`,
          security: security('read_usage'),
          parameters: [
            day('from', 'First day. Default: 29 days before `to`.', '2026-03-01'),
            day('to', 'Last day. Default: today.', '2026-03-03'),
          ],
          responses: {
            200: answer('The count of each day.', ['UsageReport'], {
              three_days: {
                value: {
                  status: true,
                  data: {
                    used: [
                      { date: '2026-03-01', count: 0 },
                      { date: '2026-03-02', count: 5 },
                      { date: '2026-03-03', count: 12 },
                    ],
                  },
                },
              },
            }),
            ...refusals(['read_usage']),
            422: answer(`${BUSINESS_IS_NOT_VALID}, or the range cannot be used.`, ['Refusal', 'InvalidInput'], {
              ...unknownBusiness,
              day: invalid('from', DAY_RULE),
              order: invalid('from', 'must not be after to (2026-03-01)'),
            }),
          },
        },
        post: {
          operationId: 'recordUse',
          tags: ['usage'],
          summary: 'Record a use, or report past uses',
          description: `Without a body: authorises the caller and counts one use, in one go. With \`uses\` (API key only): counts each of
them on the day of its \`at\`. The same \`Idempotency-Key\`, or the same \`id\`, counts once for at least ${KEEP_DAYS.key} days, or ${KEEP_DAYS.token} where it came with a token. A refused
call counts nothing.`,
          security: security('record_use'),
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              description: 'Makes one use safe to send again. Not with `uses`: each of them has its own `id`.',
              schema: field(plainSchema(identifiedHeader), 'Idempotency-Key'),
              example: 'order-1',
            },
          ],
          requestBody: {
            description: 'Empty for one use.',
            required: false,
            ...body(['OneUse', 'Uses'], {
              one_use: { value: {} },
              uses: { value: { uses: [{ id: 'order-1', at: '2026-03-02T09:30:00Z' }, { id: 'order-2' }] } },
            }),
          },
          responses: {
            200: answer('Counted.', ['RecordedUse', 'RecordedUses'], {
              one_use: { value: { status: true, data: { date: '2026-03-03', count: 13 } } },
              uses: { value: { status: true, data: { recorded: 2, duplicates: 0 } } },
            }),
            ...refusals(['record_use', 'record_uses']),
            ...BODY,
            422: answer(`${BUSINESS_IS_NOT_VALID}, or the input cannot be used.`, ['Refusal', 'InvalidInput'], {
              ...unknownBusiness,
              id: invalid('uses.0.id', ID_RULE),
              body: invalid('body', JSON_RULE),
            }),
          },
        },
      },
      '/api/v1/business/{business_id}/access': {
        parameters: [ref('parameters', 'business_id'), ref('parameters', 'Origin')],
        get: {
          operationId: 'readAccess',
          tags: ['access'],
          summary: 'List access domains',
          security: security('read_access'),
          responses: {
            200: answer('The business with its list.', ['BusinessAnswer'], { shown }),
            ...refusals(['read_access']),
          },
        },
        post: {
          operationId: 'addAccess',
          tags: ['access'],
          summary: 'Add access domains',
          description: `Adds domains to the list: all of them or none. One that is there already is no error. At most ${MAX_SITES} a business.`,
          security: security('change_access'),
          requestBody: {
            required: true,
            ...body(['Sites'], {
              sites: { value: { sites: ['https://shop.example'] } },
              wildcards: { value: { sites: ['https://*.acme.example', 'http://localhost:*'] } },
            }),
          },
          responses: {
            200: answer('The business with its list as it is now.', ['BusinessAnswer'], { shown }),
            ...refusals(['change_access']),
            ...BODY,
            422: answer('The input cannot be used.', ['InvalidInput'], {
              url: invalid('sites.0', 'must be an http or https URL, such as https://example.com'),
              list: invalid('sites', SITES_RULE),
            }),
          },
        },
        delete: {
          operationId: 'removeAllAccess',
          tags: ['access'],
          summary: 'Remove all access domains',
          description: 'Lifts the restriction: the token works on every site again.',
          security: security('change_access'),
          responses: {
            200: answer('The business with an empty list.', ['BusinessAnswer'], { lifted }),
            ...refusals(['change_access']),
            ...BODY,
          },
        },
      },
      '/api/v1/business/{business_id}/access/{access_id}': {
        parameters: [
          ref('parameters', 'business_id'),
          {
            name: 'access_id',
            in: 'path',
            required: true,
            description: 'Identifier of the entry.',
            schema: wholeNumber,
            example: 1,
          },
          ref('parameters', 'Origin'),
        ],
        delete: {
          operationId: 'removeAccess',
          tags: ['access'],
          summary: 'Remove an access domain',
          description: 'Removes an entry, unless it is the last: that would open the token to every site.',
          security: security('change_access'),
          responses: {
            200: answer('The business without the entry.', ['BusinessAnswer'], { shown }),
            ...refusals(['change_access']),
            404: answer('The business has no such entry.', ['Refusal'], { unknown: said(new UnknownEntry()) }),
            ...BODY,
            422: answer('The entry is the last.', ['InvalidInput'], {
              last: invalid('access_id', LAST_RULE),
            }),
          },
        },
      },
      '/api/v1/openapi.json': {
        get: {
          operationId: 'readDescription',
          tags: ['description'],
          summary: 'This description',
          security: [],
          responses: {
            200: {
              description: 'OpenAPI 3.1. May be stored for an hour.',
              headers: STORED,
              content: {
                'application/json': {
                  schema: ref('schemas', 'Description'),
                  examples: { start: { value: { openapi: '3.1.0', info: {}, paths: {} } } },
                },
              },
            },
            429: ref('responses', 'TooManyAttempts'),
            304: { description: 'Not changed since the `ETag` that `If-None-Match` names.', headers: STORED },
            500: ref('responses', 'ServerError'),
          },
        },
      },
    },
    components: components(),
  };
}
