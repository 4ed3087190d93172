// Middleware for every route that requires a credential. Identifies the caller and the origin, and provides `ask`, the route's only
// database access before the response.
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type Credential, masked, namespaceOf, parseCode, parseCredential } from './core/credential.ts';
import { type Binding, bindingOf, boundIn, databaseFor } from './core/database.ts';
import { isEmptyBody, parseBoundedJson } from './core/json.ts';
import { isFromPage, malformedSecrets, operatorRefusal, roleOf } from './core/operator.ts';
import { allowsKeys, isInvalidity, isRepeatable, OPERATOR_ROLES, type OperatorRole, type Rule } from './core/policy.ts';
import { randomId } from './core/random.ts';
import { hasCredential, originOf, ownOriginOf, parseId } from './core/request.ts';
import { isRegistrable } from './core/site.ts';
import { dayOf } from './core/time.ts';
import { type Ask, runBatch } from './db/batch.ts';
import type { Call } from './db/call.ts';
import { markUsed } from './db/last-use.ts';
import { recordLimitRefusal } from './db/limit-refusals.ts';
import { OPEN } from './db/permission.ts';
import { recordOrigin } from './db/refused-origins.ts';
import { readVerdict } from './db/statement.ts';
import { TimedOut, withTimeout } from './db/timeout.ts';
import type { Bindings, ContextOf, Env, Guarded } from './env.ts';
import { afterResponse } from './http/after-response.ts';
import { readBody } from './http/body.ts';
import { batchError, LimitReached, refusedCall, Unauthenticated, unavailable } from './http/errors.ts';
import {
  type Checked,
  checkBody,
  checkJson,
  checkNoBody,
  idempotencyKeyErrors,
  invalidInput,
  NOTHING,
  queryInput,
  unknownParameters,
} from './http/input.ts';
import { limitAddress, limitCredential, mayStoreLimitRefusal, mayStoreOrigin } from './http/rate-limits.ts';
import { NO_QUERY } from './input.ts';
import type { Circumstances, Operation } from './operation.ts';

/** The total time that a request can wait for its database. */
const DATABASE_TIMEOUT_MS = 10_000;

/** Guards an operation: identifies the caller, admits or refuses the request, sets up database access, and then validates the input. */
export function guard(operation: Operation): MiddlewareHandler<Guarded> {
  const { query, check, code } = operation;
  return createMiddleware<Guarded>(async function guarded(c, next) {
    const sender = await identify(c);
    await admitSender(c, sender, code !== undefined);
    // Reads the body before it reads the clock. Otherwise, a caller could delay the body and use an expired credential.
    const body = c.req.method === 'GET' || c.req.method === 'HEAD' ? '' : await readBody(c.req.raw);
    const caller = { ...sender, credential: sender.credential ?? codeOf(c.req, body, code) };
    const { rule, checkInBody } = appliedRule(operation, body, c.req);
    await admitCall(c, caller, rule, operation);
    const permission = await prepareCall(c, caller, rule, operation);
    const inBody = caller.credential.kind === 'code' ? NOTHING : checkInBody();
    c.req.addValidatedData('json', Object(inBody.data));
    const validate = queryInput(query, async (inQuery) => {
      const errors = { ...idempotencyKeyErrors(c.req, rule), ...inQuery.errors, ...inBody.errors };
      const given = { ...inQuery.given, ...inBody.given } as never; // `define` has compared the type with the schemas
      const all = { ...errors, ...(await check?.(given, circumstancesOf(c), errors)) };
      if (Object.keys(all).length > 0) throw await invalidInput(c, all);
    });
    await validate(c, next);
    if (c.error instanceof LimitReached) rememberLimit(c, c.error.uses);
    if (permission.isGranted || c.res.status >= 400) return; // a handler that did not call `ask` may only respond with an error
    c.res = undefined; // otherwise the error response would inherit this response's headers
    throw new Error(`${operation.id} responded without querying the database`);
  });
}

/** Returns the rule that applies to a request with this body, and how to check the body. */
function appliedRule(
  { rules, ruleOf }: Operation,
  text: string,
  req: HonoRequest,
): { rule: Rule; checkInBody: () => Checked } {
  const chosen = ruleOf?.({ body: text, query: req.query() });
  const rule = chosen === undefined ? rules[0] : rules.find(({ name }) => name === chosen.rule);
  if (rule === undefined) throw new Error(`no rule ${chosen?.rule}`);
  const { body } = rule;
  const json = chosen?.json;
  if (body === undefined) return { rule, checkInBody: () => checkNoBody(text) };
  return { rule, checkInBody: () => (json === undefined ? checkBody(text, body) : checkJson(json, body)) };
}

