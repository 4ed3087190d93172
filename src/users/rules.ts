// Rules of erasing users.

/** Explains why a user who still owns a business cannot be erased. */
export const ownsRule = (business_id: number): string =>
  `must be a user without a business: delete business ${business_id} first, or transfer it to another user`;
export const RECENT_RULE = 'must be a user for whom nothing was created in the last minute: retry later';
