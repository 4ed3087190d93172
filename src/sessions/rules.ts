// Limits on console sessions and links, and the URLs to which the console may link back (docs/api.md, "Start a session").
import { addressRule, isSafeAddress } from '../core/address.ts';
import { errorOf, type FieldErrors } from '../core/field-errors.ts';
import type { LinkRole } from '../core/policy.ts';

/** The duration of a session that an API key starts. */
export const SESSION_HOURS = 12;
/** The maximum number of stored sessions per user. Starting another session deletes one of them (statements.ts). */
export const MAX_SESSIONS = 20;

/** Puts the code in the fragment, which browsers never send to a server. */
export const consoleUrl = (origin: string, code: string): string => `${origin}/owner#code=${code}`;

/** How long a console link's code is valid. */
export const CODE_MINUTES = 2;
/** The default duration of a session that a console link starts. */
export const DEFAULT_LINK_MINUTES = 60;
/** The longest session that a link can start. */
export const MAX_LINK_MINUTES = 1440;

export const MAX_RETURN_URL_LENGTH = 2000;
export const RETURN_URL_RULE = addressRule(MAX_RETURN_URL_LENGTH);
/** Returns whether the console may link back to this URL. */
export const isReturnUrl = (text: string): boolean => isSafeAddress(text, MAX_RETURN_URL_LENGTH);

export const WIDE_LINK_RULE = 'can be true only with full access to all businesses, without business_id';
type Link = { business_id?: number | undefined; role?: LinkRole | undefined; can_create_keys?: boolean | undefined };
/** Returns the error of a link whose session could create keys with more access than it has. */
export const wideLinkErrors = ({ business_id, role = 'full', can_create_keys }: Link): FieldErrors =>
  can_create_keys && (business_id !== undefined || role !== 'full') ? errorOf('can_create_keys', WIDE_LINK_RULE) : {};
