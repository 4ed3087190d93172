// Rules of API keys.
import type { FieldErrors } from '../core/conflict.ts';
import { dayOf } from '../core/time.ts';
import type { Circumstances } from '../operation.ts';

export const EXPIRY_RULE = 'must be today or a later date, in the format YYYY-MM-DD';

/** Returns the error of an expiry in the past. */
export const expiryErrors = (
  { expires_on }: { expires_on?: string | undefined },
  { now }: Circumstances,
): FieldErrors =>
  expires_on !== undefined && expires_on < dayOf(now) ? { expires_on: [`expires_on ${EXPIRY_RULE}`] } : {};
