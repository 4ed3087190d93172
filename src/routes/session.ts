// /api/v1/session: sessions of the owner's console, started with an API key or with the code of a console link.
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { credentialOf, databaseOfCode, hashOf, newCredential } from '../core/credential.ts';
import { bindingOf } from '../core/database.ts';
import { jsonOf } from '../core/json.ts';
import { hasCredential, originOf, ownOriginOf } from '../core/request.ts';
import { SESSION_HOURS } from '../core/session.ts';
import { timestampOf } from '../core/time.ts';
import { inTime } from '../db/in-time.ts';
import { endSession, redeemCode, startSession } from '../db/sessions.ts';
import { readVerdict } from '../db/statement.ts';
import type { ContextOf, Env } from '../env.ts';
import { DATABASE_TIMEOUT_MS, guard, requireOpen } from '../guard.ts';
import { bodyOf } from '../http/body.ts';
import { batchError, invalid, tooMany, Unauthenticated, unavailable } from '../http/errors.ts';
import { checkJson, unknownParameter, uselessKey } from '../http/input.ts';
import { isAddressLimited } from '../http/rate-limits.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { codeBody, NO_QUERY } from '../wire/requests.ts';
import type { EndedSession, Session } from '../wire/responses.ts';

const HOUR_MS = 3_600_000;
/** A code is short. What is longer is not parsed. */
const MAX_CODE_CHARACTERS = 1000;

/** The code that a body has, and nothing else; null if it is anything else. */
function codeIn(body: string): string | null {
  if (body.length > MAX_CODE_CHARACTERS) return null;
  return checkJson(jsonOf(body), codeBody).data?.code ?? null;
}

type Code = { in: { json?: z.input<typeof codeBody> }; out: object };

/**
 * Takes requests without a credential: their body is the code of a console link. Whoever sends one learns whether it works, and nothing
 * else: a body that is wrong, or a parameter, is 401, too.
 */
const takeCode: MiddlewareHandler<Env, string, Code> = createMiddleware<Env, string, Code>(
  async function takeCode(c, next) {
    if (hasCredential(c.req.raw.headers)) return next();
    // Before the clock is read: otherwise a caller could hold back the body to use a code that has expired.
    const body = await bodyOf(c.req.raw);
    if (await isAddressLimited(c.env, c.req.header('CF-Connecting-IP'))) throw tooMany();
    requireOpen(c.env);
    if (body.trim() === '') throw new Unauthenticated('missing');
    const code = unknownParameter(c.req, NO_QUERY) === null ? codeIn(body) : null;
    if (code === null) throw new Unauthenticated('malformed_code');
    return success<Session>(c, await sessionFor(c, code));
  },
);

/** Starts the session of a code, which is spent then. With an Idempotency-Key, it only finds out whether the code works. */
async function sessionFor(c: ContextOf<Env>, code: string): Promise<Session> {
  const number = databaseOfCode(code);
  const binding = number === null ? null : bindingOf(number);
  const database = binding === null ? undefined : c.env[binding];
  if (number === null || database === undefined) throw new Unauthenticated('unknown_code');
  const logEntry = c.get('logEntry');
  logEntry.database = binding;
  const { url, headers } = c.req.raw;
  logEntry.call = { operation: 'start_session', business_id: null, origin: originOf(headers, ownOriginOf(url)) };
  const session_key = newCredential('bua_sk_', number);
  const errors = uselessKey(c.req, 'start_session');
  const deadline = errors === null ? Date.now() + DATABASE_TIMEOUT_MS : 0; // 0: the batch begins too late to do anything
  const values = {
    ...{ code: await hashOf(code), hash: await hashOf(session_key), last_four: session_key.slice(-4) },
    ...{ now: c.get('clock')(), deadline },
  };
  const redeemed = redeemCode(database, values, logEntry.d1);
  const { isKnown, session } = await inTime(redeemed, DATABASE_TIMEOUT_MS).catch((cause: unknown) => {
    throw batchError(cause, false);
  });
  if (!isKnown) throw new Unauthenticated('unknown_code');
  if (errors !== null) throw invalid(errors);
  if (session === undefined) throw unavailable(new Error('the batch began after its deadline, and did nothing'));
  return { session_key, expires_at: session.ends_at, read_only: session.read_only === 1 };
}

export const session = newRoutes()
  .post('/', takeCode, guard('start_session'), async (c) => {
    const { now } = c.get('call');
    const session_key = newCredential('bua_sk_', credentialOf(c.req.header('Authorization'))?.database ?? 0);
    const ends_at = timestampOf(new Date(now.getTime() + SESSION_HOURS * HOUR_MS));
    const { row, started } = await c.get('ask')(readVerdict, startSession(await hashOf(session_key), ends_at));
    const expires_at = started[0]?.ends_at;
    if (!expires_at) throw new Error('a permitted start of a session made none');
    return success<Session>(c, { session_key, expires_at, read_only: row.read_only === 1 });
  })
  .delete('/', guard('end_session'), async (c) => {
    const { ended } = await c.get('ask')(readVerdict, { ended: endSession });
    if (ended.length === 0) throw new Error('a permitted end of a session changed nothing');
    return success<EndedSession>(c, { ended: true });
  });
