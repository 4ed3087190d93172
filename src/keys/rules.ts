// Rules of API keys.
import type { FieldErrors } from '../core/conflict.ts';
import type { Role } from '../core/policy.ts';
import { dayOf } from '../core/time.ts';
import type { Circumstances } from '../operation.ts';

export const EXPIRY_RULE = 'must be today or a later date, in the format YYYY-MM-DD';

/** The maximum number of a user's keys that work and that the operator did not create. As many can be created on one day (UTC). */
export const MAX_KEYS = 20;
/** A session can create keys for at most this many days, because it can be copied from a browser. */
export const SESSION_KEY_DAYS = 366;

export const OWN_ROLE_RULE = 'must be read or record: only the operator can create a key with full access';
export const OWN_EXPIRY_RULE = 'is required in a console session';
export const latestExpiryRule = (latest: string) => `must be at most ${latest}`;
/** Why a user cannot create another key now. */
export const EXCESS_RULES = {
  working: `must not exceed ${MAX_KEYS} working keys: revoke one first`,
  today: `must not exceed ${MAX_KEYS} created per day (UTC)`,
} as const;

/** Returns the errors of an expiry in the past, and of a role that only the operator can give. */
export const newKeyErrors = (
  { expires_on, role }: { expires_on?: string | undefined; role?: Role | undefined },
  { now, isOperator }: Circumstances,
  { body }: FieldErrors,
): FieldErrors => ({
  ...(expires_on !== undefined && expires_on < dayOf(now) ? { expires_on: [`expires_on ${EXPIRY_RULE}`] } : {}),
  ...(isOperator || body || role === 'read' || role === 'record' ? {} : { role: [`role ${OWN_ROLE_RULE}`] }),
});
