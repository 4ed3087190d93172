// Middleware for every route that requires a credential. Admits or refuses a request in five steps, of which each can throw, and then runs
// the handler.
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type Credential, masked, namespaceOf, parseCode, parseCredential } from './core/credential.ts';
import { boundIn, databaseFor } from './core/database.ts';
import { isEmptyBody, type ParsedJson, parseBoundedJson } from './core/json.ts';
import { isFromPage, malformedSecrets, operatorRefusal, roleOf } from './core/operator.ts';
import { allowsKeys, OPERATOR_ROLES, type OperatorRole } from './core/policy.ts';
import { randomId } from './core/random.ts';
import { hasCredential, originOf, ownOriginOf, parseId } from './core/request.ts';
import type { Work } from './core/work.ts';
import type { Call } from './db/call.ts';
import { readVerdict } from './db/statement.ts';
import type { Guarded } from './env.ts';
import { newAsk, rememberLimit } from './http/ask.ts';
import { readBody } from './http/body.ts';
import { LimitReached, refusedCall, Unauthenticated, unavailable } from './http/errors.ts';
import {
  checkBody,
  checkJson,
  checkQuery,
  idempotencyKeyErrors,
  invalidInput,
  unknownParameters,
} from './http/input.ts';
import { limitAddress, limitCredential } from './http/rate-limits.ts';
import { NO_QUERY } from './input.ts';
import type { Operation } from './operation.ts';

/** The total time that a request can wait for its database. With a token, somebody waits in a page. */
const DATABASE_TIMEOUT_MS = 10_000;
const TOKEN_TIMEOUT_MS = 3000;

/** Guards an operation. */
export function guard(operation: Operation): MiddlewareHandler<Guarded> {
  return createMiddleware<Guarded>(async function guarded(c, next) {
    const sender = await admitSender(c, operation);
    const work = workOf(c.req, operation);
    if (work !== undefined && sender.credential?.kind === 'key') refuseAgain(c, sender.credential, work);
    const received = await readRequest(c.req, sender, operation);
    await admitCall(c, received, operation);
    await prepareCall(c, received, operation);
    await checkInput(c, received, operation);
    await next();
    if (c.error instanceof LimitReached) rememberLimit(c, c.error.uses);
    if (c.get('isPermitted') || c.res.status >= 400) return; // a handler that did not call `ask` may only respond with an error
    c.res = undefined; // otherwise the error response would inherit this response's headers
    throw new Error(`${operation.id} responded without querying the database`);
  });
}

/** The caller from which the request claims to come, by its headers. No database has verified the credential yet. */
type Sender = Pick<Call, 'origin' | 'isOriginDerived' | 'ownOrigin'> & {
  /** Null if the headers contain no well-formed credential. */
  credential: Credential | null;
  /** The role of an operator key. Null for any other credential. */
  role: OperatorRole | null;
  isFromServer: boolean;
};

/** Throws if the headers or the client's address suffice to refuse the request, so that its body, of up to 1 MiB, is not read. */
async function admitSender(c: Context<Guarded>, { code }: Operation): Promise<Sender> {
  const { headers } = c.req.raw;
  const credential = parseCredential(c.req.header('Authorization'));
  if (credential !== null) {
    c.get('logEntry').credential = { kind: credential.kind, last_four: credential.text.slice(-4) };
  }
  const role = credential?.kind === 'operator' ? roleOf(credential.hash(), c.env) : null;
  const isFromServer = !isFromPage(headers);
  // An operator key that a server sends is exempt, because the operator's back end sends all its requests from one address.
  if (role === null || !isFromServer) await limitAddress(c);
  if (role === null) {
    if (credential?.kind === 'operator') logMalformedSecrets(c);
    if (c.env.OPERATOR_ONLY === '1') throw unavailable(new Error('OPERATOR_ONLY is 1'));
  }
  if (credential === null) {
    if (hasCredential(headers)) throw new Unauthenticated('malformed');
    if (code === undefined) throw new Unauthenticated('missing');
  } else if (credential.kind === 'operator' && role === null) throw new Unauthenticated('unknown');
  const ownOrigin = ownOriginOf(c.req.url);
  const origin = originOf(headers, ownOrigin);
  const isOriginDerived = origin !== null && !headers.has('Origin');
  return { credential, role, isFromServer, origin, isOriginDerived, ownOrigin };
}

