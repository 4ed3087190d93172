// How long sessions of the console last, how many a user has, and where the console leads back to (docs/api.md, "Start a session").
import { addressRule, isSafeAddress } from './address.ts';

/** How long a session lasts that came from an API key. */
export const SESSION_HOURS = 12;
/** How many sessions of a user run at once. With one more, the oldest ends that came from the same key or from links. */
export const MAX_SESSIONS = 20;
/** How many sessions of a user are stored, with those that have ended. */
export const MAX_STORED_SESSIONS = 50;

/** What the session of a console link may do. */
export const LINK_ROLES = ['full', 'read'] as const;

/** The link with a code: after the #, browsers send it to no server. */
export const consoleUrl = (origin: string, code: string): string => `${origin}/owner#code=${code}`;

/** How long the code of a console link works. */
export const CODE_MINUTES = 2;
/** How long the session of a console link lasts if the link does not say. */
export const DEFAULT_LINK_MINUTES = 60;
/** The longest session that a link can start. */
export const MAX_LINK_MINUTES = 1440;

export const MAX_RETURN_URL_LENGTH = 2000;
/** The rest of an error about a `return_url`. */
export const RETURN_URL_RULE = addressRule(MAX_RETURN_URL_LENGTH);
/** Whether the console may lead to this address. */
export const isReturnUrl = (text: string): boolean => isSafeAddress(text, MAX_RETURN_URL_LENGTH);
