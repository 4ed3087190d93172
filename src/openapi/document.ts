// The OpenAPI 3.1 description of the service, made when it is built: the Worker only serves the file. Schemas, policy and refusals
// are those of the service, and every response of the test suite is validated against it (test/contract.ts).
import * as z from 'zod/mini';
import { createDocument, createSchema, type ZodOpenApiOverride, type ZodOpenApiPathsObject } from 'zod-openapi';
import { MAX_SESSIONS, SESSION_HOURS } from '../core/session.ts';
import { MAX_SITES } from '../core/site.ts';
import { fillRange, MAX_RANGE_DAYS } from '../core/time.ts';
import { KEEP_ID_DAYS, MAX_TOTALS_PER_PAGE } from '../core/use.ts';
import { MESSAGE_TYPE } from '../core/webhook.ts';
import {
  allAlertsQuery,
  businessUpdateBody,
  changesQuery,
  codeBody,
  consoleLinkBody,
  DESCRIBED,
  historyBody,
  newBusinessBody,
  newKeyBody,
  quantityBody,
  rangeQuery,
  rotationBody,
  sitesBody,
  usesBody,
} from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import { cached, guarded, json, linked, ok, orCsv, refusals, uncached } from './responses.ts';
import * as service from './service.ts';

const DESCRIPTION = `Counts the uses of a business per day, and lets its token work only on the domains that its owner registered.

**Credentials.** Send either: \`Authorization: Bearer <API key or business token>\`. An *API key* is secret. Keep it on servers; it
acts on every business of its user, or on one. It may be read-only; or record-only, for reading usage and recording uses. A *business
token* is public. Put it into web pages; it acts on its own business only. Once a business has registered domains, pages of other
domains are refused, whichever they send, and a token is refused without \`Origin\`.

**Responses.** A success has \`status: true\` and \`data\`. An unknown path gets 404 and another method 405, both with
\`{"message": "…"}\`. HEAD works wherever GET does: it has the same status and headers, except Content-Length, and no body.
Every page can read every response (\`Access-Control-Allow-Origin: *\`). A response that depends on a credential must not be
stored. Days are UTC.`;

const RECORDING = `Without a body, checks the caller and counts one use now, in one step; the response is a \`RecordedUse\`. With
\`quantity\` (API key only), the use counts that many times, or is refused whole by a limit. With \`uses\` (API key only), counts each
use of the list on the day of its \`at\`; the response is a \`RecordedUses\`. A refused call counts nothing. To make a retry safe, send an
\`Idempotency-Key\`, or in a list an \`id\` with each use: both share one namespace, and the same one counts once for at least ${KEEP_ID_DAYS.key} days, or ${KEEP_ID_DAYS.token} if it came with a token.`;

const CREATION = `Creates an active business for a user, and gives a new user a database. With an \`Idempotency-Key\`, the same request gives the
same business again, for as long as the business exists. Another body with that key is refused
(422), and the message names the business, to read it and change it.`;

const UPDATE = `Changes the fields that are given. A limit that is null is lifted. A business can only be given to a user of the same database, or
to one who has none yet. That revokes the keys for it alone, and ends the sessions and console links for it alone.`;

const DELETION = `Deletes a business at once and for good: from then on it is unknown to every credential. \`name\` repeats its name. What stays is
one change, which says that it was deleted; its id is never given again.`;

const HISTORY = `Sets the counts of past days, such as those of a system before this one: of all days that are listed, or of none. A day that
already has another count is refused, unless \`replace\` is true: then the new count replaces the old one, and 0 removes it. One that has this
count is no error, so a repeat is safe.`;

const LISTING = `The businesses whose usage the API key can read from the calling origin, in the order of their ids. A page examines \`limit\`
businesses, so it can list fewer and still have a \`next\`.`;

const DETAILS = `The business with its registered domains, its limits, and the tokens that were replaced and still work: their last four
characters, and when they stop. A read-only API key sees only the end of the token, too.`;

