// Compares the response to every combination of credential, operation, business and origin with an oracle that implements docs/api.md
// ("Credentials" and "Errors"), in the order of guard.test.ts. The oracle shares no code with the service, and takes who may do what from
// the simulator's.
import { expect, test } from 'vitest';
import { type AnyRoute, ROUTES } from './routes.ts';
import { type Caller, KEY_ROLES } from './sim/model/callers.ts';
import { isOfKeys, mayWhileInactive, refusalOf } from './sim/model/may.ts';
import { BASE, call, dumpAll, inBatches, later, NOW, newBusiness, newKey, OPERATOR } from './support.ts';

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
const REGISTERED: From[] = ['a registered page', 'a page under the wildcard'];

/** A valid credential, the businesses that it can access, and those whose paths are routed to a database that does not contain it. */
type Credential = { caller: Caller; knows: Target[]; unfoundAt?: Target[] };
const of = (caller: Caller, knows = OWN): Credential => ({ caller, knows });
const operator = (caller: Caller) => of(caller, [...OWN, 'foreign']);

const refusal = (code: string, message: string) => `403 ${code} {"status":false,"message":"${message}"}`;
const ALLOWED = 'allowed';
const UNAUTHENTICATED = '401 unauthenticated {"message":"Unauthenticated."}';

