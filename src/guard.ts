// The way to the database: authenticates the credential, finds the business, enforces its domains, and runs the statements
// of the route together with all that, as one batch.
import type { Context, HonoRequest, Input, MiddlewareHandler } from 'hono';
import { credentialOf } from './core/credential.ts';
import { type Operation, POLICY, type Refusal } from './core/policy.ts';
import { idOf, originOf, ownOriginOf } from './core/request.ts';
import { metered } from './db/meter.ts';
import { outageOf } from './db/outage.ts';
import { refusalOf, type Scope, scopeOf } from './db/queries.ts';
import type { RowsOf, Statement } from './db/statement.ts';
import type { Env } from './env.ts';
import { Denied, InvalidInput, TooMany, Unavailable } from './errors.ts';
import { isLimited } from './limits.ts';

/**
 * They run in this order, `grant` before all others: what they change can change what is granted. It has a row where the
 * credential is valid, which says whether the call is refused.
 */
type Statements = { grant: Statement<{ refusal: Refusal | null }>; [name: string]: Statement };
type Valid<I extends Input> = HonoRequest<string, NonNullable<I['out']>>['valid'];

/**
 * The middleware of every route. `operation` is a function where one path has two. `statements` makes those of the route; their
 * rows, by the same names, are the handler's `c.get('rows')`. A refused call, and one whose input is invalid, never reaches it.
 */
export function guard<I extends Input, S extends Statements>(
  operation: Operation | ((c: Context<Env>) => Promise<Operation>),
  input: MiddlewareHandler<Env, string, I>,
  statements: (scope: Scope, valid: Valid<I>) => S,
): MiddlewareHandler<Env & { Variables: { rows: RowsOf<S> } }, string, I> {
  return async function guard(c, next) {
    const { known } = c.env;
    const credential = credentialOf(c.req.header('Authorization'));
    if (await isLimited(c as never, credential)) throw new TooMany();
    if (credential === null) throw new Denied('unauthenticated', null);
    const { kind, secret } = credential;
    const asked = typeof operation === 'string' ? operation : await operation(c as never);
    const own_origin = ownOriginOf(c.req.url);
    const origin = originOf(c.req.raw.headers, own_origin);
    const business_id = idOf(c.req.param('business_id') ?? '') ?? 0;
    known.call = { operation: asked, kind, last_four: secret.slice(-4), business_id };
    const invalid = await failureOf(() => input(c as never, async () => {}));

    const scope = scopeOf({
      operation: asked,
      credential: { kind, stored: kind === 'key' ? await credential.hash() : secret },
      business_id,
      origin,
      own_origin,
      now: known.now,
    });
    const valid = ((target: never) => c.req.valid(target)) as Valid<I>;
    const { grant, ...others }: Statements = invalid ? { grant: refusalOf(scope) } : statements(scope, valid);
    const batch = { grant, ...others };
    const db = metered(c.env.DB, known.cost);
    const bound = Object.values(batch).map(({ sql, values }) => db.prepare(sql).bind(...values));
    const results = await db.batch(bound).catch((error: unknown) => {
      const outage = outageOf(error);
      const safe = POLICY[asked].repeatable || c.req.header('Idempotency-Key') !== undefined || outage === 'not_run';
      throw outage !== null && safe ? new Unavailable('the database cannot serve', { cause: error }) : error;
    });
    const named = Object.keys(batch).map((name, index) => [name, results[index]?.results]);
    const rows: RowsOf<Statements> = Object.fromEntries(named);
    const [verdict] = rows.grant;
    const refusal = verdict === undefined ? 'unauthenticated' : verdict.refusal;
    if (refusal !== null) throw new Denied(refusal, { operation: asked, kind, origin });
    if (invalid) throw invalid;
    c.set('rows', rows as never);
    await next();
  };
}

async function failureOf(read: () => Promise<unknown>): Promise<InvalidInput | null> {
  try {
    await read();
    return null;
  } catch (error) {
    if (error instanceof InvalidInput) return error;
    throw error;
  }
}