const TOTALS = `How many uses each business had in a range of at most ${MAX_RANGE_DAYS} days, both ends included, in the order of their
ids: for an invoice run. Every business is there, with 0 if it had none. Only the operator can read this. A page comes from one
database, so it can be short or empty and still have a \`next\`. With the header \`Accept: text/csv\`, a page is a CSV file, and the
header \`Link\` has the URL of the next one.`;

const REFUSED = `Origins that were refused in the last 90 days although the credential was valid, and that would be refused now: at most 50,
last seen first. A hint that a domain is missing. Counts are lower bounds, and whoever has the token can make an origin appear.`;

const ALERTS = `When the business had used 80 % or all of a limit, newest first. There is one alert for each limit and its value, period and
threshold; of both thresholds at once, only the higher. Alerts are kept for 90 days.`;

const ALL_ALERTS = `The alerts of all businesses, one database after the other, and in each the newest first. Each says what became of it. Only the
operator can read this. A page comes from one database, so it can be short or empty and still have a \`next\`.`;

const DATABASES = `Each database with its size, the uses of yesterday, and what waits in it: ids of uses that are to be forgotten, and alerts that are
not sent yet. One that does not respond within 4 seconds, or fails, is there with an \`error\`. Only the operator can read this.`;

const ROTATION = `Gives the business a new token. Without a body, the old one and all earlier ones stop working at once. With \`keep_old\`, the old
one works that much longer, until all pages have the new one. A business keeps at most 5 former tokens.`;

const SIGNING_IN = `For the console: a session key has the form and the rights of the API key, or fewer, and ends by itself. Send an API key with an
empty body, for ${SESSION_HOURS} hours, or the code of a console link without a credential, for as long as the link says. A code works once. Of more
than ${MAX_SESSIONS} sessions of a user, the oldest of the same API key end.`;

const SENDING = `What the service sends to the receiver that the operator set up, when businesses have used 80 % or all of a limit. The headers are
those of Standard Webhooks (https://www.standardwebhooks.com). Anything but a status from 200 to 299 within 10 seconds is a failure: then the
same message comes again, each minute for three days. It can also come twice: ignore a \`webhook-id\` that you have.`;

type ParameterIn = 'path' | 'query' | 'header';
const parameter = (place: ParameterIn, name: string, schema: z.ZodMiniType, description: string, example: unknown) =>
  schema.check(z.meta({ param: { in: place, name, description, example } }));
const sent = (name: string, pattern: RegExp, description: string, example: string) =>
  parameter('header', name, z.string().check(z.regex(pattern)), description, example);
const wholeNumber = z.int().check(z.minimum(1));
const ofPage = (name: string, description: string, example: number, schema = wholeNumber) =>
  parameter('query', name, z.optional(schema), description, example);
const limit = (most: number, initial = 20) =>
  ofPage('limit', `How many at most. Default: ${initial}.`, 20, z.int().check(z.minimum(1), z.maximum(most)));
const day = rangeQuery.schema.shape.from.check(z.meta({ format: 'date' }));
const range = [
  parameter('query', 'from', day, 'First day. Default: 29 days before `to`.', '2026-03-01'),
  parameter('query', 'to', day, 'Last day. Default: today.', '2026-03-03'),
];
const { cursor } = allAlertsQuery.schema.shape;
const { action, search } = changesQuery.schema.shape;
const filters = [
  parameter('query', 'action', action, 'Only changes that did this.', 'add_sites'),
  parameter('query', 'search', search, 'Only changes with this text in `before` or `after`.', 'shop.example'),
  parameter('query', 'from', day, 'Only changes of this day, UTC, or later.', '2026-01-01'),
  parameter('query', 'to', day, 'Only changes of this day, UTC, or before.', '2026-03-03'),
];
/** Quoting an id and escaping each character doubles its length and adds two. */
const key = z.optional(z.string().check(z.regex(/^[\x21-\x7e]{1,512}$/)));

const businessId = parameter('path', 'business_id', wholeNumber, 'Identifier of the business.', 1);
const accessId = parameter('path', 'access_id', wholeNumber, 'Identifier of the entry.', 1);
const fromBrowsers = 'Sent by browsers: the origin of the calling page. It is compared with the registered domains.';
const origin = parameter('header', 'Origin', z.optional(z.string()), fromBrowsers, 'https://shop.example');
const once = 'Makes a retry of one use safe. Not allowed with `uses`: each of them has an `id`.';

