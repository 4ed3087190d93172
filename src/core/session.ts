// The limits of console sessions and links, and where the console may return to (docs/api.md, "Start a session").
import { addressRule, isSafeAddress } from './address.ts';

/** How long a session from an API key lasts. */
export const SESSION_HOURS = 12;
/** Active sessions per user. One more ends the oldest that came from the same source: the same key, or console links. */
export const MAX_SESSIONS = 20;
/** Stored sessions per user, including those that have ended. */
export const MAX_STORED_SESSIONS = 50;

/** What the session of a console link may do. */
export const LINK_ROLES = ['full', 'read'] as const;

/** Puts the code after the #, which browsers never send to a server. */
export const consoleUrl = (origin: string, code: string): string => `${origin}/owner#code=${code}`;

/** How long the code of a console link is valid. */
export const CODE_MINUTES = 2;
/** How long the session of a console link lasts by default. */
export const DEFAULT_LINK_MINUTES = 60;
/** The longest session that a link can start. */
export const MAX_LINK_MINUTES = 1440;

export const MAX_RETURN_URL_LENGTH = 2000;
export const RETURN_URL_RULE = addressRule(MAX_RETURN_URL_LENGTH);
/** Whether the console may link back to this address. */
export const isReturnUrl = (text: string): boolean => isSafeAddress(text, MAX_RETURN_URL_LENGTH);
