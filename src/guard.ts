// The guard stands before every route that needs a credential. It reads the request, finds out who makes it and from where, and
// provides `ask`, the only way to the database that such a route has before it responds.
import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { credentialOf } from './core/credential.ts';
import { BINDINGS, type Binding, bindingOf, databaseFor } from './core/database.ts';
import { isFromPage, malformedSecrets, operatorRefusal, roleOf } from './core/operator.ts';
import { isInvalidity, isRepeatable, namesBusiness, type Operation, POLICY } from './core/policy.ts';
import { hasCredential, idOf, originOf, ownOriginOf } from './core/request.ts';
import { isRegistrable } from './core/site.ts';
import { dayOf } from './core/time.ts';
import { type Recording, recordingOf } from './core/use.ts';
import { type Ask, runBatch } from './db/batch.ts';
import type { Call } from './db/call.ts';
import { inTime } from './db/in-time.ts';
import { markKeyUsed } from './db/last-use.ts';
import { rememberRefusal } from './db/refused-origins.ts';
import { readVerdict } from './db/statement.ts';
import type { Bindings, Guarded } from './env.ts';
import { afterResponse } from './http/after-response.ts';
import { bodyOf } from './http/body.ts';
import { batchError, denied, tooMany, Unauthenticated, unavailable } from './http/errors.ts';
import { invalidInput, noQuery, queryInput, readJson, requireNoBody, uselessKey } from './http/input.ts';
import { firstAfter } from './http/pages.ts';
import { isAddressLimited, isCredentialLimited, mayRemember } from './http/rate-limits.ts';
import type { Query } from './wire/requests.ts';

/** How long a request waits for its database, in all. */
export const DATABASE_TIMEOUT_MS = 10_000;

type Body = z.ZodMiniType<object | undefined>;
/** What `c.req.valid` has in a route with these schemas: its parameters as `query`, and its body as `json`, which is {} if it is empty. */
type Valid<Q extends Query, B extends Body> = {
  in: (Query extends Q ? object : { query: z.input<Q['schema']> }) & (Body extends B ? object : { json: z.input<B> });
  out: (Query extends Q ? object : { query: z.output<Q['schema']> }) &
    (Body extends B ? object : { json: NonNullable<z.output<B>> });
};

/** Refuses whoever is not the operator while only the operator is let in. */
export function requireOpen({ OPERATOR_ONLY }: Bindings): void {
  if (OPERATOR_ONLY === '1') throw unavailable(new Error('OPERATOR_ONLY is 1'));
}

/** Guards a route of one operation, whose input is as the schemas say. Without a schema it takes none. */
export const guard = <Q extends Query = Query, B extends Body = Body>(
  operation: Operation,
  { query, body }: { query?: Q; body?: B } = {},
): MiddlewareHandler<Guarded, string, Valid<Q, B>> =>
  guardWith(
    () => operation,
    query === undefined ? noQuery : queryInput(query),
    async (c, text) => {
      if (body === undefined) await requireNoBody(c, text);
      else c.req.addValidatedData('json', (await readJson(c, text, body)) ?? {});
    },
  );

type Recorded = Guarded & { Variables: { recording: Recording } };

/** Guards the route that records: the body decides which operation it is. */
export const guardRecording: MiddlewareHandler<Recorded> = guardWith((c, body) => {
  const recording = recordingOf(body);
  c.set('recording', recording);
  return recording.operation;
}, noQuery);

