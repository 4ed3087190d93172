// Descriptions of the operations on console sessions.
import { MAX_SESSIONS, SESSION_HOURS } from '../core/session.ts';
import { codeBody } from '../wire/requests.ts';
import * as schemas from '../wire/responses.ts';
import type { DescriptionsByRoute } from './paths.ts';
import { NO_BODY } from './refusals.ts';
import { ok } from './responses.ts';

const code = schemas.component('Code', 'The code of a console link, which works once.', codeBody);

export const session: DescriptionsByRoute = {
  'POST /api/v1/session': {
    operationId: 'startSession',
    summary: 'Start a console session',
    description: `Starts a session for the console. A session key has the format of an API key and the same rights or fewer, and expires
automatically. Send an API key with an empty body for a session of ${SESSION_HOURS} hours. Or send the code of a console link without a
credential, for a session as long as the link specifies. A code works once. A user can have ${MAX_SESSIONS} sessions.
Starting another ends the oldest one that was started in the same way: with the same API key, or with a console link.`,
    body: {
      description: 'Empty with an API key. Without a credential, the code of a console link.',
      schema: code,
      examples: { code: { code: '0123456789ABCDEFGHIJKLMNOPQRSTUVWX' } },
    },
    success: ok('The session and its key.', schemas.session, {
      code: {
        session_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
        expires_at: '2026-03-03T13:00:00.000000Z',
        read_only: false,
        return_url: 'https://product.example/settings',
      },
    }),
    refusals: { ...NO_BODY },
  },
  'DELETE /api/v1/session': {
    operationId: 'endSession',
    summary: 'End the session',
    description: 'Ends the session whose key is sent. API keys and tokens are refused.',
    success: ok('The session ended.', schemas.endedSession, { ended: { ended: true } }),
  },
};
