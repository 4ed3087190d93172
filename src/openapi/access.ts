// Descriptions of the operations on one business, except its usage.
import { MAX_SITES } from '../core/site.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { FIRST_RULE, LAST_RULE, NO_QUERY } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import { anAlert, businessWith, detailsOf, SHOP, times } from './examples.ts';
import type { DescriptionsByRoute } from './paths.ts';
import { invalidField, unknown, unknownParameter } from './refusals.ts';
import { ok } from './responses.ts';

const WILDCARDS = ['https://*.acme.example', 'http://localhost:*'];

export const access: DescriptionsByRoute = {
  'GET /api/v1/business/{business_id}': {
    operationId: 'readBusiness',
    summary: 'Read a business',
    description: `Returns the business with its registered domains, its limits, and the last four characters and expiry of each former token that
still works. A read-only API key receives only the last four characters of the current token.`,
    success: ok('The business with its domains, limits and former tokens.', schemas.businessDetails, {
      business: {
        ...detailsOf(SHOP),
        former_tokens: [{ last_four: 'Qzsh', expires_at: '2026-03-04T08:30:00.123000Z' }],
      },
    }),
  },
  'PATCH /api/v1/business/{business_id}': {
    operationId: 'updateBusiness',
    summary: 'Change a business',
    description: `Changes the given fields. A limit of null removes the limit. A business can be transferred only to a user in the same database, or
to a user without a database. A transfer revokes the API keys, sessions and console links that are only for this business.`,
    body: {
      description: 'The fields to change.',
      component: ['BusinessUpdate', 'The fields to change.'],
      examples: { suspend: { status: 'suspended' }, limit: { daily_limit: 1000 } },
    },
    success: ok('The changed business.', schemas.businessDetails, {
      suspend: { ...detailsOf(), status: 'suspended' },
      limit: detailsOf(),
    }),
    invalid: { invalid_body: {}, invalid_status: { status: 'Active' } },
  },
  'DELETE /api/v1/business/{business_id}': {
    operationId: 'deleteBusiness',
    summary: 'Delete a business',
    description: `Deletes a business immediately and permanently. Every later request treats it as unknown. \`name\` must be the name of the business.
One change remains, which records the deletion. The id is never reused.`,
    parameters: { name: ['The name of the business.', 'Acme'] },
    success: ok('The deleted business.', schemas.deletedBusiness, { business: { deleted: { id: 1, name: 'Acme' } } }),
    invalid: { no_name: {} },
  },
  'GET /api/v1/business/{business_id}/access': {
    operationId: 'readAccess',
    summary: 'List the registered domains',
    description:
      'Returns the business with its registered domains. While none is registered, its token works on every site.',
    success: ok('The business and its registered domains.', schemas.business, { business: businessWith(SHOP) }),
  },
  'POST /api/v1/business/{business_id}/access': {
    operationId: 'addAccess',
    summary: 'Register domains',
    description: `Registers all of the domains, or none if one is invalid. Registering a domain again is not an error. A business can have at most ${MAX_SITES} domains.`,
    body: {
      component: ['Sites', 'The domains to register.'],
      examples: { sites: { sites: [SHOP] }, wildcards: { sites: WILDCARDS } },
    },
    success: ok('The business and all of its registered domains.', schemas.business, {
      sites: businessWith(SHOP),
      wildcards: businessWith(...WILDCARDS),
    }),
    invalid: { invalid_site: { sites: ['shop.example'] }, invalid_list: { sites: [] } },
    refusals: { sender_shut_out: invalidField('sites', FIRST_RULE) },
  },
  'DELETE /api/v1/business/{business_id}/access': {
    operationId: 'removeAllAccess',
    summary: 'Remove all registered domains',
    description: 'Removes the restriction: the token then works on every site.',
    success: ok('The business without registered domains.', schemas.business, { business: businessWith() }),
    refusals: { ...unknownParameter(NO_QUERY, 'access_id') },
  },
  'GET /api/v1/business/{business_id}/access/refused': {
    operationId: 'readRefusedOrigins',
    summary: 'List refused origins',
    description: `Lists origins that were refused in the last 90 days although the credential was valid, and that would still be refused: at most
50, most recent first. They can indicate a missing domain. Counts are lower bounds, and anyone with the token can make an origin appear.`,
    success: ok('Origins that are still refused.', schemas.refusedOrigins, {
      refused: {
        refused: [
          { origin: 'https://new.acme.example', count: 12, first_seen: times.created_at, last_seen: times.updated_at },
        ],
      },
    }),
  },
  'DELETE /api/v1/business/{business_id}/access/refused': {
    operationId: 'forgetRefusedOrigins',
    summary: 'Forget the refused origins',
    description: 'Clears the list. An origin that is refused later appears again.',
    success: ok('The empty list.', schemas.refusedOrigins, { refused: { refused: [] } }),
  },
  'POST /api/v1/business/{business_id}/token': {
    operationId: 'rotateToken',
    summary: 'Replace the business token',
    description: `Issues a new token for the business. Without a body, the old token and all earlier ones stop working immediately. With
\`keep_old\`, the old token keeps working for that long, so you have time to update all pages. A business can have at most 5 former tokens.`,
    body: {
      description: 'If empty, the old token stops working immediately.',
      component: ['Rotation', 'How long the old token keeps working.'],
      examples: { keep_old: { keep_old: '24h' } },
    },
    success: ok('The business with its new token.', schemas.business, { keep_old: businessWith() }),
    invalid: { invalid_body: { keep: '24h' } },
    refusals: { ...unknownParameter(NO_QUERY, 'keep_old') },
  },
  'DELETE /api/v1/business/{business_id}/token/former': {
    operationId: 'stopFormerTokens',
    summary: 'Stop former tokens',
    description: 'Stops all former tokens immediately. The current token keeps working.',
    success: ok('The business without former tokens.', schemas.businessDetails, { business: detailsOf(SHOP) }),
  },
  'PUT /api/v1/business/{business_id}/history': {
    operationId: 'importHistory',
    summary: 'Import the history of a business',
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
    success: ok('The totals of the import.', schemas.importedHistory, { history: { days: 2, uses: 300 } }),
    invalid: { invalid_day: { days: [{ date: '2026-02-30', count: 1 }] } },
    refusals: {
      day_taken: invalidField('days.0', '2026-01-31 already has a count of 5: send "replace": true to overwrite it'),
    },
  },
  'GET /api/v1/business/{business_id}/changes': {
    operationId: 'readChanges',
    summary: 'List changes',
    description:
      'Lists who changed what, newest first. Changes are stored for 400 days. Tokens are shown as their last four characters. ' +
      'With a filter, a page can be short or empty even if `next` is set.',
    parameters: {
      action: ['Only changes with this action.', 'add_sites'],
      search: ['Only changes with this text in `before` or `after`.', 'shop.example'],
      from: ['Only changes on this day (UTC) or later.', '2026-01-01'],
      to: ['Only changes on this day (UTC) or earlier.', '2026-03-03'],
    },
    success: ok('One page of changes.', schemas.changes, {
      changes: {
        changes: [
          {
            id: 1,
            at: times.created_at,
            actor: 'key 12 (…abcd)',
            key_name: 'Server',
            actor_name: null,
            action: 'add_sites',
            before: null,
            after: { sites: [SHOP] },
          },
        ],
        next: null,
      },
    }),
    invalid: { invalid_action: { action: 'delete' }, invalid_limit: { limit: '0' } },
    refusals: { invalid_order: invalidField('from', 'must not be after to (2026-03-01)') },
  },
  'GET /api/v1/business/{business_id}/alerts': {
    operationId: 'readAlerts',
    summary: 'List alerts',
    description: `Lists alerts for the limit thresholds that the business reached, newest first. There is one alert per limit, limit value, period and
threshold. If several thresholds are reached together, only the highest has an alert. Alerts are stored for 90 days.`,
    success: ok('One page of alerts.', schemas.alerts, {
      alerts: {
        alerts: [anAlert],
        next: null,
      },
    }),
    invalid: { invalid_limit: { limit: '0' } },
  },
  'DELETE /api/v1/business/{business_id}/access/{access_id}': {
    operationId: 'removeAccess',
    summary: 'Remove a registered domain',
    description:
      'Removes one entry. The last entry cannot be removed (422): without it, the token would work on every site.',
    success: ok('The business and its remaining domains.', schemas.business, { business: businessWith(SHOP) }),
    refusals: {
      unknown_entry: unknown('Access id', 'the business has no entry `access_id`'),
      last_domain: invalidField('access_id', LAST_RULE),
    },
  },
};
