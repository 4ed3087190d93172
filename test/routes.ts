// Every guarded route and its responses. test/rules/operations.test.ts fails if one is missing here, or if the app serves another.
import type { Action } from '../src/core/change.ts';

export type AnyRoute = Route | Unnamed;
export type Route = {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The route pattern in the app, with its parameters. */
  pattern: string;
  path: (business: { id: string | number; user_id?: number; name?: string }) => string;
  /** The status of a granted call. 200 by default. */
  granted?: 404;
  /** A valid body and headers. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Invalid input, which is refused with 422. */
  bad: { query?: string; body?: unknown; headers?: Record<string, string> };
  /**
   * The number of round trips of a granted call. 1 by default. Operations on a user first look up the user's home. With `each`, the call
   * queries every database, and if a database fails, the call reports that but still succeeds.
   */
  round_trips?: 2 | 5 | 'each';
  /** The refusal of an API key, or null if it is allowed. */
  keyRefusal: string | null;
  /** The refusal of a business token, or null if it is allowed. */
  tokenRefusal: string | null;
  /** The refusal of an operator key, if it is not allowed. */
  operatorRefusal?: string;
  /** The refusal of a session key, if it is not allowed. */
  sessionRefusal?: string;
  /** Whether a call changes or records something, which a read-only key is not allowed to do. */
  writes: boolean;
  /** Whether a record-only key may call the route. */
  allowsRecordKey: boolean;
  /** The action that a call adds to the list of changes, or null if it makes no change. */
  action: Action | null;
  /** The refusal of an inactive business's owner, or null if the owner is allowed. */
  inactiveRefusal: string | null;
  unknownBusiness: { status: number; body: object };
};
/** A route without a business in its path. */
type Unnamed = Omit<Route, 'unknownBusiness'> & { unknownBusiness: null };

const USER = 800_000;
export const NEW_BUSINESS = {
  user_id: USER,
  name: 'Acme',
  main_domain: 'acme.example',
  site: 'https://acme.example',
  country_id: 1,
  business_size: 'small',
};

/** A row of the tables below. Omits the values that most routes share. */
type Row = Partial<Omit<Route, 'name' | 'method' | 'pattern'>> & {
  name: string;
  /** The method and the path below /api/v1. */
  on: `${Route['method']} /${string}`;
  /** The verb phrase in the refusal of a business token. */
  cannot?: string;
  /** The verb phrase of the error message if only the operator may call this. */
  only?: string;
};

function routeOf({ on, cannot, only, ...row }: Row): AnyRoute {
  const [method, path] = on.split(' ') as [Route['method'], string];
  const pattern = `/api/v1${path}`;
  const refusal = only === undefined ? null : `Only the operator can ${only}.`;
  return {
    method,
    pattern,
    // Any other parameter is the id of an entry or key that does not exist.
    path: ({ id, user_id = USER }) => {
      const values: Record<string, string | number> = { business_id: id, user_id };
      return pattern.replace(/:(\w+)/g, (_, name) => `${values[name] ?? 999_999_999}`);
    },
    bad: {},
    ...(path.startsWith('/user/') && { round_trips: 2 }),
    keyRefusal: refusal,
    tokenRefusal: cannot === undefined ? refusal : `A business token cannot ${cannot}. Use an API key.`,
    writes: method !== 'GET',
    allowsRecordKey: false,
    action: null,
    inactiveRefusal: null,
    unknownBusiness: unknownOn(path),
    ...row,
  } as AnyRoute;
}

function unknownOn(path: string): Route['unknownBusiness'] | null {
  if (path.startsWith('/business/usage/'))
    return { status: 422, body: { status: false, message: 'business id is not valid' } };
  return path.startsWith('/business/:') ? { status: 401, body: { status: false, message: 'Id is not valid' } } : null;
}

/** Unguarded routes, which need no credential. */
export const PUBLIC = ['GET /api/v1/openapi.json', 'GET /api/v1/health'];

