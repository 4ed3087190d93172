// Rules of API keys.
import { MAX_LABELS } from '../core/sources.ts';

/** The maximum number of a user's keys that work and that the operator did not create. As many can be created on one day (UTC). */
export const MAX_KEYS = 20;
/** Of the keys that the operator did not create, at most this many that no longer work are kept. Otherwise, their list would only grow. */
export const MAX_ENDED_KEYS = 200;
/** A session can create keys for at most this many days, because it can be copied from a browser. */
export const SESSION_KEY_DAYS = 366;

export const OWN_EXPIRY_RULE = 'is required in a console session';
export const latestExpiryRule = (latest: string) => `must be at most ${latest}`;
export const MOST_LABELS_RULE = `must be a label that the business has: it cannot have more than ${MAX_LABELS}`;
/** Why a user cannot create another key now. */
export const EXCESS_RULES = {
  working: `must not exceed ${MAX_KEYS} working keys: revoke one first`,
  today: `must not exceed ${MAX_KEYS} created per day (UTC)`,
} as const;
