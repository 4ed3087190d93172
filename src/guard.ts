// The way to the database: authenticates the credential, finds the business, enforces its domains, and runs the statements
// of the route together with all that, as one batch.
import type { HonoRequest, Input, MiddlewareHandler } from 'hono';
import { credentialOf } from './core/credential.ts';
import { type Operation, POLICY, type Refusal } from './core/policy.ts';
import { idOf, originOf, ownOriginOf } from './core/request.ts';
import { runBatch } from './db/batch.ts';
import { refusalOf, type Scope, scopeOf } from './db/grant.ts';
import { outageOf } from './db/outage.ts';
import type { RowsOf, Statement } from './db/statement.ts';
import type { Env, Known } from './env.ts';
import { Denied, InvalidInput, TooMany, Unavailable } from './http/errors.ts';
import { isAddressLimited, isCredentialLimited } from './http/rate-limits.ts';

/**
 * The statements of a route, which run in this order behind the grant: what they change can change what is granted. The grant
 * has a row where the credential is valid, which says whether the call is refused; a route brings its own where that row says
 * more.
 */
type Statements = { grant?: Statement<{ refusal: Refusal | null }>; [name: string]: Statement };
type Valid<I extends Input> = HonoRequest<string, NonNullable<I['out']>>['valid'];

/**
 * The middleware of every route. `operation` is a function where one path has two. `statements` makes those of the route; their
 * rows, by the same names, are the handler's `c.get('rows')`. A refused call, and one whose input is invalid, never reaches it.
 */
export function guard<I extends Input, S extends Statements>(
  operation: Operation | ((known: Known) => Operation),
  input: MiddlewareHandler<Env, string, I>,
  statements: (scope: Scope, valid: Valid<I>) => S,
): MiddlewareHandler<Env & { Variables: { rows: RowsOf<S> } }, string, I> {
  return async function guard(c, next) {
    const { known } = c.env;
    const credential = credentialOf(c.req.header('Authorization'));
    known.credential = credential && { kind: credential.kind, last_four: credential.secret.slice(-4) };
    const ownOrigin = ownOriginOf(c.req.url);
    const origin = originOf(c.req.raw.headers, ownOrigin);
    if (await isAddressLimited(c.env, c.req.header('CF-Connecting-IP'))) throw new TooMany();
    if (credential === null) throw new Denied('unauthenticated');
    if (await isCredentialLimited(c.env, credential, origin)) throw new TooMany();
    const { kind, secret } = credential;
    const asked = typeof operation === 'string' ? operation : operation(known);
    const business_id = idOf(c.req.param('business_id') ?? '') ?? 0;
    const call = { operation: asked, business_id, origin };
    known.call = call;
    const invalid = await failureOf(() => input(c as never, async () => {}));

    const scope = scopeOf({
      ...call,
      credential: { kind, stored: kind === 'key' ? await credential.hash() : secret },
      ownOrigin,
      now: known.now,
    });
    const valid = ((target: never) => c.req.valid(target)) as Valid<I>;
    const { grant = refusalOf(scope), ...others }: Statements = invalid ? {} : statements(scope, valid);
    const batch = { grant, ...others };
    const results = await runBatch(c.env.DB, Object.values(batch), known.cost).catch((error: unknown) => {
      const outage = outageOf(error);
      const safe = POLICY[asked].repeatable || c.req.header('Idempotency-Key') !== undefined || outage === 'not_run';
      throw outage !== null && safe ? new Unavailable('the database cannot serve', { cause: error }) : error;
    });
    const named = Object.keys(batch).map((name, index) => [name, results[index]?.results]);
    const rows: RowsOf<typeof batch> = Object.fromEntries(named);
    const [verdict] = rows.grant;
    const refusal = verdict === undefined ? 'unauthenticated' : verdict.refusal;
    if (refusal !== null) throw new Denied(refusal);
    if (invalid) throw invalid;
    c.set('rows', rows as RowsOf<S>);
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
