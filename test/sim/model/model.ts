// A naive model of the whole service: what it must answer to each request, and what it must know afterwards. It follows docs/ and shares no
// code with src/.
import { requireLeft, spend, spendingOf } from './allowance.ts';
import { workingTokens } from './business.ts';
import {
  ANY,
  Answer,
  type Call,
  type Expected,
  invalid,
  type Plain,
  refused,
  sitesOf,
  unauthenticated,
  unavailable,
} from './call.ts';
import { type Caller, OPERATORS, ROLES } from './callers.ts';
import { errorsOf } from './errors.ts';
import { idOf } from './input.ts';
import { isOfKeys, isRepeatable, mayWhileInactive, OPERATIONS, type Operation, refusalOf, ruleOf } from './may.ts';
import { reveal } from './secrets.ts';
import { BASE, isCovered, isRegistrable } from './sites.ts';
import { type Business, type Code, databaseOf, emptyState, type Key, type State } from './state.ts';
import { dayOf, stamp } from './time.ts';

const API = '/api/v1';
type Route = { method: string; path: string; operation: Operation };
const routesOf = (operation: Operation): Route[] =>
  Object.keys(ruleOf(operation).on).map((route) => {
    const [method = '', path = ''] = route.split(' ');
    return { method, path, operation };
  });
/** Those of each path. A specific path stands before the general ones. */
const PATHS = Object.entries(Object.groupBy(OPERATIONS.flatMap(routesOf), ({ path }) => path.replaceAll(':', '~')))
  .toSorted(([one], [other]) => (one < other ? -1 : 1))
  .map(([, routes = []]): [path: string, Route[]] => [routes[0]?.path ?? '', routes]);
const namesBusiness = (operation: Operation) => routesOf(operation).some(({ path }) => path.includes(':business_id'));
const isOfUsage = (operation: Operation) => routesOf(operation).some(({ path }) => path.startsWith('/business/usage/'));

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
function routeOf(method: string, path: string) {
  const isKept = method === 'DELETE' || method === 'PATCH';
  const segments = (path.endsWith('/') && !isKept ? path.slice(0, -1) : path).slice(API.length).split('/');
  const found = PATHS.find(([pattern]) => {
    const parts = pattern.split('/');
    if (parts.length !== segments.length) return false;
    return parts.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]));
  });
  // `usage` is never a business id.
  const isUsage = segments[1] === 'business' && segments[2] === 'usage';
  if (!path.startsWith(`${API}/`) || found === undefined || (isUsage && !found[0].startsWith('/business/usage/')))
    throw new Answer(404, 'not_found', { message: 'Not Found' });
  const [pattern, routes] = found;
  const asked = method === 'HEAD' ? 'GET' : method;
  /** Several if the body or the query decides. */
  const operations = routes.filter((route) => route.method === asked).map(({ operation }) => operation);
  const [operation] = operations;
  if (operation === undefined) {
    const isServed = (name: string) => routes.some((route) => route.method === (name === 'HEAD' ? 'GET' : name));
    const allowed = METHODS.filter(isServed);
    throw new Answer(405, 'method_not_allowed', { message: 'Method Not Allowed' }, { Allow: allowed.join(', ') });
  }
  const parameters = Object.fromEntries(
    pattern.split('/').flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), segments[index] ?? '']] : [])),
  );
  return { operation, route: `${asked} ${pattern}`, parameters };
}

const isEmptyBody = (body: string): boolean => /^[\t\n\r ]*$/.test(body);
const MAX_BYTES = 1_048_576;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A body as JSON, or the rule that it breaks. */
function parsed(body: string): { json: unknown } | { problem: string } {
  try {
    const json: unknown = JSON.parse(body);
    // Bodies of the vocabulary repeat a member only on purpose, and always as `"quantity":`.
    if ((body.match(/"quantity":/g) ?? []).length > (JSON.stringify(json).match(/"quantity":/g) ?? []).length)
      return { problem: 'must not contain duplicate members in an object' };
    return { json };
  } catch {
    return { problem: 'must be valid JSON' };
  }
}

export class Model {
  /** Plain data: `structuredClone(model.state)` is a snapshot. */
  state: State;

  constructor(databases: number, operators: State['operators']) {
    this.state = emptyState(databases, operators);
  }

  /**
   * What the service must answer at `now`, whose effect the state then has. `clock`: the time of its batch, by the clock of the database.
   * `isLate`: that is at its deadline or after it.
   */
  answer(request: Plain, now: number, batch = { clock: now, isLate: false }): Expected {
    const after: Expected['after'] = { key: null, former: null, refused: null, limited: null };
    try {
      throw this.#answer(request, now, batch, after);
    } catch (answer) {
      if (!(answer instanceof Answer)) throw answer;
      const { expected } = answer;
      const body = request.method === 'HEAD' ? ANY : expected.body;
      return { ...expected, body, after };
    }
  }

