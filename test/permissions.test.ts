// Compares the response to every combination of route, credential, business and origin with an oracle that implements docs/api.md
// ("Credentials" and "Errors"), and then the businesses that each kind of credential reaches. The oracle shares no code with the service, and
// takes who may do what from the simulator's. The refusals, in their order: the rate limit of the address, operator only (503), and the
// credential's format (401); an operator key's role and place (403), and the rate limit of the credential; the credential (401); the business
// (422 for usage, otherwise 401); permission (403, in the order of docs/api.md, "Errors"); and the input (422).
import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, newOperatorKey } from '../src/core/credential.ts';
import { type AnyRoute, ROUTES } from './routes.ts';
import { type Caller, KEY_ROLES } from './sim/model/callers.ts';
import { isOfKeys, may, mayWhileInactive, refusalOf } from './sim/model/may.ts';
import {
  ask,
  BASE,
  type Business,
  call,
  dumpAll,
  eachOf,
  homes,
  inBatches,
  later,
  NOW,
  newBusiness,
  newKey,
  newLimitedBusiness,
  OPERATOR,
  type Scope,
} from './support.ts';

/** The businesses in request paths. All except `open` have registered a site and a wildcard. */
const TARGETS = ['open', 'shop', 'suspended', 'foreign', 'deleted', 'malformed'] as const;
type Target = (typeof TARGETS)[number] | 'none';
const OWN: Target[] = ['open', 'shop', 'suspended'];
const SITES = ['https://shop.example', 'https://*.pages.example'];

/** The senders of requests. A server's `origin` is null. */
const ORIGINS = {
  'a server': { headers: {}, origin: null },
  'a registered page': { headers: { Origin: 'https://shop.example' }, origin: 'https://shop.example' },
  'a page under the wildcard': { headers: { Origin: 'https://a.pages.example' }, origin: 'https://a.pages.example' },
  'an unregistered page': { headers: { Origin: 'https://evil.example' }, origin: 'https://evil.example' },
  'a sandboxed frame': { headers: { Origin: 'null' }, origin: 'null' },
  'a page of the service': { headers: { Origin: BASE }, origin: BASE },
  'a page of the service, by Sec-Fetch-Site': { headers: { 'Sec-Fetch-Site': 'same-origin' }, origin: BASE },
};
type From = keyof typeof ORIGINS;
type Place = { target: Target; from: From };
const REGISTERED: From[] = ['a registered page', 'a page under the wildcard'];

/** A valid credential, the businesses that it can access, and those whose paths are routed to a database that does not contain it. */
type Known = { caller: Caller; knows: Target[]; unfoundAt?: Target[] };
/** The header or headers with a credential, or the query. `reason`: why the log says that it is not valid. */
type Sent = { name: string; known: Known | null; reason?: string; headers: Record<string, string>; query?: string };
const isOperator = (known: Known | null) => known !== null && known.caller in OPERATORS;

const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });
const valid = (name: string, caller: Caller, text: string, knows = OWN, unfoundAt: Target[] = []): Sent => ({
  ...{ name, known: { caller, knows, unfoundAt }, headers: bearer(text) },
});
const invalid = (name: string, reason: string, text: string): Sent => ({
  ...{ name, known: null, reason, headers: bearer(text) },
});
/** Why a credential is rejected without a query. The log does not say why an operator key is. */
const UNQUERIED = ['missing', 'malformed', 'unbound_database', 'operator'];

