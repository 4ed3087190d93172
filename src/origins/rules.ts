// How many origins are remembered of a business, and for how long.

/** The maximum number of stored origins per business. */
export const MAX_ORIGINS = 50;
export const KEEP_ORIGINS_DAYS = 90;
