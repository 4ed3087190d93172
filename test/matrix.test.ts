// Compares the response to every combination of credential, operation, business and origin with an oracle that implements docs/api.md
// ("Credentials", "Origins", "Order of refusals" and "Errors"). The oracle shares no code with the service, and takes only the requests
// from routes.ts.
import { expect, test } from 'vitest';
import { ROUTES } from './routes.ts';
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

type Role = 'full' | 'read' | 'record';
/**
 * A valid credential, the businesses that it can access, and the businesses whose paths are routed to a database that does not contain the
 * credential.
 */
type Caller = { kind: 'key' | 'session' | 'token' | 'operator'; role: Role; knows: Target[]; unfoundAt?: Target[] };
const key = (role: Role, knows = OWN): Caller => ({ kind: 'key', role, knows });
const session = (role: Role, knows = OWN): Caller => ({ kind: 'session', role, knows });
const token = (of: Target, unfoundAt: Target[] = []): Caller => ({
  kind: 'token',
  role: 'full',
  knows: [of],
  unfoundAt,
});
const operator = (role: Role): Caller => ({ kind: 'operator', role, knows: [...OWN, 'foreign'] });

/** An operation: its name in refusals, and who may perform it. */
type Rule = {
  does: string;
  names: 'usage' | 'business' | null;
  roles: Role[];
  /** `token`: a business token may perform the operation. `records`: the operation records uses, which requires an active business. */
  token?: true;
  records?: true;
  only?: 'operator' | 'key' | 'session';
};
const records = (does: string): Rule => ({ does, names: 'usage', roles: ['full', 'record'], records: true });
const reads = (does: string): Rule => ({ does, names: 'business', roles: ['full', 'read'] });
const changes = (does: string): Rule => ({ does, names: 'business', roles: ['full'] });
const operates = (does: string): Rule => ({ does, names: null, roles: ['full'], only: 'operator' });

/** Keyed by the names in test/routes.ts. */
const RULES: Record<string, Rule> = {
  'read usage': { does: 'read usage', names: 'usage', roles: ['full', 'read', 'record'], token: true },
  'read usage by source': { ...reads('read usage by source'), names: 'usage' },
  'record a use': { ...records('record a use'), token: true },
  'record a use with an id': { ...records('record a use'), token: true },
  'record a quantity': records('record quantities or labels'),
  'report uses': records('record lists of uses'),
  'lower uses': { ...operates('lower uses'), names: 'usage', roles: ['full', 'record'] },
  'read a business': reads('read businesses'),
  'read access': reads('read access domains'),
  'add sites': changes('change access domains'),
  'remove a site': changes('change access domains'),
  'remove all sites': changes('change access domains'),
  'read refused origins': reads('read refused origins'),
  'forget refused origins': changes('change refused origins'),
  'rotate the token': changes('rotate tokens'),
  'stop former tokens': changes('stop former tokens'),
  'import a history': { ...operates('import histories'), names: 'business' },
  'read changes': reads('read changes'),
  'read alerts': reads('read alerts'),
  'list businesses': { ...reads('list businesses'), names: null },
  'change a business': { ...operates('change businesses'), names: 'business' },
  'delete a business': { ...operates('delete businesses'), names: 'business' },
  'create a business': operates('create businesses'),
  'list keys': operates('list API keys'),
  'create a key': operates('create API keys'),
  'create a console link': operates('create console links'),
  'revoke a key': operates('revoke API keys'),
  'read the changes of a user': operates('read the changes of users'),
  'erase a user': operates('erase users'),
  'read the usage of all businesses': { ...operates('read the usage of all businesses'), roles: ['full', 'record'] },
  'read the alerts of all businesses': operates('read the alerts of all businesses'),
  'read databases': operates('read databases'),
  'start a session': { ...reads('start sessions'), names: null, only: 'key' },
  'end a session': { ...reads('end sessions'), names: null, only: 'session' },
};

const refusal = (status: number, code: string, message: string) =>
  `${status} ${code} {"status":false,"message":"${message}"}`;
const ALLOWED = 'allowed';
const UNAUTHENTICATED = '401 unauthenticated {"message":"Unauthenticated."}';