/** What checks of input may depend on. A call that names a business queries only the database of that business. */
const circumstancesOf = (c: ContextOf<Guarded>): Circumstances => {
  const { now, namesBusiness, credential } = c.get('call');
  const isOperator = credential.kind === 'operator';
  const numbers = namesBusiness ? [c.get('database')] : c.get('databases').numbers;
  const hasKey = c.req.header('Idempotency-Key') !== undefined;
  return { now, numbers, namespace: namespaceOf(credential.kind), isOperator, hasKey };
};

/** The caller from which the request claims to come, by its headers. No database has verified the credential yet. */
type Sender = {
  /** Null if the headers contain no well-formed credential. */
  credential: Credential | null;
  /** The role of an operator key. Null for any other credential. */
  role: OperatorRole | null;
  isFromServer: boolean;
  origin: string | null;
  ownOrigin: string;
};
type Caller = Sender & { credential: Credential };

async function identify(c: Context<Guarded>): Promise<Sender> {
  const { headers } = c.req.raw;
  const credential = parseCredential(c.req.header('Authorization'));
  if (credential !== null)
    c.get('logEntry').credential = { kind: credential.kind, last_four: credential.text.slice(-4) };
  const ownOrigin = ownOriginOf(c.req.url);
  return {
    credential,
    role: credential?.kind === 'operator' ? roleOf(await credential.hash(), c.env) : null,
    isFromServer: !isFromPage(headers),
    origin: originOf(headers, ownOrigin),
    ownOrigin,
  };
}

/**
 * Throws if the headers or the client's address suffice to refuse the request, so that its body, of up to 1 MiB, is not read. With
 * `takesCode`, a request without a credential may still contain a code.
 */