/** Logs the names of malformed secrets when an operator key is unknown, because one of them may be the reason. */
function logMalformedSecrets(c: Context<Guarded>): void {
  const names = malformedSecrets(c.env);
  if (names.length === 0) return;
  c.get('log').error({
    operation: 'operator_key',
    error: `${names.join(', ')} must be ${OPERATOR_ROLES.join(': or ')}: followed by 64 hex digits`,
  });
}

/** Throws if the credential was refused a moment ago because its owner had used up this allowance. */
function refuseAgain(c: Context<Guarded>, { hash }: Credential, { class: kind }: Work): void {
  c.get('recentRefusals').refuseAgain(hash(), kind, c.get('databaseClock')().getTime());
}

/** A single use has a shorter body, unless it is padded. */
const MAX_BYTES_OF_USE = 1000;

/** The costly work that a request must be, as far as its headers say. */
function workOf({ method, raw }: HonoRequest, { rules }: Operation): Work | undefined {
  const isCostly = rules.length === 1 || Number(raw.headers.get('Content-Length')) > MAX_BYTES_OF_USE;
  return method === 'POST' && isCostly ? rules.find(({ work }) => work !== undefined)?.work : undefined;
}

/** A request whose body has been read. The body is empty if it contained the credential, and `json` is missing if it is not parsed yet. */
type Received = Sender & {
  credential: Credential;
  rule: Operation['rules'][number];
  body: string;
  json?: ParsedJson | undefined;
};

/** Reads the body, which can contain the credential, or determine which of an operation's rules applies. */
async function readRequest(req: HonoRequest, sender: Sender, operation: Operation): Promise<Received> {
  const { code, rules, ruleOf } = operation;
  const body = req.method === 'GET' || req.method === 'HEAD' ? '' : await readBody(req.raw);
  const { credential } = sender;
  if (credential === null) return { ...sender, credential: codeOf(req, body, code), rule: rules[0], body: '' };
  if (ruleOf === undefined) return { ...sender, credential, rule: rules[0], body };
  const chosen = ruleOf({ body, query: req.query() });
  const rule = rules.find(({ name }) => name === chosen.rule);
  if (rule === undefined) throw new Error(`no rule ${chosen.rule}`);
  return { ...sender, credential, rule, body, json: chosen.json };
}

/** Longer bodies contain more than a code and are not parsed. */
const MAX_CODE_CHARACTERS = 1000;

/**
 * Returns the code in the body of a request without a credential. Throws a 401 if the body is anything else or if the request has a query.
 * Attackers therefore learn only whether a code works.
 */
function codeOf(req: HonoRequest, body: string, schema: Operation['code']): Credential {
  if (schema === undefined || isEmptyBody(body)) throw new Unauthenticated('missing');
  const hasQuery = Object.keys(unknownParameters(req, NO_QUERY)).length > 0;
  const isOther = hasQuery || body.length > MAX_CODE_CHARACTERS;
  const { data } = isOther ? {} : checkJson(parseBoundedJson(body), schema);
  const code = data === undefined ? null : parseCode(data.code);
  if (code === null) throw new Unauthenticated('malformed_code');
  return code;
}

/** Returns the id in the path. 0 if the path contains no valid one. */
const idIn = ({ req }: Context<Guarded>, name: 'business_id' | 'user_id'): number =>
  parseId(req.param(name) ?? '') ?? 0;