const userId = parameter('path', 'user_id', wholeNumber, 'Identifier of the user.', 7);
const keyId = parameter('path', 'key_id', wholeNumber, 'Identifier of the key.', 12);
const onceCreated = 'Makes a retry safe. It counts by user.';
const nothing = z.union([z.strictObject({}), z.array(z.never())]);
const oneUse = schemas.component('OneUse', 'One use, now. No body means the same.', nothing);
const quantity = schemas.component('Quantity', 'One use, now, that counts several times.', quantityBody);
const uses = schemas.component('Uses', 'Uses of the past days, each with an id of its own.', usesBody);
const recorded = z.xor([schemas.recordedUse, schemas.recordedUses]);
const rotation = schemas.component('Rotation', 'How long the old token works on.', rotationBody);
const newBusiness = schemas.component('NewBusiness', 'A business to create.', newBusinessBody);
const businessUpdate = schemas.component('BusinessUpdate', 'The fields to change.', businessUpdateBody);
const link = schemas.component('ConsoleLinkToCreate', 'The console link to create.', consoleLinkBody);
const history = schemas.component('History', 'The counts of past days.', historyBody);
const newKey = schemas.component('KeyToCreate', 'The API key to create.', newKeyBody);
const sites = schemas.component('Sites', 'The domains to register.', sitesBody);
const code = schemas.component('Code', 'The code of a console link, which works once.', codeBody);
const openApi = z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) });

const times = { created_at: '2026-02-01T08:30:00.123000Z', updated_at: '2026-02-01T08:30:00.123000Z' };
const written = {
  user_id: 7,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};
const fields = {
  id: 1,
  ...written,
  token: 'bua_pk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
  status: 'active',
  ...times,
};
const apiKey: schemas.Key = {
  ...{ id: 12, user_id: 7, name: 'Billing server', last_four: 'abcd', created_at: times.created_at },
  ...{ expires_on: null, revoked_at: null, business_id: null, last_used_on: null, read_only: false, role: 'record' },
};
const thirtyDays = fillRange({ from: '2026-02-02', to: '2026-03-03' }, { '2026-03-02': 5, '2026-03-03': 10 });
const businessWith = (...sites: string[]): schemas.Business => ({
  ...fields,
  access_list: sites.map((site, index) => ({ id: index + 1, business_id: 1, site, ...times })),
});
const detailsOf = (...sites: string[]): schemas.BusinessDetails => ({
  ...businessWith(...sites),
  limits: {
    ...{ daily: 1000, monthly: null, billing_day: 1, today: 4, month: null, remaining: 996 },
    ...{ day_ends: '2026-03-04T00:00:00.000000Z', month_ends: null },
  },
  former_tokens: [],
});
const seen = { first_seen: times.created_at, last_seen: times.updated_at };
const SHOP = 'https://shop.example';
const aSession: schemas.Session = {
  session_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
  expires_at: '2026-03-03T13:00:00.000000Z',
  read_only: false,
};
const alertOfMonth: Omit<schemas.Alerts['alerts'][number], 'sent_at'> = {
  ...{ id: 1, period: 'month', starts_on: '2026-03-01', ends_on: '2026-03-31' },
  ...{ limit: 10_000, threshold: 80, used: 8000, at: '2026-03-15T12:00:00.000000Z' },
};
const anAlert: schemas.Alerts['alerts'][number] = { ...alertOfMonth, sent_at: '2026-03-15T12:01:00.000000Z' };
const WILDCARDS = ['https://*.acme.example', 'http://localhost:*'];