/** Sets `call`, `ask` and `databases` for the handlers after it. */
function guardWith(
  operationOf: (c: Context<Recorded>, body: string) => Operation,
  readQuery: MiddlewareHandler,
  readBody?: (c: Context<Recorded>, body: string) => Promise<void>,
): MiddlewareHandler {
  return createMiddleware<Recorded>(async function guarded(c, next) {
    // Before the clock is read: otherwise a caller could hold back the body to use a credential that has expired.
    const body = c.req.method === 'GET' || c.req.method === 'HEAD' ? '' : await bodyOf(c.req.raw);
    const logEntry = c.get('logEntry');
    const credential = credentialOf(c.req.header('Authorization'));
    logEntry.credential = credential && { kind: credential.kind, last_four: credential.text.slice(-4) };
    const ownOrigin = ownOriginOf(c.req.url);
    const origin = originOf(c.req.raw.headers, ownOrigin);
    const role = credential?.kind === 'operator' ? roleOf(await credential.hash(), c.env) : null;
    const isFromServer = role !== null && !isFromPage(c.req.raw.headers);
    // The operator's back end sends all its requests from one address.
    if (!isFromServer && (await isAddressLimited(c.env, c.req.header('CF-Connecting-IP')))) throw tooMany();
    if (role === null) {
      if (credential?.kind === 'operator') logMalformedSecrets(c);
      requireOpen(c.env);
    }
    if (credential === null) throw new Unauthenticated(hasCredential(c.req.raw.headers) ? 'malformed' : 'missing');
    const { kind, text } = credential;
    if (kind === 'operator' && role === null) throw new Unauthenticated('unknown');
    const business_id = idOf(c.req.param('business_id') ?? '') ?? 0;
    const operation = operationOf(c, body);
    const canRepeat = isRepeatable(operation, c.req.header('Idempotency-Key') !== undefined);
    const user_id = idOf(c.req.param('user_id') ?? '');
    const request = { operation, business_id: business_id || null, user_id, origin };
    // Before the limit of the key: what pages send must not stop the servers.
    const refusal = role && operatorRefusal(role, operation, isFromServer);
    if (refusal) {
      logEntry.call = request;
      throw denied(refusal, { operation, origin, credential });
    }
    const subject = user_id === null ? `${business_id}` : `user ${user_id}`;
    if (await isCredentialLimited(c.env, credential, origin, subject)) throw tooMany();

    // The businesses of all databases are listed one database after the other.
    const first =
      role !== null && c.req.param('business_id') === undefined ? firstAfter(c.req.query('after')) : business_id;
    const isBound = (name: Binding) => c.env[name] !== undefined;
    const binding = databaseFor(credential, first, isBound);
    if (binding === null) throw new Unauthenticated('unbound_database');
    const now = c.get('clock')();
    const deadline = Date.now() + DATABASE_TIMEOUT_MS;
    const caller =
      kind === 'operator'
        ? { kind, name: `operator (…${text.slice(-4)})` }
        : { kind, lookupValue: kind === 'key' ? await credential.hash() : text };
    const call: Call = { operation, credential: caller, business_id, origin, ownOrigin, now, deadline };
    logEntry.call = request;
    // The operator is judged above: a database could refuse only the business in the path.
    let isPermitted = kind === 'operator' && !namesBusiness(operation);
    const onPermitted = () => {
      isPermitted = true;
    };
    const asking = (call: Call, binding: Binding | null) => askOf(c, { call, binding, canRepeat, onPermitted });
    const ask = asking(call, binding);
    if (kind !== 'operator' && !POLICY[operation].allowsKey) {
      await ask(readVerdict);
      throw new Error(`${operation} is for the operator only, and was not refused`);
    }
    c.set('call', call);
    c.set('ask', ask);
    c.set('later', (name, work) => {
      const database = c.env[binding];
      if (isPermitted && database !== undefined) afterResponse(c, name, () => work(database));
    });
    const numbers = kind === 'operator' ? BINDINGS.flatMap((name, number) => (isBound(name) ? [number] : [])) : [];
    const askIn = (number: number) =>
      asking({ ...call, isOfUser: true }, numbers.includes(number) ? bindingOf(number) : null);
    c.set('databases', { numbers, askIn });
    const errors = uselessKey(c.req, operation);
    if (errors !== null) throw await invalidInput(c, errors);
    await readQuery(c, async () => {
      await readBody?.(c, body);
      await next();
    });
    if (isPermitted || c.res.status >= 400) return; // without having asked, a handler can only respond with an error
    c.res = undefined; // otherwise the next response would get its headers
    throw new Error(`${operation} responded without asking the database`);
  });
}

type Asked = {
  call: Call;
  /** Null: a database that is not bound. */
  binding: Binding | null;
  canRepeat: boolean;
  onPermitted: () => void;
};

/** The way to one database for one call. */
function askOf(c: Context<Recorded>, { call, binding, canRepeat, onPermitted }: Asked): Ask {
  return async (read, steps, stepsAreRepeatable = steps === undefined) => {
    const database = binding === null ? undefined : c.env[binding];
    if (database === undefined) throw new Error(`${binding} is not bound`);
    const logEntry = c.get('logEntry');
    logEntry.database = binding;
    const isRepeatable = canRepeat || stepsAreRepeatable;
    const sent = Date.now();
    const batch = runBatch(database, call, read, steps, logEntry.d1);
    const { row, rows, bytes } = await inTime(batch, call.deadline - sent).catch((cause: unknown) => {
      throw batchError(cause, isRepeatable);
    });
    if (row === undefined) throw new Unauthenticated('unknown');
    if (row.refusal === 'origin_not_authorized') {
      afterResponse(c, 'remember_refusal', () => remember(c.env, database, call));
    }
    if (row.refusal !== null) {
      throw isInvalidity(row.refusal) ? new Unauthenticated(row.refusal) : denied(row.refusal, call);
    }
    onPermitted();
    const { unmarked_key, time_left } = row;
    if (time_left <= 0) throw unavailable(new Error('the batch began after its deadline, and did nothing'));
    // A step may have met the deadline on the way, where the clock of the database is ahead of ours.
    if (steps !== undefined && time_left * 1000 <= Date.now() - sent) {
      throw batchError(new Error('no response within the deadline, by the clock of the database'), isRepeatable);
    }
    if (unmarked_key !== null) {
      afterResponse(c, 'mark_key_used', () => markKeyUsed(database, unmarked_key, dayOf(call.now)));
    }
    return { ...rows, row, bytes };
  };
}

/** A secret in another form spoils no other. Whoever tries its key finds the reason in the log. */
function logMalformedSecrets(c: Context<Recorded>): void {
  const names = malformedSecrets(c.env);
  if (names.length === 0) return;
  c.get('log').error({
    operation: 'operator_key',
    error: `${names.join(', ')} must be full: or record: and 64 hex digits`,
  });
}

/** Remembers a refused origin, for the owner to see, if it is one that could be registered. */
async function remember(bindings: Bindings, database: D1Database, { business_id, origin, now }: Call): Promise<void> {
  if (origin === null || !isRegistrable(origin) || !(await mayRemember(bindings, business_id, origin))) return;
  await rememberRefusal(database, business_id, origin, now);
}
