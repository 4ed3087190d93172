// Descriptions of the operations on one business, except its usage.
import { MAX_SITES } from '../core/site.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { FIRST_RULE, LAST_RULE, NO_QUERY } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import { anAlert, businessWith, detailsOf, SHOP, times } from './examples.ts';
import type { WordsByRoute } from './paths.ts';
import { invalidField, unknown, unknownParameter } from './refusals.ts';
import { ok } from './responses.ts';

const WILDCARDS = ['https://*.acme.example', 'http://localhost:*'];

export const access: WordsByRoute = {
  'GET /api/v1/business/{business_id}': {
    operationId: 'readBusiness',
    summary: 'Read a business',
    description: `The business with its registered domains, its limits, and the tokens that were replaced and still work: their last four
characters, and when they stop. A read-only API key sees only the end of the token, too.`,
    success: ok('The business and all that belongs to it.', schemas.businessDetails, {
      business: {
        ...detailsOf(SHOP),
        former_tokens: [{ last_four: 'Qzsh', expires_at: '2026-03-04T08:30:00.123000Z' }],
      },
    }),
  },
  'PATCH /api/v1/business/{business_id}': {
    operationId: 'updateBusiness',
    summary: 'Change a business',
    description: `Changes the fields that are given. A limit that is null is lifted. A business can only be given to a user of the same database, or
to one who has none yet. That revokes the keys for it alone, and ends the sessions and console links for it alone.`,
    body: {
      description: 'The fields to change.',
      component: ['BusinessUpdate', 'The fields to change.'],
      examples: { suspend: { status: 'suspended' }, limit: { daily_limit: 1000 } },
    },
    success: ok('The business as it is now.', schemas.businessDetails, {
      suspend: { ...detailsOf(), status: 'suspended' },
      limit: detailsOf(),
    }),
    invalid: { invalid_body: {}, invalid_status: { status: 'Active' } },
  },
  'DELETE /api/v1/business/{business_id}': {
    operationId: 'deleteBusiness',
    summary: 'Delete a business',
    description: `Deletes a business at once and for good: from then on it is unknown to every credential. \`name\` repeats its name. What stays is
one change, which says that it was deleted; its id is never given again.`,
    parameters: { name: ['The name of the business.', 'Acme'] },
    success: ok('What was deleted.', schemas.deletedBusiness, { business: { deleted: { id: 1, name: 'Acme' } } }),
    invalid: { no_name: {} },
  },
  'GET /api/v1/business/{business_id}/access': {
    operationId: 'readAccess',
    summary: 'List the registered domains',
    description: 'The business with its registered domains. Without any, its token works on every site.',
    success: ok('The business and its registered domains.', schemas.business, { business: businessWith(SHOP) }),
  },
  'POST /api/v1/business/{business_id}/access': {
    operationId: 'addAccess',
    summary: 'Register domains',
    description: `Adds all of the domains, or none if one is not valid. A domain that is registered already is no error. A business has at most ${MAX_SITES}.`,
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
    description: 'Lifts the restriction: the token works on every site again.',
    success: ok('The business, without registered domains.', schemas.business, { business: businessWith() }),
    refusals: { ...unknownParameter(NO_QUERY, 'access_id') },
  },
  'GET /api/v1/business/{business_id}/access/refused': {
    operationId: 'readRefusedOrigins',
    summary: 'List refused origins',
    description: `Origins that were refused in the last 90 days although the credential was valid, and that would be refused now: at most 50,
last seen first. A hint that a domain is missing. Counts are lower bounds, and whoever has the token can make an origin appear.`,
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
    summary: 'Forget refused origins',
    description: 'Empties the list. An origin that is refused again appears again.',
    success: ok('The empty list.', schemas.refusedOrigins, { refused: { refused: [] } }),
  },
  'POST /api/v1/business/{business_id}/token': {
    operationId: 'rotateToken',
    summary: 'Replace the business token',
    description: `Gives the business a new token. Without a body, the old one and all earlier ones stop working at once. With \`keep_old\`, the old
one works that much longer, until all pages have the new one. A business keeps at most 5 former tokens.`,
    body: {
      description: 'Empty: the old token stops working at once.',
      component: ['Rotation', 'How long the old token works on.'],
      examples: { keep_old: { keep_old: '24h' } },
    },
    success: ok('The business, with its new token.', schemas.business, { keep_old: businessWith() }),
    invalid: { invalid_body: { keep: '24h' } },
    refusals: { ...unknownParameter(NO_QUERY, 'keep_old') },
  },
  'DELETE /api/v1/business/{business_id}/token/former': {
    operationId: 'stopFormerTokens',
    summary: 'Stop former tokens',
    description: 'Tokens that were replaced and still work stop now. The current token works on.',
    success: ok('The business, without former tokens.', schemas.businessDetails, { business: detailsOf(SHOP) }),
  },
  'PUT /api/v1/business/{business_id}/history': {
    operationId: 'importHistory',
    summary: 'Import the history of a business',
    description: `Sets the counts of past days, such as those of a system before this one: of all days that are listed, or of none. A day that
already has another count is refused, unless \`replace\` is true: then the new count replaces the old one, and 0 removes it. One that has this
count is no error, so a repeat is safe.`,
    body: {
      description: `1 to ${MAX_RANGE_DAYS} days before today (UTC), each once.`,
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
    success: ok('What was imported.', schemas.importedHistory, { history: { days: 2, uses: 300 } }),
    invalid: { invalid_day: { days: [{ date: '2026-02-30', count: 1 }] } },
    refusals: {
      day_taken: invalidField('days.0', '2026-01-31 already has a count of 5: send "replace": true to overwrite it'),
    },
  },
  'GET /api/v1/business/{business_id}/changes': {
    operationId: 'readChanges',
    summary: 'List changes',
    description:
      'Who changed what, newest first. Changes are kept for 400 days. Tokens are shown by their last four characters. ' +
      'With a filter, a page can be short, or empty, although `next` is set.',
    parameters: {
      action: ['Only changes that did this.', 'add_sites'],
      search: ['Only changes with this text in `before` or `after`.', 'shop.example'],
      from: ['Only changes of this day, UTC, or later.', '2026-01-01'],
      to: ['Only changes of this day, UTC, or before.', '2026-03-03'],
    },
    success: ok('One page of changes.', schemas.changes, {
      changes: {
        changes: [
          {
            id: 1,
            at: times.created_at,
            actor: 'key 12 (…abcd)',
            key_name: 'Server',
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
    description: `When the business had reached a threshold of a limit, newest first. There is one alert for each limit and its value, period and
threshold; of several thresholds at once, only for the highest. Alerts are kept for 90 days.`,
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
    description: 'Removes one entry. The last one is refused (422): without it, the token would work on every site.',
    success: ok('The business and its remaining domains.', schemas.business, { business: businessWith(SHOP) }),
    refusals: {
      unknown_entry: unknown('Access id', 'the business has no entry `access_id`'),
      last_domain: invalidField('access_id', LAST_RULE),
    },
  },
};
