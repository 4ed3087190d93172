// Messages about failures and the end of a session.
import { CODE_MINUTES } from '../../sessions/rules.ts';
import type { Failure } from './api.ts';
import { plural, zonedTime } from './formats.ts';
import { refusedRoleWords } from './roles.ts';
import { credentialOf, type StoredSession } from './storage.ts';

const LAST_DOMAIN =
  'This is now the last domain. Without it, the token works everywhere. To remove it anyway, press “Remove…”.';

/** Returns the service's error for a field, without the field's name. */
export const ruleAbout = ({ errors }: Failure, path: string): string | null =>
  errors[path]?.[0]?.slice(`${path} `.length) ?? null;

function refusalWords(failure: Failure): string {
  // The other domains were removed elsewhere in the meantime.
  if (failure.code === 'last_domain') return LAST_DOMAIN;
  const path = Object.keys(failure.errors).find((field) => /^sites(\.\d+)?$/.test(field));
  const words = path === undefined ? failure.message : `The domain ${ruleAbout(failure, path)}`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/[^.]$/, '$&.');
}

/** Explains a failed call, and what to do. */
export function failureWords(failure: Failure): string {
  const { status, message, seconds, code } = failure;
  const later = seconds === null ? 'Try again in a moment.' : `Try again in ${plural(seconds, 'second')}.`;
  if (status === 0) return `${message} Check your connection, then try again.`;
  if (status === 429) return `Too many requests. ${later}`;
  if (code === 'unavailable') return `The service cannot reach its database right now. ${later}`;
  if (status >= 500)
    return 'The service failed to respond. Try again. If this keeps happening, contact the service operator.';
  return refusalWords(failure);
}

/**
 * Like `failureWords`, for a change. If there was no response or a server between failed, the change may have been made anyway. `advice` says
 * how the owner finds out. The service's own 503 invites to try again, which makes no change twice.
 */
export function changeFailureWords(failure: Failure, advice = 'Check “Changes”.'): string {
  const { status, code, isUnsent } = failure;
  const unknown = (status === 0 && !isUnsent) || (status >= 500 && code !== 'unavailable');
  const words = failureWords(failure);
  return unknown ? `${words} The change may have been made anyway. ${advice}` : words;
}

export function refusedKeyWords(failure: Failure): string {
  if (failure.status === 401) {
    return 'This key does not work. It may be mistyped, expired or revoked. Ask the service operator for a new one.';
  }
  const code = failure.code ?? '';
  return refusedRoleWords(code) ?? REFUSED_KEYS[code] ?? failureWords(failure);
}

/** Keyed by `Error-Code`. */
const REFUSED_KEYS: Record<string, string> = {
  operator_key_in_page:
    'This is an operator key, which works only on servers. Sign in with an API key: it starts with bua_sk_.',
  token_not_allowed: 'This is a business token, which is public. Sign in with an API key: it starts with bua_sk_.',
  session_not_allowed: 'This is a session key, which works only where the session began. Sign in with an API key.',
};

const OPEN_AGAIN = 'Open the console again from where you got this link.';

export function refusedLinkWords(failure: Failure): string {
  if (isUsedUp(failure)) return `This link has expired or has already been used. ${OPEN_AGAIN}`;
  return `${failureWords(failure)} A link works once, within ${CODE_MINUTES} minutes. After that, open the console again from where you got this link.`;
}

/** Returns whether a failed link is permanently unusable. */
export const isUsedUp = ({ status }: Failure): boolean => status >= 400 && status < 500 && status !== 429;

/** Formats a session's credential for a sentence. */
export function credentialWords(session: StoredSession): string {
  const { kind, tail } = credentialOf(session);
  return `${kind.toLowerCase()} …${tail}`;
}

type Ending = { tail: string | null; endsAt: number };
const signInAgainWords = ({ tail }: Ending): string => (tail === null ? OPEN_AGAIN : 'Sign in again.');

export const nearExpiryWords = ({ tail, endsAt }: Ending): string =>
  `Your session ends at ${zonedTime(endsAt)}. Unsaved text will be lost. To continue, ` +
  (tail === null ? 'open the console again from where you got this link.' : 'sign in again.');

export const expiredWords = (ending: Ending): string => `Your session has expired. ${signInAgainWords(ending)}`;

/** Used if the service rejects a session before it expires. */
export const endedWords = (ending: Ending): string =>
  `You have been signed out. This session was ended in another tab or by the service. ${signInAgainWords(ending)}`;

export const signedOutWords = ({ tail }: Ending): string =>
  `You are signed out.${tail === null ? ` ${OPEN_AGAIN}` : ''}`;

/** Used if the service could not be told. */
export const notEndedWords = ({ endsAt }: Ending): string =>
  `You are signed out here, but the service could not be reached: the session expires at ${zonedTime(endsAt)}.`;