  /** What was to be stored after a response may not have been stored. */
  forgetAfter({ key, former, refused, limited }: Expected['after']): void {
    if (key !== null) this.state.unsure.keys.push(key);
    if (former !== null) this.state.unsure.former.push(former);
    if (refused !== null) this.state.unsure.refused.push(refused);
    if (limited !== null) this.state.unsure.limited.push(limited);
  }

  #answer(
    { method, path, headers, body: sent }: Plain,
    now: number,
    { clock, isLate }: { clock: number; isLate: boolean },
    after: Expected['after'],
  ): Answer {
    const { state } = this;
    const [pathname = '', search = ''] = path.split(/\?(.*)/s);
    const { operation: named, route, parameters } = routeOf(method, pathname);
    const isRead = method === 'GET' || method === 'HEAD';
    const body = isRead ? '' : (sent ?? '');
    this.#requireCredential(headers, named);
    if (body !== '' && !['identity', undefined].includes(headers['Content-Encoding']))
      throw new Answer(
        415,
        'compressed_body',
        { message: 'The body must not be compressed: send it without Content-Encoding.' },
        { 'Accept-Encoding': 'identity' },
      );
    if (new TextEncoder().encode(body).length > MAX_BYTES)
      throw new Answer(413, 'too_large', { message: 'Payload Too Large' });
    const isEmpty = isEmptyBody(body);
    const json = isEmpty ? { json: undefined } : parsed(body);
    const query = new URLSearchParams(search);
    const operation = operationOf(named, json, query);
    const business_id = idOf(parameters.business_id ?? '') ?? 0;
    const origin = originOf(headers);
    const who = this.#callerOf(headers, { body, json, query, business_id, now });
    const { business: ofToken, key, code, operator, caller } = who;

    if (operator !== null) {
      if (headers.Origin !== undefined || headers['Sec-Fetch-Site'] !== undefined)
        throw refused(403, 'operator_key_in_page', 'An operator key works only on servers.');
      const refusal = refusalOf(caller, operation);
      if (refusal !== null) throw refused(403, ...refusal);
    }
    if (key !== null) requireValid(key, now);
    const all = state.businesses;
    const isOwn = ({ id, user_id }: Business) =>
      id === business_id &&
      (key === null || (user_id === key.user_id && (key.business_id === null || key.business_id === id)));
    const business = (ofToken === null ? all.find(isOwn) : ofToken.id === business_id ? ofToken : undefined) ?? null;
    if (namesBusiness(operation) && business === null)
      throw isOfUsage(operation)
        ? refused(422, 'unknown_business', 'business id is not valid')
        : refused(401, 'unknown_business', 'Id is not valid', { 'WWW-Authenticate': 'Bearer' });
    const isOwnKeys = key !== null && isOfKeys(operation);
    if (isOwnKeys && key.user_id !== idOf(parameters.user_id ?? ''))
      throw refused(404, 'unknown_user', 'User id is not valid');
    const refusal = refusalOf(caller, operation);
    if (refusal !== null) throw refused(403, ...refusal);
    if (isOwnKeys && key.business_id !== null)
      throw refused(403, 'narrow_key', 'This API key is only for one business.');
    if (business !== null && operator === null) {
      if (!mayWhileInactive(operation) && business.status !== 'active')
        throw refused(403, 'inactive_business', 'This business is not active.');
      this.#checkOrigin(business, caller, headers, now, after);
    }
    const text = 'json' in json ? json.json : undefined;
    const call: Call = {
      ...{
        state,
        operation,
        caller,
        key,
        code,
        operator,
        business,
        parameters,
        query,
        body,
        headers,
        origin,
        own: BASE,
        now,
        clock,
      },
      json: text,
    };
    const isOpen = business !== null && operator === null && this.#isOpen(business, caller, headers);
    const errors = errorsOf(call, ruleOf(operation), json, isEmpty, method);
    const spending = Object.keys(errors).length > 0 ? null : spendingOf(call, method);
    if (spending !== null) requireLeft(call, spending);
    // From here on, the call is permitted.
    if (isLate) throw unavailable();
    try {
      if (Object.keys(errors).length > 0) throw invalid(errors);
      const answer = ruleOf(operation).on[route];
      if (answer === undefined) throw new Error(`${operation} has no answer on ${route}`);
      return answer(call);
    } catch (answer) {
      if (answer instanceof Answer && answer.refusedUses > 0 && business !== null) {
        noteLimit(state, business.id, dayOf(now), answer.refusedUses);
        after.limited = business.id;
      }
      throw answer;
    } finally {
      if (spending !== null) spend(call, spending);
      if (key !== null && key.last_used_on !== dayOf(now)) {
        key.last_used_on = dayOf(now);
        after.key = key.id;
      }
      const former = state.former.find(({ token }) => ofToken !== null && reveal(state, token) === bearerIn(headers));
      if (former !== undefined) {
        const page = origin !== null && isRegistrable(origin) ? { [origin]: dayOf(now) } : {};
        after.former = former.token;
        Object.assign(former, { last_used_on: dayOf(now), used_from: { ...former.used_from, ...page } });
      }
      // The call may have registered the first site itself. An origin that a site lets in is not listed.
      if (isOpen && origin !== null && isRegistrable(origin) && !isCovered(sitesOf(state, business.id), origin)) {
        noteOrigin(state, business.id, origin, 1, now);
        after.refused = business.id;
      }
    }
  }

  /** Throws if the headers alone suffice to refuse a request. */
  #requireCredential(headers: Record<string, string>, operation: Operation): void {
    const isSent = headers.Authorization !== undefined || headers['X-API-Key'] !== undefined;
    const text = bearerIn(headers);
    if (text === null && (isSent || operation !== 'start_session')) throw unauthenticated(isSent);
    const known = Object.values(this.state.operators);
    if (text?.startsWith('bua_op_') && !known.includes(text)) throw unauthenticated(true);
  }

  /** Who calls, as far as the credential says. Throws if it is missing or unknown. */
  #callerOf(
    headers: Record<string, string>,
    asked: {
      body: string;
      json: { json: unknown } | { problem: string };
      query: URLSearchParams;
      business_id: number;
      now: number;
    },
  ): { caller: Caller; key: Key | null; code: Code | null; business: Business | null; operator: string | null } {
    const { state } = this;
    const none = { key: null, code: null, business: null, operator: null };
    const { body, json, query, business_id, now } = asked;
    const text = bearerIn(headers);
    if (text === null) {
      if (body.trim() === '') throw unauthenticated(false);
      const sent = 'json' in json ? (json.json as { code?: unknown } | null)?.code : undefined;
      const isAlone = 'json' in json && Object.keys(json.json ?? {}).join() === 'code';
      const code = state.codes.find(({ secret }) => reveal(state, secret) === sent);
      if (!isAlone || query.size > 0 || code === undefined || code.expires_at <= stamp(now))
        throw unauthenticated(false);
      return { ...none, caller: 'code', code };
    }
    for (const role of ['full', 'record', 'read'] as const)
      if (text === state.operators[role]) return { ...none, caller: OPERATORS[role], operator: text.slice(-4) };
    const key = state.keys.find(({ secret }) => reveal(state, secret) === text);
    if (key !== undefined) {
      const isSession = key.ends_at !== null;
      const ofSession = key.can_create_keys === 1 ? 'key_session' : ROLES[key.role].session;
      if (isSession && ofSession === null) throw new Error(`a key with the role ${key.role} has a session`);
      if (isSession && ofSession !== null) return { ...none, caller: ofSession, key };
      return { ...none, caller: key.role, key };
    }
    const isToken = (business: Business) =>
      [business.token, ...workingTokens(state, business.id, now).map(({ token }) => token)].some(
        (token) => reveal(state, token) === text,
      );
    // An imported token names no database, so it is looked up where the business in the path would be.
    const letter = /^bua_pk_([0-9A-Za-z])/.exec(text)?.[1];
    const database = letter === undefined ? databaseOf(business_id) : LETTERS.indexOf(letter);
    const number = letter === undefined && !state.databases.includes(database) ? 0 : database;
    const business = state.businesses.find((each) => databaseOf(each.id) === number && isToken(each));
    if (business === undefined || business.status !== 'active') throw unauthenticated(true);
    return { ...none, caller: 'token', business };
  }

  /** Whether a page is let in only because no site is registered. */
  #isOpen({ id }: Business, caller: Caller, { Origin }: Record<string, string>): boolean {
    const isChecked = Origin !== undefined && (caller === 'token' || Origin !== BASE);
    return isChecked && sitesOf(this.state, id).length === 0;
  }

  #checkOrigin(
    business: Business,
    caller: Caller,
    headers: Record<string, string>,
    now: number,
    after: Expected['after'],
  ): void {
    const { state } = this;
    const origin = originOf(headers);
    const isDerived = headers.Origin === undefined;
    const sites = sitesOf(state, business.id);
    const isToken = caller === 'token';
    if (sites.length === 0 || (!isToken && (origin === null || origin === BASE))) return;
    if (origin === null)
      throw refused(
        403,
        'origin_missing',
        'This business token works only from pages of its registered sites. From a server, use an API key.',
      );
    if (isCovered(sites, origin)) return;
    if (isToken && isDerived)
      throw refused(
        403,
        'origin_missing',
        'This business token works only from pages of its registered sites, and browsers send no Origin with a same-origin GET. If a proxy forwards the request, have the proxy set Origin.',
      );
    if (isRegistrable(origin)) {
      noteOrigin(state, business.id, origin, 0, now);
      after.refused = business.id;
    }
    const shown = /^[ -~]{1,300}$/.test(origin) ? `Origin ${origin}` : 'This origin';
    const advice = isRegistrable(origin) ? 'Register it' : 'It cannot be registered. Send the request';
    const help = isToken ? '' : ` ${advice} from a server, or from an authorized page.`;
    throw refused(403, 'origin_not_authorized', `${shown} is not authorized for this business.${help}`);
  }
}

