// Every route that the guard protects, and how it answers. A route that is missing here fails the test that walks the app.
import type { Action } from '../src/core/change.ts';

export type AnyRoute = Route | Unnamed;
export type Route = {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As the app registers it. */
  pattern: string;
  path: (business: { id: string | number; user_id?: number; name?: string }) => string;
  /** The status with which a granted call is answered; 200 unless told. */
  granted?: 404;
  /** A body, and headers, with which it succeeds. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Input that is refused with 422. */
  bad: { query?: string; body?: unknown; headers?: Record<string, string> };
  /** How often a granted call asks a database; 1 unless told. What concerns a user asks for the user's home first. `each`: it asks every
   * database, and names those that fail. */
  round_trips?: 2 | 'each';
  /** What an API key is told, or null where it may. */
  keyRefusal: string | null;
  /** What a business token is told, or null where it may. */
  tokenRefusal: string | null;
  /** What an operator key is told, if it may not. */
  operatorRefusal?: string;
  /** What a session key is told, if it may not. */
  sessionRefusal?: string;
  /** Whether it changes or records something, which a key that can only read may not. */
  writes: boolean;
  /** Whether a key that can only record may do it. */
  allowsRecordKey: boolean;
  /** What the list of changes says of it, or null if it is no change. */
  action: Action | null;
  /** What the owner of a business that is not active is told, or null where he may. */
  inactiveRefusal: string | null;
  unknownBusiness: { status: number; body: object };
};
/** A route whose path names no business. */
type Unnamed = Omit<Route, 'unknownBusiness'> & { unknownBusiness: null };

const ACCESS = '/api/v1/business/:business_id/access';
const usageUnknown = { status: 422, body: { status: false, message: 'business id is not valid' } };
const accessUnknown = { status: 401, body: { status: false, message: 'Id is not valid' } };

const inactive = 'This business is not active.';
const ofOperator = (does: string) => {
  const refusal = `Only the operator can ${does}.`;
  return { keyRefusal: refusal, tokenRefusal: refusal, allowsRecordKey: false, inactiveRefusal: null };
};

/** What the guard does not protect: it depends on no credential. */
export const PUBLIC = ['GET /api/v1/openapi.json', 'GET /api/v1/health'];