const RECORDING = {
  on: 'POST /business/usage/:business_id',
  allowsRecordKey: true,
  inactiveRefusal: 'This business is not active.',
} as const;

/** The routes with a business in their path. */
export const OF_A_BUSINESS = (
  [
    {
      name: 'read usage',
      on: 'GET /business/usage/:business_id',
      bad: { query: '?from=tomorrow' },
      allowsRecordKey: true,
    },
    {
      name: 'read usage by source',
      on: 'GET /business/usage/:business_id',
      path: ({ id }) => `/api/v1/business/usage/${id}?by=source`,
      bad: { query: '&from=tomorrow' },
      cannot: 'read usage by source',
    },
    { name: 'record a use', ...RECORDING, bad: { headers: { 'Idempotency-Key': 'two words' } } },
    {
      name: 'record a use with an id',
      ...RECORDING,
      headers: { 'Idempotency-Key': 'visit-1' },
      bad: { headers: { 'Idempotency-Key': 'two words' } },
    },
    {
      name: 'record a quantity',
      ...RECORDING,
      body: { quantity: 350 },
      bad: { body: { quantity: 0 } },
      cannot: 'record quantities or labels',
    },
    {
      name: 'report uses',
      ...RECORDING,
      body: { uses: [{ id: 'order-1' }] },
      bad: { body: { uses: [] } },
      cannot: 'record lists of uses',
    },
    {
      name: 'lower uses',
      on: 'PATCH /business/usage/:business_id',
      body: { uses: [{ id: 'order-1', quantity: 0 }] },
      bad: { body: { uses: [{ id: 'order-1' }] } },
      only: 'lower uses',
      allowsRecordKey: true,
      action: null, // the use was never recorded
    },
    { name: 'read a business', on: 'GET /business/:business_id', cannot: 'read businesses' },
    { name: 'read access', on: 'GET /business/:business_id/access', cannot: 'read access domains' },
    {
      name: 'add sites',
      on: 'POST /business/:business_id/access',
      body: { sites: ['https://new.example'] },
      bad: { body: { sites: 'https://new.example' } },
      cannot: 'change access domains',
      action: 'add_sites',
    },
    {
      name: 'remove a site',
      on: 'DELETE /business/:business_id/access/:access_id',
      granted: 404, // the entry is unknown, but the call is otherwise granted
      cannot: 'change access domains',
      action: 'remove_sites',
    },
    {
      name: 'remove all sites',
      on: 'DELETE /business/:business_id/access',
      cannot: 'change access domains',
      action: 'remove_sites',
    },
    {
      name: 'read refused origins',
      on: 'GET /business/:business_id/access/refused',
      cannot: 'read refused origins',
    },
    {
      name: 'forget refused origins',
      on: 'DELETE /business/:business_id/access/refused',
      cannot: 'change refused origins',
    },
    {
      name: 'rotate the token',
      on: 'POST /business/:business_id/token',
      body: { keep_old: '24h' },
      bad: { body: { keep_old: '31d' } },
      cannot: 'rotate tokens',
      action: 'rotate_token',
    },
    {
      name: 'stop former tokens',
      on: 'DELETE /business/:business_id/token/former',
      cannot: 'stop former tokens',
      action: 'stop_former_tokens',
    },
    {
      name: 'change a business',
      on: 'PATCH /business/:business_id',
      body: { name: 'Renamed' },
      bad: { body: { status: 'Active' } },
      only: 'change businesses',
      action: 'update_business',
    },
    {
      name: 'delete a business',
      on: 'DELETE /business/:business_id',
      path: ({ id, name = 'Acme' }) => `/api/v1/business/${id}?name=${encodeURIComponent(name)}`,
      bad: { query: '&keep=1' },
      only: 'delete businesses',
      action: 'delete_business',
    },
    {
      name: 'import a history',
      on: 'PUT /business/:business_id/history',
      // `replace` is needed because the business may already have counts.
      body: { days: [{ date: '2020-02-29', count: 120 }], replace: true },
      bad: { body: { days: [{ date: '2021-02-29', count: 120 }] } },
      only: 'import histories',
      action: 'import_usage',
    },
    {
      name: 'read changes',
      on: 'GET /business/:business_id/changes',
      bad: { query: '?limit=101' },
      cannot: 'read changes',
    },
    {
      name: 'read alerts',
      on: 'GET /business/:business_id/alerts',
      bad: { query: '?limit=101' },
      cannot: 'read alerts',
    },
  ] satisfies Row[]
).map(routeOf) as Route[];