/** The page's origin. A same-origin GET has none, but says that it is one. */
const originOf = (headers: Record<string, string>): string | null =>
  headers.Origin ?? (headers['Sec-Fetch-Site'] === 'same-origin' ? BASE : null);

/** The only well-formed credential in the headers. */
const bearerIn = ({ Authorization = '' }: Record<string, string>): string | null => {
  const text = /^bearer +([A-Za-z0-9._~+/=-]{24,255})$/i.exec(Authorization)?.[1] ?? '';
  const isIssued = /^bua_(?:[sp]k_[0-9A-Za-z]{34}|op_[0-9A-Za-z]{43})$/.test(text);
  return isIssued || (text !== '' && !/^bua_/i.test(text)) ? text : null;
};

type Json = { json: unknown } | { problem: string };
/** What a body records, or which report a query asks for. */
function operationOf(named: Operation, sent: Json, query: URLSearchParams): Operation {
  if (named === 'read_usage') return query.has('by') || query.has('source') ? 'read_sources' : 'read_usage';
  if (named === 'read_all_usage') return query.has('ended') ? 'read_ended' : named;
  const value = 'json' in sent ? sent.json : undefined;
  if (named !== 'record_use' || typeof value !== 'object' || value === null) return named;
  if ('uses' in value) return 'record_uses';
  return 'quantity' in value || 'label' in value ? 'record_quantity' : 'record_use';
}

