// Descriptions of the operations on users and on all businesses.
import * as z from 'zod/mini';
import { ownsRule, RECENT_RULE, usedKeyRule } from '../core/conflict.ts';
import { MAX_COUNT } from '../core/limits.ts';
import { MAX_RANGE_DAYS } from '../core/time.ts';
import { MAX_TOTALS_PER_PAGE } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import { anAlert, apiKey, businessWith, fields, SHOP, thirtyDays, times, written } from './examples.ts';
import type { DescriptionsByRoute } from './paths.ts';
import { invalidField, unknown } from './refusals.ts';
import { jsonLines, linked, ok, orCsv } from './responses.ts';

/** A business in an export. */
const businessLine = {
  ...{ ...fields, token: '…TUVW' },
  ...{
    daily_limit: 1000,
    monthly_limit: null,
    billing_day: 1,
    overage: 0,
    alert_at: [80, 100],
    former_tokens: [],
  },
};
const UNKNOWN_USER = unknown('User id', '`user_id` is not an id');

export const businesses: DescriptionsByRoute = {
  'GET /api/v1/business': {
    operationId: 'listBusinesses',
    summary: 'List your businesses',
    description: `Lists the businesses whose usage the API key can read from the calling origin, ordered by id. A page examines \`limit\`
businesses, so it can contain fewer even if \`next\` is set.`,
    parameters: { user_id: ["Only this user's businesses. Available only to the operator.", 7] },
    success: ok('One page of businesses.', schemas.businesses, {
      businesses: {
        businesses: [{ ...fields, used: thirtyDays, limits: null, refused_origins: 0 }],
        next: null,
        read_only: false,
      },
    }),
    invalid: { invalid_limit: { limit: '0' } },
  },
  'POST /api/v1/business': {
    operationId: 'createBusiness',
    summary: 'Create a business',
    description: `Creates an active business for a user, and assigns a new user to a database. With an \`Idempotency-Key\`, the same request
returns the same business for as long as the business exists. The same key with a different body is refused (422), and the message names
the existing business.`,
    parameters: { 'Idempotency-Key': ['Makes a retry safe. Keys are scoped to the user.', 'signup-7'] },
    body: {
      description: 'The business. Without `token`, the service generates one.',
      component: ['NewBusiness', 'A business to create.'],
      examples: { business: { ...written, sites: [SHOP], monthly_limit: 10_000 } },
    },
    success: ok('The business and its domains.', schemas.business, { business: businessWith(SHOP) }),
    invalid: { invalid_body: [] },
    refusals: {
      token_taken: invalidField('token', 'must not be a current or former token of any business'),
      id_taken: invalidField('id', 'must be greater than 41, the last id of its database'),
      key_used: invalidField('Idempotency-Key', usedKeyRule(3)),
    },
  },
  'GET /api/v1/user/{user_id}/keys': {
    operationId: 'listKeys',
    summary: "List a user's API keys",
    description: 'Lists all keys, including revoked and expired ones. The keys themselves are never shown again.',
    success: ok('The keys.', schemas.keys, { keys: { keys: [apiKey] } }),
    refusals: { unknown_user: UNKNOWN_USER },
  },
  'POST /api/v1/user/{user_id}/keys': {
    operationId: 'createKey',
    summary: 'Create an API key for a user',
    description:
      'Without a body, creates a key with full access to all businesses of the user. `business_id` limits the key to that business.',
    body: {
      description: "Empty, or the key's name, role, business and expiry.",
      component: ['KeyToCreate', 'The API key to create.'],
      examples: { record_key: { name: 'Billing server', role: 'record' } },
    },
    success: ok('The key, which is shown only once.', schemas.newKey, {
      record_key: { api_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSabcd', ...apiKey },
    }),
    invalid: { invalid_role: { role: 'owner' } },
    refusals: {
      unknown_user: UNKNOWN_USER,
      invalid_business: invalidField('business_id', 'must be a business of user 7'),
    },
  },
  'DELETE /api/v1/user/{user_id}/keys/{key_id}': {
    operationId: 'revokeKey',
    summary: 'Revoke an API key',
    description: 'The key stops working with the next request.',
    success: ok('The revoked key.', schemas.revokedKey, {
      key: { key: { ...apiKey, revoked_at: times.updated_at } },
    }),
    refusals: { unknown_user: UNKNOWN_USER, unknown_key: unknown('Key id', 'the user has no API key `key_id`') },
  },
  'POST /api/v1/user/{user_id}/console-link': {
    operationId: 'createConsoleLink',
    summary: 'Create a console link',
    description:
      'Creates a link that opens the console for a user once, within two minutes. The first person to open it starts the session.',
    body: {
      description:
        "Empty for a session with full access for 60 minutes, or the session's business, role, duration, return URL and person.",
      component: ['ConsoleLinkToCreate', 'The console link to create.'],
      examples: { read: { role: 'read', minutes: 15, return_url: 'https://product.example/settings', as: 'Anna' } },
    },
    success: ok('The link, which is shown only once.', schemas.consoleLink, {
      read: {
        url: 'https://service.example/owner#code=0123456789ABCDEFGHIJKLMNOPQRSTUVWX',
        expires_at: '2026-03-03T12:02:00.000000Z',
      },
    }),
    invalid: { invalid_minutes: { minutes: 0 }, invalid_return_url: { return_url: 'product.example' } },
    refusals: {
      unknown_user: unknown(
        'User id',
        '`user_id` is not an id, or the user has neither a business nor an API key that works',
      ),
      invalid_business: invalidField('business_id', 'must be a business of user 7'),
    },
  },
  'GET /api/v1/user/{user_id}/changes': {
    operationId: 'readUserChanges',
    summary: "List a user's changes",
    description:
      "Lists who created and revoked the user's API keys that are not limited to one business, newest first.",
    success: ok('One page of changes.', schemas.changes, {
      changes: {
        changes: [
          {
            id: 1,
            at: times.created_at,
            actor: 'operator (…abcd)',
            key_name: null,
            actor_name: null,
            action: 'create_key',
            before: null,
            after: { key: '…abcd', name: 'Billing server', role: 'record', id: 12 },
          },
        ],
        next: null,
      },
    }),
    invalid: { invalid_limit: { limit: '0' } },
    refusals: { unknown_user: UNKNOWN_USER },
  },
  'GET /api/v1/user/{user_id}/export': {
    operationId: 'exportUser',
    summary: 'Export a user',
    description: `Exports all data stored about a user as JSON Lines, without secrets and hashes. An export can have many pages. The \`Link\`
header contains the URL of the next page. The last page ends with the line \`{"type":"end"}\`. For an unknown user, \`database\` is null.`,
    parameters: {
      cursor: ['The cursor in the `Link` header of the previous page. Default: the first page.', 'counts.1.2026-03-02'],
    },
    success: jsonLines('One page of lines.', {
      page: [
        { type: 'user', user_id: 7, database: 0, place: 2, claimed_at: times.created_at, imported_tokens: 0 },
        { type: 'business', ...businessLine },
        { type: 'count', business_id: 1, date: '2026-03-02', count: 5 },
        { type: 'key', ...apiKey },
        { type: 'end' },
      ],
    }),
    invalid: { invalid_cursor: { cursor: '-1' } },
    refusals: { unknown_user: UNKNOWN_USER },
  },
  'DELETE /api/v1/user/{user_id}': {
    operationId: 'eraseUser',
    summary: 'Erase a user',
    description: `Deletes all data about a user without a business: API keys, sessions, console links, changes and the assignment to a database.
Erasure cannot be undone. It does nothing for an unknown or erased user, so a retry is safe.`,
    success: ok('The erased user.', schemas.erasedUser, { erased: { erased: { user_id: 7 } } }),
    refusals: {
      unknown_user: UNKNOWN_USER,
      owner: invalidField('user_id', ownsRule(3)),
      recent: invalidField('user_id', RECENT_RULE),
    },
  },
  'GET /api/v1/usage': {
    operationId: 'readAllUsage',
    summary: 'Read the usage of all businesses',
    description: `Lists how many uses each business had in a range of at most ${MAX_RANGE_DAYS} days, both ends included, ordered by business
id. Businesses without uses have a count of 0. With \`ended\`, lists only the businesses whose billing month ended on the given day, with
their uses in that month, for invoicing. A month that ended before the business was created is listed only if it has uses. Only the operator can read this. A page comes from one database, so it can be short or empty even
if \`next\` is set. With the header \`Accept: text/csv\`, a page is a CSV file, and the \`Link\` header contains the URL of the next page.`,
    parameters: {
      ended: ['The last day of a billing month, before today. Not allowed with `from` or `to`.', '2026-02-28'],
      user_id: ["Only this user's businesses.", 7],
      limit: [`Maximum number of businesses. Default: ${MAX_TOTALS_PER_PAGE}.`, 20],
    },
    success: orCsv(
      ok('`Totals`, or with `ended`, `EndedMonths`.', z.union([schemas.totals, schemas.endedMonths]), {
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
              ...{ starts_on: '2026-02-01', ends_on: '2026-02-28', count: 8412, monthly_limit: 10_000, final: false },
            },
          ],
          next: null,
        },
      }),
      {
        page: 'business_id,user_id,name,count\r\n1,7,Acme,15\r\n2,7,Bolt,0\r\n',
        ended: `business_id,user_id,name,created_at,starts_on,ends_on,count,monthly_limit,final\r\n1,7,Acme,${times.created_at},2026-02-01,2026-02-28,8412,10000,false\r\n`,
      },
      linked,
    ),
    invalid: { invalid_day: { from: 'yesterday' }, invalid_limit: { limit: '1001' } },
    refusals: {
      too_many_uses: invalidField(
        'from',
        `must be later: from 2021-01-01 to 2026-01-04, business 1 has more than ${MAX_COUNT} uses`,
      ),
      not_ended: invalidField('ended', 'must be a date before today (2026-03-03, UTC)'),
      with_range: invalidField('from', 'must not be combined with ended'),
    },
  },
  'GET /api/v1/alerts': {
    operationId: 'readAllAlerts',
    summary: 'List the alerts of all businesses',
    description: `Lists the alerts of all businesses, one database after another, newest first within each. \`state\` shows whether an alert was sent.
Only the operator can read this. A page comes from one database, so it can be short or empty even if \`next\` is set.`,
    success: ok('One page of alerts.', schemas.alerts, {
      alerts: { alerts: [anAlert], next: null },
    }),
    invalid: { invalid_limit: { limit: '0' }, invalid_cursor: { cursor: '-1' } },
  },
  'GET /api/v1/database': {
    operationId: 'readDatabases',
    summary: 'List the databases',
    description: `Lists each database with its size, yesterday's uses and its backlog: alerts to send. A database that fails, or
does not respond within 4 seconds, is listed with an \`error\`. Only the operator can read this.`,
    success: ok('The databases.', schemas.databases, {
      databases: {
        databases: [
          {
            number: 0,
            letter: '0',
            binding: 'DB',
            bytes: 241_664,
            uses_yesterday: 6830,
            backlog: { alerts: 0 },
          },
          { number: 1, letter: '1', binding: 'DB_1', error: 'does not respond' },
        ],
      },
    }),
  },
};
