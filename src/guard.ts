// The guard stands before every route of a business. It finds out who requests what, and from where, and provides `ask`, the only
// way to the database.
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { credentialOf } from './core/credential.ts';
import { databaseFor } from './core/database.ts';
import { type Operation, POLICY } from './core/policy.ts';
import { hasCredential, idOf, originOf, ownOriginOf } from './core/request.ts';
import { isRegistrable } from './core/site.ts';
import { dayOf } from './core/time.ts';
import { runBatch } from './db/batch.ts';
import { markKeyUsed } from './db/last-use.ts';
import type { Call, Verdict } from './db/permission.ts';
import { rememberRefusal } from './db/refused-origins.ts';
import type { RowsOf, Statement } from './db/statement.ts';
import type { Bindings, Env } from './env.ts';
import { afterResponse } from './http/after-response.ts';
import { Denied, TooMany, Unauthenticated } from './http/errors.ts';
import { batchError } from './http/outage.ts';
import { isAddressLimited, isCredentialLimited, mayRemember } from './http/rate-limits.ts';

/**
 * Runs one batch: `read`, whose row carries the verdict, then the changes in order. Throws if the call is refused; then nothing
 * has changed, because every statement depends on the permission. Returns the row that was read and the rows of each change.
 */
export type Ask = <Row extends Verdict, Changes extends readonly Statement[]>(
  read: Statement<Row>,
  ...changes: Changes
) => Promise<[row: Row, ...rows: RowsOf<Changes>]>;

/** `operation` is a function if it depends on the request. */
export const guard = (operation: Operation | ((c: Context<Env>) => Operation)) =>
  createMiddleware<Env>(async function guard(c, next) {
    const entry = c.get('entry');
    const credential = credentialOf(c.req.header('Authorization'));
    entry.credential = credential && { kind: credential.kind, last_four: credential.text.slice(-4) };
    const ownOrigin = ownOriginOf(c.req.url);
    const origin = originOf(c.req.raw.headers, ownOrigin);
    if (await isAddressLimited(c.env, c.req.header('CF-Connecting-IP'))) throw new TooMany();
    if (credential === null) throw new Unauthenticated(hasCredential(c.req.raw.headers));
    if (await isCredentialLimited(c.env, credential, origin)) throw new TooMany();

    const { kind, text } = credential;
    const business_id = idOf(c.req.param('business_id') ?? '') ?? 0;
    const binding = databaseFor(credential, business_id);
    const database = binding === null ? undefined : c.env[binding];
    if (database === undefined) throw new Unauthenticated(true);
    entry.database = binding;
    const call: Call = {
      operation: typeof operation === 'string' ? operation : operation(c),
      credential: { kind, stored: kind === 'key' ? await credential.hash() : text },
      business_id,
      origin,
      ownOrigin,
      now: c.get('clock')(),
    };
    entry.call = { operation: call.operation, business_id: business_id || null, origin };
    const isIdentified = call.operation === 'record_use' && c.req.header('Idempotency-Key') !== undefined;
    const isRepeatable = POLICY[call.operation].repeatable || isIdentified;
    c.set('call', call);
    const ask: Ask = async (read, ...changes) => {
      const batch = runBatch(database, call, read, changes, entry.d1);
      const [[row], ...rows] = await batch.catch((cause: unknown) => {
        throw batchError(cause, isRepeatable);
      });
      if (row === undefined) throw new Unauthenticated(true);
      if (row.refusal === 'origin_not_authorized')
        afterResponse(c, 'remember_refusal', () => remember(c.env, database, call));
      if (row.refusal !== null) throw new Denied(row.refusal, call);
      const { unmarked_key } = row;
      if (unmarked_key !== null) {
        afterResponse(c, 'mark_key_used', () => markKeyUsed(database, unmarked_key, dayOf(call.now)));
      }
      return [row, ...rows];
    };
    c.set('ask', ask);
    await next();
  });

/** Remembers a refused origin, for the owner to see, if it is one that could be registered. */
async function remember(bindings: Bindings, database: D1Database, { business_id, origin, now }: Call): Promise<void> {
  if (origin === null || !isRegistrable(origin) || !(await mayRemember(bindings, business_id, origin))) return;
  await rememberRefusal(database, business_id, origin, now);
}