/** Returns the expected response. `credential` is null for a caller without a valid one. */
function oracle(credential: Credential | null, { operation, unknownBusiness }: AnyRoute, target: Target, from: From) {
  if (credential === null || credential.unfoundAt?.includes(target)) return UNAUTHENTICATED;
  const { caller, knows } = credential;
  const { headers, origin } = ORIGINS[from];
  const [isToken, isOperator] = [caller === 'token', caller === 'operator' || caller === 'recorder'];
  const forbidden =
    isOperator && origin !== null
      ? (['operator_key_in_page', 'An operator key works only on servers.'] satisfies [string, string])
      : refusalOf(caller, operation);
  // An operator key is refused before the business is checked.
  if (unknownBusiness !== null && !knows.includes(target) && !(isOperator && forbidden))
    return `${unknownBusiness.status} unknown_business ${JSON.stringify(unknownBusiness.body)}`;
  const isKey = isOfKeys(operation) && !isToken && !isOperator;
  if (isKey && !knows.includes('shop')) return '404 unknown_user {"status":false,"message":"User id is not valid"}';
  if (forbidden) return refusal(...forbidden);
  if (isKey && knows.length === 1) return refusal('narrow_key', 'This API key is only for one business.');
  if (!mayWhileInactive(operation) && target === 'suspended' && !isOperator)
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

/** Creates the businesses and the credentials. */
async function world() {
  const open = await newBusiness({ token: 'Imported.Token_from~elsewhere' });
  const { user_id, home } = open;
  const own = { user_id, sites: SITES };
  const [shop, suspended, deleted] = [await newBusiness(own), await newBusiness(own), await newBusiness(own)];
  const foreign = await newBusiness({ sites: SITES });
  const malformed = { id: '01', user_id, name: 'x' };
  /** Businesses whose paths are not routed to the database of the imported token. A path without a valid id is routed to DB. */
  const elsewhere: Target[] = [...(home.number === 0 ? [] : (['malformed', 'none'] as const))];
  if (foreign.home !== home) elsewhere.push('foreign');

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
  const readForOne = await newKeyOf({ role: 'read', business_id: shop.id });
  const { url } = await byOperator('POST', `/user/${user_id}/console-link`, { role: 'read' });
  const ofLink = await ok('POST', '/session', undefined, { code: url.split('#code=')[1] });
  const wide = await byOperator('POST', `/user/${user_id}/console-link`, { can_create_keys: true });
  const ofWideLink = await ok('POST', '/session', undefined, { code: wide.url.split('#code=')[1] });

  const ofRoles = KEY_ROLES.map(
    async (role): Promise<[string, Credential, string][]> => [
      [`${role} key`, of(role), await newKeyOf({ role })],
      [`${role} key for one business`, of(role, ['shop']), await newKeyOf({ role, business_id: shop.id })],
    ],
  );
  const credentials: [string, Credential | null, string][] = [
    ...(await Promise.all(ofRoles)).flat(),
    ['another user’s key', of('full', ['foreign']), foreign.key],
    ['expired key', null, (await newKey(shop, { expires_on: '2026-03-14' })).key],
    ['revoked key', null, revoked.api_key],
    ['unknown key', null, shop.key.replace(/.{4}$/, 'zzzz')],
    ['session', of('session'), await sessionOf(shop.key)],
    ['session of a read key for one business', of('read_session', ['shop']), await sessionOf(readForOne)],
    ['session of a read-only console link', of('read_session'), ofLink.session_key],
    ['session of a console link that allows keys', of('key_session'), ofWideLink.session_key],
    ['ended session', null, ended],
    ['expired session', null, await sessionOf(shop.key, hours(-12))],
    ['session of a revoked key', null, orphan],
    ['token', of('token', ['shop']), present],
    ['former token', of('token', ['shop']), former],
    ['expired former token', null, shop.token],
    ['another user’s token', of('token', ['foreign']), foreign.token],
    ['imported token', { ...of('token', ['open']), unfoundAt: elsewhere }, open.token],
    ['token of a suspended business', null, ofSuspended],
    ['former token of a suspended business', null, suspended.token],
    ['token of a deleted business', null, deleted.token],
    ['unknown token', null, shop.token.replace(/.{4}$/, 'zzzz')],
    ['operator key', operator('operator'), OPERATOR.full],
    ['operator key with the role record', operator('recorder'), OPERATOR.record],
    ['unknown operator key', null, `bua_op_${'x'.repeat(43)}`],
    ['malformed key', null, `${shop.key}x`],
    ['doubled key', null, `${shop.key}, Bearer ${shop.key}`],
  ];
  return {
    businesses: { open, shop, suspended, foreign, deleted, malformed, none: malformed },
    credentials: [
      ...credentials.map(([name, known, text]) => ({ name, known, headers: { Authorization: `Bearer ${text}` } })),
      { name: 'key sent with the scheme Basic', known: null, headers: { Authorization: `Basic ${shop.key}` } },
      { name: 'no credential', known: null, headers: {} },
    ],
  };
}

/** The start of the response to an otherwise valid request with an unknown parameter. */
const WRONG_INPUT = '{"status":false,"message":"matrix is not a parameter';

test('the service allows and refuses the same calls as the oracle', { tags: 'slow', timeout: 600_000 }, async () => {
  const { businesses, credentials } = await world();
  const cells = ROUTES.flatMap((route) => {
    const targets = route.unknownBusiness === null ? (['none'] as const) : TARGETS;
    const origins = Object.keys(ORIGINS) as From[];
    return targets.flatMap((target) => origins.map((from) => ({ route, target, from })));
  });
  for (const [turn, { name, known, headers }] of credentials.entries()) {
    const before = await dumpAll();
    const told = await inBatches([...cells.entries()], async ([index, { route, target, from }]) => {
      const expected = oracle(known, route, target, from);
      const path = route.path(businesses[target] as { id: number | string; user_id: number; name: string });
      // Refusals do not depend on the input, so refused calls alternate between valid and invalid input. Allowed calls always send
      // invalid input, so they change nothing.
      const isWrong = expected === ALLOWED || (index + turn) % 2 === 0;
      const answer = await call(route.method, `${path}${isWrong ? `${path.includes('?') ? '&' : '?'}matrix=1` : ''}`, {
        headers: { ...route.headers, ...ORIGINS[from].headers, ...headers },
        body: route.body,
      });
      const isAllowed = answer.status === 422 && answer.text.startsWith(WRONG_INPUT);
      const refused = `${answer.status} ${answer.headers.get('Error-Code')} ${answer.text}`;
      const got = (answer.cost.rows_written === 0 ? '' : 'a write, and ') + (isAllowed ? ALLOWED : refused);
      const cell = `${name}, ${route.name}, ${target}, from ${from}`;
      return expected === got ? [] : [`${cell}: expected ${expected}, got ${got.slice(0, 200)}`];
    });
    expect(told.flat().slice(0, 20)).toEqual([]);
    expect(await dumpAll(), `stored data after refusals to: ${name}`).toBe(before);
  }
});
