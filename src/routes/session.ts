// /api/v1/session: console sessions, started with an API key or the code of a console link.
import type { HonoRequest, MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import { type Credential, newCredential, parseCode, sha256Hex } from '../core/credential.ts';
import { parseBoundedJson } from '../core/json.ts';
import { SESSION_HOURS } from '../core/session.ts';
import { formatTimestamp, HOUR_MS } from '../core/time.ts';
import { endSession, redeemCode, startSession } from '../db/sessions.ts';
import { readVerdict } from '../db/statement.ts';
import type { Guarded } from '../env.ts';
import { guard } from '../guard.ts';
import { checkJson, unknownParameters } from '../http/input.ts';
import { success } from '../http/response.ts';
import { newRoutes } from '../http/router.ts';
import { codeBody, NO_QUERY } from '../wire/requests.ts';
import type { EndedSession, Session } from '../wire/responses.ts';

/** Longer bodies contain more than a code and are not parsed. */
const MAX_CODE_CHARACTERS = 1000;

/**
 * Returns the code in a body. Returns null, which results in a 401, if the body is anything else or if the request has a query. Attackers
 * therefore learn only whether a code works.
 */
function codeIn(req: HonoRequest, body: string): Credential | null {
  const hasQuery = Object.keys(unknownParameters(req, NO_QUERY)).length > 0;
  if (hasQuery || body.length > MAX_CODE_CHARACTERS) return null;
  const { data } = checkJson(parseBoundedJson(body), codeBody);
  return data === undefined ? null : parseCode(data.code);
}

/** The input type is for Hono's client. */
const guardStart: MiddlewareHandler<Guarded, string, { in: { json?: z.input<typeof codeBody> }; out: object }> = guard(
  'start_session',
  { codeIn },
);

export const session = newRoutes()
  .post('/', guardStart, async (c) => {
    const { credential, now } = c.get('call');
    const session_key = newCredential('bua_sk_', c.get('database'));
    const hash = await sha256Hex(session_key);
    const ask = c.get('ask');
    const ends_at = formatTimestamp(new Date(now.getTime() + SESSION_HOURS * HOUR_MS));
    const { started, spent } =
      credential.kind === 'code'
        ? await ask(readVerdict, redeemCode(hash, session_key.slice(-4)))
        : { ...(await ask(readVerdict, startSession(hash, ends_at))), spent: [] };
    const [row] = started;
    if (!row?.ends_at) throw new Error('a permitted session start created no session');
    const return_url = spent[0]?.return_url ?? null;
    return success<Session>(c, { session_key, expires_at: row.ends_at, read_only: row.role === 'read', return_url });
  })
  .delete('/', guard('end_session'), async (c) => {
    const { ended } = await c.get('ask')(readVerdict, { ended: endSession });
    if (ended.length === 0) throw new Error('a permitted session end changed nothing');
    return success<EndedSession>(c, { ended: true });
  });