const SECRET = `bua_sk_0${'x'.repeat(33)}`;
const TOKEN = `bua_pk_0${'x'.repeat(33)}`;
/** Authorization headers without a well-formed credential. */
const MALFORMED: Record<string, string> = {
  'an empty header': '',
  'no scheme': SECRET,
  'another scheme': `Basic ${SECRET}`,
  'a scheme that only starts with Bearer': `Bearerx ${SECRET}`,
  'a scheme alone': 'Bearer',
  'a space as the credential': 'Bearer  ',
  'two credentials': `Bearer ${SECRET} ${SECRET}`,
  'a doubled header': `Bearer ${SECRET}, Bearer ${SECRET}`,
  'a list': `Bearer ${SECRET},${SECRET}`,
  'a tab': `Bearer\t${SECRET}`,
  quotes: `Bearer "${SECRET}"`,
  'a challenge': 'Bearer "a", error="b"',
  'the scheme Digest': 'Digest username="a"',
  'a key that is too short': `Bearer ${SECRET.slice(0, -1)}`,
  'a key that is too long': `Bearer ${SECRET}x`,
  'a key that contains an invalid character': `Bearer ${SECRET.slice(0, -1)}-`,
  'a business token that is too short': `Bearer ${TOKEN.slice(0, -1)}`,
  'a credential of an unknown kind': `Bearer bua_xx_${'x'.repeat(33)}`,
  'a token whose prefix is in upper case': `Bearer BUA_pk_${'x'.repeat(34)}`,
  'a token under 24 characters': `Bearer ${'x'.repeat(23)}`,
  'a token over 255 characters': `Bearer ${'x'.repeat(256)}`,
  SQL: `Bearer ' OR 1=1 --'                  `,
  '16 KiB': `Bearer ${'x'.repeat(16_384)}`,
};

const refusal = (code: string, message: string) => `403 ${code} {"status":false,"message":"${message}"}`;
const ALLOWED = 'allowed';
/** While OPERATOR_ONLY is 1. */
const CLOSED = '503 unavailable {"message":"Service Unavailable"}';
const UNAUTHENTICATED = '401 unauthenticated {"message":"Unauthenticated."}';
const IN_PAGE = ['operator_key_in_page', 'An operator key works only on servers.'] satisfies [string, string];

/** Returns the expected response. `credential` is null for a caller without a valid one. */
function oracle(credential: Known | null, { operation, unknownBusiness }: AnyRoute, target: Target, from: From) {
  if (credential === null || credential.unfoundAt?.includes(target)) return UNAUTHENTICATED;
  const { caller, knows } = credential;
  const { headers, origin } = ORIGINS[from];
  const [isToken, byOperator] = [caller === 'token', isOperator(credential)];
  const forbidden = byOperator && origin !== null ? IN_PAGE : refusalOf(caller, operation);
  // An operator key is refused before the business is checked.
  if (unknownBusiness !== null && !knows.includes(target) && !(byOperator && forbidden))
    return `${unknownBusiness.status} unknown_business ${JSON.stringify(unknownBusiness.body)}`;
  const isKey = isOfKeys(operation) && !isToken && !byOperator;
  if (isKey && !knows.includes('shop')) return '404 unknown_user {"status":false,"message":"User id is not valid"}';
  if (forbidden) return refusal(...forbidden);
  if (isKey && knows.length === 1) return refusal('narrow_key', 'This API key is only for one business.');
  if (!mayWhileInactive(operation) && target === 'suspended' && !byOperator)
    return refusal('inactive_business', 'This business is not active.');
  if (unknownBusiness === null || target === 'open' || REGISTERED.includes(from)) return ALLOWED;
  if (!isToken && (origin === null || origin === BASE)) return ALLOWED;
  if (!('Origin' in headers)) {
    const where = 'This business token works only from pages of its registered sites';
    const why =
      origin === null
        ? '. From a server, use an API key.'
        : ', and browsers send no Origin with a same-origin GET. If a proxy forwards the request, have the proxy set Origin.';
    return refusal('origin_missing', `${where}${why}`);
  }
  const advice = isToken
    ? ''
    : origin === 'null'
      ? ' It cannot be registered. Send the request from a server, or from an authorized page.'
      : ' Register it from a server, or from an authorized page.';
  return refusal('origin_not_authorized', `Origin ${origin} is not authorized for this business.${advice}`);
}

const HOW =
  'Bearer error="invalid_token", error_description="Send a valid API key or business token in the header Authorization: Bearer <key or token>"';