/** Returns the expected response. `caller` is null for a caller without a valid credential. */
function oracle(caller: Caller | null, { does, names, roles, token, records, only }: Rule, target: Target, from: From) {
  if (caller === null || caller.unfoundAt?.includes(target)) return UNAUTHENTICATED;
  const { kind, role, knows } = caller;
  const { headers, origin } = ORIGINS[from];
  const [isToken, isSession, isOperator] = [kind === 'token', kind === 'session', kind === 'operator'];
  const cannot = `cannot ${does}. Use an API key.`;
  const ofRole: [boolean, string, string][] = [
    [isOperator && origin !== null, 'operator_key_in_page', 'An operator key works only on servers.'],
    [!isOperator && only === 'operator', 'operator_only', `Only the operator can ${does}.`],
    [!isSession && only === 'session', 'session_only', `Only a session key can ${does}.`],
    [isToken && !token, 'token_not_allowed', `A business token ${cannot}`],
    [isSession && only === 'key', 'session_not_allowed', `A session key ${cannot}`],
    [isOperator && only === 'key', 'operator_not_allowed', `An operator key ${cannot}`],
    [role === 'read' && !roles.includes(role), 'read_only_key', 'This API key can only read.'],
    [isOperator && !roles.includes(role), 'record_only_key', 'This operator key can only record.'],
    [role === 'record' && !roles.includes(role), 'record_only_key', 'This API key can only record.'],
  ];
  const forbidden = ofRole.find(([applies]) => applies);
  // An operator key is refused before the business is checked.
  if (names !== null && !knows.includes(target) && !(isOperator && forbidden)) {
    if (names === 'usage') return refusal(422, 'unknown_business', 'business id is not valid');
    return refusal(401, 'unknown_business', 'Id is not valid');
  }
  if (forbidden) return refusal(403, forbidden[1], forbidden[2]);
  if (records && target === 'suspended' && !isOperator)
    return refusal(403, 'inactive_business', 'This business is not active.');
  if (names === null || target === 'open' || REGISTERED.includes(from)) return ALLOWED;
  if (!isToken && (origin === null || origin === BASE)) return ALLOWED;
  if (!('Origin' in headers)) {
    const where = 'This business token works only from pages of its registered sites';
    const why =
      origin === null
        ? '. From a server, use an API key.'
        : ', and browsers send no Origin with a same-origin GET. If a proxy forwards the request, have the proxy set Origin.';
    return refusal(403, 'origin_missing', `${where}${why}`);
  }
  const advice = isToken
    ? ''
    : origin === 'null'
      ? ' It cannot be registered. Send the request from a server, or from an authorized page.'
      : ' Register it from a server, or from an authorized page.';
  return refusal(403, 'origin_not_authorized', `Origin ${origin} is not authorized for this business.${advice}`);
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

  const credentials: [string, Caller | null, string][] = [
    ['full key', key('full'), shop.key],
    ['read key', key('read'), await newKeyOf({ role: 'read' })],
    ['record key', key('record'), await newKeyOf({ role: 'record' })],
    ['full key for one business', key('full', ['shop']), await newKeyOf({ business_id: shop.id })],
    ['read key for one business', key('read', ['shop']), readForOne],
    ['record key for one business', key('record', ['shop']), await newKeyOf({ role: 'record', business_id: shop.id })],
    ['another user’s key', key('full', ['foreign']), foreign.key],
    ['expired key', null, (await newKey(shop, { expires_on: '2026-03-14' })).key],
    ['revoked key', null, revoked.api_key],
    ['unknown key', null, shop.key.replace(/.{4}$/, 'zzzz')],
    ['session', session('full'), await sessionOf(shop.key)],
    ['session of a read key for one business', session('read', ['shop']), await sessionOf(readForOne)],
    ['session of a read-only console link', session('read'), ofLink.session_key],
    ['ended session', null, ended],
    ['expired session', null, await sessionOf(shop.key, hours(-12))],
    ['session of a revoked key', null, orphan],
    ['token', token('shop'), present],
    ['former token', token('shop'), former],
    ['expired former token', null, shop.token],
    ['another user’s token', token('foreign'), foreign.token],
    ['imported token', token('open', elsewhere), open.token],
    ['token of a suspended business', null, ofSuspended],
    ['former token of a suspended business', null, suspended.token],
    ['token of a deleted business', null, deleted.token],
    ['unknown token', null, shop.token.replace(/.{4}$/, 'zzzz')],
    ['operator key', operator('full'), OPERATOR.full],
    ['operator key with the role record', operator('record'), OPERATOR.record],
    ['unknown operator key', null, `bua_op_${'x'.repeat(43)}`],
    ['malformed key', null, `${shop.key}x`],
    ['doubled key', null, `${shop.key}, Bearer ${shop.key}`],
  ];
  return {
    businesses: { open, shop, suspended, foreign, deleted, malformed, none: malformed },
    credentials: [
      ...credentials.map(([name, caller, text]) => ({ name, caller, headers: { Authorization: `Bearer ${text}` } })),
      { name: 'key sent with the scheme Basic', caller: null, headers: { Authorization: `Basic ${shop.key}` } },
      { name: 'no credential', caller: null, headers: {} },
    ],
  };
}

/** The start of the response to an otherwise valid request with an unknown parameter. */
const WRONG_INPUT = '{"status":false,"message":"matrix is not a parameter';

test('the service allows and refuses the same calls as the oracle', { tags: 'slow', timeout: 600_000 }, async () => {
  const { businesses, credentials } = await world();
  const cells = ROUTES.flatMap((route) => {
    const rule = RULES[route.name] as Rule;
    const targets = rule.names === null ? (['none'] as const) : TARGETS;
    const origins = Object.keys(ORIGINS) as From[];
    return targets.flatMap((target) => origins.map((from) => ({ route, rule, target, from })));
  });
  for (const [turn, { name, caller, headers }] of credentials.entries()) {
    const before = await dumpAll();
    const told = await inBatches([...cells.entries()], async ([index, { route, rule, target, from }]) => {
      const expected = oracle(caller, rule, target, from);
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
