// Creates console links, and starts and ends console sessions.
import { newCredential, sha256Hex } from '../core/credential.ts';
import { formatTimestamp, HOUR_MS } from '../core/time.ts';
import { readVerdict } from '../db/statement.ts';
import { unknownId } from '../http/errors.ts';
import { success } from '../http/response.ts';
import { userOf } from '../http/user.ts';
import { serve } from '../serve.ts';
import { createConsoleLink } from './console-links.ts';
import type { ConsoleLink, EndedSession, Session } from './description.ts';
import { operations } from './operations.ts';
import { consoleUrl, SESSION_HOURS } from './rules.ts';
import { endSession, redeemCode, startSession } from './statements.ts';

export const routes = serve(operations, {
  async createConsoleLink(c) {
    const user_id = userOf(c);
    const { now, ownOrigin } = c.get('call');
    const link = await createConsoleLink(c.get('databases'), { user_id, ...c.req.valid('json') }, now);
    if (link === null) throw unknownId('User id');
    return success<ConsoleLink>(c, { url: consoleUrl(ownOrigin, link.code), expires_at: link.expires_at });
  },

  async startSession(c) {
    const { credential, now } = c.get('call');
    const session_key = newCredential('bua_sk_', c.get('database'));
    const hash = sha256Hex(session_key);
    const ask = c.get('ask');
    const ends_at = formatTimestamp(new Date(now.getTime() + SESSION_HOURS * HOUR_MS));
    const { started, redeemed } =
      credential.kind === 'code'
        ? await ask(readVerdict, redeemCode(hash, session_key.slice(-4)))
        : { ...(await ask(readVerdict, startSession(hash, ends_at))), redeemed: [] };
    const [row] = started;
    if (!row?.ends_at) throw new Error('a permitted session start created no session');
    const { ends_at: expires_at, user_id, role, can_create_keys } = row;
    const shown = { user_id, role, can_create_keys: can_create_keys === 1 };
    const return_url = redeemed[0]?.return_url ?? null;
    return success<Session>(c, { session_key, expires_at, ...shown, return_url });
  },

  async endSession(c) {
    const { ended } = await c.get('ask')(readVerdict, { ended: endSession });
    if (ended.length === 0) throw new Error('a permitted session end changed nothing');
    return success<EndedSession>(c, { ended: true });
  },
});