/** Returns the expected round trips, log line and headers of a refusal. */
function traces({ known, reason }: Sent, refused: string) {
  const [status, refusal] = refused.split(' ');
  const isClosed = refused === CLOSED;
  const isUnqueried = isClosed || UNQUERIED.includes(`${reason}`) || (isOperator(known) && status === '403');
  const isUnknown = refused === UNAUTHENTICATED;
  return {
    ...{ round_trips: isUnqueried ? 0 : 1, rows_written: 0 },
    refusal: isClosed ? null : refusal,
    reason: isUnknown ? (reason ?? 'unknown').replace('operator', 'unknown') : null,
    'Retry-After': isClosed ? '10' : null,
    'WWW-Authenticate': status === '401' ? (isUnknown && reason !== 'missing' ? HOW : 'Bearer') : null,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Credentials': null,
    'Cache-Control': 'no-store',
  };
}
function tracesOf(
  { cost, lines, errors, headers }: Awaited<ReturnType<typeof call>>,
  expected: ReturnType<typeof traces>,
) {
  const { refusal, reason = null } = [...lines, ...errors][0] as { refusal: string; reason?: string };
  const { round_trips, rows_written } = cost;
  const named = Object.keys(expected).filter((name) => /^[A-Z]/.test(name));
  return {
    ...{ round_trips, rows_written, refusal, reason },
    ...Object.fromEntries(named.map((name) => [name, headers.get(name)])),
  };
}