async function admitSender(c: Context<Guarded>, { credential, role, isFromServer }: Sender, takesCode: boolean) {
  // An operator key that a server sends is exempt, because the operator's back end sends all its requests from one address.
  if (role === null || !isFromServer) await limitAddress(c);
  if (role === null) {
    if (credential?.kind === 'operator') logMalformedSecrets(c);
    if (c.env.OPERATOR_ONLY === '1') throw unavailable(new Error('OPERATOR_ONLY is 1'));
  }
  if (credential === null) {
    if (hasCredential(c.req.raw.headers)) throw new Unauthenticated('malformed');
    if (!takesCode) throw new Unauthenticated('missing');
  } else if (credential.kind === 'operator' && role === null) throw new Unauthenticated('unknown');
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
const idIn = (c: Context<Guarded>, name: 'business_id' | 'user_id'): number => parseId(c.req.param(name) ?? '') ?? 0;

/** Throws if an operator key may not be used for the operation, or if the credential exceeds its rate limit. */
async function admitCall(c: Context<Guarded>, caller: Caller, rule: Rule, { namesBusiness }: Operation) {
  const { credential, role, isFromServer, origin } = caller;
  const business_id = namesBusiness ? idIn(c, 'business_id') : null;
  const user_id = idIn(c, 'user_id') || null;
  c.get('logEntry').call = { operation: rule.name, business_id: business_id || null, user_id, origin };
  // Checked before the key's rate limit. Otherwise, requests from pages could use it up and block servers.
  const refusal = role && operatorRefusal(role, rule, isFromServer);
  if (refusal) throw refusedCall(refusal, { rule, origin, credential });
  await limitCredential(c, credential, origin, user_id === null ? `${business_id ?? 0}` : `user ${user_id}`, rule);
}

/**
 * Sets `call`, `database`, `ask` and `databases` for the handlers. Returns a permission. Its `isGranted`
 * becomes true when the database permits the call.
 */
async function prepareCall(c: Context<Guarded>, caller: Caller, rule: Rule, { namesBusiness, namesUser }: Operation) {
  const { credential, origin, ownOrigin } = caller;
  const { kind, text } = credential;
  const [business_id, user_id] = [idIn(c, 'business_id'), idIn(c, 'user_id')];
  const isBound = (name: Binding) => c.env[name] !== undefined;
  const databaseNumber = databaseFor(credential, business_id, isBound);
  if (databaseNumber === null) throw new Unauthenticated(kind === 'code' ? 'unknown_code' : 'unbound_database');
  const now = c.get('clock')();
  const deadline = c.get('databaseClock')().getTime() + DATABASE_TIMEOUT_MS;
  const sender =
    kind === 'operator'
      ? { kind, name: `operator (${masked(text)})` }
      : { kind, lookupValue: kind === 'token' ? text : await credential.hash() };
  const isOriginDerived = origin !== null && !c.req.raw.headers.has('Origin');
  const from = { origin, isOriginDerived, ownOrigin };
  const named = { business_id, namesBusiness, user_id, namesUser };
  const call: Call = { id: randomId(), rule, credential: sender, ...named, ...from, now, deadline };
  // The operator key has been checked, so a database refuses the call only if the business in the path is unknown.
  const permission = { isGranted: kind === 'operator' && !namesBusiness };
  const askIn = (number: number, asked: Call) => newAsk(c, asked, number, permission);
  const ask = askIn(databaseNumber, call);
  // Only the operator may make this call. For other callers, the query throws the refusal with its reason.
  if (kind !== 'operator' && !allowsKeys(rule)) {
    await ask(readVerdict);
    throw new Error(`${rule.name} is only for the operator, but was not refused`);
  }
  c.set('call', call);
  c.set('database', databaseNumber);
  c.set('ask', ask);
  c.set(
    'databases',
    kind === 'operator'
      ? {
          numbers: boundIn(c.env).map(({ number }) => number),
          askIn: (number) => askIn(number, { ...call, namesBusiness: false }),
        }
      : { numbers: [databaseNumber], askIn: () => ask },
  );
  return permission;
}

function boundDatabase(bindings: Bindings, number: number): D1Database {
  const binding = bindingOf(number);
  const d1 = binding === null ? undefined : bindings[binding];
  if (d1 === undefined) throw new Error(`${binding} is not bound`);
  return d1;
}

/** Creates a call's `ask` for one database. */
function newAsk(c: Context<Guarded>, call: Call, number: number, permission: { isGranted: boolean }): Ask {
  const callIsRepeatable = isRepeatable(call.rule, c.req.header('Idempotency-Key') !== undefined);
  const databaseClock = c.get('databaseClock');
  return async (read, steps, stepsAreRepeatable = steps === undefined) => {
    const d1 = boundDatabase(c.env, number);
    const logEntry = c.get('logEntry');
    logEntry.database = bindingOf(number);
    const batchIsRepeatable = callIsRepeatable || stepsAreRepeatable;
    const sent = databaseClock().getTime();
    const batch = runBatch(d1, call, read, steps, logEntry.d1).finally(() => {
      logEntry.d1.ms += databaseClock().getTime() - sent;
    });
    const { row, rows, bytes } = await withTimeout(batch, call.deadline - sent).catch((cause: unknown) => {
      throw batchError(cause, batchIsRepeatable);
    });
    if (row === undefined) throw new Unauthenticated(call.credential.kind === 'code' ? 'unknown_code' : 'unknown');
    if (row.refusal === 'origin_not_authorized') {
      afterResponse(c, 'remember_origin', () => rememberIfAllowed(c, d1, call, 0));
    }
    if (row.refusal !== null && row.refusal !== OPEN) {
      throw isInvalidity(row.refusal) ? new Unauthenticated(row.refusal) : refusedCall(row.refusal, call);
    }
    permission.isGranted = true;
    const { unmarked, time_left } = row;
    if (time_left <= 0) throw unavailable(new Error('the batch started after its deadline and did nothing'));
    // A step may still have run into the deadline if the database's clock is ahead of ours.
    if (steps !== undefined && time_left * 1000 <= databaseClock().getTime() - sent) {
      throw batchError(
        new TimedOut('no response before the deadline, by the clock of the database'),
        batchIsRepeatable,
      );
    }
    if (row.refusal === OPEN) afterResponse(c, 'remember_origin', () => rememberIfAllowed(c, d1, call, 1));
    if (unmarked !== null) afterResponse(c, 'mark_used', () => markUsed(d1, unmarked, dayOf(call.now)));
    return { ...rows, row, bytes };
  };
}

/** Counts uses that a limit refused, if the rate limit allows the write. */
function rememberLimit(c: Context<Guarded>, uses: number): void {
  const { business_id, now } = c.get('call');
  const d1 = boundDatabase(c.env, c.get('database'));
  afterResponse(c, 'remember_limit', async () => {
    if (await mayStoreLimitRefusal(c, business_id)) await recordLimitRefusal(d1, business_id, dayOf(now), uses);
  });
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

/** Stores an origin for the owner if it can be registered and the rate limits allow the write. */
async function rememberIfAllowed(
  c: ContextOf<Env>,
  d1: D1Database,
  { business_id, origin, now }: Call,
  letIn: 0 | 1,
): Promise<void> {
  if (origin === null || !isRegistrable(origin) || !(await mayStoreOrigin(c, business_id, origin))) return;
  await recordOrigin(d1, business_id, origin, letIn, now);
}