/** The status after a failure of which nobody knows whether it was carried out: 503 if sending the request again is safe. */
export function outageStatus({ method, path, headers, body }: Plain): 500 | 503 {
  const { operation } = routeOf(method, path.split('?')[0] ?? '');
  const json = isEmptyBody(body ?? '') ? { json: undefined } : parsed(body ?? '');
  return isRepeatable(operationOf(operation, json, new URLSearchParams()), headers['Idempotency-Key'] !== undefined)
    ? 503
    : 500;
}

function requireValid({ ends_at, revoked_at, expires_on }: Key, now: number): void {
  const hasEnded = ends_at !== null && ends_at <= stamp(now);
  const hasExpired = expires_on !== null && expires_on < dayOf(now);
  if (hasEnded || hasExpired || revoked_at !== null) throw unauthenticated(true);
}

function noteLimit(state: State, business_id: number, today: string, uses: number): void {
  const days = state.limited[business_id] ?? {};
  state.limited[business_id] = { ...days, [today]: (days[today] ?? 0) + uses };
}

const MAX_REFUSED = 50;
function noteOrigin(state: State, business_id: number, origin: string, let_in: 0 | 1, now: number): void {
  const list = state.refused[business_id] ?? [];
  state.refused[business_id] = list;
  const known = list.find((refusal) => refusal.origin === origin);
  if (known !== undefined) {
    if (known.let_in !== let_in) Object.assign(known, { count: 0, first_seen: stamp(now), let_in });
    known.count += 1;
    known.total += 1;
    known.last_seen = stamp(now);
    return;
  }
  if (list.length >= MAX_REFUSED) {
    const [rarest] = list.toSorted((a, b) => a.count - b.count || (a.last_seen < b.last_seen ? -1 : 1));
    list.splice(list.indexOf(rarest as (typeof list)[number]), 1);
  }
  list.push({ origin, count: 1, first_seen: stamp(now), last_seen: stamp(now), let_in, total: 1 });
  list.sort((a, b) => (a.origin < b.origin ? -1 : 1));
}