/** Creates the businesses and the credentials. */
async function newMatrix() {
  const open = await newBusiness({ token: 'Imported.Token_from~elsewhere' });
  const { user_id, home } = open;
  const own = { user_id, sites: SITES };
  const [shop, suspended, deleted] = [await newBusiness(own), await newBusiness(own), await newBusiness(own)];
  /** Of another owner, in the same database. */
  const foreign = await newBusiness({ user_id: user_id + homes.length * 100_000, sites: SITES });
  const malformed = { id: '01', user_id, name: 'x' };
  /** Businesses whose paths are not routed to the database of the imported token. A path without a valid id is routed to DB. */
  const elsewhere: Target[] = home.number === 0 ? [] : ['malformed', 'none'];

  const ok = async (method: string, path: string, as: string | undefined, body?: unknown, at = NOW) => {
    const answer = await call(method, `/api/v1${path}`, { ...(as && { as }), ...(body ? { body } : {}), at });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  const hours = (count: number) => later(count * 3_600_000);
  const byOperator = (method: string, path: string, body?: unknown) => ok(method, path, OPERATOR.full, body);
  const rotate = async ({ id, key }: typeof shop, keep_old: string, at = NOW): Promise<string> =>
    (await ok('POST', `/business/${id}/token`, key, { keep_old }, at)).token;
  const sessionOf = async (as: string, at = NOW): Promise<string> =>
    (await ok('POST', '/session', as, undefined, at)).session_key;
  const newKeyOf = async (fields: object) => (await byOperator('POST', `/user/${user_id}/keys`, fields)).api_key;
  const sessionOfLink = async (fields: object): Promise<string> => {
    const { url } = await byOperator('POST', `/user/${user_id}/console-link`, fields);
    return (await ok('POST', '/session', undefined, { code: url.split('#code=')[1] })).session_key;
  };

  const former = await rotate(shop, '1h', hours(-1)); // the first of two former tokens has just expired
  const present = await rotate(shop, '24h', hours(-1));
  const ofSuspended = await rotate(suspended, '24h');
  await byOperator('PATCH', `/business/${suspended.id}`, { status: 'suspended' });
  await byOperator('DELETE', `/business/${deleted.id}?name=${encodeURIComponent(deleted.name)}`);
  const revoked = await byOperator('POST', `/user/${user_id}/keys`, {});
  const orphan = await sessionOf(revoked.api_key);
  await byOperator('DELETE', `/user/${user_id}/keys/${revoked.id}`);
  const ended = await sessionOf(shop.key);
  await ok('DELETE', '/session', ended);

  const ofRoles = KEY_ROLES.map(async (role) => [
    valid(`${role} key`, role, await newKeyOf({ role })),
    valid(`${role} key for one business`, role, await newKeyOf({ role, business_id: shop.id }), ['shop']),
  ]);
  const readForOne = await newKeyOf({ role: 'read', business_id: shop.id });
  const credentials: Sent[] = [
    ...(await Promise.all(ofRoles)).flat(),
    valid('another user’s key', 'full', foreign.key, ['foreign']),
    invalid('expired key', 'expired_key', (await newKey(shop, { expires_on: '2026-03-14' })).key),
    invalid('revoked key', 'revoked_key', revoked.api_key),
    invalid('unknown key', 'unknown', shop.key.replace(/.{4}$/, 'zzzz')),
    invalid('unbound database’s key', 'unbound_database', newCredential('bua_sk_', 61)),
    valid('session', 'session', await sessionOf(shop.key)),
    valid('session of a read key for one business', 'read_session', await sessionOf(readForOne), ['shop']),
    valid('session of a read-only console link', 'read_session', await sessionOfLink({ role: 'read' })),
    valid('session of a console link that allows keys', 'key_session', await sessionOfLink({ can_create_keys: true })),
    invalid('ended session', 'ended_session', ended),
    invalid('expired session', 'ended_session', await sessionOf(shop.key, hours(-12))),
    invalid('session of a revoked key', 'ended_session', orphan),
    valid('token', 'token', present, ['shop']),
    valid('former token', 'token', former, ['shop']),
    invalid('expired former token', 'unknown', shop.token),
    valid('another user’s token', 'token', foreign.token, ['foreign']),
    valid('imported token', 'token', open.token, ['open'], elsewhere),
    invalid('token of a suspended business', 'token_of_inactive_business', ofSuspended),
    invalid('former token of a suspended business', 'token_of_inactive_business', suspended.token),
    invalid('token of a deleted business', 'unknown', deleted.token),
    invalid('unknown token', 'unknown', shop.token.replace(/.{4}$/, 'zzzz')),
    invalid('unbound database’s token', 'unbound_database', newCredential('bua_pk_', 61)),
    valid('operator key', 'operator', OPERATOR.full, [...OWN, 'foreign']),
    valid('operator key with the role record', 'recorder', OPERATOR.record, [...OWN, 'foreign']),
    valid('operator key with the role read', 'reader', OPERATOR.read, [...OWN, 'foreign']),
    invalid('unknown operator key', 'operator', newOperatorKey()),
    invalid('doubled key', 'malformed', `${shop.key}, Bearer ${shop.key}`),
    { ...valid('key after a scheme in other case', 'full', ''), headers: { Authorization: `bEaReR  ${open.key}` } },
    { name: 'no credential', known: null, reason: 'missing', headers: {} },
    { name: 'no credential, but a cookie', known: null, reason: 'missing', headers: { Cookie: `token=${open.key}` } },
    {
      ...{ name: 'credentials in the query', known: null, reason: 'missing', headers: {} },
      query: `token=${open.token}&access_token=${open.key}&api_key=${open.key}`,
    },
    { name: 'key in another header', known: null, reason: 'malformed', headers: { 'X-API-Key': shop.key } },
  ];
  return { businesses: { open, shop, suspended, foreign, deleted, malformed, none: malformed }, credentials };
}

/** The start of the response to an otherwise valid request with an unknown parameter. */
const WRONG_INPUT = '{"status":false,"message":"matrix is not a parameter';

describe('the service allows and refuses the same calls', () => {
  let matrix: Awaited<ReturnType<typeof newMatrix>>;
  beforeAll(async () => {
    matrix = await newMatrix();
  });

  async function compareWithOracle(route: AnyRoute, isCompared: (place: Place, sent?: Sent) => boolean) {
    const { businesses, credentials } = matrix;
    const targets = route.unknownBusiness === null ? (['none'] as const) : TARGETS;
    const origins = Object.keys(ORIGINS) as From[];
    const places = targets.flatMap((target) => origins.map((from) => ({ target, from })));
    const malformed = Object.entries(MALFORMED).map(([name, Authorization]): Sent => {
      return { name, known: null, reason: 'malformed', headers: { Authorization } };
    });
    const plain = places.filter(
      (place) => isCompared(place) && place.from === 'a server' && ['shop', 'none'].includes(place.target),
    );
    const cells = [
      ...credentials.flatMap((sent) =>
        places.filter((place) => isCompared(place, sent)).map((place) => ({ sent, ...place, bindings: {} })),
      ),
      ...malformed.flatMap((sent) => plain.map((place) => ({ sent, ...place, bindings: {} }))),
      ...credentials.flatMap((sent) => plain.map((place) => ({ sent, ...place, bindings: { OPERATOR_ONLY: '1' } }))),
    ];
    const before = await dumpAll();
    const told = await inBatches([...cells.entries()], async ([index, { sent, target, from, bindings }]) => {
      const isClosed = 'OPERATOR_ONLY' in bindings && !isOperator(sent.known);
      const expected = isClosed ? CLOSED : oracle(sent.known, route, target, from);
      const path = route.path(businesses[target] as { id: number | string; user_id: number; name: string });
      // Refusals do not depend on the input, so refused calls alternate between valid and invalid input. Allowed calls always send
      // invalid input, so they change nothing.
      const isWrong = expected === ALLOWED || index % 2 === 0;
      const query = [path.split('?')[1], sent.query, isWrong && 'matrix=1'].filter(Boolean).join('&');
      const answer = await call(route.method, `${path.split('?')[0]}?${query}`, {
        headers: { ...route.headers, ...ORIGINS[from].headers, ...sent.headers },
        body: route.body,
        bindings,
      });
      const isAllowed = answer.status === 422 && answer.text.startsWith(WRONG_INPUT) && answer.cost.rows_written === 0;
      const got = isAllowed ? ALLOWED : `${answer.status} ${answer.headers.get('Error-Code')} ${answer.text}`;
      const cell = `${sent.name}, ${target}, from ${from}${isClosed ? ', operator only' : ''}`;
      if (expected !== got) return [`${cell}: expected ${expected}, got ${got.slice(0, 200)}`];
      if (expected === ALLOWED) return [];
      const expectedTraces = traces(sent, expected);
      const [left, seen] = [expectedTraces, tracesOf(answer, expectedTraces)].map((one) => JSON.stringify(one));
      return left === seen ? [] : [`${cell}, ${expected}: expected ${left}, got ${seen}`];
    });
    expect(told.flat().slice(0, 20)).toEqual([]);
    expect(await dumpAll()).toBe(before);
  }

  const isMain = ({ target, from }: Place, sent?: Sent) =>
    from === 'a server' || (target === 'shop' && sent?.known !== null);
  eachOf(test, ROUTES)('as the oracle does, at a business with sites and from a server: $name', (route) =>
    compareWithOracle(route, isMain),
  );
  test.each(ROUTES)('as the oracle does, elsewhere: $name', { tags: 'slow' }, (route) =>
    compareWithOracle(route, (...cell) => !isMain(...cell)),
  );
});

const ends_at = '2026-03-16T00:00:00.000000Z';
type Create = (business: Business, scope: Scope) => Promise<string>;
const withKey =
  (fields: Parameters<typeof newKey>[1]): Create =>
  async (business, scope) =>
    (await newKey(business, { ...fields, ...scope })).key;
const OPERATORS: Partial<Record<Caller, Create>> = {
  operator: async () => OPERATOR.full,
  recorder: async () => OPERATOR.record,
  reader: async () => OPERATOR.read,
};
/** Creates a credential of each kind for the owner of a business. */
const CREDENTIALS: Partial<Record<Caller, Create>> = {
  ...OPERATORS,
  token: async ({ token }) => token,
  ...Object.fromEntries(KEY_ROLES.map((role) => [role, withKey({ role })])),
  session: withKey({ ends_at }),
  read_session: withKey({ ends_at, role: 'read' }),
  key_session: withKey({ ends_at, can_create_keys: 1 }),
};
/** Creates two businesses of one owner and one of another owner, in the same database, and one in another database. */
async function newWorld() {
  // An extra needs a monthly limit.
  const limited = (fields = {}) => newLimitedBusiness({ monthly_limit: 1000 }, fields);
  const own = await limited();
  const { user_id } = own;
  const others = user_id + homes.length * 100_000;
  return [
    own,
    await limited({ user_id }),
    await limited({ user_id: others }),
    await limited({ user_id: others + 1 }),
  ] as const;
}
type World = Awaited<ReturnType<typeof newWorld>>;
/** Indexed by the number of businesses in the world that the credential can access. */
const REACHES = ['no', 'one', 'user', 'database', 'all'];
function expectedReach(caller: Caller, { operation }: AnyRoute, isForOne: boolean): string {
  if (operation === 'end_session') return 'itself';
  if (caller in OPERATORS) return 'all';
  return caller === 'token' || isForOne ? 'one' : 'user';
}

/** Returns the word for the businesses on which a credential may perform an operation. */
async function reachOf(route: AnyRoute, caller: Caller, as: string, world: World): Promise<string> {
  const byOperator = caller in OPERATORS;
  const usual = byOperator && isOfKeys(route.operation) ? 2 : 1; // a key is in the database of its user, which the operator looks up
  const ofOperator = route.round_trips === 'each' ? homes.length : (route.round_trips ?? usual);
  const reach = async (isDone: (business: Business) => boolean | Promise<boolean>) => {
    const done = [];
    for (const business of world) done.push(await isDone(business));
    expect(done).toEqual(done.toSorted().toReversed());
    return REACHES[done.filter(Boolean).length] ?? '';
  };
  const isGranted = ({ status, body, headers, cost, lines }: Awaited<ReturnType<typeof call>>) => {
    if (byOperator) expect(lines).toMatchObject([{ credential: { kind: 'operator', last_four: as.slice(-4) } }]);
    const refusal = headers.get('Error-Code');
    if (refusal === 'unknown_business' || refusal === 'unknown_user') return false;
    expect({ caller, status, isGranted: body.status }).toEqual({
      caller,
      status: route.granted ?? 200,
      isGranted: status === 200,
    });
    expect([cost.round_trips, headers.get('Cache-Control')]).toEqual([byOperator ? ofOperator : 1, 'no-store']);
    return true;
  };
  switch (route.name) {
    case 'list businesses':
    case 'read the usage of all businesses':
      return reach(async ({ id }) => {
        const answer = await call('GET', `${route.pattern}?limit=1&after=${id - 1}`, { as });
        isGranted(answer);
        const { businesses, usage } = answer.body.data;
        return businesses?.[0]?.id === id || usage?.[0]?.business_id === id;
      });
    // The months of new businesses are examined, but not listed.
    case 'read ended billing months':
      return reach(async ({ id }) => {
        const answer = await call('GET', `${route.path({ id })}&limit=1&after=${id - 1}`, { as });
        return isGranted(answer) && answer.body.data.next === id;
      });
    case 'start a session': {
      const answer = await ask(route, world[0], { as });
      isGranted(answer);
      const { session_key } = answer.body.data;
      return reach(async ({ usage }) => (await call('GET', usage, { as: session_key })).status === 200);
    }
    case 'end a session':
      return isGranted(await ask(route, world[0], { as })) ? 'itself' : '';
    case 'create a business':
      return reach(async (business) =>
        isGranted(await ask(route, business, { as, body: { ...Object(route.body), user_id: business.user_id } })),
      );
    default:
      return reach(async (business) => isGranted(await ask(route, business, { as })));
  }
}

/** Sends valid requests with each kind of credential that may call the route. */
async function compareReaches(route: AnyRoute, callers: Caller[], isForOne: boolean): Promise<void> {
  const permitted = callers.filter((caller) => may(caller, route.operation));
  const unchanged = route.method === 'GET' ? await newWorld() : null;
  for (const caller of isForOne && isOfKeys(route.operation) ? [] : permitted) {
    const world = unchanged ?? (await newWorld()); // new, if permitted calls may change it
    const as = await CREDENTIALS[caller]?.(world[0], isForOne ? { business_id: world[0].id } : {});
    const reach = await reachOf(route, caller, `${as}`, world);
    expect({ caller, reach }).toEqual({ caller, reach: expectedReach(caller, route, isForOne) });
  }
}

const WIDEST: Caller[] = ['full', 'operator', 'recorder'];
const NARROWER = (Object.keys(CREDENTIALS) as Caller[]).filter((caller) => !WIDEST.includes(caller));
/** The callers whose credentials can be for one business. */
const FOR_ONE: Caller[] = [...KEY_ROLES, 'session', 'read_session'];
eachOf(test, ROUTES)(
  '$name reaches the businesses of its caller: an API key, and an operator key of each role',
  (route) => compareReaches(route, WIDEST, false),
);
eachOf(test, ROUTES)('$name reaches the businesses of its caller: any other credential', async (route) => {
  await compareReaches(route, NARROWER, false);
  await compareReaches(route, FOR_ONE, true);
});
