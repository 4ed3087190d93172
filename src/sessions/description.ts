// Descriptions of the operations on console sessions.
import * as z from 'zod/mini';
import { ROLES } from '../core/policy.ts';
import type { DescriptionsOf } from '../description/paths.ts';
import { invalidField, NO_BODY, unknown } from '../description/refusals.ts';
import { ok } from '../description/responses.ts';
import { ROLE_MEANINGS } from '../description/roles.ts';
import { component, flag, id, object, text, textOrNull, time } from '../description/schemas.ts';
import type { operations } from './operations.ts';
import { codeBody } from './operations.ts';
import { CODE_MINUTES, DEFAULT_LINK_MINUTES, MAX_SESSIONS, SESSION_HOURS, WIDE_LINK_RULE } from './rules.ts';

export const session = object('Session', 'A console session.', {
  session_key: text('The session key, which is shown only once. Send it like an API key.'),
  expires_at: time('the session ends'),
  user_id: id('the user whose session it is'),
  role: z.enum(ROLES).check(z.describe(ROLE_MEANINGS)),
  can_create_keys: flag("Whether the session key can list, create and revoke the user's API keys."),
  return_url: textOrNull('The URL of the back link in the console, as set in the console link. Null if none was set.'),
});

export type Session = z.infer<typeof session>;

const endedSession = object('EndedSession', 'A session that ended.', { ended: z.literal(true) });
export type EndedSession = z.infer<typeof endedSession>;

export const consoleLink = object('ConsoleLink', 'A link that opens the console once.', {
  url: text('The URL to send the owner to. The first person to open it starts the session.'),
  expires_at: time('the link stops working'),
});

export type ConsoleLink = z.infer<typeof consoleLink>;

const code = component('Code', 'The code of a console link, which works once.', codeBody);

export const descriptions: DescriptionsOf<typeof operations> = {
  createConsoleLink: {
    tag: 'businesses',
    summary: 'Create a console link',
    command: { usage: 'console-link create' },
    description: `Creates a link that opens the console for a user once, within ${CODE_MINUTES} minutes. The first person to open it starts the session.`,
    body: {
      description: `Empty for a session with full access for ${DEFAULT_LINK_MINUTES} minutes, or the session's business, role, duration, return URL and person, and whether it can create API keys.`,
      component: ['ConsoleLinkToCreate', 'The console link to create.'],
      examples: { read: { role: 'read', minutes: 15, return_url: 'https://product.example/settings', as: 'Anna' } },
    },
    success: ok('The link, which is shown only once.', consoleLink, {
      read: {
        url: 'https://service.example/owner#code=0123456789ABCDEFGHIJKLMNOPQRSTUVWX',
        expires_at: '2026-03-03T12:02:00.000000Z',
      },
    }),
    invalid: { invalid_minutes: { minutes: 0 }, invalid_return_url: { return_url: 'product.example' } },
    refusals: {
      unknown_user: unknown(
        'User id',
        '`user_id` is not an id, or the user has neither a business nor a working API key for all businesses',
      ),
      invalid_business: invalidField('business_id', 'must be a business of user 7'),
      wide_link: invalidField('can_create_keys', WIDE_LINK_RULE),
    },
  },
  startSession: {
    tag: 'session',
    summary: 'Start a console session',
    description: `Starts a session for the console. A session key has the format of an API key and the same rights or fewer, and expires
automatically. Send an API key with an empty body for a session of ${SESSION_HOURS} hours. Or send the code of a console link without a
credential, for a session as long as the link specifies. A code works once. A user can have ${MAX_SESSIONS} sessions.
Starting another ends the oldest one, if possible one that was started in the same way: with the same API key, or with a console link.`,
    body: {
      description: 'Empty with an API key. Without a credential, the code of a console link.',
      schema: code,
      examples: { code: { code: '0123456789ABCDEFGHIJKLMNOPQRSTUVWX' } },
    },
    success: ok('The session and its key.', session, {
      code: {
        session_key: 'bua_sk_00123456789ABCDEFGHIJKLMNOPQRSTUVW',
        expires_at: '2026-03-03T13:00:00.000000Z',
        user_id: 7,
        role: 'full',
        can_create_keys: false,
        return_url: 'https://product.example/settings',
      },
    }),
    refusals: { ...NO_BODY },
  },
  endSession: {
    tag: 'session',
    summary: 'End the session',
    description: 'Ends the session whose key is sent. API keys and tokens are refused.',
    success: ok('The session ended.', endedSession, { ended: { ended: true } }),
  },
};
