// Middleware for every route that requires a credential. Identifies the caller and the origin, and provides `ask`, the route's only
// database access before the response.
import type { Context, HonoRequest, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import type { FieldErrors } from './core/conflict.ts';
import { type Credential, parseCredential } from './core/credential.ts';
import { BINDINGS, type Binding, bindingOf, databaseFor } from './core/database.ts';
import { isEmptyBody } from './core/json.ts';
import { isFromPage, malformedSecrets, operatorRefusal, roleOf } from './core/operator.ts';
import {
  allowsKeys,
  isInvalidity,
  isRepeatable,
  OPERATOR_ROLES,
  type Operation,
  type OperatorRole,
} from './core/policy.ts';
import { hasCredential, originOf, ownOriginOf, parseId } from './core/request.ts';
import { isRegistrable } from './core/site.ts';
import { dayOf } from './core/time.ts';
import { parseRecording, type Recording } from './core/use.ts';
import { type Ask, runBatch } from './db/batch.ts';
import type { Call } from './db/call.ts';
import { markKeyUsed } from './db/last-use.ts';
import { recordRefusal } from './db/refused-origins.ts';
import { readVerdict } from './db/statement.ts';
import { TimedOut, withTimeout } from './db/timeout.ts';
import type { Bindings, ContextOf, Env, Guarded } from './env.ts';
import { afterResponse } from './http/after-response.ts';
import { readBody } from './http/body.ts';
import { batchError, refusedCall, Unauthenticated, unavailable } from './http/errors.ts';
import {
  type Checked,
  checkBody,
  checkJson,
  checkNoBody,
  idempotencyKeyErrors,
  invalidInput,
  NOTHING,
  queryInput,
} from './http/input.ts';
import { limitAddress, limitCredential, mayStoreRefusal } from './http/rate-limits.ts';
import type { Query } from './wire/requests.ts';

/** The total time that a request can wait for its database. */
const DATABASE_TIMEOUT_MS = 10_000;

type Body = z.ZodMiniType<object | undefined>;
/** The types of `c.req.valid` with these schemas: the parameters as `query` and the body as `json`, which is {} for an empty body. */
type Valid<Q extends Query, B extends Body> = {
  in: (Query extends Q ? object : { query: z.input<Q['schema']> }) & (Body extends B ? object : { json: z.input<B> });
  out: (Query extends Q ? object : { query: z.output<Q['schema']> }) &
    (Body extends B ? object : { json: NonNullable<z.output<B>> });
};

/** Input of which any value can be missing, because it is wrong. An entry of a list can be missing, too. */
type Partly<T> = T extends (infer Entry)[]
  ? (Partly<Entry> | undefined)[]
  : T extends object
    ? { [Name in keyof T]?: Partly<T[Name]> | undefined }
    : T;
/**
 * Rules for which a schema is not enough, for example because they depend on the time. `given` contains the input that is not wrong, and
 * `errors` the errors of the rest.
 */
type Rules<Q extends Query, B extends Body> = (
  given: Partly<
    (Query extends Q ? object : z.output<Q['schema']>) & (Body extends B ? object : NonNullable<z.output<B>>)
  >,
  c: ContextOf<Guarded>,
  errors: FieldErrors,
) => FieldErrors | Promise<FieldErrors>;

/** Returns the code in the body of a request whose headers contain no credential. Null if the body contains no code. */
type CodeIn = (req: HonoRequest, body: string) => Credential | null;

/** The operations of a guarded route, and the input that it accepts. */
export type Accepts = {
  /** Several if the body determines the operation. */
  operations: readonly [Operation, ...Operation[]];
  query?: Query | undefined;
  body?: Body | undefined;
  codeIn?: CodeIn | undefined;
};
/** The operations and input of each guard, by middleware. src/openapi uses them to describe the routes. */
export const ACCEPTS = new WeakMap<object, Accepts>();

/** Guards a route with one operation. Without schemas, accepts no query or body. With `codeIn`, a code in the body is a credential. */
export const guard = <Q extends Query = Query, B extends Body = Body>(
  operation: Operation,
  { query, body, rules, codeIn }: { query?: Q; body?: B; rules?: Rules<Q, B>; codeIn?: CodeIn } = {},
): MiddlewareHandler<Guarded, string, Valid<Q, B>> =>
  guardWith(
    { operations: [operation], query, body, codeIn },
    () => operation,
    (c, text) => {
      if (c.get('call').credential.kind === 'code') return NOTHING;
      return body === undefined ? checkNoBody(text) : checkBody(text, body);
    },
    rules as AnyRules,
  );

type Recorded = Guarded & { Variables: { recording: Recording } };

/** Guards the route that records uses, with the schema of each operation's body. The body determines the operation. */
export const guardRecording = <Bodies extends Record<Recording['operation'], Body>>(
  bodies: Bodies,
  rules: Rules<Query, Bodies[Recording['operation']]>,
): MiddlewareHandler<Guarded, string, Valid<Query, Bodies[Recording['operation']]>> =>
  guardWith(
    { operations: ['record_use', 'record_quantity', 'record_uses'] },
    (c, body) => {
      const recording = parseRecording(body);
      c.set('recording', recording);
      return recording.operation;
    },
    (c) => {
      const { operation, json } = c.get('recording');
      return checkJson(json, bodies[operation]);
    },
    rules as AnyRules,
  );

type OperationOf = (c: Context<Recorded>, body: string) => Operation;
type CheckBody = (c: Context<Recorded>, body: string) => Checked;
type AnyRules = Rules<Query, Body> | undefined;

/** Identifies the caller, admits or refuses the request, sets up database access, and then validates the input. */
function guardWith(
  accepts: Accepts,
  operationOf: OperationOf,
  checkBodyOf: CheckBody,
  rules: AnyRules,
): MiddlewareHandler {
  const { codeIn } = accepts;
  const middleware = createMiddleware<Recorded>(async function guarded(c, next) {
    const sender = await identify(c);
    await admitSender(c, sender, codeIn !== undefined);
    // Reads the body before it reads the clock. Otherwise, a caller could delay the body and use an expired credential.
    const body = c.req.method === 'GET' || c.req.method === 'HEAD' ? '' : await readBody(c.req.raw);
    const caller = { ...sender, credential: sender.credential ?? codeOf(c.req, body, codeIn) };
    const operation = operationOf(c, body);
    const business_id = businessIn(c.req);
    await admitCall(c, caller, operation, business_id);
    const permission = await grant(c, caller, operation, business_id);
    const inBody = checkBodyOf(c, body);
    c.req.addValidatedData('json', Object(inBody.data));
    const validate = queryInput(accepts.query, async (inQuery) => {
      const errors = { ...idempotencyKeyErrors(c.req, operation), ...inQuery.errors, ...inBody.errors };
      const all = { ...errors, ...(await rules?.({ ...inQuery.given, ...inBody.given }, c, errors)) };
      if (Object.keys(all).length > 0) throw await invalidInput(c, all);
    });
    await validate(c, next);
    if (permission.isGranted || c.res.status >= 400) return; // a handler that did not call `ask` may only respond with an error
    c.res = undefined; // otherwise the error response would inherit this response's headers
    throw new Error(`${operation} responded without querying the database`);
  });
  ACCEPTS.set(middleware, accepts);
  return middleware;
}

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

async function identify(c: Context<Recorded>): Promise<Sender> {
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
async function admitSender(c: Context<Recorded>, { credential, role, isFromServer }: Sender, takesCode: boolean) {
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

/** Returns the code in a body. Throws if there is none. */
function codeOf(req: HonoRequest, body: string, codeIn: CodeIn | undefined): Credential {
  if (codeIn === undefined || isEmptyBody(body)) throw new Unauthenticated('missing');
  const code = codeIn(req, body);
  if (code === null) throw new Unauthenticated('malformed_code');
  return code;
}

/** Returns the id of the business in the path: 0, which no business has, if the id is malformed, and null if the path names no business. */
function businessIn(req: HonoRequest): number | null {
  const id = req.param('business_id');
  return id === undefined ? null : (parseId(id) ?? 0);
}

/** Throws if an operator key may not be used for the operation, or if the credential exceeds its rate limit. */
async function admitCall(c: Context<Recorded>, caller: Caller, operation: Operation, business_id: number | null) {
  const { credential, role, isFromServer, origin } = caller;
  const user_id = parseId(c.req.param('user_id') ?? '');
  c.get('logEntry').call = { operation, business_id: business_id || null, user_id, origin };
  // Checked before the key's rate limit. Otherwise, requests from pages could use it up and block servers.
  const refusal = role && operatorRefusal(role, operation, isFromServer);
  if (refusal) throw refusedCall(refusal, { operation, origin, credential });
  await limitCredential(c, credential, origin, user_id === null ? `${business_id ?? 0}` : `user ${user_id}`, operation);
}

/**
 * Sets `call`, `database` and `ask` for the handlers, and `databases` for the operator. Returns a permission. Its `isGranted`
 * becomes true when the database permits the call.
 */
async function grant(c: Context<Recorded>, caller: Caller, operation: Operation, named: number | null) {
  const { credential, origin, ownOrigin } = caller;
  const { kind, text } = credential;
  const business_id = named ?? 0;
  const namesBusiness = named !== null;
  const isBound = (name: Binding) => c.env[name] !== undefined;
  const databaseNumber = databaseFor(credential, business_id, isBound);
  if (databaseNumber === null) throw new Unauthenticated(kind === 'code' ? 'unknown_code' : 'unbound_database');
  const now = c.get('clock')();
  const deadline = c.get('databaseClock')().getTime() + DATABASE_TIMEOUT_MS;
  const sender =
    kind === 'operator'
      ? { kind, name: `operator (…${text.slice(-4)})` }
      : { kind, lookupValue: kind === 'token' ? text : await credential.hash() };
  const isOriginDerived = origin !== null && !c.req.raw.headers.has('Origin');
  const from = { origin, isOriginDerived, ownOrigin };
  const call: Call = { operation, credential: sender, business_id, namesBusiness, ...from, now, deadline };
  // The operator key has been checked, so a database refuses the call only if the business in the path is unknown.
  const permission = { isGranted: kind === 'operator' && !namesBusiness };
  const askIn = (number: number, asked: Call) => newAsk(c, asked, number, permission);
  const ask = askIn(databaseNumber, call);
  // Only the operator may make this call. For other callers, the query throws the refusal with its reason.
  if (kind !== 'operator' && !allowsKeys(operation)) {
    await ask(readVerdict);
    throw new Error(`${operation} is only for the operator, but was not refused`);
  }
  c.set('call', call);
  c.set('database', databaseNumber);
  c.set('ask', ask);
  if (kind === 'operator') {
    const numbers = BINDINGS.flatMap((name, number) => (isBound(name) ? [number] : []));
    c.set('databases', { numbers, askIn: (number) => askIn(number, { ...call, namesBusiness: false }) });
  }
  return permission;
}

function boundDatabase(bindings: Bindings, number: number): D1Database {
  const binding = bindingOf(number);
  const d1 = binding === null ? undefined : bindings[binding];
  if (d1 === undefined) throw new Error(`${binding} is not bound`);
  return d1;
}

/** Creates a call's `ask` for one database. */
function newAsk(c: Context<Recorded>, call: Call, number: number, permission: { isGranted: boolean }): Ask {
  const callIsRepeatable = isRepeatable(call.operation, c.req.header('Idempotency-Key') !== undefined);
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
      afterResponse(c, 'remember_refusal', () => rememberIfAllowed(c, d1, call));
    }
    if (row.refusal !== null) {
      throw isInvalidity(row.refusal) ? new Unauthenticated(row.refusal) : refusedCall(row.refusal, call);
    }
    permission.isGranted = true;
    const { unmarked_key, time_left } = row;
    if (time_left <= 0) throw unavailable(new Error('the batch started after its deadline and did nothing'));
    // A step may still have run into the deadline if the database's clock is ahead of ours.
    if (steps !== undefined && time_left * 1000 <= databaseClock().getTime() - sent) {
      throw batchError(
        new TimedOut('no response before the deadline, by the clock of the database'),
        batchIsRepeatable,
      );
    }
    if (unmarked_key !== null) {
      afterResponse(c, 'mark_key_used', () => markKeyUsed(d1, unmarked_key, dayOf(call.now)));
    }
    return { ...rows, row, bytes };
  };
}

/** Logs the names of malformed secrets when an operator key is unknown, because one of them may be the reason. */
function logMalformedSecrets(c: Context<Recorded>): void {
  const names = malformedSecrets(c.env);
  if (names.length === 0) return;
  c.get('log').error({
    operation: 'operator_key',
    error: `${names.join(', ')} must be ${OPERATOR_ROLES.join(': or ')}: followed by 64 hex digits`,
  });
}

/** Stores a refused origin for the owner if it can be registered and the rate limits allow the write. */
async function rememberIfAllowed(c: ContextOf<Env>, d1: D1Database, { business_id, origin, now }: Call): Promise<void> {
  if (origin === null || !isRegistrable(origin) || !(await mayStoreRefusal(c, business_id, origin))) return;
  await recordRefusal(d1, business_id, origin, now);
}