const paths: ZodOpenApiPathsObject = {
  '/api/v1/business': {
    parameters: [origin],
    get: guarded(['list_businesses'], {
      operationId: 'listBusinesses',
      summary: 'List your businesses',
      description: LISTING,
      parameters: [
        limit(50),
        ofPage('after', 'The `next` of the page before. Default: from the first.', 20),
        ofPage('user_id', 'Only the businesses of this user. For the operator only.', 7),
      ],
      success: ok('One page of businesses.', schemas.businesses, {
        businesses: {
          businesses: [{ ...fields, used: thirtyDays, limits: null, refused_origins: 0 }],
          next: null,
          read_only: false,
        },
      }),
      refusals: service.INVALID_PAGE,
    }),
    post: guarded(['create_business'], {
      operationId: 'createBusiness',
      summary: 'Create a business',
      description: CREATION,
      parameters: [parameter('header', 'Idempotency-Key', key, onceCreated, 'signup-7')],
      requestBody: {
        description: 'The business. Without `token` it gets a new one.',
        required: true,
        content: json(newBusiness, { business: { ...written, sites: [SHOP], monthly_limit: 10_000 } }),
      },
      success: ok('The business and its domains.', schemas.business, { business: businessWith(SHOP) }),
      refusals: { ...service.INVALID_BUSINESS, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/usage/{business_id}': {
    parameters: [businessId, origin],
    get: guarded(['read_usage'], {
      operationId: 'readUsage',
      summary: 'Read the usage of a business',
      description: `The number of uses on each day of a range of at most ${MAX_RANGE_DAYS} days, both ends included. With the header \`Accept: text/csv\`, the report is a CSV file.`,
      parameters: range,
      success: orCsv(
        ok('The number of uses on each day.', schemas.usageReport, {
          three_days: {
            used: ['2026-03-01', '2026-03-02', '2026-03-03'].map((date, index) => ({ date, count: index * 5 })),
          },
        }),
        { three_days: 'date,count\r\n2026-03-01,0\r\n2026-03-02,5\r\n2026-03-03,10\r\n' },
      ),
      refusals: service.INVALID_RANGE,
    }),
    post: guarded(['record_use', 'record_quantity', 'record_uses'], {
      operationId: 'recordUse',
      summary: 'Record a use, or a list of past uses',
      description: RECORDING,
      parameters: [parameter('header', 'Idempotency-Key', key, once, 'order-1')],
      requestBody: {
        description: 'Empty for one use, a quantity, or a list of uses.',
        content: json(z.xor([oneUse, quantity, uses]), {
          one_use: {},
          quantity: { quantity: 350 },
          uses: { uses: [{ id: 'order-1', at: '2026-03-02T09:30:00Z' }, { id: 'order-2' }] },
        }),
      },
      success: ok('`RecordedUse` for one use, `RecordedUses` for a list.', recorded, {
        one_use: { date: '2026-03-03', count: 13 },
        quantity: { date: '2026-03-03', count: 362 },
        uses: { recorded: 2, duplicates: 0 },
      }),
      refusals: { ...service.LIMIT_REACHED, ...service.INVALID_USES, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}': {
    parameters: [businessId, origin],
    get: guarded(['read_business'], {
      operationId: 'readBusiness',
      summary: 'Read a business',
      description: DETAILS,
      success: ok('The business and all that belongs to it.', schemas.businessDetails, {
        business: {
          ...detailsOf(SHOP),
          former_tokens: [{ last_four: 'Qzsh', expires_at: '2026-03-04T08:30:00.123000Z' }],
        },
      }),
    }),
    patch: guarded(['update_business'], {
      operationId: 'updateBusiness',
      summary: 'Change a business',
      description: UPDATE,
      requestBody: {
        description: 'The fields to change.',
        required: true,
        content: json(businessUpdate, { suspend: { status: 'suspended' }, limit: { daily_limit: 1000 } }),
      },
      success: ok('The business as it is now.', schemas.businessDetails, {
        suspend: { ...detailsOf(), status: 'suspended' },
        limit: detailsOf(),
      }),
      refusals: { ...service.INVALID_UPDATE, ...service.BROKEN_BODY },
    }),
    delete: guarded(['delete_business'], {
      operationId: 'deleteBusiness',
      summary: 'Delete a business',
      description: DELETION,
      parameters: [parameter('query', 'name', z.string(), 'The name of the business.', 'Acme')],
      success: ok('What was deleted.', schemas.deletedBusiness, { business: { deleted: { id: 1, name: 'Acme' } } }),
      refusals: { ...service.NOT_DELETED, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}/access': {
    parameters: [businessId, origin],
    get: guarded(['read_access'], {
      operationId: 'readAccess',
      summary: 'List the registered domains',
      description: 'The business with its registered domains. Without any, its token works on every site.',
      success: ok('The business and its registered domains.', schemas.business, { business: businessWith(SHOP) }),
    }),
    post: guarded(['change_access'], {
      operationId: 'addAccess',
      summary: 'Register domains',
      description: `Adds all of the domains, or none if one is not valid. A domain that is registered already is no error. A business has at most ${MAX_SITES}.`,
      requestBody: {
        required: true,
        content: json(sites, { sites: { sites: [SHOP] }, wildcards: { sites: WILDCARDS } }),
      },
      success: ok('The business and all of its registered domains.', schemas.business, {
        sites: businessWith(SHOP),
        wildcards: businessWith(...WILDCARDS),
      }),
      refusals: { ...service.INVALID_SITES, ...service.BROKEN_BODY },
    }),
    delete: guarded(['change_access'], {
      operationId: 'removeAllAccess',
      summary: 'Remove all registered domains',
      description: 'Lifts the restriction: the token works on every site again.',
      success: ok('The business, without registered domains.', schemas.business, { business: businessWith() }),
      refusals: { ...service.NOT_LIFTED, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}/access/refused': {
    parameters: [businessId, origin],
    get: guarded(['read_refused_origins'], {
      operationId: 'readRefusedOrigins',
      summary: 'List refused origins',
      description: REFUSED,
      success: ok('Origins that are still refused.', schemas.refusedOrigins, {
        refused: { refused: [{ origin: 'https://new.acme.example', count: 12, ...seen }] },
      }),
    }),
    delete: guarded(['change_refused_origins'], {
      operationId: 'forgetRefusedOrigins',
      summary: 'Forget refused origins',
      description: 'Empties the list. An origin that is refused again appears again.',
      success: ok('The empty list.', schemas.refusedOrigins, { refused: { refused: [] } }),
      refusals: { ...service.NO_BODY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}/token': {
    parameters: [businessId, origin],
    post: guarded(['rotate_token'], {
      operationId: 'rotateToken',
      summary: 'Replace the business token',
      description: ROTATION,
      requestBody: {
        description: 'Empty: the old token stops working at once.',
        content: json(rotation, { keep_old: { keep_old: '24h' } }),
      },
      success: ok('The business, with its new token.', schemas.business, { keep_old: businessWith() }),
      refusals: { ...service.INVALID_ROTATION, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}/token/former': {
    parameters: [businessId, origin],
    delete: guarded(['stop_former_tokens'], {
      operationId: 'stopFormerTokens',
      summary: 'Stop former tokens',
      description: 'Tokens that were replaced and still work stop now. The current token works on.',
      success: ok('The business, without former tokens.', schemas.businessDetails, { business: detailsOf(SHOP) }),
      refusals: { ...service.NO_BODY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/user/{user_id}/keys': {
    parameters: [userId],
    get: guarded(['list_keys'], {
      operationId: 'listKeys',
      summary: 'List the API keys of a user',
      description: 'Those that are revoked or expired, too. A key itself is never shown again.',
      success: ok('The keys.', schemas.keys, { keys: { keys: [apiKey] } }),
      refusals: service.UNKNOWN_USER,
    }),
    post: guarded(['create_key'], {
      operationId: 'createKey',
      summary: 'Create an API key for a user',
      description:
        'Without a body, a key that may do everything with every business of the user. `business_id` makes it a key for that business only.',
      requestBody: {
        description: 'Empty, or what the key is called and may do.',
        content: json(newKey, { record_key: { name: 'Billing server', role: 'record' } }),
      },
      success: ok('The key, this one time.', schemas.newKey, {
        record_key: { api_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSabcd', ...apiKey },
      }),
      refusals: { ...service.UNKNOWN_USER, ...service.INVALID_KEY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/user/{user_id}/keys/{key_id}': {
    parameters: [userId, keyId],
    delete: guarded(['revoke_key'], {
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      description: 'It stops with the next request.',
      success: ok('The key, revoked.', schemas.revokedKey, {
        key: { key: { ...apiKey, revoked_at: times.updated_at } },
      }),
      refusals: { ...service.NO_BODY, ...service.UNKNOWN_KEY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/user/{user_id}/console-link': {
    parameters: [userId],
    post: guarded(['create_console_link'], {
      operationId: 'createConsoleLink',
      summary: 'Create a console link',
      description:
        'A link that opens the console for a user, once and within two minutes. Whoever opens it first has the session.',
      requestBody: {
        description: 'Empty for a session with all rights, of 60 minutes, or what it may do and how long it lasts.',
        content: json(link, { read: { role: 'read', minutes: 15 } }),
      },
      success: ok('The link, this one time.', schemas.consoleLink, {
        read: {
          url: 'https://service.example/owner#code=0123456789ABCDEFGHIJKLMNOPQRSTUVWX',
          expires_at: '2026-03-03T12:02:00.000000Z',
        },
      }),
      refusals: { ...service.NOTHING_TO_OPEN, ...service.INVALID_LINK, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/user/{user_id}/changes': {
    parameters: [userId],
    get: guarded(['read_user_changes'], {
      operationId: 'readUserChanges',
      summary: 'List changes of a user',
      description: 'Who created and revoked the API keys that the user has for all businesses, newest first.',
      parameters: [limit(100), ofPage('before', 'The `next` of the page before. Default: the newest change.', 17)],
      success: ok('One page of changes.', schemas.changes, {
        changes: {
          changes: [
            {
              ...{
                id: 1,
                at: times.created_at,
                actor: 'operator (…abcd)',
                key_name: null,
                action: 'create_key',
                before: null,
              },
              after: { key: '…abcd', name: 'Billing server', role: 'record', id: 12 },
            },
          ],
          next: null,
        },
      }),
      refusals: { ...service.UNKNOWN_USER, ...service.INVALID_PAGE },
    }),
  },
  '/api/v1/business/{business_id}/history': {
    parameters: [businessId],
    put: guarded(['import_history'], {
      operationId: 'importHistory',
      summary: 'Import the history of a business',
      description: HISTORY,
      requestBody: {
        description: `1 to ${MAX_RANGE_DAYS} days before today (UTC), each once.`,
        required: true,
        content: json(history, {
          history: {
            days: [
              { date: '2026-01-30', count: 180 },
              { date: '2026-01-31', count: 120 },
            ],
            replace: true,
          },
        }),
      },
      success: ok('What was imported.', schemas.importedHistory, { history: { days: 2, uses: 300 } }),
      refusals: { ...service.INVALID_HISTORY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/business/{business_id}/changes': {
    parameters: [businessId, origin],
    get: guarded(['read_changes'], {
      operationId: 'readChanges',
      summary: 'List changes',
      description:
        'Who changed what, newest first. Changes are kept for 400 days. Tokens are shown by their last four characters. ' +
        'With a filter, a page can be short, or empty, although `next` is set.',
      parameters: [
        limit(100),
        ofPage('before', 'The `next` of the page before. Default: the newest change.', 17),
        ...filters,
      ],
      success: ok('One page of changes.', schemas.changes, {
        changes: {
          changes: [
            {
              ...{ id: 1, at: times.created_at, actor: 'key 12 (…abcd)', key_name: 'Server', action: 'add_sites' },
              ...{ before: null, after: { sites: [SHOP] } },
            },
          ],
          next: null,
        },
      }),
      refusals: service.INVALID_CHANGES,
    }),
  },
  '/api/v1/business/{business_id}/alerts': {
    parameters: [businessId, origin],
    get: guarded(['read_alerts'], {
      operationId: 'readAlerts',
      summary: 'List alerts',
      description: ALERTS,
      parameters: [limit(100), ofPage('before', 'The `next` of the page before. Default: the newest alert.', 17)],
      success: ok('One page of alerts.', schemas.alerts, {
        alerts: {
          alerts: [anAlert],
          next: null,
        },
      }),
      refusals: service.INVALID_PAGE,
    }),
  },
  '/api/v1/business/{business_id}/access/{access_id}': {
    parameters: [businessId, accessId, origin],
    delete: guarded(['change_access'], {
      operationId: 'removeAccess',
      summary: 'Remove a registered domain',
      description: 'Removes one entry. The last one is refused (422): without it, the token would work on every site.',
      success: ok('The business and its remaining domains.', schemas.business, { business: businessWith(SHOP) }),
      refusals: { ...service.NOT_REMOVED, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/usage': {
    get: guarded(['read_all_usage'], {
      operationId: 'readAllUsage',
      summary: 'Read what each business used',
      description: TOTALS,
      parameters: [
        ...range,
        limit(MAX_TOTALS_PER_PAGE, MAX_TOTALS_PER_PAGE),
        ofPage('after', 'The `next` of the page before. Default: from the first.', 20),
      ],
      success: orCsv(
        ok('One page of businesses.', schemas.totals, {
          page: {
            usage: [
              { business_id: 1, user_id: 7, count: 15 },
              { business_id: 2, user_id: 7, count: 0 },
            ],
            next: null,
          },
        }),
        { page: 'business_id,user_id,count\r\n1,7,15\r\n2,7,0\r\n' },
        linked,
      ),
      refusals: service.INVALID_TOTALS,
    }),
  },
  '/api/v1/alerts': {
    get: guarded(['read_all_alerts'], {
      operationId: 'readAllAlerts',
      summary: 'List the alerts of all businesses',
      description: ALL_ALERTS,
      parameters: [
        limit(100),
        parameter('query', 'cursor', cursor, 'The `next` of the page before. Default: the first page.', '017'),
      ],
      success: ok('One page of alerts.', schemas.allAlerts, {
        alerts: { alerts: [{ ...anAlert, business_id: 1, state: 'sent' }], next: null },
      }),
      refusals: service.INVALID_ALL_ALERTS,
    }),
  },
  '/api/v1/database': {
    get: guarded(['read_databases'], {
      operationId: 'readDatabases',
      summary: 'List the databases',
      description: DATABASES,
      success: ok('The databases.', schemas.databases, {
        databases: {
          databases: [
            {
              ...{ number: 0, letter: '0', binding: 'DB', bytes: 241_664, uses_yesterday: 6830 },
              backlog: { ids: 0, alerts: 0 },
            },
            { number: 1, letter: '1', binding: 'DB_1', error: 'does not respond' },
          ],
        },
      }),
    }),
  },
  '/api/v1/session': {
    post: guarded(['start_session'], {
      operationId: 'startSession',
      summary: 'Start a session of the console',
      description: SIGNING_IN,
      withoutCredential: true,
      requestBody: {
        description: 'Empty with an API key. Without a credential, the code of a console link.',
        content: json(code, { code: { code: '0123456789ABCDEFGHIJKLMNOPQRSTUVWX' } }),
      },
      success: ok('The session and its key.', schemas.session, { code: aSession }),
      refusals: { ...service.NO_BODY, ...service.BROKEN_BODY },
    }),
    delete: guarded(['end_session'], {
      operationId: 'endSession',
      summary: 'End the session',
      description: 'The session whose key is sent ends now. An API key or a token is refused.',
      success: ok('The session ended.', schemas.endedSession, { ended: { ended: true } }),
      refusals: { ...service.NO_BODY, ...service.BROKEN_BODY },
    }),
  },
  '/api/v1/health': {
    get: {
      operationId: 'readHealth',
      tags: ['description'],
      summary: 'Whether the service and its databases respond',
      description: 'For uptime checks: every caller has a response within 5 seconds.',
      security: [],
      responses: {
        200: {
          description: 'All respond. The outcome can be 5 seconds old.',
          headers: z.object(uncached),
          content: json(schemas.health, { healthy: { status: true } }),
        },
        ...refusals({ ...service.NO_PARAMETER, ...service.FAILURES }),
      },
    },
  },
  '/api/v1/openapi.json': {
    get: {
      operationId: 'readDescription',
      tags: ['description'],
      summary: 'Read this description',
      description: 'Every operation with its parameters, responses and errors, as OpenAPI 3.1.',
      security: [],
      responses: {
        200: {
          description: 'OpenAPI 3.1. It may be stored for an hour.',
          headers: cached,
          content: json(openApi, { start: { openapi: '3.1.0', info: {}, paths: {} } }),
        },
        304: { description: 'Not changed since the version that `If-None-Match` names.', headers: cached },
        ...refusals({ ...service.NO_PARAMETER, ...service.PUBLIC }),
      },
    },
  },
};

/** How alerts are sent (docs/alerts.md). Tests validate each message that they get. */
const webhooks: ZodOpenApiPathsObject = {
  [MESSAGE_TYPE]: {
    post: {
      operationId: 'receiveAlerts',
      tags: ['alerts'],
      summary: 'Receive alerts',
      description: SENDING,
      security: [],
      parameters: [
        sent(
          'webhook-id',
          /^msg_[\da-f-]{36}$/,
          'Identifies the message: the same each time it is sent.',
          'msg_3e1fb0f4-4ab2-4ad9-9d4b-0d1a5f3ae0a5',
        ),
        sent('webhook-timestamp', /^\d+$/, 'When it is sent, this time, in seconds since 1970.', '1773576060'),
        sent(
          'webhook-signature',
          /^v1,[A-Za-z\d+/]{43}=$/,
          '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.',
          'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        ),
      ],
      requestBody: {
        description: 'The message.',
        required: true,
        content: json(schemas.alertMessage, {
          message: {
            ...{ type: MESSAGE_TYPE, timestamp: '2026-03-15T12:01:00.000000Z' },
            data: { alerts: [{ ...alertOfMonth, business_id: 1, user_id: 7 }] },
          },
        }),
      },
      responses: { '2XX': { description: 'The receiver has the message. The service does not read the body.' } },
    },
  },
};

const bearer = (bearerFormat: string, description: string) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat, description }) as const;
const KEY =
  'An API key: secret, for servers. It acts on every business of its user, or on one, and may be read-only or record-only.';
const SESSION = 'The key of a session of the console. It is sent wherever an API key is, and ends by itself.';
const OPERATOR =
  'An operator key: secret, for the servers of whoever runs the service. It acts on every business, or only records uses.';
const TOKEN = 'A business token: public, for web pages. It acts on its own business, from the registered domains.';

/** A field that is not described is an error in a `closed` description; else later versions may add one to a response. */
const overrideOf = (closed: boolean): ZodOpenApiOverride =>
  function override({ zodSchema, jsonSchema, io }) {
    const { def } = zodSchema._zod;
    Object.assign(jsonSchema, DESCRIBED.get(zodSchema));
    if (closed && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    else if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (def.type !== 'pipe') return;
    // Both sides of a pipe apply: the routes check the length of a list before its entries.
    Object.assign(jsonSchema, createSchema(def.out, { io, opts: { override } }).schema);
  };

/** The description. `closed` is for tests: then a response may have no field that is not described. */
export const openapi = ({ closed } = { closed: false }) =>
  createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Business Usage and Access',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The host that serves this description.' }],
      tags: [
        { name: 'usage', description: 'Read and record the uses of a business.' },
        {
          name: 'businesses',
          description: 'List the businesses of an API key, or all for the operator, and what each used.',
        },
        {
          name: 'access',
          description: 'Manage the domains on which a business token works, the token, and read who changed what.',
        },
        { name: 'alerts', description: 'What the service sends to a receiver.' },
        { name: 'session', description: 'Start and end sessions of the console for owners.' },
        { name: 'description', description: 'The health of the service, and this document.' },
      ],
      paths,
      webhooks,
      components: {
        securitySchemes: {
          apiKey: bearer('bua_sk_…', KEY),
          businessToken: bearer('bua_pk_…', TOKEN),
          sessionKey: bearer('bua_sk_…', SESSION),
          operatorKey: bearer('bua_op_…', OPERATOR),
        },
      },
    },
    { override: overrideOf(closed) },
  );