const OF_NO_BUSINESS = [
  { name: 'list businesses', on: 'GET /business', bad: { query: '?limit=51' }, cannot: 'list businesses' },
  {
    name: 'create a business',
    on: 'POST /business',
    body: NEW_BUSINESS,
    round_trips: 2,
    bad: { body: { ...NEW_BUSINESS, name: '' } },
    only: 'create businesses',
    action: 'create_business',
  },
  { name: 'list keys', on: 'GET /user/:user_id/keys', bad: { query: '?limit=5' }, only: 'list API keys' },
  {
    name: 'create a key',
    on: 'POST /user/:user_id/keys',
    body: { role: 'record' },
    bad: { body: { role: 'owner' } },
    only: 'create API keys',
    action: 'create_key',
  },
  {
    name: 'create a console link',
    on: 'POST /user/:user_id/console-link',
    body: { role: 'read', minutes: 15 },
    bad: { body: { minutes: 0 } },
    only: 'create console links',
  },
  {
    name: 'revoke a key',
    on: 'DELETE /user/:user_id/keys/:key_id',
    granted: 404, // the key is unknown, but the call is otherwise granted
    bad: { query: '?limit=5' },
    only: 'revoke API keys',
    action: 'revoke_key',
  },
  {
    name: 'read the changes of a user',
    on: 'GET /user/:user_id/changes',
    bad: { query: '?limit=101' },
    only: 'read the changes of users',
  },
  {
    name: 'erase a user',
    on: 'DELETE /user/:user_id',
    path: () => `/api/v1/user/${USER + 1}`, // an unknown user, so all three databases are queried
    round_trips: 5,
    bad: { body: {} },
    only: 'erase users',
  },
  {
    name: 'read the usage of all businesses',
    on: 'GET /usage',
    bad: { query: '?from=tomorrow' },
    only: 'read the usage of all businesses',
    allowsRecordKey: true,
  },
  {
    name: 'read the alerts of all businesses',
    on: 'GET /alerts',
    bad: { query: '?cursor=-1' },
    only: 'read the alerts of all businesses',
  },
  {
    name: 'read databases',
    on: 'GET /database',
    round_trips: 'each',
    bad: { query: '?limit=5' },
    only: 'read databases',
  },
  {
    name: 'start a session',
    on: 'POST /session',
    bad: { body: { code: 'x'.repeat(34) } }, // a code is sent without a credential: test/sessions.test.ts
    cannot: 'start sessions',
    operatorRefusal: 'An operator key cannot start sessions. Use an API key.',
    sessionRefusal: 'A session key cannot start sessions. Use an API key.',
    writes: false,
  },
  {
    name: 'end a session',
    on: 'DELETE /session',
    keyRefusal: 'Only a session key can end sessions.',
    tokenRefusal: 'Only a session key can end sessions.',
    operatorRefusal: 'Only a session key can end sessions.',
    writes: false,
  },
] satisfies Row[];

export const ROUTES: AnyRoute[] = [...OF_A_BUSINESS, ...OF_NO_BUSINESS.map(routeOf)];

/** Routes that are not safe to retry, because each call has a new effect. */
export const NOT_REPEATABLE = ['record a use', 'record a quantity', 'rotate the token', 'start a session'];

/** Routes that fail if a database fails. */
export const FAILING = ROUTES.filter(({ round_trips }) => round_trips !== 'each');