/** The routes of one business. */
export const OF_A_BUSINESS: Route[] = [
  {
    name: 'read usage',
    method: 'GET',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    bad: { query: '?from=tomorrow' },
    keyRefusal: null,
    tokenRefusal: null,
    writes: false,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: usageUnknown,
  },
  {
    name: 'record a use',
    method: 'POST',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    bad: { headers: { 'Idempotency-Key': 'two words' } },
    keyRefusal: null,
    tokenRefusal: null,
    writes: true,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: inactive,
    unknownBusiness: usageUnknown,
  },
  {
    name: 'record a use with an id',
    method: 'POST',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    headers: { 'Idempotency-Key': 'visit-1' },
    bad: { headers: { 'Idempotency-Key': 'two words' } },
    keyRefusal: null,
    tokenRefusal: null,
    writes: true,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: inactive,
    unknownBusiness: usageUnknown,
  },
  {
    name: 'record a quantity',
    method: 'POST',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    body: { quantity: 350 },
    bad: { body: { quantity: 0 } },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot record quantities. Use an API key.',
    writes: true,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: inactive,
    unknownBusiness: usageUnknown,
  },
  {
    name: 'report uses',
    method: 'POST',
    pattern: '/api/v1/business/usage/:business_id',
    path: ({ id }) => `/api/v1/business/usage/${id}`,
    body: { uses: [{ id: 'order-1' }] },
    bad: { body: { uses: [] } },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot report past uses. Use an API key.',
    writes: true,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: inactive,
    unknownBusiness: usageUnknown,
  },
  {
    name: 'read a business',
    method: 'GET',
    pattern: '/api/v1/business/:business_id',
    path: ({ id }) => `/api/v1/business/${id}`,
    bad: {},
    tokenRefusal: 'A business token cannot read businesses. Use an API key.',
    keyRefusal: null,
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'read access',
    method: 'GET',
    pattern: ACCESS,
    path: ({ id }) => `/api/v1/business/${id}/access`,
    bad: {},
    keyRefusal: null,
    tokenRefusal: 'A business token cannot read access domains. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'add sites',
    method: 'POST',
    pattern: ACCESS,
    path: ({ id }) => `/api/v1/business/${id}/access`,
    body: { sites: ['https://new.example'] },
    bad: { body: { sites: 'https://new.example' } },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot change access domains. Use an API key.',
    writes: true,
    allowsRecordKey: false,
    action: 'add_sites',
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'remove a site',
    method: 'DELETE',
    pattern: `${ACCESS}/:access_id`,
    path: ({ id }) => `/api/v1/business/${id}/access/999999999`,
    granted: 404, // said of an entry that nobody has, once everything else is granted
    bad: {},
    keyRefusal: null,
    tokenRefusal: 'A business token cannot change access domains. Use an API key.',
    writes: true,
    allowsRecordKey: false,
    action: 'remove_sites',
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'remove all sites',
    method: 'DELETE',
    pattern: ACCESS,
    path: ({ id }) => `/api/v1/business/${id}/access`,
    bad: {},
    keyRefusal: null,
    tokenRefusal: 'A business token cannot change access domains. Use an API key.',
    writes: true,
    allowsRecordKey: false,
    action: 'remove_sites',
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'read refused origins',
    method: 'GET',
    pattern: `${ACCESS}/refused`,
    path: ({ id }) => `/api/v1/business/${id}/access/refused`,
    bad: {},
    keyRefusal: null,
    tokenRefusal: 'A business token cannot read refused origins. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'forget refused origins',
    method: 'DELETE',
    pattern: `${ACCESS}/refused`,
    path: ({ id }) => `/api/v1/business/${id}/access/refused`,
    bad: {},
    keyRefusal: null,
    tokenRefusal: 'A business token cannot change refused origins. Use an API key.',
    writes: true,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'rotate the token',
    method: 'POST',
    pattern: '/api/v1/business/:business_id/token',
    path: ({ id }) => `/api/v1/business/${id}/token`,
    body: { keep_old: '24h' },
    bad: { body: { keep_old: '31d' } },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot rotate tokens. Use an API key.',
    writes: true,
    allowsRecordKey: false,
    action: 'rotate_token',
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'stop former tokens',
    method: 'DELETE',
    pattern: '/api/v1/business/:business_id/token/former',
    path: ({ id }) => `/api/v1/business/${id}/token/former`,
    bad: {},
    tokenRefusal: 'A business token cannot stop former tokens. Use an API key.',
    keyRefusal: null,
    writes: true,
    allowsRecordKey: false,
    action: 'stop_former_tokens',
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'change a business',
    method: 'PATCH',
    pattern: '/api/v1/business/:business_id',
    path: ({ id }) => `/api/v1/business/${id}`,
    body: { name: 'Renamed' },
    bad: { body: { status: 'Active' } },
    ...ofOperator('change businesses'),
    writes: true,
    action: 'update_business',
    unknownBusiness: accessUnknown,
  },
  {
    name: 'delete a business',
    method: 'DELETE',
    pattern: '/api/v1/business/:business_id',
    path: ({ id, name = 'Acme' }) => `/api/v1/business/${id}?name=${encodeURIComponent(name)}`,
    bad: { query: '&keep=1' },
    ...ofOperator('delete businesses'),
    writes: true,
    action: 'delete_business',
    unknownBusiness: accessUnknown,
  },
  {
    name: 'import a history',
    method: 'PUT',
    pattern: '/api/v1/business/:business_id/history',
    path: ({ id }) => `/api/v1/business/${id}/history`,
    // It replaces: a business of these tests can have any days.
    body: { days: [{ date: '2020-02-29', count: 120 }], replace: true },
    bad: { body: { days: [{ date: '2021-02-29', count: 120 }] } },
    ...ofOperator('import histories'),
    writes: true,
    action: 'import_usage',
    unknownBusiness: accessUnknown,
  },
  {
    name: 'read changes',
    method: 'GET',
    pattern: '/api/v1/business/:business_id/changes',
    path: ({ id }) => `/api/v1/business/${id}/changes`,
    bad: { query: '?limit=101' },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot read changes. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
  {
    name: 'read alerts',
    method: 'GET',
    pattern: '/api/v1/business/:business_id/alerts',
    path: ({ id }) => `/api/v1/business/${id}/alerts`,
    bad: { query: '?limit=101' },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot read alerts. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: accessUnknown,
  },
];

const USER = 800_000;
const NEW_BUSINESS = {
  user_id: USER,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};

export const ROUTES: (Route | Unnamed)[] = [
  ...OF_A_BUSINESS,
  {
    name: 'list businesses',
    method: 'GET',
    pattern: '/api/v1/business',
    path: () => '/api/v1/business',
    bad: { query: '?limit=51' },
    keyRefusal: null,
    tokenRefusal: 'A business token cannot list businesses. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: null,
  },
  {
    name: 'create a business',
    method: 'POST',
    pattern: '/api/v1/business',
    path: () => '/api/v1/business',
    body: NEW_BUSINESS,
    round_trips: 2,
    bad: { body: { ...NEW_BUSINESS, name: '' } },
    ...ofOperator('create businesses'),
    writes: true,
    action: 'create_business',
    unknownBusiness: null,
  },
  {
    name: 'list keys',
    method: 'GET',
    pattern: '/api/v1/user/:user_id/keys',
    path: ({ user_id = USER }) => `/api/v1/user/${user_id}/keys`,
    round_trips: 2,
    bad: { query: '?limit=5' },
    ...ofOperator('list API keys'),
    writes: false,
    action: null,
    unknownBusiness: null,
  },
  {
    name: 'create a key',
    method: 'POST',
    pattern: '/api/v1/user/:user_id/keys',
    path: ({ user_id = USER }) => `/api/v1/user/${user_id}/keys`,
    body: { role: 'record' },
    round_trips: 2,
    bad: { body: { role: 'owner' } },
    ...ofOperator('create API keys'),
    writes: true,
    action: 'create_key',
    unknownBusiness: null,
  },
  {
    name: 'create a console link',
    method: 'POST',
    pattern: '/api/v1/user/:user_id/console-link',
    path: ({ user_id = USER }) => `/api/v1/user/${user_id}/console-link`,
    body: { role: 'read', minutes: 15 },
    round_trips: 2,
    bad: { body: { minutes: 0 } },
    ...ofOperator('create console links'),
    writes: true,
    action: null,
    unknownBusiness: null,
  },
  {
    name: 'revoke a key',
    method: 'DELETE',
    pattern: '/api/v1/user/:user_id/keys/:key_id',
    path: ({ user_id = USER }) => `/api/v1/user/${user_id}/keys/999999999`,
    granted: 404, // said of a key that nobody has, once everything else is granted
    round_trips: 2,
    bad: { query: '?limit=5' },
    ...ofOperator('revoke API keys'),
    writes: true,
    action: 'revoke_key',
    unknownBusiness: null,
  },
  {
    name: 'read the changes of a user',
    method: 'GET',
    pattern: '/api/v1/user/:user_id/changes',
    path: ({ user_id = USER }) => `/api/v1/user/${user_id}/changes`,
    round_trips: 2,
    bad: { query: '?limit=101' },
    ...ofOperator('read the changes of users'),
    writes: false,
    action: null,
    unknownBusiness: null,
  },
  {
    name: 'read the usage of all businesses',
    method: 'GET',
    pattern: '/api/v1/usage',
    path: () => '/api/v1/usage',
    bad: { query: '?from=tomorrow' },
    keyRefusal: 'Only the operator can read the usage of all businesses.',
    tokenRefusal: 'Only the operator can read the usage of all businesses.',
    writes: false,
    allowsRecordKey: true,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: null,
  },
  {
    name: 'read the alerts of all businesses',
    method: 'GET',
    pattern: '/api/v1/alerts',
    path: () => '/api/v1/alerts',
    bad: { query: '?cursor=-1' },
    ...ofOperator('read the alerts of all businesses'),
    writes: false,
    action: null,
    unknownBusiness: null,
  },
  {
    name: 'read databases',
    method: 'GET',
    pattern: '/api/v1/database',
    path: () => '/api/v1/database',
    round_trips: 'each',
    bad: { query: '?limit=5' },
    ...ofOperator('read databases'),
    writes: false,
    action: null,
    unknownBusiness: null,
  },
  {
    name: 'start a session',
    method: 'POST',
    pattern: '/api/v1/session',
    path: () => '/api/v1/session',
    bad: { body: { code: 'x'.repeat(34) } }, // a code comes without a credential: test/sessions.test.ts
    keyRefusal: null,
    tokenRefusal: 'A business token cannot start sessions. Use an API key.',
    operatorRefusal: 'An operator key cannot start sessions. Use an API key.',
    sessionRefusal: 'A session key cannot start sessions. Use an API key.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: null,
  },
  {
    name: 'end a session',
    method: 'DELETE',
    pattern: '/api/v1/session',
    path: () => '/api/v1/session',
    bad: {},
    keyRefusal: 'Only a session key can end sessions.',
    tokenRefusal: 'Only a session key can end sessions.',
    operatorRefusal: 'Only a session key can end sessions.',
    writes: false,
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: null,
  },
];

/** Those that change or record something when nothing of what they need was there before, and so are not safe to repeat. */
export const NOT_REPEATABLE = ['record a use', 'record a quantity', 'rotate the token', 'start a session'];

/** Those that fail if a database does. */
export const FAILING = ROUTES.filter(({ round_trips }) => round_trips !== 'each');
