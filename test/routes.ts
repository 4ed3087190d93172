// Every guarded route and its responses. test/rules/operations.test.ts fails if one is missing here, or if the app serves another. Who may
// call a route follows from the oracle in sim/model/may.ts.
import type { Action } from '../src/core/change.ts';
import { isOfKeys, isRepeatable, type Operation, READS, refusalOf } from './sim/model/may.ts';

export type AnyRoute = Route | Unnamed;
export type Route = {
  name: string;
  /** Its name in the oracle and in the log. */
  operation: Operation;
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
  /** The action that a call adds to the list of changes, or null if it makes no change. */
  action: Action | null;
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
type Row = Partial<Omit<Route, 'method' | 'pattern'>> &
  Pick<Route, 'name' | 'operation'> & {
    /** The method and the path below /api/v1. */
    on: `${Route['method']} /${string}`;
  };

function routeOf({ on, ...row }: Row): AnyRoute {
  const [method, path] = on.split(' ') as [Route['method'], string];
  const pattern = `/api/v1${path}`;
  const refusalTo = (caller: 'full' | 'token') => refusalOf(caller, row.operation)?.[1] ?? null;
  return {
    method,
    pattern,
    // Any other parameter is the id of an entry or key that does not exist.
    path: ({ id, user_id = USER }) => {
      const values: Record<string, string | number> = { business_id: id, user_id };
      return pattern.replace(/:(\w+)/g, (_, name) => `${values[name] ?? 999_999_999}`);
    },
    bad: {},
    ...(path.startsWith('/user/') && !isOfKeys(row.operation) && { round_trips: 2 }),
    keyRefusal: refusalTo('full'),
    tokenRefusal: refusalTo('token'),
    action: null,
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

/** Adds a row for each read without input that has none. */
function withReads(rows: Row[], hasBusiness: boolean): Row[] {
  const others = READS.filter(([operation]) => !rows.some((row) => row.operation === operation));
  return [
    ...rows,
    ...others
      .filter(([, path]) => path.includes(':business_id') === hasBusiness)
      .map(([operation, path]): Row => ({ name: operation.replaceAll('_', ' '), operation, on: `GET ${path}` })),
  ];
}

const RECORDING = 'POST /business/usage/:business_id';

/** The routes with a business in their path. */
export const OF_A_BUSINESS = withReads(
  [
    {
      name: 'read usage',
      operation: 'read_usage',
      on: 'GET /business/usage/:business_id',
      bad: { query: '?from=tomorrow' },
    },
    {
      name: 'read usage by source',
      operation: 'read_sources',
      on: 'GET /business/usage/:business_id',
      path: ({ id }) => `/api/v1/business/usage/${id}?by=source`,
      bad: { query: '&from=tomorrow' },
    },
    {
      name: 'read refused uses',
      operation: 'read_refusals',
      on: 'GET /business/:business_id/refusals',
      bad: { query: '?from=tomorrow' },
    },
    {
      name: 'look up a use',
      operation: 'read_use',
      on: 'GET /business/usage/:business_id/use',
      path: ({ id }) => `/api/v1/business/usage/${id}/use?id=order-1`,
      bad: { query: '&id=order-2' },
    },
    {
      name: 'record a use',
      operation: 'record_use',
      on: RECORDING,
      bad: { headers: { 'Idempotency-Key': 'two words' } },
    },
    {
      name: 'record a use with an id',
      operation: 'record_use',
      on: RECORDING,
      headers: { 'Idempotency-Key': 'visit-1' },
      bad: { headers: { 'Idempotency-Key': 'two words' } },
    },
    {
      name: 'record a quantity',
      operation: 'record_quantity',
      on: RECORDING,
      body: { quantity: 350 },
      bad: { body: { quantity: 0 } },
    },
    {
      name: 'report uses',
      operation: 'record_uses',
      on: RECORDING,
      body: { uses: [{ id: 'order-1' }] },
      bad: { body: { uses: [] } },
    },
    {
      name: 'lower uses',
      operation: 'lower_uses',
      on: 'PATCH /business/usage/:business_id',
      body: { uses: [{ id: 'order-1', quantity: 0 }] },
      bad: { body: { uses: [{ id: 'order-1' }] } },
      action: null, // the use was never recorded
    },
    {
      name: 'add sites',
      operation: 'change_access',
      on: 'POST /business/:business_id/access',
      body: { sites: ['https://new.example'] },
      bad: { body: { sites: 'https://new.example' } },
      action: 'add_sites',
    },
    {
      name: 'remove a site',
      operation: 'change_access',
      on: 'DELETE /business/:business_id/access/:access_id',
      granted: 404, // the entry is unknown, but the call is otherwise granted
      action: 'remove_sites',
    },
    {
      name: 'remove all sites',
      operation: 'change_access',
      on: 'DELETE /business/:business_id/access',
      action: 'remove_sites',
    },
    {
      name: 'forget refused origins',
      operation: 'change_refused_origins',
      on: 'DELETE /business/:business_id/access/refused',
    },
    {
      name: 'rotate the token',
      operation: 'rotate_token',
      on: 'POST /business/:business_id/token',
      body: { keep_old: '24h' },
      bad: { body: { keep_old: '31d' } },
      action: 'rotate_token',
    },
    {
      name: 'stop former tokens',
      operation: 'stop_former_tokens',
      on: 'DELETE /business/:business_id/token/former',
      action: 'stop_former_tokens',
    },
    {
      name: 'stop a former token',
      operation: 'stop_former_tokens',
      on: 'DELETE /business/:business_id/token/former/:former_id',
      granted: 404, // the token is unknown, but the call is otherwise granted
      action: 'stop_former_tokens',
    },
    {
      name: 'change a business',
      operation: 'update_business',
      on: 'PATCH /business/:business_id',
      body: { name: 'Renamed' },
      bad: { body: { status: 'Active' } },
      action: 'update_business',
    },
    {
      name: 'add an extra',
      operation: 'add_extra',
      on: 'POST /business/:business_id/extra',
      headers: { 'Idempotency-Key': 'pack-17' },
      body: { uses: 500, month: 'this' },
      bad: { body: { uses: 0, month: 'this' } },
      action: 'add_extra',
    },
    {
      name: 'delete a business',
      operation: 'delete_business',
      on: 'DELETE /business/:business_id',
      path: ({ id, name = 'Acme' }) => `/api/v1/business/${id}?name=${encodeURIComponent(name)}`,
      bad: { query: '&keep=1' },
      action: 'delete_business',
    },
    {
      name: 'import a history',
      operation: 'import_history',
      on: 'PUT /business/:business_id/history',
      // `replace` is needed because the business may already have counts.
      body: { days: [{ date: '2020-02-29', count: 120 }], replace: true },
      bad: { body: { days: [{ date: '2021-02-29', count: 120 }] } },
      action: 'import_usage',
    },
    {
      name: 'read changes',
      operation: 'read_changes',
      on: 'GET /business/:business_id/changes',
      bad: { query: '?limit=101' },
    },
    {
      name: 'read alerts',
      operation: 'read_alerts',
      on: 'GET /business/:business_id/alerts',
      bad: { query: '?limit=101' },
    },
  ],
  true,
).map(routeOf) as Route[];

const OF_NO_BUSINESS = withReads(
  [
    { name: 'list businesses', operation: 'list_businesses', on: 'GET /business', bad: { query: '?limit=51' } },
    {
      name: 'create a business',
      operation: 'create_business',
      on: 'POST /business',
      body: NEW_BUSINESS,
      round_trips: 2,
      bad: { body: { ...NEW_BUSINESS, name: '' } },
      action: 'create_business',
    },
    { name: 'list keys', operation: 'list_keys', on: 'GET /user/:user_id/keys', bad: { query: '?limit=5' } },
    {
      name: 'create a key',
      operation: 'create_key',
      on: 'POST /user/:user_id/keys',
      body: { role: 'record', expires_on: '2026-03-15' },
      bad: { body: { role: 'owner' } },
      action: 'create_key',
    },
    {
      name: 'create a console link',
      operation: 'create_console_link',
      on: 'POST /user/:user_id/console-link',
      body: { role: 'read', minutes: 15 },
      bad: { body: { minutes: 0 } },
    },
    {
      name: 'revoke a key',
      operation: 'revoke_key',
      on: 'DELETE /user/:user_id/keys/:key_id',
      granted: 404, // the key is unknown, but the call is otherwise granted
      bad: { query: '?limit=5' },
      action: 'revoke_key',
    },
    {
      name: 'read the changes of a user',
      operation: 'read_user_changes',
      on: 'GET /user/:user_id/changes',
      bad: { query: '?limit=101' },
    },
    {
      name: 'erase a user',
      operation: 'erase_user',
      on: 'DELETE /user/:user_id',
      path: () => `/api/v1/user/${USER + 1}`, // an unknown user, so all three databases are queried
      round_trips: 5,
      bad: { body: {} },
    },
    {
      name: 'read the usage of all businesses',
      operation: 'read_all_usage',
      on: 'GET /usage',
      bad: { query: '?from=tomorrow' },
    },
    {
      name: 'read ended billing months',
      operation: 'read_ended',
      on: 'GET /usage',
      path: () => '/api/v1/usage?ended=2020-02-29',
      bad: { query: '&from=2020-02-01' },
    },
    {
      name: 'read the alerts of all businesses',
      operation: 'read_all_alerts',
      on: 'GET /alerts',
      bad: { query: '?cursor=-1' },
    },
    {
      name: 'read databases',
      operation: 'read_databases',
      on: 'GET /database',
      round_trips: 'each',
      bad: { query: '?limit=5' },
    },
    {
      name: 'start a session',
      operation: 'start_session',
      on: 'POST /session',
      bad: { body: { code: 'x'.repeat(34) } }, // a code is sent without a credential: test/sessions.test.ts
    },
    {
      name: 'end a session',
      operation: 'end_session',
      on: 'DELETE /session',
    },
  ],
  false,
);

export const ROUTES: AnyRoute[] = [...OF_A_BUSINESS, ...OF_NO_BUSINESS.map(routeOf)];

/** Routes that are not safe to retry if the result of the first round trip is lost. The first of several changes nothing. */
export const NOT_REPEATABLE = ROUTES.filter(
  ({ operation, headers, round_trips }) => !isRepeatable(operation, headers !== undefined) && round_trips === undefined,
).map(({ name }) => name);

/** Routes that fail if a database fails. */
export const FAILING = ROUTES.filter(({ round_trips }) => round_trips !== 'each');
