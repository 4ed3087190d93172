// What the description says about the roles of API keys.
import { NARROW_ROLES, ROLES, type Role } from '../core/policy.ts';

const MEANINGS: Record<Role, string> = {
  full: 'full access',
  read: 'read-only',
  record: 'can only read usage and record uses',
};
export const ROLE_MEANINGS = ROLES.map((role) => `\`${role}\`: ${MEANINGS[role]}.`).join(' ');
/** Completes "It can be". */
const RESTRICTIONS: Record<Exclude<Role, 'full'>, string> = {
  read: 'read-only',
  record: 'record-only, which allows\nreading usage and recording uses',
};
export const ROLE_RESTRICTIONS = NARROW_ROLES.map((role) => RESTRICTIONS[role]).join(', or ');

/** Returns the kinds of keys with these roles, for a sentence. */
export const kindsOf = (roles: readonly Role[]): string => roles.map((role) => `${role}-only`).join(' or ');
export const NARROW_KINDS = kindsOf(NARROW_ROLES);