/** Throws if an operator key may not be used for the operation, or if the credential exceeds its rate limit. */
async function admitCall(c: Context<Guarded>, received: Received, { namesBusiness }: Operation): Promise<void> {
  const { credential, role, isFromServer, origin, rule } = received;
  const business_id = namesBusiness ? idIn(c, 'business_id') : null;
  const user_id = idIn(c, 'user_id') || null;
  c.get('logEntry').call = { operation: rule.name, business_id: business_id || null, user_id, origin };
  // Checked before the key's rate limit. Otherwise, requests from pages could use it up and block servers.
  const refusal = role && operatorRefusal(role, rule, isFromServer);
  if (refusal) throw refusedCall(refusal, received);
  await limitCredential(c, credential, origin, user_id === null ? `${business_id ?? 0}` : `user ${user_id}`, rule);
}

/**
 * Sets what the handler queries its databases with. Reads the clock now that the body has been read. Otherwise, a caller could delay the
 * body and use an expired credential.
 */
async function prepareCall(c: Context<Guarded>, received: Received, { namesBusiness, namesUser }: Operation) {
  const { credential, role, rule, origin, isOriginDerived, ownOrigin } = received;
  const { kind, text } = credential;
  const [business_id, user_id] = [idIn(c, 'business_id'), idIn(c, 'user_id')];
  const database = databaseFor(credential, business_id, (binding) => c.env[binding] !== undefined);
  if (database === null) throw new Unauthenticated(kind === 'code' ? 'unknown_code' : 'unbound_database');
  const call: Call = {
    id: randomId(),
    rule,
    credential:
      kind === 'operator'
        ? // admitSender has refused an operator key without a role.
          { kind, name: `operator (${masked(text)})`, role: role as OperatorRole }
        : { kind, lookupValue: kind === 'token' ? text : credential.hash() },
    ...{ business_id, namesBusiness, user_id, namesUser, origin, isOriginDerived, ownOrigin },
    now: c.get('clock')(),
    deadline: c.get('databaseClock')().getTime() + (kind === 'token' ? TOKEN_TIMEOUT_MS : DATABASE_TIMEOUT_MS),
  };
  const ask = newAsk(c, call, database);
  // Only the operator may make this call. For other callers, the query throws the refusal with its reason.
  if (kind !== 'operator' && !allowsKeys(rule)) {
    await ask(readVerdict);
    throw new Error(`${rule.name} is only for the operator, but was not refused`);
  }
  c.set('call', call);
  c.set('database', database);
  c.set('ask', ask);
  // The operator key has been checked, so a database refuses the call only if the business in the path is unknown.
  c.set('isPermitted', kind === 'operator' && !namesBusiness);
  const numbers = kind === 'operator' ? boundIn(c.env).map(({ number }) => number) : [database];
  const askIn = (number: number) => newAsk(c, { ...call, namesBusiness: false }, number);
  c.set('databases', { numbers, askIn: kind === 'operator' ? askIn : () => ask });
}

/** Throws if the input is invalid, or the refusal if the caller has no permission. A call that names a business queries only its database. */
async function checkInput(c: Context<Guarded>, { credential, rule, body, json }: Received, operation: Operation) {
  const { query = NO_QUERY, check, namesBusiness } = operation;
  const isOperator = credential.kind === 'operator';
  const inQuery = await checkQuery(c, query, isOperator);
  const inBody = checkBody(body, rule.body, json);
  c.req.addValidatedData('json', Object(inBody.data));
  const errors = { ...idempotencyKeyErrors(c.req, rule), ...inQuery.errors, ...inBody.errors };
  const given = { ...inQuery.given, ...inBody.given } as never; // `define` has compared the type with the schemas
  const circumstances = {
    now: c.get('call').now,
    numbers: namesBusiness ? [c.get('database')] : c.get('databases').numbers,
    namespace: namespaceOf(credential.kind),
    isOperator,
    hasKey: c.req.header('Idempotency-Key') !== undefined,
  };
  const all = { ...errors, ...(await check?.(given, circumstances, errors)) };
  if (Object.keys(all).length > 0) throw await invalidInput(c, all);
  const price = (credential.kind === 'key' && rule.work?.price(given, circumstances.now)) || 0;
  if (rule.work === undefined || price === 0) return;
  c.get('call').work = { class: rule.work.class, price };
  refuseAgain(c, credential, rule.work);
}
