// The way to the database: authenticates the credential, finds the business, enforces its domains, and runs the statements
// of the route together with all that, as one batch.
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch';
import { drizzle } from 'drizzle-orm/d1';
import type { Context, HonoRequest, Input, MiddlewareHandler } from 'hono';
import { credentialOf, hashOf } from './core/credential.ts';
import { idOf, type Operation, originOf, POLICY, type Refusal } from './core/policy.ts';
import { metered } from './db/meter.ts';
import { outageOf } from './db/outage.ts';
import { grantFor, refusalOf, type Scope } from './db/queries.ts';
import type { Env } from './env.ts';
import { Denied, InvalidInput, Unavailable } from './errors.ts';

type Statement = BatchItem<'sqlite'>;
/** A statement whose rows say whether the call is refused. */
type Refusing = Statement & { _: { result: { refusal: Refusal | null }[] } };
type Statements = readonly [Refusing, ...Statement[]];
type Valid<I extends Input> = HonoRequest<string, NonNullable<I['out']>>['valid'];

/**
 * The middleware of every route. `operation` is a function where one path has two. `statements` makes those of the route, of which the first says whether the call is refused;
 * their rows are the handler's `c.var.rows`. A refused call, and one whose input is invalid, never reaches the handler.
 */
export function guard<I extends Input, const S extends Statements>(
  operation: Operation | ((c: Context<Env>) => Promise<Operation>),
  input: MiddlewareHandler<Env, string, I>,
  statements: (scope: Scope, valid: Valid<I>) => S,
): MiddlewareHandler<Env & { Variables: { rows: BatchResponse<S> } }, string, I> {
  return async function guard(c, next) {
    const credential = credentialOf(c.req.header('Authorization'));
    if (credential === null) throw new Denied('unauthenticated', null);
    const { kind, secret } = credential;
    const { now, cost } = c.var;
    const asked = typeof operation === 'string' ? operation : await operation(c as never);
    const own_origin = new URL(c.req.url).origin;
    const origin = originOf(c.req.raw.headers, own_origin);
    const business_id = idOf(c.req.param('business_id') ?? '') ?? 0;
    c.set('call', { operation: asked, kind, last_four: secret.slice(-4), business_id });
    const invalid = await failureOf(input(c as never, async () => {}));

    const db = drizzle(metered(c.env.DB, cost));
    const grant = grantFor(db, {
      operation: asked,
      credential: kind === 'key' ? { kind, hash: await hashOf(secret) } : { kind, token: secret },
      business_id,
      origin,
      own_origin,
      now,
    });
    const scope = { db, grant, business_id, now };
    const valid = ((target: never) => c.req.valid(target)) as Valid<I>;
    const batch: Statements = invalid ? [refusalOf(scope)] : statements(scope, valid);
    const rows = await db.batch(batch).catch((error: unknown) => {
      const outage = outageOf(error);
      const safe = POLICY[asked].repeatable || c.req.header('Idempotency-Key') !== undefined || outage === 'not_run';
      throw outage !== null && safe ? new Unavailable('the database cannot serve', { cause: error }) : error;
    });
    const [first] = rows[0];
    const refusal = first === undefined ? 'unauthenticated' : first.refusal;
    if (refusal !== null) throw new Denied(refusal, { operation: asked, kind, origin });
    if (invalid) throw invalid;
    c.set('rows', rows as BatchResponse<S>);
    await next();
  };
}

async function failureOf(reading: Promise<unknown>): Promise<InvalidInput | null> {
  try {
    await reading;
    return null;
  } catch (error) {
    if (error instanceof InvalidInput) return error;
    throw error;
  }
}
